"""Kernels free all that they allocate: numba counts both, if asked before it starts."""

import os
from pathlib import Path

import pytest

from terrain_physics._kernels._jit import HAS_NUMBA
from tests.helpers import forks

ROOT = Path(__file__).parents[2]

PROGRAM = """
import gc
import numpy as np
from numba.core.runtime import rtsys
import terrain_physics as tp
from tests.helpers import drawn_grounds, forks
from tests.helpers.draws import Draws
from tests.helpers.grounds import everything, one_by_one, questions

def held():
    stats = rtsys.get_allocation_stats()
    return stats.alloc - stats.free, stats.mi_alloc - stats.mi_free

def walk(ground, body, draws, low, high):
    rules = {0: {"friction": 0.5}}
    place = draws.uniform(low, high, 3)
    mover = tp.CharacterMovement(ground, body, position=place, material_rules=rules)
    for frame in range(120):
        if frame % 10 == 0:
            mover.velocity = draws.uniform((-3, 0, -3), (3, 1, 3), 3)
        if frame % 40 == 0:
            mover.position = draws.uniform(low, high, 3)
        mover.update(1 / 60)
    mover.constraint_planes(), mover.resize(mover.collider), mover.ground_report()

grounds = drawn_grounds.MAPS + drawn_grounds.MESHES + drawn_grounds.GROUNDS
bodies = [
    tp.SphereCollider(0.4), tp.CapsuleCollider(0.3, 1.8),
    tp.BoxCollider((1.0, 0.5, 1.0)), tp.SphereCollider(2.0),
]
for number, maker in enumerate(grounds):
    draws = Draws(number)
    ground = maker(draws)
    low, high = drawn_grounds.box_of(ground)
    asked = questions(low, high)
    jobs = {
        "all": lambda: everything(ground, asked, 1),
        "one by one": lambda: one_by_one(ground, asked),
        **{repr(body): lambda body=body: walk(ground, body, draws, low, high) for body in bodies},
    }
    for name, job in jobs.items():
        job()  # a mesh keeps who its neighbors are
        gc.collect()  # what failed while this compiled holds arrays of its callers
        gc.freeze()
        before = held()
        job()
        if held() != before:
            print(maker.__name__, name, before, held())
"""


@pytest.mark.skipif(
    not HAS_NUMBA or bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled"
)
def test_what_kernels_allocate_they_free() -> None:
    told = forks.printed("-c", PROGRAM, env=os.environ | {"NUMBA_NRT_STATS": "1"})
    assert told == ""

"""With ``TERRAIN_PHYSICS_CHECK=1`` kernels refuse indices that are out of bounds."""

import json
import os
from pathlib import Path

import pytest

from terrain_physics._kernels._jit import HAS_NUMBA
from tests.helpers import forks

ROOT = Path(__file__).parents[2]

PROGRAM = """
import json
import numpy as np
from terrain_physics._kernels._intrinsics import copy_eight, put_eight
from terrain_physics._kernels._cache import cache_folder
from terrain_physics._kernels._jit import kernel

@kernel
def read(values, place):
    return float(values[place])

@kernel(no_refcount=True)
def put(values, place):
    put_eight(values, np.uint64(place), 1.0, 2.0)
    return 0.0

@kernel(no_refcount=True, noinline=True)
def copy(values, place):
    copy_eight(values, np.uint64(place), values, np.uint64(0))
    return 0.0

@kernel
def copy_within(values, place):
    return copy(values, place)

def refuses(function, place):
    try:
        function(np.zeros(16), place)
    except IndexError:
        return True
    return False

cases = [(read, 15), (read, 16), (put, 8), (put, 9), (put, -1), (copy_within, 8), (copy_within, 9)]
print(json.dumps([[refuses(*case) for case in cases], str(cache_folder())]))
"""


@pytest.mark.skipif(not HAS_NUMBA, reason="nothing is compiled")
def test_indices_are_checked_and_the_cache_is_another() -> None:
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}
    told = forks.printed("-c", PROGRAM, env=environment | {"TERRAIN_PHYSICS_CHECK": "1"})
    from terrain_physics._kernels._cache import cache_folder

    refused, folder = json.loads(told)
    assert refused == [False, True, False, True, True, False, True]
    assert folder != str(cache_folder())

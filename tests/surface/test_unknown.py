"""Hits that are unknown: told by a field, kept by copies and pickles, and never named."""

import copy
import pickle

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import HeightMap, Ray, RayHit, Sphere, SweepHit
from terrain_physics.surface.naming import Naming
from terrain_physics.surface.results import marked, named, named_hit

LAND = HeightMap(np.zeros((3, 3)), border="open")
NAMES = Naming(("grass",), {})
NOTHING = glm.vec3(0)
UNKNOWN = (
    RayHit(2.0, glm.vec3(1, 2, 3), NOTHING, -1, unknown=True),
    SweepHit(0.5, 2.0, NOTHING, glm.vec3(1, 2, 3), -1, unknown=True),
)


def rays():
    return LAND.raycast_many([(0.5, 3, 0.5), (1.5, 3, 1.5), (9, 3, 9)], [(0, -1, 0)])


def sweeps():
    return LAND.sweep_many([(0.5, 3, 0.5, 1), (1.5, 3, 1.5, 1), (9, 3, 9, 1)], [(0, -4, 0)])


def test_hits_of_ground_that_is_there_are_known():
    for hit in (
        LAND.raycast(Ray((0.5, 3, 0.5), (0, -1, 0))),
        LAND.sweep(Sphere((0.5, 3, 0.5), 1), (0, -4, 0)),
    ):
        assert hit is not None
        assert hit.unknown is False
        assert "unknown" not in repr(hit)
    for hits in (rays(), sweeps()):
        assert hits.unknown.tolist() == [False] * 3
        assert not hits.unknown.flags.writeable


@pytest.mark.parametrize("hit", UNKNOWN)
def test_an_unknown_hit(hit):
    assert repr(hit).endswith("unknown=True)")
    assert named_hit(hit, NAMES) == hit
    assert pickle.loads(pickle.dumps(hit)) == copy.copy(hit) == hit


@pytest.mark.parametrize("ask", [rays, sweeps])
@pytest.mark.parametrize("naming", [None, NAMES])
def test_unknown_among_many(ask, naming):
    hits = marked(ask(), np.array([False, True, False]))
    if naming is not None:
        named(hits, naming)
    for one in (hits, copy.copy(hits), copy.deepcopy(hits), pickle.loads(pickle.dumps(hits))):
        assert one.unknown.tolist() == one.columns()["unknown"].tolist() == [False, True, False]
        names = ["grass", None, None] if naming else [None] * 3
        assert one.material_name.tolist() == names

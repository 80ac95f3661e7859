"""Contacts with a height map: against an oracle in NumPy, the results as objects, bad input."""

import copy
import math
import pickle
import threading

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    AABB,
    Capsule,
    HeightMap,
    Sphere,
)
from terrain_physics.surface.results import Contact, Contacts

pytestmark = pytest.mark.kernels

FLAT = HeightMap(np.zeros((4, 5)), border="open")


def test_touching_is_contact_with_a_direction():
    found = FLAT.contacts([(0.25, 1.0, 0.25, 1.0)])
    assert found.triangle.tolist() == [1]
    assert found.depth.tolist() == [0.0]
    assert found.normal.tolist() == [[0.0, 1.0, 0.0]]
    assert found.point.tolist() == [[0.25, 0.0, 0.25]]
    box = FLAT.contacts(AABB((0.1, 0.0, 0.1), (0.2, 1.0, 0.2)))
    assert (box.triangle.tolist(), box.depth.tolist()) == ([1], [0.0])
    assert box.normal.tolist() == [[0.0, 1.0, 0.0]]
    capsule = FLAT.contacts(Capsule((0.2, 0.5, 0.2), (0.2, 1.5, 0.2), 0.5))
    assert (capsule.triangle.tolist(), capsule.depth.tolist()) == ([1], [0.0])
    assert capsule.normal.tolist() == [[0.0, 1.0, 0.0]]
    assert len(FLAT.contacts(Sphere((0.25, math.nextafter(1.0, 2.0), 0.25), 1.0))) == 0


@pytest.mark.parametrize("radius", [0.0, 0.5])
def test_a_center_on_the_ground_leaves_upwards(radius):
    found = FLAT.contacts(Sphere((1.0, 0.0, 1.0), radius))
    assert len(found) == 6
    np.testing.assert_allclose(found.penetration, np.tile((0.0, radius, 0.0), (6, 1)))
    np.testing.assert_allclose(found.normal, np.tile((0.0, 1.0, 0.0), (6, 1)))


def test_a_point_may_touch_a_capsule_s_axis():
    found = FLAT.contacts(Capsule((0.2, 0.0, 0.2), (0.2, 1.0, 0.2), 0.0))
    assert found.normal.tolist() == [[0.0, 1.0, 0.0]]


def test_no_zero_is_negative():
    rng = np.random.default_rng(5)
    spheres = np.round(rng.uniform((0, -1, 0, 0), (4, 1, 3, 2), (50, 4)) * 2) / 2
    for found in (FLAT.contacts(spheres), FLAT.contacts(spheres, keep="deepest")):
        for values in (found.penetration, found.normal, found.point):
            assert not (np.signbit(values) & (values == 0.0)).any()


def test_materials_are_those_of_the_cells():
    land = HeightMap(np.zeros((3, 3)), materials=[[1, 2], [3, 4]])
    for shapes in ([(0.5, 0.0, 1.5, 0.1)], Sphere((0.5, 0.0, 1.5), 0.1)):
        assert land.contacts(shapes).material.tolist() == [3, 3]
    outside = land.contacts([(5.5, 0.0, 0.5, 0.1)])
    assert (outside.triangle.tolist(), outside.material.tolist()) == ([-1, -1], [2, 2])
    assert land.contacts([(0.5, 0.0, 1.5, 0.1)], keep="deepest").material.tolist() == [3]
    assert FLAT.contacts(Sphere((1, 0, 1), 1)).material.tolist() == [0] * 14
    assert land.contacts(np.empty((0, 4))).material.tolist() == []


def test_results_are_values():
    found = FLAT.contacts([(0.25, 0.5, 0.25, 0.6), (1.25, 0.5, 0.25, 0.6)])
    assert repr(found) == f"<Contacts: {len(found)}>"
    first = next(iter(found))
    assert isinstance(first, Contact)
    sunk, up, below = glm.vec3(0, 0.6 - 0.5, 0), glm.vec3(0, 1, 0), glm.vec3(0.25, 0, 0.25)
    assert tuple(first) == (0, 1, sunk, up, below, 0, None, None)
    assert first.depth == pytest.approx(0.1)
    assert [one.triangle for one in found] == found.triangle.tolist()
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert isinstance(twin, Contacts)
        assert twin.penetration.tolist() == found.penetration.tolist()
        assert twin.triangle.tolist() == found.triangle.tolist()
        assert not twin.point.flags.writeable
    for name in ("query", "triangle", "penetration", "normal", "point", "depth", "material"):
        values = getattr(found, name)
        assert len(values) == len(found)
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0
        with pytest.raises(AttributeError):
            setattr(found, name, values)


@pytest.mark.alone
def test_long_queries_see_the_map_as_it_was():
    land = HeightMap(np.zeros((40, 40)))
    places = np.insert(np.random.default_rng(1).uniform(0, 39, (300, 2)), 1, 0.1, axis=1)
    balls, (x, _, z) = np.insert(places, 3, 0.5, axis=1), places.T.copy()
    before, stop = land.contacts(balls), threading.Event()

    def edit():
        while not stop.is_set():
            land[:] = 100.0
            land[:] = 0.0

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        counts = {len(land.contacts(balls, threads=2)) for _ in range(5)}
        rays = [land.raycast_many(places, [(0.01, -1.0, 0.0)]).distance for _ in range(5)]
        levels = [land.height_at(x, z) for _ in range(5)]
    finally:
        stop.set()
        editor.join()
    assert counts <= {0, len(before)}
    assert all(len(set(level.tolist())) == 1 for level in levels)
    assert all(np.isnan(found).all() or not np.isnan(found).any() for found in rays)

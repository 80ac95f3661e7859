"""Walks over planes: ground rule "contact", friction at its default, both resolvers."""

import numpy as np
import pytest

from tests.behaviour import lands, walks
from tests.behaviour.drive import COLLIDERS, RESOLVERS
from tests.helpers.pairwise import each_once, pairwise

SLOPES = {"20 degrees": (walks.TWENTY, 0.0), "3 in 8 and 1 in 4": (walks.EXACT, 0.25)}
FLOORS = {
    "jittered": lands.triangulated(1),
    "jittered otherwise": lands.triangulated(2),
    "scattered": lands.scattered(1),
}


def assert_straight(walk):
    assert walk.slowest > 0.9999
    assert walk.ripple < 1e-4
    assert walk.side < 1e-6
    assert walk.height < 1e-6
    assert walk.in_air == 0


@pytest.mark.parametrize(("shape", "resolver"), each_once(COLLIDERS, RESOLVERS))
def test_flat_cells(shape, resolver):
    assert_straight(walks.flat_walk(shape, resolver, seconds=5.0))


@pytest.mark.parametrize(
    ("shape", "resolver", "slopes", "surface"),
    pairwise(COLLIDERS, RESOLVERS, SLOPES, (False, True)),
)
def test_tilted_cells(shape, resolver, slopes, surface):
    walk = walks.tilted_walk(shape, resolver, SLOPES[slopes], surface=surface, count=8, seconds=2.5)
    assert_straight(walk)


@pytest.mark.parametrize(("floor", "shape", "resolver"), each_once(FLOORS, COLLIDERS, RESOLVERS))
def test_internal_edges_of_a_mesh(shape, resolver, floor):
    assert_straight(walks.mesh_walk(FLOORS[floor], shape, resolver, count=8))


@pytest.mark.long
@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("shape", COLLIDERS)
def test_full_walks(shape, resolver):
    assert_straight(walks.flat_walk(shape, resolver))
    for slopes in SLOPES.values():
        for surface in (False, True):
            assert_straight(walks.tilted_walk(shape, resolver, slopes, surface=surface))
    for seed in range(10):
        for floor in (lands.triangulated(seed), lands.scattered(seed)):
            assert_straight(walks.mesh_walk(floor, shape, resolver))


@pytest.mark.parametrize("shape", COLLIDERS)
def test_far_from_the_origin_the_path_is_the_same(shape):
    near = walks.path_from(0.0, shape)
    assert np.ptp(near[:, 1]) > 0.1
    for distance in (1e4, 1e5, 1e6):
        path = walks.path_from(distance, shape)
        assert np.abs(path - near).max() < 1e-4
        assert walks.noise(path) == pytest.approx(walks.noise(near), rel=1e-3)

"""Narrow places, starts below the surface, throws at walls, saving: rule "contact"."""

import itertools

import pytest

from tests.behaviour import cliffs, places
from tests.behaviour.drive import COLLIDERS, FRAME, RESOLVERS
from tests.helpers.pairwise import each_once, pairwise

NOOKS = places.nooks()
THROWS = [way for way in itertools.product((-1, 0, 1), repeat=3) if any(way)]


@pytest.mark.parametrize(("nook", "shape", "resolver"), pairwise(NOOKS, COLLIDERS, RESOLVERS))
def test_rests_in_narrow_places(nook, shape, resolver):
    ground, position = NOOKS[nook]
    moved, grounded = places.rest_in(ground, shape, position, resolver)
    assert moved == 0.0
    assert grounded


@pytest.mark.parametrize(
    ("shape", "deep", "walking", "count"),
    each_once(COLLIDERS, ((0.3, 2), (2.0, 8), (10.0, 24)), (False, True), (12, 40)),
)
def test_who_starts_below_the_surface_comes_up(shape, deep, walking, count):
    below, frames = deep
    rescue = places.rescue(shape, below, walking, count)
    assert 0 < rescue.frames <= frames
    assert rescue.fastest <= 1.5  # half a meter a frame, and at last all of the body
    assert rescue.reported


@pytest.mark.long
@pytest.mark.parametrize("shape", COLLIDERS)
def test_350_starts_below_the_surface(shape):
    for below, frames in ((0.3, 2), (2.0, 8), (10.0, 24)):
        for walking in (False, True):
            assert 0 < places.rescue(shape, below, walking, 350).frames <= frames


@pytest.mark.parametrize(("shape", "resolver"), each_once(COLLIDERS, RESOLVERS))
def test_thrown_at_the_walls_of_a_mesh(shape, resolver):
    for way in THROWS:
        aslant = (way[0] + 0.13, way[1] - 0.07, way[2] + 0.21)
        for direction in (way, aslant):
            assert places.thrown(shape, direction, resolver=resolver) <= 1e-5


@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("shape", COLLIDERS)
def test_a_ceiling_stops_a_jump(shape, resolver):
    overlap, seconds = places.jump_below(2.2, shape, resolver)
    assert -1e-3 < overlap <= 1e-5
    free = 2 * 8.0 / 9.81
    assert 2 * FRAME < seconds < 0.5 * free


@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("shape", COLLIDERS)
def test_saved_runs_go_on_with_the_same_bits(shape, resolver):
    assert places.saved_runs_agree(shape, resolver)


def led_in(count):
    """Return the seeds of walks and jumps that lead into the side of a rock, with the figures."""
    found = {seed: places.into_side(seed) for seed in range(count)}
    return {seed: f for seed, f in found.items() if f.lifted > 1e-3 or f.inside > 1e-3}


@pytest.mark.parametrize("count", [8, pytest.param(100, marks=pytest.mark.full)])
def test_who_goes_into_the_side_of_a_map_is_stopped(count):
    assert not led_in(count)


@pytest.mark.long
def test_all_who_go_into_the_side_of_a_map():
    assert not led_in(2000)


def not_outside(count):
    """Return the seeds of walks among cliffs that lead into the ground, with the figures."""
    found = {seed: cliffs.among(seed) for seed in range(count)}
    return {
        seed: f for seed, f in found.items() if f.inside > 0.0 or f.overlap > 0.0 or f.lifted > 1e-3
    }


@pytest.mark.parametrize("count", [4, pytest.param(100, marks=pytest.mark.full)])
def test_who_moves_among_cliffs_stays_outside(count):
    assert not not_outside(count)


@pytest.mark.long
def test_all_who_move_among_cliffs():
    assert not not_outside(2000)

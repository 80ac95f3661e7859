"""Thin plates, rough meshes, wedges and thin walls: rule "contact", friction at its default."""

import functools

import pytest

from terrain_physics import HeightMap
from tests.behaviour import hard, lands
from tests.behaviour.drive import RESOLVERS
from tests.helpers.pairwise import each_once

GROUNDS = {
    "flat map": lambda: HeightMap([[0.0] * 41] * 41),
    "rough map": lambda: hard.rough_map(0.6),
    "flat mesh": lambda: lands.triangulated(1),
    "rough mesh": lambda: lands.triangulated(2, rough=0.5),
    "very rough mesh": lambda: lands.triangulated(3, rough=1.5),
}
ground_of = functools.cache(lambda name: GROUNDS[name]())


def assert_outside(found):
    assert found.deepest < 1e-4
    assert found.stuck == 0
    assert found.below == 0


@pytest.mark.parametrize(
    ("plate", "ground", "resolver", "turned"),
    each_once(hard.PLATES, ("flat map", "rough map", "rough mesh"), RESOLVERS, (True, False)),
)
def test_thin_plates(plate, ground, resolver, turned):
    case = hard.PLATES[plate], ground_of(ground), resolver
    assert_outside(hard.on_ground(*case, turned=turned, count=1))


@pytest.mark.parametrize(
    ("box", "ground", "resolver", "turned"),
    each_once(hard.BOXES, ("rough mesh", "very rough mesh"), RESOLVERS, (True, False)),
)
def test_boxes_on_rough_meshes(box, ground, resolver, turned):
    case = hard.BOXES[box], ground_of(ground), resolver
    assert_outside(hard.on_ground(*case, turned=turned, count=1))


@pytest.mark.parametrize(
    ("nook", "shape", "resolver", "count"),
    each_once(hard.nooks(), ("sphere", "box", "board"), RESOLVERS, (1, 2, 4)),
)
def test_wedged_between_a_map_and_a_mesh(nook, shape, resolver, count):
    found = hard.wedged(hard.nooks()[nook], hard.ALL[shape], resolver, count=count, frames=180)
    assert_outside(found)
    assert found.jump < 0.5  # nobody is lifted through the bridge


@pytest.mark.parametrize("resolver", RESOLVERS)
def test_a_ceiling_stops_nobody_in_a_bank(resolver):
    assert hard.flown_under_a_bridge(resolver) == 0


@pytest.mark.parametrize(("shape", "resolver", "count"), each_once(hard.ALL, RESOLVERS, (2, 6)))
def test_thrown_at_a_wall_without_thickness(shape, resolver, count):
    passed, deepest = hard.thrown_at_sheet(hard.ALL[shape], resolver, count=count)
    assert passed == 0
    assert deepest <= 1e-5


@pytest.mark.long
@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("shape", hard.ALL | hard.BOXES)
def test_hard_cases_at_length(shape, resolver):
    collider = (hard.ALL | hard.BOXES)[shape]
    for ground in GROUNDS:
        for turned in (False, True):
            found = hard.on_ground(collider, ground_of(ground), resolver, turned=turned, count=20)
            assert_outside(found)
    for seed in range(10):
        passed, deepest = hard.thrown_at_sheet(collider, resolver, count=40, seed=seed)
        assert passed == 0
        assert deepest <= 1e-5
    if shape in {"sphere", "capsule", "box", "board", "lying plate"}:
        for nook in hard.nooks().values():
            found = hard.wedged(nook, collider, resolver, count=20)
            assert_outside(found)
            assert found.jump < 0.5

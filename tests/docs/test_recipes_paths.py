"""Recipes of paths: clicks on land drawn at random, at any rate, and hordes that all arrive."""

import math

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Ray,
    TriangleMesh,
    Walkability,
)
from tests.helpers.draws import Draws
from tests.helpers.examples import rest_is_full, times
from tests.helpers.pages import DOCS, definitions

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
RATES = (20, 30, 60, 144, 360)
SIDE = 20


def level(draws):
    """Return waves with three walls on them."""
    z, x = np.mgrid[: SIDE + 1, : SIDE + 1]
    wide, long = draws.uniform(3.0, 8.0, 2)
    land = HeightMap(draws.uniform(0.0, 1.0) * np.sin(x / wide) * np.cos(z / long))
    walls = [
        TriangleMesh.box(
            (draws.uniform(0.3, 6.0), 8, draws.uniform(0.3, 6.0)),
            position=(draws.uniform(4.0, SIDE - 4.0), 2, draws.uniform(4.0, SIDE - 4.0)),
        )
        for _ in range(3)
    ]
    return Ground([land, *walls])


def clicked(seed):
    """Return how far a hero is from where it was sent, in meters, and how late, or None."""
    draws = Draws(seed)
    ground, rate = level(draws), draws.one_of(RATES)
    place = draws.uniform(1.0, SIDE - 1.0, 2)
    hero = CharacterMovement(ground, BODY, position=(place[0], 1.5, place[1]))
    paths = Walkability(ground, BODY, rules=hero.rules)
    paths.update()
    start = paths.nearest(hero)
    assert start is not None
    hero.position = start
    hero.update(1 / rate)
    page = definitions(DOCS / "cookbook" / "click_to_move.md", "Click to move")
    page |= {"ground": ground, "hero": hero, "paths": paths, "path": None}
    for _ in range(9):  # some are on top of a wall
        x, z = draws.uniform(1.0, SIDE - 1.0, 2)
        if page["click"](Ray((x, 30, z), (0, -1, 0))):
            break
    else:
        return None
    end, most = page["path"].points[-1], 1.5 * page["path"].length / 4.0 + 1.0
    for _ in range(math.ceil(most * rate)):
        page["follow"]()
        hero.update(1 / rate)
        if page["path"] is None:
            break
    return float(np.linalg.norm(np.subtract(hero.position64, end)))


def all_arrive(seeds):
    away = [clicked(seed) for seed in seeds]
    assert sum(one is None for one in away) < 0.5 * len(away)  # some begin, or end, on a wall
    for seed, one in zip(seeds, away, strict=True):
        assert one is None or one < 0.5, (seed, one)


def test_a_click_leads_there():
    all_arrive(range(times(12)))


@pytest.mark.full
def test_three_hundred_clicks_lead_there():
    all_arrive(range(100, 400))


def built_on(seed, *, height=6.0, least=3.0, solid=True):
    """Build a house on a crowd that walks up a hill.

    Return (how many are inside then, a second later, in the end), and the ways that are left.
    """
    draws = Draws(seed)
    slope, (wide, long) = draws.uniform(0.0, 0.3), draws.uniform(least, 6.0, 2)
    hill = HeightMap(slope * np.tile(np.arange(31.0), (31, 1)))
    ground = Ground(hill)
    people = CharacterGroup(ground, BODY, collide=True)
    x, z = (axis.ravel() for axis in np.meshgrid(np.arange(6, 11), np.arange(13, 17)))
    people.add_many(range(20), np.column_stack([x, hill.height_at(x, z), z]))
    paths = Walkability(ground, BODY, area=((0, 0), (30, 30)), rules=people[0].rules)
    paths.update()
    field, counts = paths.field((26, 15)), []
    for frame in range(400):
        if frame == 60:
            size, low = (wide, height + 2.0, long), 14.0 * slope - 2.0
            place = (14.0, low + 0.5 * size[1], draws.uniform(14.0, 16.0))
            ground.add(TriangleMesh.box(size, position=place, solid=solid))
            assert paths.update() == 0
            field = paths.field((26, 15))
        if frame in {60, 90, 399}:
            off = np.abs(people.positions - place) < 0.5 * np.array(size)
            counts.append(np.count_nonzero(off.all(axis=1)))
        left = field.lead(people, speed=3)
        people.update(1 / 30)
    return counts, left


@pytest.mark.parametrize("seed", rest_is_full(range(12)))
def test_a_house_on_people_lets_them_out_and_all_arrive(seed):
    (inside, *later), left = built_on(seed)
    assert inside > 0
    assert later == [0, 0]
    assert left.max() < 6


def test_who_is_taken_onto_a_high_roof_has_no_way():
    (inside, *later), left = built_on(3, height=2.2, least=6.0)
    assert later == [0, 0]
    assert 0 < np.isinf(left).sum() < inside


def test_who_is_in_a_house_that_is_a_skin_stays_there():
    (_, *later), _ = built_on(3, solid=False)
    assert later[0] == later[1] > 0

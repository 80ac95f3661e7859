"""Recipes of paths: clicks on land drawn at random, at any rate, and hordes that all arrive."""

import math

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    Ray,
    TriangleMesh,
    Walkability,
)
from tests.helpers.draws import Draws
from tests.helpers.examples import times
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

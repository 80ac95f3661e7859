"""The hour of a world finds who is where nobody may be, and a twin that differs."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.fuzz import town, world_hour

PLAN = town.Plan(seed=0, people=1, every=10)
HOUSE = town.there(*town.BLOCKS["house"].place)


@pytest.fixture(scope="module")
def game() -> Iterator[world_hour.Game]:
    with contextlib.closing(world_hour.Game(1, frames=10, every=10, compared=10)) as found:
        yield found


def put(game: world_hour.Game, place: Any) -> None:
    """Put the hero of both worlds somewhere."""
    for world in (game.world, game.twin):
        hero: Any = world["hero"]
        hero.teleport(tuple(map(float, place)))


def broken(game: world_hour.Game, place: Any) -> str:
    """Return which rule is broken by a hero who is at a place, and was not there before."""
    results = game.step(PLAN)
    put(game, place)
    game.check(results)
    with pytest.raises(AssertionError) as error:
        game.judge()
    return str(error.value)


def test_who_is_below_the_land_or_in_a_box_is_found(game: world_hour.Game) -> None:
    assert "hero at [414.0, -9.0, 384.0] is in the land" in broken(game, (414.0, -9.0, 384.0))
    assert "is in house" in broken(game, HOUSE)
    assert "is in pillar" in broken(game, town.there(-17.6, 0.0, 10.7))


def test_who_stands_on_the_land_and_on_boxes_is_not(game: world_hour.Game) -> None:
    put(game, town.there(20.0, 4.0, 14.0))
    for _ in range(3):
        results = game.step(PLAN)
        game.check(results)
    game.judge()


def test_who_is_in_a_mover_in_the_air_is_found_a_frame_later(game: world_hour.Game) -> None:
    put(game, town.there(0.0, 30.0, 0.0))
    results = game.step(PLAN)
    (x, y, z), _ = town.MOVERS["portcullis"].pose(game.frame * town.FRAME)
    put(game, town.there(x, y - 0.9, z))
    game.check(results)
    game.judge()
    game.check(results)
    with pytest.raises(AssertionError, match=r"hero at .* is in portcullis"):
        game.judge()
    game.check(game.step(PLAN))  # it is pushed out
    game.judge()


def test_a_twin_that_differs_is_found(game: world_hour.Game) -> None:
    game.compare()
    hero: Any = game.twin["hero"]
    before = hero.state()
    hero.position = np.nextafter(hero.position64, np.inf)
    with pytest.raises(AssertionError, match=r"frame \d+: \['hero'\] differ"):
        game.compare()
    hero.restore(before)
    game.compare()


def test_a_part_that_differs_is_found(game: world_hour.Game) -> None:
    ground: Any = game.twin.ground
    before = ground.transform("house")
    ground.move("house", town.there(0.0, 0.0, 22.0))
    with pytest.raises(AssertionError, match="house"):
        game.compare()
    ground.move("house", before)

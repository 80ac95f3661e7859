"""Edges that hold at several rates of updates, and paths of levels that are led at each."""

import copy
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    Path,
    TriangleMesh,
    Walkability,
)
from tests.helpers.examples import rest_is_full, times
from tests.oracles.walked_edges import NO_EDGE, STEPS, Walks

RATES = (20, 60, 144)
BODIES: dict[str, Any] = {
    "capsule": CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)),
    "box": BoxCollider((0.35, 0.9, 0.35), offset=(0, 0.9, 0)),
}


def level(seed: int, width: float) -> Ground:
    """Return four rooms with doors of 1.02 to 2 bodies, stairs, a kerb, a ramp and a ledge."""
    rng = np.random.default_rng(seed)
    heights = np.zeros((15, 15))
    heights[10:12, 9:13] = rng.uniform(0.1, 0.8)  # with ramps around it
    floor, parts = HeightMap(heights, origin=(-7, 0, -7)), list[TriangleMesh]()
    for turned in (False, True):
        room, doors = 0.5 * width * rng.uniform(1.02, 2.0), rng.integers(1, 3, 2) * [-2, 2]
        ends = [-7.0, *(x + side * room for x in doors for side in (-1, 1)), 7.0]
        for start, end in zip(ends[::2], ends[1::2], strict=True):
            size, place = (end - start, 3.0, 0.3), (0.5 * (start + end), 1.5, 0.0)
            parts.append(
                TriangleMesh.box(size[::-1], position=place[::-1])
                if turned
                else TriangleMesh.box(size, position=place)
            )
    kerb, rise, steps = rng.uniform(0.01, 0.3), rng.uniform(0.12, 0.19), int(rng.integers(3, 7))
    parts += [
        TriangleMesh.box((3, kerb, 3), position=(-4, 0.5 * kerb, -4)),
        TriangleMesh.stairs(2.0, rise, rng.uniform(0.26, 0.4), steps, position=(2, 0, -4)),
        TriangleMesh.box((3, rise * steps, 2), position=(5.5, 0.5 * rise * steps, -4)),
    ]
    return Ground([floor, *parts])


def map_of(ground: Any, body: str, **options: Any) -> Walkability:
    """Return a map of the middle of a level."""
    paths = Walkability(ground, BODIES[body], area=((-6, -6), (6, 6)), **options)
    paths.update()
    return paths


def led(paths: Walkability, path: Path, rate: float) -> str:
    """Lead a character along a path; return what became of it in twice its time and two tries."""
    hero = CharacterMovement(
        paths.ground, paths.collider, position=path.points[0], rules=paths.rules
    )
    hero.update(1 / rate)
    told = "on the way"
    for _ in range(round((2 * path.length / paths.speed + 3) * rate)):
        told = path.lead(hero)
        if told != "on the way":
            break
        hero.update(1 / rate)
    return told


@pytest.mark.parametrize("body", rest_is_full(BODIES))
def test_an_edge_holds_if_it_is_walked_at_each_rate(body: str) -> None:
    rng = np.random.default_rng(5)
    land = Ground(
        [
            HeightMap(rng.normal(0, 0.15, (5, 5)).cumsum(axis=0)),
            TriangleMesh.box((2, 0.25, 5), position=(4, 0.6, 2)),
        ]
    )
    paths = Walkability(land, BODIES[body], area=((1, 0), (3, 4)), rates=(20, 144))
    paths.update()
    oracles, found, some = [Walks(paths, rate) for rate in paths.rates], paths.edges, 0
    for place in zip(*np.nonzero(paths.standing), strict=True):
        where = int(place[0]), int(place[1]), int(place[2])
        for direction, step in enumerate(STEPS):
            walked = [walks.kind(where, step) for walks in oracles]
            holds = all(kind != NO_EDGE for kind, _ in walked) and walked[0][1] == walked[1][1]
            assert found[where][direction] == (max(kind for kind, _ in walked) if holds else 0)
            some += holds
    assert some > 30


def test_rates_come_along_with_a_copy() -> None:
    paths = Walkability(HeightMap(np.zeros((4, 4))), BODIES["capsule"], rates=[20, 60.5])
    for each in (paths, copy.copy(paths), copy.deepcopy(paths)):
        assert each.rates == (20.0, 60.5)
        assert each.update() == 0
        assert (each.edges == paths.edges).all()


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("seed", rest_is_full(list(range(24))))
def test_all_paths_of_a_level_are_led_at_each_rate(body: str, seed: int) -> None:
    width = 0.8 if body == "capsule" else 0.7
    paths, rng = map_of(level(seed, width), body, rates=RATES), np.random.default_rng(seed)
    places = paths.positions[paths.standing]
    found = [paths.path(*places[rng.integers(0, len(places), 2)]) for _ in range(times(9))]
    ways = [path for path in found if path is not None]
    assert ways
    for path in ways:
        for rate in RATES:
            path.progress = 0.0
            assert led(paths, path, rate) == "arrived"

"""Paths and fields are walked to their ends, on random lands, at all frame rates and speeds."""

import functools
import math
from collections.abc import Callable

import numpy as np
import pytest

from terrain_physics import CharacterGroup, Path, Walkability
from terrain_physics.walkability import making
from tests.helpers.examples import rest_is_full, times
from tests.helpers.walked_lands import BODY, LANDS, RULES

SPEED = 3.0

MapBy = Callable[[str, int], Walkability]


@functools.cache
def map_of(land: str, seed: int) -> Walkability:
    paths = Walkability(LANDS[land](seed), BODY, speed=SPEED, rules=RULES)
    assert paths.update() == 0
    return paths


@functools.cache
def map_of_walks(land: str, seed: int) -> Walkability:
    """Return the same map where characters have walked all edges, and no proof decides."""
    paths = Walkability(LANDS[land](seed), BODY, speed=SPEED, rules=RULES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "_provable", lambda _rules: False)
        assert paths.update() == 0
    return paths


def crowd_on(paths: Walkability, starts: np.ndarray, rate: int) -> CharacterGroup:
    """Return a group of characters that stand on places, a moment old."""
    group = CharacterGroup(paths.ground, BODY, rules=paths.rules)
    group.add_many(range(len(starts)), starts)
    group.update(1 / rate)
    return group


def walk_paths(land: str, seed: int, count: int, rate: int, share: float) -> list[str]:
    """Lead characters along random paths; return what became of each in 1.5 times its time."""
    paths, rng = map_of(land, seed), np.random.default_rng(seed)
    places = paths.positions[paths.standing]
    ways: list[Path] = []
    while len(ways) < count:
        start, goal = places[rng.integers(len(places), size=2)]
        path = paths.path(start, goal)
        if path is not None and path.length > 2:
            ways.append(path)
    speed = share * SPEED
    group = crowd_on(paths, np.array([way.points[0] for way in ways]), rate)
    words, frames = ["on the way"] * count, 0
    times = [1.5 * way.length / speed for way in ways]
    while frames / rate <= max(times):
        for k, way in enumerate(ways):
            if words[k] == "on the way" and frames / rate <= times[k]:
                words[k] = way.lead(group[k], speed)
        if "on the way" not in words:
            break
        group.update(1 / rate)
        frames += 1
    return words


def walk_field(
    land: str, seed: int, count: int, rate: int, share: float, map_by: MapBy = map_of
) -> np.ndarray:
    """Lead characters along a field; return for each whether it arrives in 1.5 times its time."""
    paths, rng = map_by(land, seed), np.random.default_rng(seed)
    places = paths.positions[paths.standing]
    field = paths.field(places[rng.integers(len(places))])
    far = field.distance[paths.standing]
    able = np.flatnonzero(np.isfinite(far) & (far > 2))
    chosen = able[rng.integers(len(able), size=min(count, 4 * len(able)))] if len(able) else able
    speed = share * SPEED
    group = crowd_on(paths, places[chosen], rate)
    times, arrived = 1.5 * far[chosen] / speed, np.zeros(len(chosen), dtype=bool)
    for frame in range(math.ceil(times.max(initial=0.0) * rate)):
        left = field.lead(group, speed)
        arrived |= (left == 0) & (frame / rate <= times)
        if arrived.all():
            break
        group.update(1 / rate)
    return arrived


RATES = [(20, 1.5), (60, 1.0), (144, 0.5)]
"""Frames a second, and the share of the usual speed."""


@pytest.mark.parametrize("pace", rest_is_full(RATES, first=2))
def test_nearly_all_arrive_along_paths(pace: tuple[int, float]):
    rate, share = pace
    words = [word for land in LANDS for word in walk_paths(land, 3, times(9), rate, share)]
    assert words.count("arrived") >= 0.99 * len(words)


@pytest.mark.parametrize("pace", rest_is_full(RATES))
def test_nearly_all_arrive_on_fields(pace: tuple[int, float]):
    rate, share = pace
    arrived = np.concatenate([walk_field(land, 3, times(57), rate, share) for land in LANDS])
    assert len(arrived) >= 90
    assert arrived.mean() >= 0.98


@pytest.mark.full
@pytest.mark.parametrize("rate", [20, 60, 144, 360])
@pytest.mark.parametrize("seed", range(5))
def test_of_ten_thousand_paths_ninety_nine_in_a_hundred_are_walked(seed: int, rate: int):
    words = [
        word
        for land in LANDS
        for share in (0.5, 1.0, 1.5)
        for word in walk_paths(land, 10 + seed, 24, rate, share)
    ]
    assert words.count("arrived") >= 0.99 * len(words)


@pytest.mark.full
@pytest.mark.parametrize("rate", [20, 60, 144, 360])
def test_on_fields_as_many_arrive_as_on_those_of_walked_edges(rate: int):
    by_proofs, by_walks = (
        np.concatenate(
            [
                walk_field(land, seed, 100, rate, share, map_by)
                for land in LANDS
                for seed in (10, 11)
                for share in (0.5, 1.0, 1.5)
            ]
        )
        for map_by in (map_of, map_of_walks)
    )
    assert by_proofs.mean() >= 0.98
    assert by_proofs.mean() >= by_walks.mean()

"""Real stairs: a map has a way over them if the character gets over them, and places beside."""

import math
import pickle
from copy import copy
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    Ground,
    HeightMap,
    TriangleMesh,
    Walkability,
)
from terrain_physics.surface.surface import queries_of
from terrain_physics.walkability import walkers
from terrain_physics.walkability.still_ground import reading_still
from tests.helpers.examples import rest_is_full
from tests.helpers.flights import KINDS, Flight, drawn_flight, has_way, is_walked, map_over
from tests.oracles.walked_edges import STEPS, Walks

CAPSULE = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))


def flight(rise: float = 0.17, tread: float = 0.29, steps: int = 6) -> Ground:
    """Return stairs up along +X, with a floor behind them."""
    stairs = TriangleMesh.stairs(3.0, rise, tread, steps)
    top = TriangleMesh.box((4, 1, 3), position=(steps * tread + 2, steps * rise - 0.5, 0))
    return Ground([HeightMap(np.zeros((13, 13)), origin=(-4, 0, -6)), stairs, top])


def map_of(ground: Any, **options: Any) -> Walkability:
    """Return the map of the middle of a flight."""
    paths = Walkability(ground, CAPSULE, area=((-3, -1), (5, 1)), **options)
    assert paths.update() == 0
    return paths


def differing(kind: str, spacing: float, seeds: range, tread: float = 0.2) -> list[tuple[Any, ...]]:
    """Return the flights that the hero gets over and the map does not know, or vice versa."""
    found = []
    for seed in seeds:
        drawn = drawn_flight(seed, kind, tread=tread)
        paths = map_over(drawn, spacing)
        for way in (drawn.way, drawn.way[::-1]):
            walked, known = is_walked(drawn, way), has_way(drawn, paths, way)
            if walked != known:
                found.append((kind, seed, walked, known))
    return found


@pytest.mark.parametrize("spacing", [1.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_there_is_a_way_if_and_only_if_the_hero_gets_there(kind: str, spacing: float) -> None:
    assert differing(kind, spacing, range(1)) == []


@pytest.mark.full
@pytest.mark.parametrize("spacing", [1.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_there_is_a_way_on_two_hundred_flights(kind: str, spacing: float) -> None:
    assert differing(kind, spacing, range(50)) == []


@pytest.mark.full
@pytest.mark.parametrize(("spacing", "tread"), [(0.25, 0.2), (0.5, 0.16), (1.0, 0.16)])
def test_on_fine_grids_and_short_treads_there_nearly_always_is_a_way(
    spacing: float, tread: float
) -> None:
    assert len(differing("mesh", spacing, range(40), tread)) <= 0.05 * 80


def test_a_nosing_of_exactly_the_limit_is_led_over_both_ways() -> None:
    """At x = 1 a body lies at 30 degrees on an edge, and slips by the rounding of its height."""
    paths = map_of(flight(0.18, 0.3, 5), slope_limit=math.radians(30))
    ends = (-2, 0, 0), (4, 0.9, 0)
    assert paths.path(*ends) is not None
    assert paths.path(*ends[::-1]) is not None


@pytest.mark.parametrize("degrees", rest_is_full([30, 45, 60]))
def test_steps_that_are_too_high_lead_down_only(degrees: int) -> None:
    paths = map_of(flight(0.25), slope_limit=math.radians(degrees), step_offset=0.2)
    ends = (-2, 0, 0), (4, 1.5, 0)
    assert paths.path(*ends) is None
    assert paths.path(*ends[::-1]) is not None


def is_led(flight: Flight, paths: Walkability, way: list[Any]) -> bool:
    """Tell whether a field leads a member of a group over a flight."""
    path = paths.path(way[0], way[-1])
    if path is None:
        return True
    field, group = (
        paths.field(tuple(way[-1])),
        CharacterGroup(flight.ground, flight.body, **flight.rules),
    )
    group.add(0, path.points[0])
    group.update(1 / 60)
    for _ in range(60 * (6 + int(path.length))):
        if field.lead(group, speed=3)[0] == 0.0:
            return True
        group.update(1 / 60)
    return False


@pytest.mark.parametrize(
    "seeds", [range(1, 2), pytest.param(range(14), marks=pytest.mark.full)], ids=["one", "many"]
)
@pytest.mark.parametrize("kind", rest_is_full(["mesh", "boxes"]))
def test_fields_lead_over_stairs_from_where_characters_stand(kind: str, seeds: range) -> None:
    for seed in seeds:
        drawn = drawn_flight(seed, kind)
        paths = map_over(drawn, 1.0)
        assert is_led(drawn, paths, drawn.way[::-1])


def house_on_a_slope(width: float, steps: int) -> Ground:
    """Return a slope up along +X, stairs up from (10, 2, 20) and a house with a flat roof."""
    top, end = 2 + 0.17 * steps, 10 + 0.29 * steps
    return Ground([
        HeightMap([[0, 8], [0, 8]], cell_size=40),
        TriangleMesh.stairs(width, 0.17, 0.29, steps, position=(10, 2, 20)),
        TriangleMesh.box((8, 6, 8), position=(end + 4, top - 3, 20)),
    ])  # fmt: skip


@pytest.mark.parametrize("rate", rest_is_full([30, 20, 60, 144]))
def test_who_comes_from_the_side_keeps_nobody_from_climbing(rate: int) -> None:
    ground = house_on_a_slope(3, 8)
    paths = Walkability(ground, CAPSULE, area=((8, 17), (15, 23)), spacing=0.5)
    assert paths.update() == 0
    field, group = paths.field((14.5, 20)), CharacterGroup(ground, CAPSULE, collide=True)
    places = np.array([(9.72, 0, 18.65), (10.35, 0, 18.12), (9.72, 0, 21.35), (10.35, 0, 21.88)])
    places[:, 1] = 0.2 * places[:, 0]
    group.add_many(range(4), places)
    for _ in range(4 * rate):
        field.lead(group, speed=3)
        group.update(1 / rate)
    assert group.positions[[0, 2], 1].min() > 3.3


@pytest.mark.full
@pytest.mark.parametrize("width", [2.4, 3, 3.4, 4, 5])
def test_a_crowd_gets_up_stairs(width: float) -> None:
    ground = house_on_a_slope(width, 24)
    paths = Walkability(ground, CAPSULE, area=((0, 0), (40, 40)))
    assert paths.update() == 0
    field = paths.field([(24, z) for z in range(17, 24)])
    crowd = CharacterGroup(ground, CAPSULE, collide=True)
    x, z = (a.ravel() for a in np.meshgrid(np.arange(4.0, 8), np.arange(16.0, 25)))
    crowd.add_many(range(36), np.column_stack([x, 0.2 * x, z]))
    for _ in range(900):
        field.lead(crowd, speed=3)
        crowd.update(1 / 30)
    assert np.count_nonzero(crowd.positions[:, 1] > 6) >= 32  # of 36; some stay beside the stairs


def asides(paths: Walkability) -> Any:
    """Return how far each place is beside its point of the grid, on the level."""
    own = paths.positions[..., [0, 2]]
    return np.hypot(*np.moveaxis(own - paths.spacing * np.round(own / paths.spacing), -1, 0))


@pytest.mark.parametrize("spacing", [1.0, 0.5])
def test_characters_stand_still_on_places_beside_the_grid(spacing: float) -> None:
    ground = flight()
    paths = map_of(ground, spacing=spacing, slope_limit=math.radians(30))
    beside = paths.positions[paths.standing & (asides(paths) > 1e-3)]
    assert len(beside) > 2
    group = CharacterGroup(ground, CAPSULE, slope_limit=math.radians(30))
    group.add_many(range(len(beside)), beside)
    for _ in range(30):
        group.update(1 / 60)
        assert group.grounded.all()
    assert np.abs(group.positions - beside).max() < 1e-3


def test_edges_on_stairs_are_as_a_character_walks_them() -> None:
    paths = map_of(flight(), slope_limit=math.radians(30), threads=1)
    walks, places = Walks(paths), paths._places
    beside = np.flatnonzero(paths.standing & (asides(paths) > 1e-3))
    starts, directions = np.repeat(beside, 8), np.tile(np.arange(8), len(beside))
    with reading_still(queries_of(paths.ground)) as ground:
        known = starts, directions, ground, paths._walker
        kinds, levels = walkers.walk(places, *known, threads=1)
    assert np.array_equal(kinds, paths.edges.reshape(-1, 8)[starts, directions])
    shape = places.levels, places.rows, places.columns
    for k, (start, direction) in enumerate(zip(starts, directions, strict=True)):
        level, row, column = (int(at) for at in np.unravel_index(start, shape))
        assert (kinds[k], levels[k]) == walks.kind((level, row, column), STEPS[direction])
    assert (kinds > 0).any()


def test_the_nearest_place_is_where_a_character_stands() -> None:
    paths = map_of(flight(), spacing=0.5, slope_limit=math.radians(30))
    places = paths.positions[paths.standing]
    for point in np.random.default_rng(1).uniform((-3, 0, -1), (5, 1.2, 1), (60, 3)):
        found = paths.nearest(point)
        assert found is not None
        apart = np.linalg.norm(places - point, axis=1).min()
        assert math.dist(found, point) == pytest.approx(apart, abs=1e-5)


@pytest.mark.parametrize("limit", rest_is_full([30, 45]))
def test_a_map_of_stairs_that_come_and_go_is_as_one_made_anew(limit: int) -> None:
    ground = flight()
    options: dict[str, Any] = {"slope_limit": math.radians(limit)}
    paths = map_of(ground, **options)
    plank = TriangleMesh.box((0.4, 0.1, 0.5), position=(0.7, 0.45, 0.8))
    for is_there in (True, False):
        if is_there:
            key = ground.add(plank)
        else:
            ground.remove(key)
        assert paths.update() == 0
        anew = map_of(ground, **options)
        assert np.array_equal(paths.positions, anew.positions, equal_nan=True)
        assert np.array_equal(paths.edges, anew.edges)


def test_copies_have_the_same_places() -> None:
    paths = map_of(flight(), slope_limit=math.radians(30))
    for other in (copy(paths), pickle.loads(pickle.dumps(paths))):
        assert np.array_equal(paths.positions, other.positions, equal_nan=True)

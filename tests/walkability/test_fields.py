"""Fields: distances of all places to the nearest goal, next places, and directions."""

import math

import numpy as np
import pytest

from terrain_physics._kernels.types import Floats
from terrain_physics._kernels.walkability import layout
from terrain_physics._kernels.walkability.ways.field import WaysToGoals
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.ways.field import field_of
from terrain_physics.walkability.ways.lengths import costly_lengths, plain_lengths
from tests.helpers.drawn_places import drawn_places, edges_of, flat_places, join, standing
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.oracles import graphs
from tests.walkability.test_search import drawn_lengths

pytestmark = pytest.mark.kernels


def test_distances_and_next_places_are_dijkstras() -> None:
    for seed in range(times(450)):
        draws = Draws(seed)
        places = drawn_places(draws)
        if not (stand := standing(places)):
            continue
        lengths = drawn_lengths(draws, places)
        goals = [stand[draws.below(len(stand))] for _ in range(draws.whole(1, 4))]
        edges = edges_of(places, lengths)
        expected = graphs.distances(graphs.reversed_edges(edges), goals)
        field = field_of(places, np.array(goals), lengths)
        assert field.distances.tolist() == expected
        for place, next_place in enumerate(field.next_places.tolist()):
            far = expected[place]
            best = [end for end, length in edges[place].items() if length + expected[end] == far]
            has_next = 0.0 < far < math.inf
            assert next_place == (min(best) if has_next else -1)
            assert np.hypot(*field.directions[place]) == pytest.approx(float(has_next))


def test_a_place_beyond_the_ring_of_buckets_waits() -> None:
    places = flat_places(1, 6)
    places.heights[:] = 0.0, 900.0, 0.0, 0.0, 0.0, 2_000.0
    field = _field(places, 0)
    expected = graphs.distances(edges_of(places, plain_lengths(places)), [0])
    assert field.distances.tolist() == expected


def test_on_open_land_directions_lead_straight_to_the_goal() -> None:
    places = flat_places(40, 50)
    goal = 21 * 50 + 17
    field = _field(places, goal)
    to_goal = places.points(np.array([goal])) - places.points(np.arange(2_000))
    wanted = to_goal[:, ::2] / np.maximum(np.hypot(*to_goal[:, ::2].T), 1e-9)[:, None]
    inside = np.zeros((40, 50), dtype=bool)
    inside[1:-1, 1:-1] = True  # cells beside the border are not open all around
    assert np.allclose(field.directions[inside.ravel()], wanted[inside.ravel()])
    assert (field.targets[inside.ravel()] == goal).all()


def test_straight_lines_stay_in_open_cells() -> None:
    longest = 0
    for seed in range(times(60)):
        draws = Draws(seed)
        places = _land_with_holes(draws)
        stand = standing(places)
        field = _field(places, *(stand[draws.below(len(stand))] for _ in range(2)))
        rows, columns = np.divmod(np.arange(len(places)), places.columns)
        for place in stand[::5]:
            target = int(field.targets[place])
            if target < 0 or target in (place, field.next_places[place]):
                continue
            line = np.linspace((rows[place], columns[place]), (rows[target], columns[target]), 97)
            for row, column in np.unique(np.floor(line + 1e-9).astype(int), axis=0).tolist():
                _assert_open(places, line, row, column)
            longest = max(longest, abs(rows[place] - rows[target]))
    assert longest > 4


def _land_with_holes(draws: Draws) -> Places:
    places = flat_places(24, 24)
    for _ in range(draws.below(30)):
        places.heights[draws.below(len(places))] = math.nan
    join(places)
    return places


def _assert_open(places: Places, line: Floats, row: int, column: int) -> None:
    """All corners of a cell that a line passes stand."""
    within = line - (row, column)
    if not ((within > 1e-6).all(axis=1) & (within < 1 - 1e-6).all(axis=1)).any():
        return  # it passes along the border, or through a corner
    grid = places.heights.reshape(places.rows, places.columns)
    assert not np.isnan(grid[row : row + 2, column : column + 2]).any()


def test_no_direction_leads_across_other_ground_that_costs_more() -> None:
    places = flat_places(20, 30)
    mud = np.zeros((20, 30), dtype=np.uint8)
    mud[4:, 12:18] = 1
    factors = np.ones(256)
    factors[1] = 9.0
    lengths = costly_lengths(places, mud.ravel(), factors)
    field = field_of(places, np.array([12 * 30 + 25]), lengths)
    place, passed = 12 * 30 + 4, []
    while field.targets[place] != place:
        place = int(field.targets[place])
        passed.append(place)
    assert not any(mud.ravel()[place] for place in passed)
    assert len(passed) < 20


def test_directions_stay_on_their_level() -> None:
    """A bridge over open land: the way on it leads along it, whatever is open below."""
    places = Places(0.0, 0.0, 1.0, 3, 9, 12)
    places.heights[:108] = 0.0
    join(places)
    bridge = 108 + np.arange(4 * 12, 5 * 12)
    places.heights[bridge] = 3.0
    arrays = places.arrays()
    for place in bridge.tolist():
        for direction in (0, 4):
            if 0 <= place % 12 + layout.column_step(direction) < 12:
                layout.put_edge(arrays, place, direction, layout.WALK, 1)
    layout.put_edge(arrays, int(bridge[0]), 2, layout.DROP, 0)
    field = _field(places, 7 * 12 + 9)
    assert field.targets[bridge[1:]].tolist() == bridge[:-1].tolist()
    assert field.targets[bridge[0]] == 5 * 12
    assert field.targets[2 * 12 + 2] == 7 * 12 + 9 or field.distances[2 * 12 + 2] > 0


def test_a_gentle_slope_is_as_straight_as_level_land() -> None:
    places = flat_places(30, 30)
    places.heights[:] = (0.25 * (np.arange(900) % 30)).astype(np.float32)
    field = _field(places, 25 * 30 + 6)
    assert field.targets[4 * 30 + 16] == 25 * 30 + 6


def _field(places: Places, *goals: int) -> WaysToGoals:
    return field_of(places, np.array(goals), plain_lengths(places))

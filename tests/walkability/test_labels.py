"""Parts of a map, what is reachable on it, and the nearest place, against plain algorithms."""

import math

import numpy as np
import pytest

from terrain_physics.walkability.places import Places
from terrain_physics.walkability.ways.labels import labels_of, nearest_to, reachable_from
from terrain_physics.walkability.ways.lengths import plain_lengths
from tests.helpers.drawn_places import drawn_places, edges_of, flat_places, standing
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.oracles import graphs

pytestmark = pytest.mark.kernels


def test_labels_are_the_strongly_connected_parts() -> None:
    parts = 0
    for seed in range(times(300)):
        places = drawn_places(Draws(seed), most=6)
        found = labels_of(places)
        stands = ~np.isnan(places.heights)
        assert (found[~stands] == 0).all()
        expected = graphs.parts(edges_of(places, plain_lengths(places)))
        first: dict[int, int] = {}
        wanted = [first.setdefault(expected[place], len(first) + 1) for place in standing(places)]
        assert found[stands].tolist() == wanted
        parts = max(parts, len(first))
    assert parts > 10


def test_a_long_corridor_needs_no_recursion() -> None:
    places = flat_places(1, 20_000)
    assert (labels_of(places) == 1).all()
    assert reachable_from(places, 9_000).all()


def test_reachable_places_are_those_that_edges_lead_to() -> None:
    for seed in range(times(300)):
        draws = Draws(seed)
        places = drawn_places(draws)
        if not (stand := standing(places)):
            continue
        start = stand[draws.below(len(stand))]
        expected = graphs.reachable(edges_of(places, plain_lengths(places)), start)
        assert set(np.flatnonzero(reachable_from(places, start)).tolist()) == expected


@pytest.mark.parametrize("in_space", [False, True])
def test_the_nearest_place_is_the_nearest_of_all(in_space: bool) -> None:
    moved = 0
    for seed in range(times(600)):
        draws = Draws(seed)
        places = drawn_places(draws)
        x, y, z = _drawn_position(draws, places)
        within = draws.uniform(0.0, 9.0) if draws.chance(0.5) else math.inf
        points = places.points(np.arange(len(places)))
        far = np.abs(points - (x, y, z)) / places.spacing
        far[:, 1] = far[:, 1] if in_space else 0.0 * points[:, 1]
        squares = (far * far).sum(axis=1)
        squares[np.isnan(squares)] = math.inf
        found = nearest_to(places, x, y if in_space else None, z, within)
        least = math.sqrt(squares.min()) * places.spacing
        if least == math.inf or least > within * (1 + 1e-12):
            assert found is None
        elif least < within * (1 - 1e-12):
            assert found is not None
            assert math.sqrt(squares[found]) * places.spacing == pytest.approx(least, abs=1e-12)
            moved += found != int(squares.argmin())
    assert moved == 0 or moved < 5  # rounding may choose another of places as far


def _drawn_position(draws: Draws, places: Places) -> tuple[float, float, float]:
    """Return a position on the map, or anywhere around it."""
    wide = 0.0 if draws.chance(0.5) else 30.0
    x = draws.uniform(-wide, places.spacing * places.columns + wide)
    z = draws.uniform(-wide, places.spacing * places.rows + wide)
    return places.lower_x + x, draws.uniform(-3.0, 9.0), places.lower_z + z


def test_of_places_as_far_the_one_with_the_least_number_is_nearest() -> None:
    places = flat_places(4, 4)
    assert nearest_to(places, 1.5, None, 1.5) == 5
    places.heights[5] = math.nan
    assert nearest_to(places, 1.5, None, 1.5) == 6
    assert nearest_to(places, 1.5, None, 1.5, within=0.7) is None


def test_without_a_height_the_lowest_level_is_nearest() -> None:
    places = Places(0.0, 0.0, 1.0, 3, 2, 2)
    places.heights[:] = np.repeat([0.0, 3.0, 6.0], 4)
    assert nearest_to(places, 0.9, None, 0.1) == 1
    assert nearest_to(places, 0.9, 4.0, 0.1) == 5
    assert nearest_to(places, 0.9, 99.0, 0.1) == 9

"""Ways between places are shortest ones."""

import itertools
import threading

import numpy as np
import pytest

from terrain_physics._kernels.types import Int64s
from terrain_physics._kernels.walkability.ways.lengths import Lengths
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.ways.lengths import costly_lengths, plain_lengths
from terrain_physics.walkability.ways.search import Searcher
from tests.helpers.drawn_places import drawn_places, edges_of, flat_places, standing
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.oracles import graphs

pytestmark = pytest.mark.kernels


def drawn_lengths(draws: Draws, places: Places) -> Lengths:
    """Return lengths of edges, of every second draw with costs."""
    if draws.chance(0.5):
        return plain_lengths(places)
    materials = np.array([draws.below(3) for _ in range(len(places))], dtype=np.uint8)
    factors = np.ones(256)
    factors[:3] = 1.0, draws.uniform(1.0, 4.0), draws.uniform(1.0, 900.0)
    return costly_lengths(places, materials, factors)


def test_ways_are_as_short_as_dijkstras() -> None:
    found = none = 0
    for seed in range(times(1000)):
        draws = Draws(seed)
        places = drawn_places(draws)
        if not (stand := standing(places)):
            continue
        lengths = drawn_lengths(draws, places)
        edges = edges_of(places, lengths)
        start, goal = (stand[draws.below(len(stand))] for _ in range(2))
        least = graphs.distances(edges, [start])[goal]
        way = Searcher().way(places, start, goal, lengths)
        if way is None:
            assert least == np.inf
            none += 1
            continue
        assert (way[0], way[-1]) == (start, goal)
        legs = [edges[a][b] for a, b in itertools.pairwise(way.tolist())]
        assert sum(legs) == least  # sums of whole multiples are exact
        found += 1
    assert found > 100 < none + 100


def test_a_place_is_a_way_to_itself() -> None:
    places = flat_places(3, 3)
    assert _way(Searcher(), places, 4, 4) == [4]


def test_on_open_land_few_places_beside_the_way_are_looked_at() -> None:
    places = flat_places(200, 200)
    searcher = Searcher()
    way = _way(searcher, places, 5 * 200 + 5, 180 * 200 + 190)
    assert len(way) == 186
    ((search, stamp),) = searcher._free
    assert np.count_nonzero(search.stamps == stamp) < 5 * len(way)


def test_no_search_sees_what_others_left() -> None:
    searcher, draws = Searcher(), Draws(5)
    many = [drawn_places(draws, most=6) for _ in range(40)]
    for _ in range(3):
        for places in many:
            stand = standing(places)
            for _ in range(min(len(stand), 2)):
                ends = stand[draws.below(len(stand))], stand[draws.below(len(stand))]
                lengths = plain_lengths(places)
                again, fresh = (s.way(places, *ends, lengths) for s in (searcher, Searcher()))
                assert (again is None) == (fresh is None)
                assert again is None or fresh is None or again.tolist() == fresh.tolist()


def test_stamps_that_run_out_begin_anew() -> None:
    places, searcher = flat_places(6, 6), Searcher()
    expected = _way(searcher, places, 0, 35)
    ((search, _),) = searcher._free
    searcher._free[:] = [(search, 2**31 - 3)]
    assert [_way(searcher, places, 0, 35) for _ in range(3)] == [expected] * 3


def test_searches_in_several_threads_do_not_meet() -> None:
    places, searcher = flat_places(60, 60), Searcher()
    ends = [(k, 3_599 - 7 * k) for k in range(40)]
    expected = [_way(Searcher(), places, *pair) for pair in ends]
    answers: list[list[list[int]]] = [[] for _ in range(4)]

    def search(own: list[list[int]]) -> None:
        own.extend(_way(searcher, places, *pair) for pair in ends)

    threads = [threading.Thread(target=search, args=(own,)) for own in answers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 4


def _way(searcher: Searcher, places: Places, start: int, goal: int) -> list[int]:
    way: Int64s | None = searcher.way(places, start, goal, plain_lengths(places))
    assert way is not None
    return [int(place) for place in way]

"""A map as a graph for other libraries, and costs of materials."""

import numpy as np
import pytest

from terrain_physics.walkability.ways.graph import WalkGraph, graph_of
from terrain_physics.walkability.ways.lengths import factors_of, plain_lengths
from tests.helpers.drawn_places import STEPS, drawn_places, edges_of, standing
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.helpers.extras import library
from tests.oracles import graphs

pytestmark = pytest.mark.kernels


def test_the_graph_has_all_edges_in_rows_by_their_ends() -> None:
    count = 0
    for seed in range(times(300)):
        places = drawn_places(Draws(seed))
        graph = graph_of(places)
        stand = standing(places)
        nodes = {place: node for node, place in enumerate(stand)}
        expected = [
            (nodes[place], nodes[end], length)
            for place, ends in enumerate(edges_of(places, plain_lengths(places)))
            for end, length in sorted(ends.items())
        ]
        starts = np.repeat(np.arange(len(stand)), np.diff(graph.indptr))
        rows = zip(starts.tolist(), graph.indices.tolist(), graph.lengths.tolist(), strict=True)
        assert list(rows) == expected
        assert np.array_equal(graph.points, places.points(np.array(stand, dtype=np.int64)))
        assert len(graph.indptr) == len(stand) + 1
        assert not any(values.flags.writeable for values in graph)
        count += len(expected)
    assert count > 1_000


def test_the_graph_tells_kinds_of_edges() -> None:
    places = drawn_places(Draws(3))
    graph, stand = graph_of(places), standing(places)
    starts = np.repeat(stand, np.diff(graph.indptr))
    size = places.rows * places.columns
    for start, end, kind in zip(starts, np.array(stand)[graph.indices], graph.kinds, strict=True):
        (row, column), (r, c) = (divmod(n % size, places.columns) for n in (start, end))
        direction = STEPS.index((int(r - row), int(c - column)))
        assert places.kinds[start] >> 2 * direction & 3 == kind
    assert set(graph.kinds.tolist()) == {1, 2, 3}


def test_scipy_finds_the_same_distances() -> None:
    sparse = library("scipy.sparse", "data")
    csgraph = library("scipy.sparse.csgraph", "data")
    places = drawn_places(Draws(8))
    graph = graph_of(places)
    matrix = sparse.csr_array((graph.lengths, graph.indices, graph.indptr))
    expected = graphs.distances(edges_of(places, plain_lengths(places)), [standing(places)[0]])
    found = csgraph.dijkstra(matrix, indices=0)
    assert found.tolist() == [expected[place] for place in standing(places)]
    assert isinstance(graph, WalkGraph)


def test_costs_are_by_name_or_by_number() -> None:
    names = ("grass", "mud", "road")
    assert factors_of({"mud": 3}, names)[:4].tolist() == [1.0, 3.0, 1.0, 1.0]
    assert factors_of({0: 2.0, "road": 1}, names)[:5].tolist() == [1.0, 1.0, 1.0, 2.0, 1.0]
    assert factors_of({7: 1.5}, None)[7] == 1.5


@pytest.mark.parametrize(
    ("cost", "names", "error"),
    [
        ({"mudd": 3}, ("grass", "mud"), "cost: a material must be one of 'grass', 'mud', got"),
        ({"mud": 3}, None, "cost must be for numbers of materials where the ground has no"),
        ({"mud": 0.5}, ("mud",), r"cost\['mud'\] must be from 1 to 1000, got 0.5"),
        ({"mud": float("nan")}, ("mud",), r"cost\['mud'\] must be from 1 to 1000, got nan"),
        ({"mud": 2_000}, ("mud",), r"cost\['mud'\] must be from 1 to 1000, got 2000"),
        ({"mud": "3"}, ("mud",), r"cost\['mud'\] must be a number from 1 to 1000, got '3'"),
        ({256: 3}, None, "cost: a material must be from 0 to 255, got 256"),
        ({1.5: 3}, None, "cost: a material must be a whole number, got 1.5"),
        ([("mud", 3)], ("mud",), "cost must be a mapping from materials to factors, such as"),
    ],
)
def test_costs_that_cannot_be(cost: object, names: tuple[str, ...] | None, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        factors_of(cost, names)

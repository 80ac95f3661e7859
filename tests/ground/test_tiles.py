"""Faults that only maps in tiles can have: shared samples, memory that others read, gaps, locks."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import AABB, CharacterMovement, Ground, HeightMap, SphereCollider
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import read_only
from terrain_physics._locks import lasting
from terrain_physics.ground.maps import GroundMaps
from terrain_physics.surface.answers.hits import many_rays, surface_at
from terrain_physics.surface.surface import queries_of
from tests.helpers.examples import examples
from tests.helpers.threads import together

SIDE = 3  # cells

QUARTERS = [(row, column) for row in (0, SIDE) for column in (0, SIDE)]


def flat_at(row, column, rows=SIDE, columns=SIDE, **options):
    heights = np.zeros((rows + 1, columns + 1))
    return HeightMap(heights, origin=(column, 0, row), **options)


def storage_of(land):
    queries: Any = queries_of(land)
    return queries.storage


# Samples that several maps share

edits = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, SIDE), st.integers(0, SIDE), st.integers(1, 99)),
    max_size=6,
)


@given(st.permutations(QUARTERS), st.lists(edits, min_size=1, max_size=3))
@examples(200)
def test_of_changes_of_a_sample_the_last_part_wins_at_corners_too(places, rounds):
    tiles = [flat_at(*place) for place in places]
    ground = Ground(tiles)
    expected = np.zeros((2 * SIDE + 1, 2 * SIDE + 1))
    for changes in rounds:
        for number, row, column, height in changes:
            tiles[number][row, column] = height
        before = expected.copy()
        for (row, column), tile in zip(places, tiles, strict=True):
            place = slice(row, row + SIDE + 1), slice(column, column + SIDE + 1)
            expected[place] = np.where(tile.heights != before[place], tile.heights, expected[place])
        _ = ground.version
        for (row, column), tile in zip(places, tiles, strict=True):
            place = slice(row, row + SIDE + 1), slice(column, column + SIDE + 1)
            np.testing.assert_array_equal(tile.heights, expected[place])


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_corner_in_the_middle_of_a_border(order):
    places = [(0, 0, SIDE, 2 * SIDE), (SIDE, 0), (SIDE, SIDE)]
    tiles = [flat_at(*places[k]) for k in order]
    ground = Ground(tiles)
    for number, tile in enumerate(tiles):
        row, column = places[order[number]][:2]
        tile[SIDE - row, SIDE - column] = 1.0 + number
    assert ground.height_at(SIDE, SIDE) == 3.0
    assert {tile.height_at(SIDE, SIDE) for tile in tiles} == {3.0}


# Arrays that a long query reads


@pytest.mark.parametrize("asked", ["the union", "the ground"])
def test_a_tile_that_was_removed_and_then_edited_stays_as_it_was_for_who_reads_it(asked):
    tiles = [flat_at(0, column) for column in (0, SIDE, 2 * SIDE)]
    ground = Ground(tiles)
    begin: dict[str, Callable[..., Any]] = {
        "the union": ground._held.maps.members[0].source.storage.begin_reading,
        "the ground": queries_of(ground).begin_reading,
    }
    with lasting(begin[asked]):
        ground.remove(2)
        before = storage_of(tiles[2]).heights
        tiles[2][:] = 5.0
        assert (before == 0.0).all()
        copied = storage_of(tiles[2]).heights
        tiles[2][:] = 6.0
        assert storage_of(tiles[2]).heights is copied
    assert tiles[2].height_at(7, 1) == 6.0
    assert ground.height_at(4, 1) == 0.0


def test_only_the_first_edit_during_a_long_query_copies():
    tiles = [flat_at(0, column) for column in (0, SIDE)]
    ground = Ground(tiles)
    ground.height_at(1, 1)
    with queries_of(ground).reading():
        tiles[0][1, 1] = 1.0
        copied = storage_of(tiles[0]).heights
        tiles[0][1, 1] = 2.0
        assert storage_of(tiles[0]).heights is copied
        with queries_of(ground).reading():  # it reads the copy
            tiles[0][1, 1] = 3.0
            assert storage_of(tiles[0]).heights is not copied
            assert copied[1, 1] == 2.0
    kept = storage_of(tiles[0]).heights
    tiles[0][1, 1] = 4.0
    assert storage_of(tiles[0]).heights is kept
    assert ground.height_at(1, 1) == 4.0


def test_what_a_long_question_asks_stays_as_it_was_though_maps_are_united_anew():
    tiles = [flat_at(0, column, 64, 64) for column in (0, 64, 128)]
    ground = Ground(tiles[:2])
    origins, directions, longest = read_only(
        np.array([(-50.0, 5, 30)]), np.array([(1.0, 0, 0)]), np.array([1e9])
    )
    with lasting(queries_of(ground).begin_asking) as arrays:
        ground.add(tiles[2])
        tiles[0][20:40, 20:40] = 9.0
        assert surface_at(arrays, ALL_LAYERS, 30.0, 30.0)[0] == 0.0
        hits = many_rays(arrays, ALL_LAYERS, origins, directions, longest, None)
        assert np.isnan(hits.distance[0])
    assert ground.raycast_many(origins, directions).distance[0] == pytest.approx(69.5556)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (lambda ground: ground.height_at(1, 1), 7.0),
        (lambda ground: ground.closest_point((1, 9, 1)).distance, 2.0),
        (lambda ground: len(ground.triangles_in(AABB((1, 6, 1), (1.5, 8, 1.5)), margin=0)), 8),
    ],
)
def test_a_short_question_is_asked_anew_if_maps_are_united_meanwhile(question, answer, monkeypatch):
    tiles = [flat_at(0, column) for column in (0, SIDE, 2 * SIDE)]
    ground = Ground(tiles[:2])

    def changed_after(find: Any) -> Any:
        def found(self: Any, *about: Any) -> Any:
            found = find(self, *about)
            if len(ground.parts) == 2:
                ground.add(tiles[2])
                tiles[0][:] = 7.0
            return found

        return found

    monkeypatch.setattr(GroundMaps, "show_alone", changed_after(GroundMaps.show_alone))
    assert question(ground) == answer


# Cells without a tile, and triangles of tiles that have gone


def test_a_report_of_a_part_that_has_gone_names_none():
    tiles = [flat_at(row, 0, 16, 16) for row in range(0, 9 * 16, 16)]
    ground = Ground(tiles)
    mover = CharacterMovement(ground, SphereCollider(0.4), position=(12, 0.4, 9 * 16 - 3))
    mover.update(1 / 60)
    assert mover.ground_report().part == 8
    for key in range(8, 1, -1):
        ground.remove(key)
    report = mover.ground_report()
    assert (report.triangle, report.part, report.material) == (-1, -1, 0)
    gone = np.zeros(1, np.int64), np.array([2 * 9 * 16 * 16 - 1]), np.zeros((1, 3))
    ids, materials, known = queries_of(ground).triangles_at(*gone)
    assert (ids.item(), materials.item(), known.item()) == (-1, 0, False)


def test_no_material_where_no_tile_is():
    first = flat_at(0, 0, 2, 2, materials=1)
    ground = Ground([first])
    mover = CharacterMovement(ground, SphereCollider(0.4), position=(41, 0.4, 41))
    mover.update(1 / 60)
    assert mover.ground_report().material == 1  # outside, the nearest cell's
    for place in ((0, 2, 2, 40), (2, 0, 40, 2), (2, 2, 30, 30)):
        ground.add(flat_at(*place, materials=2))
    report = mover.ground_report()
    assert (report.triangle, report.part, report.material) == (-1, -1, 0)
    queries = queries_of(ground)
    points = np.array([(41.0, 0.0, 41.0), (31.0, 0.0, 31.0), (1.0, 0.0, 1.0)])
    ids, materials, known = queries.triangles_at(np.zeros(3, np.int64), np.full(3, -1), points)
    assert ids.tolist() == [-1, -1, -1]
    assert materials.tolist() == [0, 2, 1]
    assert known.tolist() == [False] * 3  # it would be told by id which tile each is of


# Locks


@pytest.mark.alone
def test_cells_of_two_maps_are_compared_both_ways_by_two_threads():
    one, other = flat_at(0, 0, 64, 64), flat_at(0, 0, 64, 64)

    def compare():
        assert (one.holes == other.holes).all()

    def unite():
        other.holes |= one.holes
        other.holes &= one.holes

    together(compare, unite, lambda: other.holes != one.holes)

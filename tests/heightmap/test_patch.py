"""Patches: what counts of them, laid over other values and cut into squares."""

from typing import Any

import numpy as np
import pytest

from terrain_physics import HeightMap
from terrain_physics.heightmap.framed import place_of
from terrain_physics.heightmap.undo import Patch, in_squares
from terrain_physics.surface.surface import queries_of
from tests.helpers.draws import Draws

ROWS, COLUMNS = 70, 90
KINDS = ("heights", "holes", "materials")


def storage_of(land):
    queries: Any = queries_of(land)
    return queries.storage


def drawn(draws, storage, what):
    """Return a patch of a rectangle that is drawn, of which all values count, or some."""
    counts = storage.sample_count if what == "heights" else storage.cell_count
    starts = [draws.below(count - 1) for count in counts]
    stops = [start + 1 + draws.below(n - start) for start, n in zip(starts, counts, strict=True)]
    rows, columns = (slice(*ends) for ends in zip(starts, stops, strict=True))
    present = storage.values(what, (rows, columns))
    values = draws.uniform(0, 9, *present.shape).astype(present.dtype)
    marks = draws.uniform(0, 1, *present.shape) < 0.5 if draws.chance(0.5) else None
    return Patch(what, (rows, columns), values, marks)


@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize("side", [32, 64])
def test_squares_hold_what_the_last_patches_say(what, side):
    storage, draws = storage_of(HeightMap(np.zeros((ROWS, COLUMNS)))), Draws(side)
    patches = [drawn(draws, storage, what) for _ in range(9)]
    whole = place_of(storage, what, storage.whole)
    wanted, found = storage.values(what, whole), storage.values(what, whole)
    marks, known = np.zeros(wanted.shape, np.bool_), np.zeros(wanted.shape, np.bool_)
    for patch in patches:
        own = np.ones(patch.values.shape, np.bool_) if patch.marks is None else patch.marks
        wanted[patch.place][own] = patch.values[own]
        marks[patch.place] |= own
    squares = in_squares(storage, patches, side)
    for square in squares:
        square.put_over(found, known)
        assert all(
            span.start % side == 0 and span.stop - span.start <= side for span in square.place
        )
    assert np.array_equal(found, wanted)
    assert np.array_equal(known, marks)
    assert len({square.place[0].start * 1000 + square.place[1].start for square in squares}) == len(
        squares
    )


def test_what_is_beyond_a_place_is_left_out():
    place = slice(2, 5), slice(3, 9)
    patch = Patch("heights", place, np.ones((3, 6), np.float32))
    for rows, columns, count in ((slice(0, 2), slice(0, 9), 0), (slice(4, 9), slice(0, 5), 2)):
        values = np.zeros((rows.stop - rows.start, columns.stop - columns.start), np.float32)
        patch.put_over(values, place=(rows, columns))
        assert values.sum() == count


@pytest.mark.parametrize("what", KINDS)
def test_only_marked_values_are_put_back(what):
    land = HeightMap(np.zeros((ROWS, COLUMNS)), material_names=[*"abcdefghij"])
    storage, draws = storage_of(land), Draws(5)
    for _ in range(4):
        patch, before = (
            drawn(draws, storage, what),
            storage.values(what, place_of(storage, what, storage.whole)),
        )
        patch.put_over(before)
        storage.put_back(*patch)
        assert np.array_equal(storage.values(what, place_of(storage, what, storage.whole)), before)

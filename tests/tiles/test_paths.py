"""The first missing tile on a path, and the nearest one to a point: kernels against fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from terrain_physics._kernels.tiles.nearest import put_nearest
from terrain_physics._kernels.tiles.paths import put_first_on_paths
from terrain_physics._kernels.types import read_only
from tests.helpers.examples import times

pytestmark = pytest.mark.kernels

# What the kernels widen boxes by is less than this share of the coordinates.
WIDER = 2.0**-44


class Boxes:
    """Random boxes of tiles on a lattice."""

    def __init__(self, rng):
        self.rows, self.columns = rng.integers(1, 6, 2).tolist()
        count = self.rows * self.columns
        self.marks = rng.integers(0, 2, count).astype(np.uint8)
        self.place = np.array([*rng.integers(-9, 9, 2), *rng.choice([1.0, 2.0, 1.7], 2)])
        self.low = rng.integers(-3, 3, count).astype(float)
        self.high = self.low + rng.integers(0, 3, count)
        empty = rng.random(count) < 0.1
        self.low[empty], self.high[empty] = np.inf, -np.inf

    def somewhere(self, rng):
        """Return a place on the lattice or a little beside it, often on a border."""
        x0, z0, size_x, size_z = self.place
        column, row = rng.integers(-1, self.columns + 2), rng.integers(-1, self.rows + 2)
        place = np.array([x0 + column * size_x, rng.integers(-5, 5), z0 + row * size_z])
        return place + rng.choice([0.0, 0.37], 3)

    def marked(self, wide):
        """Yield number and box of each marked tile, widened."""
        x0, z0, size_x, size_z = map(Fraction, self.place)
        for row, column in product(range(self.rows), range(self.columns)):
            number = row * self.columns + column
            if self.marks[number] and self.low[number] <= self.high[number]:
                lower = x0 + column * size_x, Fraction(self.low[number]), z0 + row * size_z
                upper = lower[0] + size_x, Fraction(self.high[number]), lower[2] + size_z
                yield (
                    number,
                    [(low - w, high + w) for low, high, w in zip(lower, upper, wide, strict=True)],
                )


def first_on(boxes, start, way, extents, most, wide):
    """Return where a path comes to the first box exactly, and the numbers of all there."""
    entries = {}
    wide = [Fraction(wide) + Fraction(own) for own in extents]
    for number, box in boxes.marked(wide):
        begin, end = Fraction(0), Fraction(most)
        for (low, high), at, rate in zip(
            box, map(Fraction, start), map(Fraction, way), strict=True
        ):
            if rate == 0:
                end = end if low <= at <= high else Fraction(-1)
            else:
                one, other = sorted(((low - at) / rate, (high - at) / rate))
                begin, end = max(begin, one), min(end, other)
        if begin <= end:
            entries[number] = begin
    return min(entries.values(), default=None)


def kernel_first(boxes, start, way, extents, most):
    places, numbers = np.empty(1), np.empty(1, np.int64)
    start, way, extents = read_only(*(np.array([own]) for own in (start, way, extents)))
    (limit,) = read_only(np.array([most]))
    put_first_on_paths(
        boxes.marks, boxes.low, boxes.high, boxes.columns, boxes.place, start, way, extents, limit,
        0, 1, places, numbers,
    )  # fmt: skip
    return float(places[0]), int(numbers[0])


def test_the_first_on_a_path():
    rng = np.random.default_rng(1)
    met = 0
    for _ in range(times(400)):
        boxes = Boxes(rng)
        start, end = boxes.somewhere(rng), boxes.somewhere(rng)
        way = np.where(rng.random(3) < 0.3, 0.0, end - start)
        extents = rng.choice([0.0, 0.0, 0.5, 1.3], 3)
        most = float(rng.choice([0.0, 0.5, 1.0, 3.0]))
        place, number = kernel_first(boxes, start, way, extents, most)
        surely = first_on(boxes, start, way, extents, most, 0.0)
        widened = first_on(boxes, start, way, extents, most, WIDER * 64)
        if surely is not None:
            assert number >= 0
            assert place <= float(surely) + 1e-15
            met += 1
        if number >= 0:
            assert widened is not None
            assert float(widened) - 1e-15 <= place <= most
            assert boxes.marks[number]
    assert met > 10


def test_paths_without_end():
    rng = np.random.default_rng(2)
    for _ in range(times(100)):
        boxes = Boxes(rng)
        start = boxes.somewhere(rng)
        way = rng.permutation([0.0, 0.0, float(rng.choice([-1.0, 1.0]))])
        place, number = kernel_first(boxes, start, way, (0.0, 0.0, 0.0), np.inf)
        expected = first_on(boxes, start, way, (0.0, 0.0, 0.0), 1000.0, 0.0)
        assert (number >= 0) == (expected is not None)
        if expected is not None:
            assert place == pytest.approx(float(expected), abs=1e-12)


def test_the_nearest():
    rng = np.random.default_rng(3)
    for _ in range(times(400)):
        boxes = Boxes(rng)
        point = boxes.somewhere(rng)
        away = {
            number: sum(
                max(low - at, at - high, Fraction(0)) ** 2
                for (low, high), at in zip(box, map(Fraction, point), strict=True)
            )
            for number, box in boxes.marked((0, 0, 0))
        }
        within = float(rng.choice([0.0, 1.0, 5.0, np.inf]))
        numbers = np.empty(1, np.int64)
        points, limit = read_only(np.array([point]), np.array([within]))
        put_nearest(
            boxes.marks, boxes.low, boxes.high, boxes.columns, boxes.place, points, limit,
            0, 1, numbers,
        )  # fmt: skip
        number = int(numbers[0])
        least = min(away.values(), default=None)
        if least is not None and (within == np.inf or least <= Fraction(within) ** 2):
            assert number >= 0
            assert float(away[number]) == pytest.approx(float(least), abs=1e-9)
        elif number >= 0:
            assert float(away[number]) <= within**2 + 1e-9

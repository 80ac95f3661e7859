"""Numbers and shapes drawn at random, the same on every machine.

Only sums, products and quotients of uniform numbers: what takes a sine or a logarithm may end in
other bits elsewhere.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

import terrain_physics as tp
from tests.helpers.portable import power_of_ten

Floats = NDArray[np.float64]
T = TypeVar("T")


class Draws:
    """Draws from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.Generator(np.random.PCG64(seed))

    def uniform(self, low: Any, high: Any, *shape: int) -> Any:
        """Return numbers of a shape, or a float."""
        drawn = low + (np.asarray(high) - low) * self._random.random(shape or None)
        return drawn if np.ndim(drawn) else float(drawn)

    def mixed(self, low: Any, high: Any, *shape: int) -> Floats:
        """Return rows of which every third is of quarters, so that things touch exactly."""
        drawn: Floats = self.uniform(low, high, *shape)
        drawn[::3] = np.round(4.0 * drawn[::3]) / 4.0
        return drawn

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to below the bound."""
        return int(self._random.random() * bound)

    def chance(self, part: float) -> bool:
        """Return True in this part of all cases."""
        return bool(self._random.random() < part)

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from one to below another."""
        return low + self.below(high - low)

    def normal(self, *shape: int) -> Any:
        """Return about normal numbers of a shape, or a float: none is greater than 3.5."""
        drawn = (self._random.random((4, *shape)).sum(axis=0) - 2.0) * math.sqrt(3.0)
        return drawn if shape else float(drawn)

    def scale(self, low: float, high: float) -> float:
        """Return a number of any size between two powers of ten, about."""
        return power_of_ten(self.uniform(low, high))

    def order(self, count: int) -> NDArray[np.int64]:
        """Return the numbers below a count in any order."""
        return np.argsort(self._random.random(count), kind="stable")

    def one_of(self, values: Sequence[T]) -> T:
        """Return one of these."""
        return values[self.below(len(values))]

    def turn(self) -> Floats:
        """Return a rotation matrix, of whole numbers by their sum of squares."""
        w, x, y, z = (float(self.below(11) - 5) for _ in range(4))
        w += w == x == y == z == 0.0
        size = w * w + x * x + y * y + z * z
        rows = [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
        return np.array(rows) / size

    def turns(self, count: int) -> Floats:
        """Return rotation matrices (n, 3, 3), every fifth of them none."""
        return np.array([np.eye(3) if k % 5 == 0 else self.turn() for k in range(count)])


class NumPyDraws(Draws):
    """The same draws by NumPy's own methods, which found the seeds of some tests."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def uniform(self, low: Any, high: Any, *shape: int) -> Any:
        """Return numbers of a shape, or a float."""
        return self._random.uniform(low, high, shape or None)

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to below the bound."""
        return int(self._random.integers(bound))

    def scale(self, low: float, high: float) -> float:
        """Return a number between two powers of ten."""
        return float(10 ** self.uniform(low, high))

    def order(self, count: int) -> NDArray[np.int64]:
        """Return the numbers below a count in any order."""
        return self._random.permutation(count)


class Rows(NamedTuple):
    """Shapes as the arrays that functions for many take, and how to make one of a row."""

    arrays: tuple[Floats, ...]
    make: Callable[..., Any]

    def one(self, row: int) -> Any:
        """Return the shape of a row."""
        return self.make(*(values[row] for values in self.arrays))


def spheres(draws: Draws, low: Any, high: Any, count: int) -> Rows:
    """Return balls, some of radius 0."""
    radii = draws.mixed(0.0, 1.5, count, 1)
    radii[::17] = 0.0
    rows = np.hstack([draws.mixed(low, high, count, 3), radii])
    return Rows((rows,), lambda row: tp.Sphere(row[:3], row[3]))


def capsules(draws: Draws, low: Any, high: Any, count: int) -> Rows:
    """Return capsules, some upright, some that are balls."""
    first = draws.mixed(low, high, count, 3)
    axis = draws.mixed(-1.0, 1.0, count, 3)
    axis[::4, ::2] = 0.0
    axis[::19] = 0.0
    rows = np.hstack([first, first + axis, draws.mixed(0.0, 0.8, count, 1)])
    return Rows((rows,), lambda row: tp.Capsule(row[:3], row[3:6], row[6]))


def aabbs(draws: Draws, low: Any, high: Any, count: int) -> Rows:
    """Return upright boxes, some without thickness."""
    lowers = draws.mixed(low, high, count, 3)
    sizes = draws.mixed(0.0, 2.0, count, 3)
    sizes[::13, 1] = 0.0
    return Rows((lowers, lowers + sizes), tp.AABB)


def obbs(draws: Draws, low: Any, high: Any, count: int) -> Rows:
    """Return turned boxes, some without thickness."""
    halves = draws.mixed(0.0, 1.0, count, 3)
    halves[::13, 1] = 0.0
    return Rows((draws.mixed(low, high, count, 3), halves, draws.turns(count)), tp.OBB)


def triangles(draws: Draws, low: Any, high: Any, count: int) -> Rows:
    """Return triangles, some of them thin, segments or points."""
    corners = draws.mixed(low, high, count, 1, 3) + draws.mixed(-2.0, 2.0, count, 3, 3)
    corners[5::11, 2] = corners[5::11, 1]
    corners[6::11, 1:] = corners[6::11, :1]
    corners[7::11, 2] = 2.0 * corners[7::11, 1] - corners[7::11, 0]
    corners[8::11, 2] = corners[8::11, 1] + 1e-9 * corners[8::11, 0]
    return Rows((corners,), lambda row: tp.Triangle(*row))


def segments(draws: Draws, low: Any, high: Any, count: int) -> Rows:
    """Return segments, some without length."""
    ends = draws.mixed(low, high, count, 2, 3)
    ends[::13, 1] = ends[::13, 0]
    return Rows((ends,), lambda row: tp.Segment(*row))


def planes(draws: Draws, low: Any, high: Any, count: int) -> Rows:
    """Return points and normals of planes."""
    rows = draws.mixed(low, high, count, 2, 3)
    rows[::5, 1] = (0.0, 1.0, 0.0)
    rows[~rows[:, 1].any(axis=1), 1] = (1.0, 2.0, -2.0)
    return Rows((rows,), lambda row: tp.Plane(*row))


def rays(draws: Draws, low: Any, high: Any, count: int) -> Rows:
    """Return rays, some upright, some along an axis."""
    ways = draws.mixed(-1.0, 1.0, count, 3)
    ways[::5, ::2] = 0.0
    ways[1::5, 1] = 0.0
    ways[~ways.any(axis=1)] = (0.0, -1.0, 0.0)
    return Rows((draws.mixed(low, high, count, 3), ways), tp.Ray)


def points(draws: Draws, low: Any, high: Any, count: int) -> Rows:
    """Return points."""
    return Rows((draws.mixed(low, high, count, 3),), np.array)

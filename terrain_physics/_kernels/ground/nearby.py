"""Index of candidates: those near a place, and those that share a corner.

Few candidates are looked at one after another. Behind many, in rows of the same array, lie:

- a header: whether corners have been sorted in, and the size of their cells;
- the box around each run of 16 candidates, then the box around each 16 of those. Maps, and most
  meshes, list neighbors near each other, so that most runs are skipped. The candidates that remain
  keep their order;
- cells of corners, as lists in a hash table. They are made when they are first asked for.
"""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.tolerances import RUN_SLACK
from terrain_physics._kernels.types import Floats

# Up to this many candidates have no index behind them.
FEW = 256

_RUN = 16  # a power of two
_LONG_RUN = _RUN * _RUN

# The header: whether corners are sorted in, and how large their cells are, in meters.
_SORTED_IN, _CELL = 0, 1

# A cell of corners is this share of the longest perimeter of a candidate: so wide that a place and
# its slack are almost always in one, so small that it holds one corner.
_CELL_SHARE = 1e-4
_LEAST_CELL = 1e-300  # meters

# Cells are shifted against the origin, since corners often lie in line with it.
_SHIFT = 0.381966
_FARTHEST_CELL = 2.0**52

# Bits of a cell's number that are mixed. With more, a product would be too large.
_MIXED = 2**31 - 1

# Numbers of the hash table in a row; a power of two.
_WIDE = 8

_CORNERS = 3

# Cost of a candidate from a list, as so many candidates in order: it lies anywhere in memory.
_LISTED = 12


@kernel(inline=True)
def _runs(count: int) -> int:
    return (count + _RUN - 1) // _RUN


@kernel(inline=True)
def _first_of_table(count: int) -> int:
    """Return the row in which the hash table begins."""
    return count + 1 + _runs(count) + _runs(_runs(count))


@kernel(inline=True)
def _lists(count: int) -> int:
    """Return how many lists the hash table has, a power of two."""
    lists = FEW
    while lists < 2 * count:
        lists *= 2
    return lists


@kernel
def rows_needed(count: int) -> int:
    """Return how many rows so many candidates take, with the index behind them."""
    if count <= FEW:
        return count
    table = _lists(count) + _CORNERS * count
    return _first_of_table(count) + (table + _WIDE - 1) // _WIDE


@kernel(inline=True, no_refcount=True)
def _put_box(rows: Floats, row: int, first: int, last: int, is_corners: bool) -> None:
    """Write the box around the corners, or the boxes, in rows first..last."""
    for axis in range(3):
        low, high = np.inf, -np.inf
        for k in range(first, last):
            a, b = float(rows[k, axis]), float(rows[k, axis + 3])
            c = float(rows[k, axis + 6]) if is_corners else a
            low, high = min(low, a, b, c), max(high, a, b, c)
        rows[row, axis], rows[row, axis + 3] = low, high


@kernel(noinline=True, no_refcount=True)
def put_runs(rows: Floats, count: int) -> None:
    """Write the header and the boxes of the runs behind more than a few candidates."""
    rows[count, _SORTED_IN] = 0.0
    first, runs = count + 1, _runs(count)
    for i in range(runs):
        _put_box(rows, first + i, _RUN * i, min(_RUN * (i + 1), count), True)
    for i in range(_runs(runs)):
        start = first + _RUN * i
        _put_box(rows, first + runs + i, start, min(start + _RUN, first + runs), False)


@kernel(inline=True, no_refcount=True)
def _is_apart(rows: Floats, row: int, lower: Vec3, upper: Vec3) -> bool:
    return bool(
        rows[row, 0] > upper[0]
        or rows[row, 3] < lower[0]
        or rows[row, 1] > upper[1]
        or rows[row, 4] < lower[1]
        or rows[row, 2] > upper[2]
        or rows[row, 5] < lower[2]
    )


@kernel(noinline=True, no_refcount=True)
def _next_run(rows: Floats, count: int, k: int, lower: Vec3, upper: Vec3) -> int:
    """Return the first candidate of the first run from k on that comes near a box."""
    first, runs = count + 1, _runs(count)
    while k < count:
        if k % _LONG_RUN == 0 and _is_apart(rows, first + runs + k // _LONG_RUN, lower, upper):
            k += _LONG_RUN
        elif _is_apart(rows, first + k // _RUN, lower, upper):
            k += _RUN
        else:
            return k
    return count


@kernel(inline=True, no_refcount=True)
def next_near(rows: Floats, count: int, k: int, lower: Vec3, upper: Vec3) -> int:
    """Return the first candidate from k on that may come near a box; ``count`` if none does.

    The candidates that are skipped lie outside of the box. ``k`` is 0, or one more than the last
    answer. The box comes from `widened`.
    """
    if count <= FEW or k % _RUN != 0:
        return k
    return _next_run(rows, count, k, lower, upper)


@kernel(inline=True)
def widened(lower: Vec3, upper: Vec3) -> tuple[Vec3, Vec3]:
    """Return a box that is larger by more than rounding; it may have no top or no bottom."""
    slack = RUN_SLACK * (
        abs(lower[0]) + abs(lower[2]) + abs(upper[0]) + abs(upper[2]) + _finite(lower[1])
        + _finite(upper[1])
    )  # fmt: skip
    return (
        (lower[0] - slack, lower[1] - slack, lower[2] - slack),
        (upper[0] + slack, upper[1] + slack, upper[2] + slack),
    )


@kernel(inline=True)
def _finite(value: float) -> float:
    size = abs(value)
    return size if size < np.inf else 0.0


@kernel(inline=True)
def around_body(offset: Vec3, half_extents: Vec3, margin: float) -> tuple[Vec3, Vec3]:
    """Return the box around a body at an offset, and a margin."""
    x, y, z = half_extents[0] + margin, half_extents[1] + margin, half_extents[2] + margin
    return widened(
        (offset[0] - x, offset[1] - y, offset[2] - z),
        (offset[0] + x, offset[1] + y, offset[2] + z),
    )


@kernel(inline=True)
def column_of(offset: Vec3, half_extents: Vec3, lowest: float) -> tuple[Vec3, Vec3]:
    """Return the box over and under a body at an offset, from some height upwards."""
    return widened(
        (offset[0] - half_extents[0], lowest, offset[2] - half_extents[2]),
        (offset[0] + half_extents[0], np.inf, offset[2] + half_extents[2]),
    )


@kernel(inline=True)
def _cell_of(along: float, cell: float) -> int:
    return math.floor(min(max(along / cell + _SHIFT, -_FARTHEST_CELL), _FARTHEST_CELL))


@kernel(inline=True)
def _list_of(x: int, y: int, z: int, lists: int) -> int:
    mixed = (x & _MIXED) * 73856093 ^ (y & _MIXED) * 19349663 ^ (z & _MIXED) * 83492791
    return int(mixed) & (lists - 1)


@kernel(inline=True, no_refcount=True)
def _entry(rows: Floats, first: int, i: int) -> int:
    """Return an entry of the hash table."""
    return int(rows[first + i // _WIDE, i % _WIDE])


@kernel(inline=True, no_refcount=True)
def _put_entry(rows: Floats, first: int, i: int, value: int) -> None:
    rows[first + i // _WIDE, i % _WIDE] = value


@kernel(inline=True, no_refcount=True)
def _edges(rows: Floats, k: int) -> float:
    """Return the perimeter of a candidate, measured along the axes."""
    total = 0.0
    for axis in range(3):
        a, b, c = float(rows[k, axis]), float(rows[k, axis + 3]), float(rows[k, axis + 6])
        total += abs(b - a) + abs(c - b) + abs(a - c)
    return total


@kernel(noinline=True, no_refcount=True)
def _sort_in(rows: Floats, count: int) -> None:
    """Put all corners into the lists of their cells."""
    longest = 0.0
    for k in range(count):
        longest = max(longest, _edges(rows, k))
    cell = max(_CELL_SHARE * longest, _LEAST_CELL)
    first, lists = _first_of_table(count), _lists(count)
    for i in range(lists):
        _put_entry(rows, first, i, -1)
    for k in range(count):
        for corner in range(_CORNERS):
            x = _cell_of(float(rows[k, 3 * corner]), cell)
            y = _cell_of(float(rows[k, 3 * corner + 1]), cell)
            z = _cell_of(float(rows[k, 3 * corner + 2]), cell)
            which, entry = _list_of(x, y, z, lists), _CORNERS * k + corner
            _put_entry(rows, first, lists + entry, _entry(rows, first, which))
            _put_entry(rows, first, which, entry)
    rows[count, _SORTED_IN], rows[count, _CELL] = 1.0, cell


@kernel(inline=True, no_refcount=True)
def at_corner(rows: Floats, count: int, place: Vec3, slack: float) -> tuple[bool, int]:
    """Return (whether corners are listed, where to begin) for the candidates at a corner.

    ``slack`` is how far from the place a corner may be, and at most 1e-9 of the perimeter of a
    candidate. See `candidate_at`.
    """
    return (False, 0) if count <= FEW else _at_listed_corner(rows, count, place, slack)


@kernel(noinline=True, no_refcount=True)
def _at_listed_corner(rows: Floats, count: int, place: Vec3, slack: float) -> tuple[bool, int]:
    if rows[count, _SORTED_IN] == 0.0:
        _sort_in(rows, count)
    cell, slack = float(rows[count, _CELL]), 2.0 * slack
    x, y, z = (
        _cell_of(place[0] - slack, cell),
        _cell_of(place[1] - slack, cell),
        _cell_of(place[2] - slack, cell),
    )
    if (
        x != _cell_of(place[0] + slack, cell)
        or y != _cell_of(place[1] + slack, cell)
        or z != _cell_of(place[2] + slack, cell)
    ):
        return False, 0  # in several cells: all candidates
    return True, _entry(rows, _first_of_table(count), _list_of(x, y, z, _lists(count)))


@kernel(inline=True)
def candidate_at(listed: bool, at: int) -> int:
    """Return the candidate at a place of the walk that `at_corner` begins and `next_at` continues.

    The walk ends below 0. It comes to all candidates that have a corner there, once or more, in
    any order, and to some others.
    """
    return at // _CORNERS if listed else at


@kernel(inline=True)
def cost_at(listed: bool) -> int:
    """Return the cost of a place of the walk: candidates looked at one after another."""
    return _LISTED if listed else 1


@kernel(inline=True, no_refcount=True)
def next_at(rows: Floats, count: int, listed: bool, at: int) -> int:
    """Return the next place of a walk over candidates at a corner; -1 at its end."""
    if listed:
        return _entry(rows, _first_of_table(count), _lists(count) + at)
    return at + 1 if at + 1 < count else -1

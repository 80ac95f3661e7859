"""Counts for lazy triangles, of which there may be more than one machine holds.

Triangles are cut into ranges of a Hilbert curve by a sample of some blocks. One pass over all
triangles and spheres finds the boxes of the ranges and of the blocks of spheres. So it is known,
before anything is counted, which block may meet which range; others are no work. If the pass finds
a range that is too large, as where the blocks that were sampled are not like the others, the ranges
are cut again by a sample of all blocks, and there is another pass over the triangles. When the
counts are computed, Dask brings together the triangles of each range, and each range gets its tree.
Each block of spheres is cut into those that may meet a range, and the counts of all ranges are
added up in a tree. Spheres go to the trees, never trees to the spheres, as they are smaller.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.counter import ranges as kernels
from terrain_physics._kernels.math import space_curve
from terrain_physics._support import checks
from terrain_physics._support.lazy import is_lazy
from terrain_physics._support.threads import Workers, alone
from terrain_physics.counter.cluster.blocks import Counter, lazy_array
from terrain_physics.counter.tables import bounds_of, table_of

RANGE_ROWS = 1 << 19
"""Triangles of a range, roughly; twice as many are very unlikely. Its tree takes 66 MB."""

_SAMPLED_BLOCKS, _SAMPLED_ROWS = 32, 4096  # at most, and of each block
_SAMPLED_OF_RANGE = 256  # about so many, if the blocks sampled first did not stand for the others
_MOST_OF_RANGE = 2  # times RANGE_ROWS
_OUTLIERS = 0.005  # of the sample, at either end of an axis, do not widen the curve's box
_AT_ONCE = 16  # parts that one task adds up
_MOST_PARTS = 2048  # of blocks in ranges; more are shuffled, which costs more and grows less
_COLUMNS = ["ax", "ay", "az", "bx", "by", "bz", "cx", "cy", "cz"]

Array = NDArray[np.float64]
Compute = Callable[[str, Sequence[Any]], Iterable[Any]]
CounterOf = Callable[[Array], Counter]
_CutBlock = tuple[NDArray[np.int64], Array]
_Counted = tuple[NDArray[np.int64], NDArray[np.int64]]


class Plan(NamedTuple):
    """A lazy count that is planned.

    Attributes
    ----------
    counts : array of Dask, int64, shape (q,)
        Numbers of triangles, with the blocks of the spheres.
    triangle_count, sphere_count : int
        How many there are.
    pair_count : int
        Pairs of a block of spheres and a range of triangles that may meet.
    all_pairs : int
        All such pairs.
    """

    counts: Any
    triangle_count: int
    sphere_count: int
    pair_count: int
    all_pairs: int


class _Curve(NamedTuple):
    """Where the ranges begin along the curve; the keys there, in ascending order."""

    frame: Array
    splitters: NDArray[np.uint64]

    @property
    def range_count(self) -> int:
        return len(self.splitters) + 1


class _BlockSample(NamedTuple):
    """Some triangles of a block, their rows in it, and how many triangles each stands for."""

    triangles: Array
    rows: NDArray[np.int64]
    each_stands_for: float


class _Ranges(NamedTuple):
    """How many triangles ranges hold, and the boxes around them: lower x y z, upper x y z."""

    counts: NDArray[np.int64]
    boxes: Array


def _computed(_: str, values: Sequence[Any]) -> Iterable[Any]:
    """Return what lazy values are, by the scheduler that Dask is set to."""
    import dask

    results: tuple[Any, ...] = dask.compute(*values)
    return results


def plan(triangles: Any, spheres: Any, counter_of: CounterOf, compute: Compute = _computed) -> Plan:
    """Return the plan of a count; looks at all triangles and spheres once.

    Parameters
    ----------
    triangles : lazy array, shape (n, 9) or (n, 3, 3)
    spheres : array_like or lazy array, shape (q, 4)
    counter_of : callable
        Makes a counter of triangles (n, 9): `TouchCounter`.
    compute : callable, optional
        Is told what is being done, and returns the results of lazy values.
    """
    import dask.array as da

    table = _triangle_table(triangles)
    blocks = list(table.to_delayed().ravel())
    sphere_blocks = _blocks("spheres", spheres, 4)
    curve = _curve_through(compute("sampling triangles", _some_of(blocks)))
    parts = _ranges_of(blocks, curve)
    bounded = [_shells_of(k, block) for k, block in enumerate(sphere_blocks)]
    read = list(compute("reading triangles and spheres", [*parts, *bounded]))
    found, shells = _merged_ranges(read[: len(parts)]), read[len(parts) :]
    if found.counts.max() > _MOST_OF_RANGE * RANGE_ROWS:
        curve = _curve_through(compute("sampling all triangles", _evenly_of(blocks)))
        found = _merged_ranges(list(compute("reading triangles again", _ranges_of(blocks, curve))))
    counters = _counters(table, curve, found, counter_of)
    counted, pairs = [], 0
    for block, (count, lower, upper) in zip(sphere_blocks, shells, strict=True):
        met = _ranges_met(lower, upper, found.boxes) if count else []
        pairs += len(met)
        counts = _counts(block, count, [counters[k] for k in met], found.boxes[met])
        counted.append(da.from_delayed(counts, (count,), np.int64))
    return Plan(
        da.concatenate(counted),
        int(found.counts.sum()),
        sum(count for count, _, _ in shells),
        pairs,
        len(sphere_blocks) * curve.range_count,
    )


def _delayed(function: Callable[..., Any], *arguments: Any) -> Any:
    from dask.delayed import delayed

    return delayed(function, pure=True)(*arguments)


def _triangle_table(triangles: Any) -> Any:
    """Return lazy triangles as a lazy array (n, 9)."""
    if len(getattr(triangles, "shape", ())) != 3:
        return lazy_array("triangles", triangles, (9,))
    corners = lazy_array("triangles", triangles, (3, 3))
    flat = np.empty((0, 9), corners.dtype)
    return corners.map_blocks(_flat, drop_axis=2, chunks=(corners.chunks[0], (9,)), meta=flat)


def _flat(corners: Any) -> Any:
    return corners.reshape(-1, 9)


def _blocks(name: str, value: Any, columns: int) -> list[Any]:
    import dask.array as da

    if is_lazy(value):
        return list(lazy_array(name, value, (columns,)).to_delayed().ravel())
    held = checks.copied(name, table_of(name, value, columns))
    return list(da.from_array(held, (RANGE_ROWS, columns)).to_delayed().ravel())


def _table(name: str, block: Any, columns: int) -> Array:
    """Return a block as kernels take it; not copied if it is so, as nobody relies on it later."""
    table = table_of(name, block, columns)
    is_for_kernels = table.dtype == np.float64 and table.flags.carray
    return table if is_for_kernels else checks.real_array(name, table)


def _bounded_table(name: str, number: int, columns: int, block: Any) -> tuple[Array, Array, Array]:
    """Return a block and its bounds; refuse numbers that are not finite."""
    table = _table(name, block, columns)
    if not len(table):
        return table, np.full(columns, np.inf), np.full(columns, -np.inf)
    try:
        return table, *bounds_of(Workers(1), name, table)
    except ValueError as error:
        raise ValueError(f"{error}, in block {number}") from None


# The curve


def _curve_through(samples: Iterable[_BlockSample]) -> _Curve:
    """Return a curve cut into ranges of about as many triangles each, by samples of them."""
    found = list(samples)
    triangles = np.concatenate([sample.triangles for sample in found])
    rows = np.concatenate([sample.rows for sample in found])
    stands_for = np.concatenate(
        [np.full(len(sample.rows), sample.each_stands_for) for sample in found]
    )
    if not len(triangles):
        return _Curve(np.zeros(8), np.empty(0, np.uint64))
    thirds = (triangles / 3.0).reshape(-1, 3, 3).sum(axis=1)
    frame = space_curve.frame_around(*np.quantile(thirds, [_OUTLIERS, 1.0 - _OUTLIERS], axis=0))
    keys = _keys(triangles, frame) & ~space_curve.ROW_BITS | rows.astype(np.uint64)
    order = np.argsort(keys)
    until = np.cumsum(stands_for[order])
    ranges = int(-(-until[-1] // RANGE_ROWS))
    places = np.searchsorted(until, until[-1] * np.arange(1, ranges) / ranges)
    return _Curve(frame, np.unique(keys[order][places]))


def _some_of(blocks: Sequence[Any]) -> list[Any]:
    """Return samples of some blocks, which stand for the others: the others are not read."""
    chosen = np.unique(np.linspace(0, len(blocks) - 1, _SAMPLED_BLOCKS).astype(int))
    return [_delayed(_spread_sample, blocks[k], len(blocks) / len(chosen)) for k in chosen]


def _spread_sample(block: Any, blocks: float) -> _BlockSample:
    """Return some triangles of a block, which stands for so many blocks."""
    count = len(block)
    rows = np.unique(np.linspace(0, count - 1, min(count, _SAMPLED_ROWS)).astype(np.int64))
    return _sample(block, rows, blocks * count / max(len(rows), 1))


def _evenly_of(blocks: Sequence[Any]) -> list[Any]:
    """Return samples of all blocks, in which each triangle is as likely, so of each range."""
    share = min(1.0, _SAMPLED_OF_RANGE / RANGE_ROWS)
    return [_delayed(_random_sample, block, share, k) for k, block in enumerate(blocks)]


def _random_sample(block: Any, share: float, seed: int) -> _BlockSample:
    rows = np.flatnonzero(np.random.default_rng(seed).random(len(block)) < share)
    return _sample(block, rows, 1.0 / share)


def _sample(block: Any, rows: NDArray[np.int64], each_stands_for: float) -> _BlockSample:
    triangles = checks.real_array("triangles", table_of("triangles", block[rows], 9))
    finite = np.isfinite(triangles).all(axis=1)  # others are refused in the pass over all
    return _BlockSample(triangles[finite], rows[finite], each_stands_for)


def _keys(triangles: Array, frame: Array) -> NDArray[np.uint64]:
    """Return the place of each triangle on the curve, and its row: many may share one place."""
    keys = np.empty(len(triangles), np.uint64)
    space_curve.triangle_keys(triangles, 0, len(triangles), frame, keys)
    return keys


# The pass over all


def _ranges_of(blocks: Sequence[Any], curve: _Curve) -> list[Any]:
    """Return what the ranges hold of some blocks each, lazily."""
    parts = [_delayed(_bounded, k, block, curve) for k, block in enumerate(blocks)]
    return _some_merged(_merged_ranges, parts)


def _bounded(number: int, block: Any, curve: _Curve) -> _Ranges:
    triangles, _, _ = _bounded_table("triangles", number, 9, block)
    return _assigned(triangles, curve)[1]


def _assigned(triangles: Array, curve: _Curve) -> tuple[NDArray[np.int64], _Ranges]:
    """Return the range of each triangle, and what the ranges hold."""
    counts = np.zeros(curve.range_count, np.int64)
    boxes = np.tile([np.inf] * 3 + [-np.inf] * 3, (curve.range_count, 1))
    ranges = np.empty(len(triangles), np.int64)
    frame, splitters = (
        np.array(curve.frame),
        np.array(curve.splitters),
    )  # what came from elsewhere may be read-only
    keys = _keys(triangles, frame)
    kernels.assign_ranges(triangles, keys, splitters, ranges, counts, boxes)
    return ranges, _Ranges(counts, boxes)


def _merged_ranges(parts: Sequence[_Ranges]) -> _Ranges:
    boxes = np.concatenate(
        [
            np.min([part.boxes[:, :3] for part in parts], axis=0),
            np.max([part.boxes[:, 3:] for part in parts], axis=0),
        ],
        axis=1,
    )
    return _Ranges(np.sum([part.counts for part in parts], axis=0), boxes)


def _shells_of(number: int, block: Any) -> Any:
    return _delayed(_bounded_shells, number, block)


def _bounded_shells(number: int, block: Any) -> tuple[int, Array, Array]:
    """Return how many spheres there are, and the least and greatest r, x, y, z."""
    spheres, lower, upper = _bounded_table("spheres", number, 4, block)
    if len(spheres) and lower[0] < 0.0:
        row = int(np.flatnonzero(spheres[:, 0] < 0.0)[0])
        raise ValueError(
            f"spheres[{row}] must have a radius >= 0, got {spheres[row, 0]}, in block {number}"
        )
    return len(spheres), lower, upper


def _ranges_met(lower: Array, upper: Array, boxes: Array) -> list[int]:
    """Return the ranges whose boxes surfaces of spheres within bounds may reach into."""
    # Boxes of empty ranges are infinite, and so are distances near 1e308: such a gap is larger than
    # any radius, and such a span leaves nothing out.
    with np.errstate(invalid="ignore", over="ignore"):
        gaps = np.maximum(np.maximum(boxes[:, :3] - upper[1:], lower[1:] - boxes[:, 3:]), 0.0)
        spans = np.maximum(boxes[:, 3:] - lower[1:], upper[1:] - boxes[:, :3])
        gap = np.sqrt((gaps * gaps).sum(axis=1))
        far = np.sqrt((spans * spans).sum(axis=1))
        margin = 1e-12 * (far + upper[0]) + 1e-9
        out = (gap > upper[0] + margin) | (far < lower[0] - margin)
    return np.flatnonzero(~out & (boxes[:, 0] <= boxes[:, 3])).tolist()


# Counting


def _counters(triangles: Any, curve: _Curve, found: _Ranges, counter_of: CounterOf) -> list[Any]:
    """Return a counter of the triangles of each range, lazily."""
    blocks = list(triangles.to_delayed().ravel())
    if len(blocks) * curve.range_count <= _MOST_PARTS:
        parts = [_delayed(_parts, block, curve) for block in blocks]
        tables = [[part[k] for part in parts] for k in range(curve.range_count)]
    else:
        tables = [[table] for table in _shuffled(triangles, curve)]
    return [
        _delayed(_counter_of_range, tables[k], int(count), counter_of)
        for k, count in enumerate(found.counts)
    ]


def _parts(block: Any, curve: _Curve) -> list[Array]:
    """Return the triangles of a block that are in each range."""
    triangles = _table("triangles", block, 9)
    ranges, found = _assigned(triangles, curve)
    in_order = np.argsort(ranges.astype(np.uint16), kind="stable")  # by radix: four times as fast
    return [
        triangles.take(rows, axis=0) for rows in np.split(in_order, np.cumsum(found.counts)[:-1])
    ]


def _shuffled(triangles: Any, curve: _Curve) -> list[Any]:
    """Return the triangles of each range as lazy data frames, shuffled by Dask."""
    import dask.dataframe as dd
    import pandas as pd

    frame = dd.from_dask_array(triangles, columns=_COLUMNS)
    nothing = pd.DataFrame(np.empty((0, 9)), columns=_COLUMNS)
    with_ranges = frame.map_partitions(_with_ranges, curve, meta=_with_ranges(nothing, curve))
    divisions = [*range(curve.range_count), curve.range_count]
    return list(with_ranges.set_index("range", divisions=divisions).to_delayed())


def _with_ranges(frame: Any, curve: _Curve) -> Any:
    """Return a data frame of triangles with the range of each."""
    import pandas as pd

    triangles = checks.real_array("triangles", frame.to_numpy())
    table = pd.DataFrame(triangles, columns=_COLUMNS)
    return table.assign(range=_assigned(triangles, curve)[0])


def _counter_of_range(tables: Sequence[Any], expected: int, counter_of: CounterOf) -> Counter:
    triangles = np.concatenate([np.asarray(table) for table in tables])
    if len(triangles) != expected:
        raise ValueError(
            f"triangles must be the same each time they are read: a range has {len(triangles)} of "
            f"them now, {expected} before"
        )
    with alone():
        return counter_of(triangles)


def _counts(block: Any, count: int, counters: Sequence[Any], boxes: Array) -> Any:
    """Return the counts of a block of spheres, lazily."""
    if not counters:
        return _delayed(np.zeros, count, np.int64)
    partitions = _delayed(_cut, block, boxes)
    counted = [_delayed(_count, counter, partitions[k]) for k, counter in enumerate(counters)]
    return _merged(partial(_added, count), counted)


def _cut(block: Any, boxes: Array) -> list[_CutBlock]:
    """Return, for each box, the spheres that may meet it, and their rows in the block."""
    spheres = _table("spheres", block, 4)
    rows = np.empty(len(spheres), np.int64)
    partitions = []
    for box in np.array(boxes):  # what came from elsewhere may be read-only
        met = rows[: kernels.rows_in_range(spheres, box, rows)].copy()
        partitions.append((met, spheres.take(met, axis=0)))
    return partitions


def _count(counter: Counter, partition: _CutBlock) -> _Counted:
    rows, spheres = partition
    with alone():
        return rows, counter.count(spheres)


def _added(count: int, parts: Sequence[Any]) -> NDArray[np.int64]:
    """Return the sums of counts, each of all spheres of a block or of some rows of it."""
    total = np.zeros(count, np.int64)
    for part in parts:
        if isinstance(part, tuple):
            rows, counts = part
            total[rows] += counts
        else:
            total += part
    return total


def _merged(merge: Callable[[Sequence[Any]], Any], parts: Sequence[Any]) -> Any:
    """Return what parts make together, merged in a tree."""
    level = _some_merged(merge, parts)
    while len(level) > 1:
        level = _some_merged(merge, level)
    return level[0]


def _some_merged(merge: Callable[[Sequence[Any]], Any], parts: Sequence[Any]) -> list[Any]:
    return [
        _delayed(merge, list(parts[first : first + _AT_ONCE]))
        for first in range(0, len(parts), _AT_ONCE)
    ]

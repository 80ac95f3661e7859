"""Counts how many of n triangles the surface of each of q spheres touches.

``_kernels/geometry/sphere_surface.py`` defines a touch; ``_kernels/counter/tree.py`` and
``_kernels/counter/count.py`` explain why counting is fast.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.counter import audit, sphere_groups
from terrain_physics._kernels.counter.count import count_chunks
from terrain_physics._kernels.counter.tree import BLOCK, LANES, NOWHERE, Tree, fill_leaves
from terrain_physics._kernels.math import space_curve
from terrain_physics._public import PublicType, public
from terrain_physics._support import checks
from terrain_physics._support.lazy import is_lazy, refuse_lazy
from terrain_physics._support.threads import Workers
from terrain_physics.counter.cluster.blocks import count_blocks
from terrain_physics.counter.tables import ROW_COST, bounds_of, table_of

SPHERES_AT_ONCE = 1 << 20
"""Spheres are counted in blocks of this many, so that memory does not grow with their number.

A block needs 82 bytes for each sphere, in addition to the spheres themselves: 32 of them for a
copy, which the caller cannot change while it is counted.
"""

# Nanoseconds on one thread, roughly: of a chunk of spheres and of one sphere against the tree, and
# of a sphere against one triangle.
_CHUNK_COST, _SPHERE_COST, _PAIR_COST = 30_000, 1_000, 4

_CHUNKS_AT_ONCE = 8  # at most: those of large spheres take far longer


@public
class TouchCounter(metaclass=PublicType):
    """A set of triangles, prepared once, that counts how many of them spheres touch.

    A sphere touches a triangle if the least distance of its center to the triangle is <= radius +
    1e-10 and the greatest is >= radius - 1e-10, in meters: touching from outside or from inside
    counts, lying wholly inside does not. The counts are exact, and the same for any number of
    threads; only a triangle thinner than a billionth of its length may count as a segment.

    It can be pickled, and gives the same counts in another process. Counts add up: the counts of
    several counters, each with a part of the triangles, sum to the count of one counter with all
    of them.

    Parameters
    ----------
    triangles : array_like, shape (n, 9) or (n, 3, 3)
        Corners ax ay az bx by bz cx cy cz, in meters; copied. A triangle without area counts as
        the segment or the point it is. Takes about 125 bytes for each triangle.
    threads : int, optional
        How many threads build and count; None: one for each processor.

    Raises
    ------
    TypeError
        If ``triangles`` does not hold real numbers.
    ValueError
        If its shape is wrong, a number is not finite or ``threads`` is no integer >= 1.

    Examples
    --------
    >>> counter = TouchCounter([[0, 0, 0, 4, 0, 0, 0, 0, 4]])
    >>> counter.count([[1, 1, 1, 1], [1, 1, 1.5, 1]])
    array([1, 0])
    >>> counter.count([[9, 0, 0, 0]])
    array([0])
    >>> counter.triangle_count
    1
    """

    def __init__(self, triangles: Any, *, threads: int | None = None) -> None:
        workers = Workers(threads)
        refuse_lazy("triangles", triangles, "call count_touching, which takes lazy triangles")
        # A copy: near ties are decided by these numbers, and the caller may change theirs.
        corners = checks.real_array("triangles", table_of("triangles", triangles, 9))
        self._tree = build_tree(workers, corners)
        self._threads = threads

    @property
    def triangle_count(self) -> int:
        """How many triangles there are."""
        return len(self._tree.triangles)

    def count(self, spheres: Any) -> NDArray[np.int64]:
        """Return for each sphere how many of the triangles its surface touches.

        In addition to the spheres and their counts it takes at most 90 MB, for any number of
        spheres. Several Python threads may call it at once.

        Parameters
        ----------
        spheres : array_like, shape (q, 4)
            Radius and center, r x y z, in meters. Of a lazy array or data frame of Dask the counts
            are a lazy array with the same blocks, each counted by the one thread that works on it;
            the counter goes to each worker once, and bad numbers are refused when they are met.

        Returns
        -------
        ndarray of int64, shape (q,)
            Numbers of triangles, in the order of the spheres.

        Raises
        ------
        TypeError
            If ``spheres`` does not hold real numbers.
        ValueError
            If its shape is wrong, a number is not finite or a radius is negative; the message
            names row, rule and value.
        """
        if is_lazy(spheres):
            counts: NDArray[np.int64] = count_blocks(self, spheres)
            return counts
        spheres = table_of("spheres", spheres, 4)
        return count_in_blocks(Workers(self._threads), self._tree, spheres)

    def __deepcopy__(self, _: Any) -> "TouchCounter":
        return self  # it never changes

    def __getstate__(self) -> tuple[tuple[NDArray[Any], ...], int | None]:
        return tuple(self._tree), self._threads

    def __setstate__(self, state: tuple[tuple[NDArray[Any], ...], int | None]) -> None:
        arrays, self._threads = state
        # Buffers passed outside of the pickle may be read-only; kernels take writable ones only.
        self._tree = Tree(*(np.require(array, requirements=["C", "A", "W"]) for array in arrays))

    def __sizeof__(self) -> int:
        # Dask rather moves what is smaller, and spills by size.
        return object.__sizeof__(self) + sum(array.nbytes for array in self._tree)

    def __repr__(self) -> str:
        return f"<TouchCounter of {self.triangle_count} triangles>"


def build_tree(workers: Workers, triangles: NDArray[np.float64]) -> Tree:
    """Return the tree of triangles (n, 9), which it refers to: they must not change."""
    count = len(triangles)
    leaf_count = -(-count // LANES)
    block_count = -(-leaf_count // LANES)
    upper_count = -(-block_count // LANES)
    frame = _frame(workers, triangles)
    keys = np.empty(count, np.uint64)
    order = np.full(leaf_count * LANES, -1, np.int64)
    leaves = np.empty((leaf_count, 10, LANES), np.float32)
    leaves[-1:] = NOWHERE
    leaf_boxes = np.full((block_count, 6, LANES), NOWHERE, np.float32)

    workers.run(
        lambda first, last: space_curve.triangle_keys(triangles, first, last, frame, keys),
        count,
        ROW_COST,
    )
    keys.sort()
    workers.run(
        lambda first, last: fill_leaves(
            triangles, keys, first, last, frame, order, leaves, leaf_boxes
        ),
        leaf_count,
        ROW_COST * LANES,
    )
    boxes = np.full((upper_count * LANES, 6), NOWHERE, np.float32)
    boxes[:block_count, :3] = leaf_boxes[:, :3].min(axis=2)
    # Unused lanes lie beyond everything and must not enlarge the last block.
    upper = leaf_boxes[:, 3:]
    boxes[:block_count, 3:] = np.where(upper == NOWHERE, -NOWHERE, upper).max(axis=2)
    block_boxes = np.ascontiguousarray(boxes.reshape(upper_count, LANES, 6).transpose(0, 2, 1))
    return Tree(triangles, order, leaves, leaf_boxes, block_boxes, frame)


def _frame(workers: Workers, triangles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ``frame`` of a `Tree`."""
    if len(triangles) == 0:
        return np.zeros(8)
    lower, upper = bounds_of(workers, "triangles", triangles)
    return space_curve.frame_around(
        lower.reshape(3, 3).min(axis=0), upper.reshape(3, 3).max(axis=0)
    )


def count_in_blocks(workers: Workers, tree: Tree, given: NDArray[Any]) -> NDArray[np.int64]:
    """Return the counts of the caller's spheres (q, 4), of which each block is copied."""
    counts = np.empty(len(given), np.int64)
    for first in range(0, len(given), SPHERES_AT_ONCE):
        part = slice(first, first + SPHERES_AT_ONCE)
        spheres = checks.real_array("spheres", given[part])
        counts[part] = count_with(workers, tree, spheres, start=first)
    return counts


def count_with(
    workers: Workers,
    tree: Tree,
    spheres: NDArray[np.float64],
    advance: Callable[[int], None] | None = None,
    *,
    start: int = 0,
) -> NDArray[np.int64]:
    """Return the counts of a block of spheres (q, 4); tell ``advance`` how many are done.

    Errors name rows of the whole array, in which the block starts at row ``start``.
    """
    lower, upper = _sphere_bounds(workers, spheres, start)
    counts = np.zeros(len(spheres), np.int64)
    if len(tree.triangles) == 0:
        return counts
    keys, groups, boxes = _grouped(workers, tree, spheres, _window(lower, upper))

    def count(first: int, last: int) -> int:
        count_chunks(tree, spheres, keys, groups, boxes, first, last, counts)
        return min(last * BLOCK, len(spheres)) - first * BLOCK

    for done in workers.each(count, len(boxes), _CHUNK_COST, most=_CHUNKS_AT_ONCE):
        if advance is not None:
            advance(done)
    return counts


def _sphere_bounds(
    workers: Workers, spheres: NDArray[np.float64], start: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest r, x, y, z; refuse a negative radius too."""
    lower, upper = bounds_of(workers, "spheres", spheres, start)
    if lower[0] < 0.0:
        row = int(np.flatnonzero(spheres[:, 0] < 0.0)[0])
        raise ValueError(f"spheres[{start + row}] must have a radius >= 0, got {spheres[row, 0]}")
    return lower, upper


def _window(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middle r x y z of spheres, and the factor that scales them to -1 .. 1."""
    middle = 0.5 * lower + 0.5 * upper
    span = float(np.maximum(upper - middle, middle - lower)[1:].max())
    return np.array([*middle, 1.0 / span if span > 1e-300 else 0.0])


def _grouped(
    workers: Workers, tree: Tree, spheres: NDArray[np.float64], window: NDArray[np.float64]
) -> tuple[NDArray[np.uint64], NDArray[np.float32], NDArray[np.float32]]:
    """Return the keys of spheres in order, and their groups and boxes, chunk by chunk."""
    chunk_count = -(-len(spheres) // BLOCK)
    keys = np.empty(len(spheres), np.uint64)
    groups = np.empty((chunk_count * LANES, sphere_groups.SPHERE_ROWS, LANES), np.float32)
    boxes = np.empty((chunk_count, sphere_groups.BOX_ROWS, LANES), np.float32)
    workers.run(
        lambda first, last: sphere_groups.sphere_keys(
            spheres, first, last, tree.frame, window, keys
        ),
        len(spheres),
        ROW_COST,
    )
    keys.sort()
    workers.run(
        lambda first, last: sphere_groups.fill_groups(
            spheres, keys, first, last, tree.frame, groups, boxes
        ),
        chunk_count * LANES,
        ROW_COST * LANES,
    )
    return keys, groups, boxes


def recount(
    workers: Workers, triangles: NDArray[np.float64], spheres: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the counts of a few spheres by asking the definition about every triangle."""
    spheres = np.ascontiguousarray(spheres)  # a single row may come in either order

    def ask(first: int, last: int) -> NDArray[np.int64]:
        counts = np.zeros(len(spheres), np.int64)
        audit.recount(triangles, spheres, first, last, counts)
        return counts

    parts = workers.run(ask, len(triangles), _PAIR_COST * max(len(spheres), 1))
    total: NDArray[np.int64] = np.sum([np.zeros(len(spheres), np.int64), *parts], axis=0)
    return total


def pairs_tested(workers: Workers, tree: Tree, spheres: NDArray[np.float64]) -> int:
    """Return how many pairs are left to be tested one by one after pruning by boxes of leaves."""
    return sum(
        workers.run(
            lambda first, last: audit.pairs_tested(tree, spheres, first, last),
            len(spheres),
            _SPHERE_COST,
        )
    )

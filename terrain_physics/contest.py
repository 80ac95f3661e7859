"""Count, of n triangles, those that the surface of each of q spheres touches: the contest.

From arrays (`count_touching`) or from text (`read_problem`, `write_counts`). What a touch is,
stands in ``_kernels/touch_exact.py``; how the counting is fast, in ``_kernels/bvh.py`` and
``touch_count.py``.
"""

import math
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _arrays
from terrain_physics._kernels import bvh, number_text, sphere_groups, touch_count
from terrain_physics._kernels.bvh import BLOCK, LANES, NOWHERE, Tree

# Enough of each for one task: below, handing it to another thread costs more than it saves.
_ROWS_PER_TASK = 8192
_BYTES_PER_TASK = 1 << 18
_CHUNKS_PER_TASK = 8

# Spheres are taken in blocks of this many, so that working memory does not grow with their number.
_SPHERES_AT_ONCE = 1 << 20

_TOKEN = re.compile(rb"\S+")
_SPACE = re.compile(rb"\s")
_COUNT = re.compile(rb"[0-9]+")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class ContestError(ValueError):
    """Text that is no contest problem; the message starts with its name and line."""


class Workers:
    """Threads that run a function over ranges of indices. Leave the ``with`` block to end them."""

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise ValueError(f"threads must be None or an integer >= 1, got {threads!r}")
        self._threads = threads or os.cpu_count() or 1
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            # After Ctrl-C, do not wait for work nobody wants any more.
            self._pool.shutdown(wait=error is None, cancel_futures=True)

    def run(self, function: Callable[[int, int], Any], count: int, least: int) -> list[Any]:
        """Return function(first, last) for ranges that cover 0..count, of ``least`` or more."""
        step = max(least, -(-count // (8 * self._threads)))
        if self._threads == 1 or count <= step:
            return [function(0, count)] if count else []
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads)
        starts = range(0, count, step)
        return list(self._pool.map(function, starts, (min(i + step, count) for i in starts)))


def count_touching(
    triangles: Any, spheres: Any, *, threads: int | None = None
) -> NDArray[np.int64]:
    """Return for each sphere how many of the triangles its surface touches.

    A sphere touches a triangle if the least distance of its center to the triangle is <= radius +
    1e-10 and the greatest is >= radius - 1e-10: touching from outside and from within counts,
    lying wholly inside does not. The counts are exact, and the same for any number of threads.

    Parameters
    ----------
    triangles : array_like, shape (n, 9) or (n, 3, 3)
        Corners ax ay az bx by bz cx cy cz, in meters. A triangle without area counts as the
        segment or the point it is.
    spheres : array_like, shape (q, 4)
        Radius and center, r x y z, in meters.
    threads : int, optional
        How many threads count; None: one for each processor.

    Returns
    -------
    ndarray of int64, shape (q,)
        Numbers of triangles, in the order of the spheres.

    Raises
    ------
    TypeError
        If the arrays do not hold real numbers.
    ValueError
        If a shape is wrong, a number is not finite or a radius is negative; the message names
        array, row, rule and value.

    Examples
    --------
    >>> floor = [[0, 0, 0, 4, 0, 0, 0, 0, 4]]
    >>> count_touching(floor, [[1, 1, 1, 1], [1, 1, 1.5, 1], [9, 0, 0, 0]])
    array([1, 0, 0])
    """
    with Workers(threads) as workers:
        corners = _table("triangles", triangles, 9)
        balls = _table("spheres", spheres, 4)
        return count_with(workers, build_tree(workers, corners), balls)


def _table(name: str, value: Any, columns: int) -> NDArray[np.float64]:
    """Return a C-contiguous (n, columns) array of float64."""
    # Kernels are compiled for one type of array only: contiguous, aligned, writable.
    table = np.require(_arrays.real_array(name, value), requirements=["C", "A", "W"])
    if table.size == 0 and table.ndim == 1:
        return np.empty((0, columns))
    if columns == 9 and table.shape[1:] == (3, 3):
        table = table.reshape(-1, 9)
    if table.ndim != 2 or table.shape[1] != columns:
        shape = "(n, 9) or (n, 3, 3)" if columns == 9 else f"(q, {columns})"
        raise ValueError(f"{name} must have shape {shape}, got {table.shape}")
    return table


def _bounds(
    workers: Workers, name: str, table: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest value of each column; refuse what is not finite."""

    def widen(first: int, last: int) -> tuple[bool, NDArray[np.float64], NDArray[np.float64]]:
        lower, upper = np.full(table.shape[1], np.inf), np.full(table.shape[1], -np.inf)
        return bvh.column_bounds(table, first, last, lower, upper), lower, upper

    parts = workers.run(widen, len(table), _ROWS_PER_TASK)
    if not all(finite for finite, _, _ in parts):
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        raise ValueError(f"{name}[{row}] must be finite, got {table[row].tolist()}")
    return np.min([part[1] for part in parts], axis=0), np.max([part[2] for part in parts], axis=0)


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
        lambda first, last: bvh.triangle_keys(triangles, first, last, frame, keys),
        count,
        _ROWS_PER_TASK,
    )
    keys.sort()
    workers.run(
        lambda first, last: bvh.fill_leaves(
            triangles, keys, first, last, frame, order, leaves, leaf_boxes
        ),
        leaf_count,
        _ROWS_PER_TASK // LANES,
    )
    boxes = np.full((upper_count * LANES, 6), NOWHERE, np.float32)
    boxes[:block_count, :3] = leaf_boxes[:, :3].min(axis=2)
    # Unused lanes lie beyond everything, and must not stretch the last block.
    upper = leaf_boxes[:, 3:]
    boxes[:block_count, 3:] = np.where(upper == NOWHERE, -NOWHERE, upper).max(axis=2)
    block_boxes = np.ascontiguousarray(boxes.reshape(upper_count, LANES, 6).transpose(0, 2, 1))
    return Tree(triangles, order, leaves, leaf_boxes, block_boxes, frame)


def _frame(workers: Workers, triangles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ``frame`` of a `Tree`."""
    if len(triangles) == 0:
        return np.zeros(8)
    lower, upper = _bounds(workers, "triangles", triangles)
    lower, upper = lower.reshape(3, 3).min(axis=0), upper.reshape(3, 3).max(axis=0)
    middle = 0.5 * lower + 0.5 * upper
    half = np.maximum(upper - middle, middle - lower)
    largest = float(half.max())
    # A power of two scales exactly. Below 2^-33 m all is one point to the tolerance: scale no more.
    exponent = max(math.frexp(largest)[1], -33) if largest > 0.0 else 0
    factor = math.ldexp(1.0, -exponent)
    return np.array([*middle, factor, *(half * factor), largest * factor])


def count_with(workers: Workers, tree: Tree, spheres: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the counts of spheres (q, 4) against a tree."""
    counts = np.zeros(len(spheres), np.int64)
    for first in range(0, len(spheres), _SPHERES_AT_ONCE):
        part = slice(first, first + _SPHERES_AT_ONCE)
        _count_block(workers, tree, spheres[part], first, counts[part])
    return counts


def _count_block(
    workers: Workers,
    tree: Tree,
    spheres: NDArray[np.float64],
    start: int,
    counts: NDArray[np.int64],
) -> None:
    lower, upper = _bounds(workers, "spheres", spheres)
    if lower[0] < 0.0:
        row = int(np.flatnonzero(spheres[:, 0] < 0.0)[0])
        raise ValueError(f"spheres[{start + row}] must have a radius >= 0, got {spheres[row, 0]}")
    if len(tree.triangles) == 0:
        return
    middle = 0.5 * lower + 0.5 * upper
    span = float(np.maximum(upper - middle, middle - lower)[1:].max())
    window = np.array([*middle, 1.0 / span if span > 1e-300 else 0.0])
    chunk_count = -(-len(spheres) // BLOCK)
    keys = np.empty(len(spheres), np.uint64)
    groups = np.empty((chunk_count * LANES, sphere_groups.SPHERE_ROWS, LANES), np.float32)
    boxes = np.empty((chunk_count, sphere_groups.BOX_ROWS, LANES), np.float32)

    workers.run(
        lambda first, last: sphere_groups.sphere_keys(
            spheres, first, last, tree.frame, window, keys
        ),
        len(spheres),
        _ROWS_PER_TASK,
    )
    keys.sort()
    workers.run(
        lambda first, last: sphere_groups.fill_groups(
            spheres, keys, first, last, tree.frame, groups, boxes
        ),
        chunk_count * LANES,
        _ROWS_PER_TASK // LANES,
    )
    workers.run(
        lambda first, last: touch_count.count_chunks(
            tree, spheres, keys, groups, boxes, first, last, counts
        ),
        chunk_count,
        _CHUNKS_PER_TASK,
    )


class _Problem(NamedTuple):
    """What is wrong with a text, and where: the token it is about and the byte this starts at."""

    token: int
    position: int
    message: str


def read_problem(
    workers: Workers, text: bytes, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return triangles (n, 9) and spheres (q, 4) of a contest input.

    The text holds n, q, then nine numbers for each triangle and four (r x y z) for each sphere,
    with any white space between. Numbers are read exactly as ``float()`` reads them. Memory is
    taken for the numbers that are there, never for those n and q promise.

    Raises
    ------
    ContestError
        ``name:line: what is wrong``, for the first thing that is wrong.
    """
    body, (n, q) = _read_counts(text, name)
    wanted = 9 * n + 4 * q
    values, found, problem = _read_values(workers, text, body, wanted)
    readable = problem.token if problem else len(values)
    negative = np.flatnonzero(values[9 * n : readable : 4] < 0.0)
    if len(negative):
        token = 9 * n + 4 * int(negative[0])
        match = next(islice(_TOKEN.finditer(text, body), token, None))
        problem = _Problem(
            token, match.start(), f"a radius must be >= 0, got {_shown(match.group())}"
        )
    elif problem is None and found < wanted:
        problem = _Problem(
            found,
            len(text.rstrip()),
            f"the input ends after {found} of the 9 n + 4 q = {wanted} numbers that follow n and q",
        )
    elif problem is None and found > wanted:
        match = next(islice(_TOKEN.finditer(text, body), wanted, None))
        problem = _Problem(
            wanted,
            match.start(),
            f"nothing may follow the 9 n + 4 q = {wanted} numbers after n and q, "
            f"got {_shown(match.group())}",
        )
    if problem is not None:
        raise _error(text, name, problem)
    return values[: 9 * n].reshape(n, 9), values[9 * n :].reshape(q, 4)


def _read_counts(text: bytes, name: str) -> tuple[int, list[int]]:
    """Return the position behind n and q, and the two."""
    position = 0
    counts = []
    for what in ("n, the number of triangles,", "q, the number of spheres,"):
        match = _TOKEN.search(text, position)
        rule = f"{what} must be a plain integer >= 0"
        if match is None:
            end = len(text.rstrip())
            raise _error(text, name, _Problem(0, end, f"{rule}, got the end of the input"))
        token = match.group()
        if not _COUNT.fullmatch(token):
            raise _error(text, name, _Problem(0, match.start(), f"{rule}, got {_shown(token)}"))
        # Nothing of 19 digits can be met, and int() refuses thousands of them.
        digits = token.lstrip(b"0")[:19]
        counts.append(int(digits or b"0"))
        position = match.end()
    return position, counts


def _read_values(
    workers: Workers, text: bytes, body: int, wanted: int
) -> tuple[NDArray[np.float64], int, _Problem | None]:
    """Return the first ``wanted`` numbers behind n and q, how many there are, what is bad."""
    data = np.frombuffer(text, np.uint8)

    # Ranges are cut anywhere, then moved to the next white space.
    def cut(place: int) -> int:
        match = _SPACE.search(text, place)
        return match.start() if match else len(text)

    def count(first: int, last: int) -> tuple[int, int, int]:
        first, last = cut(body + first), cut(body + last)
        return first, last, number_text.count_tokens(data, first, last)

    parts = workers.run(count, len(text) - body, _BYTES_PER_TASK)
    starts = np.cumsum([0, *(tokens for _, _, tokens in parts)]).tolist()
    values = np.empty(min(wanted, starts[-1]))

    def parse(first: int, last: int) -> list[_Problem | None]:
        return [
            _parse_part(text, data, parts[i][0], parts[i][1], starts[i], values)
            for i in range(first, last)
        ]

    outcomes = workers.run(parse, len(parts), 1)
    problems = [problem for outcome in outcomes for problem in outcome if problem is not None]
    return values, starts[-1], problems[0] if problems else None


def _parse_part(
    text: bytes,
    data: NDArray[np.uint8],
    first: int,
    last: int,
    start: int,
    values: NDArray[np.float64],
) -> _Problem | None:
    """Read the tokens of one part into values[start:]; return what is wrong with the first."""
    while True:
        outcome, parsed, first = number_text.parse_numbers(data, first, last, values[start:])
        start += parsed
        if outcome == number_text.PARSED:
            return None
        match = _TOKEN.match(text, first)
        token = match.group() if match else b""
        if not _NUMBER.fullmatch(token):
            return _Problem(start, first, f"expected a number, got {_shown(token)}")
        values[start] = float(token)
        if math.isinf(values[start]):
            return _Problem(
                start, first, f"a number must be finite in float64, got {_shown(token)}"
            )
        start += 1
        first += len(token)


def _shown(token: bytes) -> str:
    text = repr(token[:41])[1:]
    return text if len(token) <= 40 else f"{repr(token[:37])[1:-1]}...'"


def _error(text: bytes, name: str, problem: _Problem) -> ContestError:
    line = text.count(b"\n", 0, problem.position) + 1
    return ContestError(f"{name}:{line}: {problem.message}")


def write_counts(counts: NDArray[np.int64]) -> bytes:
    """Return one line for each count."""
    if len(counts) == 0:
        return b""
    text = np.empty(len(counts) * (len(str(counts.max())) + 1), np.uint8)
    return text[: number_text.print_integers(counts, text)].tobytes()

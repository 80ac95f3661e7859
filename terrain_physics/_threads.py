"""Threads that run a kernel over ranges of indices."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

import numpy as np

_TASKS_PER_THREAD = 8  # so that a thread with little work takes over tasks of another


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """Threads that run a function over ranges of indices. They end with the ``with`` block."""

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and (
            not isinstance(threads, (int, np.integer)) or isinstance(threads, bool) or threads < 1
        ):
            raise ValueError(f"threads must be None or an integer >= 1, got {threads!r}")
        self._threads = _processors() if threads is None else int(threads)
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
            # After Ctrl-C, do not wait for work that is no longer needed.
            self._pool.shutdown(wait=error is None, cancel_futures=True)
            self._pool = None

    def run(
        self,
        function: Callable[[int, int], Any],
        count: int,
        least: int,
        most: int | None = None,
    ) -> list[Any]:
        """Return function(first, last) for ranges that cover 0..count, in order.

        A range has at least ``least`` indices, except for the last one, and at most ``most`` if
        that is given. Ranges start in order, so one may wait for those before it.
        """
        return list(self.each(function, count, least, most))

    def each(
        self,
        function: Callable[[int, int], Any],
        count: int,
        least: int,
        most: int | None = None,
    ) -> Iterator[Any]:
        """Yield what `run` returns, in order, each result as soon as it is ready."""
        # One thread works through short ranges: Ctrl-C takes effect between two of them.
        tasks = _TASKS_PER_THREAD * self._threads if self._threads > 1 else count
        step = max(least, -(-count // max(tasks, 1)))
        step = step if most is None else min(step, most)
        starts = range(0, count, step)
        ends = (min(first + step, count) for first in starts)
        if self._threads == 1 or count <= step:
            yield from map(function, starts, ends)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads)
        yield from self._pool.map(function, starts, ends)

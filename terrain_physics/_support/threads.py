"""One pool of threads for the whole process, and calls that share their work with it.

A call works on its own ranges, and threads of the pool help it where they are free. So a call never
waits for threads that are busy with another's work, and no call can lock another one out. Kernels
run without Python's global lock.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._locks import plain_lock

# A shorter task is not worth handing over; a longer one would keep Ctrl-C waiting.
_SHORTEST_TASK, _LONGEST_TASK = 250_000, 5_000_000  # nanoseconds of work, by rough estimates

_TASKS_PER_THREAD = 8  # so that a thread with little work takes over tasks of another

# In a browser, Python has none: calls work alone, whatever ``threads`` says.
_HAS_THREADS = sys.platform not in {"emscripten", "wasi"}

_Function = Callable[[int, int], Any]


def _nothing() -> None:
    """Do nothing."""


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Pool:
    """The threads that help, made when they are first needed, and anew in a forked child."""

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()  # in C: see `_locks`
        self._threads: list[threading.Thread] = []
        self._lock = plain_lock()
        self._busy = threading.local()

    def can_help(self) -> bool:
        """Tell whether this thread may ask for help.

        A thread of the pool works alone: all others may wait for it. So does a signal handler that
        interrupted `ask`, whose locks are taken.
        """
        return _HAS_THREADS and not getattr(self._busy, "is_set", False)

    def ask(self, help_out: Callable[[], None], helpers: int) -> None:
        """Let up to ``helpers`` threads call a function, as soon as they are free."""
        self._busy.is_set = True
        try:
            with self._lock:
                while len(self._threads) < max(processors() - 1, 1):  # the caller works too
                    thread = threading.Thread(
                        target=self._help, name="terrain_physics", daemon=True
                    )
                    thread.start()
                    self._threads.append(thread)
            for _ in range(min(helpers, len(self._threads))):
                self._jobs.put(help_out)
        except RuntimeError:
            pass  # no more threads are to be had, or Python is ending: the caller works alone
        finally:
            self._busy.is_set = False

    def _help(self) -> None:
        """Make the calls that come, one after another."""
        self._busy.is_set = True
        while True:
            self._jobs.get()()

    @contextmanager
    def not_asked(self) -> Iterator[None]:
        """Let this thread ask for no help until the block ends."""
        before = getattr(self._busy, "is_set", False)
        self._busy.is_set = True
        try:
            yield
        finally:
            self._busy.is_set = before


_POOL = _Pool()


def alone() -> AbstractContextManager[None]:
    """Return a context in which this thread works alone, whatever `Workers` it has.

    For threads of others, which share the processors already.
    """
    return _POOL.not_asked()


class _Failed(NamedTuple):
    """The result of a range whose function raised an error."""

    error: Exception


class _Job:
    """The ranges of one call, begun in order by its caller and by its helpers.

    Parameters
    ----------
    function : callable
        Takes the first index of a range and the one behind its last.
    ranges : list of tuple of int and int
    give_up : callable
        Called when no range is begun any more. From then on none may wait for another.
    """

    def __init__(
        self, function: _Function, ranges: list[tuple[int, int]], give_up: Callable[[], None]
    ) -> None:
        self._function: _Function | None = function  # until the caller has finished
        self._ranges = ranges
        self._give_up = give_up
        self._results: dict[int, Any] = {}
        self._begun = self._helpers = 0
        self._has_failed = False
        self._lock = plain_lock()
        self._changed = threading.Condition(self._lock)

    def help_out(self) -> None:
        """Work on ranges until none is left."""
        with self._lock:
            if self._function is None:
                return
            self._helpers += 1
        try:
            while self._work():
                pass
        finally:
            with self._lock:
                self._helpers -= 1
                self._changed.notify_all()

    def _work(self) -> bool:
        """Work on the next range; return False if none is left."""
        with self._lock:
            function, place = self._function, self._begun
            if function is None or self._has_failed or place == len(self._ranges):
                return False
            self._begun += 1
        try:
            result = function(*self._ranges[place])
        except Exception as error:
            result = _Failed(error)
        with self._lock:
            self._results[place] = result
            # All ranges before it have begun, and nobody needs those behind it.
            self._has_failed |= isinstance(result, _Failed)
            self._changed.notify_all()
        return True

    def results(self) -> Iterator[Any]:
        """Work, and yield the results in order, each as soon as it is ready.

        Of several errors the one of the first range is raised, whichever thread met it. When this
        ends, by an error too, none works on the ranges any more.
        """
        try:
            for place in range(len(self._ranges)):
                while place not in self._results and self._work():
                    pass
                with self._lock:
                    while place not in self._results:
                        self._changed.wait()
                result = self._results.pop(place)
                if isinstance(result, _Failed):
                    raise result.error
                yield result
        finally:
            self._close()

    def _close(self) -> None:
        """Let none begin any more, and wait for those at work: they write to the call's arrays."""
        interruption: BaseException | None = None
        while True:
            try:
                with self._lock:
                    self._function = None
                    self._give_up()
                    while self._helpers > 0:
                        self._changed.wait()
                break
            except BaseException as error:
                interruption = error
        if interruption is not None:
            raise interruption


class Workers:
    """As many threads as a call may use, its own among them.

    Parameters
    ----------
    threads : int, optional
        At most this many. By default, as many as the process may use processors.

    Raises
    ------
    ValueError
        If it is not an integer >= 1.
    """

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and (
            not isinstance(threads, (int, np.integer)) or isinstance(threads, bool) or threads < 1
        ):
            raise ValueError(f"threads must be None or an integer >= 1, got {threads!r}")
        self._threads = None if threads is None else int(threads)

    def run(
        self,
        function: _Function,
        count: int,
        cost: float,
        *,
        most: int | None = None,
        give_up: Callable[[], None] = _nothing,
    ) -> list[Any]:
        """Return function(first, last) for ranges that cover 0..count, in order.

        Parameters
        ----------
        function : callable
            Called by several threads at once. Ranges are begun in order, so one may wait for those
            before it.
        count : int
            How many indices there are.
        cost : float
            Nanoseconds that one index takes, roughly.
        most : int, optional
            Indices of one range, at most.
        give_up : callable, optional
            Called when no range is begun any more. From then on none may wait for another.
        """
        if 0 < count * cost < 2 * _SHORTEST_TASK and (most is None or count <= most):
            return [function(0, count)]
        return list(self.each(function, count, cost, most=most, give_up=give_up))

    def each(
        self,
        function: _Function,
        count: int,
        cost: float,
        *,
        most: int | None = None,
        give_up: Callable[[], None] = _nothing,
    ) -> Iterator[Any]:
        """Yield what `run` returns, in order, each result as soon as it is ready."""
        is_long = count * cost >= 2 * _SHORTEST_TASK
        threads = 1
        if is_long and _POOL.can_help():
            threads = processors() if self._threads is None else self._threads
        step = _step(count, cost, threads)
        step = step if most is None else min(step, most)
        ranges = [(first, min(first + step, count)) for first in range(0, count, step)]
        helpers = min(threads, len(ranges)) - 1
        if helpers <= 0:
            for first, last in ranges:
                yield function(first, last)
            return
        job = _Job(function, ranges, give_up)
        _POOL.ask(job.help_out, helpers)
        yield from job.results()


def _step(count: int, cost: float, threads: int) -> int:
    """Return how many indices make one task."""
    longest = int(_LONGEST_TASK / cost)
    if threads == 1:
        return max(1, longest)
    share = -(-count // (_TASKS_PER_THREAD * threads))
    return max(1, min(max(share, int(_SHORTEST_TASK / cost)), longest))

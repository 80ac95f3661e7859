"""Locks that let a signal handler through, and that no forked child waits for in vain.

A signal handler interrupts its own thread, which may hold any lock: so a thread may take a lock
again that it holds. A forked child has the forking thread only. That thread takes all locks before
it forks, so the child finds nothing left half done by threads that it does not have.
"""

import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import IntEnum
from typing import Any
from weakref import WeakKeyDictionary


class Rank(IntEnum):
    """The order in which every thread takes locks: lower ranks first, then older locks."""

    WORLD = 0
    GROUND = 1
    MAP = 2
    TREES = 3
    FILES = 4
    COMPILER = 5


_made: WeakKeyDictionary[Any, tuple[Rank, int]] = WeakKeyDictionary()
_numbers = itertools.count()
_making = threading.RLock()
_held: list[Any] = []


def new_lock(rank: Rank) -> AbstractContextManager[Any]:
    """Return a lock that its holder may take again; a forked child finds it released."""
    lock = threading.RLock()
    hold_at_fork(lock, rank)
    return lock


def hold_at_fork(lock: Any, rank: Rank) -> None:
    """Take a lock before each fork, and release it in parent and child."""
    with _making:
        _made[lock] = rank, next(_numbers)


def in_order(locks: Iterable[Any]) -> list[Any]:
    """Return locks in the order in which every thread takes them."""
    return sorted(locks, key=_made.__getitem__)


def _take(locks: list[Any]) -> None:
    """Take locks, and wait for none of them while holding another.

    A signal handler may want any lock while its thread holds one. A thread that waits for that one
    lets go of the others, or both would wait for ever.
    """
    first = 0
    while True:
        taken: list[Any] = []
        for lock in (*locks[first:], *locks[:first]):
            if not lock.acquire(blocking=not taken):
                break
            taken.append(lock)
        if len(taken) == len(locks):
            return
        first = (first + len(taken)) % len(locks)  # the one to wait for
        _release(taken)


def _release(taken: list[Any]) -> None:
    while taken:
        taken.pop().release()


@contextmanager
def holding(find: Callable[[], list[Any]]) -> Iterator[None]:
    """Hold the locks that ``find`` gives: those that it still gives once they are held."""
    held: list[Any] = []
    try:
        while held != (locks := find()):
            _release(held)
            _take(locks)
            held = list(locks)
        yield
    finally:
        _release(held)


def _take_all() -> None:
    while True:
        with _making:
            locks = in_order(_made)
            compilers = [lock for lock in locks if _made[lock][0] is Rank.COMPILER]
        _take(locks[: len(locks) - len(compilers)])
        for lock in compilers:  # they come last, and always wait
            lock.acquire()
        _held.extend(locks)
        # The last one: a thread that makes a lock may hold one of the others.
        _making.acquire()
        known = set(map(id, locks))
        if all(id(lock) in known for lock in _made):
            return
        _release_all()


def _release_all() -> None:
    _release(_held)
    _making.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_all, after_in_parent=_release_all, after_in_child=_release_all)

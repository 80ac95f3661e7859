"""Locks that a signal handler gets through, and that no forked child waits for in vain.

A signal handler runs in the middle of its own thread, which may hold any lock: so a thread may take
a lock again that it holds. A forked child has the forking thread only: so that one takes all locks
before it forks, and the child finds nothing half done by threads that it does not have.
"""

import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from enum import IntEnum
from typing import Any
from weakref import WeakKeyDictionary


class Rank(IntEnum):
    """In what order locks are taken, by any thread: lower ones first, then older ones."""

    GROUND = 0
    MAP = 1
    TREES = 2
    COMPILER = 3


_made: WeakKeyDictionary[Any, tuple[Rank, int]] = WeakKeyDictionary()
_numbers = itertools.count()
_making = threading.RLock()
_held: list[Any] = []


def new_lock(rank: Rank) -> AbstractContextManager[Any]:
    """Return a lock that its holder may take again. Released in a forked child."""
    lock = threading.RLock()
    hold_at_fork(lock, rank)
    return lock


def hold_at_fork(lock: Any, rank: Rank) -> None:
    """Take a lock before each fork, and release it in parent and child."""
    with _making:
        _made[lock] = rank, next(_numbers)


def in_order(locks: Iterable[Any]) -> list[Any]:
    """Return locks in the order in which everybody takes several."""
    return sorted(locks, key=_made.__getitem__)


@contextmanager
def holding(find: Callable[[], list[Any]]) -> Iterator[None]:
    """Hold the locks that are found, in order: those that are found once they are held, too."""
    with ExitStack() as held:
        found: list[Any] = []
        while found != (locks := find()):
            held.close()
            for lock in locks:
                held.enter_context(lock)
            found = locks
        yield


def _take_all() -> None:
    while True:
        with _making:
            locks = in_order(_made)
        for lock in locks:
            lock.acquire()
            _held.append(lock)
        # Last: who makes a lock may hold one of the others.
        _making.acquire()
        known = set(map(id, locks))
        if all(id(lock) in known for lock in _made):
            return
        _release_all()


def _release_all() -> None:
    while _held:
        _held.pop().release()
    _making.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_all, after_in_parent=_release_all, after_in_child=_release_all)

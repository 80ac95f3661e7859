"""Locks that let a signal handler through, and that no forked child waits for in vain.

A signal handler interrupts its own thread, which may hold any lock: so a thread may take a lock
again that it holds. A forked child has the forking thread only. That thread takes all locks before
it forks, so the child finds nothing left half done by threads that it does not have.
"""

import itertools
import os
import sys
from _thread import RLock, allocate_lock
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from enum import IntEnum
from functools import partial
from itertools import chain, compress, repeat, takewhile
from operator import methodcaller, truth
from threading import get_ident
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

_T = TypeVar("_T")

Mark = Any
"""A lock that a long call holds until it ends."""


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
_held: list[Any] = []

_WAIT, _AT_ONCE = (True,), (False,)
_acquire: Any = RLock.acquire
_release = methodcaller("release")
_is_locked = methodcaller("locked")

Lending = tuple[list[Any], Iterator[Any], Iterator[Any]]
"""See `trying`."""


class GuardedLock(RLock):  # type: ignore[misc]  # final in stubs alone
    """A lock that ``with`` takes within a ``try`` of Python.

    In Python 3.14 a handler that raises as C has taken a lock comes before the block is entered,
    and nobody gives the lock back (python/cpython#148874). None comes as a function of Python ends.
    """

    __slots__ = ()

    def __enter__(self) -> bool:  # type: ignore[override]
        taken: list[bool] = []
        taking = map(self.acquire, _WAIT)
        try:
            taken.extend(taking)
        except BaseException:
            if taken:
                self.release()
            raise
        return True


plain_lock: Callable[[], Any] = GuardedLock if sys.version_info >= (3, 14) else RLock
"""Makes a lock that its holder may take again; a fork does not wait for it."""

_making = plain_lock()


def new_lock(rank: Rank) -> AbstractContextManager[Any]:
    """Return a lock that its holder may take again; a forked child finds it released."""
    lock: AbstractContextManager[Any] = plain_lock()
    hold_at_fork(lock, rank)
    return lock


def hold_at_fork(lock: Any, rank: Rank) -> None:
    """Take a lock before each fork, and release it in parent and child.

    numba's is a class of Python, around a lock that C alone can take.
    """
    with _making:
        _made[getattr(lock, "_lock", lock)] = rank, next(_numbers)


def is_ours(lock: Any) -> bool:
    """Tell whether this thread holds a lock that it may take again."""
    held: bool = lock._is_owned()  # noqa: SLF001 has no other name
    return held


def is_held(lock: Any) -> bool:
    """Tell whether any thread holds a lock, as that of a parent process in a forked child."""
    if is_ours(lock):
        return True
    taken, taking, giving = trying((lock,))
    try:
        taken.extend(taking)
        return not taken
    finally:
        any(giving)


def in_order(locks: Iterable[Any]) -> list[Any]:
    """Return locks in the order in which every thread takes them."""
    return sorted(locks, key=_made.__getitem__)


def trying(locks: Sequence[Any], waits: Iterable[bool] = _AT_ONCE) -> Lending:
    """Return an empty list, what takes locks into it, and what gives back those that are in it.

    They are taken by ``taken.extend(taking)`` within a ``try``, up to one that is not to be had at
    once, and given back by ``any(giving)`` in its ``finally``. No signal handler comes between.
    ``waits`` tells of each lock whether it is waited for.
    """
    taken: list[Any] = []
    takes = map(_acquire, locks, waits)
    return taken, compress(locks, takewhile(truth, takes)), map(_release, taken)


class NotYet(Exception):  # noqa: N818 it is caught by whom it tells
    """Something must be done first, without the lock."""

    def __init__(self, first: Callable[[], None]) -> None:
        super().__init__()
        self.first = first


class Entered(Generic[_T]):
    """A context that begins with a call while a lock is held; its value is what that returns.

    A signal handler may raise at the start of any function of Python, and after any call. So the
    call is made within a ``try``, and the lock is given back by C alone. Where the call raises
    `NotYet`, it is made again after what comes first. With a ``refusal``, that is raised where the
    lock would have to be waited for.
    """

    __slots__ = ("__exit__", "_begin", "_refusal", "_take")

    __exit__: Callable[..., None]

    def __init__(
        self,
        lock: Any,
        begin: Callable[[], _T],
        refusal: Callable[[], Exception] | None = None,
    ) -> None:
        self._take, self._begin, self.__exit__ = lock.acquire, begin, lock.__exit__
        self._refusal = refusal

    def __enter__(self) -> _T:
        while True:
            taken: list[bool] = []
            taking = map(self._take, _WAIT if self._refusal is None else _AT_ONCE)
            try:
                taken.extend(taking)
                if not taken[0] and self._refusal is not None:
                    raise self._refusal()  # noqa: TRY301 a call more for all others
                return self._begin()
            except NotYet as error:
                self.__exit__(None, None, None)
                first = error.first
            except BaseException:
                if taken == [True]:
                    self.__exit__(None, None, None)
                raise
            first()


def lasting(begin: Callable[[Mark], _T]) -> Entered[_T]:
    """Return the context of a long call, which ``begin`` notes by a mark in `LongCalls`."""
    mark = allocate_lock()
    return Entered(mark, partial(begin, mark))


class LongCalls:
    """The long calls under way. Each holds a lock of its own as its mark until it ends.

    So nothing needs to be undone at its end.
    """

    __slots__ = ("_threads",)

    def __init__(self) -> None:
        self._threads: dict[Mark, int] = {}

    def add(self, mark: Mark) -> None:
        """Note a call of this thread that has begun."""
        for known in list(self._threads):
            if not known.locked():
                self._threads.pop(known, None)
        self._threads[mark] = get_ident()

    def clear(self) -> None:
        """Forget the calls: they are of no concern any more."""
        self._threads.clear()

    def __bool__(self) -> bool:
        return any(map(_is_locked, list(self._threads)))

    @property
    def has_thread(self) -> bool:
        """Whether one of the calls is of this thread."""
        me = get_ident()
        for mark, thread in list(self._threads.items()):  # noqa: SIM110 each state asks
            if thread == me and mark.locked():
                return True
        return False


def holding(find: Callable[[], Sequence[Any]], call: Callable[[], _T]) -> _T:
    """Return what a call returns that is made while locks are held.

    ``find`` gives the locks; those are held that it still gives then.

    A signal handler may want any lock while its thread holds one. A thread that waits for that one
    lets go of the others, or both would wait for ever. And it may raise: so C alone takes the
    locks and gives them back.
    """
    locks, first = find(), 0
    while True:
        order = (*locks[first:], *locks[:first])
        taken, taking, giving = trying(order, chain(_WAIT, repeat(False)))  # noqa: FBT003
        try:
            taken.extend(taking)
            if len(taken) == len(order):
                found = find()
                if found == locks:
                    return call()
        finally:
            any(giving)
        if len(taken) < len(order):
            first = (first + len(taken)) % len(order)  # the one to wait for
        else:
            locks, first = found, 0


def _take_all() -> None:
    """Take all locks before a fork.

    Those of compilers are always waited for. So is, at last, that of who makes a lock: such a
    thread may hold one of the others.
    """
    while True:
        with _making:
            locks = in_order(_made)
        last = [lock for lock in locks if _made[lock][0] is Rank.COMPILER] + [_making]
        order = locks[: len(locks) + 1 - len(last)]
        while len(_held) < len(locks) + 1:
            _release_held()
            waits = chain(_WAIT, repeat(False, len(order) - 1), repeat(True))  # noqa: FBT003
            _held.extend(trying([*order, *last], waits)[1])
            order = [*order[len(_held) :], *order[: len(_held)]]  # wait for that one first
        known = set(map(id, locks))
        if all(id(lock) in known for lock in _made):
            return
        _release_held()


def _release_held() -> None:
    any(_Giving())
    _held.clear()


class _Giving:
    """Gives back the locks that are held, as it is iterated over: by C alone."""

    __iter__ = staticmethod(partial(map, _release, _held))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_all)
    for done in (partial(any, _Giving()), _held.clear):  # no handler comes in before they begin
        os.register_at_fork(after_in_parent=done, after_in_child=done)

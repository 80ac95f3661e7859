"""Watchers of grounds and parts, which are told of changes instead of polling thousands."""

from contextlib import AbstractContextManager
from typing import Any, Protocol
from weakref import ref

from terrain_physics._locks import LongCalls, Mark


class Watcher(Protocol):
    """An object that is told of changes."""

    def tell(self, number: int, what: str, *details: Any) -> None:
        """Take notice of a change of the part with a number, after the change."""


class Watch:
    """The changes of watched parts.

    Attributes
    ----------
    changed : set of int
        The numbers of changed parts, until the watcher takes them out.
    """

    __slots__ = ("__weakref__", "changed")

    def __init__(self) -> None:
        self.changed: set[int] = set()

    def tell(self, number: int, what: str, *details: Any) -> None:  # noqa: ARG002
        """Remember the number of the part, for any change."""
        self.changed.add(number)


class Reader(Watch):
    """A watch of an object that reads the arrays of parts in place.

    Attributes
    ----------
    lock : context manager
        Held by short queries, and by edits of a part.
    copied : dict of int to int
        For the numbers of parts, the latest long query when their arrays were last copied.
    """

    __slots__ = ("_begun", "_running", "copied", "lock")

    def __init__(self, lock: AbstractContextManager[Any]) -> None:
        super().__init__()
        self.lock = lock
        self.copied: dict[int, int] = {}
        self._begun, self._running = 0, LongCalls()

    @property
    def latest(self) -> int:
        """The number of the latest long query while any long query runs; else 0."""
        return self._begun if self._running else 0

    def begin(self, mark: Mark) -> None:
        """Note a long query, which keeps the present arrays. The caller holds the lock."""
        self._begun += 1
        self._running.add(mark)

    def reads(self, number: int) -> bool:
        """Tell whether a long query reads the present arrays of a part."""
        return self.latest > self.copied.get(number, 0)


class Watchers:
    """The watchers of one object, with the number that it has for each; dead ones are dropped."""

    __slots__ = ("_many", "_watching")

    def __init__(self) -> None:
        # A dict, as a mesh may be in a ground ten thousand times. Listing it, adding to it and
        # removing from it are atomic among threads.
        self._watching: dict[tuple[ref[Watcher], int], None] = {}
        self._many = 8  # dead ones are looked for when there are more than this

    def __bool__(self) -> bool:
        return bool(self._watching)

    def add(self, watch: Watcher, number: int) -> None:
        """Begin to tell a watcher of changes."""
        if len(self._watching) > self._many:
            for known in list(self._watching):
                if known[0]() is None:
                    self._watching.pop(known, None)
            self._many = 2 * len(self._watching)
        self._watching[ref(watch), number] = None

    def remove(self, watch: Watcher, number: int) -> None:
        """Stop telling a watcher of changes, if it is told."""
        self._watching.pop((ref(watch), number), None)

    def readers(self) -> list[tuple[Reader, int]]:
        """Return the watchers that read arrays in place, with the number of the object for each."""
        return [
            (watch, number)
            for known, number in list(self._watching)
            if isinstance(watch := known(), Reader)
        ]

    def prepare(self, what: str, *details: Any) -> None:
        """Tell watchers with a method of this name that a change is about to be made."""
        for known, number in list(self._watching):
            prepare = getattr(known(), "prepare", None)
            if prepare is not None:
                prepare(number, what, *details)

    def tell(self, what: str, *details: Any) -> None:
        """Tell all watchers of a change."""
        for known, number in list(self._watching):
            watch = known()
            if watch is not None:
                watch.tell(number, what, *details)

"""Watchers of grounds and parts: they are told of changes, so that nobody asks thousands."""

from contextlib import AbstractContextManager
from typing import Any, Protocol
from weakref import ref


class Watcher(Protocol):
    """An object that is told of changes."""

    def tell(self, number: int, what: str, *details: Any) -> None:
        """Hear of a change of the part with a number, once it is made."""


class Watch:
    """The changes of the parts that someone watches.

    Attributes
    ----------
    changed : set of int
        Their numbers, until the watcher takes them out.
    """

    __slots__ = ("__weakref__", "changed")

    def __init__(self) -> None:
        self.changed: set[int] = set()

    def tell(self, number: int, what: str, *details: Any) -> None:  # noqa: ARG002
        """Remember the number, whatever it was."""
        self.changed.add(number)


class Reader(Watch):
    """A watch of an object that reads the arrays of parts where they are.

    Attributes
    ----------
    lock : context manager
        Held by short queries, and by edits of a part.
    copied : dict of int to int
        By the numbers of parts, which long query was the latest when the arrays were last copied.
    """

    __slots__ = ("_begun", "_running", "copied", "lock")

    def __init__(self, lock: AbstractContextManager[Any]) -> None:
        super().__init__()
        self.lock = lock
        self.copied: dict[int, int] = {}
        self._begun = self._running = 0

    @property
    def latest(self) -> int:
        """The number of the latest long query, as long as one goes on; else 0."""
        return self._begun if self._running else 0

    def begin(self) -> None:
        """Count a long query, which keeps the arrays that there are. The caller holds the lock."""
        self._begun += 1
        self._running += 1

    def end(self) -> None:
        """Count one that has ended. The caller holds the lock."""
        self._running -= 1

    def reads(self, number: int) -> bool:
        """Tell whether a long query reads the arrays that a part has now."""
        return self.latest > self.copied.get(number, 0)


class Watchers:
    """The watchers of one thing, and the number that it has for each; those that are gone drop."""

    __slots__ = ("_watching",)

    def __init__(self) -> None:
        # Lists are copied, appended to and removed from at once, whatever other threads do.
        self._watching: list[tuple[ref[Watcher], int]] = []

    def add(self, watch: Watcher, number: int) -> None:
        """Tell a watcher from now on."""
        for known in list(self._watching):
            if known[0]() is None:
                self._watching.remove(known)
        self._watching.append((ref(watch), number))

    def remove(self, watch: Watcher, number: int) -> None:
        """Tell a watcher no longer."""
        self._watching.remove((ref(watch), number))

    def readers(self) -> list[tuple[Reader, int]]:
        """Return the watchers that read arrays where they are, and the number each has for it."""
        found = [(known(), number) for known, number in list(self._watching)]
        return [(watch, number) for watch, number in found if isinstance(watch, Reader)]

    def tell(self, what: str, *details: Any) -> None:
        """Tell all what has changed."""
        for known, number in list(self._watching):
            watch = known()
            if watch is not None:
                watch.tell(number, what, *details)

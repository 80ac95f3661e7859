"""Who is told that a part has changed, so that nobody needs to ask thousands of parts."""

from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar
from weakref import ref


class Watch:
    """What has changed of the parts that someone watches.

    Attributes
    ----------
    changed : set of int
        Their numbers, until the watcher takes them out.
    """

    __slots__ = ("__weakref__", "changed")

    def __init__(self) -> None:
        self.changed: set[int] = set()


class Reader(Watch):
    """A watch of someone who reads the arrays of parts where they are.

    Attributes
    ----------
    lock : context manager
        Held by short queries, and by who edits a part.
    is_read : int
        How many long queries read the arrays.
    """

    __slots__ = ("is_read", "lock")

    def __init__(self, lock: AbstractContextManager[Any]) -> None:
        super().__init__()
        self.lock, self.is_read = lock, 0


W = TypeVar("W", bound=Watch)


class Watchers(Generic[W]):
    """The watchers of one part, and the number by which each knows it; those that are gone drop."""

    __slots__ = ("_watching",)

    def __init__(self) -> None:
        # Lists are copied, appended to and removed from at once, whatever other threads do.
        self._watching: list[tuple[ref[W], int]] = []

    def add(self, watch: W, number: int) -> None:
        """Tell a watcher from now on."""
        for known in list(self._watching):
            if known[0]() is None:
                self._watching.remove(known)
        self._watching.append((ref(watch), number))

    def remove(self, watch: W, number: int) -> None:
        """Tell a watcher no longer."""
        self._watching.remove((ref(watch), number))

    def all(self) -> list[W]:
        """Return the watchers."""
        found = [known() for known, _ in list(self._watching)]
        return [watch for watch in found if watch is not None]

    def tell(self) -> None:
        """Tell all that the part has changed."""
        for known, number in list(self._watching):
            watch = known()
            if watch is not None:
                watch.changed.add(number)

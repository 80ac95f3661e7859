"""Turns of a world: one thing is done to it at a time, and nothing inside an update."""

from collections.abc import Iterator
from contextlib import contextmanager

from terrain_physics._locks import Rank, new_lock


class Turns:
    """Lets one caller at a time have a world, and refuses others at once.

    A signal handler that interrupts an update would see a world that is half moved, and one that
    changes it would be lost when the update goes on. So it is refused, as other threads are. The
    lock is for forks alone: a child finds no world half moved.
    """

    __slots__ = ("_lock", "_running")

    def __init__(self) -> None:
        self._lock, self._running = new_lock(Rank.WORLD), ""

    @contextmanager
    def take(self, what: str) -> Iterator[None]:
        """Have the world, to do something to it; or raise RuntimeError."""
        self._refuse(what)
        with self._lock:
            self._refuse(what)  # another thread may have been quicker
            try:
                self._running = what
                yield
            finally:
                self._running = ""

    def _refuse(self, what: str) -> None:
        if self._running:
            raise RuntimeError(
                f"{what} must wait until {self._running} of this world has returned: it was called "
                "inside, by a signal handler or by another thread"
            )

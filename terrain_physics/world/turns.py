"""Turns of a world: one thing is done to it at a time, and nothing inside an update."""

from terrain_physics._locks import Rank, new_lock


class Turns:
    """Lets one caller at a time have a world, and refuses others at once.

    A signal handler that interrupts an update would see a world that is half moved, and one that
    changes it would be lost when the update goes on. So it is refused, as other threads are. The
    lock is for forks alone: a child finds no world half moved.
    """

    __slots__ = ("lock", "running")

    def __init__(self) -> None:
        self.lock, self.running = new_lock(Rank.WORLD), ""

    def take(self, what: str) -> "WorldTurn":
        """Have the world, to do something to it; or raise RuntimeError."""
        return WorldTurn(self, what)

    def refuse(self, what: str) -> None:
        """Raise RuntimeError if somebody has the world."""
        if self.running:
            raise RuntimeError(
                f"{what} must wait until {self.running} of this world has returned: it was called "
                "inside, by a signal handler or by another thread"
            )


class WorldTurn:
    """Has a world, to do one thing to it."""

    __slots__ = ("_turns", "_what")

    def __init__(self, turns: Turns, what: str) -> None:
        self._turns, self._what = turns, what

    def __enter__(self) -> None:
        turns, what = self._turns, self._what
        turns.refuse(what)
        turns.lock.__enter__()
        try:
            turns.refuse(what)  # another thread may have been quicker
            turns.running = what
        except BaseException:
            turns.lock.__exit__(None, None, None)
            raise

    def __exit__(self, *error: object) -> None:
        self._turns.running = ""
        self._turns.lock.__exit__(None, None, None)

"""Turns of a world: one thing is done to it at a time, and nothing inside an update."""

from collections.abc import Callable
from time import sleep
from typing import Any, ParamSpec, TypeVar

from terrain_physics._locks import Rank, is_ours, new_lock, trying

P = ParamSpec("P")
R = TypeVar("R")

_MOMENT = 1e-4  # seconds


class Turns:
    """Lets one caller at a time have a world, and refuses others at once.

    A signal handler that interrupts an update would see a world that is half moved, and one that
    changes it would be lost when the update goes on. So it is refused, as other threads are.

    Who has the world has its lock, whatever ends the call: a handler that raises, as on Ctrl-C,
    leaves it free.
    """

    __slots__ = ("lock", "running")

    def __init__(self) -> None:
        self.lock: Any = new_lock(Rank.WORLD)
        self.running = ""

    def do(self, what: str, call: Callable[P, R], /, *args: P.args, **options: P.kwargs) -> R:
        """Have the world for one call, and return what it returns; or raise RuntimeError."""
        while not is_ours(self.lock):
            taken, taking, giving = trying((self.lock,))
            try:
                taken.extend(taking)
                if taken:
                    self.running = what
                    return call(*args, **options)
            finally:
                if taken:
                    self.running = ""
                any(giving)
            if self.running:
                break
            sleep(_MOMENT)  # a fork has it, or a thread that has only just come or is about to go
        raise RuntimeError(
            f"{what} must wait until {self.running or 'another call'} of this world has returned: "
            "it was called inside, by a signal handler or by another thread"
        )

"""The length of an update: the time that the game gives, cut to the longest that it allows."""

from typing import Any, Protocol, Self, overload

from terrain_physics._kernels._quick import slots
from terrain_physics._support import checks
from terrain_physics._support.warn import warn

# In seconds. A longer update would be a jump, so games cannot allow more.
SHORTEST_STEP, LONGEST_STEP = 1e-6, 1.0

# After so many updates in a row with longer times a game has probably not meant seconds.
_TOO_MANY = 10


def step_time(name: str, value: Any, likely: str) -> float:
    """Return the seconds of a step; the error for a too large number gives the likely meaning."""
    seconds = checks.finite(name, value)
    if not (SHORTEST_STEP <= seconds <= LONGEST_STEP):
        hint = f"; {likely.format(seconds)}" if seconds > LONGEST_STEP else ""
        raise ValueError(
            f"{name} must be from {SHORTEST_STEP:g} to {LONGEST_STEP:g} seconds, "
            f"got {seconds}{hint}"
        )
    return seconds


class FrameTime:
    """The longest time that an update may last, and how long the last one did, in seconds.

    Attributes
    ----------
    in_update : bool
        Whether an update is under way.
    """

    __slots__ = ("_too_long", "in_update", "last", "max_delta")

    def __init__(self, max_delta: Any) -> None:
        self.max_delta = step_time("max_delta", max_delta, "for milliseconds use {0:g} / 1000")
        self.last, self.in_update = 0.0, False
        self._too_long = 0  # updates in a row that were given more than a second

    def lived(self, delta_time: Any) -> float:
        """Return how long an update lasts, or refuse a value that is no time."""
        if type(delta_time) is float and 0.0 <= delta_time <= self.max_delta:  # every frame
            return delta_time
        seconds = checks.non_negative("delta_time", delta_time, " seconds")
        if seconds > LONGEST_STEP:
            self._doubt(seconds)
        else:
            self._too_long = 0
        return min(seconds, self.max_delta)

    def _doubt(self, seconds: float) -> None:
        """Warn if a game goes on giving times that are no seconds."""
        # The quick way above counts nothing, but leaves its time behind, as all updates do.
        is_in_a_row = self.last == self.max_delta
        self._too_long = self._too_long + 1 if is_in_a_row else 1
        if self._too_long == _TOO_MANY:
            warn(
                f"times are seconds, got {seconds:g} in {_TOO_MANY} updates in a row; "
                f"for milliseconds use {seconds:g} / 1000"
            )

    def refuse_in_update(self) -> None:
        """Raise RuntimeError while an update is under way, which would go on with other numbers."""
        if self.in_update:
            raise RuntimeError(
                "restore must be called between updates, got a call inside one, as from a signal "
                "handler, another thread or an owner"
            )

    def copy(self) -> "FrameTime":
        """Return a copy, which changes independently."""
        other = FrameTime(self.max_delta)
        other.last = self.last
        return other


class _Timed(Protocol):
    def _frame_time(self) -> FrameTime: ...


class MaxDelta:
    """The rule `max_delta`: the longest time step one update simulates; default 0.25 s."""

    default = 0.25

    @overload
    def __get__(self, updated: None, owner: type) -> Self: ...
    @overload
    def __get__(self, updated: _Timed, owner: type) -> float: ...
    def __get__(self, updated: _Timed | None, owner: type) -> Self | float:
        return self if updated is None else updated._frame_time().max_delta  # noqa: SLF001

    def __set__(self, updated: _Timed, value: float) -> None:
        checked = FrameTime(value).max_delta
        updated._frame_time().max_delta = checked  # noqa: SLF001


def slots_of_update(result: type) -> tuple[Any, ...]:
    """Return what entries in C know of an update that makes such a result, in their order."""
    own = slots(FrameTime, "max_delta", "in_update", "last")
    return (FrameTime, *own, result, *slots(result, "_seconds", "_waiting"))

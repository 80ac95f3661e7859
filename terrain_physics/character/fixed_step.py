"""FixedStep: steps of one length from frames of any, for games that must not depend on them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._public import PublicType, public, quick
from terrain_physics._support import checks
from terrain_physics.character.frame_time import step_time

# Time is counted in whole units, so that no sum is ever rounded. Any float of 4 ns or more is a
# whole number of units; a shorter one loses less than 1e-24 s.
_UNITS_A_SECOND = 2**80

# A step is done if it is due within one millionth of a step. 1 / 50 and 1 / 120 are not exact as
# floats: five frames of 1 / 50 s could be a little shorter than twelve steps of 1 / 120 s.
_NEARLY = 1_000_000


@public
class FixedStep(metaclass=PublicType):
    """Cuts the frames of a game into steps of one length, and interpolates pictures between steps.

    The game then does not depend on the frame rate: after the same time there were the same steps,
    in frames of any length, for any number of hours. A picture shows the time of its frame, one
    step late: between the last two steps, `alpha` of the way.

    Parameters
    ----------
    seconds : float
        The length of a step, such as ``1 / 120``; from 1e-6 to 1.
    max_steps : int, default 8
        The most steps in one frame. Time beyond them is dropped: after a pause, or if a step takes
        longer to compute than it lasts, the game runs slower instead of falling behind more and
        more.

    Raises
    ------
    TypeError, ValueError
        For a length that is no number or out of range, and for fewer steps than one.

    Examples
    --------
    >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
    >>> floor = HeightMap([[0, 0], [0, 0]])
    >>> hero = CharacterMovement(floor, SphereCollider(0.5), position=(0, 0.5, 0))
    >>> clock, before = FixedStep(1 / 120), hero.position64
    >>> for frame_seconds in (0.016, 0.021, 0.017):
    ...     for step in clock.steps(frame_seconds):
    ...         before = hero.position64
    ...         hero.velocity.x = 1
    ...         result = hero.update(clock.seconds)
    ...     x, y, z = clock.interpolated(before, hero.position64)
    ...     print(step, round(clock.alpha, 2), round(float(x), 4))
    0 0.92 0.0077
    3 0.44 0.0287
    5 0.48 0.0457

    A window that was dragged for three seconds:

    >>> len(clock.steps(3.0)), round(clock.dropped, 3)
    (8, 2.933)
    """

    def __init__(self, seconds: float, *, max_steps: int = 8) -> None:
        self._seconds = step_time("seconds", seconds, "for {0:g} steps a second use 1 / {0:g}")
        self._max_steps = checks.whole("max_steps", max_steps, 1, 2**31)
        self._length = _units(self._seconds)
        self._owed = self._dropped = self._count = 0

    @property
    def seconds(self) -> float:
        """The length of a step."""
        return self._seconds

    @property
    def max_steps(self) -> int:
        """The most steps in one frame."""
        return self._max_steps

    @property
    def alpha(self) -> float:
        """Place of the picture between the last but one step and the last: 0 <= alpha < 1.

        It is the share of a step that has passed since the last one was due.
        """
        return max(self._owed, 0) / self._length

    @property
    def dropped(self) -> float:
        """Seconds of the last frame that were dropped: whole steps beyond `max_steps`."""
        return self._dropped * self._seconds

    @quick
    def steps(self, frame_seconds: float) -> range:
        """Return the steps that a frame has, to loop over.

        Parameters
        ----------
        frame_seconds : float
            Seconds since the last frame, >= 0, as measured or as measured times a factor. The rest
            beyond whole steps counts for later frames.

        Returns
        -------
        range
            The numbers of these steps, counted from 0 since this clock was made; often none. They
            count as done, even if the loop is left early.

        Raises
        ------
        TypeError, ValueError
            For a time that is no number, below 0, NaN or infinite. Nothing has changed then.
        """
        owed = self._owed + _units(checks.non_negative("frame_seconds", frame_seconds, " seconds"))
        due = (owed + self._length // _NEARLY) // self._length
        self._owed = owed - due * self._length
        done = min(due, self._max_steps)
        self._dropped = due - done
        self._count += done
        return range(self._count - done, self._count)

    def interpolated(self, before: Any, after: Any) -> NDArray[np.float64]:
        """Return the place at which to draw something that moved in the last step.

        Parameters
        ----------
        before, after : glm.vec3 or array_like
            A place, or many places, before the last step and after it, such as ``position64`` of a
            character or ``positions`` of a group. A live vector would be the same for both. If
            something was put elsewhere in between, give the new place for both.

        Returns
        -------
        ndarray of float64
            In the shape of the arguments: `before` plus `alpha` of the way to `after`.

        Raises
        ------
        TypeError, ValueError
            For something else than finite numbers, and for shapes that differ.
        """
        start, end = (
            checks.real_array(name, value) for name, value in (("before", before), ("after", after))
        )
        if start.shape != end.shape:
            raise ValueError(f"after must have shape {start.shape} as before, got {end.shape}")
        checks.refuse_non_finite("before", start)
        checks.refuse_non_finite("after", end)
        return np.asarray(start + (end - start) * self.alpha)

    def reset(self) -> None:
        """Forget the time that has passed since the last step, as at the start of a level."""
        self._owed = self._dropped = 0

    def _kept(self) -> tuple[int, int, int]:
        """Return all that changes, for states of a world."""
        return self._owed, self._dropped, self._count

    def _put_back(self, kept: tuple[int, int, int]) -> None:
        """Go on from what `_kept` returned."""
        self._owed, self._dropped, self._count = kept

    def __repr__(self) -> str:
        return f"<FixedStep of {self._seconds:g} s, {self._count} done>"


def counts_of(clock: FixedStep) -> tuple[int, int, int]:
    """Return all that changes of a clock, for states of a world: owed, dropped and count."""
    return clock._kept()  # noqa: SLF001


def put_counts(clock: FixedStep, counts: tuple[int, int, int]) -> None:
    """Let a clock go on from what `counts_of` returned."""
    clock._put_back(counts)  # noqa: SLF001


def checked_counts(clock: FixedStep, owed: Any, dropped: Any, count: Any) -> tuple[int, int, int]:
    """Return counts of a clock that somebody has sent, or refuse them."""
    length = clock._length  # noqa: SLF001
    checks.whole("owed", owed, -length, length)
    checks.whole("dropped", dropped, 0, 2**1200)
    checks.whole("count", count, 0, 2**1200)
    return owed, dropped, count


def _units(seconds: float) -> int:
    """Return a time in whole units, exactly, or cut off below one."""
    numerator, denominator = seconds.as_integer_ratio()
    return numerator * _UNITS_A_SECOND // denominator

"""How finely the picture is drawn: as finely as the frames' times allow, in a few fixed steps."""

import statistics
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from .picture.scaling import LEAST_SCALE, checked_scale
from .scenery.inputs import STEPS_A_SECOND

FRAMES_A_SECOND = 60
SCALES = (LEAST_SCALE, 0.6, 0.7, 0.85, 1.0)
"""Shares of the window's width and height."""
BUDGET = 1.0 / FRAMES_A_SECOND
SLOW, QUICK = 0.95, 0.80
"""Shares of the budget: coarser if frames need more, finer if they would need less than this."""
SLOW_FRAMES, QUICK_FRAMES = 15, 2 * FRAMES_A_SECOND
"""How many frames are looked at before the picture gets coarser, and finer."""
QUICK_SHARE = 0.95  # of those frames
WORTH = 0.2
"""The least share of a frame's time that is drawing: of less, a coarser picture wins little."""
MOST_PATIENCE = 16
"""How many times as long it waits at most before it goes finer, after this failed again and again.
"""


class FrameTime(NamedTuple):
    """What a frame took, in seconds."""

    physics: float
    steps: int  # of the physics
    drawing: float
    rest: float
    showing: float  # may contain waiting for the screen, where a graphics card draws
    card: float | None  # of drawing, what the graphics card did meanwhile; None without one

    def needed(self) -> tuple[float, float]:
        """Return what a frame needs at 60 frames a second: apart from its pixels, and for them."""
        steps = STEPS_A_SECOND // FRAMES_A_SECOND
        fixed = self.rest + self.physics * steps / max(self.steps, 1)
        if self.card is None:
            return fixed + self.showing, self.drawing
        fixed += self.drawing
        return (0.0, self.card) if self.card > fixed else (fixed, 0.0)


class Resolution:
    """The share of the window's width and height that the picture is drawn at.

    It goes coarser if frames are slow: the median of some, so that a single stall, such as a scene
    that is loaded, changes nothing. It goes finer only after two seconds of frames that would be
    quick enough even if all of the drawing were pixels. Where that was a mistake, it waits twice as
    long before it tries again.
    """

    def __init__(self, fixed: float | None = None) -> None:
        self.scale = 1.0 if fixed is None else checked_scale(fixed)
        self.follows = fixed is None
        self._patience = 1
        self._finer_since: int | None = None  # frames; None after it went coarser
        self._frames: deque[tuple[float, float]] = deque()

    def add(self, time: FrameTime) -> None:
        """Take down a frame."""
        if not self.follows:
            return
        self._frames.append(time.needed())
        if len(self._frames) > QUICK_FRAMES * self._patience:
            self._frames.popleft()
        if self._finer_since is not None:
            self._finer_since += 1
        at = SCALES.index(self.scale)
        coarser = self._quick_enough(SCALES[: at + 1])
        if coarser < self.scale:
            self._go_coarser(coarser)
        elif at + 1 < len(SCALES) and self._has_room(SCALES[at + 1]):
            self._set(SCALES[at + 1])
            self._finer_since = 0

    def _quick_enough(self, scales: Sequence[float]) -> float:
        """Return the finest scale at which frames were in time, if all drawing were pixels."""
        last = list(self._frames)[-SLOW_FRAMES:]
        fixed = statistics.median(fixed for fixed, _ in last)
        drawing = statistics.median(drawing for _, drawing in last)
        if len(last) < SLOW_FRAMES or drawing < WORTH * (fixed + drawing):
            return self.scale
        for scale in reversed(scales):
            if fixed + drawing * (scale / self.scale) ** 2 <= SLOW * BUDGET:
                return scale
        return scales[0]

    def _has_room(self, finer: float) -> bool:
        if len(self._frames) < QUICK_FRAMES * self._patience:
            return False
        growth = (finer / self.scale) ** 2
        needed = sorted(fixed + growth * drawing for fixed, drawing in self._frames)
        return needed[int(QUICK_SHARE * len(needed))] < QUICK * BUDGET

    def _go_coarser(self, scale: float) -> None:
        if self._finer_since is not None:
            failed = self._finer_since < 2 * QUICK_FRAMES
            self._patience = min(2 * self._patience, MOST_PATIENCE) if failed else 1
        self._finer_since = None
        self._set(scale)

    def _set(self, scale: float) -> None:
        self.scale = scale
        self._frames.clear()

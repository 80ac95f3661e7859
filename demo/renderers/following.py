"""The look of the frame's land, up to date: that of a land that moves is made in the background."""

from concurrent.futures import Executor, Future, ThreadPoolExecutor

from terrain_physics import HeightMap

from ..picture.frame import Frame
from .ground import LitGround, Part

Floats3 = tuple[float, float, float]


class GroundLook:
    """Follows the lands of one frame after another, and their edits."""

    def __init__(self, pool: Executor, *, waits: bool) -> None:
        self.ground: LitGround | None = None
        self._pool, self._waits = pool, waits
        self._background = ThreadPoolExecutor(1)
        self._next: Future[LitGround] | None = None
        self._moved = False  # whether the land before was one that moves

    def follow(self, frame: Frame) -> list[Part] | None:
        """Take over the frame's land; return what looks different, None for all of it."""
        parts: list[Part] | None = None
        if frame.land is None:
            self.ground = None
        elif self.ground is not None and self.ground.land is frame.land:
            parts = self.ground.follow(frame.sun)
        elif frame.land_moves and self._moved and not self._waits:
            parts = self._await(frame.land, frame.sun)
        else:
            self.ground, self._next = LitGround(frame.land, frame.sun, self._pool), None
        self._moved = frame.land_moves and self.ground is not None
        if self.ground is not None and frame.far is not None:
            self.ground.far = frame.far
        return parts

    def close(self) -> None:
        """Give everything back."""
        self._background.shutdown(cancel_futures=True)

    def _await(self, land: HeightMap, sun: Floats3) -> list[Part] | None:
        """Go on with the look of the land before until the next one is made."""
        if self._next is None:
            self._next = self._background.submit(LitGround, land, sun, self._pool)
        if not self._next.done():
            return []
        self.ground, self._next = self._next.result(), None
        return None

"""What brings the ground that characters need, and tells which of them must wait for it."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager

from terrain_physics._kernels.types import Bools, Floats
from terrain_physics._locks import Mark, lasting

Box = tuple[float, float, float, float]
"""Least x and z, greatest x and z, in meters."""


class Streaming(ABC):
    """A ground of which a part may not be there yet, asked around each update of characters.

    Boxes are rows (n, 4) of numbers in meters, seen from above: least x and z, greatest x and z.
    A box reaches ground that it touches.

    Attributes
    ----------
    waits : int
        How often a character has waited for an update, all of them together.
    """

    __slots__ = ()

    waits: int

    def updating(self) -> AbstractContextManager[None]:
        """Return a context of one update: what is brought in it stays until it ends."""
        return lasting(self.begin_updating)

    def begin_updating(self, mark: Mark) -> None:  # noqa: B027 most keep nothing
        """Begin an update, which ends when the mark is given back."""

    @abstractmethod
    def bring(self, boxes: Floats) -> Bools | None:
        """Bring the ground under boxes, before an update; tell which rows must wait, None if none.

        The caller holds no locks: files may be read.
        """

    def has(self, box: Box) -> bool:  # noqa: ARG002 there may be a quick way
        """Tell quickly whether all ground under a box is there; if False, `bring` finds out.

        It stays until the update ends. The caller holds the lock of the ground.
        """
        return False

    @abstractmethod
    def reached(self, boxes: Floats) -> Bools | None:
        """Tell which boxes reach ground that is not there; None if none does."""

    @abstractmethod
    def count_waits(self, count: int) -> None:
        """Add to `waits` how many characters have waited for an update."""

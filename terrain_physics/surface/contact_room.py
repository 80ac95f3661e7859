"""Memory to which contacts are written."""

import numpy as np

from terrain_physics._kernels.types import Floats, Int64s

# Factor on the room that is needed, so that a few contacts more need no new memory.
_SPARE = 1.25


def _arrays(capacity: int) -> tuple[Int64s, Floats]:
    return np.empty((2, capacity), np.int64), np.empty((3, capacity, 3))


_NO_ROOM = _arrays(0)  # nothing can be written to it


class ContactRoom:
    """Arrays of contacts, as `Contacts` has them, with room for more than there are.

    Attributes
    ----------
    ints : ndarray of int64, shape (2, capacity)
    floats : ndarray of float64, shape (3, capacity, 3)
    """

    __slots__ = ("floats", "ints")

    ints: Int64s
    floats: Floats

    def __init__(self, capacity: int = 0) -> None:
        self.ints, self.floats = _NO_ROOM if capacity == 0 else _arrays(capacity)

    @property
    def capacity(self) -> int:
        """Room in contacts."""
        return int(self.ints.shape[1])

    def reserve(self, count: int) -> None:
        """Make room for a number of contacts; contacts in it may be lost."""
        if count > self.capacity:
            size = int(_SPARE * count) if self.capacity else count
            self.ints, self.floats = _arrays(size)

    def first(self, count: int) -> tuple[Int64s, Floats]:
        """Return views of the first contacts."""
        return self.ints[:, :count], self.floats[:, :count]

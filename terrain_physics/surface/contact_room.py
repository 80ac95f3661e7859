"""Memory that contacts are written to."""

import numpy as np

from terrain_physics._kernels.types import Floats, Longs

# Room beyond what there was need of, so that a few contacts more do not need other memory.
_SPARE = 1.25


class ContactRoom:
    """Arrays of contacts, as `Contacts` has them, with room for more than there are.

    Attributes
    ----------
    ints : ndarray of int64, shape (2, capacity)
    floats : ndarray of float64, shape (3, capacity, 3)
    """

    __slots__ = ("floats", "ints")

    def __init__(self, capacity: int = 0) -> None:
        self.ints: Longs = np.empty((2, capacity), np.int64)
        self.floats: Floats = np.empty((3, capacity, 3))

    @property
    def capacity(self) -> int:
        """How many contacts there is room for."""
        return int(self.ints.shape[1])

    def reserve(self, count: int) -> None:
        """Make room for a number of contacts; those that are there may go."""
        if count > self.capacity:
            size = int(_SPARE * count) if self.capacity else count
            self.ints, self.floats = np.empty((2, size), np.int64), np.empty((3, size, 3))

    def first(self, count: int) -> tuple[Longs, Floats]:
        """Return views of the first contacts."""
        return self.ints[:, :count], self.floats[:, :count]

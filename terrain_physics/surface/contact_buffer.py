"""Contact buffers: memory of the caller, to which results are written call after call."""

import threading
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._locks import Entered
from terrain_physics._public import public
from terrain_physics._support import checks

_MOST = 2**40

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


@public
class ContactBuffer:
    """Memory for the contacts of one call after the other: ``land.contacts(shapes, out=buffer)``.

    At each call the system hands out large arrays page by page, and takes them back: for 100,000
    shapes and more that is a fifth to a third of the time. A buffer keeps the arrays. It grows when
    there are more contacts than ever before, and never shrinks.

    The next call with the buffer, even one that fails, overwrites the result of the last call: copy
    values that must last.

    Parameters
    ----------
    capacity : int, default 0
        Room at first, in contacts; each takes 88 bytes.

    Raises
    ------
    ValueError
        If the capacity is not an integer >= 0.

    Examples
    --------
    >>> from terrain_physics import ContactBuffer, HeightMap
    >>> land = HeightMap([[0, 0], [0, 0]], border="open")
    >>> buffer = ContactBuffer()
    >>> for height in (2.0, 0.5):  # in each frame
    ...     print(land.contacts([(0.25, height, 0.25, 1)] * 3, out=buffer))
    <Contacts: 0>
    <Contacts: 6>
    """

    __slots__ = ("_lent", "_room")

    def __init__(self, capacity: int = 0) -> None:
        self._room = ContactRoom(checks.whole("capacity", capacity, 0, _MOST))
        self._lent = Entered(threading.Lock(), lambda: self._room, _refusal)

    @property
    def capacity(self) -> int:
        """Room in contacts."""
        return self._room.capacity

    def __repr__(self) -> str:
        return f"<ContactBuffer: room for {self.capacity}>"


def room_in(out: ContactBuffer | None) -> AbstractContextManager[ContactRoom]:
    """Give one call the memory of a buffer, or new memory.

    Raises
    ------
    TypeError
        For a value that is neither a buffer nor None.
    ValueError
        If another call is writing to the buffer.
    """
    if out is None:
        return nullcontext(ContactRoom())
    checks.instance("out", out, ContactBuffer)
    return out._lent  # noqa: SLF001 of its own file


def _refusal() -> ValueError:
    return ValueError("out must be used by one call at a time: take a buffer for each thread")

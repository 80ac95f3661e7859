"""The latest changes of a ground, by which only sleeping characters near them wake."""

from math import inf

import numpy as np

from terrain_physics._kernels.surface.changes import CHANGE_SIZE, CHANGE_VERSION
from terrain_physics._kernels.types import Floats
from terrain_physics._support.checks import Floats3

EVERYWHERE: tuple[Floats3, Floats3] = (-inf, -inf, -inf), (inf, inf, inf)

_REMEMBERED = 256

# Shared by grounds that have not changed, so that they take no memory.
_NO_ROOM = np.empty((0, CHANGE_SIZE))
_FIRST_ROOM = 4


class ChangeLog:
    """The latest changes of a ground.

    Attributes
    ----------
    rows : ndarray of float64, shape (k, CHANGE_SIZE)
        The version after each change, ascending, and the box around the change; read-only.
    forgotten : int
        Changes up to this version are not known any more.
    """

    __slots__ = ("_room", "_start", "forgotten", "rows")

    rows: Floats

    def __init__(self, version: int) -> None:
        self.forgotten = version
        self._room, self._start = _NO_ROOM, 0
        self._show(0)

    def note(self, version: int, lower: Floats3, upper: Floats3) -> None:
        """Remember a change within lower..upper; ``version`` is the version after it."""
        rows = self.rows
        if len(rows) == _REMEMBERED:
            self.forgotten = int(rows[0, CHANGE_VERSION])
            self._start, rows = self._start + 1, rows[1:]
        end = self._start + len(rows)
        if end == len(self._room):  # new memory, as other threads may read the old rows
            self._start, end = 0, len(rows)
            self._room = np.empty((2 * max(end, _FIRST_ROOM), CHANGE_SIZE))
            self._room[:end] = rows
        self._room[end] = (version, *lower, *upper)
        self._show(end + 1)

    def _show(self, end: int) -> None:
        rows = self._room[self._start : end]
        rows.setflags(write=False)
        self.rows = rows

    def follow(self, version: int, other: "ChangeLog", seen: int) -> int:
        """Remember the changes of a part after its version ``seen``, under one version.

        Returns the version of the part up to which changes have been taken over.
        """
        rows = other.rows  # read before ``forgotten``, as another thread may edit
        latest = int(rows[-1, CHANGE_VERSION]) if len(rows) else max(seen, other.forgotten)
        if seen < other.forgotten:
            self.note(version, *EVERYWHERE)
        elif seen < latest:
            new = rows[rows[:, CHANGE_VERSION].searchsorted(seen, side="right") :]
            for _, *box in new.tolist():
                self.note(version, tuple(box[:3]), tuple(box[3:]))
        return latest

"""The latest changes of a ground, by which only sleeping characters near them wake."""

from math import inf

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.surface.changes import (
    CHANGE_SIZE,
    CHANGE_VERSION,
    put_merged,
)
from terrain_physics._kernels.types import Floats
from terrain_physics._support.checks import Floats3

EVERYWHERE: tuple[Floats3, Floats3] = (-inf, -inf, -inf), (inf, inf, inf)

_MERGE = CachedDispatch(put_merged)

MOST_CHANGES = 1024
"""Remembered, each in its box, before more come; then older ones are merged two by two."""

LATEST_CHANGES, MOST_MERGED = MOST_CHANGES // 2, MOST_CHANGES // 4
"""How many are not merged then, and how many rows at most the older ones become."""

# Shared by grounds that have not changed, so that they take no memory.
_NO_ROOM = np.empty((0, CHANGE_SIZE))
_FIRST_ROOM = 4


KeptLog = tuple[Floats, int]
"""A `ChangeLog` as it was: its rows, and what it had forgotten."""


class ChangeLog:
    """The latest changes of a ground.

    Attributes
    ----------
    rows : ndarray of float64, shape (k, CHANGE_SIZE)
        The version after each change, ascending, and the box around the change; read-only. Older
        rows stand for several changes, and rows with a span are around those before them.
    forgotten : int
        Changes up to this version are not known any more.
    """

    __slots__ = ("_room", "forgotten", "rows")

    rows: Floats

    def __init__(self, version: int) -> None:
        self.forgotten = version
        self._room = _NO_ROOM
        self._show(0)

    def note(self, version: int, lower: Floats3, upper: Floats3) -> None:
        """Remember a change within lower..upper; ``version`` is the version after it."""
        end = self._make_room(1)
        self._room[end] = (version, *lower, *upper, 0.0)
        self._show(end + 1)

    def add(self, rows: Floats) -> None:
        """Remember changes, rows as in ``rows``, none of them before the latest."""
        end = self._make_room(len(rows))
        self._room[end : end + len(rows)] = rows
        self._show(end + len(rows))

    def _make_room(self, more: int) -> int:
        """Make room for more rows; return where they begin."""
        rows = self.rows
        is_full = len(rows) >= MOST_CHANGES
        if not is_full and len(rows) + more <= len(self._room):
            return len(rows)
        # New memory, as other threads may read the old rows.
        end, doubled = len(rows) + more, min(2 * (len(rows) + more), MOST_CHANGES + more)
        room = np.empty((max(end, doubled, _FIRST_ROOM), CHANGE_SIZE))
        end = len(rows)
        if is_full:
            end = _MERGE.call(rows, LATEST_CHANGES, MOST_MERGED, room)
        else:
            room[:end] = rows
        self._room = room
        self._show(end)
        return end

    def _show(self, end: int) -> None:
        rows = self._room[:end]
        rows.setflags(write=False)
        self.rows = rows

    def kept(self) -> "KeptLog":
        """Return all of it, for `put_back`; nobody writes to that later."""
        return self.rows, self.forgotten

    def put_back(self, kept: "KeptLog") -> None:
        """Be as it was, whatever has been noted since."""
        self.rows, self.forgotten = kept
        self._room = _NO_ROOM  # a further change takes new memory: states share the rows

    def follow(self, version: int, other: "ChangeLog", seen: int) -> int:
        """Remember the changes of a part after its version ``seen``, under one version.

        Returns the version of the part up to which changes have been taken over.
        """
        rows = other.rows  # read before ``forgotten``, as another thread may edit
        latest = int(rows[-1, CHANGE_VERSION]) if len(rows) else max(seen, other.forgotten)
        if seen < other.forgotten:
            self.note(version, *EVERYWHERE)
        elif seen < latest:
            first = len(rows) - 1
            if first > 0 and rows[first - 1, CHANGE_VERSION] > seen:  # often there is one alone
                first = int(rows[:, CHANGE_VERSION].searchsorted(seen, side="right"))
            new = rows[first:].copy()
            new[:, CHANGE_VERSION] = version
            self.add(new)
        return latest

"""The latest changes of a ground, by which only sleeping characters near them wake."""

from math import inf

import numpy as np

from terrain_physics._kernels.surface.changes import (
    CHANGE_LOWER,
    CHANGE_SIZE,
    CHANGE_SPAN,
    CHANGE_UPPER,
    CHANGE_VERSION,
)
from terrain_physics._kernels.types import Floats
from terrain_physics._support.checks import Floats3

EVERYWHERE: tuple[Floats3, Floats3] = (-inf, -inf, -inf), (inf, inf, inf)

# Most changes remembered, each in its box, before more come; then older ones are merged two by two.
_REMEMBERED = 1024

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
        if len(rows) >= _REMEMBERED:
            half = _REMEMBERED // 2
            rows = rows[rows[:, CHANGE_SPAN] == 0.0]  # those before them may be merged
            rows = np.concatenate([_merged(rows[:-half], half // 2), rows[-half:]])
        elif len(rows) + more <= len(self._room):
            return len(rows)
        # New memory, as other threads may read the old rows.
        room = max(len(rows) + more, min(2 * (len(rows) + more), _REMEMBERED), _FIRST_ROOM)
        self._room = np.empty((room, CHANGE_SIZE))
        self._room[: len(rows)] = rows
        self._show(len(rows))
        return len(rows)

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


def _halved(rows: Floats) -> Floats:
    """Return one row for two, within the box around both, and the version of the later one.

    Those of one version are joined first: who has looked between two versions stays apart from the
    earlier one.
    """
    versions, places = rows[:, CHANGE_VERSION], np.arange(len(rows))
    is_other = np.append(True, versions[1:] != versions[:-1])
    begins = np.maximum.accumulate(np.where(is_other, places, 0))
    firsts = np.flatnonzero((places - begins) % 2 == 0)
    if len(firsts) == len(rows):  # each has a version of its own
        firsts = places[::2]
    first = rows[firsts]
    merged: Floats = rows[np.append(firsts[1:], len(rows)) - 1]  # the later ones, or the same
    lower, upper = slice(CHANGE_LOWER, CHANGE_UPPER), slice(CHANGE_UPPER, CHANGE_SPAN)
    np.minimum(first[:, lower], merged[:, lower], out=merged[:, lower])
    np.maximum(first[:, upper], merged[:, upper], out=merged[:, upper])
    return merged


def _merged(rows: Floats, most: int) -> Floats:
    """Return at most so many rows for all."""
    while len(rows) > most:
        rows = _halved(rows)
    return rows

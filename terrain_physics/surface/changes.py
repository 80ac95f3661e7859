"""The latest changes of a ground, by which only sleeping characters near them wake."""

from math import inf

import numpy as np

from terrain_physics._kernels.surface.changes import (
    CHANGE_LOWER,
    CHANGE_SIZE,
    CHANGE_UPPER,
    CHANGE_VERSION,
)
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._support.checks import Floats3

EVERYWHERE: tuple[Floats3, Floats3] = (-inf, -inf, -inf), (inf, inf, inf)

# Most changes remembered, each in its box; then the older half is merged two by two.
_REMEMBERED = 256

# Cells of the curve that orders boxes, less one.
_CURVE = 255

# Shared by grounds that have not changed, so that they take no memory.
_NO_ROOM = np.empty((0, CHANGE_SIZE))
_FIRST_ROOM = 4


class ChangeLog:
    """The latest changes of a ground.

    Attributes
    ----------
    rows : ndarray of float64, shape (k, CHANGE_SIZE)
        The version after each change, ascending, and the box around the change; read-only. Older
        rows stand for several changes.
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
        self._room[end] = (version, *lower, *upper)
        self._show(end + 1)

    def note_all(self, changes: Floats) -> None:
        """Remember many changes: rows as in ``rows``, ascending, none before the latest."""
        changes = _merged(changes, _REMEMBERED // 2)
        end = self._make_room(len(changes))
        self._room[end : end + len(changes)] = changes
        self._show(end + len(changes))

    def note_moves(self, version: int, before: Floats, after: Floats) -> None:
        """Remember moves under one version, from boxes (n, 6) to boxes: each is lower, upper.

        A part that did not move far is remembered once.
        """
        lower = np.minimum(before[:, :3], after[:, :3])
        upper = np.maximum(before[:, 3:], after[:, 3:])
        size = (before[:, 3:] - before[:, :3]) + (after[:, 3:] - after[:, :3])
        is_near = (upper - lower <= size).all(axis=1)  # the boxes touch
        boxes = np.concatenate([lower, upper], axis=1)
        if not is_near.all():
            boxes = np.concatenate([boxes[is_near], before[~is_near], after[~is_near]])
        if len(boxes) > _REMEMBERED // 2:
            boxes = boxes[_order_in_space(boxes)]
        rows = np.empty((len(boxes), CHANGE_SIZE))
        rows[:, CHANGE_VERSION], rows[:, CHANGE_LOWER:] = version, boxes
        self.note_all(rows)

    def _make_room(self, more: int) -> int:
        """Make room for more rows; return where they begin."""
        rows = self.rows
        if len(rows) + more > _REMEMBERED:
            older = len(rows) - _REMEMBERED // 2
            rows = np.concatenate([_halved(rows[:older]), rows[older:]])
            rows = _merged(rows, _REMEMBERED - more)
        elif len(rows) + more <= len(self._room):
            return len(rows)
        # New memory, as other threads may read the old rows.
        self._room = np.empty((2 * max(len(rows) + more, _FIRST_ROOM), CHANGE_SIZE))
        self._room[: len(rows)] = rows
        return len(rows)

    def _show(self, end: int) -> None:
        rows = self._room[:end]
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
            new = rows[rows[:, CHANGE_VERSION].searchsorted(seen, side="right") :].copy()
            new[:, CHANGE_VERSION] = version
            self.note_all(new)
        return latest


def _order_in_space(boxes: Floats) -> Int64s:
    """Return an order of boxes in which neighbors are near each other: that of a Z-curve."""
    places = boxes[:, [0, 2]] + boxes[:, [3, 5]]
    lowest = places.min(axis=0)
    size = np.maximum(places.max(axis=0) - lowest, 1e-300)
    x, z = ((places - lowest) / size * _CURVE).astype(np.int64).T
    code = np.zeros(len(boxes), np.int64)
    for bit in range(_CURVE.bit_length()):
        code |= (x >> bit & 1) << (2 * bit) | (z >> bit & 1) << (2 * bit + 1)
    return np.argsort(code, kind="stable")


def _halved(rows: Floats) -> Floats:
    """Return one row for two, within the box around both, and the version of the later one."""
    first, second = rows[:-1:2], rows[1::2]
    merged = second.copy()
    lower, upper = slice(CHANGE_LOWER, CHANGE_UPPER), slice(CHANGE_UPPER, CHANGE_SIZE)
    np.minimum(first[:, lower], second[:, lower], out=merged[:, lower])
    np.maximum(first[:, upper], second[:, upper], out=merged[:, upper])
    return np.concatenate([merged, rows[-1:]]) if len(rows) % 2 else merged


def _merged(rows: Floats, most: int) -> Floats:
    """Return at most so many rows for all."""
    while len(rows) > most:
        rows = _halved(rows)
    return rows

"""Snapshots of a recorded scene, from which a jump to a later frame begins."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from terrain_physics._kernels.types import UInt64s
from terrain_physics.character.frame_time import SHORTEST_STEP

FIRST_SECONDS = 5.0
"""Time between two snapshots, until there are too many."""

MOST_BYTES = 1 << 26
"""Limit of all snapshots: beyond it every second one is dropped."""


class Snapshot(NamedTuple):
    """A scene after a frame.

    Attributes
    ----------
    frame : int
        After how many updates.
    rows : ndarray of uint64, shape (n, size)
        The packed numbers of the characters in order, as `look_around` leaves them.
    motions : bytes
        For each ground how its meshes move, as JSON; null for a map or a mesh by itself.
    """

    frame: int
    rows: UInt64s
    motions: bytes

    @classmethod
    def of(cls, frame: int, rows: UInt64s, motions: list[Any]) -> "Snapshot":
        """Return a snapshot of plain values."""
        return cls(frame, rows, json.dumps(motions, separators=(",", ":")).encode())

    @property
    def nbytes(self) -> int:
        """How many bytes it takes."""
        return self.rows.nbytes + len(self.motions)


class Snapshots:
    """The snapshots of a recording, at about the same distances.

    Attributes
    ----------
    taken : list of Snapshot
        In order.
    """

    __slots__ = ("_seconds", "_since", "taken")

    def __init__(self, taken: Sequence[Snapshot] = ()) -> None:
        self.taken = list(taken)
        self._seconds, self._since = FIRST_SECONDS, 0.0

    def is_due(self, seconds: float) -> bool:
        """Count the time of one more frame; tell whether the next snapshot is due."""
        self._since += seconds
        return self._since > self._seconds - SHORTEST_STEP  # frames are seldom exact as floats

    def add(self, snapshot: Snapshot) -> None:
        """Keep a snapshot; if there are too many, only half of them, twice as far apart."""
        self.taken.append(snapshot)
        self._since = 0.0
        if sum(own.nbytes for own in self.taken) > MOST_BYTES:
            self.taken = self.taken[(len(self.taken) - 1) % 2 :: 2]  # the last one stays
            self._seconds *= 2.0


def latest(taken: Sequence[Snapshot], frame: int) -> Snapshot | None:
    """Return the last snapshot up to a frame; None if there is none."""
    return next((own for own in reversed(taken) if own.frame <= frame), None)

"""Moving parts of a ground: those that move, are conveyors or are one-way, as rows for kernels."""

from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.ground import movers as columns
from terrain_physics._kernels.ground.movers import put_motion
from terrain_physics._kernels.surface.ground_arrays import (
    MOST_MOVES,
    MOVE_SIZE,
    MOVER_SIZE,
    MOVES,
)
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.ground.poses import Pose
from terrain_physics.surface.ground_arrays import NO_MOVERS as NO_ROWS

_PUT_MOTION = CachedDispatch(put_motion)

NO_DIRECTION: Floats3 = (0.0, 0.0, 0.0)

MOST_COUNTED = 2**53
"""Most moves of a ground: characters remember their count as float64."""

NO_MOVERS: dict[str, Any] = {"count": 0, "parts": {}}
"""The saved form of a ground without moving parts."""

Box = tuple[Floats3, Floats3]

NO_BOX: Box = NO_DIRECTION, NO_DIRECTION


def checked_seconds(name: str, value: Any) -> float:
    """Return the duration of a move, which is long enough for finite velocities."""
    return checks.between(name, value, 1e-6, 3600.0)


class Move(NamedTuple):
    """A move that a part remembers."""

    stamp: int  # the ground's count of moves with this one
    before: Pose
    box: Box  # around the part before


class MovingPart:
    """A part that moves, is a conveyor or is one-way.

    Attributes
    ----------
    pose : Pose
    box : tuple of two vectors
        Around the part as it is.
    is_mobile : bool
        Whether it was ever moved with a time.
    seconds : float
        The duration of the latest move; 0 for a teleport.
    moves : list of Move
        The latest ones with a time since its last teleport, the last first.
    put : int
        The ground's count of moves at that teleport.
    surface, one_way : tuple of float
        The velocity of its surface and the direction in which it holds up, in its own frame; zeros:
        none.
    """

    __slots__ = ("box", "is_mobile", "moves", "one_way", "pose", "put", "seconds", "surface")

    def __init__(self, pose: Pose, box: Box) -> None:
        self.pose, self.box = pose, box
        self.is_mobile, self.seconds, self.put = False, 0.0, 0
        self.moves: list[Move] = []
        self.surface = self.one_way = NO_DIRECTION

    def move_to(self, pose: Pose, box: Box, seconds: float, count: int) -> None:
        """Remember a move that took some time, the ground's ``count``-th."""
        self.moves = [Move(count, self.pose, self.box), *self.moves[: MOST_MOVES - 1]]
        self.pose, self.box, self.seconds, self.is_mobile = pose, box, seconds, True

    def put_at(self, pose: Pose, box: Box, count: int) -> None:
        """Forget all moves: the part is teleported, as the ground's ``count``-th move."""
        self.moves, self.seconds, self.put = [], 0.0, count
        self.pose, self.box = pose, box

    def row(self, number: int) -> Floats:
        """Return the row for kernels (MOVER_SIZE,)."""
        row = np.zeros(MOVER_SIZE)
        row[columns.NUMBER], row[columns.IS_MOBILE] = number, self.is_mobile
        row[columns.FRAME : columns.FRAME + 12] = self.pose.numbers
        row[columns.SURFACE : columns.SURFACE + 3] = self.surface
        row[columns.ONE_WAY : columns.ONE_WAY + 3] = self.one_way
        boxes = [self.box, *(move.box for move in self.moves)]
        lower, upper = zip(*boxes, strict=True)
        row[columns.LOWER : columns.LOWER + 3] = [*map(min, *lower, lower[0])]
        row[columns.UPPER : columns.UPPER + 3] = [*map(max, *upper, upper[0])]
        row[columns.PUT], row[columns.REMEMBERED] = self.put, len(self.moves)
        for k, move in enumerate(self.moves):
            start = MOVES + k * MOVE_SIZE
            row[start + columns.STAMP] = move.stamp
            row[start + columns.BEFORE : start + columns.BEFORE + 12] = move.before.numbers
        if self.seconds > 0.0:
            _PUT_MOTION.call(row[np.newaxis], self.seconds)
        return row

    def saved(self) -> dict[str, Any]:
        """Return it for JSON, without its pose and box, which the ground has."""
        return {
            "is_mobile": self.is_mobile,
            "seconds": self.seconds,
            "put": self.put,
            "surface_velocity": [*self.surface],
            "one_way": [*self.one_way],
            "moves": [[move.stamp, move.before.saved(), *move.box] for move in self.moves],
        }

    @classmethod
    def of_saved(cls, about: Any, pose: Pose, box: Box, count: int) -> Self:
        """Return the part of a saved form, for a ground that has counted so many moves."""
        mover = cls(pose, box)
        mover.is_mobile = bool(checks.whole("is_mobile", about["is_mobile"], 0, 1))
        mover.seconds = checks.non_negative("seconds", about["seconds"])
        if mover.seconds > 0.0:
            checked_seconds("seconds", mover.seconds)
        mover.put = checks.whole("put", about["put"], 0, count)
        mover.surface = checks.vector("surface_velocity", about["surface_velocity"])
        mover.one_way = checks.vector("one_way", about["one_way"])
        last = count + 1
        if len(about["moves"]) > MOST_MOVES or (mover.seconds > 0.0 and not about["moves"]):
            raise ValueError("moves must be those that led here")
        for stamp, before, lower, upper in about["moves"]:
            known = checks.whole("stamp", stamp, 1, last - 1)
            around = checks.vector("lower", lower), checks.vector("upper", upper)
            mover.moves.append(Move(known, Pose.of_saved(before), around))
            last = known
        return mover


class KeptMovers(NamedTuple):
    """The moving parts of a ground at one moment, and how many moves there had been."""

    counted: int
    movers: dict[int, MovingPart]
    rows: dict[int, Floats]

    @property
    def nbytes(self) -> int:
        """How much memory the rows take."""
        return sum(row.nbytes for row in self.rows.values())


class GroundMovers:
    """The moving parts of a ground by their numbers; a change holds the ground's lock.

    Attributes
    ----------
    count : int
        How many moves there have been.
    """

    __slots__ = ("_movers", "_rows", "_shown", "count")

    def __init__(self) -> None:
        self._movers: dict[int, MovingPart] = {}
        self._rows: dict[int, Floats] = {}
        self._shown: Floats | None = NO_ROWS
        self.count = 0

    @property
    def rows(self) -> Floats:
        """Rows for kernels: see `terrain_physics._kernels.ground.movers`."""
        if self._shown is None:
            rows = np.zeros((1 + len(self._rows), MOVER_SIZE))
            rows[0, columns.COUNT_OF_MOVES] = self.count
            for row, number in enumerate(sorted(self._rows), 1):
                rows[row] = self._rows[number]
            rows.setflags(write=False)
            self._shown = rows
        return self._shown

    def get(self, number: int) -> MovingPart | None:
        """Return a moving part; None if the part is none."""
        return self._movers.get(number)

    def put(self, number: int, mover: MovingPart) -> None:
        """Take over the present state of a part."""
        self._movers[number] = mover
        self._rows[number] = mover.row(number)  # now, not when characters wait for it
        self._shown = None

    def start_from(self, count: int) -> None:
        """Continue to count from a number."""
        self.count, self._shown = count, None

    def next_move(self) -> int:
        """Count one more move."""
        if self.count == MOST_COUNTED:
            raise ValueError(f"moves must be at most {MOST_COUNTED}")
        self.count += 1
        self._shown = None
        return self.count

    def kept(self) -> KeptMovers:
        """Return all of it, in values that nobody writes to later."""
        movers = {number: copy(mover) for number, mover in self._movers.items()}
        return KeptMovers(self.count, movers, self._rows.copy())

    def put_kept(self, kept: KeptMovers) -> None:
        """Put it back as it was."""
        self._movers = {number: copy(mover) for number, mover in kept.movers.items()}
        self._rows, self.count, self._shown = kept.rows.copy(), kept.counted, None

    def remove(self, number: int) -> None:
        """Forget a part."""
        if self._movers.pop(number, None) is not None:
            del self._rows[number]
            self._shown = None

    def saved(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        movers = {str(number): mover.saved() for number, mover in self._movers.items()}
        return {"count": self.count, "parts": movers}

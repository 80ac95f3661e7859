"""Moving parts of a ground: those that move, are conveyors or are one-way, as rows for kernels."""

from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.ground import movers as columns
from terrain_physics._kernels.ground.movers import MOST_COUNTED, settle_mover
from terrain_physics._kernels.surface.ground_arrays import (
    BOX_SIZE,
    BOXES,
    MOST_MOVES,
    MOVE_SIZE,
    MOVER_SIZE,
    MOVES,
    REACH_SIZE,
)
from terrain_physics._kernels.types import Floats
from terrain_physics._locks import LongCalls, Mark
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.ground.poses import Pose
from terrain_physics.surface.ground_arrays import NO_MOVERS, MoverArrays

_SETTLE = CachedDispatch(settle_mover)

NO_DIRECTION: Floats3 = (0.0, 0.0, 0.0)

NONE_SAVED: dict[str, Any] = {"count": 0, "parts": {}}
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

    @classmethod
    def of_row(cls, row: Floats) -> Self:
        """Return the part of a row for kernels (MOVER_SIZE,)."""
        part = cls(_pose_at(row, columns.FRAME), _box_at(row, columns.BOX))
        part.is_mobile, part.seconds = bool(row[columns.IS_MOBILE]), float(row[columns.SECONDS])
        part.put = int(row[columns.PUT])
        part.surface = _three_at(row, columns.SURFACE)
        part.one_way = _three_at(row, columns.ONE_WAY)
        latest = int(row[columns.LATEST])
        for k in range(int(row[columns.REMEMBERED])):
            place = (latest - k) % MOST_MOVES
            start = MOVES + MOVE_SIZE * place
            stamp = int(row[start + columns.STAMP])
            before = _pose_at(row, start + columns.BEFORE)
            part.moves.append(Move(stamp, before, _box_at(row, BOXES + BOX_SIZE * place)))
        return part

    def put_row(self, number: int, row: Floats) -> None:
        """Write it to a row for kernels (MOVER_SIZE,), without what follows from its moves."""
        row[:] = 0.0
        row[columns.NUMBER], row[columns.IS_MOBILE] = number, self.is_mobile
        row[columns.SECONDS], row[columns.PUT] = self.seconds, self.put
        row[columns.FRAME : columns.FRAME + 12] = self.pose.numbers
        row[columns.SURFACE : columns.SURFACE + 3] = self.surface
        row[columns.ONE_WAY : columns.ONE_WAY + 3] = self.one_way
        row[columns.BOX : columns.BOX + BOX_SIZE] = [*self.box[0], *self.box[1]]
        last = len(self.moves) - 1
        row[columns.REMEMBERED], row[columns.LATEST] = last + 1, max(last, 0)
        for k, move in enumerate(self.moves):
            start, box = MOVES + MOVE_SIZE * (last - k), BOXES + BOX_SIZE * (last - k)
            row[start + columns.STAMP] = move.stamp
            row[start + columns.BEFORE : start + columns.BEFORE + 12] = move.before.numbers
            row[box : box + BOX_SIZE] = [*move.box[0], *move.box[1]]

    def saved(self) -> dict[str, Any]:
        """Return it for JSON, without its pose and box, which the ground has."""
        return {
            "is_mobile": self.is_mobile,
            "seconds": self.seconds,
            "put": self.put,
            "surface_velocity": [*self.surface],
            "one_way": [*self.one_way],
            "moves": [
                [move.stamp, move.before.saved(), *map(list, move.box)] for move in self.moves
            ],
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
        mover.one_way = checks.unit_or_zeros("one_way", about["one_way"])
        last = count + 1
        if len(about["moves"]) > MOST_MOVES or (mover.seconds > 0.0 and not about["moves"]):
            raise ValueError("moves must be those that led here")
        for stamp, before, lower, upper in about["moves"]:
            known = checks.whole("stamp", stamp, 1, last - 1)
            around = checks.vector("lower", lower), checks.vector("upper", upper)
            mover.moves.append(Move(known, Pose.of_saved(before), around))
            last = known
        return mover


def _three_at(row: Floats, place: int) -> Floats3:
    x, y, z = row[place : place + 3].tolist()
    return x, y, z


def _box_at(row: Floats, place: int) -> Box:
    return _three_at(row, place), _three_at(row, place + 3)


def _pose_at(row: Floats, place: int) -> Pose:
    return Pose(row[place : place + 9].reshape(3, 3).copy(), row[place + 9 : place + 12].copy())


class KeptMovers(NamedTuple):
    """The moving parts of a ground at one moment, in arrays that nobody writes to any more."""

    numbers: list[int]
    rows: Floats
    reaches: Floats

    @property
    def moves(self) -> int:
        """How many moves there have been."""
        return int(self.rows[0, columns.COUNT_OF_MOVES])

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return self.rows.nbytes + self.reaches.nbytes

    def without(self, touched: Container[int]) -> "KeptMovers":
        """Return those that are not among some parts."""
        kept = [k for k, number in enumerate(self.numbers) if number not in touched]
        return self.at(kept)

    def at(self, places: Sequence[int]) -> "KeptMovers":
        """Return those at some places of ``numbers``."""
        rows = self.rows[[0, *(1 + k for k in places)]]
        return KeptMovers([self.numbers[k] for k in places], rows, self.reaches[:, [*places]])

    def joined(self, other: "KeptMovers") -> "KeptMovers":
        """Return them with others, at the same count of moves."""
        numbers = self.numbers + other.numbers
        used, more = self.reaches[:, : len(self.numbers)], other.reaches[:, : len(other.numbers)]
        rows, reaches = np.concatenate([self.rows, other.rows[1:]]), np.hstack([used, more])
        return KeptMovers(numbers, rows, reaches).at(np.argsort(numbers).tolist())

    def content(self) -> bytes:
        """Return how they move, for hashes of worlds."""
        surfaces = self.rows[1:, columns.SURFACE : columns.ONE_WAY + 3]
        return self.rows[1:, [columns.NUMBER, columns.SECONDS]].tobytes() + surfaces.tobytes()

    def saved(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        parts = zip(self.numbers, map(MovingPart.of_row, self.rows[1:]), strict=True)
        return {"count": self.moves, "parts": {str(k): mover.saved() for k, mover in parts}}


class GroundMovers:
    """The moving parts of a ground, as rows that are written in place; a change holds its lock.

    Attributes
    ----------
    numbers : list of int
        Those of the parts, which ascend.
    """

    __slots__ = ("_is_lent", "_reaches", "_readers", "_rows", "_shown", "numbers")

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self._rows, self._reaches = NO_MOVERS.rows, NO_MOVERS.reaches
        self._shown: MoverArrays | None = NO_MOVERS
        self._is_lent = True  # the next change copies the arrays; so it does if any are read
        self._readers = LongCalls()

    @property
    def count(self) -> int:
        """How many moves there have been; in the rows, so that a kernel counts what it moves."""
        return int(self._rows[0, columns.COUNT_OF_MOVES])

    @property
    def shown(self) -> MoverArrays:
        """The arrays for kernels: see `terrain_physics._kernels.ground.movers`.

        They are the same object while the parts stay at the same places in memory.
        """
        if self._shown is None:
            self._shown = MoverArrays(self._rows[: 1 + len(self.numbers)], self._reaches[:])
            for array in self._shown:
                array.setflags(write=False)
        return self._shown

    @property
    def moving(self) -> list[int]:
        """The numbers of the parts that were ever moved with a time, ascending."""
        rows = self._rows[1 : 1 + len(self.numbers)]
        return [int(number) for number in rows[rows[:, columns.IS_MOBILE] != 0.0, columns.NUMBER]]

    def of_still(self) -> MoverArrays:
        """Return new arrays for kernels, without the parts that move, and with no moves counted."""
        used = len(self.numbers)
        still = np.flatnonzero(self._rows[1 : 1 + used, columns.IS_MOBILE] == 0.0)
        rows, reaches = self._rows[[0, *(1 + still)]], np.zeros((REACH_SIZE, max(len(still), 1)))
        rows[0, columns.COUNT_OF_MOVES] = 0.0
        reaches[:, : len(still)] = self._reaches[:, still]
        arrays = MoverArrays(rows, reaches)
        for array in arrays:
            array.setflags(write=False)
        return arrays

    def begin_reading(self, mark: Mark) -> MoverArrays:
        """Return the arrays; nobody writes to them until the mark is given back."""
        self._readers.add(mark)
        return self.shown

    def prepare(self, more: int = 0) -> tuple[Floats, Floats]:
        """Return rows and reaches to write to, with room for ``more`` parts."""
        used = len(self.numbers)
        room, needed = len(self._rows) - 1, used + more
        if self._is_lent or self._readers or needed > room:
            room = room if needed <= room else max(needed, 2 * room)
            rows, reaches = np.empty((1 + room, MOVER_SIZE)), np.empty((REACH_SIZE, max(room, 1)))
            rows[: 1 + used], reaches[:, :used] = self._rows[: 1 + used], self._reaches[:, :used]
            self._rows, self._reaches, self._shown, self._is_lent = rows, reaches, None, False
            self._readers.clear()
        return self._rows, self._reaches

    def place_of(self, number: int) -> int:
        """Return the row of a part, 0 if it is none."""
        place = bisect_left(self.numbers, number)
        return place + 1 if self.numbers[place : place + 1] == [number] else 0

    def get(self, number: int) -> MovingPart | None:
        """Return a moving part; None if the part is none."""
        place = self.place_of(number)
        return MovingPart.of_row(self._rows[place]) if place else None

    def put(self, number: int, mover: MovingPart) -> None:
        """Take over the present state of a part."""
        row = np.empty(MOVER_SIZE)
        mover.put_row(number, row)
        place = self.place_of(number)
        if place:
            self._write(place, row)
        else:
            self._insert(number, *_settled(row))

    def _write(self, place: int, row: Floats) -> None:
        """Write the row of a part, and what follows from it, by one call in C."""
        rows, reaches = self.prepare()
        any(map(np.copyto, (rows[place], reaches[:, place - 1]), _settled(row)))

    def _insert(self, number: int, row: Floats, reach: Floats) -> None:
        """Put in the row of a new part; it is there with the last assignment."""
        rows, reaches = self.prepare(1)
        before, end = bisect_left(self.numbers, number), len(self.numbers)
        if before < end:
            rows, reaches = rows.copy(), reaches.copy()
            rows[before + 2 : end + 2] = rows[before + 1 : end + 1]
            reaches[:, before + 1 : end + 1] = reaches[:, before:end]
        rows[before + 1], reaches[:, before] = row, reach
        numbers = [*self.numbers[:before], number, *self.numbers[before:]]
        self._rows, self._reaches, self._shown, self.numbers = rows, reaches, None, numbers

    def put_box(self, number: int, box: Box) -> None:
        """Write the box around a part that was refitted."""
        place = self.place_of(number)
        row = self._rows[place].copy()
        row[columns.BOX : columns.BOX + BOX_SIZE] = [*box[0], *box[1]]
        self._write(place, row)

    def refuse_more(self, moves: int) -> int:
        """Return how many moves there have been; ValueError if so many more are too many."""
        count = self.count
        if count > MOST_COUNTED - moves:
            raise ValueError(f"moves must be at most {MOST_COUNTED}")
        return count

    def start_from(self, count: int) -> None:
        """Continue to count from a number."""
        if count != self.count:
            rows, _ = self.prepare()
            rows[0, columns.COUNT_OF_MOVES] = count

    def kept(self, numbers: Iterable[int] | None = None) -> KeptMovers:
        """Return all of it, or some parts, in values that nobody writes to later.

        They are copies, so that the next move need not make new arrays.
        """
        if numbers is not None:
            places = [place - 1 for place in map(self.place_of, numbers) if place]
            return KeptMovers(self.numbers, self._rows, self._reaches).at(places)
        rows = self._rows[: 1 + len(self.numbers)].copy()
        return KeptMovers(self.numbers.copy(), rows, self._reaches.copy())

    def put_kept(self, kept: KeptMovers) -> None:
        """Put it back as it was."""
        used = len(kept.numbers)
        if kept.numbers == self.numbers:
            rows, reaches = self.prepare()
            here, there = (rows[: 1 + used], reaches[:, :used]), (kept.rows, kept.reaches[:, :used])
            any(map(np.copyto, here, there))  # one call in C
            return
        numbers = kept.numbers.copy()
        self._rows, self._reaches = kept.rows, kept.reaches
        self._shown, self._is_lent, self.numbers = None, True, numbers

    def remove(self, number: int) -> None:
        """Forget a part."""
        place = self.place_of(number)
        if place:
            rows, reaches = self.prepare()
            end = len(self.numbers)
            if place < end:
                rows, reaches = rows.copy(), reaches.copy()
                rows[place:end] = rows[place + 1 : end + 1]
                reaches[:, place - 1 : end - 1] = reaches[:, place:end]
            numbers = [*self.numbers[: place - 1], *self.numbers[place:]]
            self._rows, self._reaches, self._shown, self.numbers = rows, reaches, None, numbers

    def saved(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return self.kept().saved()


def _settled(row: Floats) -> tuple[Floats, Floats]:
    """Return the row of a part (MOVER_SIZE,) with what follows from it, and its reach."""
    rows, reaches = np.zeros((2, MOVER_SIZE)), np.empty((REACH_SIZE, 1))
    rows[1] = row
    _SETTLE.call(rows, reaches, 1)
    return rows[1], reaches[:, 0]

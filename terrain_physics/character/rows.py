"""The numbers that characters are: of one character, or a row for each of many."""

import hashlib
from array import array
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.character.reports.hits import HITS_SIZE
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import Floats, UInt64s

POSITION = slice(columns.POSITION, columns.POSITION + 3)
VELOCITY = slice(columns.VELOCITY, columns.VELOCITY + 3)
BASE_VELOCITY = slice(columns.BASE_VELOCITY, columns.BASE_VELOCITY + 3)
SQUEEZED_BY = slice(columns.SQUEEZED_BY, columns.SQUEEZED_BY + columns.MOST_SQUEEZING)
SQUEEZED = slice(columns.SQUEEZED, columns.SQUEEZED + 3 * columns.MOST_SQUEEZING)
LAST_PLACE = slice(columns.LAST_PLACE, columns.LAST_PLACE + 3)

_HASHED = columns.SAVED.hashed()

Row: TypeAlias = "array[float]"


class Rows(NamedTuple):
    """All numbers of one character, or with one more axis in front, of many.

    Attributes
    ----------
    state : ndarray of float64, shape (..., STATE_SIZE)
        What updates change.
    rules : ndarray of float64, shape (..., RULES_SIZE)
        The shape in the world, and what else the game sets.
    linear : ndarray of float64, shape (..., 9)
        Rotation times scale, row by row, that the shape was made for.
    random : ndarray of uint64, shape (..., 1)
        The generator that shuffles contacts.
    hits : ndarray of float64, shape (..., HITS_SIZE)
        What it ran into in the last update, as many as the state says; neither saved nor hashed.
    """

    state: Floats
    rules: Floats
    linear: Floats
    random: UInt64s
    hits: Floats

    @classmethod
    def room(cls, count: int) -> Self:
        """Return rows to write to; until then they take no memory."""
        return cls(
            np.zeros((count, columns.STATE_SIZE)),
            np.zeros((count, columns.RULES_SIZE)),
            np.zeros((count, columns.LINEAR_SIZE)),
            np.zeros((count, 1), dtype=np.uint64),
            np.zeros((count, HITS_SIZE)),
        )

    @classmethod
    def one(cls) -> Self:
        """Return the row of a character that nothing has happened to."""
        row = cls.room(1).at(0)
        row.state[:], row.rules[:] = columns.STATE.defaults(), columns.RULES.defaults()
        return row

    def at(self, index: Any) -> Self:
        """Return one row or some, as arrays that share memory where NumPy's indices do."""
        state, rules, linear, random, hits = self
        return type(self)(state[index], rules[index], linear[index], random[index], hits[index])

    def copy(self) -> Self:
        """Return the same numbers in arrays of their own."""
        state, rules, linear, random, hits = self
        return type(self)(state.copy(), rules.copy(), linear.copy(), random.copy(), hits.copy())

    def put(self, other: "Rows") -> None:
        """Take over the numbers of other rows, of the same shape."""
        for part, new in zip(self, other, strict=True):
            part[...] = new

    def saved(self) -> tuple[NDArray[Any], ...]:
        """Return the parts that the layout `SAVED` has, in its order."""
        return self.state, self.rules, self.linear, self.random

    def packed(self) -> UInt64s:
        """Return the bits of all numbers, in the order of the layout `SAVED` (..., size)."""
        return np.concatenate([part.view(np.uint64) for part in self.saved()], axis=-1)

    @classmethod
    def unpacked(cls, packed: UInt64s) -> Self:
        """Return the rows (n, ...) of bits (n, size) that were packed."""
        bits = np.ascontiguousarray(packed, dtype=np.uint64)
        rows, end = cls.room(len(bits)), 0
        for part in rows.saved():
            start, end = end, end + part.shape[-1]
            part.view(np.uint64)[...] = bits[:, start:end]
        return rows


def plain_row(state: Floats) -> Row:
    """Return a copy of one row of state as plain numbers, twice as quickly as a list."""
    return array("d", state.tobytes())


def vectors(states: Floats, place: int, more: Floats | float = 0.0) -> Floats:
    """Return three columns of rows of state (n, STATE_SIZE), each plus ``more``, as (n, 3)."""
    found = np.empty((len(states), 3))
    for axis in range(3):  # NumPy takes twice as long for rows of three
        np.add(states[:, place + axis], more, out=found[:, axis])
    return found


def wake(state: Floats) -> None:
    """Let characters (..., STATE_SIZE) look at their ground anew, whichever they are on now.

    Until the next update, this ground knows nothing of their contacts.
    """
    state[..., columns.UNDISTURBED], state[..., columns.MOVED] = 0.0, 1.0
    state[..., columns.GROUND_PART] = state[..., columns.GROUND_TRIANGLE] = -1.0
    state[..., columns.GROUND_VERSION] = state[..., columns.HITS] = 0.0


def forget_contact_signature(state: Floats, rows: Any = ...) -> None:
    """Wake some characters (..., STATE_SIZE) for good: the ground as it was says nothing."""
    state[rows, columns.UNDISTURBED] = state[rows, columns.CONTACT_SIGNATURE] = 0.0


def step_off(state: Floats) -> None:
    """Let characters (..., STATE_SIZE) stand on no part of a ground: they are on another now."""
    state[..., columns.BASE_PART], state[..., columns.ON_MOVING_BASE] = -1.0, 0.0
    state[..., BASE_VELOCITY], state[..., columns.TURN] = 0.0, 0.0
    state[..., columns.EXCESS] = state[..., columns.MOVE_AGE] = 0.0
    state[..., SQUEEZED_BY], state[..., SQUEEZED] = -1.0, 0.0
    state[..., columns.MOVES_SEEN] = -1.0


def state_hashes(packed: NDArray[np.uint64]) -> list[str]:
    """Return 16 hexadecimal digits for each packed row (n, size)."""
    width = 8 * len(_HASHED)
    content = memoryview(packed[:, _HASHED].astype("<u8").tobytes())
    return [
        hashlib.blake2b(content[start : start + width], digest_size=8).hexdigest()
        for start in range(0, len(content), width)
    ]


ALONE = np.zeros(0)
"""The crowd that kernels take for characters that meet no others."""

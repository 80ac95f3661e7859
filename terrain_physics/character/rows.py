"""All numbers of one character, or of many, as a row for each."""

import hashlib
from array import array
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.character.needs import HAS_WAITED
from terrain_physics._kernels.character.reports.hits import HITS_SIZE, NEED_MARK
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.character.state.mixed_hash import put_mixed_hashes
from terrain_physics._kernels.types import Floats, UInt64s, read_only
from terrain_physics._support import checks

POSITION = slice(columns.POSITION, columns.POSITION + 3)
VELOCITY = slice(columns.VELOCITY, columns.VELOCITY + 3)
BASE_VELOCITY = slice(columns.BASE_VELOCITY, columns.BASE_VELOCITY + 3)
SQUEEZED_BY = slice(columns.SQUEEZED_BY, columns.SQUEEZED_BY + columns.MOST_SQUEEZING)
SQUEEZED = slice(columns.SQUEEZED, columns.SQUEEZED + 3 * columns.MOST_SQUEEZING)
LAST_PLACE = slice(columns.LAST_PLACE, columns.LAST_PLACE + 3)

_HASHED = columns.SAVED.hashed()

_PUT_MIXED = CachedDispatch(put_mixed_hashes)

Row: TypeAlias = "array[float]"


class Rows(NamedTuple):
    """All numbers of one character, or of many with one more axis in front.

    Attributes
    ----------
    state : ndarray of float64, shape (..., STATE_SIZE)
        The columns that updates change.
    rules : ndarray of float64, shape (..., RULES_SIZE)
        The shape in the world, and the rules.
    linear : ndarray of float64, shape (..., 9)
        Rotation times scale, row by row, that the shape was made for.
    random : ndarray of uint64, shape (..., 1)
        The generator that shuffles contacts.
    hits : ndarray of float64, shape (..., HITS_SIZE)
        Hits of the last update, as many as the state says; neither saved nor hashed.
    """

    state: Floats
    rules: Floats
    linear: Floats
    random: UInt64s
    hits: Floats

    @classmethod
    def room(cls, count: int) -> Self:
        """Return rows to write to, which take no memory until they are written."""
        return cls(
            np.zeros((count, columns.STATE_SIZE)),
            np.zeros((count, columns.RULES_SIZE)),
            np.zeros((count, columns.LINEAR_SIZE)),
            np.zeros((count, 1), dtype=np.uint64),
            np.zeros((count, HITS_SIZE)),
        )

    @classmethod
    def empty(cls, *shape: int) -> Self:
        """Return rows of a shape to write to, with any numbers, and without hits."""
        return cls(
            np.empty((*shape, columns.STATE_SIZE)),
            np.empty((*shape, columns.RULES_SIZE)),
            np.empty((*shape, columns.LINEAR_SIZE)),
            np.empty((*shape, 1), dtype=np.uint64),
            ALONE,
        )

    @classmethod
    def one(cls) -> Self:
        """Return the row of a new character."""
        row = cls.room(1).at(0)
        row.state[:], row.rules[:] = columns.STATE.defaults(), columns.RULES.defaults()
        return row

    def at(self, index: Any) -> Self:
        """Return one row or some, as views or copies, as indexing an array gives them."""
        state, rules, linear, random, hits = self
        return type(self)(state[index], rules[index], linear[index], random[index], hits[index])

    def flat(self) -> Self:
        """Return the same numbers with one axis each, as kernels of many take them: views."""
        state, rules, linear, random, hits = self
        return type(self)(
            state.reshape(-1), rules.reshape(-1), linear.reshape(-1), random.reshape(-1),
            hits.reshape(-1),
        )  # fmt: skip

    def copy(self) -> Self:
        """Return the same numbers in arrays of their own."""
        state, rules, linear, random, hits = self
        return type(self)(state.copy(), rules.copy(), linear.copy(), random.copy(), hits.copy())

    @classmethod
    def of_saved(cls, saved: tuple[NDArray[Any], ...]) -> Self:
        """Return rows with copies of what `saved` returned, without hits."""
        state, rules, linear, random = saved
        return cls(state.copy(), rules.copy(), linear.copy(), random.copy(), ALONE)

    def put_saved(self, saved: tuple[NDArray[Any], ...]) -> None:
        """Take over what `saved` of other rows returned, of the same shape; hits stay."""
        self.state[...], self.rules[...], self.linear[...], self.random[...] = saved

    def put(self, other: "Rows") -> None:
        """Take over the numbers of other rows, of the same shape."""
        for part, new in zip(self, other, strict=True):
            part[...] = new

    def saved(self) -> tuple[NDArray[Any], ...]:
        """Return the arrays that the layout `SAVED` has, in its order."""
        return self.state, self.rules, self.linear, self.random

    def copies(self) -> tuple[NDArray[Any], ...]:
        """Return copies of what `saved` returns."""
        return self.state.copy(), self.rules.copy(), self.linear.copy(), self.random.copy()

    def packed(self) -> UInt64s:
        """Return the bits of all numbers, in the order of the layout `SAVED` (..., size)."""
        return np.concatenate([part.view(np.uint64) for part in self.saved()], axis=-1)

    @classmethod
    def unpacked(cls, packed: UInt64s) -> Self:
        """Return the rows (n, ...) of packed bits (n, size)."""
        bits = np.ascontiguousarray(packed, dtype=np.uint64)
        rows, end = cls.room(len(bits)), 0
        for part in rows.saved():
            start, end = end, end + part.shape[-1]
            part.view(np.uint64)[...] = bits[:, start:end]
        return rows


def plain_row(state: Floats) -> Row:
    """Return a copy of one row of state as plain numbers, in half the time of a list."""
    return array("d", state.tobytes())


def vectors(states: Floats, place: int, more: Floats | float = 0.0) -> Floats:
    """Return three columns of rows of state (n, STATE_SIZE), each plus ``more``, as (n, 3)."""
    found = np.empty((len(states), 3))
    for axis in range(3):  # NumPy takes twice as long for rows of three
        np.add(states[:, place + axis], more, out=found[:, axis])
    return found


def wake(state: Floats) -> None:
    """Wake characters (..., STATE_SIZE), which may be on another ground now.

    Their contacts count as unknown until the next update.
    """
    state[..., columns.UNDISTURBED], state[..., columns.MOVED] = 0.0, 1.0
    state[..., columns.GROUND_PART] = state[..., columns.GROUND_TRIANGLE] = -1.0
    state[..., columns.GROUND_VERSION] = state[..., columns.HITS] = 0.0


def nothing_new(states: Floats) -> None:
    """Clear in rows of state (..., STATE_SIZE) the events of the last update."""
    states[..., columns.WAS_GROUNDED] = states[..., columns.GROUNDED]
    states[..., columns.HITS] = 0.0


def nothing_happened(states: Floats) -> None:
    """Clear in rows of state (..., STATE_SIZE) all that the last update tells of itself alone."""
    nothing_new(states)
    states[..., columns.ROUNDS] = states[..., columns.LIFTED] = states[..., columns.TURN] = 0.0


def forget_contact_signature(state: Floats, rows: Any = ...) -> None:
    """Wake some characters (..., STATE_SIZE), even if their contact signatures stay equal."""
    state[rows, columns.UNDISTURBED] = state[rows, columns.CONTACT_SIGNATURE] = 0.0


def step_off(state: Floats) -> None:
    """Take characters (..., STATE_SIZE) off their bases, as they are on another ground now."""
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


def mixed_hashes(rows: Rows) -> UInt64s:
    """Return a 64-bit hash (n,) of the hashed columns of each row (n, ...).

    Rows have equal hashes when all these numbers are equal, bit for bit. The same numbers have the
    same hash in any row, process and version of this format.
    """
    hashes = np.empty(rows.random.size, dtype=np.uint64)
    flat = (np.ascontiguousarray(part).reshape(-1) for part in rows.saved())
    parts = read_only(*(part.view(np.uint64) for part in flat))
    with np.errstate(over="ignore"):  # as plain Python, the kernel lets products wrap
        _PUT_MIXED.call(*parts, hashes)
    return hashes


def has_waited(row: Rows) -> bool:
    """Tell whether the last update on ground that may not be all there has left one waiting."""
    return bool(row.hits[NEED_MARK] == HAS_WAITED)


def refuse_other_format(what: str, form: Any) -> None:
    """Refuse numbers of another format, which has other columns."""
    if form != columns.FORMAT:
        raise ValueError(
            f"{what} must be of format {columns.FORMAT}, got {checks.shorten(form)}: "
            "another version of terrain_physics saved it"
        )


ALONE = np.zeros(0)
"""The crowd that kernels take for characters that meet no others."""

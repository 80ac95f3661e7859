"""Comparing two worlds: the first character that differs, and the number that does."""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import UInt64s
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics.world.hashes import (
    Name,
    ground_content,
    hashes_of,
    layers_in,
    numbers_of,
    packed_rows,
    places_in,
)
from terrain_physics.world.kept_world import KeptWorld

_HASHED = np.array(columns.SAVED.hashed())
_ROW_BYTES = 8 * columns.SAVED.size


@public
class Mismatch(NamedTuple):
    """The place where two worlds that should be equal first differ, or a replay and its recording.

    Attributes
    ----------
    frame : int
        The frame that was compared; of a replay, after how many updates.
    key : str, int, tuple or None
        The first character that differs, in the order of adding: its key, or the keys of its group
        and of the member. None if no character differs, or if only hashes of whole worlds are
        known.
    column : str or None
        The first of its numbers that differs, by the names in `CharacterState`, such as
        "velocity"; without a key "clock", the length of a step, "extra", the bytes of the game,
        "ground", which parts there are, where, and how they move, "layers", those of a part, or
        "waits", how often characters waited for a tile of a `TiledGround`. None if only hashes are
        known, or if one side has no such character.
    mine, theirs : float, int, tuple of float, str, bytes or None
        Both values of that column; hashes if only these are known, as those that were recorded and
        those of a replay; None on the side that has no such character. Of the ground the key of the
        first part that is elsewhere, with its rotation row by row and its position, if it has been
        moved; digits if all parts are at their places. Of layers the key of the first part that is
        on others, and its layers.
    agreed : int or None
        The last frame before that is known to be equal, by hashes or numbers of all characters.
    """

    frame: int
    key: Name | None
    column: str | None
    mine: Any
    theirs: Any
    agreed: int | None = None


class AllRows(dict[Name, bytes]):
    """The rows of all characters of a world, also if a peer pickles them."""


def compared(frame: int, mine: KeptWorld, theirs: Any) -> tuple[Mismatch | None, bool]:
    """Return the first difference from hashes or rows of another world, and whether of all of it.

    Rows of some characters are compared alone: a peer sends those that are asked for. Without any
    they are an empty dict; hashes of nobody are an empty list.
    """
    found, is_whole = _checked(theirs), True
    if isinstance(theirs, Mapping) and all(isinstance(value, bytes) for value in found.values()):
        rows, is_whole = packed_rows(numbers_of(mine)), isinstance(theirs, AllRows)
        own = rows if is_whole else {key: row for key, row in rows.items() if key in found}
        return _of_rows(frame, own, found), is_whole
    return _of_hashes(frame, dict(hashes_of(numbers_of(mine))), found), is_whole


def compared_worlds(frame: int, mine: KeptWorld, theirs: KeptWorld) -> Mismatch | None:
    """Return the first difference from another world."""
    hashes = (dict(hashes_of(numbers_of(side))) for side in (mine, theirs))
    found = _of_hashes(frame, *hashes)
    if found is not None:
        if None in (found.mine, found.theirs):
            return found
        here, there = (packed_rows(numbers_of(side))[found.key] for side in (mine, theirs))  # type: ignore[index]
        return _of_row(frame, found.key, here, there)
    if mine.seconds != theirs.seconds:
        return Mismatch(frame, None, "clock", mine.seconds, theirs.seconds)
    if mine.extra != theirs.extra:
        return Mismatch(frame, None, "extra", mine.extra, theirs.extra)
    return _of_grounds(frame, mine.ground, theirs.ground)


def _of_grounds(frame: int, mine: Any, theirs: Any) -> Mismatch | None:
    """Return the first part that is elsewhere or on other layers, or digits of how all move."""
    ground, other = ground_content(mine), ground_content(theirs)
    if ground == other:
        return None
    waits = (getattr(mine, "waits", 0), getattr(theirs, "waits", 0))
    if waits[0] != waits[1]:
        return Mismatch(frame, None, "waits", *waits)
    here, there = places_in(mine), places_in(theirs)
    for key in (*here, *(key for key in there if key not in here)):
        if repr(here.get(key)) != repr(there.get(key)):  # zeros of two signs are equal
            return Mismatch(frame, None, "ground", here.get(key), there.get(key))
    mine_on, theirs_on = layers_in(mine), layers_in(theirs)
    for key, layers in mine_on.items():
        if layers != theirs_on.get(key):
            return Mismatch(frame, None, "layers", (key, layers), (key, theirs_on.get(key)))
    return Mismatch(frame, None, "ground", _digits(ground), _digits(other))


def _of_hashes(frame: int, mine: Mapping[Name, int], theirs: Mapping[Name, Any]) -> Mismatch | None:
    for key in (*mine, *(key for key in theirs if key not in mine)):
        if mine.get(key) != theirs.get(key):
            return Mismatch(frame, key, None, mine.get(key), theirs.get(key))
    return None


def _of_rows(
    frame: int, mine: Mapping[Name, UInt64s], theirs: Mapping[Name, bytes]
) -> Mismatch | None:
    for key in (*mine, *(key for key in theirs if key not in mine)):
        if key not in mine:
            return Mismatch(frame, key, None, None, _digits(theirs[key]))
        if key not in theirs:
            return Mismatch(frame, key, None, _digits(mine[key].astype("<u8").tobytes()), None)
        row = np.frombuffer(theirs[key], dtype="<u8").astype(np.uint64)
        found = _of_row(frame, key, mine[key], row)
        if found is not None:
            return found
    return None


def _of_row(frame: int, key: Name | None, mine: UInt64s, theirs: UInt64s) -> Mismatch | None:
    """Return the first hashed column that differs between two rows of bits (size,)."""
    places, start = _HASHED[mine[_HASHED] != theirs[_HASHED]], 0
    for column in columns.SAVED.columns:
        end = start + column.width
        if len(places) and places[0] < end:
            values = (_values(column.name, row[start:end]) for row in (mine, theirs))
            return Mismatch(frame, key, column.name, *values)
        start = end
    return None


def _values(column: str, bits: UInt64s) -> Any:
    """Return the numbers of a column, one alone as it is."""
    numbers = bits.tolist() if column == "random_state" else bits.view(np.float64).tolist()
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _digits(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _checked(theirs: Any) -> dict[Name, Any]:
    """Return hashes or rows of characters by their keys, or refuse what is neither."""
    try:
        pairs = theirs.items() if isinstance(theirs, Mapping) else theirs
        found = {_checked_name(key): value for key, value in pairs}
    except (TypeError, ValueError):
        found = {0: None}
    kinds = {type(value) for value in found.values()}
    if kinds <= {int} or (
        kinds == {bytes} and all(len(value) == _ROW_BYTES for value in found.values())
    ):
        return found
    raise TypeError(
        "theirs must be a Rewind, a WorldState, or what state_hash, hashes or rows of another one "
        f"returned, got {checks.shorten(theirs)}"
    )


def _checked_name(key: Any) -> Name:
    """Return a key, or a pair of keys, which a message may have brought as a list."""
    return (key[0], key[1]) if isinstance(key, (tuple, list)) and len(key) == 2 else key

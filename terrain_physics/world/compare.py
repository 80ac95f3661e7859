"""Comparing two worlds: the first character that differs, and the number that does."""

import hashlib
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import UInt64s
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics.heightmap.cells import Ranges
from terrain_physics.heightmap.undo import Square
from terrain_physics.world.contents import Contents
from terrain_physics.world.ground.map_hashes import MapHash
from terrain_physics.world.hashes import (
    Name,
    ground_content,
    ground_hashes_of,
    hashes_of,
    layers_in,
    numbers_of,
    packed_rows,
    places_in,
)
from terrain_physics.world.kept_world import KeptWorld

_T = TypeVar("_T")

GROUND_KINDS = "ground", "heights", "holes", "materials", "thickness"

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
        "ground", which parts there are, where, and how they move, "layers", those of a part,
        "heights", "holes", "materials" or "thickness", those of a map, or "waits", how often
        characters waited for a tile of a `TiledGround`. None if only hashes are known, or if one
        side has no such character.
    mine, theirs : float, int, tuple of float, str, bytes or None
        Both values of that column; hashes if only these are known, as those that were recorded and
        those of a replay; None on the side that has no such character. Of the ground the key of the
        first part that is elsewhere, with its rotation row by row and its position, if it has been
        moved; digits if all parts are at their places. Of layers the key of the first part that is
        on others, and its layers. Of a map the key of the part, row and column of a sample or cell,
        as of one map of all tiles of a `TiledGround`, and its value; with thickness, the key, the
        depth, and whether the first hole changes it; the key and a hash if only hashes are known.
    agreed : int or None
        The last frame before that is known to be equal, by hashes or numbers of all characters.
    """

    frame: int
    key: Name | None
    column: str | None
    mine: Any
    theirs: Any
    agreed: int | None = None


class Side(NamedTuple):
    """A frame of one of two worlds.

    Attributes
    ----------
    contents : Contents
        Of the world.
    kept : KeptWorld
    """

    contents: Contents
    kept: KeptWorld

    @property
    def maps(self) -> tuple[MapHash, ...]:
        """The hashes of all maps of its ground."""
        return self._look(self.contents.maps.of)

    def squares(self, key: int) -> dict[Square, int]:
        """Return the hashes of the squares of a map."""
        return self._look(self.contents.maps.squares, key)

    def values(self, key: int, square: Square) -> tuple[Ranges, NDArray[Any]]:
        """Return where a square of a map is, and its values."""
        return self._look(self.contents.maps.values, key, square)

    def solid_depth(self, key: int) -> tuple[float, bool]:
        """Return how deep a map is solid."""
        return self._look(self.contents.maps.solid_depth, key)

    def _look(self, look: Callable[..., _T], *about: Any) -> _T:
        return self.contents.turns.do("compare", look, self.kept.ground, *about)


class AllRows(dict[Name, bytes]):
    """The rows of all characters of a world, also if a peer pickles them."""


def compared(frame: int, mine: Side, theirs: Any) -> tuple[Mismatch | None, bool]:
    """Return the first difference from hashes or rows of another world, and whether of all of it.

    Rows of some characters are compared alone: a peer sends those that are asked for. Without any
    they are an empty dict; hashes of nobody are an empty list.
    """
    ground = _ground_hashes_in(theirs)
    if ground is not None:
        hashes = ground_hashes_of(mine.kept.ground, mine.maps)
        by_name = {(what, key): digits for what, key, digits in hashes}
        return _of_ground_hashes(frame, by_name, ground), False
    found, is_whole, kept = _checked(theirs), True, mine.kept
    if isinstance(theirs, Mapping) and all(isinstance(value, bytes) for value in found.values()):
        rows, is_whole = packed_rows(numbers_of(kept)), isinstance(theirs, AllRows)
        own = rows if is_whole else {key: row for key, row in rows.items() if key in found}
        return _of_rows(frame, own, found), is_whole
    return of_hashes(frame, dict(hashes_of(numbers_of(kept))), found), is_whole


def compared_worlds(frame: int, here: Side, there: Side) -> Mismatch | None:
    """Return the first difference from another world."""
    mine, theirs = here.kept, there.kept
    hashes = (dict(hashes_of(numbers_of(side))) for side in (mine, theirs))
    found = of_hashes(frame, *hashes)
    if found is not None:
        if None in (found.mine, found.theirs):
            return found
        own, other = (packed_rows(numbers_of(side))[found.key] for side in (mine, theirs))  # type: ignore[index]
        return _of_row(frame, found.key, own, other)
    if mine.seconds != theirs.seconds:
        return Mismatch(frame, None, "clock", mine.seconds, theirs.seconds)
    if mine.extra != theirs.extra:
        return Mismatch(frame, None, "extra", mine.extra, theirs.extra)
    return _of_grounds(frame, mine.ground, theirs.ground) or _of_maps(frame, here, there)


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


def _of_maps(frame: int, mine: Side, theirs: Side) -> Mismatch | None:
    """Return the first map that holds something else: a sample of it, or how deep it is solid."""
    here, there = (
        {(kind, key): digits for kind, key, digits in side.maps} for side in (mine, theirs)
    )
    found = _of_ground_hashes(frame, here, there)
    if found is None or None in (found.mine[1], found.theirs[1]):
        return found
    kind, key = found.column, found.mine[0]
    if kind == "thickness":
        depths = ((key, *side.solid_depth(key)) for side in (mine, theirs))
        return found._replace(mine=next(depths), theirs=next(depths))
    values = _sample(str(kind), key, mine, theirs)
    return found if values is None else found._replace(mine=values[0], theirs=values[1])


def _sample(kind: str, key: int, mine: Side, theirs: Side) -> tuple[Any, Any] | None:
    """Return a value that differs of two maps, and where; None if they have no common squares."""
    here, there = mine.squares(key), theirs.squares(key)
    squares = here.keys() | there.keys()
    differing = [own for own in squares if own[0] == kind and here.get(own, 0) != there.get(own, 0)]
    for square in sorted(differing):
        (rows, columns), one = mine.values(key, square)
        _, other = theirs.values(key, square)
        if one.shape != other.shape:
            return None
        is_same = (one == other) | (np.isnan(one) & np.isnan(other))
        for row, column in np.argwhere(~is_same).tolist():
            place = key, rows.start + row, columns.start + column
            return (*place, one[row, column].item()), (*place, other[row, column].item())
    return None


def _of_ground_hashes(
    frame: int, mine: Mapping[Any, int], theirs: Mapping[Any, int]
) -> Mismatch | None:
    """Return the first thing of a ground whose hash differs, with the key of the part."""
    for what, key in (*mine, *theirs):
        one, other = mine.get((what, key)), theirs.get((what, key))
        if one != other and key is None:
            return Mismatch(frame, None, what, one, other)
        if one != other:
            return Mismatch(frame, None, what, (key, one), (key, other))
    return None


def of_hashes(frame: int, mine: Mapping[Any, Any], theirs: Mapping[Any, Any]) -> Mismatch | None:
    """Return the first character whose hash differs."""
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


def _ground_hashes_in(theirs: Any) -> dict[tuple[str, int | None], int] | None:
    """Return hashes of a ground, which a message may have brought as lists; None of others."""
    if not isinstance(theirs, (list, tuple)) or not theirs:
        return None
    found = {}
    for entry in theirs:
        if not isinstance(entry, (list, tuple)) or len(entry) != 3:
            return None
        what, key, digits = entry
        if what not in GROUND_KINDS or type(digits) is not int or type(key) not in (int, NoneType):
            return None
        found[what, key] = digits
    return found


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
        "theirs must be a Rewind, a WorldState, or what state_hash, hashes, ground_hashes or rows "
        f"of another one returned, got {checks.shorten(theirs)}"
    )


def _checked_name(key: Any) -> Name:
    """Return a key, or a pair of keys, which a message may have brought as a list."""
    return (key[0], key[1]) if isinstance(key, (tuple, list)) and len(key) == 2 else key

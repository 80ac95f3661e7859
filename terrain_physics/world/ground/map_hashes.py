"""Hashes of the maps of a ground, by their values and whatever their history.

A map has a hash for each square of each kind. Edits mark the squares that they meet, which are
found again when somebody asks. The hash of a map is the sum of those of its squares, so that a few
are exchanged without the others. A square of a land of tiles counts by how far its hash is from
that of the file: what nobody has edited need not be read, and an edit that was taken back is none.
"""

import hashlib
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.math.mixed_words import put_square_hash
from terrain_physics.heightmap.cells import Ranges, Region, ranges_of
from terrain_physics.heightmap.framed import KINDS, Edited, StoredMap, place_of
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.heightmap.undo import (
    Patch,
    Square,
    by_squares,
    patches_of,
    place_in,
    solid_depth_after,
    squares_in,
    values_with,
)
from terrain_physics.surface.ground_state import GroundState, keeper_of, kept_of
from terrain_physics.surface.surface import queries_of
from terrain_physics.tiles.loading.supply import TileSupply
from terrain_physics.tiles.saving.values import LandValues, StoredValues
from terrain_physics.world.ground.first_values import SIDE, Read

_T = TypeVar("_T")

_PUT = CachedDispatch(put_square_hash)

_WORD = 1 << 64

# Edits that are remembered one by one, until their squares are.
_MOST_EDITS = 1 << 10

# Versions of a ground whose hashes are remembered: frames of a ring.
_MOST_KNOWN = 1 << 8

Values = NDArray[Any]

MapHash = tuple[Edited, int, int]
"""What a map holds, the key of the part, and the 64 bits of its hash."""


class _Squares:
    """The hashes of the squares of a map as it is now; a watcher of its storage.

    It does not hold the storage, and ends with it.
    """

    __slots__ = ("__weakref__", "_about", "_edits", "_known", "_stale", "_totals")

    def __init__(self, terrain: StoredMap) -> None:
        self._about, self._known = self._hash_of_frame(terrain), dict[Square, int]()
        self._totals: dict[Edited, int] = dict.fromkeys(KINDS, 0)
        self._edits: list[tuple[Edited, Region, Ranges]] = []
        terrain.watchers.add(self, 0)
        self._stale = self._first(terrain)

    def _hash_of_frame(self, terrain: StoredMap) -> int:
        """Return the hash of how large a map is, and where; that never changes."""
        frame = (terrain.frame[:6] + 0.0).tolist()  # zeros of one sign
        return hash_of(repr((terrain.sample_count, frame)).encode())

    def _first(self, terrain: StoredMap) -> set[Square]:
        """Return the squares that may count."""
        found = set[Square]()
        for kind in KINDS:
            place = place_of(terrain, kind, terrain.whole)
            if kind == "heights" or terrain.values(kind, place).any():
                found.update(squares_in(kind, place, SIDE))
        return found

    def prepare(self, number: int, what: Edited, region: Region, place: Ranges) -> None:  # noqa: ARG002
        """Hear of an edit that is about to be made."""
        self._edits.append((what, region, place))  # in a hurry
        if len(self._edits) >= _MOST_EDITS:
            self._mark()

    def tell(self, number: int, what: Any, *details: Any) -> None:
        """Hear of an edit that was made: a signal handler may have asked since `prepare`."""
        (region,) = details
        if not self._edits or self._edits[-1][1] is not region:
            self.prepare(number, what, region, ranges_of(region, int(what == "heights")))

    def _mark(self) -> None:
        """Mark the squares that edits have met."""
        edits = self._edits[:]
        for what, _, place in edits:
            if what in KINDS:
                self._stale.update(squares_in(what, place, SIDE))
        del self._edits[: len(edits)]

    def totals(self, terrain: StoredMap, patches: list[Patch]) -> dict[Edited, int]:
        """Return the hash of each kind once patches are put over the map."""
        self._settle(terrain)
        found = self._with(self._then(terrain, patches) if patches else {})
        found["heights"] = (found["heights"] + self._about) % _WORD
        return found

    def squares(self, terrain: StoredMap, patches: list[Patch]) -> dict[Square, int]:
        """Return the hash of each square that counts once patches are put over the map."""
        self._settle(terrain)
        return self._known | self._then(terrain, patches)

    def _settle(self, terrain: StoredMap) -> None:
        """Find the hashes of squares that were edited. The caller lets nobody edit meanwhile."""
        self._mark()
        stale = self._stale
        if not stale:
            return
        try:
            self._stale = set()  # for edits of a signal handler
            new = self._found(terrain, stale, [])
            totals = self._with(new)
            self._totals = {}  # whoever is interrupted here adds all up anew
            self._known.update(new)
            self._totals = totals
        except BaseException:  # such as Ctrl-C, or a tile that cannot be read
            self._stale |= stale
            raise

    def _with(self, new: dict[Square, int]) -> dict[Edited, int]:
        """Return the hash of each kind with these squares in place of those that are known."""
        totals = self._totals.copy()
        if not totals:
            totals = dict.fromkeys(KINDS, 0)
            for square, digits in self._known.items():
                totals[square[0]] += digits
        for square, digits in new.items():
            changed = totals[square[0]] + digits - self._known.get(square, 0)
            totals[square[0]] = changed % _WORD
        return totals

    def _found(
        self, terrain: StoredMap, squares: Iterable[Square], patches: list[Patch]
    ) -> dict[Square, int]:
        """Return the hashes of squares once patches are put over them."""
        return _hashes_of(terrain, squares, self.read(terrain), patches)

    def _then(self, terrain: StoredMap, patches: list[Patch]) -> dict[Square, int]:
        """Return the hashes of the squares that patches meet, once they are put over them."""
        return self._found(terrain, by_squares(patches, SIDE), patches)

    def read(self, terrain: StoredMap) -> Read:
        """Return what reads the map as it is now."""
        return partial(values_with, terrain)


class _LandSquares(_Squares):
    """The same of a land of tiles, beside what its file holds."""

    __slots__ = ("_stored", "_supply")

    def __init__(self, supply: TileSupply) -> None:
        self._supply, self._stored = supply, dict[Square, int]()
        super().__init__(supply.land)

    def _hash_of_frame(self, terrain: StoredMap) -> int:  # noqa: ARG002
        return hash_of(self._supply.tiles.stored.digest.encode())

    def _first(self, terrain: StoredMap) -> set[Square]:  # noqa: ARG002
        places = self._supply.tiles.edits.places()
        return {square for place in places for square in squares_in(*place, SIDE)}

    def _found(
        self, terrain: StoredMap, squares: Iterable[Square], patches: list[Patch]
    ) -> dict[Square, int]:
        side = self._supply.land.shape.side // SIDE
        by_tiles = sorted(squares, key=lambda own: (own[1] // side, own[2] // side))
        new = [square for square in by_tiles if square not in self._stored]
        if new:
            self._stored.update(_hashes_of(terrain, new, StoredValues(self._supply).of))
        found = super()._found(terrain, by_tiles, patches)
        return {own: (digits - self._stored[own]) % _WORD for own, digits in found.items()}

    def read(self, terrain: StoredMap) -> Read:  # noqa: ARG002
        return LandValues(self._supply).of


class MapHashes:
    """The hashes of the maps of a ground in its states, each found once.

    Parameters
    ----------
    ground : HeightMap, TriangleMesh or Ground
    supply : TileSupply, optional
        That of a land of tiles.
    """

    __slots__ = ("_by_layout", "_by_version", "_ground", "_squares", "_supply")

    def __init__(self, ground: Any, supply: TileSupply | None) -> None:
        self._ground, self._supply = ground, supply
        self._squares = WeakKeyDictionary[StoredMap, _Squares]()
        self._by_version: dict[int, tuple[MapHash, ...]] = {}
        self._by_layout: tuple[Any, dict[int, StoredMap]] = (), {}  # of the latest layout

    def of(self, state: GroundState) -> tuple[MapHash, ...]:
        """Return the hashes of all maps in a state."""
        version, known = kept_of(state).version, self._by_version
        found = known.get(version)
        if found is None:
            found = self._now(state) or self._looking(state, self._hashes)
            if len(known) >= _MOST_KNOWN:
                del known[next(iter(known))]
            known[version] = found
        return found

    def _now(self, state: GroundState) -> tuple[MapHash, ...]:
        """Return the same quickly, if it is the present state and stays so; else nothing."""
        ground, version = self._ground, kept_of(state).version
        found: list[MapHash] = []
        if ground.version == version:
            for key, terrain in self._maps_in(state).items():
                with terrain.lock:
                    found += self._hashes_of(key, terrain, [])
        return tuple(found) if ground.version == version else ()

    def squares(self, state: GroundState, key: int) -> dict[Square, int]:
        """Return the hashes of the squares of a map in a state."""
        return self._looking(
            state,
            lambda maps, edits: self._of(maps[key]).squares(
                maps[key], patches_of(maps[key], edits)
            ),
        )

    def values(self, state: GroundState, key: int, square: Square) -> tuple[Ranges, Values]:
        """Return where a square of a map is, and its values in a state."""

        def look(maps: dict[int, StoredMap], edits: list[Any]) -> tuple[Ranges, Values]:
            terrain, what = maps[key], square[0]
            place = place_in(terrain, square, SIDE)
            own = [patch for patch in patches_of(terrain, edits) if patch.what == what]
            return place, self._of(terrain).read(terrain)(what, place, own)

        return self._looking(state, look)

    def solid_depth(self, state: GroundState, key: int) -> tuple[float, bool]:
        """Return how deep a map is solid in a state, see `LiveMap`."""
        return self._looking(state, lambda maps, edits: solid_depth_after(maps[key], edits))

    def _looking(
        self, state: GroundState, look: Callable[[dict[int, StoredMap], list[Any]], _T]
    ) -> _T:
        """Look at the maps of a state, and the edits that lead there from what they hold now."""
        maps, keeper = self._maps_in(state), keeper_of(self._ground)
        found: _T = (
            keeper.looking(state, [*maps.values()], lambda edits, _: look(maps, edits))
            if maps
            else look(maps, [])
        )
        return found

    def _maps_in(self, state: GroundState) -> dict[int, StoredMap]:
        rest: Any = kept_of(state).rest
        layout = None if rest is None else rest.layout
        if self._by_layout[0] is not layout:
            parts = {0: self._ground} if rest is None else rest.parts
            storages = {key: queries_of(own).storage for key, own in parts.items()}
            maps = {key: own for key, own in storages.items() if isinstance(own, MapStorage)}
            land: Any = {} if self._supply is None else {0: self._supply.land}
            self._by_layout = layout, land | dict(sorted(maps.items()))
        return self._by_layout[1]

    def _hashes(self, maps: dict[int, StoredMap], edits: list[Any]) -> tuple[MapHash, ...]:
        return tuple(
            own for key, terrain in maps.items() for own in self._hashes_of(key, terrain, edits)
        )

    def _hashes_of(self, key: int, terrain: StoredMap, edits: list[Any]) -> list[MapHash]:
        """Return the hashes of a map that nobody edits meanwhile."""
        totals = self._of(terrain).totals(terrain, patches_of(terrain, edits))
        depth = _hash_of_depth(solid_depth_after(terrain, edits))
        return [*((kind, key, totals[kind]) for kind in KINDS), ("thickness", key, depth)]

    def _of(self, terrain: StoredMap) -> _Squares:
        known = self._squares.get(terrain)
        if known is None:
            supply = self._supply
            is_land = supply is not None and terrain is supply.land
            known = _LandSquares(supply) if is_land else _Squares(terrain)  # type: ignore[arg-type]
            self._squares[terrain] = known
        return known


@lru_cache(maxsize=64)
def _hash_of_depth(depth: tuple[float, bool]) -> int:
    return hash_of(repr(depth).encode())


def _hashes_of(
    terrain: StoredMap, squares: Iterable[Square], read: Read, patches: Iterable[Patch] = ()
) -> dict[Square, int]:
    """Return the hashes of squares once patches are put over them."""
    then = by_squares(patches, SIDE)
    with np.errstate(over="ignore"):  # as plain Python, the kernel lets products wrap
        return {
            own: _hash_of_square(own, read(own[0], place_in(terrain, own, SIDE), then.get(own, ())))
            for own in squares
        }


def _hash_of_square(square: Square, values: Values) -> int:
    """Return the hash of a square; 0 of cells that are all 0, as on maps that have none."""
    kind, row, column = square
    if kind == "heights":
        words = values.view(np.uint32)
    elif values.any():
        words = values.astype(np.uint32)
    else:
        return 0
    out = np.empty(1, np.uint64)
    _PUT.call(words.reshape(-1), row, column, out)
    return int(out.item())


def hash_of(content: bytes) -> int:
    """Return 64 bits that tell contents apart."""
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")

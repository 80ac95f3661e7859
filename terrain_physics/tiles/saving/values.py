"""What a land of tiles holds at a moment, whether its tiles are loaded or not."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics.heightmap.cells import Ranges, shared, within
from terrain_physics.heightmap.checks import checked_samples
from terrain_physics.heightmap.framed import DTYPES, KINDS, Edited, FramedMap
from terrain_physics.heightmap.undo import Patch
from terrain_physics.lattice.tile import LoadedTile
from terrain_physics.tiles.loading.supply import TileSupply

_ALL = slice(None), slice(None)

_MOST_READ = 16
"""Tiles that `LandValues` remembers."""


class LandValues:
    """Reads values of a land as they are now; what is loaded stays so.

    The caller sees to it that nobody edits meanwhile.
    """

    __slots__ = ("_known", "_supply")

    def __init__(self, supply: TileSupply) -> None:
        self._supply = supply
        self._known: dict[int, LoadedTile] = {}  # of those that were read, the latest

    def tile(self, number: int) -> LoadedTile:
        """Return a tile."""
        found = self._known.get(number)
        if found is None:
            found = self._found(number)
            if len(self._known) >= _MOST_READ:
                del self._known[next(iter(self._known))]
            self._known[number] = found
        return found

    def _found(self, number: int) -> LoadedTile:
        """Return a tile with its edits."""
        supply = self._supply
        return supply.land.loaded.get(number) or supply.tiles.read(number).tile

    def of(self, kind: Edited, place: Ranges, patches: Iterable[Patch] = ()) -> NDArray[Any]:
        """Return the values at a place once patches of that kind are put over them.

        Where no tile is they are NaN or 0.
        """
        terrain, lines = self._supply.land, int(kind == "heights")
        size, empty = [span.stop - span.start for span in place], np.nan if lines else 0
        found = np.full(size, empty, DTYPES[kind])
        for number in terrain.tiles_of(place, lines):
            both = shared(place, terrain.shape.place_of(number, lines))
            if both is not None:
                here, there = both
                found[here] = self.tile(number).values(kind, there)
                for patch in patches:
                    patch.put_over(found[here], place=within(place, here))
        return found


class StoredValues(LandValues):
    """Reads values of a land as its file holds them, without edits."""

    __slots__ = ()

    def _found(self, number: int) -> LoadedTile:
        return self._supply.tiles.stored.read(number)


def checked_values(terrain: FramedMap, kind: Edited, values: NDArray[Any]) -> NDArray[Any]:
    """Return values that somebody has sent, as an edit takes them; ValueError for others."""
    if kind == "heights":
        with np.errstate(invalid="ignore"):  # of NaNs that somebody has made
            wide = values.astype(np.float64)
        return checked_samples(wide, terrain.frame[:6].tolist())
    names = terrain.material_names
    if kind == "holes" and values.max(initial=0) > 1:
        raise ValueError("holes must be marks")
    if kind == "materials" and names is not None and values.max(initial=0) >= len(names):
        raise ValueError("materials must be known")
    return values.astype(np.bool_) if kind == "holes" else values


def land_digest(supply: TileSupply, earlier: Any = None) -> str:
    """Return 32 hexadecimal digits that are equal for equal lands, however they were edited.

    ``earlier`` may put earlier values over those of a tile: it gets the kind, a place and an array
    of its own. The caller sees to it that nobody edits meanwhile.
    """
    digest = hashlib.blake2b(supply.tiles.stored.digest.encode(), digest_size=16)
    values = LandValues(supply)
    for number in sorted(map(int, supply.tiles.edits.edited)):
        tile, first = values.tile(number), supply.tiles.stored.read(number)
        for kind in KINDS:
            own, unedited = np.array(tile.values(kind, _ALL)), first.values(kind, _ALL)
            if earlier is not None:
                earlier(kind, supply.land.shape.place_of(number, int(kind == "heights")), own)
            if not np.array_equal(own, unedited, equal_nan=kind == "heights"):
                digest.update(json.dumps([number, kind]).encode())
                digest.update(own.astype(DTYPES[kind]).tobytes())
    return digest.hexdigest()

"""What a land of tiles holds at a moment, whether its tiles are loaded or not."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics.heightmap.cells import Ranges
from terrain_physics.heightmap.checks import checked_samples
from terrain_physics.heightmap.framed import DTYPES, KINDS, Edited, FramedMap
from terrain_physics.heightmap.undo import Patch
from terrain_physics.lattice.lattice_map import LatticeMap
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
        """Return the values at a place, with patches put over them; where no tile is, NaN or 0."""
        terrain, down, across = self._supply.land, *place
        empty = np.nan if kind == "heights" else 0
        found = np.full((down.stop - down.start, across.stop - across.start), empty, DTYPES[kind])
        for number in terrain.tiles_of(place, int(kind == "heights")):
            here, there = _shared(terrain, number, place, int(kind == "heights"))
            found[here] = self.tile(number).values(kind, there)
            within = _moved(place, here)
            for patch in patches:
                if patch.what == kind:
                    patch.put_over(found[here], place=within)
        return found


class StoredValues(LandValues):
    """Reads values of a land as its file holds them, without edits."""

    __slots__ = ()

    def _found(self, number: int) -> LoadedTile:
        return self._supply.tiles.stored.read(number)


def checked_values(terrain: FramedMap, kind: Edited, values: NDArray[Any]) -> NDArray[Any]:
    """Return values that somebody has sent, as an edit takes them; ValueError for others."""
    if kind == "heights":
        return checked_samples(values.astype(np.float64), terrain.frame[:6].tolist())
    names = terrain.material_names
    if kind == "holes" and values.max(initial=0) > 1:
        raise ValueError("holes must be marks")
    if kind == "materials" and names is not None and values.max(initial=0) >= len(names):
        raise ValueError("materials must be known")
    return values.astype(np.bool_) if kind == "holes" else values


def _shared(terrain: LatticeMap, number: int, place: Ranges, lines: int) -> tuple[Ranges, Ranges]:
    """Return what a tile shares with a place: where in the place, and where in the tile."""
    here, there, length = [], [], terrain.shape.side + lines
    for first, span in zip(terrain.place_of(number), place, strict=True):
        start, stop = max(span.start, first), min(span.stop, first + length)
        here.append(slice(start - span.start, stop - span.start))
        there.append(slice(start - first, stop - first))
    return (here[0], here[1]), (there[0], there[1])


def _moved(place: Ranges, within: Ranges) -> Ranges:
    """Return rows and columns within a place, on the whole land."""
    down, across = (
        slice(span.start + own.start, span.start + own.stop)
        for span, own in zip(place, within, strict=True)
    )
    return down, across


def land_digest(supply: TileSupply, earlier: Any = None) -> str:
    """Return 32 hexadecimal digits that are equal for equal lands, however they were edited.

    ``earlier`` may put earlier values over those of a tile: it gets its number, the kind and an
    array of its own. The caller sees to it that nobody edits meanwhile.
    """
    digest = hashlib.blake2b(supply.tiles.stored.digest.encode(), digest_size=16)
    values = LandValues(supply)
    for number in sorted(map(int, supply.tiles.edits.edited)):
        tile, first = values.tile(number), supply.tiles.stored.read(number)
        for kind in KINDS:
            own, unedited = np.array(tile.values(kind, _ALL)), first.values(kind, _ALL)
            if earlier is not None:
                earlier(number, kind, own)
            if not np.array_equal(own, unedited, equal_nan=kind == "heights"):
                digest.update(json.dumps([number, kind]).encode())
                digest.update(own.astype(DTYPES[kind]).tobytes())
    return digest.hexdigest()

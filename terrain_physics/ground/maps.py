"""The maps of a ground, alone or united, and the table by which kernels know them."""

import operator
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels.types import Bytes, Int64s
from terrain_physics.ground.map_set import MapSet
from terrain_physics.ground.materials import GroundMaterials
from terrain_physics.heightmap.solid.side_table import SideTable
from terrain_physics.heightmap.solid.sides import NEIGHBOR_GAP, bounds_of
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.heightmap.tiled import TiledMap
from terrain_physics.surface.ground_arrays import (
    NO_MAPS,
    NO_MESHES,
    NO_MOVERS,
    NOTHING,
    GroundArrays,
    MapMaterials,
    map_rows,
)
from terrain_physics.surface.materials import MOST_MATERIALS


class MapMember(NamedTuple):
    """One map, or several maps that are united.

    Attributes
    ----------
    source : SolidMap
        Of the map itself, or of the union.
    union : TiledMap or None
        The same as one map, if there are several.
    parts : ndarray of int64, shape (k,)
        The numbers of the maps, ascending.
    named : ndarray of uint8, shape (k, 256), or None
        The ground's number for each material of each map; None if they are the same.
    layers : int
        Of each of the maps, a bit for each.
    """

    source: SolidMap
    union: TiledMap | None
    parts: Int64s
    named: Bytes | None
    layers: int

    @property
    def first(self) -> int:
        """The lowest number."""
        return int(self.parts[0])

    @property
    def made_of(self) -> MapMaterials | None:
        """The materials, as they are now; None: all are 0."""
        made = self.source.storage.materials
        if made is None and self.named is None:
            return None
        return MapMaterials(made, self.parts, self.named)


class _Shown(NamedTuple):
    """The maps as `MapSet.shown` counted them, and what they were: another one for each change.

    Attributes
    ----------
    version : int
    maps : list of MapMember
    arrays : list
        Of each its arrays, then of each its materials.
    table : ndarray of int64
        See `map_rows`.
    made_of : list of MapMaterials or None
    """

    version: int
    maps: list[MapMember]
    arrays: list[Any]
    table: Int64s
    made_of: list[MapMaterials | None]


class GroundMaps:
    """The maps of a ground: those on the same layers are united.

    Parameters
    ----------
    united : MapSet
        All of them.

    Attributes
    ----------
    members : list of MapMember
        In the order of their first numbers; a new list whenever maps come or go.
    shown : _Shown
        As kernels knew them last.
    alone : tuple of (_Shown, GroundArrays)
        Arrays of the maps without any meshes, and what they show.
    sides : SideTable
        Those of all maps, as shown.
    """

    __slots__ = ("_set", "_solids", "alone", "members", "shown", "sides")

    def __init__(self, united: MapSet) -> None:
        self._set, self.members = united, list[MapMember]()
        self._solids: dict[TiledMap, SolidMap] = {}
        self.shown = _Shown(-1, [], [], NO_MAPS, [])
        self.alone, self.sides = (self.shown, NOTHING), SideTable.empty()

    # Maps that come and go: the caller holds the lock of the ground

    def settle(
        self, maps: Mapping[int, SolidMap], layers: Mapping[int, int], materials: GroundMaterials
    ) -> None:
        """Unite maps, by their numbers, and put them beside each other."""
        self._set.settle()
        found: list[tuple[SolidMap, TiledMap | None, tuple[int, ...]]]
        if len(maps) == 1:  # a single map keeps its border
            self._solids = {}
            found = [(source, None, (number,)) for number, source in maps.items()]
        else:
            before, self._solids = self._solids, {}
            for _, terrain in self._set.unions:
                self._solids[terrain] = before.get(terrain) or SolidMap(terrain)
            found = [
                (self._solids[terrain], terrain if len(numbers) > 1 else None, numbers)
                for numbers, terrain in self._set.unions
            ]
        members = [_member(*own, layers, materials) for own in found]
        if len(maps) > 1:
            _put_beside(members)
        self.members = members

    def name(self, layers: Mapping[int, int], materials: GroundMaterials) -> None:
        """Give materials the numbers that the ground has for them."""
        self.members = [
            _member(*own[:2], tuple(own.parts.tolist()), layers, materials) for own in self.members
        ]

    def forget(self) -> None:
        """Show all anew: parts have come or gone, meshes too."""
        self.shown = self.shown._replace(version=-1)

    def depths(self) -> dict[int, float]:
        """Return how deep each map is solid, by number."""
        depths = [member.source.storage.thickness for member in self.members]
        return {
            number: depth
            for member, depth in zip(self.members, depths, strict=True)
            for number in member.parts.tolist()
        }

    def numbers(self) -> list[int]:
        """Return the numbers of the maps."""
        return [number for member in self.members for number in member.parts.tolist()]

    # For kernels

    def is_shown(self, shown: _Shown) -> bool:
        """Tell whether these are the maps as they are now, sides included."""
        maps = self._set
        return shown is self.shown and shown.version == maps.shown and not maps.reader.changed

    def table(self) -> Int64s:
        """Return the table of all maps, the same one while their arrays are where they were.

        The caller holds the lock of the ground.
        """
        (version, members, arrays, table, made_of), latest = self.shown, self._set.shown
        if version != latest:
            storages = [member.source.storage for member in self.members]
            views = [storage.views for storage in storages]
            now = [*views, *(storage.materials for storage in storages)]
            if members is not self.members or not all(map(operator.is_, now, arrays)):
                numbers = [member.parts for member in self.members]
                table = map_rows(views, numbers, [member.layers for member in self.members])
                made_of = [member.made_of for member in self.members]
            self._show_sides()
            # Last: who was interrupted shows it again.
            self.shown = _Shown(latest, self.members, now, table, made_of)
        return table

    def _show_sides(self) -> None:
        """Put the sides of all maps, as they are now, in one table."""
        found = [(own.first, own.layers, own.source.sides.now()) for own in self.members]
        self.sides = self.sides.with_meshes(
            {
                (number, layers, k): patch.storage
                for number, layers, mesh in found
                if mesh is not None
                for k, patch in mesh.patches.items()
            }
        )

    def show_alone(self) -> None:
        """Have the arrays of the maps alone as they are now; the caller holds the lock."""
        maps, sides = self.table(), self.sides
        made_of = self.shown.made_of
        arrays = GroundArrays(maps, NO_MESHES, NO_MOVERS, sides.view, made_of, sides.find_skins)
        self.alone = self.shown, arrays


def _member(
    source: SolidMap,
    union: TiledMap | None,
    numbers: tuple[int, ...],
    layers: Mapping[int, int],
    materials: GroundMaterials,
) -> MapMember:
    named = [materials.named(number) for number in numbers]
    table = None
    if any(row is not None for row in named):
        same = np.arange(MOST_MATERIALS, dtype=np.uint8)
        table = np.stack([same if row is None else row for row in named])
    return MapMember(source, union, np.array(numbers), table, layers[numbers[0]])


def _put_beside(members: list[MapMember]) -> None:
    """Tell maps of others on the same layers that may go on behind their borders."""
    lowers, uppers = np.swapaxes([bounds_of(own.source.storage) for own in members], 0, 1)
    for member, lower, upper in zip(members, lowers, uppers, strict=True):
        near = (lowers <= upper + NEIGHBOR_GAP) & (uppers >= lower - NEIGHBOR_GAP)
        around = [members[k] for k in np.flatnonzero(near.all(axis=1)).tolist()]
        member.source.put_beside(
            [
                other.source.storage
                for other in around
                if other is not member and other.layers == member.layers
            ]
        )

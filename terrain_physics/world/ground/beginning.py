"""The ground of a world as it was when the world was made or loaded."""

import hashlib
import json
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap import grid
from terrain_physics.character.placement import AnyGround
from terrain_physics.ground.ground import Ground, parts_of
from terrain_physics.ground.saved import saved_part
from terrain_physics.heightmap.framed import KINDS
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.surface.surface import Surface, queries_of
from terrain_physics.tiles.tiled_ground import TILES, supply_of
from terrain_physics.world.ground.first_values import FirstLandValues, FirstValues


def storage_of(part: Surface) -> Any:
    """Return the arrays of a map or a mesh."""
    queries: Any = queries_of(part)
    return queries.storage


class Beginning:
    """A ground at the beginning of a world, put together from copies of what was edited since.

    Attributes
    ----------
    parts : dict of int to HeightMap, TriangleMesh and LatticeMap
        By key; 0 for a ground that is one of these, and for the land of a `TiledGround`.
    layout : list, or None
        Keys, layers, names, scales and the next key; None for a map or a mesh by itself.
    maps : dict of int to FirstValues
    meshes : dict of int to Mesh
        The arrays that meshes had.
    land : FirstLandValues, or None
        Of a `TiledGround`, one of the maps.
    """

    __slots__ = ("_digest", "land", "layout", "maps", "meshes", "parts")

    def __init__(self, ground: AnyGround) -> None:
        self.land: FirstLandValues | None = None
        self.layout: Any = None
        self.maps: dict[int, FirstValues] = {}
        self.meshes: dict[int, Any] = {}
        self._digest = ""
        held, supply = parts_of(ground), supply_of(ground)
        if held is None:
            self._watch({0: ground})
            return
        with held.followed:
            self.layout = layout_of(held.layout())
            if supply is not None:
                self.land = self.maps[TILES] = FirstLandValues(supply)
            self._watch(cast("Ground", ground).parts)

    def _watch(self, parts: Any) -> None:
        """Begin to watch the maps of a ground."""
        self.parts = self.with_land(parts)
        for key, part in parts.items():
            storage = storage_of(part)
            if isinstance(storage, MapStorage):
                self.maps[key] = FirstValues(storage)
            else:
                self.meshes[key] = storage.arrays

    def with_land(self, parts: Any) -> dict[int, Any]:
        """Return parts of the ground, with its land if it has one."""
        return parts.copy() if self.land is None else {TILES: self.land.terrain, **parts}

    def digest(self) -> str:
        """Return 32 hexadecimal digits of all parts; found once, some 10 ms for a million samples.

        Of a land of tiles, those that were edited are read. Thickness, layers and places are not in
        it: states have them.
        """
        if not self._digest:
            digest = hashlib.blake2b(digest_size=16)
            if self.land is not None:
                digest.update(self.land.digest().encode())
            for key in [*self.parts][self.land is not None :]:
                about, arrays = self._map(key) if key in self.maps else self._mesh(key)
                shapes = [values.shape for values in arrays]
                digest.update(json.dumps([key, about, shapes]).encode())
                for values in arrays:
                    digest.update(np.ascontiguousarray(values).data)
            self._digest = digest.hexdigest()
        return self._digest

    def _map(self, key: int) -> tuple[Any, list[NDArray[Any]]]:
        own = self.maps[key]
        storage: Any = own.terrain
        with storage.lock:
            arrays = [own.first(kind) for kind in KINDS]
            header = saved_part(storage).header
            if header["diagonal"] is None:
                arrays.append(storage.cells & np.uint8(grid.CELL_FLIPPED))
        return _about(header), arrays

    def _mesh(self, key: int) -> tuple[Any, list[NDArray[Any]]]:
        storage, arrays = storage_of(self.parts[key]), self.meshes[key]
        found: list[NDArray[Any]] = [arrays.vertices, arrays.faces]
        if storage.materials is not None:
            found.append(storage.materials)
        return _about(saved_part(storage).header), found


def layout_of(kept: Any) -> list[Any]:
    """Return which parts there are, as JSON gives it back."""
    keys = [*kept.sources]
    layers = [kept.layers[key] for key in keys]
    names = {str(key): name for key, name in kept.names.items()}
    scales = {str(key): scale for key, scale in kept.scales.items()}
    return [keys, layers, names, scales, kept.next_number]


def _about(header: dict[str, Any]) -> dict[str, Any]:
    """Return what a header says that states do not."""
    left_out = {"version", "thickness", "thickens"}
    return {name: value for name, value in header.items() if name not in left_out}

"""The ground of a world as it was when the world was made or loaded.

A watcher hears of each edit of a map before it writes (`prepare`), and copies each block that it
has not copied yet. So what was there at the beginning can be put together again at any time.
"""

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap import grid
from terrain_physics.character.placement import AnyGround
from terrain_physics.ground.ground import Ground, saved_part
from terrain_physics.heightmap.cells import Region
from terrain_physics.heightmap.framed import KINDS
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.surface.surface import Surface, queries_of
from terrain_physics.tiles.tiled_ground import TiledGround
from terrain_physics.world.ground.edited_land import BLOCK, Block, EditedLand, place_of, shape_of


def values_of(storage: MapStorage, kind: str, place: Any) -> NDArray[Any]:
    """Return samples, marks of holes or materials at a place of a map, as files hold them."""
    found: NDArray[Any]
    if kind == "heights":
        found = storage.heights[place]
        return found
    if kind == "holes":
        found = storage.hole_marks(place).astype(np.uint8)
        return found
    found = storage.material_numbers(place)
    return found


class EditedBlocks:
    """The blocks of a map that were edited since this was made; a watcher of its storage.

    Attributes
    ----------
    storage : MapStorage
    before : dict of str to dict of (int, int) to ndarray
        By kind and block, what was there before the first edit.
    solid_depth : tuple of (float, bool)
        That of the map at that moment: see `MapStorage`.
    """

    __slots__ = ("__weakref__", "_seen", "before", "solid_depth", "storage")

    def __init__(self, storage: MapStorage) -> None:
        self.storage = storage
        with storage.lock:
            self.solid_depth = storage.solid_depth
            self.before: dict[str, dict[Block, NDArray[Any]]] = {kind: {} for kind in KINDS}
            self._seen = {
                kind: np.zeros([-(-n // BLOCK) for n in shape_of(storage, kind)], np.bool_)
                for kind in KINDS
            }
            storage.watchers.add(self, 0)

    def tell(self, number: int, what: str, *details: Any) -> None:
        """Hear of an edit: `prepare` has heard of it."""

    def prepare(self, number: int, what: str, region: Region) -> None:  # noqa: ARG002
        """Keep what an edit is about to change in a region of cells."""
        if what not in self._seen:
            return
        more = what == "heights"  # the samples around cells are one more in a row
        rows = slice(region[0] // BLOCK, (region[1] - 1 + more) // BLOCK + 1)
        columns = slice(region[2] // BLOCK, (region[3] - 1 + more) // BLOCK + 1)
        seen = self._seen[what][rows, columns]
        if seen.all():
            return
        shape, before = shape_of(self.storage, what), self.before[what]
        for row, column in np.argwhere(~seen).tolist():
            block = rows.start + row, columns.start + column
            before[block] = np.array(values_of(self.storage, what, place_of(block, shape)))
        seen[...] = True

    def first(self, kind: str) -> NDArray[Any]:
        """Return all that was there at that moment, a new array. The caller holds the lock."""
        found = np.array(values_of(self.storage, kind, ...))
        for block, values in self.before[kind].items():
            found[place_of(block, found.shape)] = values
        return found


def storage_of(part: Surface) -> Any:
    """Return the arrays of a map or a mesh."""
    queries: Any = queries_of(part)
    return queries.storage


class Beginning:
    """A ground at the beginning of a world, put together from copies of what was edited since.

    Attributes
    ----------
    parts : dict of int to HeightMap and TriangleMesh
        By key; 0 for a ground that is one of these.
    layout : tuple, or None
        Keys, layers, names, scales and the next key; None for a map or a mesh by itself.
    maps : dict of int to EditedBlocks
    meshes : dict of int to Mesh
        The arrays that meshes had.
    land : EditedLand, or None
        The land of a `TiledGround`, of key 0, which is none of the parts.
    """

    __slots__ = ("_digest", "land", "layout", "maps", "meshes", "parts")

    def __init__(self, ground: AnyGround) -> None:
        self.land: EditedLand | None = None
        if isinstance(ground, Ground):
            held = ground._held  # noqa: SLF001
            with held.followed:
                self.parts: dict[int, Any] = dict(ground.parts)
                self.layout: Any = layout_of(held.layout())
                self._watch()
                if isinstance(ground, TiledGround):
                    self.land = EditedLand(ground._supply)  # noqa: SLF001
        else:
            self.parts, self.layout = {0: ground}, None
            self._watch()
        self._digest = ""

    def _watch(self) -> None:
        storages = {key: storage_of(part) for key, part in self.parts.items()}
        self.maps = {k: EditedBlocks(s) for k, s in storages.items() if isinstance(s, MapStorage)}
        self.meshes = {k: s.arrays for k, s in storages.items() if isinstance(s, MeshStorage)}

    def digest(self) -> str:
        """Return 32 hexadecimal digits of all parts; found once, some 10 ms for a million samples.

        Of a land of tiles, those that were edited are read. Thickness, layers and places are not in
        it: states have them.
        """
        if not self._digest:
            digest = hashlib.blake2b(digest_size=16)
            if self.land is not None:
                digest.update(self.land.digest().encode())
            for key in self.parts:
                about, arrays = self._map(key) if key in self.maps else self._mesh(key)
                shapes = [values.shape for values in arrays]
                digest.update(json.dumps([key, about, shapes]).encode())
                for values in arrays:
                    digest.update(np.ascontiguousarray(values).data)
            self._digest = digest.hexdigest()
        return self._digest

    def _map(self, key: int) -> tuple[Any, list[NDArray[Any]]]:
        own = self.maps[key]
        storage = own.storage
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
    keys = [*kept.queries]
    layers = [kept.layers[key] for key in keys]
    names = {str(key): name for key, name in kept.names.items()}
    scales = {str(key): scale for key, scale in kept.scales.items()}
    return [keys, layers, names, scales, kept.next_number]


def _about(header: dict[str, Any]) -> dict[str, Any]:
    """Return what a header says that states do not."""
    left_out = {"version", "thickness", "thickens"}
    return {name: value for name, value in header.items() if name not in left_out}

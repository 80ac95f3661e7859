"""The ground of a world as it was when the world was made or loaded."""

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap import grid
from terrain_physics.character.placement import AnyGround
from terrain_physics.ground.ground import Ground, saved_part
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.surface.surface import Surface, queries_of
from terrain_physics.world.blocks import KINDS, EditedBlocks


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
        Keys, layers, names and the next key; None for a map or a mesh by itself.
    maps : dict of int to EditedBlocks
    meshes : dict of int to Mesh
        The arrays that meshes had.
    """

    __slots__ = ("_digest", "layout", "maps", "meshes", "parts")

    def __init__(self, ground: AnyGround) -> None:
        if isinstance(ground, Ground):
            held = ground._held  # noqa: SLF001
            with held.followed:
                self.parts: dict[int, Any] = dict(ground.parts)
                self.layout: Any = layout_of(held.layout())
                self._watch()
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

        Thickness, layers and places are not in it: states have them.
        """
        if not self._digest:
            digest = hashlib.blake2b(digest_size=16)
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
    return [keys, layers, names, kept.next_number]


def _about(header: dict[str, Any]) -> dict[str, Any]:
    """Return what a header says that states do not."""
    left_out = {"version", "thickness", "thickens"}
    return {name: value for name, value in header.items() if name not in left_out}

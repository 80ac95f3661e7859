"""The meshes of a ground in one table, which follows them as they come, go and are refitted."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.mesh.parts import ID_BITS, material_of, put_materials
from terrain_physics._kernels.types import Bytes, Longs
from terrain_physics._locks import Rank, new_lock
from terrain_physics.ground.materials import GroundMaterials
from terrain_physics.mesh.meshes import Meshes
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.mesh.table import MeshTable
from terrain_physics.surface.results import Triangles
from terrain_physics.surface.watching import Watch

_MATERIAL = CachedDispatch(material_of)


class _Asked:
    """Holds the lock of the meshes for a short query, and gives their table as it is now."""

    __slots__ = ("_meshes",)

    def __init__(self, meshes: "GroundMeshes") -> None:
        self._meshes = meshes

    def __enter__(self) -> Longs:
        meshes = self._meshes
        meshes.lock.__enter__()
        return meshes.followed().view

    def __exit__(self, *error: object) -> None:
        self._meshes.lock.__exit__(None, None, None)


class GroundMeshes(Meshes):
    """The meshes of a ground by their numbers; ids and materials are the ground's.

    Attributes
    ----------
    lock : context manager
        Held by short queries, and by who changes which meshes there are.
    """

    __slots__ = (
        "_asked", "_named", "_readers",
        "_seen", "_storages", "_table", "_version", "_watch",
        "_without_skin", "lock",
    )  # fmt: skip

    lock: AbstractContextManager[Any]

    def __init__(self) -> None:
        self.lock = new_lock(Rank.MESHES)
        self._table = MeshTable()
        self._storages: dict[int, MeshStorage] = {}
        self._named: dict[int, Bytes | None] = {}
        self._watch = Watch()
        self._without_skin: set[int] = set()
        self._seen: dict[int, int] = {}
        self._readers = self._version = 0
        self._asked = _Asked(self)

    def __len__(self) -> int:
        return len(self._storages)

    # Changes: each is made by a holder of the lock

    @property
    def first(self) -> int:
        """The lowest number, 0 without meshes."""
        return next(iter(self._storages), 0)

    @property
    def layers(self) -> int:
        """All layers that a mesh is on."""
        return self._table.layers

    def add(self, number: int, storage: MeshStorage, named: Bytes | None, layers: int) -> None:
        """Add a mesh, whose number is higher than any before.

        ``named`` (256,) are the numbers that the ground has for its materials, if they differ.
        """
        self._prepare_edit().put_as(number, storage.table, named, layers)
        self._named[number] = named
        self._storages[number] = storage
        storage.watchers.add(self._watch, number)
        self._without_skin.add(number)
        self._count(number)

    def remove(self, number: int) -> None:
        """Remove a mesh."""
        self._prepare_edit().remove(number)
        self._storages.pop(number).watchers.remove(self._watch)
        del self._named[number]
        self._without_skin.discard(number)
        self._watch.changed.discard(number)
        del self._seen[number]

    def set_layers(self, number: int, layers: int) -> None:
        """Put a mesh on other layers."""
        self._prepare_edit().set_layers(number, layers)

    def name_materials(self, materials: GroundMaterials) -> None:
        """Give materials the numbers that the ground has for them."""
        for number in self._storages:
            named = materials.named(number)
            if named is not self._named.get(number):
                self._named[number] = named
                self._put_again(number)

    def followed(self) -> MeshTable:
        """Return the table, as it is after the refits of the meshes."""
        while self._watch.changed:
            number = self._watch.changed.pop()
            self._put_again(number)
            self._count(number)
        return self._table

    def _count(self, number: int) -> None:
        """Count the refits of a mesh that have not been seen yet."""
        now = self._storages[number].version
        self._version += now - self._seen.get(number, 0)
        self._seen[number] = now

    def _put_again(self, number: int) -> None:
        storage, named = self._storages[number], self._named.get(number)
        self._prepare_edit().replace(number, storage.table, named)
        self._without_skin.add(number)

    def _prepare_edit(self) -> MeshTable:
        """Return the table to write to; a long query keeps the one it has."""
        if self._readers:
            self._table, self._readers = self._table.copy(), 0
        return self._table

    # What queries ask: see `Meshes`

    @property
    def asked(self) -> AbstractContextManager[Longs]:
        return self._asked

    @property
    def swept(self) -> AbstractContextManager[Longs]:
        self._grow_skins()
        return self._asked

    @property
    def reading(self) -> AbstractContextManager[Longs]:
        return self._reading()

    @property
    def reading_to_sweep(self) -> AbstractContextManager[Longs]:
        self._grow_skins()
        return self._reading()

    def _grow_skins(self) -> None:
        """Find how the triangles of new meshes hang together."""
        with self.lock:
            table = self.followed()
            for number in self._without_skin:
                table.put_skin(number, self._storages[number].neighbors)
            self._without_skin.clear()

    @contextmanager
    def _reading(self) -> Iterator[Longs]:
        with self.lock:
            table = self.followed()
            self._readers += 1
        try:
            yield table.view
        finally:
            with self.lock:
                if table is self._table:
                    self._readers -= 1

    def material_of(self, triangle: int) -> int:
        with self._asked as table:
            return int(_MATERIAL.call(table, triangle))

    def materials_of(self, triangles: Longs) -> Bytes:
        found = np.empty(len(triangles), np.uint8)
        with self._asked as table:
            put_materials(table, triangles, found)
        return found

    def triangles(self, ids: Longs) -> Triangles:
        vertices, normals = np.empty((len(ids), 3, 3)), np.empty((len(ids), 3))
        numbers = ids >> ID_BITS
        for number in np.unique(numbers).tolist():
            rows = numbers == number
            own = self._storages[number].triangles(ids[rows] & ((1 << ID_BITS) - 1))
            vertices[rows], normals[rows] = own.vertices, own.normals
        return Triangles(vertices, normals, ids)

    @property
    def triangle_count(self) -> int:
        return sum(storage.triangle_count for storage in self._storages.values())

    @property
    def version(self) -> int:
        """The number of refits, those of meshes that are gone included."""
        with self.lock:
            self.followed()
            return self._version

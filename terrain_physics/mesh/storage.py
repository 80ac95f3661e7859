"""The storage of a triangle mesh: vertices, faces, the tree over them, and derived values."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels._quick import slots, tell_of
from terrain_physics._kernels.mesh.adjacency import Neighbors
from terrain_physics._kernels.mesh.parts import INSIDE_OUT, SIDE, SKIN
from terrain_physics._kernels.mesh.queries import face_normals
from terrain_physics._kernels.mesh.tree import Mesh, bounds_in, build_mesh, refit_mesh
from terrain_physics._kernels.types import Bytes, Floats, Int32s, Int64s
from terrain_physics._locks import Mark
from terrain_physics._support.interruptions import carried_out
from terrain_physics.geometry.shapes import Sphere
from terrain_physics.mesh.closed import facing_of
from terrain_physics.mesh.table import MeshTable
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import NO_MAPS, NOTHING, GroundArrays
from terrain_physics.surface.materials import Names
from terrain_physics.surface.naming import Naming, naming_of
from terrain_physics.surface.queries import Askable, Queries
from terrain_physics.surface.watching import Watchers

_NO_LOCK = nullcontext()  # arrays never change
_NORMALS = CachedDispatch(face_normals)

_Answer = TypeVar("_Answer")


class MeshStorage(Askable):
    """The arrays of a mesh. No array is ever changed: `refit` makes new ones.

    Attributes
    ----------
    arrays : Mesh
        All of them; read-only.
    table : MeshTable
        Of this mesh alone, with the number 0.
    changes : ChangeLog
        The places of the latest refits.
    watchers : Watchers
        They are told of each refit.
    version : int
        How many times `refit` has moved the vertices.
    materials : ndarray of uint8, shape (n,), or None
        Of the faces; read-only. None: all 0.
    material_names : tuple of str, or None
        The names of materials 0, 1, ...
    solid : bool
        Whether the mesh is solid, and no skin.
    facing : int
        How it faces: see `terrain_physics._kernels.mesh.parts`.
    """

    __slots__ = (
        "__weakref__",
        "_normals",
        "_shown",
        "_side_ids",
        "_sphere",
        "_uses_all",
        "arrays",
        "changes",
        "facing",
        "material_names",
        "materials",
        "naming",
        "solid",
        "table",
        "version",
        "watchers",
    )

    changes: ChangeLog
    version: int
    naming: Naming
    material_names: Names

    _normals: Floats | None
    _sphere: Sphere | None

    def __init__(
        self,
        vertices: Floats,
        faces: Int32s,
        version: int = 0,
        order: Int32s | None = None,
        materials: Bytes | None = None,
        material_names: tuple[str, ...] | None = None,
        *,
        solid: bool = False,
        side_ids: Int64s | None = None,
    ) -> None:
        """Take over checked, read-only arrays; ``order`` is that of the tree of a copy.

        A mesh that is ``solid`` is known to be closed. Sides of a map have ``side_ids`` (3 n,): the
        ids of the first n faces, then their cells. The rest are ghosts: faces of other meshes at
        the edges of these. They are neighbors, and nothing else.
        """
        self.materials, self.material_names, self.solid = materials, material_names, solid
        self.naming = naming_of(material_names)
        self._side_ids = side_ids
        self._uses_all = side_ids is None and _uses_all(vertices, faces)
        self._shown, self.watchers = NOTHING, Watchers()
        self.changes = ChangeLog(version)
        own = faces if side_ids is None else faces[: len(side_ids) // 3]
        self._adopt(build_mesh(vertices, own, order)._replace(faces=faces), version)

    def _adopt(self, arrays: Mesh, version: int) -> None:
        self.facing = SKIN if self._side_ids is None else SIDE
        if self.solid:
            self.facing = facing_of(arrays.vertices, arrays.faces)
        table = MeshTable()
        uses_all = self._uses_all
        table.put(0, arrays, self.materials, self.facing, self._side_ids, uses_all=uses_all)
        self.arrays, self.table = arrays, table
        self._normals = self._sphere = None
        self.version = version  # last: arrays seen with a version are of that version or later

    def refit(self, vertices: Floats) -> None:
        """Move the vertices."""
        self.put_back(refit_mesh(self.arrays, vertices))

    def put_back(self, arrays: Mesh) -> None:
        """Take over arrays with the same faces, such as those before a refit."""
        self.watchers.prepare("vertices")
        version = self.version + 1
        for each in (self.arrays, arrays):
            self.changes.note(version, *bounds_in(each.frame))

        def adopt() -> None:
            self._adopt(arrays, version)
            self.watchers.tell("vertices")

        carried_out(adopt)

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return sum(values.nbytes for values in self.arrays)

    @property
    def normals(self) -> Floats:
        """The unit normals (n, 3) of the faces' fronts, found on first use."""
        if self._normals is None:
            self._normals = _NORMALS.call(self.arrays.corners, self.arrays.order)
            self._normals.setflags(write=False)
        return self._normals

    @property
    def outward_faces(self) -> Int32s:
        """The faces (n, 3), turned if the mesh is solid and was given inside out."""
        faces = self.arrays.faces
        return faces[:, [0, 2, 1]] if self.facing == INSIDE_OUT else faces

    @property
    def neighbors(self) -> Neighbors:
        """The faces across edges and the vertices around vertices, found on first use."""
        return self.table.neighbors()

    @property
    def bounding_sphere(self) -> Sphere:
        """The smallest sphere around all faces, found on first use."""
        from terrain_physics.geometry.enclosing_sphere import smallest_enclosing_sphere

        if self._sphere is None:
            used = np.unique(self.arrays.faces)
            self._sphere = smallest_enclosing_sphere(self.arrays.vertices[used])
        return self._sphere

    # For queries

    @property
    def lock(self) -> AbstractContextManager[Any]:
        return _NO_LOCK

    @property
    def storage(self) -> "MeshStorage":
        return self

    def begin_asking(self, mark: Mark) -> GroundArrays:  # noqa: ARG002
        return self.ground_arrays

    def answer(self, mask: int, ask: Callable[..., _Answer], *about: Any) -> _Answer:  # noqa: ARG002
        return ask(self.ground_arrays, *about)  # arrays never change

    @property
    def ground_arrays(self) -> GroundArrays:
        arrays, table = self._shown, self.table
        if arrays.meshes is not table.view:
            self._shown = arrays = GroundArrays(NO_MAPS, table.view, find_skins=table.neighbors)
        return arrays

    @property
    def triangle_count(self) -> int:
        return len(self.arrays.order)


def _uses_all(vertices: Floats, faces: Int32s) -> bool:
    """Tell whether each vertex is one of a face."""
    return bool(np.bincount(faces.ravel(), minlength=len(vertices)).all())


# Whoever edits `answer` of meshes, or what a mesh by itself shows, edits `_build/quick/` too.
tell_of(
    "meshes",
    *(Queries, *slots(Queries, "source"), MeshStorage),
    *(*slots(MeshStorage, "_shown", "table"), *slots(MeshTable, "view")),
    *slots(GroundArrays, "meshes"),
)

"""What a triangle mesh holds: vertices, faces, the tree over them, and who may read them when."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics._checks import Floats3
from terrain_physics._kernels.mesh.adjacency import Neighbors, find_neighbors
from terrain_physics._kernels.mesh.queries import face_normals
from terrain_physics._kernels.mesh.tree import Mesh, build_mesh, refit_mesh
from terrain_physics.geometry.shapes import AABB, Sphere
from terrain_physics.mesh.batches import checked_vertices
from terrain_physics.surface.ground_arrays import GroundArrays


class MeshData:
    """The arrays of a mesh; `terrain_physics.TriangleMesh` is made of it."""

    __slots__ = ("_ground_arrays", "_mesh", "_neighbors", "_normals", "_sphere", "_version")

    _neighbors: Neighbors | None
    _normals: NDArray[np.float64] | None
    _sphere: Sphere | None

    def _adopt(self, mesh: Mesh, version: int) -> None:
        self._mesh, self._version = mesh, version
        self._ground_arrays = GroundArrays(
            mesh=(mesh.corners, mesh.order, mesh.boxes, mesh.children, mesh.frame)
        )
        self._neighbors = self._normals = self._sphere = None

    @property
    def vertices(self) -> NDArray[np.float64]:
        """The vertices (v, 3) in meters; read-only."""
        return self._mesh.vertices

    @property
    def faces(self) -> NDArray[np.int32]:
        """The rows of ``vertices`` of each face (n, 3); read-only."""
        return self._mesh.faces

    @property
    def normals(self) -> NDArray[np.float64]:
        """The unit normals (n, 3) of the faces' fronts, +Y without area; read-only."""
        if self._normals is None:
            self._normals = face_normals(self._mesh.corners, self._mesh.order)
            self._normals.setflags(write=False)
        return self._normals

    @property
    def bounds(self) -> AABB:
        """The smallest box around all faces."""
        corners = self._mesh.corners.reshape(-1, 3)
        return AABB(corners.min(axis=0), corners.max(axis=0))

    @property
    def bounding_sphere(self) -> Sphere:
        """The smallest ball around all faces."""
        from terrain_physics.geometry.enclosing_sphere import smallest_enclosing_sphere

        if self._sphere is None:
            self._sphere = smallest_enclosing_sphere(self.vertices[np.unique(self.faces)])
        return self._sphere

    @property
    def neighbors(self) -> Neighbors:
        """What lies across each edge and around each vertex; read-only, found on first use.

        The arrays ``welded``, ``across``, ``ring_offsets`` and ``ring``; vertices at one position
        count as one.
        """
        if self._neighbors is None:
            self._neighbors = find_neighbors(self._mesh.vertices, self._mesh.faces)
        return self._neighbors

    @property
    def version(self) -> int:
        """How many times `refit` has moved the vertices."""
        return self._version

    @property
    def kernel_arrays(self) -> Mesh:
        """What the compiled functions take for a mesh. Read-only."""
        return self._mesh

    @property
    def ground_arrays(self) -> GroundArrays:
        """What characters stand on."""
        return self._ground_arrays

    @property
    def lock(self) -> AbstractContextManager[None]:
        """Nothing to wait for: `refit` makes new arrays."""
        return nullcontext()

    @contextmanager
    def standing(self) -> Iterator[GroundArrays]:
        """Give what characters stand on to a long query; it stays as it is."""
        yield self._ground_arrays

    def triangle_at(self, _part: int, face: int, _point: Floats3) -> tuple[int, int]:
        """Return the id and the material of a triangle that a kernel names."""
        return (face if 0 <= face < len(self.faces) else -1), 0

    def refit(self, vertices: ArrayLike) -> None:
        """Move the vertices; faces stay. Not while another thread asks.

        The answers are those of a new mesh, which answers sooner if the shape is quite another.

        Parameters
        ----------
        vertices : array_like, shape (v, 3)
            All of them, in meters; copied.

        Raises
        ------
        TypeError, ValueError
            As for `TriangleMesh`, and for another number of vertices.
        """
        places = checked_vertices(vertices)
        if len(places) != len(self.vertices):
            raise ValueError(
                f"vertices must have {len(self.vertices)} rows as before, got {len(places)}"
            )
        self._adopt(refit_mesh(self._mesh, places), self._version + 1)

    def __len__(self) -> int:
        return len(self.faces)

    def __repr__(self) -> str:
        return f"<TriangleMesh: {len(self)} faces, {len(self.vertices)} vertices>"

    def __getstate__(self) -> tuple[Any, ...]:
        return self.vertices, self.faces, self._version

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        vertices, faces, version = state
        for values in (vertices, faces):
            values.setflags(write=False)  # kernels know one type only
        self._adopt(build_mesh(vertices, faces), version)

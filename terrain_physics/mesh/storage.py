"""What a triangle mesh holds: vertices, faces, the tree over them, and what follows from them."""

import numpy as np

from terrain_physics._kernels.mesh.adjacency import Neighbors, find_neighbors
from terrain_physics._kernels.mesh.queries import face_normals
from terrain_physics._kernels.mesh.tree import Mesh, build_mesh, refit_mesh
from terrain_physics._kernels.types import Bytes, Floats, Ints
from terrain_physics.geometry.shapes import Sphere
from terrain_physics.surface.ground_arrays import GroundArrays


class MeshStorage:
    """The arrays of a mesh. Nothing is written to: `refit` makes new ones.

    Attributes
    ----------
    arrays : Mesh
        What kernels take; read-only.
    ground_arrays : GroundArrays
        What characters stand on.
    version : int
        How many times `refit` has moved the vertices.
    materials : ndarray of uint8, shape (n,), or None
        Of the faces; read-only. None: all 0.
    material_names : tuple of str, or None
        The names of materials 0, 1, ...
    """

    __slots__ = (
        "_neighbors",
        "_normals",
        "_sphere",
        "arrays",
        "ground_arrays",
        "material_names",
        "materials",
        "version",
    )

    _neighbors: Neighbors | None
    _normals: Floats | None
    _sphere: Sphere | None

    def __init__(
        self,
        vertices: Floats,
        faces: Ints,
        version: int = 0,
        order: Ints | None = None,
        materials: Bytes | None = None,
        material_names: tuple[str, ...] | None = None,
    ) -> None:
        """Take over checked, read-only arrays; ``order`` is that of the tree of a copy."""
        self.materials, self.material_names = materials, material_names
        self._adopt(build_mesh(vertices, faces, order), version)

    def _adopt(self, arrays: Mesh, version: int) -> None:
        self.arrays = arrays
        self.ground_arrays = GroundArrays(
            mesh=(arrays.corners, arrays.order, arrays.boxes, arrays.children, arrays.frame)
        )
        self._neighbors = self._normals = self._sphere = None
        self.version = version  # last: arrays seen with a version are of that version or later

    def refit(self, vertices: Floats) -> None:
        """Move the vertices."""
        self._adopt(refit_mesh(self.arrays, vertices), self.version + 1)

    @property
    def normals(self) -> Floats:
        """The unit normals (n, 3) of the faces' fronts, found on first use."""
        if self._normals is None:
            self._normals = face_normals(self.arrays.corners, self.arrays.order)
            self._normals.setflags(write=False)
        return self._normals

    @property
    def neighbors(self) -> Neighbors:
        """What lies across each edge and around each vertex, found on first use."""
        if self._neighbors is None:
            self._neighbors = find_neighbors(self.arrays.vertices, self.arrays.faces)
        return self._neighbors

    @property
    def bounding_sphere(self) -> Sphere:
        """The smallest sphere around all faces, found on first use."""
        from terrain_physics.geometry.enclosing_sphere import smallest_enclosing_sphere

        if self._sphere is None:
            used = np.unique(self.arrays.faces)
            self._sphere = smallest_enclosing_sphere(self.arrays.vertices[used])
        return self._sphere

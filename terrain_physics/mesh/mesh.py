"""Triangle meshes."""

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics import _checks
from terrain_physics._checks import MOST_RESULTS
from terrain_physics._kernels.mesh import intersections
from terrain_physics._kernels.mesh.adjacency import Neighbors
from terrain_physics._kernels.types import Longs
from terrain_physics._public import public
from terrain_physics._threads import Workers
from terrain_physics.geometry.shapes import AABB, Sphere
from terrain_physics.mesh.checks import checked_faces, checked_materials, checked_vertices
from terrain_physics.mesh.queries import MeshQueries
from terrain_physics.mesh.saved import KIND, mesh_state, saved_mesh
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.surface.ground_files import damaged_otherwise, load_parts, save_parts
from terrain_physics.surface.surface import Surface


@public
class TriangleMesh(Surface):
    """Triangles that share vertices, prepared for many questions.

    A face's index is its id. Triangles are two-sided surfaces, closed at their edges: touching
    counts. If several faces answer equally well, the lowest index wins. A shape is pushed out, or
    stopped, on the side it is on, and may leave on that side.

    Parameters
    ----------
    vertices : array_like, shape (v, 3)
        In meters, below 1e38 m; copied. Not every one need be used. Rays and closest points are
        right where lengths that are not zero are above 1e-70 m.
    faces : array_like of integers, shape (n, 3), n >= 1
        Rows of ``vertices``, counter-clockwise seen from the front; copied. A face without area is
        the segment or the point it is, with the normal +Y.
    materials : array_like of whole numbers from 0 to 255, or of names, shape (n,), optional
        What the faces are made of; by default all 0. Copied. One for all faces will do.
    material_names : sequence of str, optional
        The names of materials 0, 1, ...; then there are no others.

    Raises
    ------
    TypeError
        If ``vertices`` holds no real numbers, ``faces`` no integers or ``materials`` no whole
        numbers.
    ValueError
        For other shapes, vertices that are not finite, faces with vertices that do not exist and
        materials that there are not; the message names the first one.

    Examples
    --------
    >>> mesh = TriangleMesh([(0, 0, 0), (0, 0, 4), (4, 0, 0), (4, 2, 4)], [(0, 1, 2), (1, 3, 2)])
    >>> mesh
    <TriangleMesh: 2 faces, 4 vertices>
    >>> mesh.height_at(1, 1), mesh.height_at(3, 3)
    (0.0, 1.0)
    >>> from terrain_physics import Ray
    >>> mesh.raycast(Ray((1, 5, 1), (0, -1, 0)))
    RayHit(distance=5.0, point=vec3( 1, 0, 1 ), normal=vec3( 0, 1, 0 ), triangle=0, material=0)
    >>> mesh.closest_point((-3, 4, 1))
    ClosestPoint(point=vec3( 0, 0, 1 ), distance=5.0, triangle=0, material=0)
    >>> mesh.contacts([(1, -0.5, 1, 1), (1, 9, 1, 1)]).penetration
    array([[ 0. , -0.5,  0. ]])
    >>> bridge = TriangleMesh(
    ...     mesh.vertices, mesh.faces, materials=["wood", "rail"], material_names=["wood", "rail"]
    ... )
    >>> bridge.material_names[bridge.raycast(Ray((3, 5, 3), (0, -1, 0))).material]
    'rail'
    """

    __slots__ = ("_storage",)

    _storage: MeshStorage

    def __init__(
        self,
        vertices: ArrayLike,
        faces: ArrayLike,
        *,
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
    ) -> None:
        places = checked_vertices(vertices)
        rows = checked_faces(faces, len(places))
        made_of, names = checked_materials(materials, material_names, len(rows))
        self._adopt(MeshStorage(places, rows, materials=made_of, material_names=names))

    def _adopt(self, storage: MeshStorage) -> None:
        self._storage, self._queries = storage, MeshQueries(storage)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return a mesh that `save` wrote: equal answers, to the last bit.

        Parameters
        ----------
        path : path
            The file.

        Raises
        ------
        FileNotFoundError, ValueError
            If there is none, if it is damaged or holds something else, and for more than 2 GiB
            unpacked, before that is read; the message names the file.
        """
        (part,), _ = load_parts(path, KIND)
        mesh = cls.__new__(cls)
        with damaged_otherwise(path):
            mesh.__setstate__(mesh_state(part))
        return mesh

    # What it is

    @property
    def vertices(self) -> NDArray[np.float64]:
        """The vertices (v, 3) in meters; read-only."""
        return self._storage.arrays.vertices

    @property
    def faces(self) -> NDArray[np.int32]:
        """The rows of ``vertices`` of each face (n, 3); read-only."""
        return self._storage.arrays.faces

    @property
    def materials(self) -> NDArray[np.uint8]:
        """What the faces are made of (n,); read-only."""
        made_of = self._storage.materials
        return np.broadcast_to(np.uint8(0), len(self)) if made_of is None else made_of

    @property
    def material_names(self) -> tuple[str, ...] | None:
        """The names of materials 0, 1, ..., if they have any."""
        return self._storage.material_names

    @property
    def normals(self) -> NDArray[np.float64]:
        """The unit normals (n, 3) of the faces' fronts, +Y without area; read-only."""
        return self._storage.normals

    @property
    def bounds(self) -> AABB:
        """The smallest box around all faces."""
        corners = self._storage.arrays.corners.reshape(-1, 3)
        return AABB(corners.min(axis=0), corners.max(axis=0))

    @property
    def bounding_sphere(self) -> Sphere:
        """The smallest sphere around all faces."""
        return self._storage.bounding_sphere

    @property
    def neighbors(self) -> Neighbors:
        """What lies across each edge and around each vertex; read-only, found on first use.

        The arrays ``welded``, ``across``, ``ring_offsets`` and ``ring``; vertices at one position
        count as one.
        """
        return self._storage.neighbors

    def __len__(self) -> int:
        return len(self.faces)

    def __repr__(self) -> str:
        return f"<TriangleMesh: {len(self)} faces, {len(self.vertices)} vertices>"

    def refit(self, vertices: ArrayLike) -> None:
        """Move the vertices; faces stay. Not while another thread queries the mesh.

        Answers equal those of a new mesh. After a large change of shape a new mesh is faster to
        query.

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
        self._storage.refit(places)

    # Meshes that cross

    def intersecting_pairs(
        self,
        other: "TriangleMesh",
        *,
        threads: int | None = None,
        max_results: int = MOST_RESULTS,
    ) -> NDArray[np.int64]:
        """Return which triangles of this mesh touch or cross which of another.

        Parameters
        ----------
        other : TriangleMesh
            Its vertices are in the same coordinates.
        threads : int, optional
            How many threads; None: one for each processor. The results are the same.
        max_results : int, default 20 million
            More pairs than this are refused before memory is gone.

        Returns
        -------
        ndarray of int64, shape (m, 2)
            Faces of this mesh and of the other, sorted. Exact: every touching pair is listed, and
            no other.

        Raises
        ------
        TypeError
            If ``other`` is not a `TriangleMesh`.
        ValueError
            If ``threads`` is not at least 1, and for more pairs than ``max_results``.
        """
        _checks.instance("other", other, TriangleMesh)
        most = _checks.most_results(max_results)
        ours, theirs = self._storage.arrays, other._storage.arrays  # noqa: SLF001 of its own kind
        return _few(intersections.touching_pairs(Workers(threads).run, ours, theirs, most), most)

    def self_intersections(
        self, *, threads: int | None = None, max_results: int = MOST_RESULTS
    ) -> NDArray[np.int64]:
        """Return which triangles of the mesh meet where they should not.

        Vertices at one position count as one, so that seams are no intersections. Faces i and j

        - without a common vertex meet if they touch;
        - with one common vertex, if the side of one face opposite to it touches the other face;
        - with two, if they lie in one plane and overlap: folded back onto each other;
        - with three, always: they are the same triangle.

        Parameters
        ----------
        threads : int, optional
            How many threads; None: one for each processor. The results are the same.
        max_results : int, default 20 million
            More pairs than this are refused before memory is gone.

        Returns
        -------
        ndarray of int64, shape (m, 2)
            Faces i < j, sorted. Exact: every such pair is listed, and no other.

        Raises
        ------
        ValueError
            If ``threads`` is not at least 1, and for more pairs than ``max_results``.
        """
        most = _checks.most_results(max_results)
        arrays, welded = self._storage.arrays, self.neighbors.welded
        return _few(intersections.self_pairs(Workers(threads).run, arrays, welded, most), most)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file for `load`: vertices, faces, materials, names and version.

        It is a zip archive of arrays and JSON, described in ``surface/ground_files.py``.

        Parameters
        ----------
        path : path
            An existing file is replaced only when the new one is complete.

        Raises
        ------
        TypeError, ValueError
            If ``path`` is not a path that the system takes, and for more than 2 GiB.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> mesh = TriangleMesh([(0, 0, 0), (0, 0, 4), (4, 0, 0)], [(0, 1, 2)], materials=7)
        >>> with tempfile.TemporaryDirectory() as name:
        ...     mesh.save(Path(name) / "plank.ground")
        ...     print(TriangleMesh.load(Path(name) / "plank.ground").materials)
        [7]
        """
        save_parts(path, KIND, [saved_mesh(self._storage)], [0])

    def __getstate__(self) -> tuple[Any, ...]:
        storage, arrays = self._storage, self._storage.arrays
        tree = arrays.vertices, arrays.faces, self.version, arrays.order
        return *tree, storage.materials, storage.material_names

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        # Older pickles end before the order or before the materials.
        for values in state:
            if isinstance(values, np.ndarray):
                values.setflags(write=False)  # kernels know one type only
        self._adopt(MeshStorage(*state))


def _few(pairs: Longs | None, most: int) -> Longs:
    """Return pairs; refuse them if there are too many."""
    if pairs is None:
        raise _checks.too_many("pairs", most)
    return pairs

"""Triangles as others take them: arrays of renderers, and objects of trimesh."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap.surface_mesh import put_vertex_normals
from terrain_physics._kernels.types import Floats, Int64s, read_only
from terrain_physics._public import public
from terrain_physics._support.checks import Floats3
from terrain_physics.surface.axes import AnyAxes, frame_of


@public
class MeshArrays(NamedTuple):
    """Triangles as a renderer's buffers take them, in the axes that were asked for.

    Attributes
    ----------
    vertices : ndarray of float32, shape (v, 3)
        In meters.
    normals : ndarray of float32, shape (v, 3)
        Unit, the mean of the faces around each vertex by their area; up where there is none.
    indices : ndarray of uint32, shape (3 n,)
        Rows of ``vertices``, three for each triangle, counter-clockwise seen from the front, which
        of a map is above.
    """

    vertices: NDArray[np.float32]
    normals: NDArray[np.float32]
    indices: NDArray[np.uint32]


def mesh_arrays_of(places: Floats, faces: Int64s, origin: Floats3, axes: AnyAxes) -> MeshArrays:
    """Return triangles, relative to an origin; what is not there has NaN, and no faces."""
    turn = frame_of(axes).from_ours
    return MeshArrays(
        turn.rows(np.nan_to_num(places - origin)).astype(np.float32),
        turn.rows(vertex_normals(places, faces)).astype(np.float32),
        faces.astype(np.uint32).ravel(),
    )


def vertex_normals(places: Floats, faces: Int64s) -> Floats:
    """Return the mean of the normals of the faces around each vertex, by area."""
    sums, normals = np.empty_like(places), np.zeros_like(places)
    corners, triangles = read_only(places, faces)
    put_vertex_normals(corners, triangles, sums, normals)
    return normals


def made_trimesh(vertices: Floats, faces: Int64s, normals: Floats | None = None) -> Any:
    """Return a trimesh.Trimesh of vertices (v, 3), faces (n, 3) and normals (v, 3), unchanged."""
    try:
        import trimesh
    except ImportError as error:
        raise ImportError(
            "to_trimesh needs trimesh: pip install trimesh", name="trimesh"
        ) from error
    return trimesh.Trimesh(vertices, faces, vertex_normals=normals, process=False)

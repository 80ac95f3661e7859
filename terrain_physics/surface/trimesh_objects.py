"""Meshes as objects of trimesh, which is imported on demand."""

from typing import Any

from terrain_physics._kernels.types import Floats, Int64s


def made_trimesh(vertices: Floats, faces: Int64s, normals: Floats | None = None) -> Any:
    """Return a trimesh.Trimesh of vertices (v, 3), faces (n, 3) and normals (v, 3), unchanged."""
    try:
        import trimesh
    except ImportError as error:
        raise ImportError(
            "to_trimesh needs trimesh: pip install trimesh", name="trimesh"
        ) from error
    return trimesh.Trimesh(vertices, faces, vertex_normals=normals, process=False)

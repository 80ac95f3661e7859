"""Triangle meshes to and from files.

The header: ``material_names`` and ``version``, and ``solid`` of a mesh that is. The arrays:
``vertices``, ``faces``, ``order`` (of the tree, which need not be sorted anew) and, where there are
any, ``materials``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support import checks
from terrain_physics.mesh.checks import (
    checked_faces,
    checked_materials,
    checked_solid,
    checked_vertices,
)
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.surface.ground_files import MOST_EDITS, SavedPart

KIND = "mesh"


def saved_mesh(storage: MeshStorage) -> SavedPart:
    """Return the saved form of a mesh."""
    version, tree = storage.version, storage.arrays
    header: dict[str, Any] = {
        "kind": KIND,
        "material_names": storage.material_names,
        "version": version,
    }
    if storage.solid:
        header["solid"] = True
    arrays: dict[str, NDArray[Any]] = {
        "vertices": tree.vertices,
        "faces": tree.faces,
        "order": tree.order,
    }
    if storage.materials is not None:
        arrays["materials"] = storage.materials
    return SavedPart(header, arrays)


def mesh_state(saved: SavedPart) -> tuple[Any, ...]:
    """Return a checked state of a saved mesh, as `TriangleMesh` unpickles it."""
    header, arrays = saved
    vertices = checked_vertices(arrays["vertices"])
    faces = checked_faces(arrays["faces"], len(vertices))
    order = arrays["order"].astype(np.int32)
    if not np.array_equal(np.sort(order), np.arange(len(faces))):
        raise ValueError("order must hold each face once")
    version = checks.whole("version", header["version"], 0, MOST_EDITS)
    made_of = checked_materials(arrays.get("materials"), header["material_names"], len(faces))
    solid = checked_solid(header.get("solid", False), vertices, faces)
    return vertices, faces, version, order, *made_of, solid

"""Checks of a mesh's arguments: they become checked arrays, or a clear error."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._kernels.types import Bytes, Floats, Int32s
from terrain_physics._support import checks
from terrain_physics.mesh.closed import refuse_open
from terrain_physics.surface.axes import AnyAxes, frame_of
from terrain_physics.surface.limits import refuse_far
from terrain_physics.surface.materials import checked_names, material_rows


def checked_vertices(vertices: ArrayLike, axes: AnyAxes = "y-up") -> Floats:
    """Return a read-only copy of vertices (v, 3), in the library's axes."""
    turn = frame_of(axes).to_ours
    places = turn.rows(checks.points("vertices", vertices))
    refuse_far("vertices", places)
    places.setflags(write=False)
    return places


def checked_faces(faces: ArrayLike, count: int) -> Int32s:
    """Return a read-only copy of faces (n, 3) with ``count`` vertices."""
    checks.refuse_masked("faces", faces)
    try:
        rows = checks.copied("faces", faces)
    except ValueError:
        raise ValueError("faces must be an array of integers with rows of one length") from None
    if rows.ndim != 2 or rows.shape[1] != 3 or len(rows) == 0:
        raise ValueError(f"faces must have shape (n, 3), n >= 1, got {rows.shape}")
    if rows.dtype.kind not in "iu":
        raise TypeError(f"faces must hold integers, got dtype {rows.dtype}")
    bad = ((rows < 0) | (rows >= count)).any(axis=1)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"faces[{row}] must hold vertices from 0 to {count - 1}, got {rows[row].tolist()}"
        )
    result = rows.astype(np.int32, order="C")
    result.setflags(write=False)
    return result


def checked_materials(
    materials: ArrayLike | None, names: Sequence[str] | None, count: int
) -> tuple[Bytes | None, tuple[str, ...] | None]:
    """Return a read-only copy of the materials of ``count`` faces, and their names."""
    known = None if names is None else checked_names(names)
    if materials is None:
        return None, known
    made_of = material_rows(materials, (count,), names=known)
    made_of.setflags(write=False)
    return made_of, known


def checked_solid(solid: Any, vertices: Floats, faces: Int32s) -> bool:
    """Return whether a mesh is to be solid; refuse one that is not closed."""
    if not isinstance(solid, (bool, np.bool_)):
        raise TypeError(f"solid must be True or False, got {checks.shorten(solid)}")
    if solid:
        refuse_open("faces must be closed to be solid", vertices, faces)
    return bool(solid)


def vertices_and_faces(mesh: Any) -> tuple[ArrayLike, ArrayLike]:
    """Return vertices and faces of a mesh of another library, unchecked."""
    try:
        return mesh.vertices, mesh.faces
    except AttributeError:
        raise TypeError(
            "mesh must have vertices and faces, as a trimesh.Trimesh has (scene.to_mesh() makes "
            f"one of a trimesh.Scene), got {checks.shorten(mesh)}"
        ) from None

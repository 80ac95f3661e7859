"""Meshes moved and joined: how levels are put together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from terrain_physics._kernels.types import Bytes, Floats, Int32s, Int64s
from terrain_physics._support import checks
from terrain_physics._support.matrices import mirroring
from terrain_physics.surface.limits import refuse_far_row
from terrain_physics.surface.materials import Names, joined_numbers


def moved(
    name: str, matrix: Any, vertices: Floats, faces: Int32s | Int64s
) -> tuple[Floats, Int32s | Int64s]:
    """Return vertices and faces moved by an affine matrix, fronts on the side they were on."""
    linear, translation = checks.affine(name, matrix)
    refuse_far_row(name, [*linear.ravel().tolist(), *translation])
    if mirroring(linear) == 0:
        raise ValueError(f"{name} must be invertible, got {checks.shorten(linear.tolist())}")
    return _mapped(linear, np.array(translation), vertices, faces)


def displaced(matrix: Floats, vertices: Floats, faces: Int64s) -> tuple[Floats, Int32s | Int64s]:
    """Return the same for a matrix (4, 4) of another program, which may flatten."""
    return _mapped(matrix[:3, :3], matrix[:3, 3], vertices, faces)


def _mapped(
    linear: Floats, translation: Floats, vertices: Floats, faces: Int32s | Int64s
) -> tuple[Floats, Int32s | Int64s]:
    x, y, z = (vertices[:, [axis]] for axis in range(3))
    # No product of matrices: it may fuse additions, which gives other bits on other processors.
    places = x * linear[:, 0] + y * linear[:, 1] + z * linear[:, 2] + translation
    return places, faces[:, [0, 2, 1]] if mirroring(linear) < 0 else faces


def placed(
    solid: tuple[Floats, Int64s], position: Any, transform: Any
) -> tuple[Floats, Int32s | Int64s]:
    """Return the vertices and faces of a maker, put at a position or moved by a matrix."""
    if position is None:
        return solid if transform is None else moved("transform", transform, *solid)
    if transform is not None:
        raise ValueError(
            "position must be left out where there is a transform, which has a translation, "
            f"got {checks.shorten(position)}"
        )
    place = checks.vector("position", position)
    refuse_far_row("position", place)
    vertices, faces = solid
    return vertices + place, faces


def joined(
    meshes: Sequence[tuple[Floats, Int32s | Int64s]],
) -> tuple[Floats, Int32s | Int64s]:
    """Return the vertices and the faces of all, in order."""
    firsts = np.cumsum([0] + [len(vertices) for vertices, _ in meshes[:-1]], dtype=np.int32)
    faces = [rows + first for (_, rows), first in zip(meshes, firsts, strict=True)]
    return np.concatenate([vertices for vertices, _ in meshes]), np.concatenate(faces)


def joined_materials(
    meshes: Sequence[tuple[Bytes | None, int]], names: Sequence[Names]
) -> Bytes | None:
    """Return the materials of all faces, given those and the count of each; None: all are 0."""
    numbers = joined_numbers(names)
    if numbers is None and all(materials is None for materials, _ in meshes):
        return None
    rows = [np.zeros(count, np.uint8) if own is None else own for own, count in meshes]
    if numbers is not None:
        rows = [number[row] for number, row in zip(numbers, rows, strict=True)]
    return np.concatenate(rows)

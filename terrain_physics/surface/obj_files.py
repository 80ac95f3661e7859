"""Triangle meshes as Wavefront .obj files, for other programs."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

import numpy as np

from terrain_physics._kernels.math.decimal import powers_of_ten
from terrain_physics._kernels.surface.obj_text import (
    LONGEST_FACE,
    LONGEST_POINT,
    put_faces,
    put_points,
)
from terrain_physics._kernels.types import Bytes, Floats, Int64s, read_only
from terrain_physics._support import checks
from terrain_physics._support.files import file_name, written_whole
from terrain_physics._support.threads import Workers

_ROWS_AT_ONCE = 1 << 15  # a few megabytes of text
# Rough costs of a line, in nanoseconds.
_POINT_COST, _FACE_COST = 250, 80


def write_obj(path: str | os.PathLike[str], vertices: Any, faces: Any, normals: Any = None) -> None:
    """Write a triangle mesh as a Wavefront .obj file.

    Coordinates are written so that reading them gives the same bits. The text is written in pieces,
    so a large mesh needs little memory; the file appears only when it is complete.

    Parameters
    ----------
    path : str or os.PathLike
        The file; an existing one is replaced.
    vertices : array_like, shape (n, 3)
        Corners in meters.
    faces : array_like of integers, shape (m, 3)
        Rows of ``vertices``, from 0, counter-clockwise seen from the front.
    normals : array_like, shape (n, 3), optional
        One for each vertex.

    Raises
    ------
    ValueError
        For other shapes, non-finite numbers and faces that name no vertex.
    TypeError
        If the path, the numbers or the faces have the wrong type.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "floor.obj"
    >>> write_obj(path, [(0, 0, 0), (0, 0, 4), (4, 0, 0)], [(0, 1, 2)])
    >>> print(path.read_text())
    v 0.0 0.0 0.0
    v 0.0 0.0 4.0
    v 4.0 0.0 0.0
    f 1 2 3
    <BLANKLINE>
    """
    name = file_name(path)
    corners = checks.points("vertices", vertices)
    rows = _checked_faces(faces, len(corners))
    if normals is not None:
        directions = checks.points("normals", normals)
        if len(directions) != len(corners):
            raise ValueError(
                f"normals must be one for each vertex, got {len(directions)} for {len(corners)}"
            )
    with written_whole(name) as file:
        _write_points(file, corners, is_normal=False)
        if normals is not None:
            _write_points(file, directions, is_normal=True)
        _write_faces(file, rows, with_normals=normals is not None)


def _write_points(file: BinaryIO, points: Floats, *, is_normal: bool) -> None:
    bits, powers = points.view(np.int64), powers_of_ten()

    def lines(start: int, first: int, last: int) -> Bytes:
        text = np.empty((last - first) * LONGEST_POINT, dtype=np.uint8)
        return text[: put_points(bits, powers, start + first, start + last, is_normal, text)]

    _write(file, lines, len(points), _POINT_COST)


def _write_faces(file: BinaryIO, faces: Int64s, *, with_normals: bool) -> None:
    def lines(start: int, first: int, last: int) -> Bytes:
        text = np.empty((last - first) * LONGEST_FACE, dtype=np.uint8)
        return text[: put_faces(faces, start + first, start + last, with_normals, text)]

    _write(file, lines, len(faces), _FACE_COST)


def _write(file: BinaryIO, lines: Callable[[int, int, int], Bytes], count: int, cost: int) -> None:
    """Write the lines of all rows, a limited number at a time."""
    for start in range(0, count, _ROWS_AT_ONCE):
        rows = min(_ROWS_AT_ONCE, count - start)
        file.writelines(text.data for text in Workers().each(partial(lines, start), rows, cost))


def _checked_faces(faces: Any, count: int) -> Int64s:
    """Return faces (m, 3) whose numbers are all from 0 to count - 1; read-only."""
    try:
        rows = checks.copied("faces", faces)
    except ValueError:
        raise ValueError("faces must be an array of integers with rows of one length") from None
    if rows.size == 0 and rows.ndim <= 2:
        rows = np.empty((0, 3), np.int64)
    if rows.dtype.kind not in "iu":
        raise TypeError(f"faces must hold integers, got dtype {rows.dtype}")
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ValueError(f"faces must have shape (n, 3), got {rows.shape}")
    bad = np.argwhere((rows < 0) | (rows >= count))
    if len(bad):
        row, column = (int(i) for i in bad[0])
        raise ValueError(
            f"faces must be from 0 to {count - 1}, got {rows[row, column]} at [{row}, {column}]"
        )
    (result,) = read_only(np.ascontiguousarray(rows, np.int64))
    return result

"""Triangle meshes as Wavefront .obj files, for other programs."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _checks
from terrain_physics._files import file_name, written_whole

_ROWS_AT_ONCE = 1 << 15  # a few megabytes of text


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
    corners = _checks.points("vertices", vertices)
    rows = _checked_faces(faces, len(corners))
    parts = [("v %r %r %r\n", corners)]
    face = "f %d %d %d\n"
    if normals is not None:
        directions = _checks.points("normals", normals)
        if len(directions) != len(corners):
            raise ValueError(
                f"normals must be one for each vertex, got {len(directions)} for {len(corners)}"
            )
        parts.append(("vn %r %r %r\n", directions))
        face = "f %d//%d %d//%d %d//%d\n"
    with written_whole(name) as file:
        for line, values in parts:
            for first in range(0, len(values), _ROWS_AT_ONCE):
                some = values[first : first + _ROWS_AT_ONCE] + 0.0  # never "-0"
                file.write((line * len(some) % tuple(some.ravel().tolist())).encode())
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            numbers = rows[first : first + _ROWS_AT_ONCE].astype(np.int64) + 1
            if normals is not None:
                numbers = np.repeat(numbers, 2, axis=1)
            file.write((face * len(numbers) % tuple(numbers.ravel().tolist())).encode())


def _checked_faces(faces: Any, count: int) -> NDArray[np.integer[Any]]:
    """Return faces (m, 3) whose numbers are all from 0 to count - 1."""
    try:
        rows = _checks.copied(faces)
    except ValueError:
        raise ValueError("faces must be an array of integers with rows of one length") from None
    if rows.size == 0 and rows.ndim <= 2:
        return np.empty((0, 3), np.int64)
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
    return rows

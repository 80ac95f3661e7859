"""Vectors, rotations and matrices of other libraries, made anew with other numbers.

A game gets values back in the type that it uses. A value is written in place if a call of its type
with numbers does not make one: structs of raylib, for example.
"""

import math
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from pyglm import glm

from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks


def remade_vector(old: Any, numbers: Sequence[float]) -> Any:
    """Return numbers in the type of an old vector; TypeError if that is not made from numbers."""
    if isinstance(old, np.ndarray):
        return _filled(old, numbers)
    if hasattr(old, "_make"):  # a named tuple
        return old._make(numbers)
    if isinstance(old, (tuple, list)):
        return type(old)(numbers)
    return type(old)(*numbers)


def remade_matrix(old: Any, matrix: Floats) -> Any:
    """Return a square matrix in the type of an old one; TypeError if that takes no numbers.

    A flat matrix has its numbers column by column.
    """
    by_columns = matrix.T.ravel().tolist()
    if isinstance(old, np.ndarray) and old.ndim == 2:
        return _filled(old, matrix.T if checks.is_for_row_vectors(old) else matrix)
    if isinstance(old, np.ndarray):
        return _filled(old, by_columns)
    if hasattr(old, "m15"):
        for index, number in enumerate(by_columns):
            setattr(old, f"m{index}", number)
        return old
    if not isinstance(old, (tuple, list)):
        return type(old)(*by_columns)
    if len(old) != len(matrix):
        return remade_vector(old, by_columns)
    lines = matrix.T if checks.holds_columns(old) else matrix
    rows = [remade_vector(own, line) for own, line in zip(old, lines.tolist(), strict=True)]
    return type(old)(rows)


def remade_rotation(old: Any, axes: Floats) -> Any:
    """Return a rotation (3, 3) as a quaternion or a matrix in the type of an old one."""
    if not hasattr(old, "w"):
        return remade_matrix(old, axes)
    numbers = _quaternion(axes)
    if isinstance(old, (glm.quat, glm.dquat)) or hasattr(old, "setR"):  # of Panda3D
        return type(old)(*numbers)
    parts = dict(zip("wxyz", numbers, strict=True))
    if hasattr(old, "_replace"):  # a named tuple
        return old._replace(**parts)
    try:
        new = copy(old)
    except TypeError:  # a struct of raylib
        new = old
    put_parts(new, parts)
    return new


def _quaternion(axes: Floats) -> list[float]:
    """Return the unit quaternion w, x, y, z of a rotation, by its largest part (Shepperd, 1978).

    The order of operations is that of PyGLM.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = axes.tolist()
    squares = xx + yy + zz, xx - yy - zz, yy - xx - zz, zz - xx - yy  # four times, less 1
    table = (
        (0.0, zy - yz, xz - zx, yx - xy),
        (zy - yz, 0.0, xy + yx, xz + zx),
        (xz - zx, xy + yx, 0.0, yz + zy),
        (yx - xy, xz + zx, yz + zy, 0.0),
    )  # each part times the largest one
    largest = squares.index(max(squares))
    size = 0.5 * math.sqrt(1.0 + squares[largest])
    numbers = [part * (0.25 / size) for part in table[largest]]
    numbers[largest] = size
    return numbers


def put_parts(target: Any, parts: dict[str, float]) -> None:
    """Write attributes that an object has; AttributeError if it has none, or they are read-only."""
    for name, number in parts.items():
        getattr(target, name)
        setattr(target, name, number)


def _filled(old: Any, numbers: Any) -> Any:
    """Return a new array with other numbers, of the subclass that the old one is of."""
    new = old.astype(old.dtype if old.dtype.kind == "f" else np.float64)
    new[...] = numbers
    return new

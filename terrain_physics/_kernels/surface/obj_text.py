"""Rows of numbers as the lines of a Wavefront .obj file."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.decimal import LONGEST, put_float, put_whole
from terrain_physics._kernels.types import Bytes, Int64s

_SPACE, _LINE_FEED, _SLASH, _V, _N, _F = 32, 10, 47, 118, 110, 102

LONGEST_POINT = 3 + 3 * (LONGEST + 1)
"""The most bytes of a line of three floats."""

LONGEST_FACE = 2 + 3 * (2 * 19 + 3)
"""The most bytes of a line of three corners."""


@kernel
def put_points(
    bits: Int64s, powers: Int64s, first: int, last: int, is_normal: bool, text: Bytes
) -> int:
    """Write rows [first, last) of points (n, 3); return how many bytes of text were used.

    ``bits`` are those of finite floats, ``powers`` are `powers_of_ten`. ``text`` needs room for
    `LONGEST_POINT` a row.
    """
    end = 0
    for row in range(first, last):
        text[end] = _V
        end += 1
        if is_normal:
            text[end] = _N
            end += 1
        for axis in range(3):
            text[end] = _SPACE
            end = put_float(int(bits[row, axis]), powers, text, end + 1)
        text[end] = _LINE_FEED
        end += 1
    return end


@kernel
def put_faces(faces: Int64s, first: int, last: int, with_normals: bool, text: Bytes) -> int:
    """Write rows [first, last) of faces (n, 3), counted from 0; return how many bytes were used.

    ``text`` needs room for `LONGEST_FACE` a row. Normals have the numbers of their vertices.
    """
    end = 0
    for row in range(first, last):
        text[end] = _F
        end += 1
        for k in range(3):
            number = int(faces[row, k]) + 1
            text[end] = _SPACE
            end = put_whole(number, text, end + 1)
            if with_normals:
                text[end] = text[end + 1] = _SLASH
                end = put_whole(number, text, end + 2)
        text[end] = _LINE_FEED
        end += 1
    return end

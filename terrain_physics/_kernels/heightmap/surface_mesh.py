"""The surface of a map as a mesh: the triangles of its cells, and normals of its corners."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import CELL_FLIPPED, CELL_HOLE, half_corners
from terrain_physics._kernels.math.rows import row3
from terrain_physics._kernels.math.vec3 import cross, length, subtract
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s


@kernel(inline=True)
def _has_ground(samples: Float32s, bits: Bytes, row: int, column: int) -> bool:
    if bits[row, column] & CELL_HOLE != 0:
        return False
    for corner in range(4):
        if math.isnan(samples[row + corner // 2, column + corner % 2]):
            return False
    return True


@kernel
def put_triangles(samples: Float32s, bits: Bytes, faces: Int64s) -> int:
    """Write the triangles of the cells that have ground, by id; return how many there are.

    ``faces`` (2 n, 3) has room for those of all n cells: rows of the samples, one after another.
    """
    rows, columns = bits.shape
    wide = columns + 1
    count = 0
    for row in range(rows):
        for column in range(columns):
            if not _has_ground(samples, bits, row, column):
                continue
            flipped = bits[row, column] & CELL_FLIPPED != 0
            first = row * wide + column
            for half in range(2):
                ra, ca, rb, cb, rc, cc = half_corners(flipped, half)
                faces[count, 0] = first + ra * wide + ca
                faces[count, 1] = first + rb * wide + cb
                faces[count, 2] = first + rc * wide + cc
                count += 1
    return count


@kernel
def put_vertex_normals(places: Floats, faces: Int64s, sums: Floats, normals: Floats) -> None:
    """Write the mean normal of the faces (n, 3) around each vertex (v, 3), by area; +Y for none.

    ``sums`` (v, 3) is working memory, ``normals`` (v, 3) all zeros.
    """
    # Each vertex adds up the faces of which it is the first corner, then the second, then the last.
    for k in range(3):
        for vertex in range(len(places)):
            for axis in range(3):
                sums[vertex, axis] = 0.0
        for face in range(len(faces)):
            a = row3(places, int(faces[face, 0]))
            b = row3(places, int(faces[face, 1]))
            c = row3(places, int(faces[face, 2]))
            product = cross(subtract(b, a), subtract(c, a))
            vertex = int(faces[face, k])
            for axis in range(3):
                sums[vertex, axis] += product[axis]
        for vertex in range(len(places)):
            for axis in range(3):
                normals[vertex, axis] += sums[vertex, axis]
    for vertex in range(len(places)):
        size = length(row3(normals, vertex))
        if size == 0.0:
            normals[vertex, 0], normals[vertex, 1], normals[vertex, 2] = 0.0, 1.0, 0.0
        else:
            for axis in range(3):
                normals[vertex, axis] /= size

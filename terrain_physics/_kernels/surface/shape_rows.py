"""Shapes as rows of float64 numbers, whatever they are, and whether one touches a triangle.

Rows lie one behind the other: balls x, y, z, radius; capsules both ends and the radius; boxes
center, half extents and rotation row by row. A kernel takes one array for each kind, and None for
the other kinds: what is for those is then not even compiled.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.capsule_triangle import capsule_triangle
from terrain_physics._kernels.geometry.obb_triangle import obb_triangle
from terrain_physics._kernels.geometry.sphere_triangle import sphere_triangle
from terrain_physics._kernels.math.vec3 import Mat3, Vec3
from terrain_physics._kernels.types import Floats

# Widths of the rows.
BALL, CAPSULE, BOX = 4, 7, 15

Rows = Floats | None


@kernel(inline=True)
def row_vector(bodies: Floats, i: int) -> Vec3:
    """Return three numbers from place i on."""
    return (float(bodies[i]), float(bodies[i + 1]), float(bodies[i + 2]))


@kernel(inline=True)
def row_matrix(bodies: Floats, i: int) -> Mat3:
    """Return nine numbers from place i on."""
    return (
        float(bodies[i]),
        float(bodies[i + 1]),
        float(bodies[i + 2]),
        float(bodies[i + 3]),
        float(bodies[i + 4]),
        float(bodies[i + 5]),
        float(bodies[i + 6]),
        float(bodies[i + 7]),
        float(bodies[i + 8]),
    )


@kernel(inline=True)
def bounds_of(balls: Rows, capsules: Rows, boxes: Rows, who: int) -> tuple[Vec3, Vec3]:
    """Return (lower, upper) of a shape."""
    if balls is not None:
        x, y, z = row_vector(balls, BALL * who)
        radius = float(balls[BALL * who + 3])
        return (x - radius, y - radius, z - radius), (x + radius, y + radius, z + radius)
    if capsules is not None:
        x, y, z = row_vector(capsules, CAPSULE * who)
        u, v, w = row_vector(capsules, CAPSULE * who + 3)
        radius = float(capsules[CAPSULE * who + 6])
        return (
            (min(x, u) - radius, min(y, v) - radius, min(z, w) - radius),
            (max(x, u) + radius, max(y, v) + radius, max(z, w) + radius),
        )
    if boxes is not None:
        x, y, z = row_vector(boxes, BOX * who)
        half, m = row_vector(boxes, BOX * who + 3), row_matrix(boxes, BOX * who + 6)
        wide = abs(m[0]) * half[0] + abs(m[1]) * half[1] + abs(m[2]) * half[2]
        tall = abs(m[3]) * half[0] + abs(m[4]) * half[1] + abs(m[5]) * half[2]
        deep = abs(m[6]) * half[0] + abs(m[7]) * half[1] + abs(m[8]) * half[2]
        return (x - wide, y - tall, z - deep), (x + wide, y + tall, z + deep)
    return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


@kernel(apart=True)
def touches(
    balls: Rows, capsules: Rows, boxes: Rows, who: int, a: Vec3, b: Vec3, c: Vec3, faces: Floats
) -> bool:
    """Tell whether a shape touches a triangle, by the function of that pair."""
    touching = False
    if balls is not None:
        i = BALL * who
        touching, _ = sphere_triangle(row_vector(balls, i), float(balls[i + 3]), a, b, c, False)
    if capsules is not None:
        i = CAPSULE * who
        start, end = row_vector(capsules, i), row_vector(capsules, i + 3)
        touching, _ = capsule_triangle(start, end, float(capsules[i + 6]), a, b, c, False)
    if boxes is not None:
        i = BOX * who
        center, half = row_vector(boxes, i), row_vector(boxes, i + 3)
        turn = row_matrix(boxes, i + 6)
        touching, _ = obb_triangle(center, half, turn, a, b, c, False, faces)
    return touching

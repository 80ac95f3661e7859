"""What is told of the touch of a shape and a triangle: penetration, its direction, a point.

The bits are those of the function of that pair. Shapes are rows, see `shape_rows.py`.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.capsule_triangle import capsule_triangle
from terrain_physics._kernels.geometry.closest_point import closest_on_triangle, triangle_normal
from terrain_physics._kernels.geometry.obb_triangle import obb_contact
from terrain_physics._kernels.geometry.sphere_triangle import (
    APART,
    IN_DOUBT,
    ball_at_origin,
    ball_on_edge,
)
from terrain_physics._kernels.geometry.triangle_segment import nearest_to_segment
from terrain_physics._kernels.math.vec3 import Vec3, add, length, scale, subtract
from terrain_physics._kernels.surface.shape_rows import BALL, BOX, CAPSULE, row_matrix, row_vector
from terrain_physics._kernels.types import Floats


@kernel
def touch_of_ball(
    balls: Floats, who: int, a: Vec3, b: Vec3, c: Vec3, two_sided: bool
) -> tuple[bool, Vec3, Vec3, Vec3]:
    """Return (whether they touch, penetration, its unit direction, point of the triangle)."""
    center, radius = row_vector(balls, BALL * who), float(balls[BALL * who + 3])
    a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
    verdict, move, direction, point = ball_at_origin(radius, a, b, c, two_sided)
    if verdict == IN_DOUBT:
        move, direction = ball_on_edge(radius, a, b, c, move, direction, point)
    return verdict != APART, move, direction, add(center, point)


@kernel(apart=True)
def touch_of_box(
    boxes: Floats, who: int, a: Vec3, b: Vec3, c: Vec3, two_sided: bool, faces: Floats
) -> tuple[bool, Vec3, Vec3, Vec3]:
    """Return the same of a box; ``faces`` (FACE_COUNT, 4) is scratch."""
    i = BOX * who
    center, half, turn = row_vector(boxes, i), row_vector(boxes, i + 3), row_matrix(boxes, i + 6)
    touching, move, direction = obb_contact(center, half, turn, a, b, c, two_sided, faces)
    if not touching:
        return False, move, direction, center
    a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
    has_area, normal = triangle_normal(a, b, c)
    _, point = closest_on_triangle(a, b, c, has_area, normal)
    return True, move, direction, add(center, point)


@kernel(apart=True)
def touch_of_capsule(
    capsules: Floats, who: int, a: Vec3, b: Vec3, c: Vec3, two_sided: bool
) -> tuple[bool, Vec3, Vec3, Vec3]:
    """Return the same of a capsule."""
    i = CAPSULE * who
    start, end = row_vector(capsules, i), row_vector(capsules, i + 3)
    touching, move = capsule_triangle(start, end, float(capsules[i + 6]), a, b, c, two_sided)
    if not touching:
        return False, move, move, start
    place, point = nearest_to_segment(start, end, a, b, c)
    size = length(move)
    if size > 0.0:
        return True, move, scale(move, 1.0 / size), point
    # Just touching: straight away from the point; along the normal where the axis touches.
    away = subtract(place, point)
    size = length(away)
    if size > 0.0:
        return True, move, scale(away, 1.0 / size), point
    has_area, normal = triangle_normal(subtract(a, start), subtract(b, start), subtract(c, start))
    return True, move, normal if has_area else (0.0, 1.0, 0.0), point


@kernel(inline=True)
def put_vector(values: Floats, k: int, v: Vec3) -> None:
    """Write a vector, and never -0."""
    values[3 * k] = v[0] + 0.0
    values[3 * k + 1] = v[1] + 0.0
    values[3 * k + 2] = v[2] + 0.0

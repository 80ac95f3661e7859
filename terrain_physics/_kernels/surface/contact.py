"""Narrow phase: one shape against one triangle, whether they touch, and the contact.

The bits are those of the pair's own function. Shapes are rows, see `shapes.py`.
"""

from terrain_physics._kernels._intrinsics import borrow
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.capsule_triangle import capsule_touches, capsule_triangle
from terrain_physics._kernels.geometry.closest_point import closest_on_triangle, triangle_normal
from terrain_physics._kernels.geometry.obb_triangle import obb_contact, obb_triangle
from terrain_physics._kernels.geometry.sphere_triangle import (
    APART,
    IN_DOUBT,
    sphere_at_origin,
    sphere_on_edge,
    sphere_triangle,
)
from terrain_physics._kernels.geometry.triangle_segment import nearest_to_segment
from terrain_physics._kernels.math.vec3 import Vec3, add, length, scale, subtract
from terrain_physics._kernels.surface.shapes import (
    BOX,
    SPHERE,
    read_box,
    read_capsule,
    read_sphere,
)
from terrain_physics._kernels.types import Floats


@kernel(noinline=True)
def touches(
    kind: int,
    shapes: Floats,
    index: int,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    faces: Floats,
) -> bool:
    """Tell whether a shape touches a triangle, by the function of that pair.

    ``faces`` (FACE_COUNT, 4) is scratch.
    """
    if kind == SPHERE:
        center, radius = read_sphere(shapes, index)
        touching, _ = sphere_triangle(center, radius, a, b, c, False)
    elif kind == BOX:
        center, half, rotation = read_box(shapes, index)
        touching, _ = obb_triangle(center, half, rotation, a, b, c, False, faces)
    else:
        start, end, radius = read_capsule(shapes, index)
        touching = capsule_touches(start, end, radius, a, b, c)
    return touching


@kernel(inline=True, no_refcount=True)
def contact(
    kind: int,
    shapes: Floats,
    index: int,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    two_sided: bool,
    faces: Floats,
) -> tuple[bool, Vec3, Vec3, Vec3]:
    """Return (whether they touch, penetration, its unit direction, point of the triangle)."""
    borrowed = borrow(shapes)
    if kind == SPHERE:
        return _sphere_contact(borrowed, index, a, b, c, two_sided)
    if kind == BOX:
        return _box_contact(borrowed, index, a, b, c, two_sided, faces)
    return _capsule_contact(borrowed, index, a, b, c, two_sided)


@kernel
def _sphere_contact(
    spheres: Floats, index: int, a: Vec3, b: Vec3, c: Vec3, two_sided: bool
) -> tuple[bool, Vec3, Vec3, Vec3]:
    center, radius = read_sphere(spheres, index)
    a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
    verdict, move, direction, point = sphere_at_origin(radius, a, b, c, two_sided)
    if verdict == IN_DOUBT:
        move, direction = sphere_on_edge(radius, a, b, c, move, direction, point)
    return verdict != APART, move, direction, add(center, point)


@kernel(noinline=True)
def _box_contact(
    boxes: Floats, index: int, a: Vec3, b: Vec3, c: Vec3, two_sided: bool, faces: Floats
) -> tuple[bool, Vec3, Vec3, Vec3]:
    center, half, rotation = read_box(boxes, index)
    touching, move, direction = obb_contact(center, half, rotation, a, b, c, two_sided, faces)
    if not touching:
        return False, move, direction, center
    a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
    has_area, normal = triangle_normal(a, b, c)
    _, point = closest_on_triangle(a, b, c, has_area, normal)
    return True, move, direction, add(center, point)


@kernel(noinline=True)
def _capsule_contact(
    capsules: Floats, index: int, a: Vec3, b: Vec3, c: Vec3, two_sided: bool
) -> tuple[bool, Vec3, Vec3, Vec3]:
    start, end, radius = read_capsule(capsules, index)
    touching, move = capsule_triangle(start, end, radius, a, b, c, two_sided)
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

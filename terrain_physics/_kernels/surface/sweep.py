"""One moving shape against one triangle: its travel to the first touch, and where that is.

Shapes are bodies, see `shapes.py`.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import closest_on_triangle, triangle_normal
from terrain_physics._kernels.geometry.sweep_capsule import nearest_pair, sweep_capsule
from terrain_physics._kernels.geometry.sweep_obb import sweep_obb, touched_point
from terrain_physics._kernels.geometry.sweep_sphere import sweep_sphere
from terrain_physics._kernels.math.vec3 import Vec3, add, length, scale, subtract
from terrain_physics._kernels.surface.shapes import BOX, SPHERE, Body
from terrain_physics._kernels.types import Floats


@kernel(inline=True)
def split_motion(motion: Vec3) -> tuple[float, Vec3]:
    """Return the length and the direction of a motion; 0 for none."""
    x, y, z = motion
    # Divided by the largest part first: squares of tiny and huge numbers vanish and overflow.
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        return 0.0, (0.0, 1.0, 0.0)
    direction = (x / largest, y / largest, z / largest)
    size = length(direction)
    return size * largest, scale(direction, 1.0 / size)


@kernel(noinline=True)
def travel(
    body: Body,
    direction: Vec3,
    distance: float,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    two_sided: bool,
    faces: Floats,
) -> tuple[float, Vec3]:
    """Return (travel, normal) of a body against one triangle, corners relative to its center.

    ``faces`` (FACE_COUNT, 4) is scratch.
    """
    if body.kind == SPHERE:
        return sweep_sphere(body.radius, direction, distance, a, b, c, two_sided)
    if body.kind == BOX:
        return sweep_obb(
            body.extents, body.rotation, direction, distance, a, b, c, two_sided, faces
        )
    return sweep_capsule(body.axis, body.radius, direction, distance, a, b, c, two_sided)


@kernel(noinline=True)
def point_of_touch(
    body: Body, center: Vec3, a: Vec3, b: Vec3, c: Vec3, normal: Vec3, faces: Floats
) -> Vec3:
    """Return a point of the triangle that a body touches where it is now."""
    a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
    if body.kind == BOX:
        return add(center, touched_point(body.extents, body.rotation, a, b, c, normal, faces))
    has_area, front = triangle_normal(a, b, c)
    if body.kind == SPHERE:
        _, point = closest_on_triangle(a, b, c, has_area, front)
    else:
        _, point = nearest_pair(body.axis, a, b, c, has_area, front)
    return add(center, point)

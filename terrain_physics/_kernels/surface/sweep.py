"""Moving bodies as rows of float64 numbers, and what one does against one triangle."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import closest_on_triangle, triangle_normal
from terrain_physics._kernels.geometry.sweep_capsule import nearest_pair, sweep_capsule
from terrain_physics._kernels.geometry.sweep_obb import sweep_obb, touched_point
from terrain_physics._kernels.geometry.sweep_sphere import sweep_sphere
from terrain_physics._kernels.math.vec3 import Mat3, Vec3, add, length, scale, subtract
from terrain_physics._kernels.types import Floats

# Kinds of bodies, numbered as those of characters.
SPHERE, BOX, CAPSULE = range(3)

# Columns of the row that describes a body: middle, radius, half the axis of a capsule or half
# extents of a box, rotation.
RADIUS, HALF, ROTATION, BODY_SIZE = 3, 4, 7, 16


@kernel(inline=True)
def body_of(bodies: Floats, i: int) -> tuple[float, Vec3, Mat3]:
    """Return (radius, half the axis or half extents, rotation) of a body."""
    half = (float(bodies[i, HALF]), float(bodies[i, HALF + 1]), float(bodies[i, HALF + 2]))
    rotation = (
        float(bodies[i, ROTATION]), float(bodies[i, ROTATION + 1]), float(bodies[i, ROTATION + 2]),
        float(bodies[i, ROTATION + 3]), float(bodies[i, ROTATION + 4]),
        float(bodies[i, ROTATION + 5]), float(bodies[i, ROTATION + 6]),
        float(bodies[i, ROTATION + 7]), float(bodies[i, ROTATION + 8]),
    )  # fmt: skip
    return float(bodies[i, RADIUS]), half, rotation


@kernel(inline=True)
def reach_of(kind: int, radius: float, half: Vec3, m: Mat3) -> Vec3:
    """Return the half extents of the box around a body."""
    x, y, z = half
    if kind == BOX:
        return (
            abs(m[0]) * x + abs(m[1]) * y + abs(m[2]) * z,
            abs(m[3]) * x + abs(m[4]) * y + abs(m[5]) * z,
            abs(m[6]) * x + abs(m[7]) * y + abs(m[8]) * z,
        )
    return (abs(x) + radius, abs(y) + radius, abs(z) + radius)


@kernel(inline=True)
def split_motion(motion: Vec3) -> tuple[float, Vec3]:
    """Return the length and the direction of a motion; 0 for none."""
    x, y, z = motion
    # By the largest part first: squares of tiny and huge numbers vanish and overflow.
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        return 0.0, (0.0, 1.0, 0.0)
    direction = (x / largest, y / largest, z / largest)
    size = length(direction)
    return size * largest, scale(direction, 1.0 / size)


@kernel(apart=True)
def travel(
    kind: int,
    radius: float,
    half: Vec3,
    rotation: Mat3,
    direction: Vec3,
    distance: float,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    two_sided: bool,
    faces: Floats,
) -> tuple[float, Vec3]:
    """Return (travel, normal) of a body against one triangle, corners relative to its middle."""
    if kind == SPHERE:
        return sweep_sphere(radius, direction, distance, a, b, c, two_sided)
    if kind == CAPSULE:
        return sweep_capsule(half, radius, direction, distance, a, b, c, two_sided)
    return sweep_obb(half, rotation, direction, distance, a, b, c, two_sided, faces)


@kernel(apart=True)
def point_of_touch(
    kind: int,
    half: Vec3,
    rotation: Mat3,
    center: Vec3,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    normal: Vec3,
    faces: Floats,
) -> Vec3:
    """Return a point of the triangle that a body touches where it is now."""
    a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
    if kind == BOX:
        return add(center, touched_point(half, rotation, a, b, c, normal, faces))
    has_area, front = triangle_normal(a, b, c)
    if kind == SPHERE:
        _, point = closest_on_triangle(a, b, c, has_area, front)
    else:
        _, point = nearest_pair(half, a, b, c, has_area, front)
    return add(center, point)

"""Rays: how far along a ray it hits a shape; 0.0 from inside a solid, infinity when missed.

Directions have length 1, and shapes are closed. Products of lengths from 1e-100 to 1e100 m neither
overflow nor vanish.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import closest_on_segment
from terrain_physics._kernels.math.double_double import two_product
from terrain_physics._kernels.math.vec3 import (
    Mat3,
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    length,
    scale,
    subtract,
)
from terrain_physics._kernels.tolerances import RAY_ROUNDING

RayFrame = tuple[int, float, float, float]
"""The axis of the largest component of the direction, the two shears that align the ray with that
axis, and the meters along the ray for each meter along the axis."""


@kernel(inline=True)
def ray_frame(direction: Vec3) -> RayFrame:
    """Return what `ray_frame_triangle` needs of a direction; computed once for each ray."""
    x, y, z = direction
    # Chosen before they are divided, so that no branch depends on the direction.
    axis = 0 if abs(x) >= abs(y) else 1
    along, one, other = (x, y, z) if axis == 0 else (y, z, x)
    axis = 2 if abs(z) >= abs(along) else axis
    along, one, other = (z, x, y) if axis == 2 else (along, one, other)
    return axis, one / along, other / along, 1.0 / along


@kernel
def ray_triangle(origin: Vec3, direction: Vec3, a: Vec3, b: Vec3, c: Vec3) -> float:
    """Return the distance to a triangle, from either side."""
    return ray_frame_triangle(origin, ray_frame(direction), a, b, c)


@kernel
def ray_frame_triangle(origin: Vec3, frame: RayFrame, a: Vec3, b: Vec3, c: Vec3) -> float:
    """Return the distance to a triangle, from either side. Watertight.

    S. Woop, C. Benthin, I. Wald, "Watertight Ray/Triangle Intersection" (2013): the corners are
    sheared so that the ray becomes the third axis; then it hits if the triangle of the first two
    coordinates contains the origin. Why no ray slips through an edge or a corner:

    - A sheared corner depends on the ray and the corner only, so it is the same in all triangles.
    - Rounding never reverses p <= q. So u = p - q, from two rounded products, is 0 or has the sign
      of exact arithmetic, and the neighbor gets exactly -u. Where no sign rules out a hit,
      `_distance` decides without rounding; then 0 counts as inside.

    So a triangle is hit if its sheared corners contain the origin in exact arithmetic, and such
    triangles leave no gaps. A ray within the triangle's plane hits it where it enters; a ray that
    is in the plane only to rounding hits it somewhere between its borders. A triangle without area
    is a segment or a point, hit within the rounding of the shear.
    """
    return sheared_triangle(
        shear(origin, frame, a), shear(origin, frame, b), shear(origin, frame, c), frame[3]
    )


@kernel(inline=True)
def shear(origin: Vec3, frame: RayFrame, corner: Vec3) -> Vec3:
    """Return a corner relative to a ray: two coordinates across the ray, one along its axis."""
    axis, shear_x, shear_y, _ = frame
    x, y, z = subtract(corner, origin)
    if axis == 0:
        x, y, z = y, z, x
    elif axis == 1:
        x, y, z = z, x, y
    return (x - shear_x * z, y - shear_y * z, z)


@kernel(inline=True)
def sheared_triangle(a: Vec3, b: Vec3, c: Vec3, stretch: float) -> float:
    """Return the distance to a triangle of sheared corners, see `ray_frame_triangle`."""
    u = c[0] * b[1] - c[1] * b[0]
    v = a[0] * c[1] - a[1] * c[0]
    w = b[0] * a[1] - b[1] * a[0]
    if min(u, v, w) < 0.0 < max(u, v, w):  # one branch: one for each sign would double the time
        return math.inf
    return _distance((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2]), stretch)


@kernel
def _distance(xs: Vec3, ys: Vec3, zs: Vec3, stretch: float) -> float:
    """Return the distance to a sheared triangle that is hit, or seems to be because of rounding.

    A function of its own keeps the work for all triangles short. Rounded products could not tell
    whether a triangle seen edge-on is missed, nor where a thin one is hit.
    """
    u = _minor(xs[2], ys[1], ys[2], xs[1])
    v = _minor(xs[0], ys[2], ys[0], xs[2])
    w = _minor(xs[1], ys[0], ys[1], xs[0])
    if min(u, v, w) < 0.0 < max(u, v, w):
        return math.inf
    area = u + v + w
    if area == 0.0:
        return _edge_on(xs, ys, zs, stretch)
    depth = (u * zs[0] + v * zs[1] + w * zs[2]) / area
    # A ray that starts on the triangle hits it there, even if rounding puts the start behind it.
    if depth * stretch >= -RAY_ROUNDING * max(abs(zs[0]), abs(zs[1]), abs(zs[2])) * abs(stretch):
        return max(depth * stretch, 0.0) + 0.0  # never -0
    return math.inf


@kernel(inline=True)
def _minor(a: float, b: float, c: float, d: float) -> float:
    """Return a * b - c * d: the sign is exact, and so are all but the last bits of the value."""
    first, second = two_product(a, b), two_product(c, d)
    return (first[0] - second[0]) + (first[1] - second[1])


@kernel
def _edge_on(xs: Vec3, ys: Vec3, zs: Vec3, stretch: float) -> float:
    """Return the distance to a sheared triangle that the ray sees edge-on.

    The ray is in it from the nearest to the farthest of the points where its edges cross the ray.
    """
    places = xs  # along that line
    if max(abs(ys[0]), abs(ys[1]), abs(ys[2])) > max(abs(xs[0]), abs(xs[1]), abs(xs[2])):
        places = ys
    near, far = math.inf, -math.inf
    for i in range(3):
        j = (i + 1) % 3
        here, there = places[i], places[j]
        if min(here, there) > 0.0 or max(here, there) < 0.0:
            continue
        start, end = zs[i] * stretch, zs[j] * stretch
        if here != there:
            start += (end - start) * (here / (here - there))
            end = start
        near = min(near, start, end)
        far = max(far, start, end)
    if far >= 0.0:
        return max(near, 0.0)
    return math.inf


@kernel
def ray_sphere(origin: Vec3, direction: Vec3, center: Vec3, radius: float) -> float:
    """Return the distance to a solid sphere."""
    center = subtract(center, origin)
    if dot(center, center) <= radius * radius:
        return 0.0
    along = dot(center, direction)
    # By the closest approach, so that the square of the distance does not swallow the radius.
    miss = add_scaled(center, direction, -along)
    discriminant = radius * radius - dot(miss, miss)
    if discriminant < 0.0 or along < 0.0:
        return math.inf
    return max(along - math.sqrt(discriminant), 0.0)


@kernel
def ray_aabb(origin: Vec3, direction: Vec3, lower: Vec3, upper: Vec3) -> float:
    """Return the distance to a solid box between two corners.

    Slabs (Kay and Kajiya, 1986), with divisions instead of a reciprocal: rounded quotients keep
    their order, so a ray to an edge or a corner is not lost.
    """
    near, far = 0.0, math.inf
    for k in range(3):
        if direction[k] == 0.0:
            if origin[k] < lower[k] or origin[k] > upper[k]:
                return math.inf
            continue
        first = (lower[k] - origin[k]) / direction[k]
        second = (upper[k] - origin[k]) / direction[k]
        near = max(near, min(first, second))
        far = min(far, max(first, second))
    if near <= far:
        return near + 0.0
    return math.inf


@kernel
def ray_obb(origin: Vec3, direction: Vec3, center: Vec3, half: Vec3, rotation: Mat3) -> float:
    """Return the distance to a solid box; the columns of the rotation are its axes."""
    start = subtract(origin, center)
    x = (rotation[0], rotation[3], rotation[6])
    y = (rotation[1], rotation[4], rotation[7])
    z = (rotation[2], rotation[5], rotation[8])
    return ray_aabb(
        (dot(x, start), dot(y, start), dot(z, start)),
        (dot(x, direction), dot(y, direction), dot(z, direction)),
        (-half[0], -half[1], -half[2]),
        half,
    )


@kernel
def ray_capsule(origin: Vec3, direction: Vec3, a: Vec3, b: Vec3, radius: float) -> float:
    """Return the distance to a solid capsule: the nearest of its two spheres and its side."""
    start, end = subtract(a, origin), subtract(b, origin)
    closest = closest_on_segment(start, end)
    if dot(closest, closest) <= radius * radius:
        return 0.0
    nearest = min(
        ray_sphere(origin, direction, a, radius), ray_sphere(origin, direction, b, radius)
    )
    edge = subtract(b, a)
    size = length(edge)
    if size == 0.0:
        return nearest
    edge = scale(edge, 1.0 / size)
    # Relative to the ray's closest approach to the middle: errors do not grow with the distance.
    middle = scale(add(start, end), 0.5)
    along = dot(middle, direction)
    place = subtract(scale(direction, along), middle)
    across = cross(direction, edge)
    square = dot(across, across)
    offset = dot(place, across)
    discriminant = radius * radius * square - offset * offset
    if square == 0.0 or discriminant < 0.0:  # misses the side or is parallel: a sphere is first
        return nearest
    onward = -(dot(cross(place, edge), across) + math.sqrt(discriminant)) / square
    height = dot(place, edge) + onward * dot(direction, edge)
    if abs(height) <= 0.5 * size and along + onward >= 0.0:
        return min(nearest, along + onward)
    return nearest

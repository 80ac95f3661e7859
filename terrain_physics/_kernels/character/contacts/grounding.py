"""Grounding of a body, and the part of its velocity that the planes it met leave."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import (
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    length,
    scale,
    subtract,
)
from terrain_physics._kernels.tolerances import ALONG_SHARE, SLOPE_SLACK
from terrain_physics._kernels.types import Floats

# Most different planes remembered in one step. Further ones are left to the next step.
MOST_PLANES = 32


@kernel(inline=True)
def rise_of_slope(distance: float, cosine: float) -> float:
    """Return how far a slope rises over a horizontal distance; ``cosine`` is its normal's y."""
    return distance * math.sqrt(1.0 - cosine * cosine) / max(cosine, 1e-9)


@kernel(inline=True, no_refcount=True)
def plane_normal(planes: Floats, i: int) -> Vec3:
    """Return one of the planes' unit normals."""
    return (float(planes[i, 0]), float(planes[i, 1]), float(planes[i, 2]))


@kernel(no_refcount=True)
def add_plane(planes: Floats, count: int, normal: Vec3) -> int:
    """Remember a plane by its normal, once; return how many planes there are."""
    for i in range(count):
        if length(subtract(normal, plane_normal(planes, i))) < ALONG_SHARE:
            return count
    if count == MOST_PLANES:
        return count
    planes[count, 0], planes[count, 1], planes[count, 2] = normal
    return count + 1


@kernel(no_refcount=True)
def leads_into_none(planes: Floats, count: int, velocity: Vec3, slack: float) -> bool:
    """Tell whether a velocity leads into none of the planes by more than ``slack`` m/s."""
    for i in range(count):
        if dot(plane_normal(planes, i), velocity) < -slack:
            return False
    return True


@kernel(no_refcount=True)
def along_planes(planes: Floats, count: int, velocity: Vec3) -> Vec3:
    """Return the velocity nearest to the given one that leads into none of the planes.

    This projects the velocity onto a convex cone. It tries the velocity itself, its projection on
    each plane, its projection on the line in which two planes meet, and zero, and takes the nearest
    one that leads into no plane. The result does not depend on the order of the planes.
    """
    speed = length(velocity)
    slack = ALONG_SHARE * speed
    if leads_into_none(planes, count, velocity, slack):
        return velocity
    best, distance = (0.0, 0.0, 0.0), speed
    for i in range(count):
        n = plane_normal(planes, i)
        into = dot(n, velocity)
        if -into < distance:
            slid = add_scaled(velocity, n, -into)
            if leads_into_none(planes, count, slid, slack):
                best, distance = slid, -into
        for j in range(i):
            line = cross(n, plane_normal(planes, j))
            size2 = dot(line, line)
            if size2 > ALONG_SHARE * ALONG_SHARE:
                slid = scale(line, dot(line, velocity) / size2)
                off = length(subtract(velocity, slid))
                if off < distance and leads_into_none(planes, count, slid, slack):
                    best, distance = slid, off
    return best


@kernel(noinline=True, no_refcount=True)
def ground_by_planes(planes: Floats, count: int, cosine: float) -> tuple[bool, Vec3]:
    """Return (grounded, ground normal): on a walkable plane, or wedged between steep ones.

    A body is wedged if no direction down that the planes allow is steeper than the slope limit: the
    part of a unit downward velocity that they leave is no longer than the sine of the limit.
    """
    if count == 0:
        return False, (0.0, 0.0, 0.0)
    best = 0
    for i in range(1, count):
        if planes[i, 1] > planes[best, 1]:
            best = i
    if planes[best, 1] >= cosine - SLOPE_SLACK:
        return True, plane_normal(planes, best)
    sine = math.sqrt(max(1.0 - cosine * cosine, 0.0))
    if count == 1 or length(along_planes(planes, count, (0.0, -1.0, 0.0))) > sine + SLOPE_SLACK:
        return False, (0.0, 0.0, 0.0)
    total = (0.0, 0.0, 0.0)
    for i in range(count):
        total = add(total, plane_normal(planes, i))
    size = length(total)
    return True, scale(total, 1.0 / size) if size > 0.0 else (0.0, 1.0, 0.0)


@kernel
def ground_by_sum(count: int, total: Vec3, cosine: float) -> tuple[bool, Vec3]:
    """Return (grounded, unit vector of +Y plus ``total``, the sum of the normals touched)."""
    total = add(total, (0.0, 1.0, 0.0))
    size = length(total)
    if count == 0 or size == 0.0 or total[1] < (cosine - SLOPE_SLACK) * size:
        return False, (0.0, 0.0, 0.0)
    return True, scale(total, 1.0 / size)


@kernel(no_refcount=True)
def settle_velocity(planes: Floats, count: int, velocity: Vec3, grounded: bool) -> Vec3:
    """Return the velocity without its part into the planes.

    On the ground the downward speed is dropped first: projected on a slope instead, it would turn
    a fall into a sideways throw.
    """
    if grounded and velocity[1] < 0.0:
        velocity = (velocity[0], 0.0, velocity[2])
    return along_planes(planes, count, velocity)

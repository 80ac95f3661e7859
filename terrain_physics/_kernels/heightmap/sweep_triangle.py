"""A moving body and a triangle of a height map that it touches: the stop, and its place."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.sweep_sphere import stopped
from terrain_physics._kernels.heightmap.clipping import (
    Ends,
    corner_points,
    front_normal,
    half_of,
)
from terrain_physics._kernels.heightmap.grid import Grid, corner_heights, is_flipped
from terrain_physics._kernels.heightmap.internal_edges import BLOCKED, look_around
from terrain_physics._kernels.math.vec3 import Vec3, dot, scale
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.surface.sweep import point_of_touch
from terrain_physics._kernels.types import Floats


@kernel(no_refcount=True)
def stopped_by_ground(
    grid: Grid, direction: Vec3, row: int, column: int, half: int, a: Vec3, b: Vec3, c: Vec3,
    distance: float, normal: Vec3,
) -> tuple[float, Vec3]:  # fmt: skip
    """Return (travel, normal) of a body that would touch one triangle after that distance.

    Corners are relative to its center at the start. Without care, the next triangle's edge, an
    internal edge, would stop a shape that is in the ground by a hair. So a touch with a normal that
    leads into a neighbor counts as one of the face, and stops only a motion into the face.
    """
    if look_around(grid, row, column, half, a, b, c, normal) == BLOCKED:
        front = front_normal(grid, row, column, half)
        return stopped(distance, direction, scale(front, -1.0) if dot(front, a) > 0.0 else front)
    return distance, normal


@kernel(no_refcount=True)
def place_of_touch(
    grid: Grid, ends: Ends, body: Body, center: Vec3, row: int, column: int, half: int,
    normal: Vec3, faces: Floats,
) -> Vec3:  # fmt: skip
    """Return a point of the triangle that a body touches where its center is now.

    Outside of the map a half has the ends of the path on which it was found: cut off elsewhere, the
    body may touch the other half.
    """
    levels = corner_heights(grid, row, column)
    a, b, c, d = corner_points(grid, ends, row, column, levels)
    a, b, c = half_of(a, b, c, d, is_flipped(grid, row, column), half)
    return point_of_touch(body, center, a, b, c, normal, faces)

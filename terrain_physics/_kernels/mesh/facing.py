"""How a mesh faces: which of its triangles a place sees, and which touches of them count.

The sides of a height map are a mesh that is seen from outside only. What is touched along the upper
edge of a side alone is touched along the edge of the map's surface too: its triangle has the touch.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.math.vec3 import Vec3, dot
from terrain_physics._kernels.mesh.parts import SIDE
from terrain_physics._kernels.tolerances import UPPER_EDGE_RISE


@kernel(inline=True)
def is_seen(facing: int, a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Tell whether the origin sees a triangle."""
    if facing != SIDE:
        return True
    has_area, normal = triangle_normal(a, b, c)
    return has_area and dot(normal, a) <= 0.0


@kernel(inline=True)
def meets_front(facing: int, direction: Vec3, a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Tell whether a ray in a direction meets a front of a triangle that it crosses."""
    if facing != SIDE:
        return True
    has_area, normal = triangle_normal(a, b, c)
    return has_area and dot(normal, direction) < 0.0


@kernel(inline=True)
def is_own_touch(facing: int, normal: Vec3) -> bool:
    """Tell whether a touch with a unit normal is one of the triangle, not of a surface above it."""
    return facing != SIDE or normal[1] <= UPPER_EDGE_RISE

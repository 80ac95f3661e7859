"""Functions of many pairs of shapes: arrays in, an answer for each row out.

Each has the rules of the function of one pair that is named alike in `terrain_physics`, and runs
the same kernel; `surface_touches` is three functions here. An array of one row serves for all rows.
"""

from terrain_physics.rows.closest_point import (
    closest_point_on_segment,
    closest_point_on_triangle,
)
from terrain_physics.rows.enclosing_sphere import smallest_enclosing_sphere
from terrain_physics.rows.intersect_box import (
    intersect_aabb_aabb,
    intersect_aabb_sphere,
    intersect_capsule_aabb,
    intersect_capsule_obb,
    intersect_obb_aabb,
    intersect_obb_obb,
    intersect_obb_sphere,
)
from terrain_physics.rows.intersect_round import (
    intersect_capsule_capsule,
    intersect_capsule_sphere,
    intersect_sphere_sphere,
)
from terrain_physics.rows.intersect_triangle import (
    intersect_aabb_triangle,
    intersect_capsule_triangle,
    intersect_obb_triangle,
    intersect_sphere_triangle,
)
from terrain_physics.rows.intersect_triangles import (
    crossing_segment,
    intersect_triangle_triangle,
)
from terrain_physics.rows.predicates import (
    point_in_triangle_2d,
    surface_touches_plane,
    surface_touches_segment,
    surface_touches_triangle,
)
from terrain_physics.rows.rays import (
    raycast_aabb,
    raycast_capsule,
    raycast_obb,
    raycast_sphere,
    raycast_triangle,
)

__all__ = [
    "closest_point_on_segment",
    "closest_point_on_triangle",
    "crossing_segment",
    "intersect_aabb_aabb",
    "intersect_aabb_sphere",
    "intersect_aabb_triangle",
    "intersect_capsule_aabb",
    "intersect_capsule_capsule",
    "intersect_capsule_obb",
    "intersect_capsule_sphere",
    "intersect_capsule_triangle",
    "intersect_obb_aabb",
    "intersect_obb_obb",
    "intersect_obb_sphere",
    "intersect_obb_triangle",
    "intersect_sphere_sphere",
    "intersect_sphere_triangle",
    "intersect_triangle_triangle",
    "point_in_triangle_2d",
    "raycast_aabb",
    "raycast_capsule",
    "raycast_obb",
    "raycast_sphere",
    "raycast_triangle",
    "smallest_enclosing_sphere",
    "surface_touches_plane",
    "surface_touches_segment",
    "surface_touches_triangle",
]

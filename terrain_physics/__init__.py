"""Terrain collision for Python games: height maps, contacts, a character that stands, a counter.

Public names load on first use, so that ``import terrain_physics`` costs next to nothing: numba and
PyGLM are imported by the first name that needs them.
"""

from importlib import import_module

from terrain_physics._version import __version__

_MODULES = {
    "AABB": "shapes",
    "OBB": "shapes",
    "BlockBounds": "contacts",
    "BoxCollider": "colliders",
    "Capsule": "shapes",
    "CapsuleCollider": "colliders",
    "CharacterGroup": "crowd",
    "CharacterMovement": "character",
    "CharacterState": "character_state",
    "Ground": "ground",
    "GroupResult": "crowd",
    "Contact": "contacts",
    "Contacts": "contacts",
    "Difference": "recording",
    "GroundReport": "contacts",
    "HeightMap": "heightmap",
    "MoveResult": "contacts",
    "Octree": "octree",
    "Plane": "shapes",
    "Ray": "shapes",
    "MeshArrays": "map_export",
    "Recording": "recording",
    "Region": "map_cells",
    "SweepHits": "contacts",
    "SweepHit": "contacts",
    "RayHits": "contacts",
    "RayHit": "contacts",
    "Segment": "shapes",
    "Sphere": "shapes",
    "SphereCollider": "colliders",
    "TouchCounter": "contest",
    "Triangle": "shapes",
    "TriangleMesh": "mesh",
    "Triangles": "contacts",
    "closest_point_on_segment": "closest_point",
    "closest_point_on_segment_many": "closest_point",
    "closest_point_on_triangle": "closest_point",
    "closest_point_on_triangle_many": "closest_point",
    "count_touching": "contest",
    "crossing_segment": "triangle_pairs",
    "crossing_segment_many": "triangle_pairs",
    "intersect": "shape_pairs",
    "intersect_aabb_aabb": "intersect_box",
    "intersect_aabb_aabb_many": "intersect_box",
    "intersect_aabb_sphere": "intersect_box",
    "intersect_aabb_sphere_many": "intersect_box",
    "intersect_capsule_capsule": "intersect_round",
    "intersect_capsule_capsule_many": "intersect_round",
    "intersect_capsule_sphere": "intersect_round",
    "intersect_capsule_sphere_many": "intersect_round",
    "intersect_capsule_triangle": "intersect_triangle",
    "intersect_capsule_triangle_many": "intersect_triangle",
    "intersect_obb_obb": "intersect_box",
    "intersect_obb_obb_many": "intersect_box",
    "intersect_obb_sphere": "intersect_box",
    "intersect_obb_sphere_many": "intersect_box",
    "intersect_obb_triangle": "intersect_triangle",
    "intersect_obb_triangle_many": "intersect_triangle",
    "intersect_sphere_sphere": "intersect_round",
    "intersect_sphere_sphere_many": "intersect_round",
    "intersect_sphere_triangle": "intersect_triangle",
    "intersect_sphere_triangle_many": "intersect_triangle",
    "intersect_triangle_triangle": "triangle_pairs",
    "intersect_triangle_triangle_many": "triangle_pairs",
    "point_in_triangle_2d": "predicates",
    "point_in_triangle_2d_many": "predicates",
    "raycast": "rays",
    "raycast_aabb": "rays",
    "raycast_aabb_many": "rays_many",
    "raycast_capsule": "rays",
    "raycast_capsule_many": "rays_many",
    "raycast_obb": "rays",
    "raycast_obb_many": "rays_many",
    "raycast_sphere": "rays",
    "raycast_sphere_many": "rays_many",
    "raycast_triangle": "rays",
    "raycast_triangle_many": "rays_many",
    "replay": "recording",
    "smallest_enclosing_sphere": "bounding",
    "smallest_enclosing_sphere_many": "bounding",
    "surface_touches": "predicates",
    "surface_touches_plane_many": "predicates",
    "surface_touches_segment_many": "predicates",
    "surface_touches_triangle_many": "predicates",
    "warm_up": "warmup",
}

__all__ = ["__version__", *_MODULES]  # noqa: PLE0604 the table holds strings


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

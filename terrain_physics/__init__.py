"""Terrain collision for Python games: height maps, contacts, a character that stands, a counter.

Public names load on first use, so that ``import terrain_physics`` costs next to nothing: numba and
PyGLM are imported by the first name that needs them.
"""

import sys
from importlib import import_module

from terrain_physics._guesses import hint, is_import, module_way
from terrain_physics._version import __version__

_MODULES = {
    "AABB": "geometry.shapes",
    "Axes": "surface.axes",
    "BlockBounds": "heightmap.blocks",
    "BoxCollider": "character.colliders",
    "Boxes": "surface.shape_rows",
    "Capsule": "geometry.shapes",
    "CapsuleCollider": "character.colliders",
    "Capsules": "surface.shape_rows",
    "CharacterGroup": "group.group",
    "CharacterMovement": "character.movement",
    "CharacterRules": "character.rules",
    "CharacterState": "character.state",
    "CharacterView": "character.view",
    "ClosestPoint": "surface.results",
    "ClosestPoints": "surface.results",
    "Contact": "surface.results",
    "ContactBuffer": "surface.contact_buffer",
    "Contacts": "surface.results",
    "Field": "walkability.field",
    "FixedStep": "character.fixed_step",
    "GeneratedTiles": "tiles.generated",
    "Ground": "ground.ground",
    "GroundReport": "character.results",
    "GroundState": "surface.ground_state",
    "GroupMember": "group.member",
    "GroupResult": "group.results",
    "GroupState": "character.group_data",
    "HeightMap": "heightmap.heightmap",
    "LostEdit": "tiles.edit_records",
    "MapCells": "heightmap.cells",
    "MeshArrays": "surface.mesh_arrays",
    "Mismatch": "world.compare",
    "MoveHit": "character.hits",
    "MoveHits": "character.hits",
    "MoveResult": "character.results",
    "Neighbors": "_kernels.mesh.adjacency",
    "OBB": "geometry.shapes",
    "Octree": "octree.octree",
    "OctreeHit": "octree.octree",
    "Path": "walkability.path",
    "Plane": "geometry.shapes",
    "Ray": "geometry.shapes",
    "RayHit": "surface.results",
    "RayHits": "surface.results",
    "Recording": "recording.recording",
    "Region": "heightmap.cells",
    "Rewind": "world.rewind",
    "Segment": "geometry.shapes",
    "Sphere": "geometry.shapes",
    "SphereCollider": "character.colliders",
    "Spheres": "surface.shape_rows",
    "Squeeze": "character.results",
    "Surface": "surface.surface",
    "SweepHit": "surface.results",
    "SweepHits": "surface.results",
    "Tile": "tiles.samples",
    "TiledGround": "tiles.tiled_ground",
    "TouchCounter": "counter.counter",
    "Triangle": "geometry.shapes",
    "TriangleMesh": "mesh.mesh",
    "Triangles": "surface.results",
    "WalkGraph": "walkability.ways.graph",
    "Walkability": "walkability.walkability",
    "World": "world.world",
    "WorldState": "world.state",
    "closest_point_on_segment": "geometry.closest_point",
    "closest_point_on_triangle": "geometry.closest_point",
    "count_touching": "counter.touching",
    "crossing_segment": "geometry.intersect_triangles",
    "intersect": "geometry.dispatch",
    "intersect_aabb_aabb": "geometry.intersect_box",
    "intersect_aabb_sphere": "geometry.intersect_box",
    "intersect_aabb_triangle": "geometry.intersect_triangle",
    "intersect_capsule_aabb": "geometry.intersect_box",
    "intersect_capsule_capsule": "geometry.intersect_round",
    "intersect_capsule_obb": "geometry.intersect_box",
    "intersect_capsule_sphere": "geometry.intersect_round",
    "intersect_capsule_triangle": "geometry.intersect_triangle",
    "intersect_obb_aabb": "geometry.intersect_box",
    "intersect_obb_obb": "geometry.intersect_box",
    "intersect_obb_sphere": "geometry.intersect_box",
    "intersect_obb_triangle": "geometry.intersect_triangle",
    "intersect_sphere_sphere": "geometry.intersect_round",
    "intersect_sphere_triangle": "geometry.intersect_triangle",
    "intersect_triangle_triangle": "geometry.intersect_triangles",
    "point_in_triangle_2d": "geometry.predicates",
    "raycast": "geometry.rays",
    "raycast_aabb": "geometry.rays",
    "raycast_capsule": "geometry.rays",
    "raycast_obb": "geometry.rays",
    "raycast_sphere": "geometry.rays",
    "raycast_triangle": "geometry.rays",
    "replay": "recording.recording",
    "smallest_enclosing_sphere": "geometry.enclosing_sphere",
    "surface_touches": "geometry.predicates",
    "warm_up": "warmup",
}

__all__ = ["__version__", *_MODULES]  # noqa: PLE0604 the table holds strings


def __getattr__(name: str) -> object:
    if name == "rows":  # a module, which has names of its own
        return import_module(f"{__name__}.rows")
    if name not in _MODULES:
        way = None if name.startswith("_") else module_way(name, __all__)
        told = f": {hint(way)}" if way else ""
        if is_import(sys._getframe(1)):  # noqa: SLF001 `from` would leave the hint out
            raise ImportError(f"cannot import name {name!r} from {__name__!r}{told}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{told}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "rows"])

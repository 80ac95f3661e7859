from terrain_physics import rows as rows
from terrain_physics._kernels.mesh.adjacency import Neighbors as Neighbors
from terrain_physics._version import __version__ as __version__
from terrain_physics.character.colliders import BoxCollider as BoxCollider
from terrain_physics.character.colliders import CapsuleCollider as CapsuleCollider
from terrain_physics.character.colliders import SphereCollider as SphereCollider
from terrain_physics.character.fixed_step import FixedStep as FixedStep
from terrain_physics.character.group_data import GroupState as GroupState
from terrain_physics.character.hits import MoveHit as MoveHit
from terrain_physics.character.hits import MoveHits as MoveHits
from terrain_physics.character.movement import CharacterMovement as CharacterMovement
from terrain_physics.character.results import GroundReport as GroundReport
from terrain_physics.character.results import MoveResult as MoveResult
from terrain_physics.character.results import Squeeze as Squeeze
from terrain_physics.character.rules import CharacterRules as CharacterRules
from terrain_physics.character.state import CharacterState as CharacterState
from terrain_physics.character.view import CharacterView as CharacterView
from terrain_physics.counter.counter import TouchCounter as TouchCounter
from terrain_physics.counter.touching import count_touching as count_touching
from terrain_physics.geometry.closest_point import (
    closest_point_on_segment as closest_point_on_segment,
)
from terrain_physics.geometry.closest_point import (
    closest_point_on_triangle as closest_point_on_triangle,
)
from terrain_physics.geometry.dispatch import intersect as intersect
from terrain_physics.geometry.enclosing_sphere import (
    smallest_enclosing_sphere as smallest_enclosing_sphere,
)
from terrain_physics.geometry.intersect_box import intersect_aabb_aabb as intersect_aabb_aabb
from terrain_physics.geometry.intersect_box import intersect_aabb_sphere as intersect_aabb_sphere
from terrain_physics.geometry.intersect_box import intersect_capsule_aabb as intersect_capsule_aabb
from terrain_physics.geometry.intersect_box import intersect_capsule_obb as intersect_capsule_obb
from terrain_physics.geometry.intersect_box import intersect_obb_aabb as intersect_obb_aabb
from terrain_physics.geometry.intersect_box import intersect_obb_obb as intersect_obb_obb
from terrain_physics.geometry.intersect_box import intersect_obb_sphere as intersect_obb_sphere
from terrain_physics.geometry.intersect_round import (
    intersect_capsule_capsule as intersect_capsule_capsule,
)
from terrain_physics.geometry.intersect_round import (
    intersect_capsule_sphere as intersect_capsule_sphere,
)
from terrain_physics.geometry.intersect_round import (
    intersect_sphere_sphere as intersect_sphere_sphere,
)
from terrain_physics.geometry.intersect_triangle import (
    intersect_aabb_triangle as intersect_aabb_triangle,
)
from terrain_physics.geometry.intersect_triangle import (
    intersect_capsule_triangle as intersect_capsule_triangle,
)
from terrain_physics.geometry.intersect_triangle import (
    intersect_obb_triangle as intersect_obb_triangle,
)
from terrain_physics.geometry.intersect_triangle import (
    intersect_sphere_triangle as intersect_sphere_triangle,
)
from terrain_physics.geometry.intersect_triangles import crossing_segment as crossing_segment
from terrain_physics.geometry.intersect_triangles import (
    intersect_triangle_triangle as intersect_triangle_triangle,
)
from terrain_physics.geometry.predicates import point_in_triangle_2d as point_in_triangle_2d
from terrain_physics.geometry.predicates import surface_touches as surface_touches
from terrain_physics.geometry.rays import raycast as raycast
from terrain_physics.geometry.rays import raycast_aabb as raycast_aabb
from terrain_physics.geometry.rays import raycast_capsule as raycast_capsule
from terrain_physics.geometry.rays import raycast_obb as raycast_obb
from terrain_physics.geometry.rays import raycast_sphere as raycast_sphere
from terrain_physics.geometry.rays import raycast_triangle as raycast_triangle
from terrain_physics.geometry.shapes import AABB as AABB
from terrain_physics.geometry.shapes import OBB as OBB
from terrain_physics.geometry.shapes import Capsule as Capsule
from terrain_physics.geometry.shapes import Plane as Plane
from terrain_physics.geometry.shapes import Ray as Ray
from terrain_physics.geometry.shapes import Segment as Segment
from terrain_physics.geometry.shapes import Sphere as Sphere
from terrain_physics.geometry.shapes import Triangle as Triangle
from terrain_physics.ground.ground import Ground as Ground
from terrain_physics.group.group import CharacterGroup as CharacterGroup
from terrain_physics.group.member import GroupMember as GroupMember
from terrain_physics.group.results import GroupResult as GroupResult
from terrain_physics.heightmap.blocks import BlockBounds as BlockBounds
from terrain_physics.heightmap.cells import MapCells as MapCells
from terrain_physics.heightmap.cells import Region as Region
from terrain_physics.heightmap.heightmap import HeightMap as HeightMap
from terrain_physics.mesh.mesh import TriangleMesh as TriangleMesh
from terrain_physics.octree.octree import Octree as Octree
from terrain_physics.octree.octree import OctreeHit as OctreeHit
from terrain_physics.recording.recording import Recording as Recording
from terrain_physics.recording.recording import replay as replay
from terrain_physics.surface.axes import Axes as Axes
from terrain_physics.surface.contact_buffer import ContactBuffer as ContactBuffer
from terrain_physics.surface.ground_state import GroundState as GroundState
from terrain_physics.surface.mesh_arrays import MeshArrays as MeshArrays
from terrain_physics.surface.results import ClosestPoint as ClosestPoint
from terrain_physics.surface.results import ClosestPoints as ClosestPoints
from terrain_physics.surface.results import Contact as Contact
from terrain_physics.surface.results import Contacts as Contacts
from terrain_physics.surface.results import RayHit as RayHit
from terrain_physics.surface.results import RayHits as RayHits
from terrain_physics.surface.results import SweepHit as SweepHit
from terrain_physics.surface.results import SweepHits as SweepHits
from terrain_physics.surface.results import Triangles as Triangles
from terrain_physics.surface.shape_rows import Boxes as Boxes
from terrain_physics.surface.shape_rows import Capsules as Capsules
from terrain_physics.surface.shape_rows import Spheres as Spheres
from terrain_physics.surface.surface import Surface as Surface
from terrain_physics.tiles.edit_records import LostEdit as LostEdit
from terrain_physics.tiles.generated import GeneratedTiles as GeneratedTiles
from terrain_physics.tiles.samples import Tile as Tile
from terrain_physics.tiles.tiled_ground import TiledGround as TiledGround
from terrain_physics.walkability.field import Field as Field
from terrain_physics.walkability.path import Path as Path
from terrain_physics.walkability.walkability import Walkability as Walkability
from terrain_physics.walkability.ways.graph import WalkGraph as WalkGraph
from terrain_physics.warmup import warm_up as warm_up
from terrain_physics.world.compare import Mismatch as Mismatch
from terrain_physics.world.rewind import Rewind as Rewind
from terrain_physics.world.state import WorldState as WorldState
from terrain_physics.world.world import World as World

__all__ = [
    "AABB",
    "OBB",
    "Axes",
    "BlockBounds",
    "BoxCollider",
    "Boxes",
    "Capsule",
    "CapsuleCollider",
    "Capsules",
    "CharacterGroup",
    "CharacterMovement",
    "CharacterRules",
    "CharacterState",
    "CharacterView",
    "ClosestPoint",
    "ClosestPoints",
    "Contact",
    "ContactBuffer",
    "Contacts",
    "Field",
    "FixedStep",
    "GeneratedTiles",
    "Ground",
    "GroundReport",
    "GroundState",
    "GroupMember",
    "GroupResult",
    "GroupState",
    "HeightMap",
    "LostEdit",
    "MapCells",
    "MeshArrays",
    "Mismatch",
    "MoveHit",
    "MoveHits",
    "MoveResult",
    "Neighbors",
    "Octree",
    "OctreeHit",
    "Path",
    "Plane",
    "Ray",
    "RayHit",
    "RayHits",
    "Recording",
    "Region",
    "Rewind",
    "Segment",
    "Sphere",
    "SphereCollider",
    "Spheres",
    "Squeeze",
    "Surface",
    "SweepHit",
    "SweepHits",
    "Tile",
    "TiledGround",
    "TouchCounter",
    "Triangle",
    "TriangleMesh",
    "Triangles",
    "WalkGraph",
    "Walkability",
    "World",
    "WorldState",
    "__version__",
    "closest_point_on_segment",
    "closest_point_on_triangle",
    "count_touching",
    "crossing_segment",
    "intersect",
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
    "raycast",
    "raycast_aabb",
    "raycast_capsule",
    "raycast_obb",
    "raycast_sphere",
    "raycast_triangle",
    "replay",
    "smallest_enclosing_sphere",
    "surface_touches",
    "warm_up",
]

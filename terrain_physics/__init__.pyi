from terrain_physics._version import __version__ as __version__
from terrain_physics.character import CharacterMovement as CharacterMovement
from terrain_physics.character_state import CharacterState as CharacterState
from terrain_physics.colliders import BoxCollider as BoxCollider
from terrain_physics.colliders import SphereCollider as SphereCollider
from terrain_physics.contacts import MoveResult as MoveResult
from terrain_physics.contacts import Triangles as Triangles
from terrain_physics.contest import TouchCounter as TouchCounter
from terrain_physics.contest import count_touching as count_touching
from terrain_physics.heightmap import HeightMap as HeightMap
from terrain_physics.intersect import intersect_obb_triangle as intersect_obb_triangle
from terrain_physics.intersect import intersect_obb_triangle_many as intersect_obb_triangle_many
from terrain_physics.intersect import intersect_sphere_triangle as intersect_sphere_triangle
from terrain_physics.intersect import (
    intersect_sphere_triangle_many as intersect_sphere_triangle_many,
)
from terrain_physics.shapes import AABB as AABB
from terrain_physics.shapes import OBB as OBB
from terrain_physics.shapes import Ray as Ray
from terrain_physics.shapes import Sphere as Sphere
from terrain_physics.shapes import Triangle as Triangle
from terrain_physics.warmup import warm_up as warm_up

__all__ = [
    "AABB",
    "OBB",
    "BoxCollider",
    "CharacterMovement",
    "CharacterState",
    "HeightMap",
    "MoveResult",
    "Ray",
    "Sphere",
    "SphereCollider",
    "TouchCounter",
    "Triangle",
    "Triangles",
    "__version__",
    "count_touching",
    "intersect_obb_triangle",
    "intersect_obb_triangle_many",
    "intersect_sphere_triangle",
    "intersect_sphere_triangle_many",
    "warm_up",
]

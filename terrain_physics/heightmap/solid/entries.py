"""What entries in C know of a map alone and of the questions to it: see ``_build/quick/``.

Whoever edits what these questions ask of a map edits ``_build/quick/questions.c`` too.
"""

from typing import Any

from terrain_physics._kernels._quick import put_entries, slots, tell_of
from terrain_physics._kernels.ground.closest import closest_one
from terrain_physics._kernels.ground.contacts import contacts_with_ground
from terrain_physics._kernels.ground.inside import contains_one, signed_distance_one
from terrain_physics._kernels.ground.rays import ray_hit
from terrain_physics._kernels.ground.sweeps import sweep_one
from terrain_physics._kernels.heightmap.grid import height_at, normal_at
from terrain_physics._kernels.heightmap.one_shape import contacts_of_shape, contacts_of_sphere
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.surface.shapes import BOX, CAPSULE, SPHERE
from terrain_physics.geometry.shapes import AABB, OBB, Capsule, Ray, Sphere
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.surface.answers.contacts import materials_of
from terrain_physics.surface.ground_arrays import GroundArrays, no_skins
from terrain_physics.surface.naming import NO_NAMES, Naming
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.results import ClosestPoint, Contacts, RayHit, SweepHit, new_hit
from terrain_physics.surface.surface import KEPT_BY_ENTRIES, Surface


def put_entries_of_maps(storage: type) -> None:
    """Have entries stand in for the questions that are usually to a map alone.

    ``storage`` is the class of the arrays of such a map.
    """
    tell_of(
        "maps",
        *(Queries, *slots(Queries, "keeper", "source"), SolidMap),
        *(*slots(SolidMap, "_bare_at", "_arrays_at", "_arrays", "storage"), storage),
        *slots(storage, "version", "lock", "ground_arrays", "views", "materials"),
    )
    of_shapes = Sphere, Capsule, OBB, AABB, SPHERE, CAPSULE, BOX
    of_any = *of_shapes, contacts_of_shape, contacts_with_ground
    found = Contacts, *slots(Contacts, "_ints", "_floats", "_material")
    _put("raycast", NO_NAMES, ray_hit, RayHit, Ray)
    _put("closest_point", NO_NAMES, closest_one, ClosestPoint, None)
    _put("contains", None, contains_one, None, None)
    _put("signed_distance", None, signed_distance_one, None, None)
    _put("height_at", None, height_at, None, 0.0)
    _put("normal_at", None, normal_at, None, 0.0)
    _put("contacts", NO_NAMES, contacts_of_sphere, None, *of_any, materials_of, *found)
    _put("touches", None, contacts_of_sphere, None, *of_any, None, *found)
    skins = *slots(GroundArrays, "find_skins"), no_skins
    _put("sweep", NO_NAMES, sweep_one, SweepHit, *of_shapes, *skins)


def _put(name: str, no_names: Naming | None, kernel: Any, hit: type | None, *more: Any) -> None:
    """Put the entry of a question; of names it is told where it must know that there are none."""
    naming, made_of = slots(SolidMap, "naming"), slots(GroundArrays, "made_of")
    of_all = *KEPT_BY_ENTRIES, *naming, no_names, kernel, *made_of, ALL_LAYERS, new_hit, hit
    put_entries((*of_all, *more), (Surface, name))

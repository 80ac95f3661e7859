"""Straight ways of any length that a character walks for sure, both ways."""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep, replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.grounding import rise_of_slope
from terrain_physics._kernels.character.contacts.scene import (
    Scene,
    borrow_memory,
    empty_scene,
    make_memory,
)
from terrain_physics._kernels.character.state.layout import MASK, SIMULTANEOUS
from terrain_physics._kernels.ground.table import GroundTable, ground_at
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, subtract
from terrain_physics._kernels.tolerances import WALL_CLEARANCE
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._kernels.walkability.even_ways import (
    StraightWalker,
    StraightWay,
    course_between,
    is_at_mover,
    is_even_both_ways,
    scene_along,
    walker_of,
)
from terrain_physics._kernels.walkability.resting import highest_rise
from terrain_physics._kernels.walkability.sheet import closed_part

# A way is proved in pieces of about this length, in half extents of the body.
_PIECE = 5.0

# A character that is led along a way is beside it by up to this share of its least half extent.
_BESIDE = 0.125


@kernel(inline=True)
def _with_room(walker: StraightWalker) -> StraightWalker:
    """Return a walker whose body is wider by how far it may be beside its way."""
    room = _BESIDE * walker.body.least
    half = add(walker.body.half_extents, (room, 0.0, room))
    return replaced(walker, body=replaced(walker.body, half_extents=half))


@kernel(noinline=True, no_refcount=True)
def _is_open(scene: Scene, walker: StraightWalker, course: StraightWay, rise: float) -> bool:
    """Tell whether the land along a way is open, also beside it; its end is so much higher."""
    end = (course.heading[0] * course.length, 0.0, course.heading[2] * course.length)
    if abs(highest_rise(scene, end) - rise) > WALL_CLEARANCE:
        return False
    wide = replaced(scene, body=_with_room(walker).body)
    first, _ = closed_part(wide, course.heading, course.length, walker.movement.walkable)
    return bool(first == np.inf)


@kernel(noinline=True)
def _holds_beside(
    scene: Scene, walker: StraightWalker, start: Vec3, end: Vec3, ground: GroundTable
) -> bool:
    """Tell whether the lines to both sides of a way are even, where a body that is led may be.

    They begin and end on top of the ground there, which is no riser above or below the way.
    """
    course, room = course_between(walker, start, end), _BESIDE * walker.body.least
    across = (-room * course.heading[2], 0.0, room * course.heading[0])
    most = rise_of_slope(room, walker.movement.walkable) + WALL_CLEARANCE
    way = subtract(end, start)
    for side in (1.0, -1.0):
        beside = (side * across[0], 0.0, side * across[2])
        scene = scene_along(scene, _with_room(walker), course, ground)
        up = highest_rise(scene, beside)
        up_there = highest_rise(scene, add(beside, (way[0], 0.0, way[2])))
        if abs(up) > most or abs(up_there - way[1]) > most:
            return False
        first = add(start, (beside[0], up, beside[2]))
        last = add(start, add(beside, (way[0], up_there, way[2])))
        if not is_even_both_ways(scene, walker, first, last, ground):
            return False
    return True


@kernel(noinline=True)
def way_holds(
    table: Int64s, rules: Floats, speed: float, seconds: float, start: Vec3, end: Vec3
) -> bool:
    """Tell whether a character for sure walks straight between two positions, both ways.

    So does one that is led, and may be a little beside the line. Both are positions at rest, not
    above each other; ``rules`` is its row of rules, ``seconds`` are those of an update. A way that
    does not hold may be walked even so. Between pieces a way leads over its highest ground, so that
    ways under a bridge do not hold.
    """
    x, z = end[0] - start[0], end[2] - start[2]
    length = math.sqrt(x * x + z * z)
    memory, draws = make_memory(), np.zeros(1, dtype=np.uint64)
    lent = borrow_memory(memory)
    walker = walker_of(rules, speed, max(length, 1e-9), seconds)
    scene = empty_scene(walker.body, SIMULTANEOUS, borrow(draws), lent)
    ground = ground_at(table, int(rules[MASK]), lent.part_shifts)
    pieces = max(math.ceil(length / (_PIECE * walker.body.least)), 1.0)
    wide = _with_room(walker)
    holds, place, done = walker.is_known and length > 0.0, start, 0.0
    while holds and done < pieces:
        done += 1.0
        aim = add_scaled(start, subtract(end, start), done / pieces)
        course = course_between(walker, place, (aim[0], place[1], aim[2]))
        scene = scene_along(scene, wide, course, ground)
        rise = highest_rise(scene, (aim[0] - place[0], 0.0, aim[2] - place[2]))
        stop = (aim[0], place[1] + rise, aim[2]) if done < pieces else end
        holds = not is_at_mover(scene, ground) and (
            _is_open(scene, walker, course, stop[1] - place[1])
            or (
                is_even_both_ways(scene, walker, place, stop, ground)
                and _holds_beside(scene, walker, place, stop, ground)
            )
        )
        place = stop
    keep(memory)
    keep(draws)
    return holds

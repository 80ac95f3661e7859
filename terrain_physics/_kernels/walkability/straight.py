"""Straight ways of any length that a character walks for sure, both ways."""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.scene import (
    borrow_memory,
    empty_scene,
    make_memory,
)
from terrain_physics._kernels.character.state.layout import MASK, SIMULTANEOUS
from terrain_physics._kernels.ground.table import ground_at
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, subtract
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._kernels.walkability.layout import UPDATE_SECONDS
from terrain_physics._kernels.walkability.resting import highest_rise
from terrain_physics._kernels.walkability.strides import (
    course_between,
    is_even_both_ways,
    scene_along,
    walker_of,
)

# A way is proved in pieces of about this length, in half extents of the body.
_PIECE = 5.0


@kernel(noinline=True)
def way_holds(table: Int64s, rules: Floats, speed: float, start: Vec3, end: Vec3) -> bool:
    """Tell whether a character for sure walks straight between two positions, both ways.

    Both are positions at rest, not above each other; ``rules`` is its row of rules. A way that does
    not hold may be walked even so. Between pieces a way leads over its highest ground, so that ways
    under a bridge do not hold.
    """
    x, z = end[0] - start[0], end[2] - start[2]
    length = math.sqrt(x * x + z * z)
    memory, draws = make_memory(), np.zeros(1, dtype=np.uint64)
    lent = borrow_memory(memory)
    walker = walker_of(rules, speed, max(length, 1e-9), UPDATE_SECONDS)
    scene = empty_scene(walker.body, SIMULTANEOUS, borrow(draws), lent)
    ground = ground_at(table, int(rules[MASK]), lent.part_shifts)
    pieces = max(math.ceil(length / (_PIECE * walker.body.least)), 1.0)
    holds, place, done = walker.is_known and length > 0.0, start, 0.0
    while holds and done < pieces:
        done += 1.0
        aim = add_scaled(start, subtract(end, start), done / pieces)
        course = course_between(walker, place, (aim[0], place[1], aim[2]))
        scene = scene_along(scene, walker, course, ground)
        rise = highest_rise(scene, (aim[0] - place[0], 0.0, aim[2] - place[2]))
        stop = (aim[0], place[1] + rise, aim[2]) if done < pieces else end
        holds = is_even_both_ways(scene, walker, place, stop, ground)
        place = stop
    keep(memory)
    keep(draws)
    return holds

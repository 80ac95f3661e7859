"""Resting heights: where a body that comes down on a place stands."""

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.depenetrate_upward import rise_onto
from terrain_physics._kernels.character.contacts.find_contacts import is_buried, list_contacts
from terrain_physics._kernels.character.contacts.scene import (
    PUSH,
    Memory,
    Scene,
    borrow_memory,
    empty_scene,
    gathered,
    make_memory,
    scene_around,
)
from terrain_physics._kernels.character.state.layout import (
    MASK,
    OFFSET,
    SIMULTANEOUS,
    SLOPE_COSINE,
    three_at,
    unpack_body,
)
from terrain_physics._kernels.ground.solids import is_in_solid
from terrain_physics._kernels.ground.table import GroundTable, ground_at, has_movers
from terrain_physics._kernels.math.vec3 import Vec3, add
from terrain_physics._kernels.tolerances import CONTACT_MARGIN, SLOP, SLOPE_SLACK
from terrain_physics._kernels.types import Float32s, Floats, Int64s, UInt64s

# Beyond all ground, in meters: places are made over all of it, however deep and high.
_FAR = 1e30


@kernel(noinline=True, no_refcount=True)
def _stands(scene: Scene, offset: Vec3, walkable: float) -> bool:
    """Tell whether a body at an offset overlaps nothing and is on walkable ground.

    Wedged between steep faces it has come to lie on one of them first, and slid from there.
    """
    manifold, upright = list_contacts(scene, offset), 0.0
    if max(manifold.depth, manifold.overlap) > SLOP or is_buried(scene, offset):
        return False
    for i in range(manifold.contacts):
        upright = max(upright, float(scene.contacts[i, PUSH + 1]))
    return upright >= walkable


@kernel(noinline=True, no_refcount=True)
def highest_rise(scene: Scene, offset: Vec3) -> float:
    """Return how far up a body at an offset comes to lie on top of all ground; -inf: none."""
    best = -np.inf
    for k in range(scene.size):
        best = max(best, rise_onto(scene.candidates, k, offset, scene.body, scene.work))
    return best


@kernel(noinline=True)
def _stands_in_world(
    rules: Floats, center: Vec3, draws: UInt64s, ground: GroundTable, memory: Memory
) -> bool:
    """Tell the same of a body in the world, among what is there for it.

    One-way parts that it is not before are not there, and no body stands in a solid mesh.
    """
    scene = scene_around(rules, center, 0.0, draws, ground, memory)
    walkable = float(rules[SLOPE_COSINE]) - SLOPE_SLACK
    return _stands(scene, (0.0, 0.0, 0.0), walkable) and not is_in_solid(ground, center)


@kernel(noinline=True)
def _put_levels(
    rules: Floats, scene: Scene, origin: Vec3, draws: UInt64s, ground: GroundTable,
    memory: Memory, heights: Float32s, place: int, step: int, levels: int,
) -> None:  # fmt: skip
    """Write the lowest heights at which a body stands, level by level, lowest first."""
    count, level, below = scene.size, 0, -np.inf
    rises = np.empty(max(count, 1), dtype=np.float64)
    for k in range(count):
        rises[k] = rise_onto(scene.candidates, k, (0.0, 0.0, 0.0), scene.body, scene.work)
    while level < levels:
        up = np.inf
        for k in range(count):
            if below < rises[k] < up:
                up = rises[k]
        if up == np.inf:
            break
        below = up + CONTACT_MARGIN
        center = add(origin, (0.0, up, 0.0))
        if _stands_in_world(rules, center, draws, ground, memory):
            heights[place + level * step] = np.float32(center[1] - float(rules[OFFSET + 1]))
            level += 1


@kernel
def put_heights(
    table: Int64s, rules: Floats, lower_x: float, lower_z: float, spacing: float,
    heights: Float32s, levels: int, rows: int, columns: int, numbers: Int64s, first: int, last: int,
) -> None:  # fmt: skip
    """Write the heights at which a character rests, at columns of places numbers[first:last].

    ``rules`` is its row of rules, ``heights`` (levels * rows * columns,). On one level it is the
    highest ground that counts, and it may be too steep or without room: NaN.
    """
    table, rules, heights, numbers = borrow(table), borrow(rules), borrow(heights), borrow(numbers)
    memory, draws, body = make_memory(), np.zeros(1, dtype=np.uint64), unpack_body(rules)
    lent, walkable, center = (
        borrow_memory(memory),
        float(rules[SLOPE_COSINE]) - SLOPE_SLACK,
        three_at(rules, OFFSET),
    )
    own = make_memory()
    ground = ground_at(table, int(rules[MASK]), lent.part_shifts)
    reach = (body.half_extents[0] + CONTACT_MARGIN, _FAR, body.half_extents[2] + CONTACT_MARGIN)
    for i in range(first, last):
        place = int(numbers[i])
        x, z = lower_x + spacing * (place % columns), lower_z + spacing * (place // columns)
        origin = add((x, 0.0, z), (center[0], center[1], center[2]))
        for level in range(levels):
            heights[place + level * rows * columns] = np.nan
        scene = empty_scene(body, SIMULTANEOUS, borrow(draws), lent)
        lower = (origin[0] - reach[0], -_FAR, origin[2] - reach[2])
        upper = (origin[0] + reach[0], _FAR, origin[2] + reach[2])
        scene = gathered(scene, ground, origin, lower, upper)
        if levels > 1 or has_movers(ground):
            _put_levels(
                rules, scene, origin, borrow(draws), ground, borrow_memory(own), heights, place,
                rows * columns, levels,
            )  # fmt: skip
            continue
        up = highest_rise(scene, (0.0, 0.0, 0.0))
        if up > -np.inf and _stands(scene, (0.0, up, 0.0), walkable):
            heights[place] = np.float32(origin[1] + up - center[1])
    keep(memory)
    keep(own)
    keep(draws)

"""Resizing of a body where it stands, if the new shape fits."""

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.depenetrate_upward import rise_onto
from terrain_physics._kernels.character.contacts.find_contacts import is_buried, list_contacts
from terrain_physics._kernels.character.contacts.scene import (
    CANDIDATE,
    DEPTH,
    PUSH,
    Scene,
    borrow_memory,
    make_memory,
    scene_around,
)
from terrain_physics._kernels.character.state.layout import (
    CONTACT_SIGNATURE,
    KIND,
    LAST_PLACE,
    MASK,
    OFFSET,
    POSITION,
    ROTATION,
    SLOPE_COSINE,
    UNDISTURBED,
    unpack_body,
)
from terrain_physics._kernels.ground.table import ground_at
from terrain_physics._kernels.math.vec3 import Vec3, add
from terrain_physics._kernels.tolerances import CONVERGED_DEPTH, SLOP, SLOPE_SLACK
from terrain_physics._kernels.types import Floats, Int64s, UInt64s

# The shape's part of the rules.
SHAPE_SIZE = ROTATION + 9

# Looks at the ground that the feet of a wider body come to stand on.
_MOST_LOOKS = 4


@kernel
def _rise_of_wider_feet(scene: Scene, offset: Vec3, count: int, walkable: float) -> float:
    """Return how far up the walkable contacts among those listed push a body."""
    best = 0.0
    for i in range(count):
        if scene.contacts[i, DEPTH] > SLOP and scene.contacts[i, PUSH + 1] >= walkable:
            which = int(scene.contacts[i, CANDIDATE])
            best = max(
                best,
                rise_onto(scene.candidates, which, offset, scene.body, scene.work),
            )
    return best


@kernel
def resize_body(
    state: Floats,
    rules: Floats,
    wanted: Floats,
    random_state: UInt64s,
    table: Int64s,
) -> bool:
    """Give a body the shape in ``wanted`` (RULES_SIZE,) if that fits; tell whether it does.

    The feet stay at their height, but wider feet rise on a walkable slope. The shape fits if it is
    in nothing else deeper than the body is now.
    """
    memory, draws = make_memory(), borrow(random_state)
    ground = ground_at(table, int(rules[MASK]), memory.part_shifts)
    position = (float(state[POSITION]), float(state[POSITION + 1]), float(state[POSITION + 2]))
    old_offset = (float(rules[OFFSET]), float(rules[OFFSET + 1]), float(rules[OFFSET + 2]))
    offset = (float(wanted[OFFSET]), float(wanted[OFFSET + 1]), float(wanted[OFFSET + 2]))

    scene = scene_around(
        borrow(rules), add(position, old_offset), 0.0, draws, ground, borrow_memory(memory)
    )
    _, deepest, overlapping = list_contacts(scene, (0.0, 0.0, 0.0))
    depth_before = max(deepest, overlapping, CONVERGED_DEPTH)
    buried_before = is_buried(scene, (0.0, 0.0, 0.0))
    old_foot = old_offset[1] - scene.body.half_extents[1]

    shape = unpack_body(wanted)
    down = old_foot - (offset[1] - shape.half_extents[1])
    position = (position[0], position[1] + down, position[2])
    room = shape.half_extents[0] + shape.half_extents[2]
    scene = scene_around(
        borrow(wanted), add(position, offset), room, draws, ground, borrow_memory(memory)
    )
    walkable = float(rules[SLOPE_COSINE]) - SLOPE_SLACK
    up = 0.0
    for _ in range(_MOST_LOOKS):
        count, _, _ = list_contacts(scene, (0.0, up, 0.0))
        more = _rise_of_wider_feet(scene, (0.0, up, 0.0), count, walkable)
        if more == 0.0 or up + more > room:
            break
        up += more
    _, deepest, overlapping = list_contacts(scene, (0.0, up, 0.0))
    fits = max(deepest, overlapping) <= depth_before and (
        buried_before or not is_buried(scene, (0.0, up, 0.0))
    )
    keep(memory)
    if fits:
        # The last place is now that of the new body: this is no teleport.
        state[LAST_PLACE + 1] += down + up
        state[POSITION + 1] = position[1] + up
        state[UNDISTURBED] = state[CONTACT_SIGNATURE] = 0.0
        for i in range(KIND, SHAPE_SIZE):
            rules[i] = wanted[i]
    return fits

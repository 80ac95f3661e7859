"""Change of a body's shape where it stands, if the new shape fits."""

from typing import NamedTuple

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
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import three_at, unpack_body
from terrain_physics._kernels.ground.table import ground_at
from terrain_physics._kernels.math.vec3 import Vec3, add
from terrain_physics._kernels.tolerances import CONVERGED_DEPTH, SLOP, SLOPE_SLACK
from terrain_physics._kernels.types import Floats, Int64s, UInt64s

# Count of the numbers at the start of the rules that are the shape.
SHAPE_SIZE = at.ROTATION + 9

# Most looks at the ground for the height on which a wider body stands.
_MOST_LOOKS = 4


class _Fit(NamedTuple):
    """How deep a body is in the ground."""

    depth: float  # greatest depth of a contact or overlap with a triangle alone, in meters
    is_buried: bool


@kernel(inline=True)
def _fit(scene: Scene, offset: Vec3) -> _Fit:
    """Return how deep a body is in the ground at an offset."""
    _, deepest, overlapping = list_contacts(scene, offset)
    return _Fit(max(deepest, overlapping), is_buried(scene, offset))


@kernel
def _rise_of_contacts(scene: Scene, offset: Vec3, count: int, walkable: float) -> float:
    """Return how far up the walkable ones among the listed contacts push a body."""
    best = 0.0
    for i in range(count):
        if scene.contacts[i, DEPTH] > SLOP and scene.contacts[i, PUSH + 1] >= walkable:
            which = int(scene.contacts[i, CANDIDATE])
            rise = rise_onto(scene.candidates, which, offset, scene.body, scene.work)
            best = max(best, rise)
    return best


@kernel
def _rise_of_wider_feet(scene: Scene, room: float, walkable: float) -> float:
    """Return the rise at which a wider body stands on a slope, at most ``room``."""
    up = 0.0
    for _ in range(_MOST_LOOKS):
        count, _, _ = list_contacts(scene, (0.0, up, 0.0))
        more = _rise_of_contacts(scene, (0.0, up, 0.0), count, walkable)
        if more == 0.0 or up + more > room:
            break
        up += more
    return up


@kernel
def _put_shape(state: Floats, rules: Floats, wanted: Floats, height: float, rise: float) -> None:
    """Write a shape to the rules, and the character's new ``height`` to the state.

    ``rise`` is the difference from the height before.
    """
    # The last place moves along, so that the next update sees no teleport.
    state[at.LAST_PLACE + 1] += rise
    state[at.POSITION + 1] = height
    state[at.UNDISTURBED] = state[at.CONTACT_SIGNATURE] = 0.0
    for i in range(at.KIND, SHAPE_SIZE):
        rules[i] = wanted[i]


@kernel
def resize_body(
    state: Floats, rules: Floats, wanted: Floats, random_state: UInt64s, table: Int64s
) -> bool:
    """Give a body the shape in ``wanted`` (RULES_SIZE,) if that fits; tell whether it does.

    The foot stays at its height, but a wider body rises on a walkable slope. The shape fits if it
    is no deeper in the ground than the body is now.
    """
    memory, draws = make_memory(), borrow(random_state)
    own_memory, ground = (
        borrow_memory(memory),
        ground_at(table, int(rules[at.MASK]), memory.part_shifts),
    )
    position, old_offset, offset = (
        three_at(state, at.POSITION),
        three_at(rules, at.OFFSET),
        three_at(wanted, at.OFFSET),
    )
    scene = scene_around(borrow(rules), add(position, old_offset), 0.0, draws, ground, own_memory)
    before = _fit(scene, (0.0, 0.0, 0.0))
    old_foot = old_offset[1] - scene.body.half_extents[1]

    shape = unpack_body(wanted)
    down = old_foot - (offset[1] - shape.half_extents[1])
    position = (position[0], position[1] + down, position[2])
    room = shape.half_extents[0] + shape.half_extents[2]
    scene = scene_around(borrow(wanted), add(position, offset), room, draws, ground, own_memory)
    up = _rise_of_wider_feet(scene, room, float(rules[at.SLOPE_COSINE]) - SLOPE_SLACK)
    after = _fit(scene, (0.0, up, 0.0))
    keep(memory)
    fits = after.depth <= max(before.depth, CONVERGED_DEPTH) and (
        before.is_buried or not after.is_buried
    )
    if fits:
        _put_shape(state, rules, wanted, position[1] + up, down + up)
    return fits

"""Ground material: the triangle under each character as an update begins, for material rules.

It is found anew from the character's place. The report of the last update cannot be used: a saved
state lacks it, and the ground may have changed since.
"""

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import list_contacts
from terrain_physics._kernels.character.contacts.scene import (
    CANDIDATE,
    Memory,
    borrow_memory,
    make_memory,
    scene_around,
)
from terrain_physics._kernels.character.moving_base.moving_base import carried_center
from terrain_physics._kernels.character.reports.report import foremost_contact, foremost_point
from terrain_physics._kernels.character.sleep.sleep import is_asleep
from terrain_physics._kernels.character.state.layout import (
    GROUND_NORMAL,
    GROUNDED,
    MASK,
    RULES_SIZE,
    STATE_SIZE,
    put_three_at,
    three_at,
    unpack_body,
)
from terrain_physics._kernels.character.state.work import begin
from terrain_physics._kernels.ground.candidates import PART, TRIANGLE
from terrain_physics._kernels.ground.table import GroundTable, ground_at
from terrain_physics._kernels.types import Floats, Int64s, UInt64s

# Columns of a ground material: part and number of the triangle, and the point touched, in meters in
# the world. Part -1 means none.
UNDER_PART, UNDER_TRIANGLE, UNDER_POINT = 0, 1, 2
GROUND_MATERIAL_SIZE = 5


@kernel(noinline=True)
def _put_triangle(
    state: Floats, rules: Floats, draws: UInt64s, ground: GroundTable, memory: Memory, out: Floats
) -> None:
    """Write the triangle that a grounded body stands on."""
    center = carried_center(state, rules, unpack_body(rules), ground)
    normal = three_at(state, GROUND_NORMAL)
    scene = scene_around(rules, center, 0.0, draws, ground, memory)
    count, _, _ = list_contacts(scene, (0.0, 0.0, 0.0))
    best = foremost_contact(scene, count, normal)
    if best < 0:
        return
    which = int(scene.contacts[best, CANDIDATE])
    out[UNDER_PART] = scene.candidates[which, PART]
    out[UNDER_TRIANGLE] = scene.candidates[which, TRIANGLE]
    put_three_at(out, UNDER_POINT, foremost_point(scene, center, normal))


@kernel
def put_ground_material(
    states: Floats,
    random_states: UInt64s,
    rules: Floats,
    which: Int64s,
    first: int,
    last: int,
    table: Int64s,
    out: Floats,
) -> None:
    """Write the ground of characters ``which[first:last]`` to ``out`` (m * GROUND_MATERIAL_SIZE,).

    ``states``, ``random_states`` and ``rules`` are as of `update_characters`; no random numbers are
    drawn. A character in the air or asleep gets none, since no update would ask for it.
    """
    states, random_states, rules = borrow(states), borrow(random_states), borrow(rules)
    memory, out = make_memory(), borrow(out)
    for k in range(first, last):
        i, own = int(which[k]), out[k * GROUND_MATERIAL_SIZE : (k + 1) * GROUND_MATERIAL_SIZE]
        state = states[i * STATE_SIZE : (i + 1) * STATE_SIZE]
        own_rules = rules[i * RULES_SIZE : (i + 1) * RULES_SIZE]
        own[UNDER_PART] = -1.0
        if state[GROUNDED] == 0.0 or is_asleep(state, own_rules):
            continue
        own_memory = borrow_memory(memory)
        begin(own_memory.work, 0.0)
        ground = ground_at(table, int(own_rules[MASK]), own_memory.part_shifts)
        _put_triangle(state, own_rules, random_states[i : i + 1], ground, own_memory, own)
    keep(memory)

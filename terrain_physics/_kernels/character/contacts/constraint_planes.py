"""Constraint planes of a body where it stands, computed when a game asks for them."""

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import list_contacts
from terrain_physics._kernels.character.contacts.grounding import MOST_PLANES
from terrain_physics._kernels.character.contacts.scene import (
    DEPTH,
    PUSH,
    borrow_memory,
    make_memory,
    scene_around,
)
from terrain_physics._kernels.character.state.layout import MASK, OFFSET, POSITION
from terrain_physics._kernels.ground.candidates import three
from terrain_physics._kernels.ground.table import ground_at
from terrain_physics._kernels.math.vec3 import dot
from terrain_physics._kernels.surface.shapes import extent_along
from terrain_physics._kernels.tolerances import SAME_NORMAL_COSINE
from terrain_physics._kernels.types import Floats, Int64s, UInt64s


@kernel
def put_constraint_planes(
    state: Floats,
    rules: Floats,
    random_state: UInt64s,
    out: Floats,
    table: Int64s,
) -> int:
    """Write normal and offset of the planes a body touches, (MOST_PLANES, 4); return how many.

    Contacts with the same normal make one plane, that of the deepest. Nothing else is written to,
    not even the random state.
    """
    memory = make_memory()
    ground = ground_at(table, int(rules[MASK]), memory.part_shifts)
    center = (
        float(state[POSITION]) + float(rules[OFFSET]),
        float(state[POSITION + 1]) + float(rules[OFFSET + 1]),
        float(state[POSITION + 2]) + float(rules[OFFSET + 2]),
    )
    scene = scene_around(
        borrow(rules), center, 0.0, borrow(random_state), ground, borrow_memory(memory)
    )
    count, _, _ = list_contacts(scene, (0.0, 0.0, 0.0))
    planes = 0
    for i in range(count):
        normal = three(scene.contacts, i, PUSH)
        place = 0
        while place < planes and dot(normal, three(out, place, 0)) <= SAME_NORMAL_COSINE:
            place += 1
        if place == MOST_PLANES:
            continue
        deep = float(scene.contacts[i, DEPTH]) - extent_along(scene.body, normal)
        offset = dot(normal, center) + deep
        if place == planes:
            planes += 1
        elif offset <= out[place, 3]:
            continue
        out[place, 0], out[place, 1], out[place, 2] = normal
        out[place, 3] = offset
    keep(memory)
    return planes

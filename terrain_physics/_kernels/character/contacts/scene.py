"""A body among candidates: the broad phase of a step, and the working memory of an update."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.grounding import MOST_PLANES
from terrain_physics._kernels.character.contacts.one_way import leave_out_passed
from terrain_physics._kernels.character.state.layout import SIMULTANEOUS, unpack_body
from terrain_physics._kernels.character.state.work import (
    GATHERED,
    LOOK,
    is_spent,
    may_gather,
    new_work,
    spend,
)
from terrain_physics._kernels.ground.candidates import CANDIDATE_SIZE, gather_candidates
from terrain_physics._kernels.ground.movers import is_one_way_near, no_part_shifts
from terrain_physics._kernels.ground.nearby import FEW, put_runs
from terrain_physics._kernels.ground.table import GroundTable, has_movers, with_step_start
from terrain_physics._kernels.math.vec3 import Vec3, add, subtract
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.tolerances import CONTACT_MARGIN
from terrain_physics._kernels.types import Floats, Int64s, UInt64s

# Column of a plane behind its normal: its candidate, or the value below.
PLANE_CANDIDATE = 3

PLANE_SIZE = 4

NO_CANDIDATE = -1

# Columns of a contact.
CANDIDATE, DEPTH, PUSH = 0, 1, 2

CONTACT_SIZE = 5

# Candidates there is room for at first.
_ROOM = 128


class Scene(NamedTuple):
    """A body among candidates, with the working memory that every step of an update uses."""

    candidates: Floats  # (.., CANDIDATE_SIZE), relative to a base
    size: int  # how many candidates
    body: Body
    contacts: Floats  # (.., CONTACT_SIZE)
    order: Int64s  # (..,)
    work: Floats  # (1,), the work done so far: see `state.work`
    planes: Floats  # (MOST_PLANES, PLANE_SIZE), met in this step
    resolver: int
    random_state: UInt64s


class Memory(NamedTuple):
    """Working memory of a scene. One memory may serve one scene after another."""

    candidates: Floats
    contacts: Floats
    order: Int64s
    work: Floats
    planes: Floats
    part_shifts: Floats  # (MOST_SHIFTED, SHIFT_SIZE), see `ground.movers`


@kernel
def make_memory() -> Memory:
    """Return working memory for the ground around a body of about the size of its cells.

    Work in it has no bound until `work.begin` counts it.
    """
    return Memory(
        np.empty((_ROOM, CANDIDATE_SIZE), dtype=np.float64),
        np.empty((_ROOM, CONTACT_SIZE), dtype=np.float64),
        np.empty(_ROOM, dtype=np.int64),
        new_work(),
        np.empty((MOST_PLANES, PLANE_SIZE), dtype=np.float64),
        no_part_shifts(),
    )


@kernel
def borrow_memory(memory: Memory) -> Memory:
    """Return memory without counted references; see `borrow`."""
    return Memory(
        borrow(memory.candidates),
        borrow(memory.contacts),
        borrow(memory.order),
        borrow(memory.work),
        borrow(memory.planes),
        borrow(memory.part_shifts),
    )


@kernel(inline=True)
def empty_scene(body: Body, resolver: int, random_state: UInt64s, memory: Memory) -> Scene:
    """Return a scene without candidates that works in a memory."""
    return Scene(
        memory.candidates,
        0,
        body,
        memory.contacts,
        memory.order,
        memory.work,
        memory.planes,
        resolver,
        random_state,
    )


@kernel(noinline=True)
def _more_room(count: int) -> tuple[Floats, Int64s]:
    """Return contacts and order for many candidates."""
    contacts = np.empty((count, CONTACT_SIZE), dtype=np.float64)
    return contacts, np.empty(count, dtype=np.int64)


@kernel(inline=True)
def _filled(scene: Scene, candidates: Floats, count: int) -> Scene:
    """Return the scene with other candidates, and with more working memory if they need it."""
    contacts, order = scene.contacts, scene.order
    if count > len(order):
        contacts, order = _more_room(count)
    return replaced(scene, candidates=candidates, size=count, contacts=contacts, order=order)


@kernel(inline=True)
def gathered(scene: Scene, ground: GroundTable, origin: Vec3, lower: Vec3, upper: Vec3) -> Scene:
    """Return the broad phase: a scene of triangles near a box; empty if that is too much work."""
    candidates, count, came_upon = gather_candidates(
        ground, origin, lower, upper, scene.candidates, may_gather(scene.work)
    )
    spend(scene.work, LOOK + GATHERED * came_upon)
    if has_movers(ground) and is_one_way_near(ground.part_shifts):
        all_of_them = count
        count = leave_out_passed(ground, scene.body, origin, candidates, all_of_them)
        if FEW < count < all_of_them:
            put_runs(candidates, count)
    return _filled(scene, candidates, 0 if is_spent(scene.work) else count)


@kernel(noinline=True)
def scene_around(
    rules: Floats,
    center: Vec3,
    room: float,
    random_state: UInt64s,
    ground: GroundTable,
    memory: Memory,
) -> Scene:
    """Return the scene around the body that the rules hold, and ``room`` meters above it."""
    body = unpack_body(rules)
    wide = add(body.half_extents, (CONTACT_MARGIN, CONTACT_MARGIN, CONTACT_MARGIN))
    upper = add(center, add(wide, (0.0, room, 0.0)))
    scene = empty_scene(body, SIMULTANEOUS, random_state, memory)
    there = with_step_start(ground, center, np.inf)
    return gathered(scene, there, center, subtract(center, wide), upper)


@kernel(inline=True)
def look(
    scene: Scene, ground: GroundTable, origin: Vec3, far: float, drop: float, step: float
) -> Scene:
    """Return a scene of the same body at ``origin``, which may move by ``far`` in any direction.

    Down it may move by ``drop`` more. For a body that may climb, ``step`` > 0 is the height of the
    highest step: the scene reaches that much higher and twice as wide. It reuses the memory of
    ``scene``, and so overwrites its candidates.
    """
    body = scene.body
    wide = (body.half_extents[0] + far, body.half_extents[1] + far, body.half_extents[2] + far)
    if step > 0.0:  # a step is looked for beyond the body
        wide = (2.0 * wide[0], wide[1] + step, 2.0 * wide[2])
    lower = subtract(origin, (wide[0], wide[1] + drop, wide[2]))
    return gathered(scene, ground, origin, lower, add(origin, wide))

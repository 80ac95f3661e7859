"""Walls near a character in a crowd: their half-planes, and the ones that it remembers."""

import numpy as np

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import list_contacts
from terrain_physics._kernels.character.contacts.scene import CANDIDATE, DEPTH, PUSH, Scene
from terrain_physics._kernels.character.others.half_planes import (
    A_WALL,
    IS_TRIED,
    is_pushable,
    put_half_plane,
)
from terrain_physics._kernels.character.state.layout import MOST_WALLS, WALL_GAPS, WALLS
from terrain_physics._kernels.ground.candidates import A, B, C, three
from terrain_physics._kernels.math.vec3 import Vec3, dot, flat
from terrain_physics._kernels.surface.shapes import grown_body
from terrain_physics._kernels.tolerances import (
    KNOWN_WALL_DISTANCE,
    LEAST_DEFLECTION,
    OVERHEAD_COSINE,
    SAME_WALL_COSINE,
)
from terrain_physics._kernels.types import Floats


@kernel(inline=True, no_refcount=True)
def _is_steep(contacts: Floats, i: int, walkable: float) -> bool:
    """Tell whether a contact blocks a walk along the ground."""
    return bool(contacts[i, PUSH + 1] < walkable and contacts[i, PUSH + 1] >= -OVERHEAD_COSINE)


@kernel
def _list_near(scene: Scene, offset: Vec3, near: float) -> int:
    """Write the surfaces within ``near`` of a body, as contacts of a body larger by ``near``."""
    return list_contacts(replaced(scene, body=grown_body(scene.body, near)), offset).contacts


@kernel
def put_walls(
    row: Floats, scene: Scene, offset: Vec3, walkable: float, near: float, x: float, z: float
) -> None:
    """Add half-planes of walls near a body that has moved by (x, z) so far in the update."""
    contacts = scene.contacts
    for i in range(_list_near(scene, offset, near)):
        if _is_steep(contacts, i, walkable):
            _, (nx, _, nz) = flat(three(contacts, i, PUSH))
            gap = max(near - contacts[i, DEPTH], 0.0)
            put_half_plane(row, -nx, -nz, gap - (nx * x + nz * z), A_WALL)


@kernel(no_refcount=True)
def _remember_wall(state: Floats, count: int, x: float, z: float, gap: float) -> int:
    """Add a wall to those that a body remembers, once; return how many there are."""
    for w in range(count):
        if state[WALLS + 2 * w] * x + state[WALLS + 2 * w + 1] * z > SAME_WALL_COSINE:
            state[WALL_GAPS + w] = min(state[WALL_GAPS + w], gap)
            return count
    if count == MOST_WALLS:
        return count
    state[WALLS + 2 * count], state[WALLS + 2 * count + 1] = x, z
    state[WALL_GAPS + count] = gap
    return count + 1


@kernel(no_refcount=True)
def _forget_walls(state: Floats) -> None:
    """Clear the walls that a body remembers."""
    for k in range(2 * MOST_WALLS):
        state[WALLS + k] = 0.0
    for k in range(MOST_WALLS):
        state[WALL_GAPS + k] = 0.0


@kernel(inline=True, no_refcount=True)
def _is_riser(scene: Scene, i: int, highest: float) -> bool:
    """Tell whether a contact is with a face that ends no higher than a body climbs."""
    k = int(scene.contacts[i, CANDIDATE])
    corners = scene.candidates[k]
    return bool(max(corners[A + 1], corners[B + 1], corners[C + 1]) <= highest)


@kernel(noinline=True, no_refcount=True)
def _note_walls(
    state: Floats, scene: Scene, offset: Vec3, walkable: float, highest: float, aside: Vec3
) -> None:
    """Write the walls that block a body; ``aside`` is how far an update deflected it.

    These are walls near the body that deflected it, or that it remembered: others may have kept it
    from pressing against those. A slope that it climbs is no wall, nor is a riser, which ends no
    higher than ``highest``: others may have kept it from climbing that. The contacts of the scene
    are overwritten.
    """
    a: Vec3 = (float(state[WALLS]), 0.0, float(state[WALLS + 1]))
    b: Vec3 = (float(state[WALLS + 2]), 0.0, float(state[WALLS + 3]))
    _forget_walls(state)
    size, _ = flat(aside)
    if a == (0.0, 0.0, 0.0) and size <= LEAST_DEFLECTION:
        return
    contacts, walls = scene.contacts, int(np.int64(0))
    for i in range(_list_near(scene, offset, KNOWN_WALL_DISTANCE)):
        if _is_steep(contacts, i, walkable) and not _is_riser(scene, i, highest):
            _, wall = flat(three(contacts, i, PUSH))
            known = max(dot(wall, a), dot(wall, b)) > SAME_WALL_COSINE
            if known or dot(wall, aside) > LEAST_DEFLECTION:
                gap = max(KNOWN_WALL_DISTANCE - contacts[i, DEPTH], 0.0)
                walls = _remember_wall(state, walls, wall[0], wall[2], gap)


@kernel(inline=True, no_refcount=True)
def remember_walls(
    state: Floats, crowd: Floats, scene: Scene, offset: Vec3, walkable: float, step: float,
    aside: Vec3, met_walls: bool,
) -> None:  # fmt: skip
    """Write the walls that block a body as an update ends, if others may push it into them.

    ``aside`` is how far the update has led the body from its initial motion. If no wall took speed
    from it, it has climbed, or a slope has shortened its path.
    """
    if is_pushable(crowd):
        if not (met_walls or crowd[IS_TRIED] != 0.0):
            aside = (0.0, 0.0, 0.0)
        highest = offset[1] - scene.body.half_extents[1] + step
        _note_walls(state, scene, offset, walkable, highest, aside)
    elif state[WALLS] != 0.0 or state[WALLS + 1] != 0.0:
        _forget_walls(state)

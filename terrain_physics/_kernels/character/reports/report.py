"""The ground report of a body: kind, point, part and triangle."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import foremost
from terrain_physics._kernels.character.contacts.resolve import note_plane
from terrain_physics._kernels.character.contacts.scene import CANDIDATE, PUSH, Scene
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import put_three_at
from terrain_physics._kernels.character.state.work import PLANE, spend
from terrain_physics._kernels.ground.candidates import OF_MOVER, PART, TRIANGLE, three
from terrain_physics._kernels.math.vec3 import Vec3, add, dot
from terrain_physics._kernels.tolerances import SAME_GROUND_SLACK
from terrain_physics._kernels.types import Floats


@kernel(no_refcount=True)
def contact_planes(scene: Scene, count: int) -> int:
    """Write the planes of the contacts listed to the scene; return how many there are."""
    spend(scene.work, count * PLANE)
    planes = int(np.int64(0))
    for i in range(count):
        which = int(scene.contacts[i, CANDIDATE])
        planes = note_plane(scene, planes, three(scene.contacts, i, PUSH), which)
    return planes


@kernel(inline=True, no_refcount=True)
def kind_of_ground(
    scene: Scene, count: int, grounded: bool, normal: Vec3, walkable: float, by_sum: bool
) -> tuple[int, Vec3]:
    """Return (kind of ground, its normal) for a body with contacts that stands on ``normal``."""
    planes = contact_planes(scene, count)
    best = 0
    for i in range(1, planes):
        if scene.planes[i, 1] > scene.planes[best, 1]:
            best = i
    if grounded:
        return (at.WALKABLE if scene.planes[best, 1] >= walkable else at.WEDGED), normal
    if scene.planes[best, 1] > 0.0 and (by_sum or scene.planes[best, 1] < walkable):
        return at.STEEP, three(scene.planes, best, 0)
    return at.AIRBORNE, normal


@kernel(inline=True, no_refcount=True)
def foremost_contact(scene: Scene, count: int, normal: Vec3) -> int:
    """Return which of the contacts listed pushes most along a normal; -1 if there is none.

    Of contacts that push equally, it is the first with ground that stands still, or else the first
    of all, which is that of the part with the lowest number.
    """
    best, along, stands_still = -1, 0.0, False
    for i in range(count):
        own = dot(three(scene.contacts, i, PUSH), normal)
        is_still = scene.candidates[int(scene.contacts[i, CANDIDATE]), OF_MOVER] == 0.0
        is_better = own > along if is_still else own > along + SAME_GROUND_SLACK
        if (
            best < 0
            or is_better
            or (own >= along - SAME_GROUND_SLACK and is_still and not stands_still)
        ):
            best, along, stands_still = i, own, is_still
    return best


@kernel(inline=True, no_refcount=True)
def foremost_point(scene: Scene, center: Vec3, normal: Vec3) -> Vec3:
    """Return the point of a body that lies against ground with a normal."""
    return add(center, foremost(scene.body, normal))


@kernel(inline=True, no_refcount=True)
def report_ground(
    state: Floats, scene: Scene, center: Vec3, count: int, normal: Vec3, kind: int
) -> None:
    """Write the ground that the body stands on or touches: kind, point, part and triangle."""
    state[at.GROUND_KIND] = kind
    state[at.GROUND_PART] = state[at.GROUND_TRIANGLE] = -1.0
    put_three_at(state, at.GROUND_POINT, (0.0, 0.0, 0.0))
    if kind == at.AIRBORNE:
        return
    put_three_at(state, at.GROUND_POINT, foremost_point(scene, center, normal))
    best = foremost_contact(scene, count, normal)
    if best < 0:
        return
    which = int(scene.contacts[best, CANDIDATE])
    state[at.GROUND_PART] = scene.candidates[which, PART]
    state[at.GROUND_TRIANGLE] = scene.candidates[which, TRIANGLE]

"""The contacts of a body at a place: its manifold with the ground."""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import contact, touches
from terrain_physics._kernels.character.contacts.scene import CANDIDATE, DEPTH, PUSH, Scene
from terrain_physics._kernels.character.state.work import goes_on, spend
from terrain_physics._kernels.ground.candidates import NORMAL, is_in_ground, three
from terrain_physics._kernels.ground.nearby import around_body, next_near
from terrain_physics._kernels.math.vec3 import Vec3, add
from terrain_physics._kernels.tolerances import CONTACT_MARGIN


class Manifold(NamedTuple):
    """The contact manifold of a body at a place, listed in the scene."""

    contacts: int  # how many the scene lists
    depth: float  # greatest depth of a contact, in meters; at least 0
    overlap: float  # greatest overlap with a single triangle, in meters; at least 0


@kernel(noinline=True, no_refcount=True)
def list_contacts(scene: Scene, offset: Vec3) -> Manifold:
    """Write the contacts of the body at an offset to the scene, in the order of its candidates."""
    candidates, contacts, work = scene.candidates, scene.contacts, scene.work
    count, deepest, overlapping, looked_at = 0, 0.0, 0.0, 0
    lower, upper = around_body(offset, scene.body.half_extents, CONTACT_MARGIN)
    k = next_near(candidates, scene.size, 0, lower, upper)
    while k < scene.size and goes_on(work, k):
        looked_at += 1
        depth, normal, overlap = contact(candidates, scene.size, k, offset, scene.body, work)
        overlapping = max(overlapping, overlap)
        if depth >= -CONTACT_MARGIN:
            contacts[count, CANDIDATE] = k
            contacts[count, DEPTH] = depth
            contacts[count, PUSH] = normal[0]
            contacts[count, PUSH + 1] = normal[1]
            contacts[count, PUSH + 2] = normal[2]
            count += 1
            deepest = max(deepest, depth)
        k = next_near(candidates, scene.size, k + 1, lower, upper)
    spend(work, looked_at)
    return Manifold(count, deepest, overlapping)


@kernel
def as_wall(depth: float, normal: Vec3) -> tuple[float, Vec3]:
    """Return a contact turned into one with an upright wall: its push is horizontal and longer."""
    size = math.sqrt(normal[0] * normal[0] + normal[2] * normal[2])
    if size == 0.0:
        return 0.0, normal
    return depth / size, (normal[0] / size, 0.0, normal[2] / size)


@kernel(inline=True, no_refcount=True)
def is_buried(scene: Scene, place: Vec3) -> bool:
    """Tell whether a place lies in the ground, below the surface of a map."""
    is_in, looked_at = is_in_ground(scene.candidates, scene.size, place)
    spend(scene.work, looked_at)
    return is_in


@kernel(noinline=True, no_refcount=True)
def touched_normals(scene: Scene, offset: Vec3) -> tuple[int, Vec3]:
    """Return (how many triangles a body touches, the sum of their normals in candidate order).

    A triangle counts even where an adjacent one covers it, so that it is no contact.
    """
    count, total, candidates = 0, (0.0, 0.0, 0.0), scene.candidates
    lower, upper = around_body(offset, scene.body.half_extents, CONTACT_MARGIN)
    k = next_near(candidates, scene.size, 0, lower, upper)
    while k < scene.size and goes_on(scene.work, k):
        spend(scene.work, 1.0)
        if touches(candidates, k, offset, scene.body, scene.work):
            count += 1
            total = add(total, three(candidates, k, NORMAL))
        k = next_near(candidates, scene.size, k + 1, lower, upper)
    return count, total

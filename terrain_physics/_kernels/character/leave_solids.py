"""A body with its center inside a solid mesh is taken out, by the nearest way that is free.

The ways are straight: to the nearest face, along the compass and perpendicular to the walls that it
meets there, up, and down; then to where the body fits close to the end, as on the land. A way is
free if there is such a place, and no other ground is on it. What the body is in at its start is no
hindrance. Each update takes the body some way on, and looks again: so there is nothing to remember.

A center on a face leaves as one beside it, inside.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep, replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import is_buried, list_contacts
from terrain_physics._kernels.character.contacts.resolve import crosses, resolve
from terrain_physics._kernels.character.contacts.scene import Scene, gathered
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import (
    SIMULTANEOUS,
    center_at,
    put_three_at,
    three_at,
)
from terrain_physics._kernels.character.state.work import LOOK, is_spent, spend
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.ground.candidates import NORMAL, PART, THICKNESS, A, B, C, three
from terrain_physics._kernels.ground.solids import has_solids, is_in_solid, list_solids, shift_of
from terrain_physics._kernels.ground.table import GroundTable, parts_of
from terrain_physics._kernels.math.vec3 import (
    Vec3,
    add,
    add_scaled,
    dot,
    length,
    scale,
    subtract,
)
from terrain_physics._kernels.mesh.parts import ID_BITS, NUMBER, MeshPart, part_at, triangle_of
from terrain_physics._kernels.mesh.queries import first_hit, nearest_slot
from terrain_physics._kernels.mesh.tree import STACK
from terrain_physics._kernels.surface.shapes import Body, extent_along
from terrain_physics._kernels.tolerances import CONTACT_MARGIN, CONVERGED_DEPTH, SLOP
from terrain_physics._kernels.types import Float32s, Floats, Int32s, Int64s

# Speed of a body that is taken out, and the least way in an update: those of a rescue from a map.
_SPEED, _STEP = 30.0, 0.3  # m/s, meters

# Longer than it may be, so that margins at its ends make no two pieces of one.
_MORE = 10.0 * CONTACT_MARGIN

# Most solid meshes around a center, and most faces that a way out of them leads through.
_MOST_SOLIDS, _MOST_SHEETS = 8, 32

# Directions of the compass; the same number of walls met there; up and down.
_COMPASS = 8
_MOST_WAYS = _MOST_SOLIDS + 2 * _COMPASS + 2
_DIAGONAL = 0.7071067811865476

# A way leaves through a face at no smaller angle: the sine.
_SLANT = 0.25

# From a face to a place beside it: oblique, so that it leads along no face that is likely there.
_ASIDE = (0.5 * CONTACT_MARGIN, 0.8 * CONTACT_MARGIN, 0.3 * CONTACT_MARGIN)

# Rounds of depenetration where a way ends, as in an update.
_MOST_ROUNDS = 16


class Leaving(NamedTuple):
    """How a body leaves the solid meshes that its center is inside of, or on a face of."""

    moved: float  # how far it was taken, in meters
    left: float  # how much farther it must go; it does nothing else in this update
    depth: float  # if no way is free: the distance of the center to the nearest face, else 0


class _Around(NamedTuple):
    """The solid meshes around a center, and memory for their trees."""

    rows: Int64s  # (_MOST_SOLIDS,)
    size: int
    found: Int64s  # (_MOST_SOLIDS,)
    stack: Int32s  # (STACK,)
    entries: Float32s  # (STACK,)


@kernel(noinline=True)
def _normal_at(part: MeshPart, slot: int, direction: Vec3) -> Vec3:
    """Return the unit normal of a triangle on the side that a direction leads to."""
    a, b, c = triangle_of(part, slot)
    has_area, normal = triangle_normal(a, b, c)
    if not has_area:
        return direction
    return scale(normal, -1.0) if dot(normal, direction) < 0.0 else normal


@kernel(noinline=True)
def _face_ahead(
    ground: GroundTable, around: _Around, row: int, place: Vec3, direction: Vec3
) -> tuple[float, Vec3]:
    """Return (distance, normal) of the first face of a mesh along a direction; infinity: none."""
    part = part_at(parts_of(ground).rows, row)
    own = subtract(place, shift_of(ground, part.first_id >> ID_BITS))
    face, along, slot = first_hit(part, own, direction, np.inf, around.stack, around.entries)
    if face < 0:
        return np.inf, direction
    return along, _normal_at(part, slot, direction)


@kernel(inline=True)
def _is_among(rows: Int64s, count: int, row: int) -> bool:
    for k in range(count):
        if rows[k] == row:
            return True
    return False


@kernel(noinline=True)
def _way_inside(
    ground: GroundTable, around: _Around, center: Vec3, direction: Vec3
) -> tuple[float, Vec3]:
    """Return (how far a center is in the meshes around it along a direction, the last normal).

    Infinity if it would be in another one then.
    """
    along, normal = 0.0, direction
    for _ in range(_MOST_SHEETS):
        place = add_scaled(center, direction, along)
        count, _ = list_solids(ground, place, around.found)
        if count == 0:
            return along, normal
        row = int(around.found[0])
        if not _is_among(around.rows, around.size, row):
            break
        distance, normal = _face_ahead(ground, around, row, place, direction)
        along += distance + CONTACT_MARGIN
        if not along < np.inf:
            break
    return np.inf, normal


@kernel(noinline=True)
def _length_of_way(
    ground: GroundTable, body: Body, around: _Around, center: Vec3, direction: Vec3
) -> float:
    """Return how far a body must go along a direction to be out of the meshes around its center."""
    inside, normal = _way_inside(ground, around, center, direction)
    slant = dot(direction, normal)
    return inside + extent_along(body, normal) / slant if slant > _SLANT else np.inf


@kernel(noinline=True)
def _put_way(
    ground: GroundTable, body: Body, around: _Around, center: Vec3, direction: Vec3, ways: Floats,
    count: int,
) -> int:  # fmt: skip
    """Write the direction and the length of a way, if it leads out; return how many there are."""
    size = _length_of_way(ground, body, around, center, direction)
    if size == np.inf:
        return count
    put_three_at(ways[count], 0, direction)
    ways[count, 3] = size
    return count + 1


@kernel(inline=True)
def _nearest_face(ground: GroundTable, around: _Around, k: int, center: Vec3) -> Vec3:
    """Return the way from a center to the nearest face of one of the meshes around it."""
    part = part_at(parts_of(ground).rows, int(around.rows[k]))
    own = subtract(center, shift_of(ground, part.first_id >> ID_BITS))
    _, _, nearest = nearest_slot(part, own, 0, np.inf, around.stack, around.entries)
    return nearest


@kernel(noinline=True)
def _list_ways(ground: GroundTable, body: Body, around: _Around, center: Vec3, ways: Floats) -> int:
    """Write the ways out (_MOST_WAYS, 4), direction and length of each; return how many."""
    count = 0
    for k in range(around.size):
        nearest = _nearest_face(ground, around, k, center)
        size = length(nearest)
        if size > 0.0:
            direction = scale(nearest, 1.0 / size)
            count = _put_way(ground, body, around, center, direction, ways, count)
    for upright in (1.0, -1.0):
        count = _put_way(ground, body, around, center, (0.0, upright, 0.0), ways, count)
    x, z = 1.0, 0.0
    for _ in range(_COMPASS):
        direction = (x, 0.0, z)
        count = _put_way(ground, body, around, center, direction, ways, count)
        _, normal = _face_ahead(ground, around, int(around.rows[0]), center, direction)
        size = math.sqrt(normal[0] * normal[0] + normal[2] * normal[2])
        if size > _SLANT and normal != direction:
            level = (normal[0] / size, 0.0, normal[2] / size)
            count = _put_way(ground, body, around, center, level, ways, count)
        x, z = _turned(x, z)
    return count


@kernel(inline=True)
def _turned(x: float, z: float) -> tuple[float, float]:
    """Return the next direction of the compass, an eighth of a turn on."""
    if x == 0.0 or z == 0.0:
        return (x - z) * _DIAGONAL, (x + z) * _DIAGONAL
    return (0.0, 1.0 if z > 0.0 else -1.0) if x * z > 0.0 else (1.0 if x > 0.0 else -1.0, 0.0)


@kernel(noinline=True)
def _is_barred(scene: Scene, ground: GroundTable, around: _Around, center: Vec3, end: Vec3) -> bool:
    """Tell whether ground that the center is not in is on its way to a place.

    The front of a map or of a solid mesh bars a way, any face of a skin does.
    """
    lower = (min(center[0], end[0]), min(center[1], end[1]), min(center[2], end[2]))
    upper = (max(center[0], end[0]), max(center[1], end[1]), max(center[2], end[2]))
    scene = gathered(scene, ground, center, lower, upper)
    way, rows, candidates = subtract(end, center), parts_of(ground).rows, scene.candidates
    for k in range(scene.size):
        corners = (three(candidates, k, A), three(candidates, k, B), three(candidates, k, C))
        normal = three(candidates, k, NORMAL)
        is_front = candidates[k, THICKNESS] == 0.0 or dot(normal, way) < 0.0
        if not is_front or not crosses((0.0, 0.0, 0.0), way, corners, normal):
            continue
        is_around = False
        for i in range(around.size):
            is_around = is_around or rows[around.rows[i], NUMBER] == candidates[k, PART]
        if not is_around:
            return True
    return False


@kernel(noinline=True)
def _fitted(scene: Scene, ground: GroundTable, end: Vec3) -> tuple[bool, Vec3]:
    """Return (whether a body fits where a way ends, or close to that; where)."""
    half_extents = scene.body.half_extents
    most = 2.0 * max(half_extents[0], half_extents[1], half_extents[2])
    far = most + CONTACT_MARGIN
    wide = add(half_extents, (far, far, far))
    scene = gathered(scene, ground, end, subtract(end, wide), add(end, wide))
    touching, offset = list_contacts(scene, (0.0, 0.0, 0.0)), (0.0, 0.0, 0.0)
    if max(touching.depth, touching.overlap) > SLOP or is_buried(scene, offset):
        out = resolve(scene, offset, touching, _MOST_ROUNDS, SLOP, True)
        offset = out.offset
        if out.depth > CONVERGED_DEPTH or length(offset) > most or is_buried(scene, offset):
            return False, end
    place = add(end, offset)
    return not is_spent(scene.work) and not is_in_solid(ground, place), place


@kernel(noinline=True)
def _nearest_free_way(
    scene: Scene, ground: GroundTable, around: _Around, center: Vec3, ways: Floats, count: int
) -> tuple[int, Vec3]:
    """Return (the shortest of the ways out that is free, where it ends); -1: none is."""
    for _ in range(count):
        best = 0
        for k in range(1, count):
            if ways[k, 3] < ways[best, 3]:
                best = k
        size = float(ways[best, 3])
        if size == np.inf or is_spent(scene.work):
            break
        end = add_scaled(center, three_at(ways[best], 0), size + CONTACT_MARGIN)
        fits, place = _fitted(scene, ground, end)
        if fits and not _is_barred(scene, ground, around, center, place):
            return best, place
        ways[best, 3] = np.inf
    return -1, center


@kernel(noinline=True)
def _leave(
    state: Floats, rules: Floats, scene: Scene, ground: GroundTable, around: _Around, center: Vec3,
    most: float,
) -> Leaving:  # fmt: skip
    """Take a body out of the solid meshes around its center, its center at most so far inside."""
    scene = replaced(scene, resolver=SIMULTANEOUS)
    depth = length(_nearest_face(ground, around, 0, center))
    memory = np.empty((_MOST_WAYS, 4))
    ways = borrow(memory)
    count = _list_ways(ground, scene.body, around, center, ways)
    spend(scene.work, LOOK * _MOST_WAYS)
    best, end = _nearest_free_way(scene, ground, around, center, ways, count)
    direction = three_at(ways[best], 0) if best >= 0 else (0.0, 0.0, 0.0)
    keep(memory)
    if best < 0:
        return Leaving(0.0, 0.0, depth)
    way, left = subtract(end, center), 0.0
    size, out = length(way), max(dot(way, direction), CONTACT_MARGIN)
    # The last piece, from where its center would be out, is one: then it is in no solid any more.
    last = (extent_along(scene.body, direction) + 4.0 * CONTACT_MARGIN) * (size / out)
    # Where the way bends to a place that fits, its center may be inside for longer.
    inside, _ = _way_inside(ground, around, center, scale(way, 1.0 / size))
    if inside < size:
        last = min(last, size - inside + 4.0 * CONTACT_MARGIN)
    piece = max(most, last)
    if size > piece + _MORE:
        share = min(most, size - piece) / size
        end, left = add_scaled(center, way, share), size * (1.0 - share)
    shift = subtract(end, center_at(state, rules))
    put_three_at(state, at.POSITION, add(three_at(state, at.POSITION), shift))
    state[at.STEP_FOOT] += shift[1]
    return Leaving(length(shift), left, 0.0)


@kernel(noinline=True)
def _beside_faces(ground: GroundTable, center: Vec3, rows: Int64s) -> tuple[int, Vec3]:
    """Return (how many solid meshes a place beside a center on a face is in, the place).

    It is on no face, as a way along a face would meet it all the time; if there is no such place,
    it is the center.
    """
    for k in range(8):
        x, y, z = _ASIDE
        aside = (-x if k & 1 else x, -y if k & 4 else y, -z if k & 2 else z)  # up first: off a map
        place = add(center, aside)
        count, is_on_face = list_solids(ground, place, rows)
        if count > 0 and not is_on_face:
            return count, place
    count, _ = list_solids(ground, center, rows)
    return count, center


@kernel(noinline=True)
def _leave_if_inside(
    state: Floats, rules: Floats, scene: Scene, ground: GroundTable, delta_time: float
) -> Leaving:
    rows, found = np.empty(_MOST_SOLIDS, np.int64), np.empty(_MOST_SOLIDS, np.int64)
    center = center_at(state, rules)
    count, is_on_face = list_solids(ground, center, borrow(rows))
    if is_on_face:
        count, center = _beside_faces(ground, center, borrow(rows))
    leaving = Leaving(0.0, 0.0, 0.0)
    if count > 0:
        stack, entries = np.empty(STACK, np.int32), np.empty(STACK, np.float32)
        around = _Around(borrow(rows), count, borrow(found), borrow(stack), borrow(entries))
        most = max(_STEP, _SPEED * delta_time)
        leaving = _leave(state, rules, scene, ground, around, center, most)
        keep(stack)
        keep(entries)
    keep(rows)
    keep(found)
    return leaving


@kernel(inline=True)
def leave_solids(
    state: Floats, rules: Floats, scene: Scene, ground: GroundTable, delta_time: float
) -> Leaving:
    """Take a body with its center inside a solid mesh out; write its place to the state."""
    if not has_solids(ground):
        return Leaving(0.0, 0.0, 0.0)
    return _leave_if_inside(state, rules, scene, ground, delta_time)


@kernel(no_refcount=True)
def report_shut_in(state: Floats, depth: float) -> None:
    """Report a body that no way leads out of a solid mesh: there is no room for it."""
    state[at.PENETRATION] = max(float(state[at.PENETRATION]), depth)
    state[at.CONVERGED] = 0.0
    if state[at.LIMIT] == at.NO_LIMIT:
        state[at.LIMIT] = at.BY_ROOM

"""One-way parts, which hold a body from one side only and let it pass from the other."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import extent_along
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import three_at
from terrain_physics._kernels.character.state.work import GATHERED, LOOK, may_gather, spend
from terrain_physics._kernels.ground.candidates import (
    CANDIDATE_SIZE,
    NORMAL,
    OF_MOVER,
    PART,
    A,
    gather_candidates,
    height_over,
    three,
)
from terrain_physics._kernels.ground.movers import (
    dropped,
    frame_now,
    frame_seen,
    has_moved,
    is_one_way,
    mover_of,
    one_way,
    put_dropped,
)
from terrain_physics._kernels.ground.table import (
    GroundTable,
    mover_filtered,
    movers_of,
    with_step_start,
)
from terrain_physics._kernels.math.rigid import to_local, to_world
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, dot, length, subtract
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.tolerances import CONTACT_MARGIN, ONE_WAY_COSINE, ONE_WAY_DEPTH
from terrain_physics._kernels.types import Floats

# A part counts as near down to so many half heights of the body below its center. A body that runs
# down a slope is over the slope for a moment when it begins to drop.
_NEAR_HEIGHTS = 3.0


@kernel(noinline=True)
def _gap(ground: GroundTable, body: Body, row: int, normal: Vec3, corner: Vec3) -> float:
    """Return how far a body is before a face of a part, where its step began; < 0: behind.

    ``corner`` is a corner of the face in the world. A moving face is taken where it was at the last
    update of the body, if it came toward the body since then.
    """
    came_on = 0.0
    if has_moved(movers_of(ground), row, ground.seen):
        own = to_local(frame_now(movers_of(ground), row), corner)
        before = to_world(frame_seen(movers_of(ground), row, ground.seen), own)
        came_on = max(dot(normal, subtract(corner, before)), 0.0)
    return dot(normal, subtract(ground.step_start, corner)) - extent_along(body, normal) + came_on


@kernel(noinline=True)
def _holds(
    ground: GroundTable, body: Body, number: float, row: int, normal: Vec3, corner: Vec3
) -> bool:
    """Tell whether a face of a one-way part faces its direction, with all of the body before it.

    A body that drops through a part also passes all that it touches where it touches that one, such
    as other tiles of a deck.
    """
    gap = _gap(ground, body, row, normal, corner)
    if dot(normal, one_way(movers_of(ground), row)) <= ONE_WAY_COSINE or gap < -ONE_WAY_DEPTH:
        return False
    part, touching = dropped(ground.part_shifts)
    aside = dot(normal, subtract(touching, ground.step_start))
    return part < 0.0 or (number != part and gap + aside > ONE_WAY_DEPTH)


@kernel(noinline=True)
def leave_out_passed(
    ground: GroundTable, body: Body, origin: Vec3, candidates: Floats, count: int
) -> int:
    """Drop candidates of one-way parts that let a body pass; return how many are left.

    If any is dropped, the runs stored behind the candidates are lost.
    """
    kept = 0
    for k in range(count):
        if candidates[k, OF_MOVER] != 0.0:
            number = float(candidates[k, PART])
            row = mover_of(movers_of(ground), number)
            corner = add(origin, three(candidates, k, A))
            normal = three(candidates, k, NORMAL)
            if is_one_way(movers_of(ground), row) and not _holds(
                ground, body, number, row, normal, corner
            ):
                continue
        if kept < k:
            for column in range(CANDIDATE_SIZE):
                candidates[kept, column] = candidates[k, column]
        kept += 1
    return kept


@kernel(no_refcount=True)
def _note_dropped(state: Floats, ground: GroundTable) -> None:
    """Write to the state which one-way part a body begins to drop through, or that it ended."""
    if state[at.GROUNDED] != 0.0 or state[at.MOVES_SEEN] < 0.0:
        state[at.DROPPED] = -1.0
    velocity, normal = three_at(state, at.VELOCITY), three_at(state, at.GROUND_NORMAL)
    leaps = velocity[1] > 0.0 and dot(velocity, normal) > ONE_WAY_COSINE * length(velocity)
    if state[at.GROUND_KIND] == at.AIRBORNE or leaps:
        return
    number = float(state[at.GROUND_PART])
    if number < 0.0:
        number = float(state[at.BASE_PART])  # on its way up a step
    row = mover_of(movers_of(ground), number)
    if row > 0 and is_one_way(movers_of(ground), row) and mover_filtered(ground, number) == 0:
        state[at.DROPPED] = number


@kernel
def _find_touching(
    ground: GroundTable, body: Body, origin: Vec3, number: float, candidates: Floats, count: int
) -> bool:
    """Note where a body would touch the nearest face of the part that it drops through.

    The body is at ``origin``. Tells whether the candidates have a face of the part.
    """
    least, row = np.inf, mover_of(movers_of(ground), number)
    for k in range(count):
        if candidates[k, PART] == number:
            normal = three(candidates, k, NORMAL)
            gap = _gap(ground, body, row, normal, add(origin, three(candidates, k, A)))
            if abs(gap) < least:
                least = abs(gap)
                put_dropped(ground.part_shifts, number, add_scaled(origin, normal, -gap))
    return least < np.inf


@kernel
def _part_below(
    ground: GroundTable, body: Body, origin: Vec3, number: float, candidates: Floats, count: int
) -> float:
    """Return which of the parts that a body drops through is below its center, else ``number``."""
    for k in range(count):
        own = float(candidates[k, PART])
        row = mover_of(movers_of(ground), own)
        if is_one_way(movers_of(ground), row) and height_over(candidates, k, 0.0, 0.0) > -np.inf:
            corner = add(origin, three(candidates, k, A))
            if not _holds(ground, body, own, row, three(candidates, k, NORMAL), corner):
                return own
    return number


@kernel(noinline=True)
def find_dropped(
    state: Floats, body: Body, center: Vec3, ground: GroundTable, candidates: Floats, work: Floats
) -> None:
    """Note for this update which one-way part a body drops through.

    The body touched the part when its mask filtered the part out, be it for one update. It drops
    until it stands elsewhere, or until the part would let it pass in any case or is not near. So no
    distance has to be fallen in one update. The state keeps the part in the meantime.
    """
    put_dropped(ground.part_shifts, -1.0, center)
    _note_dropped(state, ground)
    number = float(state[at.DROPPED])
    if number < 0.0 or mover_filtered(ground, number) == 0:
        return
    near = with_step_start(ground, center, float(state[at.MOVES_SEEN]))
    wide = add(body.half_extents, (CONTACT_MARGIN, CONTACT_MARGIN, CONTACT_MARGIN))
    lower = subtract(center, (wide[0], _NEAR_HEIGHTS * wide[1], wide[2]))
    found, count, came_upon = gather_candidates(
        near, center, lower, add(center, wide), candidates, may_gather(work)
    )
    spend(work, LOOK + GATHERED * came_upon)
    count = leave_out_passed(near, body, center, found, count)
    if _find_touching(near, body, center, number, found, count):
        state[at.DROPPED] = _part_below(near, body, center, number, found, count)
    else:
        state[at.DROPPED] = -1.0

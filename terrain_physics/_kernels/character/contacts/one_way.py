"""One-way parts, which hold a body from one side only and let it pass from the other."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import put_three_at, three_at
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
    one_way,
    put_dropped,
)
from terrain_physics._kernels.ground.table import (
    GroundTable,
    mover_filtered,
    mover_of,
    movers_of,
    with_step_start,
)
from terrain_physics._kernels.math.rigid import to_local, to_world
from terrain_physics._kernels.math.vec3 import Vec3, add, dot, length, subtract
from terrain_physics._kernels.surface.shapes import Body, extent_along
from terrain_physics._kernels.tolerances import CONTACT_MARGIN, ONE_WAY_COSINE, ONE_WAY_DEPTH
from terrain_physics._kernels.types import Floats

# A part counts as near down to so many half heights of the body below its center. A body that runs
# down a slope is over the slope for a moment when it begins to drop.
_NEAR_HEIGHTS = 3.0

# A body that drops through a part passes faces of the part that were farther ahead by up to this
# share of its least half extent: more than the bumps of a deck, less than the next floor.
_DROPPED_SHARE = 0.5


@kernel(noinline=True)
def _holds(
    ground: GroundTable, body: Body, number: float, row: int, normal: Vec3, corner: Vec3
) -> bool:
    """Tell whether a face of a one-way part faces its direction, with all of the body before it.

    The body is taken where its step began. ``corner`` is a corner of the face in the world. The
    body may be behind a moving face by the distance that the face came toward it since its last
    update. A body that drops passes what it touched, such as other tiles of a deck, and faces of
    its part that were a little farther, as on rough decks.
    """
    if dot(normal, one_way(movers_of(ground), row)) <= ONE_WAY_COSINE:
        return False
    came_on, extent = 0.0, extent_along(body, normal)
    if has_moved(movers_of(ground), row, ground.seen):
        own = to_local(frame_now(movers_of(ground), row), corner)
        before = to_world(frame_seen(movers_of(ground), row, ground.seen), own)
        came_on = max(dot(normal, subtract(corner, before)), 0.0)
    gap = dot(normal, subtract(ground.step_start, corner)) - extent
    if gap < -ONE_WAY_DEPTH - came_on:
        return False
    part, start = dropped(ground.part_shifts)
    farther = _DROPPED_SHARE * body.least if number == part else ONE_WAY_DEPTH
    return part < 0.0 or dot(normal, subtract(start, corner)) - extent > farther


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
            row = mover_of(ground, number)
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


@kernel(inline=True, no_refcount=True)
def end_drop(state: Floats) -> None:
    """Write to the state that a body drops through no part."""
    state[at.DROPPED] = -1.0
    put_three_at(state, at.DROPPED_FROM, (0.0, 0.0, 0.0))


@kernel(no_refcount=True)
def _note_dropped(state: Floats, ground: GroundTable, center: Vec3) -> None:
    """Write to the state which one-way part a body begins to drop through, or that it ended."""
    movers, seen = movers_of(ground), float(state[at.MOVES_SEEN])
    if state[at.GROUNDED] != 0.0 or seen < 0.0:
        end_drop(state)
    velocity, normal = three_at(state, at.VELOCITY), three_at(state, at.GROUND_NORMAL)
    leaps = velocity[1] > 0.0 and dot(velocity, normal) > ONE_WAY_COSINE * length(velocity)
    if state[at.GROUND_KIND] == at.AIRBORNE or seen < 0.0 or leaps:
        return
    number = float(state[at.GROUND_PART])
    if number < 0.0:
        number = float(state[at.BASE_PART])  # on its way up a step
    row = mover_of(ground, number)
    if row > 0 and is_one_way(movers, row) and mover_filtered(ground, number) == 0:
        state[at.DROPPED] = number
        put_three_at(state, at.DROPPED_FROM, to_local(frame_seen(movers, row, seen), center))


@kernel
def _part_passed(
    ground: GroundTable, body: Body, origin: Vec3, number: float, candidates: Floats, count: int
) -> float:
    """Return which part a body passes only as it drops, -1 for none: the one below its center.

    If there is none, it is ``number`` or another part aside. No candidate would let it pass else.
    """
    passed, movers = -1.0, movers_of(ground)
    for k in range(count):
        own = float(candidates[k, PART])
        row = mover_of(ground, own)
        corner = add(origin, three(candidates, k, A))
        if is_one_way(movers, row) and not _holds(
            ground, body, own, row, three(candidates, k, NORMAL), corner
        ):
            if height_over(candidates, k, 0.0, 0.0) > -np.inf:
                return own
            if own == number or passed < 0.0:
                passed = own
    return passed


@kernel(noinline=True)
def find_dropped(
    state: Floats, body: Body, center: Vec3, ground: GroundTable, candidates: Floats, work: Floats
) -> None:
    """Note for this update which one-way part a body drops through.

    The body touched the part when its mask filtered the part out, be it for one update. It drops
    until it stands elsewhere, or until the faces that it touched would let it pass in any case or
    are not near. So no distance has to be fallen in one update. The state keeps the part, and where
    the body was on it. Over another tile of the deck, that is the part.
    """
    movers = movers_of(ground)
    put_dropped(ground.part_shifts, -1.0, center)
    _note_dropped(state, ground, center)
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
    frame = frame_now(movers, mover_of(ground, number))
    start = to_world(frame, three_at(state, at.DROPPED_FROM))
    put_dropped(ground.part_shifts, number, start)
    passed = _part_passed(near, body, center, number, found, count)
    put_dropped(ground.part_shifts, passed, start)
    if passed < 0.0:
        end_drop(state)
        return
    state[at.DROPPED] = passed
    frame = frame_now(movers, mover_of(ground, passed))
    put_three_at(state, at.DROPPED_FROM, to_local(frame, start))

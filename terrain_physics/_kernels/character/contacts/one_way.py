"""One-way parts, which hold a body from one side only and let it pass from the other."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import extent_along
from terrain_physics._kernels.ground.candidates import (
    CANDIDATE_SIZE,
    NORMAL,
    OF_MOVER,
    PART,
    A,
    three,
)
from terrain_physics._kernels.ground.movers import (
    frame_now,
    frame_seen,
    has_moved,
    is_one_way,
    mover_of,
    one_way,
)
from terrain_physics._kernels.ground.table import GroundTable, movers_of
from terrain_physics._kernels.math.rigid import to_local, to_world
from terrain_physics._kernels.math.vec3 import Vec3, add, dot, subtract
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.tolerances import ONE_WAY_COSINE, ONE_WAY_DEPTH
from terrain_physics._kernels.types import Floats


@kernel
def _holds(ground: GroundTable, body: Body, row: int, normal: Vec3, corner: Vec3) -> bool:
    """Tell whether a face of a one-way part faces its direction, with all of the body before it.

    The body is taken where its step began. ``corner`` is a corner of the face in the world. The
    body may be behind a moving face by the distance that the face came toward it since its last
    update.
    """
    if dot(normal, one_way(movers_of(ground), row)) <= ONE_WAY_COSINE:
        return False
    came_on = 0.0
    if has_moved(movers_of(ground), row, ground.seen):
        own = to_local(frame_now(movers_of(ground), row), corner)
        before = to_world(frame_seen(movers_of(ground), row, ground.seen), own)
        came_on = max(dot(normal, subtract(corner, before)), 0.0)
    gap = dot(normal, subtract(ground.step_start, corner)) - extent_along(body, normal)
    return gap >= -ONE_WAY_DEPTH - came_on


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
            row = mover_of(movers_of(ground), float(candidates[k, PART]))
            corner = add(origin, three(candidates, k, A))
            normal = three(candidates, k, NORMAL)
            if is_one_way(movers_of(ground), row) and not _holds(ground, body, row, normal, corner):
                continue
        if kept < k:
            for column in range(CANDIDATE_SIZE):
                candidates[kept, column] = candidates[k, column]
        kept += 1
    return kept

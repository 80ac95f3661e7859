"""One update of one character: fall, move, push out, decide, settle."""

import math

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.grid import unpack_grid
from terrain_physics._kernels.ground_state import (
    ground_by_planes,
    ground_by_sum,
    settle_velocity,
)
from terrain_physics._kernels.resolve import (
    Body,
    make_scratch,
    resolve,
    touched_normals,
)
from terrain_physics._kernels.surface import SPHERE
from terrain_physics._kernels.vec3 import Vec3, add_scaled, length, subtract

Floats = NDArray[np.float64]

# Places in the array of what changes from update to update.
POSITION, VELOCITY, GROUNDED, GROUND_NORMAL = 0, 3, 6, 7
CONTACTS, PENETRATION, CONVERGED, ROUNDS, LIFTED, UNDISTURBED = 10, 11, 12, 13, 14, 15
STATE_SIZE = 16

# Places in the array of what the game sets: the shape in the world, and the rules.
KIND, EXTENTS, OFFSET, BOX_ROTATION = 0, 1, 4, 7
GRAVITY, GRAVITY_SCALE, SLOPE_LIMIT, SLOPE_COSINE = 16, 17, 18, 19
GROUND_RULE, FRICTION, MAX_ROUNDS = 20, 21, 22
BODY_SIZE = 23

RULE_CONTACT, RULE_SUM = 0, 1

# A step moves a body by at most this part of its least half extent, so that its center never
# passes a surface unseen.
STEP_PART = 0.5
MAX_SUBSTEPS = 20_000

# Depth that may stay at the end of an update that counts as converged, in meters.
CONVERGED_DEPTH = 1e-5


@kernel(inline=True)
def _three(values: Floats, start: int) -> Vec3:
    return (float(values[start]), float(values[start + 1]), float(values[start + 2]))


@kernel(inline=True)
def _put_three(values: Floats, start: int, v: Vec3) -> None:
    values[start] = v[0]
    values[start + 1] = v[1]
    values[start + 2] = v[2]


@kernel
def _unpack_body(body: Floats) -> Body:
    kind = int(body[KIND])
    e = _three(body, EXTENTS)
    m = (
        float(body[BOX_ROTATION]),
        float(body[BOX_ROTATION + 1]),
        float(body[BOX_ROTATION + 2]),
        float(body[BOX_ROTATION + 3]),
        float(body[BOX_ROTATION + 4]),
        float(body[BOX_ROTATION + 5]),
        float(body[BOX_ROTATION + 6]),
        float(body[BOX_ROTATION + 7]),
        float(body[BOX_ROTATION + 8]),
    )
    if kind == SPHERE:
        reach = e
    else:
        reach = (
            abs(m[0]) * e[0] + abs(m[1]) * e[1] + abs(m[2]) * e[2],
            abs(m[3]) * e[0] + abs(m[4]) * e[1] + abs(m[5]) * e[2],
            abs(m[6]) * e[0] + abs(m[7]) * e[1] + abs(m[8]) * e[2],
        )
    return Body(kind, e, m, reach)


@kernel
def update_character(
    state: Floats,
    random_state: NDArray[np.uint64],
    body_values: Floats,
    heights: NDArray[np.float32],
    flips: NDArray[np.bool_],
    frame: Floats,
    delta_time: float,
    driven: bool,
) -> None:
    """Advance ``state`` by one update; ``driven``: the game set the velocity, so no friction.

    A character at rest that nobody disturbed stays as it is, bit for bit.
    """
    velocity = _three(state, VELOCITY)
    gravity = float(body_values[GRAVITY]) * float(body_values[GRAVITY_SCALE])
    if (
        state[UNDISTURBED] != 0.0
        and state[GROUNDED] != 0.0
        and velocity == (0.0, 0.0, 0.0)
        and gravity >= 0.0
    ):
        return
    grid = unpack_grid(heights, flips, frame)
    body = _unpack_body(body_values)
    scratch = make_scratch(grid, body.reach)
    offset = _three(body_values, OFFSET)
    cosine = float(body_values[SLOPE_COSINE])

    velocity = (velocity[0], velocity[1] - gravity * delta_time, velocity[2])
    step = STEP_PART * min(body.extents[0], body.extents[1], body.extents[2])
    wanted = math.ceil(min(length(velocity) * delta_time / step, float(MAX_SUBSTEPS)))
    substeps = max(int(wanted), 1)
    part = delta_time / substeps

    position = _three(state, POSITION)
    grounded, normal, count, deepest, most_rounds, total_lift = (
        False,
        (0.0, 0.0, 0.0),
        0,
        0.0,
        0,
        0.0,
    )
    for _ in range(substeps):
        position = add_scaled(position, velocity, part)
        start = (position[0] + offset[0], position[1] + offset[1], position[2] + offset[2])
        center, planes, count, deepest, rounds, lifted = resolve(
            grid, start, body, scratch, random_state, int(body_values[MAX_ROUNDS])
        )
        if center != start:  # what was not pushed keeps its bits
            position = subtract(center, offset)
        most_rounds = max(most_rounds, rounds)
        total_lift += lifted
        if int(body_values[GROUND_RULE]) == RULE_SUM:
            touched, total = touched_normals(grid, center, body, scratch.faces)
            grounded, normal = ground_by_sum(touched, total, cosine)
        else:
            grounded, normal = ground_by_planes(scratch.planes, planes, cosine)
        velocity = settle_velocity(scratch.planes, planes, velocity, grounded)

    if grounded and not driven:
        speed = math.sqrt(velocity[0] * velocity[0] + velocity[2] * velocity[2])
        left = speed - float(body_values[FRICTION]) * delta_time
        keep = left / speed if left > 0.0 else 0.0
        velocity = (velocity[0] * keep, velocity[1], velocity[2] * keep)

    _put_three(state, POSITION, position)
    _put_three(state, VELOCITY, velocity)
    state[GROUNDED] = 1.0 if grounded else 0.0
    _put_three(state, GROUND_NORMAL, normal)
    state[CONTACTS] = count
    state[PENETRATION] = deepest
    state[CONVERGED] = 1.0 if deepest <= CONVERGED_DEPTH else 0.0
    state[ROUNDS] = most_rounds
    state[LIFTED] = total_lift
    state[UNDISTURBED] = 1.0

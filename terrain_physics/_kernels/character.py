"""One update of one character: fall, move, push out, decide, settle."""

import math

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.grid import unpack_grid
from terrain_physics._kernels.ground_state import (
    add_plane,
    ground_by_planes,
    ground_by_sum,
    settle_velocity,
)
from terrain_physics._kernels.resolve import (
    Body,
    make_scratch,
    resolve,
    stop_at_side,
    touched_normals,
)
from terrain_physics._kernels.surface import SPHERE
from terrain_physics._kernels.vec3 import Vec3, add, add_scaled, length, subtract

Floats = NDArray[np.float64]

# Places in the array of what changes from update to update.
POSITION, VELOCITY, GROUNDED, GROUND_NORMAL = 0, 3, 6, 7
CONTACTS, PENETRATION, CONVERGED, ROUNDS, LIFTED = 10, 11, 12, 13, 14
UNDISTURBED, DRIVEN = 15, 16  # whether the game left it alone; whether it set the velocity
STATE_SIZE = 17

# Places in the array of what the game sets: the shape in the world, and the rules.
KIND, EXTENTS, OFFSET, BOX_ROTATION = 0, 1, 4, 7
GRAVITY, GRAVITY_SCALE, SLOPE_LIMIT, SLOPE_COSINE = 16, 17, 18, 19
GROUND_RULE, FRICTION, MAX_ROUNDS = 20, 21, 22
RULES_SIZE = 23

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
def _unpack_body(rules: Floats) -> Body:
    kind = int(rules[KIND])
    e = _three(rules, EXTENTS)
    m = (
        float(rules[BOX_ROTATION]),
        float(rules[BOX_ROTATION + 1]),
        float(rules[BOX_ROTATION + 2]),
        float(rules[BOX_ROTATION + 3]),
        float(rules[BOX_ROTATION + 4]),
        float(rules[BOX_ROTATION + 5]),
        float(rules[BOX_ROTATION + 6]),
        float(rules[BOX_ROTATION + 7]),
        float(rules[BOX_ROTATION + 8]),
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
    rules: Floats,
    heights: NDArray[np.float32],
    flips: NDArray[np.bool_],
    frame: Floats,
    delta_time: float,
) -> None:
    """Advance ``state`` by one update.

    A character at rest that nobody disturbed stays as it is, bit for bit.
    """
    velocity = _three(state, VELOCITY)
    gravity = float(rules[GRAVITY]) * float(rules[GRAVITY_SCALE])
    if (
        state[UNDISTURBED] != 0.0
        and state[GROUNDED] != 0.0
        and velocity == (0.0, 0.0, 0.0)
        and gravity >= 0.0
    ):
        # What happened when it came to rest is no news.
        state[ROUNDS] = state[LIFTED] = 0.0
        return
    grid = unpack_grid(heights, flips, frame)
    body = _unpack_body(rules)
    scratch = make_scratch(grid, body.reach)
    offset = _three(rules, OFFSET)
    cosine = float(rules[SLOPE_COSINE])

    velocity = (velocity[0], velocity[1] - gravity * delta_time, velocity[2])
    step = STEP_PART * min(body.extents[0], body.extents[1], body.extents[2])
    substeps = max(math.ceil(min(length(velocity) * delta_time / step, float(MAX_SUBSTEPS))), 1)
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
        moved = add_scaled(position, velocity, part)
        wanted = add(moved, offset)
        blocked, reached, wall = stop_at_side(grid, add(position, offset), wanted)
        center, planes, count, deepest, rounds, lifted = resolve(
            grid, reached, body, scratch, random_state, int(rules[MAX_ROUNDS])
        )
        if blocked:
            planes = add_plane(scratch.planes, planes, wall)
        # What was not pushed keeps its bits.
        position = subtract(center, offset) if center != wanted else moved
        most_rounds = max(most_rounds, rounds)
        total_lift += lifted
        if int(rules[GROUND_RULE]) == RULE_SUM:
            touched, total = touched_normals(grid, center, body, scratch.faces)
            grounded, normal = ground_by_sum(touched, total, cosine)
        else:
            grounded, normal = ground_by_planes(scratch.planes, planes, cosine)
        velocity = settle_velocity(scratch.planes, planes, velocity, grounded)

    if grounded and state[DRIVEN] == 0.0:
        speed = math.sqrt(velocity[0] * velocity[0] + velocity[2] * velocity[2])
        left = speed - float(rules[FRICTION]) * delta_time
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
    state[UNDISTURBED], state[DRIVEN] = 1.0, 0.0

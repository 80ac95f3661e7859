"""What the two arrays of a character hold: its state, and what the game sets."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Mat3, Vec3, scale
from terrain_physics._kernels.surface.shapes import (
    BOX,
    SPHERE,
    Body,
    box_body,
    capsule_body,
    sphere_body,
)
from terrain_physics._kernels.types import Floats

# Places in the array of what changes from update to update.
POSITION, VELOCITY, GROUNDED, GROUND_NORMAL = 0, 3, 6, 7
CONTACTS, PENETRATION, CONVERGED, ROUNDS, LIFTED = 10, 11, 12, 13, 14
# Left alone by the game; velocity set; place or shape set: 1, or only the ground edited: 0.5.
UNDISTURBED, DRIVEN, MOVED = 15, 16, 17
GROUND_EDITED = 0.5
GROUND_KIND, GROUND_POINT, GROUND_PART, GROUND_TRIANGLE = 18, 19, 22, 23
AIR_TIME, LANDING_SPEED, GROUND_VERSION = 24, 25, 26
STEPPING, STEP_FOOT = 27, 28  # whether on the way up a step; how high the foot was before
STATE_SIZE = 29

# Kinds of ground.
AIRBORNE, STEEP, WEDGED, WALKABLE = 0, 1, 2, 3

# Places in the array of what the game sets: the shape in the world, and the rules.
KIND, EXTENTS, OFFSET, ROTATION = 0, 1, 4, 7
GRAVITY, GRAVITY_SCALE, SLOPE_LIMIT, SLOPE_COSINE = 16, 17, 18, 19
GROUND_RULE, FRICTION, MAX_ROUNDS = 20, 21, 22
RESOLVER, SNAP, STEP_OFFSET, SURFACE_SPEED = 23, 24, 25, 26
RULES_SIZE = 27

RULE_CONTACT, RULE_SUM = 0, 1


@kernel(inline=True)
def three_at(values: Floats, start: int) -> Vec3:
    """Return three numbers of an array."""
    return (float(values[start]), float(values[start + 1]), float(values[start + 2]))


@kernel(inline=True)
def put_three_at(values: Floats, start: int, v: Vec3) -> None:
    """Write three numbers of an array; a zero without its sign."""
    values[start] = v[0] + 0.0
    values[start + 1] = v[1] + 0.0
    values[start + 2] = v[2] + 0.0


@kernel
def unpack_body(rules: Floats) -> Body:
    """Return the shape that the rules hold."""
    kind = int(rules[KIND])
    e = three_at(rules, EXTENTS)
    x, y, z = (
        three_at(rules, ROTATION),
        three_at(rules, ROTATION + 3),
        three_at(rules, ROTATION + 6),
    )
    m: Mat3 = (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])
    if kind == SPHERE:
        return sphere_body(e[0])
    if kind == BOX:
        return box_body(e, m)
    axis = (m[1] * e[1], m[4] * e[1], m[7] * e[1])
    if axis[1] < 0.0:
        axis = scale(axis, -1.0)
    return capsule_body(e[0], axis, (0.0, e[1], 0.0), m)

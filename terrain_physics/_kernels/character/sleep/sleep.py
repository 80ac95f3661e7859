"""Rest: a body that stands still keeps all its bits as long as it touches the same ground.

Where it comes to rest, what it touches leaves an imprint. When it is woken, it looks again: where
that leaves the same imprint, nothing happened to it. So waking is neutral, and nothing rests on
ground that is gone.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import is_buried, list_contacts
from terrain_physics._kernels.character.contacts.scene import DEPTH, PUSH, Memory, Scene, around
from terrain_physics._kernels.character.reports.report import report_ground
from terrain_physics._kernels.character.state.layout import (
    BY_WORK,
    CARRIED_VELOCITY,
    DRIVEN,
    GRAVITY,
    GRAVITY_SCALE,
    GROUND_KIND,
    GROUND_NORMAL,
    GROUND_POINT,
    GROUNDED,
    HITS,
    IMPRINT,
    LAST_PLACE,
    LIFTED,
    LIMIT,
    MOVED,
    OFFSET,
    ON_HEAD,
    POSITION,
    ROUNDS,
    UNDISTURBED,
    VELOCITY,
    WAS_GROUNDED,
    put_three_at,
    three_at,
)
from terrain_physics._kernels.character.state.work import is_spent
from terrain_physics._kernels.ground.candidates import three
from terrain_physics._kernels.ground.table import Ground
from terrain_physics._kernels.math.vec3 import Vec3, add, dot
from terrain_physics._kernels.types import Floats, Words

# A direction like no other, along which different normals have different parts.
_ASKEW: Vec3 = (0.5377, 0.6180, 0.5737)

# What an imprint is more by where the center of the body is below the surface of a map.
_IN_GROUND = 0.7071


@kernel(inline=True, lent=True)
def stands_still(state: Floats, rules: Floats) -> bool:
    """Tell whether a body stands on the ground and nothing moves it."""
    return bool(
        state[GROUNDED] != 0.0
        and state[VELOCITY] == 0.0
        and state[VELOCITY + 1] == 0.0
        and state[VELOCITY + 2] == 0.0
        and rules[GRAVITY] * rules[GRAVITY_SCALE] >= 0.0
    )


@kernel(inline=True, lent=True)
def is_left_alone(state: Floats, rules: Floats) -> bool:
    """Tell whether a body is at rest where nothing has happened since."""
    return bool(state[UNDISTURBED] != 0.0 and state[IMPRINT] != 0.0 and stands_still(state, rules))


@kernel(apart=True, lent=True)
def _imprint(scene: Scene, count: int) -> float:
    """Return a number for the contacts listed, in their order; 0 for none."""
    total = 0.0
    for i in range(count):
        depth = float(scene.contacts[i, DEPTH])
        total += (1.0 + depth) * dot(three(scene.contacts, i, PUSH), _ASKEW)
    return total


@kernel(apart=True)
def _look_at_feet(
    state: Floats, rules: Floats, random_state: Words, ground: Ground, memory: Memory
) -> float:
    """Return the imprint of all that a body touches, and write the names of what it stands on.

    Whether its center is in the ground is part of it. Where that is too much work, it is 0.
    """
    center = add(three_at(state, POSITION), three_at(rules, OFFSET))
    scene = around(rules, center, 0.0, random_state, ground, memory)
    count, _, _ = list_contacts(scene, (0.0, 0.0, 0.0))
    if is_spent(scene.faces):
        return 0.0
    kind, normal = int(state[GROUND_KIND]), three_at(state, GROUND_NORMAL)
    point = three_at(state, GROUND_POINT)
    report_ground(state, scene, center, count, normal, kind)
    put_three_at(state, GROUND_POINT, point)
    return _imprint(scene, count) + (_IN_GROUND if is_buried(scene, (0.0, 0.0, 0.0)) else 0.0)


@kernel(inline=True, lent=True)
def leave_imprint(
    state: Floats, rules: Floats, random_state: Words, ground: Ground, memory: Memory
) -> None:
    """Note where an update has left a body and, if it stands still there, what it touches.

    Who is carried or on a head does not rest, nor who ran out of work before the end of the update:
    that one may not be where it is going.
    """
    put_three_at(state, LAST_PLACE, three_at(state, POSITION))
    state[IMPRINT] = 0.0
    is_carried = three_at(state, CARRIED_VELOCITY) != (0.0, 0.0, 0.0)
    stands = stands_still(state, rules) and state[GROUND_KIND] != ON_HEAD
    if stands and not is_carried and int(state[LIMIT]) != BY_WORK:
        state[IMPRINT] = _look_at_feet(state, rules, random_state, ground, memory)


@kernel(inline=True, lent=True)
def rests_on(
    state: Floats, rules: Floats, random_state: Words, ground: Ground, memory: Memory
) -> bool:
    """Tell whether a body that was woken still touches what it touched at rest; if so, it rests."""
    if (
        state[IMPRINT] == 0.0
        or not stands_still(state, rules)
        or three_at(state, POSITION) != three_at(state, LAST_PLACE)
        or _look_at_feet(state, rules, random_state, ground, memory) != state[IMPRINT]
    ):
        return False
    state[UNDISTURBED], state[DRIVEN], state[MOVED] = 1.0, 0.0, 0.0
    state[ROUNDS] = state[LIFTED] = state[HITS] = 0.0
    state[WAS_GROUNDED] = 1.0
    return True

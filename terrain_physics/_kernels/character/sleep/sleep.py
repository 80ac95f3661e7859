"""Sleep: a body that stands still keeps all its bits as long as it touches the same ground.

When a body comes to rest, its contact signature is stored. When it wakes, its contacts are found
again: with the same signature it goes back to sleep, unchanged. So waking a body without need
changes no bit, and no body sleeps on ground that is gone.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.scene import Memory
from terrain_physics._kernels.character.sleep.contact_signature import contact_signature
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import gravity_of, three_at
from terrain_physics._kernels.ground.table import GroundTable
from terrain_physics._kernels.tolerances import CONTACT_MARGIN
from terrain_physics._kernels.types import Floats, UInt64s


@kernel(inline=True, no_refcount=True)
def _is_stuck(state: Floats, rules: Floats) -> bool:
    """Tell whether a walker is in the ground, and not because moving parts hold it there.

    Each update tries to free it.
    """
    is_deep = state[at.CONVERGED] == 0.0 and state[at.PENETRATION] > CONTACT_MARGIN
    is_deep = is_deep and int(rules[at.GROUND_RULE]) != at.RULE_SUM
    return bool(state[at.BELOW] != 0.0 or (is_deep and state[at.SQUEEZED_BY] < 0.0))


@kernel(inline=True, no_refcount=True)
def stands_still(state: Floats, rules: Floats) -> bool:
    """Tell whether a body stands on the ground, out of it, and nothing moves it."""
    return bool(
        state[at.GROUNDED] != 0.0
        and not _is_stuck(state, rules)
        and state[at.VELOCITY] == 0.0
        and state[at.VELOCITY + 1] == 0.0
        and state[at.VELOCITY + 2] == 0.0
        and gravity_of(rules) >= 0.0
    )


@kernel(inline=True, no_refcount=True)
def is_asleep(state: Floats, rules: Floats) -> bool:
    """Tell whether a body is at rest and nothing has disturbed it since."""
    return bool(
        state[at.UNDISTURBED] != 0.0
        and state[at.CONTACT_SIGNATURE] != 0.0
        and stands_still(state, rules)
    )


@kernel(inline=True, no_refcount=True)
def note_contact_signature(
    state: Floats, rules: Floats, random_state: UInt64s, ground: GroundTable, memory: Memory
) -> None:
    """Write the contact signature of a body that an update has left standing still; else 0.

    A body does not sleep on a base that moves it, nor on a character, nor where a part squeezes it,
    as that part holds it from afar, nor after an update that ran out of work, as it may not have
    reached its place.
    """
    state[at.CONTACT_SIGNATURE] = 0.0
    is_carried = three_at(state, at.BASE_VELOCITY) != (0.0, 0.0, 0.0)
    stands = stands_still(state, rules) and state[at.GROUND_KIND] != at.ON_CHARACTER
    is_free = not is_carried and state[at.SQUEEZED_BY] < 0.0
    if stands and is_free and int(state[at.LIMIT]) != at.BY_WORK:
        state[at.CONTACT_SIGNATURE] = contact_signature(state, rules, random_state, ground, memory)


@kernel(inline=True, no_refcount=True)
def stays_asleep(
    state: Floats, rules: Floats, random_state: UInt64s, ground: GroundTable, memory: Memory
) -> bool:
    """Tell whether a woken body still has the contact signature of its rest; if so, it sleeps."""
    if (
        state[at.CONTACT_SIGNATURE] == 0.0
        or not stands_still(state, rules)
        or three_at(state, at.POSITION) != three_at(state, at.LAST_PLACE)
        or contact_signature(state, rules, random_state, ground, memory)
        != state[at.CONTACT_SIGNATURE]
    ):
        return False
    state[at.UNDISTURBED], state[at.DRIVEN], state[at.MOVED] = 1.0, 0.0, 0.0
    state[at.ROUNDS] = state[at.LIFTED] = state[at.HITS] = 0.0
    state[at.WAS_GROUNDED] = 1.0
    return True

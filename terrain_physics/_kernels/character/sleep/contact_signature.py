"""Contact signature: one number for all contacts of a body.

It is stored when the body falls asleep, and compared when it wakes.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import is_buried, list_contacts
from terrain_physics._kernels.character.contacts.scene import (
    DEPTH,
    PUSH,
    Memory,
    Scene,
    scene_around,
)
from terrain_physics._kernels.character.reports.report import report_ground
from terrain_physics._kernels.character.state.layout import (
    GROUND_KIND,
    GROUND_NORMAL,
    GROUND_POINT,
    center_at,
    put_three_at,
    three_at,
)
from terrain_physics._kernels.character.state.work import is_spent
from terrain_physics._kernels.ground.candidates import three
from terrain_physics._kernels.ground.solids import is_in_solid
from terrain_physics._kernels.ground.table import GroundTable
from terrain_physics._kernels.math.vec3 import Vec3, dot
from terrain_physics._kernels.types import Floats, UInt64s

# An oblique direction, along which different normals have different components.
_ASKEW: Vec3 = (0.5377, 0.6180, 0.5737)

# Added to the signature where the center of the body is below the surface of a map.
_BURIED = 0.7071

# Added where it is inside of a solid mesh.
_ENCLOSED = 0.5772


@kernel(noinline=True, no_refcount=True)
def _signature_of(scene: Scene, count: int) -> float:
    """Return a number for the contacts listed, in their order; 0 for none."""
    total = 0.0
    for i in range(count):
        depth = float(scene.contacts[i, DEPTH])
        total += (1.0 + depth) * dot(three(scene.contacts, i, PUSH), _ASKEW)
    return total


@kernel(noinline=True)
def contact_signature(
    state: Floats, rules: Floats, random_state: UInt64s, ground: GroundTable, memory: Memory
) -> float:
    """Return the contact signature of a body, and write the part and triangle it stands on.

    The signature also tells whether the body's center is in a map or a solid mesh. It is 0 if it
    was too much work to find.
    """
    center = center_at(state, rules)
    scene = scene_around(rules, center, 0.0, random_state, ground, memory)
    count, _, _ = list_contacts(scene, (0.0, 0.0, 0.0))
    if is_spent(scene.work):
        return 0.0
    kind, normal = int(state[GROUND_KIND]), three_at(state, GROUND_NORMAL)
    point = three_at(state, GROUND_POINT)
    report_ground(state, scene, center, count, normal, kind)
    put_three_at(state, GROUND_POINT, point)
    signature = _signature_of(scene, count)
    if is_in_solid(ground, center):
        signature += _ENCLOSED
    return signature + (_BURIED if is_buried(scene, (0.0, 0.0, 0.0)) else 0.0)

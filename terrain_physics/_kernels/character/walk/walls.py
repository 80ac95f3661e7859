"""Steep contacts as upright walls."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import as_wall
from terrain_physics._kernels.character.contacts.scene import (
    CANDIDATE,
    DEPTH,
    PUSH,
)
from terrain_physics._kernels.ground.candidates import put_three, three
from terrain_physics._kernels.tolerances import OVERHEAD_COSINE, SLOP
from terrain_physics._kernels.types import Floats


@kernel(no_refcount=True)
def make_walls(contacts: Floats, count: int, walkable: float) -> tuple[int, bool]:
    """Turn penetrating steep contacts into upright walls, and drop all others from the list.

    Returns (how many are left, whether one that was dropped is overhead, with no way out along the
    ground). Such a contact may be the edge of a wall, out of which another contact leads.
    """
    kept, overhead = 0, False
    for i in range(count):
        if contacts[i, DEPTH] <= SLOP or contacts[i, PUSH + 1] >= walkable:
            continue
        if contacts[i, PUSH + 1] < -OVERHEAD_COSINE:
            overhead = True
            continue
        depth, push = as_wall(float(contacts[i, DEPTH]), three(contacts, i, PUSH))
        contacts[kept, CANDIDATE] = contacts[i, CANDIDATE]
        contacts[kept, DEPTH] = depth
        put_three(contacts, kept, PUSH, push)
        kept += 1
    return kept, overhead

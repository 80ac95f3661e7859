"""The first step of a body that was made or teleported: on ground that it touches, it stands."""

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import list_contacts
from terrain_physics._kernels.character.contacts.scene import PUSH, Scene
from terrain_physics._kernels.character.flight.flight import take_aim
from terrain_physics._kernels.character.state.motion import Motion, MovementRules, walking_on
from terrain_physics._kernels.character.state.substeps import Pace
from terrain_physics._kernels.ground.candidates import three
from terrain_physics._kernels.math.vec3 import Vec3


@kernel(inline=True, no_refcount=True)
def _most_upright(scene: Scene, offset: Vec3) -> Vec3:
    """Return the normal of a body's contacts that points up most; zeros if none does."""
    contacts, best = list_contacts(scene, offset).contacts, (0.0, 0.0, 0.0)
    for i in range(contacts):
        if scene.contacts[i, PUSH + 1] > best[1]:
            best = three(scene.contacts, i, PUSH)
    return best


@kernel(noinline=True, no_refcount=True)
def find_footing(
    movement: MovementRules, motion: Motion, pace: Pace, scene: Scene
) -> tuple[bool, Motion]:
    """Return (whether a body in the air touches walkable ground, its motion).

    For a body that was put where it is. If a step through the air would lead it off that ground, as
    downhill, it walks from now on.
    """
    normal, velocity = _most_upright(scene, motion.offset), motion.velocity
    stands = normal[1] >= movement.walkable
    if not stands or not movement.walks or velocity[1] > 0.0:
        return stands, motion
    if take_aim(movement, motion, pace, scene).manifold.depth > 0.0:
        return True, motion  # it lands there
    level = (velocity[0], 0.0, velocity[2])
    return True, replaced(motion, velocity=level, footing=walking_on(normal))

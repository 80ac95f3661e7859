"""Creases: lines in which steep faces meet, and in which a body comes to lie.

A body that is wedged between steep faces is held, and walks along their crease, up and down, as on
ground with the crease's slope. Each face by itself is a wall.
"""

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import (
    Manifold,
    is_buried,
    list_contacts,
)
from terrain_physics._kernels.character.contacts.grounding import (
    ground_by_planes,
    leads_into_none,
    plane_normal,
    rise_of_slope,
)
from terrain_physics._kernels.character.contacts.resolve import push_out
from terrain_physics._kernels.character.contacts.scene import Scene
from terrain_physics._kernels.character.reports.report import contact_planes
from terrain_physics._kernels.character.state.layout import SIMULTANEOUS
from terrain_physics._kernels.character.state.motion import BLOCKED, OFF_GROUND, Walked
from terrain_physics._kernels.math.vec3 import Vec3, add, cross, dot, flat, length, scale, subtract
from terrain_physics._kernels.tolerances import ALONG_SHARE, SLOP, WALL_CLEARANCE
from terrain_physics._kernels.types import Floats

# Most rounds of pushing out where a crease bends.
_BEND_ROUNDS = 16

# Farthest that a bend of a crease may lead a body, as a multiple of its displacement's length.
_FARTHEST_ASIDE = 2.0

# Least progress along a displacement, as a share of it, for a body to leave ground that holds it:
# with less, walls have only pushed it off. Out of a crease or upward, and off walkable ground.
_LEAST_OUT, _LEAST_OFF = 0.25, 0.02


@kernel
def _best_crease(planes: Floats, count: int, displacement: Vec3, walkable: float) -> Vec3:
    """Return the walkable crease of two planes that leads farthest along a displacement.

    It is a unit vector, or zero if each such crease leads into another plane.
    """
    best, farthest = (0.0, 0.0, 0.0), 0.0
    for i in range(count):
        for j in range(i):
            line = cross(plane_normal(planes, i), plane_normal(planes, j))
            size = length(line)
            if not size > ALONG_SHARE:
                continue
            line = scale(line, (1.0 if dot(line, displacement) > 0.0 else -1.0) / size)
            level, ahead = flat(line)
            far = dot(ahead, displacement)
            if (
                level >= walkable
                and far > farthest
                and leads_into_none(planes, count, line, ALONG_SHARE)
            ):
                best, farthest = line, far
    return best


@kernel
def _pushed_out(scene: Scene, offset: Vec3) -> tuple[Vec3, Manifold]:
    """Return (where a body is after it has been pushed out of the ground, its manifold there)."""
    manifold = list_contacts(scene, offset)
    rounds = 0
    while manifold.depth > SLOP and rounds < _BEND_ROUNDS:
        rounds += 1
        offset, _ = push_out(scene, offset, manifold.contacts, 0, False)
        manifold = list_contacts(scene, offset)
    return offset, manifold


@kernel(noinline=True)
def _holds(scene: Scene, offset: Vec3, manifold: Manifold, walkable: float) -> bool:
    """Tell whether a body at an offset overlaps nothing, and its contacts together hold it."""
    if manifold.depth > SLOP or manifold.overlap > SLOP or is_buried(scene, offset):
        return False
    held, _ = ground_by_planes(scene.planes, contact_planes(scene, manifold.contacts), walkable)
    return held


@kernel(noinline=True, no_refcount=True)
def settle_in_crease(
    scene: Scene, offset: Vec3, drop: float, walkable: float
) -> tuple[bool, Vec3, int]:
    """Let a body down by at most ``drop`` to where steep faces hold it together.

    Returns (whether they do, where the body is then, how many contacts the scene lists there).
    """
    scene = replaced(scene, resolver=SIMULTANEOUS)
    place, manifold = _pushed_out(scene, add(offset, (0.0, -drop, 0.0)))
    aside, _ = flat(subtract(place, offset))
    # The height has a slack, as pushes one after another may leave it a little too low.
    if place[1] <= offset[1] + drop and aside <= drop and _holds(scene, place, manifold, walkable):
        return True, place, manifold.contacts
    return False, offset, list_contacts(scene, offset).contacts


@kernel
def _along_crease(
    scene: Scene, start: Vec3, line: Vec3, displacement: Vec3, snap: float, walkable: float
) -> tuple[bool, Vec3, Manifold]:
    """Return (whether a displacement along a crease ends in it, where, the manifold there).

    Where the crease bends or falls away, the body comes down by no more than walkable ground would
    fall, and by ``snap`` at most.
    """
    level, ahead = flat(line)
    size = dot(ahead, displacement)
    rise = rise_of_slope(size, walkable)
    end = add(start, scale(line, size / level))
    place, manifold = _pushed_out(scene, end)
    if not _holds(scene, place, manifold, walkable):
        place, manifold = _pushed_out(scene, add(end, (0.0, -min(rise, snap), 0.0)))
    aside, _ = flat(subtract(place, start))
    stays = (
        _holds(scene, place, manifold, walkable)
        and aside <= _FARTHEST_ASIDE * size + WALL_CLEARANCE
        and dot(subtract(place, start), displacement) > 0.0
        and place[1] <= start[1] + rise + WALL_CLEARANCE
    )
    return stays, place, manifold


@kernel(inline=True)
def _blocked(place: Vec3, manifold: Manifold) -> Walked:
    depth = max(manifold.depth, manifold.overlap)
    return Walked(BLOCKED, place, 0, manifold.contacts, depth, 0)


@kernel(noinline=True, no_refcount=True)
def follow_crease(
    scene: Scene, start: Vec3, displacement: Vec3, snap: float, walked: Walked, walkable: float
) -> tuple[bool, Vec3, Walked]:
    """Move along the crease that a body is wedged in, if it is in one.

    Parameters
    ----------
    scene : Scene
        Left with the contacts of the body at its end.
    start : Vec3
    displacement : Vec3
        Horizontal, in meters.
    snap : float
        How far down a bend of the crease may lead, in meters.
    walked : Walked
        Where the displacement led along walls.
    walkable : float
        The least y of a walkable unit normal.

    Returns
    -------
    tuple of bool, Vec3 and Walked
        Whether the ground that holds the body leads it elsewhere than ``walked``; if so, the unit
        direction in which it goes on, or zero; the result of the walk.
    """
    scene = replaced(scene, resolver=SIMULTANEOUS)
    nowhere = (0.0, 0.0, 0.0)
    planes = contact_planes(scene, list_contacts(scene, start).contacts)
    held, _ = ground_by_planes(scene.planes, planes, walkable)
    steep = True
    for i in range(planes):
        steep = steep and scene.planes[i, 1] < walkable
    if held and steep:
        line = _best_crease(scene.planes, planes, displacement, walkable)
        if dot(line, displacement) > 0.0:
            stays, place, manifold = _along_crease(scene, start, line, displacement, snap, walkable)
            if stays:
                return True, line, _blocked(place, manifold)
    if held and (steep or walked.ended == OFF_GROUND):
        upward = walked.offset[1] > start[1] + SLOP
        least = _LEAST_OUT if steep or upward else _LEAST_OFF
        if dot(subtract(walked.offset, start), displacement) < least * dot(
            displacement, displacement
        ):
            return True, nowhere, _blocked(start, list_contacts(scene, start))
    list_contacts(scene, walked.offset)
    return False, nowhere, walked

"""Gullies: where steep faces meet in a line on which a body comes to lie.

A body that is wedged between steep faces is held, and walks along the line in which they meet, up
and down, as on ground of its slope. Each face by itself is a wall.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import (
    Touching,
    is_buried,
    list_contacts,
)
from terrain_physics._kernels.character.contacts.grounding import (
    ALONG,
    ground_by_planes,
    leads_into_none,
    plane_normal,
    rise_of_slope,
)
from terrain_physics._kernels.character.contacts.resolve import push_out
from terrain_physics._kernels.character.contacts.scene import Scene, at_once
from terrain_physics._kernels.character.reports.report import planes_touched
from terrain_physics._kernels.character.state.motion import BLOCKED, OFF_GROUND, Walked
from terrain_physics._kernels.math.vec3 import Vec3, add, cross, dot, flat, length, scale, subtract
from terrain_physics._kernels.tolerances import SLOP, WALL_CLEARANCE
from terrain_physics._kernels.types import Floats

# Rounds of pushing out where a gully bends.
_BEND_ROUNDS = 16

# Times its own length that a way may lead aside where a gully bends.
_FARTHEST_ASIDE = 2.0

# Part of a way that must be left of it where it leads off what holds a body: else walls have only
# pushed the body off. Out of a gully or upward, and off walkable ground.
_LEAST_OUT, _LEAST_OFF = 0.25, 0.02


@kernel
def _best_line(planes: Floats, count: int, displacement: Vec3, cosine: float) -> Vec3:
    """Return the walkable line of two planes that goes farthest along a horizontal way.

    A unit vector, or zero if each such line leads into another plane.
    """
    best, farthest = (0.0, 0.0, 0.0), 0.0
    for i in range(count):
        for j in range(i):
            line = cross(plane_normal(planes, i), plane_normal(planes, j))
            size = length(line)
            if not size > ALONG:
                continue
            line = scale(line, (1.0 if dot(line, displacement) > 0.0 else -1.0) / size)
            level, ahead = flat(line)
            far = dot(ahead, displacement)
            if level >= cosine and far > farthest and leads_into_none(planes, count, line, ALONG):
                best, farthest = line, far
    return best


@kernel
def _pushed_out(scene: Scene, offset: Vec3) -> tuple[Vec3, Touching]:
    """Return where a body comes out of all that it is in, and what it touches there."""
    touching = list_contacts(scene, offset)
    rounds = 0
    while touching.depth > SLOP and rounds < _BEND_ROUNDS:
        rounds += 1
        offset, _ = push_out(scene, offset, touching.contacts, 0, False)
        touching = list_contacts(scene, offset)
    return offset, touching


@kernel(noinline=True)
def _holds(scene: Scene, offset: Vec3, touching: Touching, cosine: float) -> bool:
    """Tell whether a body is in nothing there, and all that it touches together holds it."""
    if touching.depth > SLOP or touching.overlap > SLOP or is_buried(scene, offset):
        return False
    held, _ = ground_by_planes(scene.planes, planes_touched(scene, touching.contacts), cosine)
    return held


@kernel(noinline=True, no_refcount=True)
def settle_in_crease(
    scene: Scene, offset: Vec3, drop: float, cosine: float
) -> tuple[bool, Vec3, int]:
    """Let a body down by at most ``drop`` to where steep faces hold it together.

    Returns (whether they do, where it is then, how many contacts the scene lists for that).
    """
    scene = at_once(scene)
    place, touching = _pushed_out(scene, add(offset, (0.0, -drop, 0.0)))
    aside, _ = flat(subtract(place, offset))
    # Pushed one after another, it may be a hair too low.
    if place[1] <= offset[1] + drop and aside <= drop and _holds(scene, place, touching, cosine):
        return True, place, touching.contacts
    return False, offset, list_contacts(scene, offset).contacts


@kernel
def _along_line(
    scene: Scene, start: Vec3, line: Vec3, displacement: Vec3, snap: float, cosine: float
) -> tuple[bool, Vec3, Touching]:
    """Return (whether a way along the line of a gully ends in it, where, what is touched there).

    Where the gully bends or falls away, the body comes down by no more than walkable ground could,
    and by ``snap`` at most.
    """
    level, ahead = flat(line)
    size = dot(ahead, displacement)
    rise = rise_of_slope(size, cosine)
    end = add(start, scale(line, size / level))
    place, touching = _pushed_out(scene, end)
    if not _holds(scene, place, touching, cosine):
        place, touching = _pushed_out(scene, add(end, (0.0, -min(rise, snap), 0.0)))
    aside, _ = flat(subtract(place, start))
    stays = (
        _holds(scene, place, touching, cosine)
        and aside <= _FARTHEST_ASIDE * size + WALL_CLEARANCE
        and place[1] <= start[1] + rise + WALL_CLEARANCE
    )
    return stays, place, touching


@kernel(inline=True)
def _blocked(place: Vec3, touching: Touching) -> Walked:
    depth = max(touching.depth, touching.overlap)
    return Walked(BLOCKED, place, 0, touching.contacts, depth, 0)


@kernel(noinline=True, no_refcount=True)
def follow_crease(
    scene: Scene, start: Vec3, displacement: Vec3, snap: float, walked: Walked, cosine: float
) -> tuple[bool, Vec3, Walked]:
    """Go a horizontal way along the gully that a body is wedged in, if it is in one.

    Parameters
    ----------
    scene : Scene
        Left with the contacts where the body is then.
    start : Vec3
    way : Vec3
    snap : float
        How far down a bend of the gully may lead, in meters.
    walked : Walked
        Where the way led along walls.
    cosine : float
        The least y of a walkable unit normal.

    Returns
    -------
    tuple of bool, Vec3 and Walked
        Whether what holds the body leads it elsewhere than ``walked``; the unit direction in which
        it then goes on, or zero; where it is.
    """
    scene = at_once(scene)
    nowhere = (0.0, 0.0, 0.0)
    planes = planes_touched(scene, list_contacts(scene, start).contacts)
    held, _ = ground_by_planes(scene.planes, planes, cosine)
    steep = True
    for i in range(planes):
        steep = steep and scene.planes[i, 1] < cosine
    if held and steep:
        line = _best_line(scene.planes, planes, displacement, cosine)
        if dot(line, displacement) > 0.0:
            stays, place, touching = _along_line(scene, start, line, displacement, snap, cosine)
            if stays:
                return True, line, _blocked(place, touching)
    if held and (steep or walked.ended == OFF_GROUND):
        upward = walked.offset[1] > start[1] + SLOP
        least = _LEAST_OUT if steep or upward else _LEAST_OFF
        if dot(subtract(walked.offset, start), displacement) < least * dot(
            displacement, displacement
        ):
            return True, nowhere, _blocked(start, list_contacts(scene, start))
    list_contacts(scene, walked.offset)
    return False, nowhere, walked

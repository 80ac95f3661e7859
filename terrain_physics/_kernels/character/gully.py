"""Gullies: ground that no face is, the line in which steep faces meet.

Who is wedged there is held, and walks along that line, up and down, as on ground of its slope. Each
face alone is a wall.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.body import SLOP
from terrain_physics._kernels.character.grounding import (
    ALONG,
    ground_by_planes,
    plane_normal,
    rise_of_slope,
)
from terrain_physics._kernels.character.report import planes_touched
from terrain_physics._kernels.character.resolve import (
    STUCK,
    Scene,
    Touching,
    at_once,
    is_buried,
    list_contacts,
    push_out,
)
from terrain_physics._kernels.character.walk import BLOCKED, Walked
from terrain_physics._kernels.character.walls import MOST_CLEARANCE, flat
from terrain_physics._kernels.math.vec3 import Vec3, add, cross, dot, length, scale, subtract
from terrain_physics._kernels.types import Floats

# Rounds of pushing out where a gully bends.
_BEND_ROUNDS = 8

# Part of a way that must lead out of a gully, for a body to leave it.
_LEAST_SHARE = 0.25


@kernel
def _is_open(planes: Floats, count: int, line: Vec3) -> bool:
    for i in range(count):
        if dot(plane_normal(planes, i), line) < -ALONG:
            return False
    return True


@kernel
def _best_line(planes: Floats, count: int, way: Vec3, cosine: float) -> Vec3:
    """Return the walkable line of two planes that goes farthest along a horizontal way.

    A unit vector; zero if none goes any way along it that leads into no plane.
    """
    best, most = (0.0, 0.0, 0.0), 0.0
    for i in range(count):
        for j in range(i):
            line = cross(plane_normal(planes, i), plane_normal(planes, j))
            size = length(line)
            if not size > ALONG:
                continue
            line = scale(line, (1.0 if dot(line, way) > 0.0 else -1.0) / size)
            level, ahead = flat(line)
            along = dot(ahead, way)
            if level >= cosine and along > most and _is_open(planes, count, line):
                best, most = line, along
    return best


@kernel
def _pushed_out(scene: Scene, offset: Vec3) -> tuple[Vec3, Touching]:
    touching = list_contacts(scene, offset)
    rounds = 0
    while touching.depth > SLOP and rounds < _BEND_ROUNDS:
        rounds += 1
        offset, _ = push_out(scene, offset, touching.contacts, 0, False)
        touching = list_contacts(scene, offset)
    return offset, touching


@kernel
def _holds(scene: Scene, offset: Vec3, touching: Touching, cosine: float) -> bool:
    """Tell whether a place is out of everything, and ground or a gully holds the body."""
    if touching.depth > SLOP or touching.overlap > SLOP or is_buried(scene, offset):
        return False
    held, _ = ground_by_planes(scene.planes, planes_touched(scene, touching.contacts), cosine)
    return held


@kernel(apart=True, lent=True)
def settle_in_gully(scene: Scene, offset: Vec3, drop: float, cosine: float) -> tuple[bool, Vec3]:
    """Return (whether a gully holds a body that comes down by at most ``drop``, where it is then).

    The scene lists the contacts where the body is.
    """
    scene = at_once(scene)
    place, touching = _pushed_out(scene, add(offset, (0.0, -drop, 0.0)))
    aside, _ = flat(subtract(place, offset))
    if place[1] <= offset[1] + drop and aside <= drop and _holds(scene, place, touching, cosine):
        return True, place
    list_contacts(scene, offset)
    return False, offset


@kernel(apart=True, lent=True)
def follow_gully(
    scene: Scene, start: Vec3, way: Vec3, snap: float, walked: Walked, cosine: float
) -> tuple[bool, Vec3, Walked]:
    """Go a horizontal way along the gully that a body is in, if it is in one.

    Returns (whether it is, the unit direction of its line, or zero where it leads nowhere, where
    the body is then). If it is in none, that is ``walked``. The scene lists the contacts there.
    """
    scene = at_once(scene)
    nowhere = (0.0, 0.0, 0.0)
    touching = list_contacts(scene, start)
    planes = planes_touched(scene, touching.contacts)
    held, _ = ground_by_planes(scene.planes, planes, cosine)
    steep = True
    for i in range(planes):
        steep = steep and scene.planes[i, 1] < cosine
    if held and steep:
        line = _best_line(scene.planes, planes, way, cosine)
        level, ahead = flat(line)
        if level == 0.0:
            depth = max(touching.depth, touching.overlap)
            return True, nowhere, Walked(BLOCKED, start, 0, touching.contacts, depth, 0)
        along = dot(ahead, way)
        end = add(start, scale(line, along / level))
        size = abs(along)
        for k in range(2):
            drop = rise_of_slope(size, cosine) if k == 1 else 0.0
            drop = min(drop, snap)
            place, touching = _pushed_out(scene, add(end, (0.0, -drop, 0.0)))
            aside, _ = flat(subtract(place, start))
            if (
                _holds(scene, place, touching, cosine)
                and aside <= 2.0 * size + MOST_CLEARANCE
                and place[1] <= start[1] + rise_of_slope(size, cosine) + MOST_CLEARANCE
            ):
                depth = max(touching.depth, touching.overlap)
                return True, line, Walked(BLOCKED, place, 0, touching.contacts, depth, 0)
        if dot(subtract(walked.offset, start), way) < _LEAST_SHARE * dot(way, way):
            touching = list_contacts(scene, start)
            depth = max(touching.depth, touching.overlap)
            return True, nowhere, Walked(BLOCKED, start, 0, touching.contacts, depth, 0)
    list_contacts(scene, walked.offset)
    return False, nowhere, walked

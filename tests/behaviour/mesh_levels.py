"""Mesh levels from a seed: a floor with stairs, arches, walls, parapets, railings and ramps on it.

Walkers go straight on in random directions, pressed into whatever is there.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from pyglm import glm

from terrain_physics import OBB, Capsule, Ray, Sphere, TriangleMesh
from tests.behaviour import lands
from tests.behaviour.drive import RESOLVERS, character
from tests.behaviour.levels import BODIES, RATES
from tests.behaviour.measure import depth_in_triangles

CELLS, CELL = 5, 5.0  # things along x and z, and meters from one to the next
SIZE = CELLS * CELL
LEVELS = 40  # that the walkers of a scan share
SECONDS = 4.0
LEAST_DEPTH = 1e-3  # meters in a triangle that count as in it


def _stairs(rng):
    rise, tread = rng.uniform(0.12, 0.3), rng.uniform(0.25, 0.4)
    count, wide = int(rng.integers(3, 8)), rng.uniform(0.8, 2.0)
    return [((tread * k, 0.0, -wide), (3.2, rise * (k + 1), wide)) for k in range(count)]


def _arch(rng):
    """Two pillars, and stones that close in over them to a flat top."""
    wide, high, thick = rng.uniform(0.5, 1.2), rng.uniform(1.2, 2.4), rng.uniform(0.15, 0.5)
    spans = []
    for side in (-1.0, 1.0):
        edges = sorted((side * wide, side * (wide + thick)))
        spans.append(((-thick, 0.0, edges[0]), (thick, high, edges[1])))
        for k in range(4):
            edges = sorted((side * wide * (1.0 - 0.25 * (k + 1)), side * (wide + thick)))
            spans.append(
                ((-thick, high + 0.1 * k, edges[0]), (thick, high + 0.1 * k + 0.1, edges[1]))
            )
    return spans


def _wall(rng):
    thick, long = 10 ** rng.uniform(-2.5, -0.7), rng.uniform(1.0, 2.4)
    return [((-thick / 2, 0.0, -long), (thick / 2, 3.0, long))]


def _parapet(rng):
    """A low wall, often with a ledge before it."""
    high, thick, long = rng.uniform(0.05, 1.1), rng.uniform(0.05, 0.4), rng.uniform(1.0, 2.4)
    spans = [((0.0, 0.0, -long), (thick, high, long))]
    if rng.random() < 0.5:
        tread, rise = rng.uniform(0.01, 0.3), rng.uniform(0.03, 0.35)
        spans.append(((-tread, 0.0, -long), (0.0, rise, long)))
    return spans


def _railing(rng):
    apart, thick = rng.uniform(0.15, 1.0), rng.uniform(0.02, 0.06)
    posts = np.arange(-2.0, 2.01, apart)
    spans = [((-thick, 0.0, z - thick), (thick, 1.0, z + thick)) for z in posts]
    rails = rng.uniform(0.05, 1.0, int(rng.integers(1, 4)))
    return spans + [((-thick, y, -2.0), (thick, y + thick, 2.0)) for y in rails]


def _ramp(rng):
    """A wedge that rises along x, as vertices and faces."""
    slope, long, wide = math.tan(math.radians(rng.uniform(10, 55))), 2.4, rng.uniform(0.5, 1.5)
    high = slope * long
    vertices = [[x, y, z] for x, y in ((0, 0), (long, 0), (long, high)) for z in (-wide, wide)]
    faces = [[0, 2, 4], [1, 5, 3], [0, 4, 5], [0, 5, 1], [2, 3, 5], [2, 5, 4], [0, 1, 3], [0, 3, 2]]
    return np.array(vertices), np.array(faces)


_THINGS = (_stairs, _arch, _wall, _parapet, _railing, _ramp)


def _finer(vertices, faces, times):
    """Return the triangles (n, 3, 3), each cut in four ``times`` over."""
    corners = np.asarray(vertices, dtype=np.float64)[faces]
    for _ in range(times):
        a, b, c = corners.transpose(1, 0, 2)
        d, e, f = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        parts = [np.stack(abc, 1) for abc in ((a, d, f), (d, b, e), (f, e, c), (d, e, f))]
        corners = np.concatenate(parts)
    return corners


class Level(NamedTuple):
    """A level."""

    ground: TriangleMesh
    corners: np.ndarray  # of its triangles, (n, 3, 3)


@cache
def level(seed):
    """Return a level, aligned or turned as a whole and in its parts."""
    rng = np.random.default_rng(seed)
    floor = (lands.triangulated, lands.scattered)[seed % 2](seed, size=int(SIZE))
    parts = [np.asarray(floor.vertices)[floor.faces]]
    for row in range(CELLS):
        for column in range(CELLS):
            thing = _THINGS[int(rng.integers(len(_THINGS)))](rng)
            if isinstance(thing, list):
                mesh = lands.boxes(*thing)
                thing = np.asarray(mesh.vertices), mesh.faces
            vertices, faces = thing
            corners = _finer(vertices, faces, int(rng.integers(0, 3)))
            angle = rng.choice([0.0, 0.5 * math.pi, rng.uniform(0, 2 * math.pi)])
            middle = ((column + 0.5) * CELL, 0.0, (row + 0.5) * CELL)
            parts.append(corners @ _turn(angle).T + middle)
    corners = np.concatenate(parts) - (SIZE / 2, 0.0, SIZE / 2)
    corners = corners @ _turn(rng.choice([0.0, rng.uniform(0, 2 * math.pi)])).T
    ground = TriangleMesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    return Level(ground, np.asarray(ground.vertices)[ground.faces])


def _turn(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


class LevelWalk(NamedTuple):
    """A walk in a level."""

    level: int
    body: str
    rate: int
    resolver: str
    speed: float
    seed: int


def walk_case(seed, levels=LEVELS):
    rng = np.random.default_rng(seed)
    return LevelWalk(
        int(rng.integers(levels)),
        str(rng.choice(list(BODIES))),
        RATES[seed % len(RATES)],
        str(rng.choice(RESOLVERS)),
        float(rng.uniform(1.0, 6.0)),
        seed,
    )


class Walked(NamedTuple):
    """What came of a walk in a level: in how many frames what was wrong."""

    bobs: int  # up, down and up again within 3 frames, over the level floor
    idle: int  # standing where the way along is free
    through: int  # its center passed through a triangle
    deep: int  # in a triangle
    below: int


def _shape(name, center):
    x, y, z = center
    if name == "sphere":
        return Sphere(glm.vec3(x, y, z), 0.5)
    if name == "capsule":
        return Capsule(glm.vec3(x, y - 0.6, z), glm.vec3(x, y + 0.6, z), 0.3)
    return OBB(glm.vec3(x, y, z), glm.vec3(0.3, 0.9, 0.3))


_RAISED = 0.02  # meters over the floor at which the way along is looked for
_FREE = 0.15  # meters that make it free
_SLANTS = [side * math.radians(d) for d in (0, 15, 30, 45, 60, 75) for side in (1, -1)]


def _way_along(ground, name, place, angle):
    """Tell whether a body has room along any way that is not more than 75 degrees off."""
    shape = _shape(name, np.add(place, (0.0, _RAISED, 0.0)))
    for slant in _SLANTS:
        way = glm.vec3(_FREE * math.cos(angle + slant), 0.0, _FREE * math.sin(angle + slant))
        if ground.sweep(shape, way) is None:
            return True
    return False


def _start(rng, ground, name):
    """Return a place over the floor where a body has room."""
    while True:
        x, z = rng.uniform(-0.3 * SIZE, 0.3 * SIZE, 2)
        place = (x, BODIES[name][1] + _RAISED, z)
        if len(ground.contacts(_shape(name, place))) == 0:
            return place


def walk(case, frames=None):
    """Walk about in a level; ``frames`` collects what is seen, if given."""
    rng = np.random.default_rng(case.seed)
    found = level(case.level)
    collider, stand, _ = BODIES[case.body]
    start = _start(rng, found.ground, case.body)
    mover = character(found.ground, collider, start, resolver=case.resolver)
    for _ in range(math.ceil(0.3 * case.rate)):
        mover.update(1 / case.rate)
    last = glm.dvec3(mover.position64)
    places, on_floor = [np.array(last)], [False]
    idle = through = deep = below = 0
    since, angle, until = 0, 0.0, 0
    half = math.ceil(0.5 * case.rate)
    for frame in range(round(SECONDS * case.rate)):
        if frame >= until:
            angle, since = rng.uniform(0, 2 * math.pi), frame
            until = frame + round(rng.uniform(0.7, 2.0) * case.rate)
        mover.velocity.x = case.speed * math.cos(angle)
        mover.velocity.z = case.speed * math.sin(angle)
        mover.update(1 / case.rate)
        place = np.array(mover.position64)
        moved = place - np.array(last)
        size = float(np.linalg.norm(moved))
        if size > 0.0:
            ray = Ray(glm.vec3(last), glm.vec3(moved / size))
            through += found.ground.raycast(ray, size) is not None
        if math.hypot(place[0], place[2]) > 0.45 * SIZE:
            break
        last = mover.position64
        places.append(place)
        on_floor.append(abs(place[1] - stand) < 0.01)
        below += place[1] < 0.9 * stand
        if frame % (case.rate // 4) == 0:
            deep += depth_in_triangles(mover, collider, found.corners) > LEAST_DEPTH
        stood = frame - since >= half and np.linalg.norm(place - places[-1 - half]) < 0.02
        if stood and on_floor[-1] and (frame - since) % half == 0:
            idle += _way_along(found.ground, case.body, place, angle)
        if frames is not None:
            frames.append(
                (frame, angle, mover.grounded, place, mover.velocity, idle, through, deep)
            )
    up = np.diff(np.array(places)[:, 1])
    turns = (up[:-2] > 0.02) & (up[1:-1] < -0.02) & (up[2:] > 0.02)
    near = np.array(on_floor)
    turns &= (near[:-3] | near[1:-2] | near[2:-1] | near[3:])[: len(turns)]
    return Walked(int(turns.sum()), int(idle), int(through), int(deep), int(below))


def is_well(found):
    """Tell whether nobody bobs, stands where the way along is free, or gets below or through."""
    return not any(found)

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
from tests.behaviour.levels import BODIES, RATES, turning
from tests.behaviour.measure import depth_in_triangles
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, sin, tan, times

CELLS, CELL = 5, 5.0  # things along x and z, and meters from one to the next
SIZE = CELLS * CELL
LEVELS = 40  # that the walkers of a scan share
SECONDS = 4.0
LEAST_DEPTH = 1e-3  # meters in a triangle that count as in it
ON_FLOOR = 0.01  # meters, up and down, within which a body stands on the floor
BOB = 0.02  # meters up or down that count

RAISED = 0.02  # meters over the floor at which the way along is looked for
FREE = 0.15  # meters that make it free
SLANTS = [math.radians(degrees) for degrees in range(-75, 76, 15)]


def _stairs(rng):
    rise, tread = rng.uniform(0.12, 0.3), rng.uniform(0.25, 0.4)
    count, wide = rng.whole(3, 8), rng.uniform(0.8, 2.0)
    return lands.boxes(
        *(((tread * k, 0.0, -wide), (3.2, rise * (k + 1), wide)) for k in range(count))
    )


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
    return lands.boxes(*spans)


def _wall(rng):
    thick, long = rng.scale(-2.5, -0.7), rng.uniform(1.0, 2.4)
    return lands.boxes(((-thick / 2, 0.0, -long), (thick / 2, 3.0, long)))


def _parapet(rng):
    """A low wall, often with a ledge before it."""
    high, thick, long = rng.uniform(0.05, 1.1), rng.uniform(0.05, 0.4), rng.uniform(1.0, 2.4)
    spans = [((0.0, 0.0, -long), (thick, high, long))]
    if rng.chance(0.5):
        tread, rise = rng.uniform(0.01, 0.3), rng.uniform(0.03, 0.35)
        spans.append(((-tread, 0.0, -long), (0.0, rise, long)))
    return lands.boxes(*spans)


def _railing(rng):
    apart, thick = rng.uniform(0.15, 1.0), rng.uniform(0.02, 0.06)
    posts = np.arange(-2.0, 2.01, apart)
    spans = [((-thick, 0.0, z - thick), (thick, 1.0, z + thick)) for z in posts]
    bars = rng.uniform(0.05, 1.0, rng.whole(1, 4))
    spans += [((-thick, y, -2.0), (thick, y + thick, 2.0)) for y in bars]
    return lands.boxes(*spans)


def _ramp(rng):
    """A wedge that rises along x."""
    slope, long, wide = tan(math.radians(rng.uniform(10, 55))), 2.4, rng.uniform(0.5, 1.5)
    high = slope * long
    vertices = [[x, y, z] for x, y in ((0, 0), (long, 0), (long, high)) for z in (-wide, wide)]
    faces = [[0, 2, 4], [1, 5, 3], [0, 4, 5], [0, 5, 1], [2, 3, 5], [2, 5, 4], [0, 1, 3], [0, 3, 2]]
    return TriangleMesh(vertices, faces)


_THINGS = (_stairs, _arch, _wall, _parapet, _railing, _ramp)


def _corners(mesh):
    """Return the corners of its triangles (n, 3, 3)."""
    return np.asarray(mesh.vertices)[mesh.faces]


def _finer(corners, times):
    """Return triangles (n, 3, 3), each cut in four ``times`` over."""
    for _ in range(times):
        a, b, c = corners.transpose(1, 0, 2)
        d, e, f = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        parts = [np.stack(abc, 1) for abc in ((a, d, f), (d, b, e), (f, e, c), (d, e, f))]
        corners = np.concatenate(parts)
    return corners


def _turned(corners, degrees):
    """Return triangles (n, 3, 3) turned about +Y."""
    return times(corners.reshape(-1, 3), turning(degrees).T).reshape(-1, 3, 3)


class Level(NamedTuple):
    """A level."""

    ground: TriangleMesh
    corners: np.ndarray  # of its triangles, (n, 3, 3)


@cache
def level(seed, draws=Draws):
    """Return a level, aligned or turned as a whole and in its parts."""
    rng = draws(seed)
    floor = (lands.triangulated, lands.scattered)[seed % 2](seed, size=int(SIZE), draws=draws)
    parts = [_corners(floor)]
    for row in range(CELLS):
        for column in range(CELLS):
            mesh = rng.one_of(_THINGS)(rng)
            corners = _finer(_corners(mesh), rng.below(3))
            angle = rng.one_of([0.0, 90.0, rng.uniform(0.0, 360.0)])
            middle = ((column + 0.5) * CELL, 0.0, (row + 0.5) * CELL)
            parts.append(_turned(corners, angle) + middle)
    corners = np.concatenate(parts) - (SIZE / 2, 0.0, SIZE / 2)
    corners = _turned(corners, rng.one_of([0.0, rng.uniform(0.0, 360.0)]))
    ground = TriangleMesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    return Level(ground, corners)


class LevelWalk(NamedTuple):
    """A walk in a level."""

    level: int
    body: str
    rate: int
    resolver: str
    speed: float
    seed: int
    draws: type[Draws]


def walk_case(seed, levels=LEVELS, draws=Draws):
    rng = draws(seed)
    return LevelWalk(
        rng.below(levels),
        rng.one_of(list(BODIES)),
        RATES[seed % len(RATES)],
        rng.one_of(RESOLVERS),
        rng.uniform(1.0, 6.0),
        seed,
        draws,
    )


class Walked(NamedTuple):
    """The result of a walk in a level: the number of frames with each fault."""

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


def _has_way_along(ground, name, place, angle):
    """Tell whether a body has room along any way that is not more than 75 degrees off."""
    shape = _shape(name, np.add(place, (0.0, RAISED, 0.0)))
    for slant in SLANTS:
        way = glm.vec3(FREE * cos(angle + slant), 0.0, FREE * sin(angle + slant))
        if ground.sweep(shape, way) is None:
            return True
    return False


def _start(rng, ground, name):
    """Return a place over the floor where a body has room."""
    while True:
        x, z = rng.uniform(-0.3 * SIZE, 0.3 * SIZE, 2)
        place = (x, BODIES[name][1] + RAISED, z)
        if len(ground.contacts(_shape(name, place))) == 0:
            return place


def _gets_through(ground, before, after):
    """Tell whether a triangle is between two places."""
    way = np.subtract(after, before)
    size = float(np.linalg.norm(way))
    if size == 0.0:
        return False
    return ground.raycast(Ray(glm.dvec3(before), glm.dvec3(way)), size) is not None


def _bobs(places, stand):
    """Return how often a path went up, down and up again within 3 frames, near the floor."""
    rise = np.diff(places[:, 1])
    turns = (rise[:-2] > BOB) & (rise[1:-1] < -BOB) & (rise[2:] > BOB)
    on_floor = np.abs(places[:, 1] - stand) < ON_FLOOR
    near = on_floor[:-3] | on_floor[1:-2] | on_floor[2:-1] | on_floor[3:]
    return int((turns & near).sum())


def walk(case):
    """Walk about in a level: straight on for a while, then in another direction."""
    rng = case.draws(case.seed)
    found = level(case.level, case.draws)
    collider, stand, _ = BODIES[case.body]
    start = _start(rng, found.ground, case.body)
    mover = character(found.ground, collider, start, resolver=case.resolver)
    for _ in range(math.ceil(0.3 * case.rate)):
        mover.update(1 / case.rate)
    places = [np.array(mover.position64)]
    idle = through = deep = below = 0
    angle, turned, until = 0.0, 0, 0
    half = math.ceil(0.5 * case.rate)
    for frame in range(round(SECONDS * case.rate)):
        if frame >= until:
            angle, turned = rng.uniform(0, 2 * math.pi), frame
            until = frame + round(rng.uniform(0.7, 2.0) * case.rate)
        mover.velocity.x = case.speed * cos(angle)
        mover.velocity.z = case.speed * sin(angle)
        mover.update(1 / case.rate)
        place = np.array(mover.position64)
        if math.hypot(place[0], place[2]) > 0.45 * SIZE:
            break
        through += _gets_through(found.ground, places[-1], place)
        places.append(place)
        below += int(place[1] < 0.9 * stand)
        if frame % (case.rate // 4) == 0:
            deep += int(depth_in_triangles(mover, collider, found.corners) > LEAST_DEPTH)
        if frame - turned >= half and (frame - turned) % half == 0:
            stands = bool(np.linalg.norm(place - places[-1 - half]) < 0.02)
            on_floor = abs(place[1] - stand) < ON_FLOOR
            free = stands and on_floor and _has_way_along(found.ground, case.body, place, angle)
            idle += int(free)
    return Walked(_bobs(np.array(places), stand), idle, through, deep, below)


def is_well(found):
    """Tell whether nobody bobs, stands where the way along is free, or gets below or through."""
    return not any(found)

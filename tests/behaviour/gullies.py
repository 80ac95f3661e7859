"""Gullies: valleys of steep faces, and bodies that are pressed into them."""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics import HeightMap, TriangleMesh
from tests.behaviour.drive import RESOLVERS, character
from tests.behaviour.levels import BODIES, RATES, draw_body, turned
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, sin, tan

LONG = 100.0  # meters, of a valley from its middle
SECONDS = 3.0
MOST_RETURNS = 3  # within a second, of a body that comes to rest
DROPPED = 0.3  # meters over the place where a body comes to lie


class Gully(NamedTuple):
    """A valley, and a body that is pressed into it."""

    body: str
    left: float  # slopes of its faces, in degrees
    right: float
    floor: float  # slope of the line in which they meet, in degrees
    kind: str
    turn: float  # of the valley, in degrees
    speed: float
    heading: float  # of the push, from straight into the right face, in degrees
    rate: int
    resolver: str


def gully_case(seed, draws=Draws):
    rng = draws(seed)
    left = rng.uniform(46.0, 80.0)
    return Gully(
        draw_body(rng)[0],
        left,
        left if rng.chance(0.3) else rng.uniform(46.0, 80.0),
        float(rng.below(2) * rng.uniform(0.0, 60.0)),
        rng.one_of(["map", "mesh"]),
        float(rng.below(2) * rng.uniform(0.0, 360.0)),
        rng.uniform(1.0, 6.0),
        float(rng.one_of([0.0, 180.0]) + rng.below(2) * rng.uniform(-90.0, 90.0)),
        rng.one_of(RATES),
        rng.one_of(RESOLVERS),
    )


def gully_land(case):
    """Return the ground, with the middle of the valley's line at the origin.

    Heights of a turned map are those of the valley at the corners of its cells, so that its line
    is rough.
    """
    left, right, floor = (tan(math.radians(d)) for d in case[1:4])
    if case.kind == "mesh":
        high = 30.0
        vertices = [
            [x, abs(x) * slope + z * floor, z]
            for x, slope in ((-high / left, left), (0.0, 0.0), (high / right, right))
            for z in (-LONG, LONG)
        ]
        faces = [[0, 1, 3], [0, 3, 2], [2, 3, 5], [2, 5, 4]]
        return turned(TriangleMesh(vertices, faces), case.turn)
    z, x = np.mgrid[-100:101, -100:101].astype(np.float64)
    c, s = cos(math.radians(case.turn)), sin(math.radians(case.turn))
    x, z = c * x - s * z, s * x + c * z
    return HeightMap(
        np.where(x < 0, -x * left, x * right) + z * floor, origin=(-100.0, 0.0, -100.0)
    )


class Pressed(NamedTuple):
    """The result of being pressed into a gully."""

    changes: int  # of `grounded` within a second in which the way was blocked, the most
    flickers: int  # ground gained or lost for one frame
    stranded: int  # frames neither on the ground nor moving for half a second
    returns: int  # frames within the last second in which it went back on the ground
    climbed: float  # the greatest height gained in a valley that is level, in meters
    speed: float  # the mean, horizontally along the push, in m/s


def press(case):
    """Press a body into a gully.

    Its way is blocked where it gets less than a third as far as commanded. In a smooth valley every
    second counts as one that is blocked.
    """
    collider, stand, _ = BODIES[case.body]
    rise = tan(math.radians(max(case.left, case.right)))
    start = (0.0, stand + 0.5 * rise + DROPPED, 0.0)
    mover = character(gully_land(case), collider, start, resolver=case.resolver)
    for _ in range(case.rate):
        mover.velocity.x = mover.velocity.z = 0.0
        mover.update(1 / case.rate)
    angle = math.radians(case.heading - case.turn)
    way = np.array([cos(angle), 0.0, sin(angle)])
    held, path = [], [mover.position64]
    for _ in range(round(SECONDS * case.rate)):
        mover.velocity.x, mover.velocity.z = case.speed * way[[0, 2]]
        held.append(mover.update(1 / case.rate).grounded)
        path.append(mover.position64)
    places = np.array(path)
    smooth = case.kind == "mesh" or case.turn == 0.0
    blocked = _gone(places * (1.0, 0.0, 1.0), case.rate) < case.speed / 3
    changed = np.diff(held).astype(int)
    changes = np.convolve(changed, np.ones(case.rate - 1, dtype=int), "valid")
    while_still = case.rate // 2
    in_air = np.convolve(held, np.ones(while_still, dtype=int), "valid") == 0
    climbed = places[:, 1].max() - places[0, 1] if case.floor == 0.0 else 0.0
    return Pressed(
        int((changes * (blocked | smooth)).max()),
        int((changed[1:] & changed[:-1]).sum()),
        int((in_air & (_gone(places, while_still) < 1e-3)).sum()),
        _returns(places[-case.rate :], held[-case.rate :]),
        float(climbed) - (0.0 if smooth else rise),  # what is rough about a line goes up too
        float((places[-1] - places[0]) @ way) / SECONDS,
    )


def _gone(places, frames):
    """Return how far each place is from that so many frames before."""
    return np.linalg.norm(places[frames:] - places[:-frames], axis=1)


def _returns(places, held, least=1e-3):
    """Return how often a body on the ground moved back against the frame before, by some length."""
    steps = np.diff(places, axis=0)
    back = (steps[1:] * steps[:-1]).sum(axis=1) < -least * least
    on_ground = np.convolve(held, np.ones(3, dtype=int), "valid") == 3
    return int((back & on_ground).sum())


def is_steady(found):
    """Tell whether `grounded` changes at most twice a second, and nobody hangs, sways or climbs."""
    return (
        found.changes <= 2
        and found.stranded == 0
        and found.returns <= MOST_RETURNS
        and found.climbed < 0.05
    )

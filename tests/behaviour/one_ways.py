"""Platforms that hold from above only: a body jumps up through them, stands there, and stays."""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics import TriangleMesh
from tests.behaviour import lands
from tests.behaviour.drive import HALF_EXTENTS, RADIUS, STAND, character
from tests.behaviour.rides import GRAVITY, Pace, Stage, foot_of, under_foot
from tests.helpers.portable import cos, tan
from tests.oracles.motion import out_of, pose, turn

THIN, WIDE = 0.2, 6.0
FLOOR = ((-60.0, -1.0, -60.0), (60.0, 0.0, 60.0))


class OneWay(NamedTuple):
    """The result of a jump up through a platform."""

    stands: bool  # on it, in the last second
    off: float  # farthest of the foot from the deck in that time, in meters
    stopped: float  # speed lost on the way up through it, in m/s
    aside: float  # farthest pushed aside on the way, in meters


def height_on_slope(body, slope):
    """Return how high a foot is over a slope along x, in degrees, that its body stands on."""
    rise = math.radians(abs(slope))
    if body == "box":
        return HALF_EXTENTS[0] * tan(rise)
    return RADIUS / cos(rise) - RADIUS


def jump_up(body, pace, *, rising=None, slope=0.0, speed=9.0):
    """Jump up through a platform over the head that may rise or sink, or slope.

    It is never moved if ``rising`` is None.
    """
    rest = height_on_slope(body, slope)
    tilt = turn((0, 0, 1), math.radians(slope))

    def motion(t):
        return pose((0.0, 2.8 + (rising or 0.0) * t, 0.0), tilt)

    slab = TriangleMesh.box((WIDE, THIN, WIDE))
    moved = Pace(0, pace.updates) if rising is None else pace
    stage = Stage([slab], [motion], moved, land=lands.boxes(FLOOR))
    stage.ground.set_one_way(1, (0, 1, 0))
    mover = character(stage.ground, body, (0.3, STAND[body] + 0.01, 0.2))
    for _ in range(10):
        mover.update(1 / 60)
    start, up = np.array(mover.position64), speed
    mover.velocity.y = speed
    stands, off, stopped, aside, has_been_up = True, 0.0, 0.0, 0.0, False
    for frame in stage.frames(3.0):
        result = mover.update(stage.seconds)
        place = np.array(mover.position64)
        if not has_been_up and not result.grounded:
            up -= GRAVITY * stage.seconds
            stopped = max(stopped, up - mover.velocity.y)
        if not has_been_up:
            aside = max(aside, float(np.abs(place - start)[[0, 2]].max()))
        has_been_up = has_been_up or result.grounded
        if frame > 2.0 * pace.updates:
            foot = foot_of(mover, body)
            deck = out_of(stage.poses[0], under_foot(stage.poses[0], foot, THIN))
            stands, off = stands and result.grounded, max(off, abs(foot[1] - deck[1] - rest))
    return OneWay(stands, float(off), float(stopped), aside)


def walk_through(body, pace, speed):
    """Walk 4.5 m at a wall that holds along +x, 1.5 m away; return how far from it one ends.

    Negative: before it.
    """

    def motion(_):
        return pose((0.0, 2.0, 0.0))

    wall = TriangleMesh.box((THIN, 4.0, 8.0))
    stage = Stage([wall], [motion], Pace(0, pace.updates), land=lands.boxes(FLOOR))
    stage.ground.set_one_way(1, (1, 0, 0))
    ahead = math.copysign(1.0, speed)
    mover = character(stage.ground, body, (-1.5 * ahead, STAND[body], 0.2))
    mover.update(1 / 60)
    for _ in stage.frames(4.5 / abs(speed)):
        mover.velocity.x = speed
        mover.update(stage.seconds)
    return ahead * mover.position64[0]


def fall_through(body):
    """Fall on a platform that holds from below only; return the height after two seconds."""

    def motion(_):
        return pose((0.0, 3.0, 0.0))

    slab = TriangleMesh.box((WIDE, THIN, WIDE))
    stage = Stage([slab], [motion], Pace(0, 60), land=lands.boxes(FLOOR))
    stage.ground.set_one_way(1, (0, -1, 0))
    mover = character(stage.ground, body, (0.3, 5.0, 0.2))
    for _ in stage.frames(2.0):
        mover.update(stage.seconds)
    return mover.position64[1]

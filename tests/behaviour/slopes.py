"""Idle and walking on slopes, walkable and steep."""

import math
from typing import NamedTuple

import numpy as np

from tests.behaviour import lands
from tests.behaviour.drive import FRAME, HALF_EXTENTS, RADIUS, STAND, character, push, standing
from tests.helpers.portable import cos, sin, tan

GRAVITY = 9.81


def slope(degrees):
    """Return a plane that rises along x; 45 degrees is exactly 1 in 1."""
    return lands.tilted(1.0 if degrees == 45 else tan(math.radians(degrees)))


def stand_height(shape, degrees):
    """Return how high over the surface the center of a body is that touches the slope."""
    angle = math.radians(degrees)
    if shape == "box":
        return HALF_EXTENTS[1] + HALF_EXTENTS[0] * tan(angle)
    return RADIUS / cos(angle) + STAND[shape] - RADIUS


def put_on(shape, degrees, **rules):
    ground = slope(degrees)
    place = (100.3, ground.height_at(100.3, 100.7) + stand_height(shape, degrees), 100.7)
    return character(ground, shape, place, **rules)


class Idle(NamedTuple):
    """The result of standing on a slope."""

    drift: float  # in meters, after the first update
    grounded: int  # frames
    speed: float  # at the end, as part of g sin(a) t


def idle(shape, degrees, resolver, *, seconds=2.0, friction=0.0):
    mover = put_on(shape, degrees, resolver=resolver, ground_friction=friction)
    grounded = int(mover.update(FRAME).grounded)
    start = np.array(mover.position64)
    frames = round(seconds / FRAME)
    for _ in range(frames - 1):
        grounded += mover.update(FRAME).grounded
    free = GRAVITY * sin(math.radians(degrees)) * seconds
    speed = float(np.linalg.norm(mover.velocity))
    return Idle(float(np.linalg.norm(np.array(mover.position64) - start)), grounded, speed / free)


def is_walkable_at(shape, degrees, cosine_off):
    """Tell whether a slope is walkable whose limit's cosine is greater by so much."""
    limit = math.acos(cos(math.radians(degrees)) + cosine_off)
    mover = put_on(shape, degrees, slope_limit=limit)
    return mover.update(FRAME).grounded


def climb(shape, degrees, off, zigzag, resolver, *, seconds=10.0):
    """Walk into a slope from the flat, ``off`` degrees aside; return the height gained."""
    ground = lands.foot_of_slope(degrees)
    mover = standing(ground, shape, 17.0, 50.0, resolver=resolver)
    level, highest = mover.position64[1], 0.0
    for frame in range(round(seconds / FRAME)):
        side = -1.0 if zigzag and frame // 30 % 2 else 1.0
        push(mover, side * math.radians(off))
        mover.update(FRAME)
        highest = max(highest, mover.position64[1] - level)
    return highest


class Uphill(NamedTuple):
    """The result of pushing uphill from the middle of a steep slope."""

    gained: float  # greatest height gained, in meters
    sunk: float  # how far below the start after a second, in meters


def push_uphill(shape, degrees, off, zigzag, resolver):
    mover = put_on(shape, degrees, resolver=resolver)
    level, highest = mover.position64[1], 0.0
    for frame in range(60):
        side = -1.0 if zigzag and frame // 10 % 2 else 1.0
        push(mover, side * math.radians(off))
        mover.update(FRAME)
        highest = max(highest, mover.position64[1] - level)
    return Uphill(highest, level - mover.position64[1])


def held_against(shape, degrees, resolver, rate, level):
    """Slide for a second under a game that writes the horizontal velocity before each update.

    Returns how far down it gets, as part of the way of a body that is left alone.
    """
    mover = put_on(shape, degrees, resolver=resolver)
    mover.update(1.0 / rate)
    height, fall = mover.position64[1], -float(mover.velocity.y)
    for _ in range(rate):
        mover.velocity.x, mover.velocity.z = level
        mover.update(1.0 / rate)
    free = fall + 0.5 * GRAVITY * sin(math.radians(degrees)) ** 2
    return (height - mover.position64[1]) / free

"""Places that a game writes while a character walks: nudged in each frame, or put into the air."""

import math
from typing import NamedTuple

import numpy as np

from tests.behaviour.drive import RESOLVERS, character
from tests.behaviour.levels import BODIES, RATES, draw_body
from tests.behaviour.slopes import slope
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, length_of, sin

SECONDS = 1.0
DOWN = -1.0  # m/s, written to a body that is put into the air
GRAVITY = 9.81


class WriteCase(NamedTuple):
    """A walk, and the writes to it."""

    body: str
    degrees: float  # slope of the ground
    heading: float  # of the walk, in degrees from straight uphill
    speed: float
    rate: int
    resolver: str
    write: tuple[float, float, float]  # meters, added to the position


def write_case(seed, *, far):
    """Draw a case; a ``far`` place is high over any step and slope."""
    rng = Draws(seed)
    way = rng.normal(3)
    near = rng.scale(-4.0, -2.0) / length_of(way) * way
    write = (0.0, rng.uniform(4.0, 8.0), 0.0) if far else near
    return WriteCase(
        draw_body(rng)[0],
        rng.uniform(0.0, 44.0),
        rng.uniform(0.0, 360.0),
        rng.uniform(0.0, 6.0),
        rng.one_of(RATES),
        rng.one_of(RESOLVERS),
        (float(write[0]), float(write[1]), float(write[2])),
    )


def walking(case):
    """Return a character that walks on the slope, and its horizontal velocity."""
    collider, stand, _ = BODIES[case.body]
    ground = slope(case.degrees)
    above = stand / cos(math.radians(case.degrees)) + 0.1
    start = (100.3, float(ground.height_at(100.3, 100.7)) + above, 100.7)
    mover = character(ground, collider, start, resolver=case.resolver)
    angle = math.radians(case.heading)
    way = case.speed * cos(angle), case.speed * sin(angle)
    for _ in range(case.rate):
        mover.update(1 / case.rate)
    _frame(mover, way, case.rate)
    return mover, way


def _frame(mover, way, rate):
    mover.velocity.x, mover.velocity.z = way
    return mover.update(1 / rate)


class Nudged(NamedTuple):
    """The result of a walk that was corrected a little in each frame."""

    lost: int  # frames not grounded
    off: float  # horizontal distance from where walk and writes lead, in meters


def nudged(case):
    """Walk for a second, and write the place a little aside in each frame."""
    mover, way = walking(case)
    start, frames, lost = np.array(mover.position64), round(SECONDS * case.rate), 0
    for _ in range(frames):
        mover.position = np.array(mover.position64) + case.write
        lost += not _frame(mover, way, case.rate).grounded
    led = SECONDS * np.array(way) + frames * np.array(case.write)[[0, 2]]
    off = np.array(mover.position64)[[0, 2]] - start[[0, 2]] - led
    return Nudged(lost, float(np.linalg.norm(off)))


class PutUp(NamedTuple):
    """The result of a walker that was put into the air, with a velocity."""

    held: int  # frames in the air that count as on the ground
    off: float  # distance from the parabola, in meters
    lost: float  # of the velocity written, in m/s


def put_up(case):
    """Write the place of a walker into the air; it flies from there with the velocity written."""
    mover, way = walking(case)
    written = np.array([way[0], DOWN, way[1]])
    start = np.array(mover.position64) + case.write
    mover.position, mover.velocity = start, written
    held, off, lost = 0, 0.0, 0.0
    for frame in range(1, round(0.3 * case.rate) + 1):
        seconds = frame / case.rate
        held += mover.update(1 / case.rate).grounded
        fall = np.array([0.0, GRAVITY * seconds, 0.0])
        flown = np.array(mover.position64) - start - (written - fall / 2) * seconds
        off = max(off, float(np.linalg.norm(flown)))
        lost = max(lost, float(np.linalg.norm(mover.velocity - written + fall)))
    return PutUp(held, off, lost)


def keeps_ground(found):
    """Tell whether nudges neither took the ground nor changed the way by more than 1 mm."""
    return found.lost == 0 and found.off < 1e-3


def flies(found):
    """Tell whether a body put up was in the air at once, on the parabola that was written."""
    return found.held == 0 and found.off < 1e-6 and found.lost < 1e-5

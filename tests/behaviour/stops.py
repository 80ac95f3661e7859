"""Stops of a walk: a wall, a steep slope, a step too high, a ceiling, the edge of a map."""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics import Ground, HeightMap
from tests.behaviour import lands
from tests.behaviour.drive import RESOLVERS, character
from tests.behaviour.levels import BODIES, RATES, draw_body, turned, turning
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, sin, tan, times

REASONS = ("wall", "steep", "step", "ceiling", "edge")
STEP_OFFSET = 0.3
ON_MAPS = ("steep", "edge")
JUMP = 6.0  # m/s


class StopCase(NamedTuple):
    """A body, and the obstacle that it walks into."""

    reason: str
    body: str
    size: float  # height of a step, slope of a bank in degrees, height of a room
    slant: float  # of the way from straight at it, in degrees
    speed: float
    rate: int
    turn: float  # of the scene, in degrees
    resolver: str


def stop_case(reason, seed):
    rng = Draws(seed)
    body = draw_body(rng)
    size = {
        "wall": (3.0, 4.0),
        "steep": (47.0, 75.0),
        "step": (STEP_OFFSET + 0.05, 0.8),
        "ceiling": (2 * body[2] + 0.2, 2 * body[2] + 1.0),
        "edge": (0.55, 0.9),  # a ball touches the rim of a lower one: that is a step
    }[reason]
    return StopCase(
        reason,
        body[0],
        rng.uniform(*size),
        rng.uniform(-60.0, 60.0),
        rng.uniform(1.0, 6.0),
        rng.one_of(RATES),
        0.0 if reason in ON_MAPS else rng.uniform(0.0, 360.0),
        rng.one_of(RESOLVERS),
    )


def stop_land(case):
    """Return a floor with the obstacle at x = 1; a ceiling is everywhere."""
    floor = ((-20.0, -1.0, -20.0), (20.0, 0.0, 20.0))
    if case.reason == "ceiling":
        return turned(lands.room(ceiling=case.size), case.turn)
    if case.reason == "edge":
        low = HeightMap(np.full((40, 20), case.size), border="open", origin=(1.0, 0.0, -20.0))
        return Ground([low, lands.boxes(floor)])
    if case.reason == "steep":
        rise = np.maximum(np.arange(41) - 20.0, 0.0) * tan(math.radians(case.size))
        return HeightMap(np.tile(rise, (41, 1)), origin=(-19.0, 0.0, -20.0))
    return turned(lands.boxes(floor, ((1.0, -1.0, -20.0), (5.0, case.size, 20.0))), case.turn)


class Stopped(NamedTuple):
    """The report of a walk that was stopped."""

    told: int  # frames stopped by what stands there
    others: int  # frames stopped by something else
    untold: int  # frames that lost a tenth of what was commanded, without a reason


def stop(case):
    """Walk at the obstacle for a second after reaching it, or jump once under the ceiling."""
    collider, stand, reach = BODIES[case.body]
    there = turning(case.turn)
    angle = math.radians(case.slant)
    way = times(there, (case.speed * cos(angle), 0.0, case.speed * sin(angle)))
    start = times(there, (1.0 - reach - 0.5, stand, 0.0))
    mover = character(stop_land(case), collider, start, resolver=case.resolver)
    for _ in range(2):
        mover.update(1 / case.rate)
    approach = 0.5 / (case.speed * cos(angle))
    told = others = untold = 0
    for frame in range(round((approach + 1.0) * case.rate)):
        mover.velocity.x, mover.velocity.z = way[[0, 2]]
        if frame == 0 and case.reason == "ceiling":
            mover.velocity.y = JUMP
        before = np.array(mover.position64)
        result = mover.update(1 / case.rate)
        gone = np.linalg.norm((np.array(mover.position64) - before)[[0, 2]]) * case.rate
        if result.blocked_by is None:
            untold += int(gone < 0.9 * case.speed)
        else:
            told += result.blocked_by.reason == case.reason
            others += result.blocked_by.reason != case.reason
    return Stopped(told, others, untold)


def is_told(found):
    """Tell whether what stopped a walk was named in every frame, and nothing else."""
    return found.told > 0 and found.others == 0 and found.untold == 0

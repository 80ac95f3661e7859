"""Stairs up and down, at any angle and rate."""

import math
from typing import NamedTuple

from tests.behaviour import lands
from tests.behaviour.drive import character
from tests.helpers.portable import sin, tan

OFFSET = 0.3
RATES = (30, 60, 144)


class Climb(NamedTuple):
    """The result of walking up stairs and down again."""

    up: float  # seconds to the top, inf if never
    down: float  # seconds back
    in_air: int  # frames not grounded on the way down


def climb(ground, collider, stand, tread, rate, degrees, resolver="shuffled", *, count=8):
    """Walk up and down, aside by so many degrees, at 2 m/s along the stairs."""
    start, top = lands.STAIRS_AT - 1.0, lands.STAIRS_AT + tread * count + 1.0
    beside = 0.5 * lands.STAIRS_WIDE * (1 - sin(math.radians(degrees)))
    mover = character(
        ground, collider, (start, stand, beside),
        step_offset=OFFSET, resolver=resolver,
    )  # fmt: skip
    mover.update(1 / rate)
    aside = 2.0 * tan(math.radians(degrees))
    most = round(rate * 1.5 * (top - start) / 2.0)
    times = []
    in_air = 0
    for speed, end in ((2.0, top), (-2.0, start)):
        frames = 0
        while (mover.position64[0] - end) * speed < 0.0 and frames < most:
            mover.velocity.x, mover.velocity.z = speed, math.copysign(aside, speed)
            grounded = mover.update(1 / rate).grounded
            in_air += not grounded and speed < 0.0
            frames += 1
        times.append(frames / rate if frames < most else math.inf)
        if frames == most:
            return Climb(times[0], math.inf, in_air)
    return Climb(times[0], times[1], in_air)


def beside_wall(collider, stand, rise, rate, *, count=4):
    """Walk up and down stairs while pressing against a wall at their side; return the times."""
    tread, far = 0.3, lands.STAIRS_AT + 4 * 0.3 + 5.0
    spans = [((-10.0, -1.0, -9.0), (lands.STAIRS_AT, 0.0, 9.0))]
    for k in range(count):
        start = lands.STAIRS_AT + k * tread
        end = start + tread if k < count - 1 else far
        spans.append(((start, -1.0, -9.0), (end, (k + 1) * rise, 9.0)))
    spans.append(((-10.0, -1.0, 1.0), (far, 9.0, 2.0)))
    mover = character(
        lands.boxes(*spans), collider, (4.0, stand, 0.5), step_offset=OFFSET, slope_limit=0.8
    )
    mover.update(1 / rate)
    times = []
    for speed, end in ((2.0, far - 4.0), (-2.0, 4.0)):
        frames = 0
        while (mover.position64[0] - end) * speed < 0.0 and frames < 6 * rate:
            mover.velocity.x, mover.velocity.z = speed, 1.0
            mover.update(1 / rate)
            frames += 1
        times.append(frames / rate if frames < 6 * rate else math.inf)
    return tuple(times)


def hop(ground, collider, stand, tread, rate, speed, jump, when, *, count=8):
    """Jump on the way up; return how long the body hangs on the edges of steps at most."""
    mover = character(
        ground, collider, (lands.STAIRS_AT - 0.5, stand, 0.5 * lands.STAIRS_WIDE),
        step_offset=OFFSET, slope_limit=math.radians(30),
    )  # fmt: skip
    top = lands.STAIRS_AT + tread * (count - 1)
    longest = hangs = 0
    for frame in range(3 * rate):
        if mover.position64[0] > top:
            break
        mover.velocity.x = speed
        if frame % rate == round(when * rate):
            mover.velocity.y = jump
        mover.update(1 / rate)
        hangs = hangs + 1 if mover.ground_report().state == "steep" else 0
        longest = max(longest, hangs)
    return longest / rate

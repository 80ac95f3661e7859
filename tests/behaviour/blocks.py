"""Walls built of blocks, to slide along, and low walls beside stairs, to walk up by.

Each function draws one case from a seed, walks it, and returns what was measured.
"""

import math

import numpy as np

from tests.behaviour import lands
from tests.behaviour.drive import RESOLVERS, character
from tests.behaviour.levels import RATES, draw_body, turned, turning
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, sin, times


def _blocks(rng):
    """Return the spans of blocks side by side with their fronts at x = 1, and bars along them."""
    wide = rng.uniform(0.05, 1.5)
    starts = np.arange(-3.0, 14.0, wide)
    spans = [((1.0, 0.0, z), (2.0, 2.5, z + wide)) for z in starts]
    bars = rng.uniform(0.05, 1.0, rng.below(4))
    return spans + [((1.0, y, -4.0), (2.0, y + 0.05, 14.0)) for y in bars]


def slide(seed):
    """Slide along a wall of blocks; return the speed, as a part of that along a bare wall."""
    rng = Draws(seed)
    name, collider, stand, reach = draw_body(rng)
    rate, speed = rng.one_of(RATES), rng.uniform(1.0, 6.0)
    slant = math.radians(rng.uniform(10.0, 80.0))
    # The corner of a turned box would lie between two blocks.
    turn = 0.0 if name == "box" else float(rng.below(2) * rng.uniform(0.0, 360.0))
    floor = ((-9.0, -1.0, -30.0), (9.0, 0.0, 30.0))
    ground, there = turned(lands.boxes(floor, *_blocks(rng)), turn), turning(turn)
    start = times(there, (1.0 - reach - 0.05, stand, 0.0))
    mover = character(ground, collider, start, resolver=rng.one_of(RESOLVERS))
    way = times(there, (speed * cos(slant), 0.0, speed * sin(slant)))
    # It comes to the wall, then slides for a second.
    approach = math.ceil(0.05 / (speed * cos(slant)) * rate) + 1
    for frame in range(approach + rate):
        if frame == approach:
            first = (np.array(mover.position64) @ there)[2]
        mover.velocity.x, mover.velocity.z = way[[0, 2]]
        mover.update(1 / rate)
    return float((np.array(mover.position64) @ there)[2] - first) / (speed * sin(slant))


def beside_parapet(seed):
    """Walk up three steps, pressed against a low wall beside them; return the farthest fall.

    In meters, of any frame.
    """
    rng = Draws(seed)
    _, collider, stand, reach = draw_body(rng)
    rate, speed = rng.one_of(RATES), rng.uniform(1.5, 4.0)
    slant, high = rng.uniform(0.02, 0.6), rng.uniform(0.6, 3.0)
    spans = [((-8.0, -1.0, -8.0), (8.0, 0.0, 8.0)), ((0.0, -0.5, -3.0), (0.3, high, 3.0))]
    spans += [((-2.0, -0.5, -3.0), (0.0, 0.17 * (k + 1), -0.28 * k)) for k in range(3)]
    mover = character(
        lands.boxes(*spans), collider, (-reach - 0.01, stand, 1.5),
        resolver=rng.one_of(RESOLVERS),
    )  # fmt: skip
    heights = []
    for _ in range(math.ceil(2.6 / (speed * cos(slant)) * rate)):
        mover.velocity.x, mover.velocity.z = speed * sin(slant), -speed * cos(slant)
        mover.update(1 / rate)
        heights.append(mover.position64[1])
    return float(-np.diff(heights).min())

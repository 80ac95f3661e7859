"""Walls built of blocks, to slide along and walk between, and low walls beside stairs.

Each function draws one case from a seed, walks it, and returns what was measured.
"""

import math

import numpy as np

from terrain_physics import BoxCollider, HeightMap, TriangleMesh
from tests.behaviour import lands
from tests.behaviour.drive import RESOLVERS, character
from tests.behaviour.hard import corners_of
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


def _yard(rng):
    """Return a floor with walls and blocks on it around a free middle, turned at random."""
    corners = [corners_of(lands.boxes(((-9.0, -1.0, -9.0), (9.0, 0.0, 9.0))))]
    for _ in range(rng.whole(4, 14)):
        high = rng.one_of([2.5, rng.uniform(0.05, 1.0)])
        long, wide = rng.one_of([rng.uniform(0.05, 2.0, 2), (rng.uniform(0.5, 4.0), 0.05)])
        angle, (x, z) = rng.one_of([0.0, 90.0, rng.uniform(0.0, 360.0)]), rng.uniform(-4.0, 4.0, 2)
        if math.hypot(x, z) > math.hypot(long, wide) + 0.7:
            block = turned(lands.boxes(((-long, -0.5, -wide), (long, high, wide))), angle)
            corners.append(np.add(corners_of(block), (x, 0.0, z)))
    vertices = np.concatenate(corners).reshape(-1, 3)
    mesh = TriangleMesh(vertices, np.arange(len(vertices)).reshape(-1, 3))
    return turned(mesh, rng.one_of([0.0, rng.uniform(0.0, 360.0)]))


def _draw_turned_body(rng):
    """Return a collider, often a box of any turn, and the height of its center over its foot."""
    name, collider, stand, _ = draw_body(rng)
    if name == "box" or rng.chance(0.5):
        half_extents = rng.one_of([(0.3, 0.9, 0.3), (0.2, 0.9, 0.5), (0.4, 0.4, 0.4)])
        turn = turning(float(rng.below(2) * rng.uniform(0.0, 360.0)))
        collider, stand = BoxCollider(half_extents, rotation=turn), half_extents[1]
    return collider, stand


def _farthest_way(rng, mover, rate, frames):
    """Walk about, in another direction now and then; return the farthest way in a frame.

    Seen from above, as a multiple of the way asked. Only ways on the ground count.
    """
    speed, farthest, until = rng.uniform(0.5, 6.0), 0.0, 0
    for frame in range(frames):
        if frame >= until:
            angle = rng.uniform(0.0, 2 * math.pi)
            until = frame + round(rng.uniform(0.2, 1.0) * rate)
        before, was_grounded = mover.position64, mover.grounded
        mover.velocity.x, mover.velocity.z = speed * cos(angle), speed * sin(angle)
        is_grounded = mover.update(1 / rate).grounded
        x, _, z = np.subtract(mover.position64, before)
        if was_grounded and is_grounded:
            farthest = max(farthest, math.hypot(x, z))
    return farthest / (speed / rate)


def walk_between(seed):
    """Walk about between walls and blocks; return the farthest way in a frame."""
    rng = Draws(seed)
    ground, (collider, stand) = _yard(rng), _draw_turned_body(rng)
    rate = RATES[seed % len(RATES)]
    mover = character(ground, collider, (0.0, stand, 0.0), resolver=rng.one_of(RESOLVERS))
    mover.update(1 / rate)
    return _farthest_way(rng, mover, rate, 3 * rate)


def walk_between_banks(seed):
    """Walk about on a map of level ways and steep banks; return the farthest way in a frame."""
    rng, rate = Draws(seed), RATES[seed % len(RATES)]
    cell = rng.one_of([0.25, 0.5, 1.0])
    high = rng.uniform(0.0, 1.0, 64, 64) < rng.uniform(0.05, 0.45)
    ground = HeightMap(high * rng.uniform(0.5, 4.0), cell_size=cell)
    (collider, stand), (x, z) = _draw_turned_body(rng), rng.uniform(20.0, 44.0, 2) * cell
    start = (x, float(ground.height_at(x, z)) + stand + 0.5, z)
    mover = character(ground, collider, start, resolver=rng.one_of(RESOLVERS))
    for _ in range(rate):
        mover.update(1 / rate)
    return _farthest_way(rng, mover, rate, 3 * rate)


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

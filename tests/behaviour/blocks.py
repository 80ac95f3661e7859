"""Walls of blocks to slide along and walk between, low walls beside stairs, blocks on characters.

Each function draws one case from a seed, walks it, and returns what was measured.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterState,
    Ground,
    HeightMap,
    TriangleMesh,
)
from tests.behaviour import lands
from tests.behaviour.drive import RESOLVERS, character
from tests.behaviour.hard import corners_of
from tests.behaviour.levels import BODIES, RATES, draw_body, turned, turning
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


def crate_on_head(seed, *, rate=60, resolver="shuffled", moves=False):
    """Put a crate where the head of a capsule is that stands beside another.

    Return (how far below the floor it ever was, and still is a second after both are gone).
    """
    ground = Ground([HeightMap(np.zeros((64, 64)))])
    low, high = ground.add(TriangleMesh.box((1, 1, 1))), TriangleMesh.box((1, 1, 1))
    ground.move(low, ((30.5, 0.5, 35.5), np.eye(3)))
    body, start = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), (30.115, 0, 36.4)
    mover = character(ground, body, start, resolver=resolver, seed=seed)
    key = ground.add(high) if moves else -1
    mover.update(1 / rate)
    if not moves:
        key = ground.add(high)
    ground.move(key, ((30.5, 1.5, 36.5), np.eye(3)))
    deepest = 0.0
    for _ in range(rate):
        mover.update(1 / rate)
        deepest = max(deepest, -mover.position64[1])
    ground.remove(low)
    ground.remove(key)
    for _ in range(rate):
        mover.update(1 / rate)
    return deepest, abs(mover.position64[1])


def who_was_saved_below(depth):
    """Return a character of a saved state that stands asleep, jammed with its feet in a map."""
    mover = character(
        HeightMap(np.zeros((64, 64))), CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), (30, 0, 30)
    )
    for _ in range(30):
        mover.update(1 / 60)
    saved = mover.state().to_dict()
    place = [30.0, -depth, 30.0]
    is_below = float(depth > 0.9)
    jammed = {"converged": is_below, "penetration": depth * (1.0 - is_below), "below": is_below}
    saved["values"].update(jammed, position=place, last_place=place)
    mover.restore(CharacterState.from_dict(saved))
    return mover


class Built(NamedTuple):
    """The result of building on characters."""

    below: float  # the farthest that one was in the ground at the end of any frame, in meters
    stuck: int  # those not free a second after all blocks are gone
    frames: int  # of all characters together


def _plane(rng, slopes):
    """Return a map or a mesh of a tilted plane."""
    if rng.chance(0.5):
        z, x = np.mgrid[-12:13, -12:13] * 2.0
        return HeightMap(x * slopes[0] + z * slopes[1], origin=(-24, 0, -24), cell_size=2.0)
    corners = [(x, slopes[0] * x + slopes[1] * z, z) for x in (-24.0, 24.0) for z in (-24.0, 24.0)]
    return TriangleMesh(corners, [(0, 1, 2), (2, 1, 3)])


def _least_gap(name, centers, slopes):
    """Return the least distance between upright bodies and a plane; < 0: one is in it."""
    normal = np.array([-slopes[0], 1.0, -slopes[1]])
    normal /= math.sqrt(normal @ normal)
    body: Any = BODIES[name][0]
    extent = {
        "sphere": lambda: body.radius,
        "capsule": lambda: body.radius + normal[1] * (0.5 * body.height - body.radius),
        "box": lambda: np.abs(normal) @ np.array(body.half_extents64),
    }[name]()
    return float((centers @ normal).min() - extent)


def _near(rng, center):
    """Return where to put a block near a body: often on a grid of meters, and on the body."""
    place = center + rng.uniform(-1.2, 1.2, 3)
    return np.round(place) if rng.chance(0.4) else place


def _build(rng, ground, blocks, centers):
    """Add, move or remove a block near one of many characters."""
    place, kind = _near(rng, centers[rng.below(len(centers))]), rng.below(4)
    if kind < 2 and len(blocks) < 12:
        size = rng.uniform(0.3, 2.0, 3) if rng.chance(0.5) else (1.0, 1.0, 1.0)
        key = ground.add(TriangleMesh.box(size))
        ground.move(key, (place, np.eye(3)))
        blocks.append(key)
    elif kind == 2 and blocks:
        ground.move(blocks[rng.below(len(blocks))], (place, np.eye(3)))
    elif blocks:
        ground.remove(blocks.pop(rng.below(len(blocks))))


def build(seed, seconds=3.0):
    """Build on, beside and under characters on open ground, then take all blocks away."""
    rng = Draws(seed)
    name, collider, stand, _ = draw_body(rng)
    rate, count = rng.one_of(RATES), rng.whole(1, 9)
    slopes = rng.uniform(-0.4, 0.4, 2) * rng.chance(0.5)
    ground = Ground([_plane(rng, slopes)])
    blocks: list[int] = []
    group = CharacterGroup(ground, collider, collide=rng.chance(0.5))
    places = rng.uniform(-3.0, 3.0, count, 2)
    heights = places @ slopes + 1.3 * stand
    rules: dict[str, Any] = {"resolver": rng.one_of(RESOLVERS), "slope_limit": 0.8}
    group.add_many(range(count), np.insert(places, 1, heights, axis=1), seeds=range(count), **rules)
    below, frames = -math.inf, round(seconds * rate)
    often = rng.uniform(4.0, 20.0) / rate
    for frame in range(frames + rate):
        if frame < frames and rng.chance(often):
            _build(rng, ground, blocks, group.positions)
        if frame == frames:
            while blocks:
                ground.remove(blocks.pop())
        if rng.chance(4.0 / rate):
            group.walk(*(rng.uniform(-3.0, 3.0, 2, count) * (frame < frames)))
        result = group.update(1 / rate)
        below = max(below, -_least_gap(name, group.positions, slopes))
    free = result.converged & (result.penetrations < 1e-3)
    return Built(below, int(count - free.sum()), (frames + rate) * count)

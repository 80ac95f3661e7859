"""Bodies in narrow places, under the surface, thrown at walls, and saved half way."""

import math
import pickle
from typing import NamedTuple

import numpy as np

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from tests.behaviour import lands
from tests.behaviour.drive import FRAME, HALF_EXTENTS, RESOLVERS, STAND, character, push
from tests.behaviour.levels import RATES, draw_body
from tests.behaviour.rough import gaps, land_of
from tests.helpers.draws import Draws
from tests.helpers.portable import length_of, sin, tan

LOW = {
    "sphere": SphereCollider(0.5),
    "capsule": CapsuleCollider(0.4, 1.0),
    "box": BoxCollider((0.4, 0.5, 0.4)),
}


def rest_in(ground, shape, position, resolver):
    """Return (how far it moves in a second after 2 s, whether it is grounded then)."""
    mover = character(ground, LOW[shape], position, resolver=resolver)
    for _ in range(120):
        mover.update(FRAME)
    before = mover.position64
    for _ in range(60):
        mover.update(FRAME)
    moved = math.dist(before, mover.position64)
    return moved, mover.grounded


def nooks():
    """Return grounds by name, and where to drop a body into them."""
    steep = tan(math.radians(60))
    return {
        "valley, steep": (lands.folded(steep, steep), (20.3, 3.0, 20.3)),
        "valley, steep and walkable": (lands.folded(steep, 0.5), (19.8, 3.0, 20.3)),
        "ridge": (lands.folded(-0.6, -0.7), (20.0, 2.0, 20.3)),
        "corner": (lands.pit(60), (20.2, 4.0, 20.2)),
        "narrow gap": (lands.room(gap=0.9), (0.03, 6.0, 0.1)),
        "low ceiling": (lands.room(ceiling=1.05), (0.3, 0.52, 0.1)),
    }


class Rescue(NamedTuple):
    """The result of starting below the surface."""

    frames: int  # until above, at most, of all starts; -1: not all came
    fastest: float  # greatest lift in any update, in meters
    reported: bool  # every lift was


def rescue(shape, below, walking, count, resolver="shuffled"):
    """Start with the feet below rough land."""
    land, heights = land_of(1.0)
    rng = Draws(3)
    most, fastest, reported = 0, 0.0, True
    for _ in range(count):
        x, z = rng.uniform(150, 360, 2)
        start = (x, float(land.height_at(x, z)) - below + STAND[shape], z)
        mover = character(land, shape, start, resolver=resolver)
        for frame in range(1, 61):
            if walking:
                push(mover, 0.3)
            before = mover.position64[1]
            result = mover.update(FRAME)
            rise = mover.position64[1] - before
            fastest = max(fastest, rise)
            reported &= rise < 0.15 or result.lifted > 0.0 or result.rounds > 0
            if gaps(heights, shape, [mover.position64])[0] > -1e-3:
                most = max(most, frame)
                break
        else:
            return Rescue(-1, fastest, reported)
    return Rescue(most, fastest, reported)


class AtSide(NamedTuple):
    """The result of going into the side of a map."""

    lifted: float  # by all updates together, in meters
    inside: float  # the farthest that its center was in the rock, in meters


def _floor(height):
    """Return a mesh of 60 x 60 m at a height."""
    corners = [(x, height, z) for x in (-30.0, 30.0) for z in (-30.0, 30.0)]
    return TriangleMesh(corners, [(0, 1, 2), (2, 1, 3)])


def _beside_rock(kind, high):
    """Return a ground with a floor at 0 within 4 m of the middle, and a rock around it."""
    if kind == "hole":
        holes = np.zeros((24, 24), dtype=bool)
        holes[8:16, 8:16] = True
        rock = HeightMap(np.full((25, 25), high), holes=holes, origin=(-12, 0, -12), thickness=90)
        return Ground([rock, _floor(0.0)])
    size = np.zeros((9, 9))
    rocks = [
        HeightMap(size + high, origin=(8.0 * x - 4.0, 0, 8.0 * z - 4.0), border="open")
        for x in (-1, 0, 1)
        for z in (-1, 0, 1)
        if x or z
    ]
    floor = HeightMap(size, origin=(-4, 0, -4), border="open") if kind == "tiles" else _floor(0.0)
    return Ground([floor, *rocks])


def into_side(seed):
    """Walk, run or jump into the side of a rock, and along it."""
    rng = Draws(seed)
    _, collider, stand, _ = draw_body(rng)
    rate, speed, jump = rng.one_of(RATES), rng.uniform(2.0, 15.0), rng.uniform(2.0, 8.0)
    high = rng.uniform(0.3, 3.0) if rng.chance(0.7) else rng.uniform(3.0, 30.0)
    ground = _beside_rock(rng.one_of(("tiles", "hole", "floor")), high)
    x, z = rng.uniform(-3.0, 3.0, 2)
    mover = character(ground, collider, (x, stand, z), resolver=rng.one_of(RESOLVERS), seed=seed)
    lifted, inside, jumps = 0.0, -math.inf, rng.chance(0.5)
    for frame in range(2 * rate):
        if frame % (rate // 2) == 0:
            angle = rng.uniform(0.0, 2.0 * math.pi)
        push(mover, angle, speed)
        if jumps and mover.grounded and rng.chance(4.0 / rate):
            mover.velocity.y = jump
        lifted += mover.update(1 / rate).lifted
        x, y, z = mover.position64
        out = max(abs(x), abs(z))  # the rock reaches from 4 to 12
        inside = max(inside, min(out - 4.0, 12.0 - out, high - y))
    return AtSide(lifted, inside)


def thrown(shape, direction, speed=1000.0, resolver="shuffled"):
    """Throw a body in a room of 40 x 10 x 40 m with walls of 1 m; return how far it gets out."""
    room = lands.boxes(
        ((-21.0, -1.0, -21.0), (21.0, 0.0, 21.0)),
        ((-21.0, 10.0, -21.0), (21.0, 11.0, 21.0)),
        ((-21.0, 0.0, -21.0), (-20.0, 10.0, 21.0)),
        ((20.0, 0.0, -21.0), (21.0, 10.0, 21.0)),
        ((-20.0, 0.0, -21.0), (20.0, 10.0, -20.0)),
        ((-20.0, 0.0, 20.0), (20.0, 10.0, 21.0)),
    )
    mover = character(room, shape, (0.3, 5.0, 0.7), resolver=resolver)
    direction = np.array(direction, dtype=float)
    mover.velocity = direction * (speed / length_of(direction))
    out = -math.inf
    size = _reach(shape)
    for _ in range(60):
        mover.update(1 / 30)
        x, y, z = mover.position64
        out = max(out, abs(x) + size[0] - 20, abs(z) + size[2] - 20, size[1] - y, y + size[1] - 10)
    return float(out)


def _reach(shape):
    return HALF_EXTENTS if shape == "box" else (0.5, STAND[shape], 0.5)


def jump_below(ceiling, shape, resolver="shuffled"):
    """Jump at 8 m/s under a ceiling; return (overlap with it, seconds until grounded again)."""
    mover = character(
        lands.room(ceiling=ceiling), shape, (0.3, STAND[shape], 0.1), resolver=resolver
    )
    mover.update(FRAME)
    mover.velocity.y = 8.0
    overlap, frames = -math.inf, 0
    while frames < 300:
        frames += 1
        grounded = mover.update(FRAME).grounded
        overlap = max(overlap, mover.position64[1] + STAND[shape] - ceiling)
        if grounded:
            break
    return overlap, frames * FRAME


def saved_runs_agree(shape, resolver, *, frames=600, save_at=300):
    """Save half way and go on; restore into another character and go on: equal bits?"""
    land, _ = land_of(3.0)

    def drive(mover, first, last):
        for frame in range(first, last):
            push(mover, 2.1 * sin(frame / 40), 3.0)
            if frame % 97 == 0:
                mover.velocity.y = 4.0
            mover.update(FRAME)

    place = (200.3, float(land.height_at(200.3, 200.7)) + 2.0, 200.7)
    mover = character(land, shape, place, resolver=resolver, seed=5)
    drive(mover, 0, save_at)
    saved = pickle.loads(pickle.dumps(mover.state()))
    drive(mover, save_at, frames)
    other = character(land, shape, (0, 100, 0), resolver=resolver, seed=9)
    other.restore(saved)
    drive(other, save_at, frames)
    return mover.state_hash() == other.state_hash()

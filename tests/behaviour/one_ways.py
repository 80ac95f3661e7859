"""Platforms that hold from above only: a body jumps up through them, stands there, and stays."""

import math
import pickle
from typing import NamedTuple

import numpy as np

from terrain_physics import TriangleMesh
from tests.behaviour import lands
from tests.behaviour.drive import (
    COLLIDERS,
    HALF_EXTENTS,
    RADIUS,
    RESOLVERS,
    STAND,
    character,
)
from tests.behaviour.levels import RATES
from tests.behaviour.rides import GRAVITY, Pace, Stage, above, foot_of, under_foot
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, sin, tan
from tests.oracles.motion import into, out_of, pose, turn

THIN, WIDE = 0.2, 6.0
FLOOR = ((-60.0, -1.0, -60.0), (60.0, 0.0, 60.0))
WIDE_FLOOR = ((-99.0, -1.0, -99.0), (99.0, 0.0, 99.0))


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


DECKS, ALL = 2, 0xFFFF_FFFF  # the layer of platforms to drop from; all of them
MADE_OF = ("slab", "skin", "tiles", "floors")
LEAVES = ("velocity", "up", "none")


class DropCase(NamedTuple):
    """Decks one above the other, and a body on the highest that drops through it."""

    body: str
    rate: int
    resolver: str
    made_of: str
    slope: float  # of the decks, in degrees
    decks: int
    gap: float  # from deck to deck, in meters
    moved: str  # how the decks move
    speed: float  # of that, in m/s
    walk: tuple[float, ...]  # the body's own velocity, in m/s
    key: int  # updates for which the key is held
    gravity_scale: float
    leave: str
    spot: tuple[float, ...]


def drop_case(seed):
    rng = Draws(seed)
    walks, rate = rng.chance(0.5), rng.one_of(RATES)
    return DropCase(
        rng.one_of(list(COLLIDERS)),
        rate,
        rng.one_of(RESOLVERS),
        rng.one_of(MADE_OF),
        float(rng.below(2) * rng.uniform(-35.0, 35.0)),
        rng.whole(1, 4),
        rng.uniform(0.4, 2.5),
        rng.one_of(("never", "up", "aside", "swings")),
        rng.uniform(-2.0, 2.0),
        tuple(map(float, walks * rng.uniform(-4.0, 4.0, 2))),
        rng.one_of((1, 1, 2, 3)) if rate > 60 else 1,  # or it falls through two of them
        rng.one_of((1.0, 1.0, 0.3, 2.0)),
        rng.one_of(LEAVES),
        tuple(map(float, rng.one_of((0.0, 1.0)) * rng.uniform(-1.0, 1.0, 2))),
    )


def _decks_of(made_of, decks, gap):
    """Return the meshes of a deck whose top is at y = 0; "floors": of all decks as one mesh."""
    if made_of == "floors":
        floors = [((-20.0, -k * gap - THIN, -20.0), (20.0, -k * gap, 20.0)) for k in range(decks)]
        return [lands.boxes(*floors)]
    if made_of == "slab":
        below = np.eye(4)
        below[1, 3] = -0.5 * THIN
        return [TriangleMesh.box((40.0, THIN, 40.0), transform=below)]
    quarters = [(-20.0, -20.0), (0.0, -20.0), (-20.0, 0.0), (0.0, 0.0)]
    size, starts = (40.0, quarters[:1]) if made_of == "skin" else (20.0, quarters)
    return [
        TriangleMesh(
            [(x, 0, z), (x + size, 0, z), (x, 0, z + size), (x + size, 0, z + size)],
            [(0, 2, 1), (1, 2, 3)],
        )
        for x, z in starts
    ]


def _drop_stage(case):
    tilt = turn((0, 0, 1), math.radians(case.slope))

    def motion_of(k):
        def motion(t):
            way = case.speed * t
            if case.moved == "swings":
                way = 0.6 * sin(case.speed * t)
            x, y = (way, 0.0) if case.moved == "aside" else (0.0, way)
            return pose((x, 30.0 - k * case.gap + y, 0.0), tilt)

        return motion

    parts, motions = [], []
    for k in range(1 if case.made_of == "floors" else case.decks):
        made = _decks_of(case.made_of, case.decks, case.gap)
        parts += made
        motions += [motion_of(k)] * len(made)
    moves = 0 if case.moved == "never" else case.rate
    stage = Stage(parts, motions, Pace(moves, case.rate), land=lands.boxes(WIDE_FLOOR))
    for key in range(1, len(parts) + 1):
        stage.ground.set_one_way(key, (0, 1, 0))
        stage.ground.set_layers(key, DECKS)
    return stage, max(len(parts) // case.decks, 1)


class Drop(NamedTuple):
    """The result of a drop from a deck."""

    stood: bool  # on the highest deck, before the key was pressed
    held: bool  # whether the deck held the body again
    lands_on: int  # the deck on which it lands, from 1 on; 0: the floor; -1: none in time
    wanted: int
    path: tuple[tuple[float, ...], ...]  # the body's places from the key on


def drop(case, *, restores=False):
    """Press the key that filters the decks out for one update, or a few; see where it lands.

    With ``restores`` the body goes on from a saved state after each update.
    """
    stage, tiles = _drop_stage(case)
    turned_up = height_on_slope(case.body, case.slope)
    start = out_of(stage.poses[0], (case.spot[0], 0.0, case.spot[1]))
    mover = character(
        stage.ground, case.body, above(start, STAND[case.body] + turned_up + 0.01),
        resolver=case.resolver, gravity_scale=case.gravity_scale, leave=case.leave,
    )  # fmt: skip
    for _ in range(10):
        mover.update(1 / 60)
    for frame in stage.frames(2.0):
        mover.velocity.x, mover.velocity.z = case.walk
        stood = mover.update(stage.seconds).grounded
        if stood and frame > 0.3 * case.rate:
            break
    stood = stood and 1 <= mover.ground_report().part <= tiles
    held, lands_on, path = False, -1, []
    for frame, _ in enumerate(stage.frames(3.0)):
        mover.mask = ALL & ~DECKS if frame < case.key else ALL
        mover.velocity.x, mover.velocity.z = case.walk
        grounded = mover.update(stage.seconds).grounded
        path.append(tuple(mover.position64))
        part = mover.ground_report().part
        if restores:
            mover.restore(pickle.loads(pickle.dumps(mover.state())))
        if grounded:
            lands_on = (part - 1) // tiles + 1 if part else 0
            if part and case.made_of == "floors":
                depth = -into(stage.poses[0], foot_of(mover, case.body))[1]
                lands_on = 1 + round(depth / case.gap)
            held = lands_on == 1
            break
        if case.decks == 1 and into(stage.poses[0], foot_of(mover, case.body))[1] < -0.5:
            lands_on = 0
            break
    return Drop(stood, held, lands_on, 2 if case.decks > 1 else 0, tuple(path))

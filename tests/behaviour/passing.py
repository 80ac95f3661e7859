"""Those who are in each other's way: at doors, on rings, in corridors; and those who run into one.

Each function draws one case from a seed, walks it, and returns what was measured.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics import BoxCollider, CapsuleCollider, CharacterGroup, SphereCollider
from terrain_physics.character.colliders import Collider
from tests.behaviour.drive import RESOLVERS
from tests.behaviour.throngs import BODY, FLOOR, RADIUS, SPEED, walls
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, sin

RATES = (20, 24, 30, 50, 60, 90, 120, 144, 240, 360)
ARRANGEMENTS = ("mirrored", "in rows", "scattered")
APART = 2.1 * RADIUS
SHIFT = 0.2


class Flow(NamedTuple):
    """How a crowd gets on, and the same crowd with each one put elsewhere by up to 20 cm."""

    people: int
    locked: bool  # nobody got through in 5 s while somebody wanted to
    through: int  # how many got through
    shifted: int  # how many of the other crowd did
    overlap: float  # deepest overlap of two bodies as it ends, in meters


def flows(flow):
    """Tell whether a crowd gets on about as well as the other one: to a fifth, and two."""
    return not flow.locked and flow.through >= 0.8 * flow.shifted - 2.0 and flow.overlap <= 1e-6


def _parted(places):
    """Return places moved along x until none is in another's."""
    found = places[:1]
    for place in places[1:]:
        free = place.copy()
        while (np.hypot(*(found - free).T) < APART).any():
            free[0] -= 0.1
        found = np.vstack([found, free])
    return found


def _moved(places, rng, half=math.inf):
    moved = places + rng.uniform(-SHIFT, SHIFT, 2 * len(places)).reshape(-1, 2)
    moved[:, 1] = np.clip(moved[:, 1], RADIUS - half, half - RADIUS)
    return _parted(moved)


def _group(ground, places, seed):
    """Return a group of which no two draws have the same keys."""
    group = CharacterGroup(ground, BODY, collide=True, resolver=RESOLVERS[seed % 2])
    keys = range(1000 * seed, 1000 * seed + len(places))
    group.add_many(keys, np.insert(places, 1, 0.0, axis=1))
    return group


def _overlap(group):
    places = group.positions[:, [0, 2]]
    apart = np.hypot(*(places[:, None] - places[None]).T)
    return float((2.0 * RADIUS - apart)[np.triu_indices(len(places), 1)].max(initial=-math.inf))


def _played(group, rate, seconds, velocities, is_through, free=0.0):
    """Walk a group; return (whether it locked, how many got through, the overlap).

    ``free`` is the time that the way takes without others.
    """
    last, best, locked = free * rate, 0, False
    for frame in range(round(seconds * rate)):
        places = group.positions[:, [0, 2]]
        group.walk(*velocities(places).T)
        group.update(1 / rate)
        through = int(is_through(group.positions[:, [0, 2]]).sum())
        if through > best or through == len(group):
            last, best = frame, max(best, through)
        locked = locked or frame - last > 5 * rate
    return locked, through, _overlap(group)


def _twice(places, moved, play):
    """Return what becomes of a crowd, and of one that stands a little elsewhere."""
    locked, through, overlap = play(places)
    _, shifted, other = play(moved)
    return Flow(len(places), locked, through, shifted, max(overlap, other))


def before_door(rng, count):
    """Return places (n, 2) before a door across z at the origin."""
    kind, columns = ARRANGEMENTS[rng.below(3)], 1 + rng.below(min(count, 6))
    wide, deep = rng.uniform(0.85, 1.2, 2)
    rows = math.ceil(count / columns)
    x, z = np.meshgrid(np.arange(columns) - 0.5 * (columns - 1), np.arange(rows))
    places = np.stack([wide * x.ravel(), -1.2 - deep * z.ravel()], axis=1)
    if kind == "mirrored":
        places[:, 1] -= np.repeat(np.cumsum(rng.uniform(0.0, 0.2, rows)), columns)
    return _moved(places, rng) if kind == "scattered" else places


def door_case(seed):
    """A crowd of 2 to 60 wants through a door of 1 to 3 m."""
    rng = Draws(seed)
    rate, width, count = RATES[seed % 10], rng.uniform(1.0, 3.0), 2 + rng.below(59)
    return door(before_door(rng, count), width, rate, rng, seed)


def door(places, width, rate, rng, seed, seconds=12.0):
    """Walk a crowd through a door; see `Flow`."""
    ground = walls((-40, 0, -width / 2, 0.3), (width / 2, 0, 40, 0.3))

    def velocities(places):
        x, z = places.T
        is_before = z < -0.3
        ahead = np.stack([np.where(is_before, -x, 0.0), np.where(is_before, 0.2 - z, 1.0)], axis=1)
        return SPEED * ahead / np.hypot(*ahead.T)[:, None]

    def play(places):
        group = _group(ground, places, seed)
        return _played(group, rate, seconds, velocities, lambda at: at[:, 1] > 0.3)

    return _twice(places, _moved(places, rng), play)


def ring_case(seed):
    """A ring of 4 to 40 crosses its middle."""
    rng = Draws(seed)
    return ring(4 + rng.below(37), RATES[seed % 10], rng, seed, rng.uniform(0.0, 1.0))


def ring(count, rate, rng, seed, turn=0.0, seconds=20.0):
    """Walk a ring across its middle; see `Flow`."""
    angles = 2.0 * np.pi * (np.arange(count) + turn) / count
    radius = max(4.0, 0.2 * count)
    goals = -radius * np.array([(cos(angle), sin(angle)) for angle in angles])

    def velocities(places):
        way = goals - places
        far = np.hypot(*way.T)
        return way * (np.minimum(SPEED, far * rate) / np.maximum(far, 1e-9))[:, None]

    def play(places):
        group = _group(FLOOR, places, seed)
        return _played(
            group, rate, seconds, velocities, lambda at: np.hypot(*(at - goals).T) < 1.0, 10.0
        )

    return _twice(-goals, _moved(-goals, rng), play)


def streams_case(seed):
    """Two streams of 2 to 20 each go head on through a corridor of 2 to 4 m."""
    rng = Draws(seed)
    width, count = rng.uniform(2.0, 4.0), 2 + rng.below(19)
    columns = 1 + rng.below(max(int(width / 1.2), 1))
    return streams(width, columns, math.ceil(count / columns), RATES[seed % 10], rng, seed)


def streams(width, columns, rows, rate, rng, seed, seconds=20.0):
    """Walk two streams against each other; see `Flow`."""
    half, deep = 0.5 * width, 1.0
    ground = walls((-45, -half - 0.5, 45, -half), (-45, half, 45, half + 0.5))
    x, z = np.meshgrid(-3.0 - deep * np.arange(rows), np.arange(columns) - 0.5 * (columns - 1))
    places = np.stack([x.ravel(), 0.9 * z.ravel()], axis=1)
    signs = np.repeat((1.0, -1.0), len(places))
    far = 3.0 + deep * rows

    def velocities(places):
        along = np.where(signs * places[:, 0] < far, SPEED * signs, 0.0)
        return np.stack([along, np.zeros(len(along))], axis=1)

    def play(places):
        group = _group(ground, places, seed)
        return _played(group, rate, seconds, velocities, lambda at: signs * at[:, 0] > 2.0)

    def both(first, second):
        return np.vstack([first, second * (-1, 1)])

    moved = both(_moved(places, rng, half), _moved(places, rng, half))
    return _twice(both(places, places), moved, play)


BODIES: dict[str, tuple[Collider, float]] = {
    "sphere": (SphereCollider(0.4, offset=(0, 0.4, 0)), 0.4),
    "capsule": (CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), 0.4),
    "box": (BoxCollider((0.4, 0.9, 0.3), offset=(0, 0.9, 0)), 0.5),
}  # collider, radius of its cylinder


class Arrival(NamedTuple):
    """What is told of one who runs into another one."""

    speeds: tuple[float, ...]  # of all hits, in m/s
    approach: float  # the speed before the first contact, along the line of centers
    gap: float  # left between both from then on, where the runner goes on straight, in meters


def is_told_once(found):
    """Tell whether there is one hit, with the speed of approach, and no gap is left."""
    if len(found.speeds) != 1:
        return False
    return abs(found.speeds[0] - found.approach) <= 0.02 * found.approach and found.gap <= 2e-3


def arrival_case(seed):
    """One runs at 0.5 to 600 m/s into one who stands: straight or oblique, heavy or immovable."""
    rng = Draws(seed)
    rate, speed = RATES[seed % 10], 0.5 * 1200.0 ** rng.uniform(0.0, 1.0)
    mass = (math.inf, math.inf, 80.0, 800.0)[rng.below(4)]
    aside = 0.0 if rng.chance(0.5) else rng.uniform(0.0, 0.7)
    body = list(BODIES)[rng.below(3)]
    against = speed if aside == 0.0 and rng.chance(0.3) else 0.0
    return arrival(body, speed, rate, mass, aside, rng.uniform(0.0, 3.0), seed, against)


def arrival(body, speed, rate, mass, aside, frames, seed=0, against=0.0):
    """Run into another one, ``frames`` of the way from it; ``aside`` is a share of the radii."""
    collider, radius = BODIES[body]
    group = CharacterGroup(FLOOR, collider, collide=True, resolver=RESOLVERS[seed % 2])
    z = 2.0 * radius * aside
    touch = math.sqrt(4.0 * radius * radius - z * z)
    start = min(touch + max((speed + against) * frames / rate, 2e-3), 40.0)
    group.add(f"runner {seed}", (-start, 0, z))
    group.add(f"other {seed}", (0, 0, 0), mass=mass)
    group.update(1 / rate)
    speeds, gap, wanted = [], -math.inf, (speed + against) * touch / (2.0 * radius)
    for _ in range(math.ceil(frames) + 8):
        group.walk((speed, -against), 0)
        group.update(1 / rate)
        hits = group.hits()
        speeds += hits.speed[(hits.character == 0) & (hits.other == 1)].tolist()
        x, _, at_z = group.positions[1] - group.positions[0]
        if speeds and aside == 0.0 and against == 0.0:
            gap = max(gap, math.hypot(x, at_z) - 2.0 * radius)
    return Arrival(tuple(speeds), wanted, gap)

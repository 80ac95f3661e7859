"""Solid blocks, houses and stairs that are put on a crowd, at once or one by one."""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics import CharacterGroup, Ground, HeightMap, TriangleMesh
from tests.group.leaps import BODIES, SPEED
from tests.helpers.draws import Draws
from tests.helpers.leaps import own_ways, speeds_of, ways_of
from tests.oracles.motion import pose, turn

FAR = 30.0  # meters: half the side of the land
TAKEN_OUT = 30.0  # m/s, as far as its middle is inside
CLEAR = 0.9  # meters: until all of it is out, if that is more
PRESSED = 1e-3  # meters: so deep below the land a foot may be
MIDDLE = {"sphere": 0.45, "capsule": 0.9, "box": 0.8}  # above the foot


class Put(NamedTuple):
    """What came of a crowd on which solids were put."""

    leap: float  # farthest that one moved beyond what is allowed, in meters
    below: float  # deepest foot below the land of one who is free, in meters
    sunk: float  # the same of a middle, of all
    inside: int  # those in a solid a second after the last put, and not told "room"
    shut_in: int  # those told "room" then


def block(draws, low=0.4, high=4.0):
    x, y, z = draws.uniform(low, high, 3).tolist()
    return TriangleMesh.box((x, y, z), position=(0, 0.5 * y, 0))


def large_block(draws):
    return block(draws, 4.0, 10.0)


def tilted_block(draws):
    size, axis, angle = draws.uniform(0.4, 4.0, 3), draws.uniform(-1, 1, 3), draws.uniform(0, 3)
    return TriangleMesh.box(tuple(size), transform=pose((0, 1, 0), turn(axis, angle)))


def cylinder(draws):
    height = draws.uniform(0.5, 4.0)
    radius = draws.uniform(0.3, 2.0)
    return TriangleMesh.cylinder(radius, height, sections=12, position=(0, 0.5 * height, 0))


def stairs(draws):
    width, rise, tread = draws.uniform((1.0, 0.1, 0.25), (4.0, 0.35, 0.6), 3).tolist()
    return TriangleMesh.stairs(width, rise, tread, draws.whole(2, 10))


def house(draws):
    """Four walls with a gap for a door, with or without a roof."""
    x, z, y, wall = draws.uniform((3, 3, 2.2, 0.2), (7, 7, 3.5, 0.6), 4).tolist()
    beside = 0.5 * z - 0.7
    parts = [
        ((x, y, wall), (0, 0.5 * y, -0.5 * z)),
        ((x, y, wall), (0, 0.5 * y, 0.5 * z)),
        ((wall, y, z), (-0.5 * x, 0.5 * y, 0)),
        ((wall, y, beside), (0.5 * x, 0.5 * y, -0.7 - 0.5 * beside)),
        ((wall, y, beside), (0.5 * x, 0.5 * y, 0.7 + 0.5 * beside)),
        ((x, 0.3, z + wall), (0, y, 0)),
    ]
    kept = parts if draws.chance(0.5) else parts[:-1]
    return TriangleMesh.merged([TriangleMesh.box(size, position=at) for size, at in kept])


KINDS = (block, block, large_block, tilted_block, cylinder, stairs, house)


class Yard:
    """A crowd, on level or rough land, that stands or walks about."""

    def __init__(self, draws, seed):
        self.draws, self.rate = draws, draws.one_of((20, 30, 60, 144))
        roughness = draws.uniform(0.0, 0.4) if draws.chance(0.6) else 0.0
        heights = roughness * draws.uniform(0.0, 1.0, 61, 61)
        self.land = HeightMap(heights, origin=(-FAR, 0, -FAR))
        self.ground, name = Ground([self.land]), draws.one_of(sorted(BODIES))
        self.middle, collide = MIDDLE[name], draws.chance(0.5)
        self.group = CharacterGroup(
            self.ground, BODIES[name], collide=collide, seed=seed, threads=1
        )
        x, z = draws.uniform(-5.0, 5.0, 2, draws.whole(4, 17))
        places = np.stack([x, self.land.height_at(x, z) + 0.05, z], axis=1)
        self.group.add_many(range(len(x)), places)
        self.walks, self.headings = draws.chance(0.7), np.zeros((len(x), 2))
        for _ in range(self.rate // 3):
            self.group.update(1 / self.rate)

    def put(self):
        """Put a solid near one of the crowd, often into the land."""
        draws = self.draws
        mesh = draws.one_of(KINDS)(draws)
        x, _, z = self.group.positions[draws.below(len(self.group))]
        x, z = np.add((x, z), draws.uniform(-2.0, 2.0, 2))
        y = draws.uniform(-1.5, 0.2) if draws.chance(0.6) else draws.uniform(-0.5, 1.5)
        angle = draws.uniform(0.0, 2.0 * math.pi) if draws.chance(0.6) else 0.0
        self.ground.add(mesh, transform=pose((x, y, z), turn((0, 1, 0), angle)))

    def turn(self):
        if self.walks:
            angles = self.draws.uniform(0.0, 2.0 * math.pi, len(self.group))
            self.headings = SPEED * np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def step(self):
        """Advance by a frame; return (its result, how far too far each one moved)."""
        group, seconds = self.group, 1 / self.rate
        group.walk(*self.headings.T)
        before, speeds = group.positions, speeds_of(group)
        result = group.update(seconds)
        moved = np.linalg.norm(group.positions - before, axis=1)
        most = own_ways(np.maximum(speeds, speeds_of(group)), seconds, ways_of(group))
        return result, moved - most - max(TAKEN_OUT * seconds, CLEAR)

    def below(self, above):
        """Return how deep below the land each one is, so far above its foot."""
        x, y, z = self.group.positions.T
        return self.land.height_at(*np.clip((x, z), -FAR, FAR)) - y - above


def put_on_a_crowd(seed):
    """Put one to eight solids on a crowd, at once or within two seconds."""
    draws = Draws(seed)
    yard, count = Yard(draws, seed), draws.whole(1, 9)
    within = 1 if draws.chance(0.5) else 2 * yard.rate
    frames = sorted(draws.below(within) for _ in range(count))
    leap = below = sunk = -math.inf
    for frame in range(frames[-1] + round(1.5 * yard.rate)):
        for _ in range(frames.count(frame)):
            yard.put()
        if frame % yard.rate == 0:
            yard.turn()
        result, too_far = yard.step()
        free = ~np.isin(result.limited_by, ("depth", "room"))  # else it is on its way out
        leap, sunk = max(leap, too_far.max()), max(sunk, yard.below(yard.middle).max())
        below = max(below, yard.below(0.0)[free].max(initial=-math.inf))
    shut_in = result.limited_by == "room"
    inside = yard.ground.contains(np.add(yard.group.positions, (0, yard.middle, 0))) & ~shut_in
    return Put(leap, below, sunk, int(inside.sum()), int(shut_in.sum()))


def is_let_out(found):
    """Tell whether nobody leaps, is below the land, or stays inside without being told."""
    return found.leap <= 0 and found.below <= PRESSED and found.sunk <= 0 and found.inside == 0

"""No body leaps: in a frame it moves no farther than something that it is told of explains.

Crowds among lifts, doors, presses and spinners, drawn at random.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics.character.colliders import Collider
from tests.helpers.draws import Draws
from tests.helpers.leaps import own_ways, speeds_of, ways_of
from tests.oracles.motion import pose, turn

SPEED = 3.0  # m/s
BODIES: dict[str, Collider] = {
    "sphere": SphereCollider(0.45, offset=(0, 0.45, 0)),
    "capsule": CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)),
    "box": BoxCollider((0.4, 0.8, 0.3), offset=(0, 0.8, 0)),
}
REACH = 1.3  # meters from the middle of a body to its farthest point, at most


class Part(NamedTuple):
    """A moving part: a box, and its pose at a time."""

    size: tuple[float, float, float]
    motion: Any


def lift(draws):
    at, top = draws.uniform(-5, 5, 2), draws.uniform(2.0, 5.0)
    speed, begins = draws.uniform(0.5, 3.0), draws.uniform(0.0, 3.0)

    def motion(t):
        gone = speed * (t + begins) % (2.0 * top)
        return pose((at[0], min(gone, 2.0 * top - gone) - 0.19, at[1]))

    return Part((draws.uniform(1.5, 4.0), 0.4, draws.uniform(1.5, 4.0)), motion)


def door(draws):
    at, angle = draws.uniform(-5, 5, 2), draws.uniform(0.0, math.pi)
    way, speed = draws.uniform(1.0, 5.0), draws.uniform(0.5, 5.0)
    x, z = math.cos(angle), math.sin(angle)

    def motion(t):
        gone = speed * t % (2.0 * way)
        gone = min(gone, 2.0 * way - gone)
        return pose((at[0] + gone * x, 1.5, at[1] + gone * z), turn((0, 1, 0), -angle))

    return Part((draws.uniform(0.2, 2.0), 3.0, draws.uniform(0.3, 3.0)), motion)


def press(draws):
    at, down = draws.uniform(-5, 5, 2), draws.uniform(0.5, 4.0)

    def motion(t):
        gone = down * t % 6.0
        return pose((at[0], 3.2 - min(gone, 6.0 - gone), at[1]))

    return Part((draws.uniform(1.0, 3.0), 0.5, draws.uniform(1.0, 3.0)), motion)


def spinner(draws):
    at, speed = draws.uniform(-5, 5, 2), draws.uniform(-3.0, 3.0)

    def motion(t):
        return pose((at[0], 0.8, at[1]), turn((0, 1, 0), speed * t))

    return Part((draws.uniform(2.0, 6.0), 0.6, 0.3), motion)


KINDS = (lift, door, press, spinner)


class Leap(NamedTuple):
    """A body that moved farther than is allowed, in meters, and what allowed how much."""

    frame: int
    body: int
    moved: float
    own: float  # its own way: speed, gravity, a step, the snap to the ground
    parts: float  # the farthest way of a part near it
    others: float  # the farthest way of another body near it
    place: tuple[float, ...]


class Arena:
    """A crowd on a floor with walls, under a ceiling here and there, among moving parts."""

    def __init__(self, seed, *, collide=True):
        draws = Draws(seed)
        self.rate = (20, 30, 60, 144)[seed % 4]
        land = HeightMap(0.1 * draws.uniform(0.0, 1.0, 25, 25), origin=(-12, 0, -12))
        still = [TriangleMesh.box((1, 4, 8), position=(6.5, 1.5, 0))]
        still.append(TriangleMesh.box((6, 0.4, 6), position=(*draws.uniform(-4, 4, 1), 3.0, 0)))
        for _ in range(4):
            at = draws.uniform(-6, 6, 2)
            size = draws.uniform(0.5, 2.0, 3)
            still.append(TriangleMesh.box(tuple(size), position=(at[0], 0.4 * size[1], at[1])))
        self.ground = Ground([land, *still])
        self.parts = [KINDS[draws.below(len(KINDS))](draws) for _ in range(5)]
        self.keys = [
            self.ground.add(TriangleMesh.box(part.size), transform=part.motion(0.0))
            for part in self.parts
        ]
        self.group = CharacterGroup(
            self.ground, BODIES[sorted(BODIES)[seed % 3]], collide=collide, seed=seed, threads=1
        )
        places = draws.uniform(-7, 7, 16, 3)
        self.group.add_many(range(len(places)), places * (1, 0, 1) + (0, 0.1, 0))
        self.headings, self.frame, self.draws = np.zeros((len(places), 2)), 0, draws

    def poses(self, frame):
        return [part.motion(frame / self.rate) for part in self.parts]

    def step(self):
        """Advance by a frame; return the leaps in it."""
        seconds, before = 1.0 / self.rate, np.array(self.group.positions)
        speeds = speeds_of(self.group)
        then, self.frame = self.poses(self.frame), self.frame + 1
        now = self.poses(self.frame)
        for key, there in zip(self.keys, now, strict=True):
            self.ground.move(key, there, seconds)
        if self.frame % self.rate == 1:
            angles = self.draws.uniform(0.0, 2.0 * math.pi, len(before))
            self.headings = SPEED * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        self.group.walk(*self.headings.T)
        self.group.update(seconds)
        after = np.array(self.group.positions)
        moved = np.linalg.norm(after - before, axis=1)
        speeds = np.maximum(np.maximum(speeds, speeds_of(self.group)), SPEED)
        own = own_ways(speeds, seconds, ways_of(self.group))
        leaps = []
        for i in np.flatnonzero(moved > own):
            near = np.linalg.norm(before - before[i], axis=1) < 2.0 * REACH
            near[i] = False
            others, parts = max([0.0, *moved[near]]), self.part_way(then, now, before[i])
            if moved[i] > own[i] + parts + others:
                way = (*before[i].tolist(), *after[i].tolist())
                leaps.append(
                    Leap(self.frame, int(i), float(moved[i]), float(own[i]), parts, others, way)
                )
        return leaps

    def part_way(self, then, now, place):
        """Return the farthest way that a part near a place has gone, at the place."""
        most = 0.0
        for part, a, b in zip(self.parts, then, now, strict=True):
            own = np.linalg.inv(b) @ (*place, 1.0)
            if (np.abs(own[:3]) < 0.5 * np.array(part.size) + 2.0 * REACH).all():
                there = b @ (np.linalg.inv(a) @ (*place, 1.0))
                most = max(most, float(np.linalg.norm(there[:3] - place)))
        return most


def leaps(seed, seconds):
    """Return the leaps of a crowd in some seconds, but for the first frame.

    In that, all leave what they were put into.
    """
    arena = Arena(seed)
    found: list[Leap] = []
    for frame in range(round(seconds * arena.rate)):
        told = arena.step()
        found += told if frame > 0 else []
    return found

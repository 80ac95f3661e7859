"""Walks over planes: flat, tilted, of meshes, and far from the origin."""

import math

import numpy as np

from terrain_physics import HeightMap
from tests.behaviour import lands
from tests.behaviour.drive import FRAME, STAND, character, push, standing, straight_walk, worst
from tests.helpers.draws import Draws
from tests.helpers.portable import sin, tan

EXACT, TWENTY = 0.375, tan(math.radians(20))


def directions(count):
    return [2 * math.pi * k / count for k in range(count)]


def flat_walk(shape, resolver, *, count=16, seconds=20.0):
    floor = lands.tilted(0.0)
    walks = []
    for angle in directions(count):
        mover = character(floor, shape, (100.3, STAND[shape], 100.7), resolver=resolver)
        mover.update(FRAME)
        walks.append(straight_walk(mover, angle, round(seconds / FRAME)))
    return worst(walks)


def tilted_walk(shape, resolver, slopes, *, surface=False, count=16, seconds=20.0):
    ground = lands.tilted(*slopes)
    walks = []
    for angle in directions(count):
        mover = standing(
            ground, shape, 100.3, 100.7,
            resolver=resolver, slope_speed="surface" if surface else "horizontal",
        )  # fmt: skip
        walks.append(
            straight_walk(mover, angle, round(seconds / FRAME), slopes=slopes, surface=surface)
        )
    return worst(walks)


def mesh_walk(ground, shape, resolver, *, count=16, seconds=4.0):
    """Walk from the middle of a flat mesh of 40 m; triangles are no reason to trip."""
    walks = []
    for angle in directions(count):
        mover = character(ground, shape, (20.13, STAND[shape], 20.29), resolver=resolver)
        mover.update(FRAME)
        walks.append(straight_walk(mover, angle, round(seconds / FRAME)))
    return worst(walks)


def path_from(distance, shape, *, seconds=10.0):
    """Return the path, relative to its start, of a winding walk so far from the origin."""
    rng = Draws(7)
    heights = 0.004 * np.cumsum(np.cumsum(rng.normal(80, 80), axis=0), axis=1)
    origin = (distance, 0.0, -distance)
    ground = HeightMap(heights, origin=origin)
    mover = standing(ground, shape, distance + 40.25, -distance + 40.25)
    start = np.array([distance + 40.25, 0.0, -distance + 40.25])
    path = []
    for frame in range(round(seconds / FRAME)):
        push(mover, 0.9 * sin(frame / 45) * 4, 3.0)
        mover.update(FRAME)
        path.append(np.array(mover.position64) - start)
    return np.array(path)


def noise(path):
    """Return the median size of the change of acceleration from frame to frame, in m/s^2."""
    acceleration = np.diff(path, n=2, axis=0) / FRAME**2
    return float(np.median(np.linalg.norm(np.diff(acceleration, axis=0), axis=1)))

"""Many bodies on rough land: dropped, thrown and walking about."""

import math
from typing import NamedTuple

import numpy as np

from demo.scenery.scenes import load_land
from tests.behaviour.drive import FRAME, HALF_EXTENTS, RADIUS, STAND, character, push
from tests.behaviour.measure import ball_gaps, box_gaps
from tests.helpers.draws import Draws
from tests.helpers.portable import length_of


def land_of(steepness):
    land = load_land(steepness)
    return land, land.heights * np.float64(land.height_scale)


def gaps(heights, shape, places):
    """Return the gap of each body to the ground; < 0 is penetration."""
    centers = np.array(places)
    if shape == "box":
        return box_gaps(heights, centers, HALF_EXTENTS)
    return ball_gaps(heights, centers - (0.0, STAND[shape] - RADIUS, 0.0), RADIUS, 1)


def _is_walkable(heights, place):
    """Tell whether the ground near a body that falls straight down is no steeper than 45."""
    column, row = math.floor(place[0]), math.floor(place[2])
    near = heights[row - 1 : row + 3, column - 1 : column + 3]
    a, b, c, d = near[1:, :-1], near[1:, 1:], near[:-1, 1:], near[:-1, :-1]
    steepest = max(np.hypot(b - a, b - c).max(), np.hypot(c - d, a - d).max())
    return bool(steepest <= 1.0)


class Drop(NamedTuple):
    """The result of drops."""

    deepest: float  # greatest penetration in any frame, in meters
    restless: int  # bodies over walkable ground that stood for 5 s and were not at rest then
    thrown: int  # the same of bodies over steep ground, which throws them aside
    rested: int


def drop(shape, resolver, speed, count, *, steepness=1.0, level=True, every=1, seed=0):
    """Drop bodies from 50 m; ``level``: straight down, else in any direction downward."""
    land, heights = land_of(steepness)
    rng = Draws(seed + int(speed))
    movers = []
    for k in range(count):
        x, z = rng.uniform(150, 360, 2)
        mover = character(
            land, shape, (x, float(land.height_at(x, z)) + 50.0, z), resolver=resolver, seed=k
        )
        way = np.array([0.0, -1.0, 0.0])
        if not level:
            way = rng.normal(3)
            way[1] = -abs(way[1]) - 0.3
        mover.velocity = way * (speed / length_of(way))
        movers.append(mover)
    deepest, stood = 0.0, np.zeros(count, dtype=int)
    allowed = [_is_walkable(heights, mover.position64) for mover in movers]
    restless = thrown = 0
    seconds = math.sqrt(100 / 9.81) + 7.0 if level else 1.5
    for frame in range(round(seconds / FRAME)):
        for k, mover in enumerate(movers):
            stood[k] = stood[k] + 1 if mover.update(FRAME).grounded else 0
            if stood[k] == round(5 / FRAME) and any(mover.velocity):
                restless += allowed[k]
                thrown += not allowed[k]
        if frame % every == 0:
            deepest = max(deepest, -gaps(heights, shape, [m.position64 for m in movers]).min())
    rested = sum(mover.grounded and not any(mover.velocity) for mover in movers)
    return Drop(float(deepest), restless, thrown, rested)


class Wander(NamedTuple):
    """The result of walks over rough land."""

    deepest: float  # penetration, in meters
    deep_99: float
    gap: float  # of grounded bodies, in meters
    gap_99: float
    flickers: float  # ground gained or lost for one frame, per 10,000 frames
    grounded: float  # part of the frames
    frames: int


def wander(shape, resolver, steepness, count, seconds, *, every=1, seed=0):
    """Walk about at 3 m/s, in another direction every second."""
    land, heights = land_of(steepness)
    rng = Draws(seed)
    movers = []
    for k in range(count):
        x, z = rng.uniform(150, 360, 2)
        start = (x, float(land.height_at(x, z)) + 1.2, z)
        movers.append(character(land, shape, start, resolver=resolver, seed=k))
    for _ in range(60):
        for mover in movers:
            mover.update(FRAME)
    frames = round(seconds / FRAME)
    on_ground = np.zeros((frames, count), dtype=bool)
    headings = rng.uniform(0, 2 * math.pi, count)
    measured = []
    for frame in range(frames):
        for k, mover in enumerate(movers):
            if (frame + 7 * k) % 60 == 0:
                headings[k] = rng.uniform(0, 2 * math.pi)
            push(mover, headings[k], 3.0)
            on_ground[frame, k] = mover.update(FRAME).grounded
        if frame % every == 0:
            apart = gaps(heights, shape, [m.position64 for m in movers])
            measured.append(np.stack([apart, on_ground[frame]], 1))
    apart, held = np.concatenate(measured).T
    deep, gap = np.maximum(-apart, 0.0), apart[held > 0]
    once = (on_ground[:-2] == on_ground[2:]) & (on_ground[:-2] != on_ground[1:-1])
    return Wander(
        float(deep.max()),
        float(np.quantile(deep, 0.99)),
        float(gap.max()),
        float(np.quantile(gap, 0.99)),
        1e4 * float(once.sum()) / once.size,
        float(on_ground.mean()),
        frames * count,
    )

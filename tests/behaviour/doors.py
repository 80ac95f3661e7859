"""Parts that come upon a body: doors, crushers, cabins. It gives way, and they yield to walls.

Where the body is, and how deep in a part, is known from the planes of its faces.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics import TriangleMesh
from tests.behaviour import lands
from tests.behaviour.drive import STAND, character
from tests.behaviour.rides import Stage, there_and_back
from tests.helpers.portable import cos, sin, times
from tests.oracles.motion import into, pose, turn

REACH = {"sphere": 0.5, "capsule": 0.5, "box": 0.4}  # along x and z
TALL = {"sphere": 1.0, "capsule": 1.8, "box": 1.8}
FLOOR = ((-60.0, -1.0, -60.0), (60.0, 0.0, 60.0))
WALL = 5.0  # its face, across x
DOOR = 0.1  # thickness


class Met(NamedTuple):
    """Contact of a part with a body."""

    wrong: int  # frames in which it was behind the part, or not where it belongs
    depth: float  # deepest in what stands still, in meters
    off: float  # by how much the depth in the part that was told is wrong, at most
    most: float  # deepest in the part
    lifted: float  # farthest lifted in a frame, in meters
    is_free: bool  # at the end


def _met(result, *, wrong, depth, overlap=None):
    """Return what came of one frame; ``overlap``: how deep the body is in part 1, if known."""
    told = max((squeeze.depth for squeeze in result.squeezed if squeeze.part == 1), default=0.0)
    off = 0.0 if overlap is None else abs(overlap - told)
    return Met(wrong, depth, off, overlap or 0.0, result.lifted, not result.squeezed)


def _in_all(frames):
    wrong, depth, off, most, lifted, free = zip(*frames, strict=True)
    return Met(sum(wrong), max(depth), max(off), max(most), max(lifted), free[-1])


def _at_rest(stage, body, place):
    mover = character(stage.ground, body, place)
    for _ in range(10):
        mover.update(1 / 60)
    return mover


def fine_door(cell):
    """Return the two faces across x of a door 4 m high and wide, in squares of that size."""
    places = np.linspace(-2.0, 2.0, round(4.0 / cell) + 1)
    y, z = (values.ravel() for values in np.meshgrid(places, places, indexing="ij"))
    sides = [np.stack([np.full(y.shape, x), y, z], axis=1) for x in (-0.5 * DOOR, 0.5 * DOOR)]
    below = np.arange(len(y)).reshape(len(places), -1)
    a, b, c, d = (
        v.ravel() for v in (below[:-1, :-1], below[:-1, 1:], below[1:, :-1], below[1:, 1:])
    )
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([b, d, c], axis=1)])
    return TriangleMesh(np.concatenate(sides), np.concatenate([faces, faces[:, ::-1] + len(y)]))


def slam(body, pace, speed, *, wall=True, hop=False, walking=0.0, door=None):
    """A door across x is pushed at a body, as far as to a gap too narrow, and back again.

    Without a ``wall`` behind the body it is pushed 20 m far.
    """
    reach = REACH[body]
    way = WALL - 1.2 * reach if wall else 20.0

    def motion(t):
        return pose((-0.5 * DOOR - 1.0 + there_and_back(t, way + 1.0, speed), 2.0, 0.0))

    spans = [FLOOR, ((WALL, 0.0, -60.0), (WALL + 1.0, 6.0, 60.0))] if wall else [FLOOR]
    if door is None:
        door = TriangleMesh.box((DOOR, 4.0, 8.0))
    stage = Stage([door], [motion], pace, land=lands.boxes(*spans))
    mover = _at_rest(stage, body, (0.7, STAND[body] + 0.01, 0.3))
    turns_at, frames = (way + 1.0) / speed * pace.updates, []
    for frame in stage.frames(2.0 * (way + 1.0) / speed):
        if hop and frame == 2:
            mover.velocity.y = 4.0
        mover.velocity.x = walking
        result = mover.update(stage.seconds)
        x, y, _ = mover.position64
        face = stage.poses[0][0, 3] + 0.5 * DOOR
        depth = max(STAND[body] - y, x + reach - WALL if wall else 0.0)
        is_pressed = result.grounded and frame < turns_at
        overlap = max(face - (x - reach), 0.0) if is_pressed else None
        frames.append(_met(result, wrong=x < face - 0.5 * DOOR, depth=depth, overlap=overlap))
    return _in_all(frames)


def crush(body, pace, speed, *, walking=0.0):
    """A ceiling comes down on a body to 0.6 of its height, and goes up again."""
    tall, wide = TALL[body], 3.0
    way = 3.0 - 0.6 * tall

    def motion(t):
        return pose((0.0, 4.0 - there_and_back(t, way, speed), 0.0))

    stage = Stage([TriangleMesh.box((wide, 2.0, wide))], [motion], pace, land=lands.boxes(FLOOR))
    mover, frames = _at_rest(stage, body, (0.1, STAND[body] + 0.01, 0.3)), []
    for _ in stage.frames(2.0 * way / speed):
        mover.velocity.x = walking
        result = mover.update(stage.seconds)
        x, y, z = mover.position64
        low = stage.poses[0][1, 3] - 1.0
        is_under = result.grounded and max(abs(x), abs(z)) < 0.5 * wide
        overlap = max(y - STAND[body] + tall - low, 0.0) if is_under else None
        frames.append(_met(result, wrong=y > low + 1.0, depth=STAND[body] - y, overlap=overlap))
    return _in_all(frames)


def swing(body, pace, spin):
    """A door turns by 90 degrees about its hinge, against a body before it, and back again."""

    def motion(t):
        angle = there_and_back(t, 0.5 * math.pi, spin)
        return times(pose((0.0, 2.0, 0.0), turn((0, 1, 0), -angle)), pose((1.5, 0.0, 0.0)))

    stage = Stage([TriangleMesh.box((3.0, 4.0, DOOR))], [motion], pace, land=lands.boxes(FLOOR))
    mover, frames = _at_rest(stage, body, (1.6, STAND[body] + 0.01, 1.2)), []
    for _ in stage.frames(math.pi / spin):
        result = mover.update(stage.seconds)
        x, _, z = into(stage.poses[0], mover.position64)
        is_before = abs(x) < 1.5
        overlap = None
        if is_before and body != "box":
            overlap = max(0.5 * DOOR + REACH[body] - z, 0.0)
        depth = STAND[body] - mover.position64[1]
        frames.append(_met(result, wrong=is_before and z < 0.0, depth=depth, overlap=overlap))
    return _in_all(frames)


INSIDE, HIGH = 1.5, 2.4  # half of the width of a cabin, and how high it is
CABIN = (
    ((-2.0, -0.2, -2.0), (2.0, 0.0, 2.0)),
    ((-2.0, HIGH, -2.0), (2.0, HIGH + 0.2, 2.0)),
    ((-2.0, 0.0, -2.0), (-INSIDE, HIGH, 2.0)),
    ((INSIDE, 0.0, -2.0), (2.0, HIGH, 2.0)),
    ((-INSIDE, 0.0, -2.0), (INSIDE, HIGH, -INSIDE)),
    ((-INSIDE, 0.0, INSIDE), (INSIDE, HIGH, 2.0)),
)


def cabin(body, pace, way, walking):
    """A cabin with walls, a floor and a ceiling shakes a body that walks and hops about in it."""

    def motion(t):
        x, y, z = way
        swung = sin(2.0 * t)
        return pose((x * swung, 30.0 + y * swung, z * swung))

    stage = Stage([lands.boxes(*CABIN)], [motion], pace)
    mover, frames = _at_rest(stage, body, (0.2, 30.01 + STAND[body], 0.1)), []
    for frame in stage.frames(4.0):
        angle = 0.9 * frame * stage.seconds
        mover.velocity.x, mover.velocity.z = walking * cos(angle), walking * sin(angle)
        if walking and frame % pace.updates == 1:
            mover.velocity.y = 4.0
        result = mover.update(stage.seconds)
        x, y, z = into(stage.poses[0], mover.position64)
        aside = max(abs(x), abs(z))
        wrong = aside > INSIDE or not 0.0 < y < HIGH or bool(result.squeezed)
        depth = max(
            aside + REACH[body] - INSIDE, STAND[body] - y, y - STAND[body] + TALL[body] - HIGH
        )
        frames.append(_met(result, wrong=wrong, depth=depth))
    return _in_all(frames)


def into_wall(body, pace, speed):
    """A platform carries a body at a wall, in which the platform ends."""

    def motion(t):
        return pose((there_and_back(t, 5.0, speed), 1.0, 0.0))

    wall = ((WALL, 0.0, -60.0), (WALL + 9.0, 6.0, 60.0))
    stage = Stage(
        [TriangleMesh.box((6.0, 0.5, 6.0))], [motion], pace, land=lands.boxes(FLOOR, wall)
    )
    mover, frames = _at_rest(stage, body, (1.5, 1.26 + STAND[body], 0.3)), []
    for _ in stage.frames(10.0 / speed):
        result = mover.update(stage.seconds)
        x, y, _ = mover.position64
        depth = max(x + REACH[body] - WALL, 1.25 + STAND[body] - y)
        frames.append(_met(result, wrong=not result.grounded, depth=depth))
    return _in_all(frames)


DOORWAY = (
    *(wall for wall in CABIN if wall[0][0] != INSIDE),
    ((INSIDE, 0.0, -2.0), (2.0, HIGH, -0.7)),
    ((INSIDE, 0.0, 0.7), (2.0, HIGH, 2.0)),
)


def doorway(body, pace, heave):
    """The door of a cabin that goes up and down closes on a body in the doorway, and opens."""

    def lift(t):
        return pose((0.0, 30.0 + heave * sin(t), 0.0))

    def door(t):
        return times(lift(t), pose((1.75, 0.5 * HIGH, -3.0 + there_and_back(t, 3.0, 1.5))))

    parts = [lands.boxes(*DOORWAY), TriangleMesh.box((DOOR, HIGH, 1.5))]
    stage = Stage(parts, [lift, door], pace)
    mover, frames = _at_rest(stage, body, (1.75, 30.01 + STAND[body], 0.0)), []
    for _ in stage.frames(4.0):
        result = mover.update(stage.seconds)
        _, y, z = into(stage.poses[0], mover.position64)
        depth = max(STAND[body] - y, abs(z) + REACH[body] - 0.7)
        frames.append(_met(result, wrong=not result.grounded, depth=depth))
    return _in_all(frames)


def against_ceiling(body, pace, speed):
    """A lift carries a body at a ceiling that stands still, and down again."""
    tall, way = TALL[body], 2.0

    def motion(t):
        return pose((0.0, 1.0 + there_and_back(t, way, speed), 0.0))

    ceiling = ((-9.0, 1.0 + way + 0.7 * tall, -9.0), (9.0, 9.0, 9.0))
    slab = TriangleMesh.box((4.0, 0.4, 4.0))
    stage = Stage([slab], [motion], pace, land=lands.boxes(FLOOR, ceiling))
    mover, frames = _at_rest(stage, body, (0.3, 1.21 + STAND[body], 0.2)), []
    for _ in stage.frames(2.0 * way / speed):
        result = mover.update(stage.seconds)
        y = mover.position64[1]
        foot = y - STAND[body]
        deck = stage.poses[0][1, 3] + 0.2
        overlap = max(deck - foot, 0.0) if result.grounded else None
        wrong = foot < deck - 0.4 - tall
        frames.append(_met(result, wrong=wrong, depth=foot + tall - ceiling[0][1], overlap=overlap))
    return _in_all(frames)

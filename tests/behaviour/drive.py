"""Characters for the scenarios, and what is measured of a walk."""

import math
from typing import Literal, NamedTuple

import numpy as np

from terrain_physics import BoxCollider, CapsuleCollider, CharacterMovement, SphereCollider
from terrain_physics.character.colliders import Collider
from tests.helpers.portable import cos, sin

FRAME = 1 / 60
SLOPE_LIMIT = math.radians(45)
HALF_EXTENTS = (0.4, 0.9, 0.4)
RADIUS = 0.5
RESOLVERS: tuple[Literal["shuffled"], Literal["simultaneous"]] = ("shuffled", "simultaneous")
COLLIDERS: dict[str, Collider] = {
    "sphere": SphereCollider(0.5),
    "capsule": CapsuleCollider(0.5, 1.8),
    "box": BoxCollider(HALF_EXTENTS),
}
STAND = {"sphere": 0.5, "capsule": 0.9, "box": 0.9}


def character(ground, shape, position, **rules):
    """Return a character; ``shape`` is a collider or the name of one."""
    collider = COLLIDERS[shape] if isinstance(shape, str) else shape
    rules.setdefault("slope_limit", SLOPE_LIMIT)
    return CharacterMovement(ground, collider, position=position, **rules)


def standing(ground, shape, x, z, *, above=1.5, **rules):
    """Return a character that has come to rest on the ground there."""
    mover = character(ground, shape, (x, float(ground.height_at(x, z)) + above, z), **rules)
    for _ in range(300):
        mover.update(FRAME)
        if mover.grounded and not any(mover.velocity):
            return mover
    return mover


def push(mover, angle, speed=4.0):
    """Set the horizontal speed; return it as the character holds it."""
    mover.velocity.x, mover.velocity.z = speed * cos(angle), speed * sin(angle)
    return np.array([mover.velocity.x, mover.velocity.z], dtype=np.float64)


class Walk(NamedTuple):
    """The result of a straight walk."""

    slowest: float  # least part of the wanted speed in any frame
    ripple: float  # greatest change of speed from frame to frame, in m/s
    side: float  # farthest from the straight line, in meters
    height: float  # farthest from the plane of the ground, in meters
    in_air: int  # frames not grounded


def worst(walks):
    """Return the worst figures of several walks."""
    slowest, *others = (list(column) for column in zip(*walks, strict=True))
    return Walk(min(slowest), *(max(column) for column in others))


def straight_walk(mover, angle, frames, *, slopes=(0.0, 0.0), surface=False, delta_time=FRAME):
    """Walk straight on over a plane with such slopes; measured against the plane."""
    start = last = np.array(mover.position64)
    slopes = np.array(slopes)
    before = None
    slowest, ripple, side, height, in_air = math.inf, 0.0, 0.0, 0.0, 0
    for _ in range(frames):
        wanted = push(mover, angle)
        in_air += not mover.update(delta_time).grounded
        place = np.array(mover.position64)
        step = place - last
        length = np.linalg.norm(step) if surface else math.hypot(step[0], step[2])
        speed = length / delta_time
        slowest = min(slowest, speed / np.linalg.norm(wanted))
        ripple = max(ripple, abs(speed - before) if before is not None else 0.0)
        way = place - start
        along = wanted / np.linalg.norm(wanted)
        side = max(side, abs(way[0] * along[1] - way[2] * along[0]))
        height = max(height, abs(way[1] - way[[0, 2]] @ slopes))
        last, before = place, speed
    return Walk(float(slowest), float(ripple), float(side), float(height), in_air)

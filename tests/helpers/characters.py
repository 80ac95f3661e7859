"""Grounds and bodies for the tests of characters."""

import math

import numpy as np
from pyglm import glm

from terrain_physics import CharacterMovement, HeightMap, SphereCollider

FRAME = 1 / 60
FLOOR = HeightMap(np.zeros((40, 40)))
ROUGH = HeightMap(np.random.default_rng(0).uniform(0, 1.5, (40, 40)))


def slope(degrees):
    """Return ground that rises along x."""
    return HeightMap(np.tile(np.arange(60) * math.tan(math.radians(degrees)), (60, 1)))


def ball(ground=FLOOR, position=(10.3, 0.5, 10.7), **rules):
    return CharacterMovement(ground, SphereCollider(0.5), position=position, **rules)


def run(mover, frames, delta_time=FRAME):
    for _ in range(frames):
        result = mover.update(delta_time)
    return result


def at_rest(mover):
    return mover.grounded and mover.velocity == glm.vec3(0)

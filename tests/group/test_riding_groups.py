"""Members of a group on moving bases: each array has what one character alone tells."""

import math

import numpy as np
from pyglm import glm

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    TriangleMesh,
)

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
STARTS = {"rider": (2, 0.25, 0), "squeezed": (10.5, 0, 0), "far": (-30, 0, 0)}
TURNTABLE, DOOR = 1, 2


def make_ground():
    land = HeightMap([[0.0] * 2] * 2, cell_size=200, origin=(-100, 0, -100))
    wall = TriangleMesh.box((1, 4, 8), transform=glm.translate(glm.vec3(12, 2, 0)))
    return Ground([land, TriangleMesh.cylinder(4, 0.5), TriangleMesh.box((0.2, 4, 4)), wall])


def move(ground, frame):
    ground.move(TURNTABLE, ((0, 0, 0), glm.angleAxis(frame / 60, glm.vec3(0, 1, 0))), 1 / 60)
    ground.move(DOOR, ((9 + frame / 30, 2, 0), glm.quat()), 1 / 60)


def test_arrays_tell_what_each_alone_does():
    ground = make_ground()
    group = CharacterGroup(ground, BODY)
    alone = {}
    for key, start in STARTS.items():
        group.add(key, start)
        alone[key] = CharacterMovement(make_ground(), BODY, position=start, seed=group.seed_of(key))
    for frame in range(60):
        move(ground, frame)
        result = group.update(1 / 60)
        for row, (key, mover) in enumerate(alone.items()):
            move(mover.ground, frame)
            one = mover.update(1 / 60)
            assert group[key].state_hash() == mover.state_hash()
            assert result.turns[row] == one.turn
            hardest = one.squeezed[0] if one.squeezed else (-1, 0.0)
            assert (result.squeezed_by[row], result.squeezed[row]) == hardest
            assert np.allclose(group.world_velocities[row], tuple(mover.world_velocity), rtol=1e-6)
    assert math.isclose(result.turns[0], 1 / 60, rel_tol=1e-5)
    assert result.squeezed_by.tolist() == [-1, DOOR, -1]
    assert result.squeezed[1] > 0.1
    speeds = np.linalg.norm(group.world_velocities, axis=1)
    np.testing.assert_allclose(speeds, [2.0, 0.0, 0.0], rtol=1e-4)

"""Among lifts, doors, presses and spinners nobody leaps, or is pressed through a wall."""

import numpy as np
import pytest

from terrain_physics import CharacterMovement, Ground, HeightMap, TriangleMesh
from tests.group.leaps import BODIES, leaps
from tests.oracles.motion import pose


@pytest.mark.parametrize(
    ("seed", "seconds"),
    [
        (33, 1.0),  # a spinner pushed one 1.4 m aside
        (24, 2.0),  # a spinner pushed two below a press, which took them up by 2 m
        (52, 1.0),  # its base took one by 1.2 m to where it owed that it would be
        (38, 0.5),  # one that was pressed was lifted by 0.9 m onto what was over it
        (45, 1.5),  # one that was pressed in the air was lifted by 2.7 m onto what was over it
        *(pytest.param(seed, 6.0, marks=pytest.mark.full) for seed in range(60)),
    ],
)
def test_nobody_leaps_among_moving_parts(seed, seconds):
    assert not leaps(seed, seconds)


@pytest.mark.parametrize("step", [0.1, 0.17, 0.2])
def test_a_block_put_into_a_box_presses_it_through_no_wall(step):
    floor = HeightMap(np.zeros((9, 9)), origin=(-4, 0, -4))
    wall = TriangleMesh([(0, 0, -3), (0, 6, -3), (0, 6, 3), (0, 0, 3)], [(0, 2, 1), (0, 3, 2)])
    ground = Ground([floor, wall])
    hero = CharacterMovement(ground, BODIES["box"], position=(-0.47, 0, 0))
    hero.update(1 / 60)
    block = ground.add(TriangleMesh.box((1.5, 1.25, 2.4)), transform=pose((-2, 1.45, 0)))
    for x in np.arange(-2, 0, step):
        ground.move(block, pose((x, 1.45, 0)))
        hero.update(1 / 60)
        assert hero.position.x < 0

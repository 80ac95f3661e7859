"""The planes that hold a character where its last update left it."""

import math

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)

pytestmark = pytest.mark.kernels

# Bodies, and how high their centers are above their feet.
BODIES = [
    (SphereCollider(0.5), 0.5),
    (CapsuleCollider(0.4, 1.8), 0.9),
    (BoxCollider((0.4, 0.6, 0.5)), 0.6),
]


def slope(rise, size=9):
    """Return ground that rises along x by so much a meter."""
    return HeightMap(np.tile(np.arange(size) * rise, (size, 1)))


def settle(mover, frames=70):
    for _ in range(frames):
        mover.update(1 / 60)
    return mover


@pytest.mark.parametrize(("collider", "half"), BODIES)
@pytest.mark.parametrize("rise", [0.0, 0.4, -0.3])
def test_on_a_slope_it_is_the_plane_of_the_slope(collider, half, rise):
    mover = CharacterMovement(slope(rise), collider, position=(4, 4 * rise + half + 1, 4))
    assert settle(mover).grounded
    before = mover.state_hash()
    planes = mover.constraint_planes()
    length = math.hypot(1.0, rise)
    # The plane y = rise * x: its normal, and no offset from the origin.
    np.testing.assert_allclose(planes, [[-rise / length, 1 / length, 0.0, 0.0]], atol=1e-4)
    assert mover.state_hash() == before


def test_in_the_air_there_are_none():
    mover = CharacterMovement(slope(0.0), SphereCollider(0.5), position=(4, 9, 4))
    mover.update(1 / 60)
    assert mover.constraint_planes().shape == (0, 4)
    assert mover.constraint_planes().dtype == np.float64


def test_between_two_slopes_there_are_two():
    heights = np.tile(np.abs(np.arange(9) - 4.0), (9, 1))
    mover = CharacterMovement(HeightMap(heights), SphereCollider(0.5), position=(4, 3, 4))
    planes = settle(mover).constraint_planes()
    root = math.sqrt(0.5)
    # y = |x - 4|: the left side's normal leads to the right.
    expected = [[-root, root, 0, -4 * root], [root, root, 0, 4 * root]]
    np.testing.assert_allclose(planes[np.argsort(planes[:, 0])], expected, atol=1e-4)


@pytest.mark.parametrize(("collider", "half"), BODIES)
def test_at_a_wall_there_are_ground_and_wall(collider, half):
    floor = [(-4, 1, -4), (-4, 1, 4), (4, 1, -4), (4, 1, 4)]
    wall = [(2, -1, -4), (2, -1, 4), (2, 6, -4), (2, 6, 4)]
    mesh = TriangleMesh(floor + wall, [(0, 1, 2), (2, 1, 3), (4, 5, 6), (6, 5, 7)])
    mover = settle(CharacterMovement(mesh, collider, position=(0, 1 + half, 0)))
    for _ in range(60):
        mover.velocity.x = 3
        mover.update(1 / 60)
    planes = mover.constraint_planes()
    expected = [[-1, 0, 0, -2], [0, 1, 0, 1]]
    np.testing.assert_allclose(planes[np.argsort(planes[:, 0])], expected, atol=1e-4)


def test_planes_touch_the_body_on_rough_ground():
    rng = np.random.default_rng(5)
    ground = HeightMap(rng.uniform(0, 1.5, (12, 12)), origin=(3e5, 20, -2e5))
    found = 0
    for k in range(12):
        x, z = rng.uniform(2, 9, 2)
        ball = CharacterMovement(
            ground, SphereCollider(0.6), position=(3e5 + x, 23, z - 2e5), seed=k
        )
        for _ in range(50):
            ball.update(1 / 60)
            planes = ball.constraint_planes()
            assert len(planes) <= 32
            away = planes[:, :3] @ ball.position64 - planes[:, 3]
            np.testing.assert_allclose(away, 0.6, atol=1.1e-4 + ball.update(0).penetration)
            np.testing.assert_allclose(np.linalg.norm(planes[:, :3], axis=1), 1.0, atol=1e-12)
            found += len(planes)
    assert found > 100


def test_members_of_a_group_have_the_same():
    rng = np.random.default_rng(6)
    ground = HeightMap(rng.uniform(0, 1.0, (9, 9)))
    group = CharacterGroup(ground, CapsuleCollider(0.4, 1.8))
    group.add("ada", (4, 3, 4), seed=2)
    alone = CharacterMovement(ground, CapsuleCollider(0.4, 1.8), position=(4, 3, 4), seed=2)
    for _ in range(70):
        group.update(1 / 60)
    settle(alone)
    planes = alone.constraint_planes()
    assert len(planes)
    np.testing.assert_array_equal(group["ada"].constraint_planes(), planes)

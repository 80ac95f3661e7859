"""Characters over whole seconds: the reference scene, walks, throws, ridges, rescue from below."""

import itertools
import math

import numpy as np
import pytest
from pyglm import glm

from demo.scenery.scenes import load_land, reference
from terrain_physics import BoxCollider, CharacterMovement, HeightMap, SphereCollider
from tests.helpers import penetration

FRAME = 1 / 60


def heights_of(land):
    return land.heights * np.float32(land.height_scale)


def depth_of(heights, *movers):
    """Return how deep the deepest of some bodies is in the ground."""
    balls = [m for m in movers if isinstance(m.collider, SphereCollider)]
    boxes = [m for m in movers if isinstance(m.collider, BoxCollider)]
    depths = [
        penetration.box_depth(
            heights,
            np.array(m.position64),
            m.collider.half_extents64,
            np.array(m.state().linear).reshape(3, 3),
        )
        for m in boxes
    ]
    if balls:
        centers, radii = [m.position64 for m in balls], [m.collider.radius for m in balls]
        depths.append(penetration.ball_depth(heights, centers, radii))
    return max(depths)


def run_to_rest(movers, heights, frames, check_every):
    """Update until nothing moves; return the frame, or None; assert that nothing sinks."""
    last = None
    for frame in range(frames):
        for mover in movers:
            mover.update(FRAME)
        if check_every and frame % check_every == 0:
            deepest = depth_of(heights, *movers)
            assert deepest <= 1e-3, f"{deepest} m below the surface in frame {frame}"
        now = [mover.position64 for mover in movers]
        if now == last and all(mover.velocity == glm.vec3(0) for mover in movers):
            return frame
        last = now
    return None


def check_reference_scene(steepness, seed, check_every):
    land = load_land(steepness)
    movers = reference(land, seed=seed, drop_from=20.0 * steepness)
    assert run_to_rest(movers, heights_of(land), 60 * 60, check_every) is not None
    at_rest = [mover.position64 for mover in movers]
    draws = [mover.state().random_state for mover in movers]
    assert all(mover.grounded for mover in movers)
    for _ in range(60 * 60):
        for mover in movers:
            mover.update(FRAME)
    assert [mover.position64 for mover in movers] == at_rest
    assert [mover.state().random_state for mover in movers] == draws
    assert all(mover.grounded for mover in movers)


@pytest.mark.parametrize(
    ("steepness", "check_every"),
    [(3.0, 16), *(pytest.param(steepness, 1, marks=pytest.mark.full) for steepness in (1.0, 3.0))],
)
def test_reference_scene_comes_to_rest_and_stays(steepness, check_every):
    check_reference_scene(steepness, seed=0, check_every=check_every)


@pytest.mark.long
@pytest.mark.parametrize("steepness", [1.0, 3.0])
@pytest.mark.parametrize("seed", range(1, 101))
def test_reference_scene_with_100_seeds(steepness, seed):
    check_reference_scene(steepness, seed=1000 * seed, check_every=1)


@pytest.mark.full
def test_reference_scene_with_another_seed():
    check_reference_scene(3.0, seed=1000, check_every=8)


@pytest.mark.parametrize("collider", [SphereCollider(0.5), BoxCollider((0.4, 0.9, 0.4))])
@pytest.mark.parametrize("turn", [0.0, 0.37])
def test_walk_over_flat_cells_neither_drifts_nor_trips(collider, turn):
    floor = HeightMap(np.zeros((100, 100)))
    stand = 0.5 if isinstance(collider, SphereCollider) else 0.9
    for k in range(16):
        angle = 2 * math.pi * k / 16
        along = np.array([math.cos(angle), math.sin(angle)])
        mover = CharacterMovement(
            floor,
            collider,
            position=(50.3, stand, 50.7),
            rotation=glm.quat(glm.vec3(0, turn, 0)),
        )
        for frame in range(1, 481):
            mover.velocity.x, mover.velocity.z = 4 * along
            assert mover.update(FRAME).grounded
            x, y, z = mover.position64
            walked = np.array([x - 50.3, z - 50.7])
            # The velocity the game writes is a vec3: its direction is off by up to 1e-7.
            assert abs(walked[0] * along[1] - walked[1] * along[0]) < 1e-4
            assert abs(walked @ along - 4 * frame * FRAME) < 1e-4
            assert abs(y - stand) < 1e-9


RIDGE_LEVELS = (20, 30, 45, 60, 75)


@pytest.mark.parametrize("degrees", RIDGE_LEVELS)
@pytest.mark.parametrize("along_z", [False, True])
def test_box_in_the_flank_of_a_ridge_is_moved_by_millimeters(degrees, along_z):
    slope = math.radians(degrees)
    fall = -np.abs(np.arange(41) - 20.0) * math.tan(slope)
    heights = np.tile(fall, (41, 1))
    ridge = HeightMap(heights.T if along_z else heights)
    size = 0.5
    for yaw, tilted, at, back in itertools.product(
        np.linspace(0.0, 1.5, 5), (False, True), (20.0, 20.3, 20.5), (0.05, 0.2, 0.4)
    ):
        turn = np.array(glm.mat3_cast(glm.quat(glm.vec3(0, yaw, 0))), dtype=float)
        if tilted:  # the bottom lies flat on the flank
            c, s = math.cos(slope), math.sin(slope)
            turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ turn
        normal = np.array([-math.sin(slope), math.cos(slope), 0.0])
        on_flank = np.array([20.0, 0.0, at]) - back * np.array([normal[1], -normal[0], 0.0])
        corner = (
            -turn @ np.where(np.abs(turn.T @ normal) > 1e-6, np.sign(turn.T @ normal), 0) * size
        )
        center = on_flank - corner - 0.003 * normal
        if along_z:  # the same seen in a mirror: x and z change places
            swap = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
            turn, center = swap @ turn @ swap, swap @ center
        mover = CharacterMovement(
            ridge, BoxCollider((size, size, size)), position=center, rotation=turn, gravity=0.0
        )
        mover.update(FRAME)
        moved = np.linalg.norm(np.array(mover.position64) - center)
        assert 0.0029 < moved < 0.0032, (degrees, yaw, tilted, at, back)


@pytest.mark.parametrize("collider", [SphereCollider(0.5), BoxCollider((0.4, 0.9, 0.4))])
@pytest.mark.parametrize("below", [0.3, 2.0, 10.0])
@pytest.mark.parametrize("steepness", [1.0, 3.0])
def test_center_below_the_surface_comes_back_above(collider, below, steepness):
    land = load_land(steepness)
    heights = heights_of(land)
    for x, z in ((60.3, 60.8), (200.0, 300.5), (411.9, 77.1)):
        start = (x, land.height_at(x, z) - below, z)
        mover = CharacterMovement(land, collider, position=start)
        frames = 2 if below == 0.3 else 30
        lifts: list[float] = []
        while not lifts or not mover.update(0.0).converged:
            lifts.append(mover.update(FRAME).lifted)
        assert len(lifts) <= frames
        assert sum(lifts) > below - 1e-9
        assert max(lifts) <= 1.5  # half a meter a frame, and at last all of the body
        assert depth_of(heights, mover) <= 1e-3
        for _ in range(60):
            mover.update(FRAME)
            assert depth_of(heights, mover) <= 1e-3


@pytest.mark.parametrize("speed", [50.0, 200.0, 1000.0])
def test_thrown_bodies_never_go_below_the_surface(speed):
    land = load_land(3.0)
    heights = heights_of(land)
    rng = np.random.default_rng(int(speed))
    for k in range(12):
        x, z = rng.uniform(100, 400, 2)
        collider = SphereCollider(0.5) if k % 2 else BoxCollider(rng.uniform(0.3, 1.0, 3))
        mover = CharacterMovement(land, collider, position=(x, land.height_at(x, z) + 20, z))
        direction = rng.normal(size=3)
        direction[1] = -abs(direction[1]) - 0.2
        mover.velocity = direction * (speed / np.linalg.norm(direction))
        for _ in range(45):
            mover.update(1 / 30)
            assert depth_of(heights, mover) <= 1e-3


def test_a_ball_whose_center_lies_on_the_surface_comes_out():
    rng = np.random.default_rng(8)
    land = HeightMap(rng.uniform(0, 2, (30, 30)), height_scale=0.37)
    for x, z in rng.uniform(2, 27, (300, 2)):
        mover = CharacterMovement(
            land, SphereCollider(0.3), position=(x, land.height_at(x, z), z), gravity=0.0
        )
        mover.update(FRAME)
        assert depth_of(heights_of(land), mover) <= 1e-3


def test_a_pole_deep_in_rough_ground_comes_out():
    land = HeightMap(np.random.default_rng(0).uniform(0, 0.3, (40, 40)))
    rng = np.random.default_rng(1)
    for _ in range(60):
        turn = rng.normal(size=4)
        mover = CharacterMovement(
            land,
            BoxCollider((0.06, 3, 0.06)),
            position=rng.uniform((10, 0.3, 10), (30, 2, 30)),
            rotation=glm.quat(*(turn / np.linalg.norm(turn))),
        )
        assert mover.update(FRAME).converged
        assert depth_of(heights_of(land), mover) <= 1e-3


def test_a_long_body_is_not_pushed_farther_than_it_must():
    heights = [
        [5.6, 4.59, 5.61, 5.23, 2.36, 0.01],
        [2.14, 0.36, 5.6, 1.41, 2.4, 0.22],
        [5.4, 3.51, 5.78, 4.69, 0.96, 0.57],
        [4.28, 4.89, 4.76, 0.98, 2.71, 4.51],
        [3.93, 4.87, 3.65, 4.24, 2.85, 0.8],
        [0.62, 3.39, 5.94, 0.78, 0.53, 2.78],
    ]
    start = np.array([3.073, 5.139, 1.336])
    mover = CharacterMovement(
        HeightMap(heights),
        BoxCollider((0.12, 0.16, 2)),
        position=start,
        rotation=glm.quat(glm.vec3(1.31, 0.54, 0.89)),
        gravity=0.0,
    )
    mover.update(FRAME)
    assert np.linalg.norm(np.array(mover.position64) - start) < 0.05


@pytest.mark.parametrize("count", [4, pytest.param(24, marks=pytest.mark.full)])
def test_rough_ground_with_slopes_of_80_degrees_leaves_no_penetration(count):
    rng = np.random.default_rng(3)
    heights = rng.uniform(0.0, 6.0, (40, 40)).astype(np.float32)
    land = HeightMap(heights)
    for k in range(count):
        collider = (
            SphereCollider(rng.uniform(0.2, 2)) if k % 2 else BoxCollider(rng.uniform(0.2, 2, 3))
        )
        turn = rng.normal(size=4)
        mover = CharacterMovement(
            land,
            collider,
            position=(*rng.uniform(5, 34, 1), 8.0, *rng.uniform(5, 34, 1)),
            rotation=glm.quat(*(turn / np.linalg.norm(turn))),
            seed=k,
        )
        for _ in range(240):
            result = mover.update(FRAME)
            assert result.converged
            assert depth_of(heights, mover) <= 1e-3

"""Random bodies on random ground at random speeds: nothing sinks, nothing breaks."""

import math

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import BoxCollider, CharacterMovement, HeightMap, SphereCollider
from tests import penetration


def random_story(seed, *, holes):
    """Run 40 updates; return the greatest depth of any sample in any frame."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(2, 40, 2)
    roughness = 10 ** rng.uniform(-2, 1.2)
    heights = rng.uniform(0, roughness, (rows, columns))
    if rng.random() < 0.3:
        heights = np.cumsum(rng.normal(0, roughness / 3, (rows, columns)), axis=0)
    heights = heights.astype(np.float32)
    top = float(heights.max())
    if holes:
        heights[rng.random((rows, columns)) < 0.1] = np.nan
    is_box = rng.random() < 0.5
    size = 10 ** rng.uniform(-1.3, 0.7, 3) if is_box else np.full(3, 10 ** rng.uniform(-1.3, 1))
    turn = rng.normal(size=4)
    turn /= np.linalg.norm(turn)
    mover = CharacterMovement(
        HeightMap(heights),
        BoxCollider(size) if is_box else SphereCollider(size[0]),
        position=(rng.uniform(0, columns - 1), top + 1.8 * size.max(), rng.uniform(0, rows - 1)),
        rotation=glm.quat(*turn) if rng.random() < 0.7 else None,
        seed=seed,
        slope_limit=rng.uniform(0, 1.5),
        ground_rule=rng.choice(["contact", "sum"]).item(),
    )
    rotation = np.array(mover.rotation, dtype=np.float64)
    mover.velocity = rng.normal(size=3) * 10 ** rng.uniform(-1, 3)
    delta_time = rng.choice([1 / 240, 1 / 60, 1 / 30, 0.1, 0.5]).item()
    deepest = -math.inf
    for _ in range(40):
        if rng.random() < 0.2:
            mover.velocity = rng.normal(size=3) * 10 ** rng.uniform(-1, 2)
        result = mover.update(delta_time)
        center = np.array(mover.position64)
        assert np.isfinite(center).all()
        assert np.isfinite(mover.velocity).all()
        assert result.lifted >= 0.0
        if not holes:
            assert result.converged
            depth = (
                penetration.box_depth(heights, center, size, rotation)
                if is_box
                else penetration.ball_depth(heights, center, size[0])
            )
            deepest = max(deepest, depth)
    return deepest


@pytest.mark.parametrize("seed", range(60))
def test_random_bodies_on_random_ground(seed):
    assert random_story(seed, holes=False) <= 1e-3
    random_story(seed, holes=True)


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_many_random_bodies_on_random_ground(block):
    for seed in range(1000 * (block + 1), 1000 * (block + 2)):
        assert random_story(seed, holes=False) <= 1e-3, seed
        random_story(seed, holes=True)

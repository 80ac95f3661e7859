"""Random bodies on random ground at random speeds: nothing sinks, nothing breaks."""

import math

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import BoxCollider, CharacterMovement, HeightMap, SphereCollider
from tests.helpers import penetration
from tests.helpers.examples import rest_is_full


def random_story(seed, *, holes):
    """Run 40 updates; return the greatest depth of any sample in any frame, in cells.

    The story is thought up on cells of 1 m at the origin, and told on cells of ``cell`` anywhere.
    """
    rng = np.random.default_rng(seed)
    cell = rng.choice([0.1, 1.0, 30.0]).item()
    origin = rng.choice([0.0, 1e6]).item() * np.array([1.0, 0.0, -1.0])
    rows, columns = rng.integers(2, 40, 2)
    roughness = 10 ** rng.uniform(-2, 1.2)
    heights = rng.uniform(0, roughness, (rows, columns))
    if rng.random() < 0.3:
        heights = np.cumsum(rng.normal(0, roughness / 3, (rows, columns)), axis=0)
    heights = heights.astype(np.float32)
    heights_low, top = float(heights.min()), float(heights.max())
    if holes:
        heights[rng.random((rows, columns)) < 0.1] = np.nan
    is_box = rng.random() < 0.5
    size = 10 ** rng.uniform(-1.3, 0.7, 3) if is_box else np.full(3, 10 ** rng.uniform(-1.3, 1))
    turn = rng.normal(size=4)
    turn /= np.linalg.norm(turn)
    mover = CharacterMovement(
        HeightMap(heights, cell_size=cell, height_scale=cell, origin=origin),
        BoxCollider(size * cell) if is_box else SphereCollider(size[0] * cell),
        position=origin + cell * rng.uniform((0, top, 0), (columns - 1, top + 20, rows - 1)),
        rotation=glm.quat(*turn) if rng.random() < 0.7 else None,
        seed=seed,
        slope_limit=rng.uniform(0, 1.5),
        ground_rule=rng.choice(["contact", "sum"]).item(),
        max_delta=1.0,
    )
    rotation = np.array(mover.rotation, dtype=np.float64)
    mover.velocity = rng.normal(size=3) * cell * 10 ** rng.uniform(-1, 3)
    delta_time = rng.choice([1 / 240, 1 / 60, 1 / 30, 0.1, 0.5]).item()
    deepest, below = -math.inf, False
    for _ in range(40):
        if rng.random() < 0.2:
            mover.velocity = rng.normal(size=3) * cell * 10 ** rng.uniform(-1, 2)
        if rng.random() < 0.05:  # anywhere, also deep in the ground
            low, high = (0, heights_low - size.max(), 0), (columns - 1, top + size.max(), rows - 1)
            mover.position = origin + cell * rng.uniform(low, high)
            below = True
        if is_box and rng.random() < 0.05:
            turn = rng.normal(size=4)
            mover.rotation = glm.quat(*(turn / np.linalg.norm(turn)))
            rotation = np.array(mover.rotation, dtype=np.float64)
        result = mover.update(delta_time)
        assert np.isfinite(mover.position64).all()
        center = (np.array(mover.position64) - origin) / cell
        assert np.isfinite(mover.velocity.to_tuple()).all()
        assert result.lifted >= 0.0
        if below and not result.converged:
            # On its way up, if that is not too much work and there is a way.
            assert result.lifted > 0.0 or result.limited_by in ("work", "room" if holes else "work")
            continue
        below = False
        if not holes:
            assert result.converged or result.limited_by == "work"
            depth = (
                penetration.box_depth(heights, center, size, rotation)
                if is_box
                else penetration.ball_depth(heights, center, size[0])
            )
            deepest = max(deepest, depth)
    return deepest


@pytest.mark.parametrize("seed", rest_is_full(range(60), 6))
def test_random_bodies_on_random_ground(seed):
    assert random_story(seed, holes=False) <= 1e-3
    random_story(seed, holes=True)


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_many_random_bodies_on_random_ground(block):
    for seed in range(1000 * (block + 1), 1000 * (block + 2)):
        assert random_story(seed, holes=False) <= 1e-3, seed
        random_story(seed, holes=True)

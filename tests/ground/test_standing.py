"""Ground made of several parts behaves as one."""

import itertools
import math
import pickle

import numpy as np
import pytest

from demo.scenery.scenes import load_land
from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics.character.colliders import Collider

COLLIDERS: list[Collider] = [
    SphereCollider(0.5),
    CapsuleCollider(0.4, 1.8),
    BoxCollider((0.4, 0.9, 0.4)),
]
FRAME = 1 / 60


def rough(rows=41, columns=61, seed=3):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(0, 0.1, (rows, columns)), axis=1)


def tiles(heights, row_cuts, column_cuts, **options):
    """Cut a map into maps that share border lines."""
    parts = []
    for row_0, row_1 in itertools.pairwise(row_cuts):
        for column_0, column_1 in itertools.pairwise(column_cuts):
            parts.append(
                HeightMap(
                    heights[row_0 : row_1 + 1, column_0 : column_1 + 1],
                    origin=(column_0 * 0.75, 0, row_0 * 0.75),
                    cell_size=0.75,
                    border="open",
                    **options,
                )
            )
    return parts


def walk(mover, frames=400):
    for frame in range(frames):
        mover.velocity.x = 4 * math.cos(frame / 60)
        mover.velocity.z = 4 * math.sin(frame / 60)
        if frame % 90 == 70:
            mover.velocity.y = 5
        mover.update(FRAME)
    return mover


@pytest.mark.parametrize("collider", COLLIDERS)
@pytest.mark.parametrize("diagonal", ["a-c", "shortest"])
def test_maps_that_share_borders_are_one_map_to_the_last_bit(collider, diagonal):
    heights = rough()
    whole = HeightMap(heights, cell_size=0.75, border="open", diagonal=diagonal)
    ground = Ground(tiles(heights, (0, 13, 40), (0, 20, 33, 60), diagonal=diagonal))
    one = walk(CharacterMovement(whole, collider, position=(18, 4, 10), seed=1))
    other = walk(CharacterMovement(ground, collider, position=(18, 4, 10), seed=1))
    assert one.position64 == other.position64
    assert one.velocity == other.velocity
    assert one.position64[1] > -10


def test_edits_of_a_part_are_edits_of_the_ground():
    heights = rough()
    whole = HeightMap(heights, cell_size=0.75, border="open")
    parts = tiles(heights, (0, 13, 40), (0, 20, 33, 60))
    ground = Ground(parts)
    movers = [
        walk(CharacterMovement(land, SphereCollider(0.5), position=(18, 4, 10)), 60)
        for land in (whole, ground)
    ]
    whole[14:20, 22:30] += 1.5
    parts[4][1:7, 2:10] += 1.5
    whole.holes[5:7, 5:9] = True
    parts[0].holes[5:7, 5:9] = True
    one, other = (walk(mover) for mover in movers)
    assert one.position64 == other.position64


def test_a_bridge_over_a_valley():
    valley = HeightMap(np.full((20, 20), -5.0))
    bridge = TriangleMesh([(2, 0, 8), (2, 0, 12), (18, 0, 8), (18, 0, 12)], [(0, 1, 2), (1, 3, 2)])
    ground = Ground([valley, bridge])
    for collider in COLLIDERS:
        over = CharacterMovement(ground, collider, position=(4, 1, 10))
        under = CharacterMovement(ground, collider, position=(4, -3.5, 10))
        heights = []
        for _ in range(150):
            for mover in (over, under):
                mover.velocity.x = 4
                heights.append(mover.update(FRAME).grounded)
        assert over.position.y > 0
        assert -5 < under.position.y < -3.5
        assert over.position.x > 10
        assert under.position.x > 10
        assert all(heights[100:])
        for _ in range(200):
            over.velocity.x = 4
            over.update(FRAME)
        assert over.position.y < -3.5  # off the end of the bridge


def test_walking_from_a_map_onto_a_mesh_at_the_same_height_is_no_bump():
    land = HeightMap(np.zeros((11, 11)), border="open")
    x, z = np.meshgrid(np.arange(10.0, 21.0), np.arange(0.0, 11.0))
    vertices = np.stack([x, 0 * x, z], axis=-1).reshape(-1, 3)
    d = (np.arange(10)[:, None] * 11 + np.arange(10)).ravel()
    faces = np.concatenate([np.stack([d + 11, d + 12, d + 1], 1), np.stack([d + 11, d + 1, d], 1)])
    ground = Ground([land, TriangleMesh(vertices, faces)])
    for collider in COLLIDERS:
        mover = CharacterMovement(ground, collider, position=(6, 1.2, 5))
        for _ in range(60):
            mover.update(FRAME)
        start = mover.position64
        for _ in range(120):
            mover.velocity.x = 4
            assert mover.update(FRAME).grounded
        end = mover.position64
        assert end[0] - start[0] == pytest.approx(8, abs=1e-9)
        assert end[1] == pytest.approx(start[1], abs=1e-9)
        assert end[2] == pytest.approx(start[2], abs=1e-9)


def test_a_single_map_keeps_its_border_and_a_copy_is_the_same_ground():
    land = load_land()
    ground = Ground([land])
    one = CharacterMovement(land, SphereCollider(0.5), position=(-30, 20, -30))
    other = CharacterMovement(ground, SphereCollider(0.5), position=(-30, 20, -30))
    copy = pickle.loads(pickle.dumps(other))
    for mover in (one, other, copy):
        walk(mover, 300)
    assert one.position64 == other.position64 == copy.position64
    x, y, z = one.position64
    assert x < 0
    assert y > land.height_at(x, z)


def test_what_is_no_part_is_refused():
    with pytest.raises(ValueError, match="parts must hold at least one"):
        Ground([])
    with pytest.raises(TypeError, match=r"parts must be a sequence .*, got 3"):
        Ground(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"got a mapping: did you mean Ground\(.*names="):
        Ground({"land": HeightMap([[0, 0], [0, 0]])})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"parts\[1\] must be a HeightMap or a TriangleMesh"):
        Ground([load_land(), 3])  # type: ignore[list-item]

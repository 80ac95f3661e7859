"""A land of 32,768 x 32,768 cells: walked over borders and corners, dug, and opened again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import AABB, CapsuleCollider, CharacterMovement, HeightMap, TiledGround

SIDE, TILES = 256, 128
THERE = (100, 60)
"""The first of three rows and three columns of tiles; all others are absent."""
X, Z = SIDE * THERE[1], SIDE * THERE[0]
BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))


def heights(row: int, column: int, count: int = SIDE + 1) -> NDArray[np.float32]:
    """Return samples from the first one of a tile on."""
    z, x = np.mgrid[:count, :count]
    x, z = x + SIDE * column, z + SIDE * row
    hills = 9.0 * np.sin(x / 31.0) * np.cos(z / 43.0) + 0.7 * np.sin(x / 3.0 + z / 5.0)
    return np.asarray(hills, dtype=np.float32)


def made(row: int, column: int) -> NDArray[np.float32] | None:
    there = THERE[0] <= row < THERE[0] + 3 and THERE[1] <= column < THERE[1] + 3
    return heights(row, column) if there else None


@pytest.fixture(scope="module")
def path(tmp_path_factory: Any) -> Path:
    file: Path = tmp_path_factory.mktemp("large") / "land.tiles"
    TiledGround.make(file, made, tile=SIDE, size=(TILES, TILES), thickness=50.0)
    assert file.stat().st_size < 3_000_000
    return file


def one_map() -> HeightMap:
    return HeightMap(heights(*THERE, 3 * SIDE + 1), origin=(X, 0, Z), border="open", thickness=50.0)


def walk(ground: Any, frames: int, start: tuple[float, float], speed: tuple[float, float]) -> Any:
    """Return the places of a walk."""
    x, z = X + start[0], Z + start[1]
    if isinstance(ground, TiledGround):
        ground.load_now(AABB((x, 0, z), (x, 0, z)))
    hero = CharacterMovement(ground, BODY, position=(x, ground.height_at(x, z) + 0.1, z))
    places = []
    for _ in range(frames):
        if isinstance(ground, TiledGround):
            ground.keep_near([hero], radius=40.0, unload=60.0)
            ground.load_some()
        hero.walk(*speed)
        hero.update(1 / 60)
        x, y, z = hero.position64
        assert not y < ground.height_at(x, z) - 1e-3
        places.append((x, y, z))
    return places


def test_a_walk_over_a_corner_and_an_edit_there_last(path: Path, tmp_path: Path) -> None:
    edits = tmp_path / "game.edits"
    corner, one = (SIDE - 3.0, SIDE - 3.0), one_map()
    with TiledGround.open(path, edits=edits) as land:
        assert land.cell_count == (TILES * SIDE, TILES * SIDE)
        assert not land.loaded
        assert walk(land, 90, corner, (5.0, 5.0)) == walk(one, 90, corner, (5.0, 5.0))
        assert len(land.loaded) == 4
        for ground in (land, one):
            ground.carve((X + SIDE, Z + SIDE), 6.0, 4.0)
        assert walk(land, 90, corner, (5.0, 5.0)) == walk(one, 90, corner, (5.0, 5.0))
        land.sync()
    with TiledGround.open(path, edits=edits) as land:
        assert land.edited == {(THERE[0] + i, THERE[1] + j) for i in (0, 1) for j in (0, 1)}
        assert not land.loaded
        assert walk(land, 90, corner, (5.0, 5.0)) == walk(one, 90, corner, (5.0, 5.0))


def test_where_there_is_no_tile_the_land_ends(path: Path) -> None:
    with TiledGround.open(path) as land:
        edge = (3 * SIDE - 3.0, 100.0)
        assert np.isnan(land.height_at(X + 3 * SIDE + 1.0, Z + 100.0))
        places = walk(land, 120, edge, (6.0, 0.0))
        assert places == walk(one_map(), 120, edge, (6.0, 0.0))
        assert places[-1][1] < -10.0  # it fell off


@pytest.mark.full
def test_a_long_walk_is_that_over_one_map(path: Path) -> None:
    """At 60 m/s: all tiles are loaded and let go many times, and nobody waits."""
    rng = np.random.default_rng(5)
    one = one_map()
    with TiledGround.open(path) as land:
        for _ in range(12):
            start = tuple(rng.uniform(50.0, 3 * SIDE - 50.0, 2).tolist())
            goal = rng.uniform(50.0, 3 * SIDE - 50.0, 2)
            way = goal - start
            speed = tuple((60.0 * way / np.hypot(*way)).tolist())
            frames = int(60 * np.hypot(*way) / 60.0)
            assert walk(land, frames, start, speed) == walk(one, frames, start, speed)
        assert land.waits == 0

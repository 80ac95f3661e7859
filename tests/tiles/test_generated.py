"""Tiles that a function makes: the same land as in a file, and what they refuse."""

import pickle
from typing import Any

import numpy as np
import pytest

from terrain_physics import AABB, GeneratedTiles, Tile, TiledGround

SIDE = 64
SIZE = (3, 4)
NEAR, THERE = AABB((1, 0, 1), (65, 0, 65)), AABB((150, 0, 100), (151, 0, 101))


def hills(row: int, column: int) -> Any:
    z, x = np.mgrid[: SIDE + 1, : SIDE + 1]
    return 3.0 * np.sin((x + column * SIDE) / 20.0) * np.cos((z + row * SIDE) / 30.0)


def generated(function: Any = hills, **options: Any) -> GeneratedTiles:
    given: dict[str, Any] = {
        "size": SIZE,
        "tile": SIDE,
        "heights": (-3, 3),
        "name": "hills",
    } | options
    return GeneratedTiles(function, **given)


def test_it_is_the_land_that_a_file_would_hold(tmp_path: Any) -> None:
    path = tmp_path / "hills.tiles"
    options: dict[str, Any] = {
        "cell_size": 2.0,
        "height_scale": 0.5,
        "origin": (10, 5, -20),
        "first": (7, -2),
    }
    TiledGround.make(path, hills, size=SIZE, tile=SIDE, **options)
    with TiledGround.open(path) as stored, TiledGround.open(generated(**options)) as made:
        assert made.cell_count == stored.cell_count == (3 * SIDE, 4 * SIDE)
        for land in (stored, made):
            land.load_now(land.bounds)
        x, z = np.random.default_rng(1).uniform(0, 1, (2, 500)) * [[500], [380]] + [[10], [-20]]
        np.testing.assert_array_equal(made.height_at(x, z), stored.height_at(x, z))
        assert made.loaded == stored.loaded
        assert min(made.loaded) == (7, -2)


def test_a_tile_has_holes_and_materials() -> None:
    def made(row: int, column: int) -> Tile:
        holes = np.zeros((SIDE, SIDE), np.bool_)
        holes[3, 5] = True
        return Tile(hills(row, column), holes=holes, materials=np.full((SIDE, SIDE), "sand"))

    with TiledGround.open(generated(made, material_names=("grass", "sand"), thickness=2)) as land:
        land.load_now(NEAR)
        assert np.isnan(land.height_at(5.5, 3.5))
        tile = land.tile(0, 0)
        assert tile is not None
        assert (np.asarray(tile.materials) == 1).all()


def test_edits_stay_and_are_of_this_land_alone(tmp_path: Any) -> None:
    edits = tmp_path / "game.edits"
    with TiledGround.open(generated(), edits=edits) as land:
        land.carve((SIDE, SIDE), 5.0, 1.0)
        dug = land.height_at(SIDE, SIDE)
    with TiledGround.open(generated(), edits=edits) as land:
        assert land.edited == {(0, 0), (0, 1), (1, 0), (1, 1)}
        land.load_now(NEAR)
        assert land.height_at(SIDE, SIDE) == dug
    with pytest.raises(ValueError, match=r"game\.edits"):
        TiledGround.open(generated(name="other hills"), edits=edits)


def test_copies_make_their_tiles_anew() -> None:
    with TiledGround.open(generated()) as land:
        land.carve((20, 20), 5.0, 1.0)
        again = pickle.loads(pickle.dumps(land))
        for one in (land, again):
            one.load_now(one.bounds)
        assert again.height_at(20, 20) == land.height_at(20, 20)
        assert again.height_at(100, 150) == land.height_at(100, 150)
        again.close()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"function": 3}, "function must be callable, got 3"),
        ({"size": 4}, "size must be"),
        ({"size": (4, 4, 4)}, r"size must be \(rows, columns\) of tiles, got \(4, 4, 4\)"),
        ({"size": (0, 4)}, "size must be from 1 to 1048576, got 0"),
        ({"tile": 100}, "tile must be a multiple of 64"),
        ({"heights": (3, -3)}, r"heights must be \(least, greatest\), got \(3, -3\)"),
        ({"heights": (3,)}, r"heights must be \(least, greatest\)"),
        ({"heights": (0, np.nan)}, r"heights must be from -1e\+38 to 1e\+38, got nan"),
        ({"heights": (-3e38, 0)}, r"heights must be from -1e\+38 to 1e\+38, got -3e\+38"),
        ({"height_scale": 1e38}, r"height_scale and origin.y must keep heights below 1e\+38 m"),
        ({"name": 4}, "name must be a string, got 4"),
        ({"thickness": 0}, "thickness must be"),
        ({"cell_size": -1}, "cell_size must be"),
    ],
)
def test_what_it_refuses(options: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        generated(**options)


def failing(row: int, column: int) -> Any:
    raise RuntimeError("no noise")


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda _row, _column: np.zeros((5, 5)), r"tile \(1, 2\): heights must have shape"),
        (lambda _row, _column: "no", r"tile \(1, 2\)"),
        (lambda _row, _column: None, r"tile \(1, 2\): function must return samples, got None"),
        (lambda _row, _column: np.full((65, 65), 4.0), r"tile \(1, 2\): heights must be from -3.0"),
        (lambda _row, _column: np.full((65, 65), np.inf), r"tile \(1, 2\): heights must"),
        (lambda _row, _column: np.full((65, 65), -3e38), r"tile \(1, 2\): .* below 1e\+38 m"),
        (
            lambda r, c: Tile(hills(r, c), diagonals=np.zeros((64, 64), np.bool_)),
            r"tile \(1, 2\): diagonals must be left out",
        ),
    ],
)
def test_tiles_that_are_none_are_refused_by_name(function: Any, error: str) -> None:
    with TiledGround.open(generated(function)) as land, pytest.raises(ValueError, match=error):
        land.load_now(THERE)


def test_what_a_function_raises_names_the_tile() -> None:
    error = r"tile \(1, 2\) cannot be read: .*no noise"
    with TiledGround.open(generated(failing)) as land, pytest.raises(RuntimeError, match=error):
        land.load_now(THERE)


def test_heights_at_the_end_of_the_range_are_in_it() -> None:
    """What is no number of float32 is rounded outward."""
    with TiledGround.open(
        generated(lambda _row, _column: np.full((65, 65), 0.1), heights=(0.1, 0.1))
    ) as land:
        land.load_now(NEAR)
        assert land.height_at(3.0, 4.0) == pytest.approx(0.1)


@pytest.mark.parametrize("count", range(1, 6))
def test_what_is_ready_at_the_rim_is_there(count: int) -> None:
    """Also where cells are no whole numbers, and the rim is not where it is computed to be."""
    tiles = generated(
        lambda _row, _column: np.zeros((65, 65)),
        size=(count, count), cell_size=(1 / 3, 0.37), origin=(1e5, 0, 1e5),
    )  # fmt: skip
    with TiledGround.open(tiles) as whole:
        x, z = (1e5 + count * SIDE * size for size in whole.cell_size)
        places = [(x, 1e5 + 1), (1e5 + 1, z), (x, z), (x, 1e5), (1e5, z), (1e5, 1e5)]
        known = [whole.height_at(*place) for place in places]
    for (x, z), height in zip(places, known, strict=True):
        with TiledGround.open(tiles, missing="wait") as land:
            land.load_now(AABB((x, 0, z), (x, 0, z)))
            assert land.height_at(x, z) == pytest.approx(height, nan_ok=True), (x, z)

"""Edits of a land of tiles: laid over tiles, kept in a file, merged."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap.grid import CELL_HOLE
from terrain_physics.heightmap.survey import survey
from terrain_physics.tiles.edits import EditStore
from terrain_physics.tiles.making import make_tiles
from terrain_physics.tiles.tile_file import TileFile

SIDE = 64


@pytest.fixture
def tiles(tmp_path: Path) -> TileFile:
    """3 x 4 tiles, of which one is absent."""
    rng = np.random.default_rng(7)
    whole = rng.normal(size=(3 * SIDE + 1, 4 * SIDE + 1)).astype(np.float32)

    def source(row: int, column: int) -> NDArray[np.float32] | None:
        if (row, column) == (1, 2):
            return None
        return whole[row * SIDE : (row + 1) * SIDE + 1, column * SIDE : (column + 1) * SIDE + 1]

    make_tiles(tmp_path / "land.tiles", source, tile=SIDE, size=(3, 4))
    return TileFile.open(tmp_path / "land.tiles")


class Oracle:
    """The whole land as arrays."""

    def __init__(self, tiles: TileFile) -> None:
        self._tiles = tiles
        rows, columns = tiles.shape.rows * SIDE, tiles.shape.columns * SIDE
        self.heights = np.full((rows + 1, columns + 1), np.nan, np.float32)
        self.holes = np.zeros((rows, columns), np.uint8)
        self.materials = np.zeros((rows, columns), np.uint8)
        for number in np.flatnonzero(tiles.exists).tolist():
            row, column = divmod(number, tiles.shape.columns)
            here = slice(row * SIDE, row * SIDE + SIDE + 1)
            self.heights[here, column * SIDE : column * SIDE + SIDE + 1] = tiles.read(
                number
            ).heights

    def edit(self, what: str, place: tuple[slice, slice], values: NDArray[Any]) -> None:
        getattr(self, what)[place] = values

    def check(self, store: EditStore, number: int) -> None:
        row, column = divmod(number, self._tiles.shape.columns)
        rows, columns = (
            slice(row * SIDE, row * SIDE + SIDE),
            slice(column * SIDE, column * SIDE + SIDE),
        )
        tile = store.apply(self._tiles.read(number))
        for again in range(2):
            samples = self.heights[rows.start : rows.stop + 1, columns.start : columns.stop + 1]
            assert tile.heights.tobytes() == np.ascontiguousarray(samples).tobytes()
            assert tile.blocks.tobytes() == survey(tile.heights).blocks.tobytes()
            zeros = np.zeros((SIDE, SIDE), np.uint8)
            bits = zeros if tile.cells is None else tile.cells
            assert np.array_equal(bits, self.holes[rows, columns] * CELL_HOLE)
            made = zeros if tile.materials is None else tile.materials
            assert np.array_equal(made, self.materials[rows, columns])
            if not again:
                tile = store.apply(tile)  # over what it has already


def drawn(rng: np.random.Generator) -> tuple[Any, tuple[slice, slice], NDArray[Any]]:
    what = ("heights", "holes", "materials")[int(rng.integers(3))]
    line = what == "heights"
    row, column = int(rng.integers(3 * SIDE)), int(rng.integers(4 * SIDE))
    stop = (
        min(row + int(rng.integers(1, 90)), 3 * SIDE + line),
        min(column + int(rng.integers(1, 90)), 4 * SIDE + line),
    )
    place = slice(row, stop[0]), slice(column, stop[1])
    size = stop[0] - row, stop[1] - column
    if what == "heights":
        values = rng.normal(size=size).astype(np.float32)
        values[rng.random(size) < 0.01] = np.nan
        return what, place, values
    return what, place, rng.integers(0, 2 if what == "holes" else 256, size).astype(np.uint8)


def edited(tiles: TileFile, store: EditStore, count: int, seed: int = 1) -> Oracle:
    rng, oracle = np.random.default_rng(seed), Oracle(tiles)
    for _ in range(count):
        edit = drawn(rng)
        store.add(*edit)
        oracle.edit(*edit)
    return oracle


def check_all(tiles: TileFile, store: EditStore, oracle: Oracle) -> None:
    for number in np.flatnonzero(tiles.exists).tolist():
        oracle.check(store, number)


def test_edits_are_laid_over_every_tile_that_shares_them(tiles: TileFile, tmp_path: Path) -> None:
    for path in (None, tmp_path / "save.edits"):
        store = EditStore.open(path, tiles)
        oracle = edited(tiles, store, 60)
        check_all(tiles, store, oracle)
        store.close()
    again = EditStore.open(tmp_path / "save.edits", tiles)
    check_all(tiles, again, oracle)
    again.compact()
    check_all(tiles, again, oracle)
    contents = again.contents()
    again.close()
    other = EditStore.open(None, tiles)
    other.replace(contents)
    check_all(tiles, other, oracle)
    assert other.contents() == contents

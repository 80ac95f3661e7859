"""Files of tiles are made of arrays and functions, whole or not at all, in bounded memory."""

import os
import re
import sys
import tracemalloc
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import HeightMap
from terrain_physics._kernels.heightmap import grid
from terrain_physics._kernels.heightmap.grid import CELL_FLIPPED, CELL_HOLE
from terrain_physics.tiles.making import make_tiles
from terrain_physics.tiles.samples import Tile
from terrain_physics.tiles.tile_file import TileFile
from tests.helpers import forks
from tests.helpers.tile_files import cut, parts_of

SIDE = 64


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "land.tiles"


def drawn(rows: int, columns: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)


def whole_of(path: Path) -> NDArray[np.float32]:
    """Return all samples of a file; NaN where tiles are absent."""
    tiles = TileFile.open(path)
    side, rows, columns = tiles.shape[:3]
    whole = np.full((rows * side + 1, columns * side + 1), np.nan, np.float32)
    for number in np.flatnonzero(tiles.exists).tolist():
        row, column = (side * place for place in divmod(number, columns))
        whole[row : row + side + 1, column : column + side + 1] = tiles.read(number).heights
    return whole


def as_loaded(samples: Any) -> NDArray[np.float32]:
    """Return the samples that a HeightMap of them has."""
    return np.asarray(HeightMap(samples), dtype=np.float32)


def mentions(*parts: str) -> str:
    """Return a pattern of a text that has these parts, in order."""
    return "(?s)" + ".*".join(map(re.escape, parts))


@pytest.mark.parametrize("shape", [(129, 193), (130, 193), (128, 66), (2, 2), (65, 300)])
def test_an_array_is_cut_and_holes_fill_the_far_border(path: Path, shape: tuple[int, int]) -> None:
    samples = drawn(*shape)
    samples[1, 1] = np.nan
    make_tiles(path, samples, tile=SIDE)
    found = whole_of(path)
    assert np.array_equal(found[: shape[0], : shape[1]], samples, equal_nan=True)
    assert np.isnan(found[shape[0] :]).all()
    assert np.isnan(found[:, shape[1] :]).all()
    assert TileFile.open(path).exists.shape == tuple(-(-(count - 1) // SIDE) for count in shape)


def test_a_function_is_asked_once_for_each_tile_row_by_row(path: Path) -> None:
    samples, asked, told = drawn(129, 193), list[tuple[int, int]](), list[tuple[int, int]]()

    def source(row: int, column: int) -> Any:
        asked.append((row, column))
        return cut(samples, SIDE)(row + 7, column - 2)

    make_tiles(
        path, source, tile=SIDE, size=(2, 3), first=(-7, 2),
        progress=lambda done, count: told.append((done, count)),
    )  # fmt: skip
    assert asked == [(row, column) for row in (-7, -6) for column in (2, 3, 4)]
    assert told == [(done, 6) for done in range(1, 7)]
    assert np.array_equal(whole_of(path), samples)
    assert TileFile.open(path).first == (-7, 2)


@pytest.mark.parametrize(
    ("dtype", "stored"),
    [("i1", "<i2"), ("u1", "<i2"), ("<i2", "<i2"), (">i2", "<i2"), ("u2", "<f4"), ("i4", "<f4"),
     ("f2", "<f4"), ("f4", "<f4"), (">f4", "<f4"), ("f8", "<f4")],
)  # fmt: skip
def test_numbers_of_each_type_are_those_of_one_map(path: Path, dtype: str, stored: str) -> None:
    samples = (100 * drawn(70, 129)).clip(0, 100).astype(dtype)
    make_tiles(path, samples, tile=SIDE)
    assert np.array_equal(whole_of(path)[:70], as_loaded(samples))
    header, *_ = parts_of(path.read_bytes())
    assert header.heights == np.dtype(stored)


def test_int16_is_rounded_and_has_holes(path: Path) -> None:
    samples = 100 * drawn(65, 65)
    samples[3, 4] = np.nan
    samples[5, 6], samples[7, 8] = 32767.4, -32767
    make_tiles(path, samples, tile=SIDE, dtype="int16", height_scale=0.01)
    assert np.array_equal(whole_of(path), np.rint(samples), equal_nan=True)
    assert path.stat().st_size < 2 * 65**2 + 2000


@pytest.mark.parametrize("dtype", ["int16", "float32"])
def test_the_least_int16_is_a_hole(path: Path, dtype: str) -> None:
    samples = np.zeros((65, 65), np.int16)
    samples[3, 4] = -32768
    make_tiles(path, samples, tile=SIDE, dtype=dtype)
    assert np.argwhere(np.isnan(whole_of(path))).tolist() == [[3, 4]]


def test_masked_samples_are_holes(path: Path) -> None:
    samples = np.ma.masked_greater(drawn(65, 65), 0.5)
    make_tiles(path, samples, tile=SIDE)
    assert np.array_equal(np.isnan(whole_of(path)), np.ma.getmaskarray(samples))


def test_cells_are_cut_too(path: Path) -> None:
    rng = np.random.default_rng(1)
    holes, flipped = rng.random((2, 100, 129)) < 0.3
    made_of = rng.choice(["grass", "rock"], (100, 129))
    make_tiles(
        path, drawn(101, 130), tile=SIDE, holes=holes, diagonal=flipped, materials=made_of,
        material_names=["grass", "rock"],
    )  # fmt: skip
    tiles = TileFile.open(path)
    assert tiles.shape.diagonal == grid.DIAGONAL_TABLE
    for number in range(6):
        tile = tiles.read(number)
        row, column = (SIDE * place for place in divmod(number, 3))
        part = slice(row, row + SIDE), slice(column, column + SIDE)
        bits = holes[part] * np.uint8(CELL_HOLE) | flipped[part] * np.uint8(CELL_FLIPPED)
        assert tile.cells is not None
        assert np.array_equal(tile.cells[: bits.shape[0], : bits.shape[1]], bits)
        assert not tile.cells[bits.shape[0] :].any()
        if tile.materials is not None:
            wanted = made_of[part] == "rock"
            assert np.array_equal(tile.materials[: bits.shape[0], : bits.shape[1]], wanted)
    assert tiles.read(0).materials is not None


@pytest.mark.parametrize("diagonal", ["a-c", "b-d", "alternating", "shortest"])
def test_diagonals_are_those_of_one_map(path: Path, diagonal: str) -> None:
    samples = drawn(65, 129)
    make_tiles(path, samples, tile=SIDE, diagonal=diagonal)
    tiles, land = TileFile.open(path), HeightMap(samples, diagonal=diagonal)
    frame = land._storage.frame
    assert tiles.shape.diagonal == frame[grid.DIAGONAL]
    assert tiles.shape.has_cells == (diagonal == "shortest")
    for number in range(2):
        cells = tiles.read(number).cells
        if cells is not None:
            wanted = land._storage.cells[:, number * SIDE : (number + 1) * SIDE]
            assert np.array_equal(cells, wanted)


def test_a_tile_may_have_diagonals_of_its_own(path: Path) -> None:
    flipped = np.zeros((SIDE, SIDE), np.bool_)
    flipped[1, 2] = True
    flat = np.zeros((65, 65))
    make_tiles(
        path, lambda row, _: Tile(flat, diagonals=flipped) if row else flat, tile=SIDE, size=(2, 1)
    )
    tiles = TileFile.open(path)
    assert tiles.shape.diagonal == grid.DIAGONAL_TABLE
    first, second = tiles.read(0).cells, tiles.read(1).cells
    assert first is not None
    assert second is not None
    assert not first.any()
    assert np.argwhere(second).tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("change", "thickness", "depth"),
    [("", None, np.inf), ("hole", None, 2.0), ("mark", None, 2.0), ("absent", None, 2.0),
     ("hole", 9.0, 9.0), ("hole", np.inf, np.inf), ("", 0.5, 0.5)],
)  # fmt: skip
def test_land_with_holes_is_two_meters_thick(
    path: Path, change: str, thickness: float | None, depth: float
) -> None:
    def source(row: int, _: int) -> Any:
        heights, holes = np.zeros((65, 65)), np.zeros((64, 64), np.bool_)
        if row == 1:
            heights[9, 9] = np.nan if change == "hole" else 0
            holes[9, 9] = change == "mark"
            return None if change == "absent" else Tile(heights, holes=holes)
        return heights

    make_tiles(path, source, tile=SIDE, size=(2, 1), thickness=thickness)
    assert TileFile.open(path).shape.thickness == depth


@pytest.mark.parametrize(("hole", "depth"), [("", np.inf), ("sample", 2.0), ("cell", 2.0)])
@pytest.mark.parametrize("dtype", ["int16", "float32"])
def test_holes_beyond_an_array_are_no_holes_of_the_land(
    path: Path, hole: str, depth: float, dtype: str
) -> None:
    samples, marks = np.zeros((100, 150)), np.zeros((99, 149), np.bool_)
    samples[70, 80] = np.nan if hole == "sample" else 1
    marks[70, 80] = hole == "cell"
    make_tiles(path, samples, tile=SIDE, dtype=dtype, holes=marks)
    land = HeightMap(samples, holes=marks if hole == "cell" else None)
    assert TileFile.open(path).shape.thickness == land.thickness == depth


def test_equal_tiles_share_their_place(path: Path) -> None:
    flat, other = np.zeros((65, 65)), np.zeros((65, 65))
    other[5, 5] = 1
    make_tiles(path, lambda *_: flat, tile=SIDE, size=(12, 12))
    one = path.stat().st_size
    assert one < 2 * 65**2 * 4 + 144 * 40
    rows = [[flat] * 12 for _ in range(12)]
    rows[4][5] = other
    make_tiles(path, lambda row, column: rows[row][column], tile=SIDE, size=(12, 12))
    assert path.stat().st_size < one + 65**2 * 4 + 2000
    assert np.argwhere(whole_of(path)).tolist() == [[4 * 64 + 5, 5 * 64 + 5]]


def test_a_land_without_tiles_is_made(path: Path) -> None:
    make_tiles(path, lambda *_: None, tile=SIDE, size=(3, 2))
    tiles = TileFile.open(path)
    assert not tiles.exists.any()
    assert np.isnan(tiles.ranges).all()


def test_memory_is_that_of_a_row_of_tiles(path: Path, tmp_path: Path) -> None:
    numbers = np.lib.format.open_memmap(
        tmp_path / "big.npy", "w+", np.float32, (30 * SIDE + 1, 10 * SIDE + 1)
    )
    numbers[::7, ::11] = 3
    tracemalloc.start()
    make_tiles(path, numbers, tile=SIDE)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert numbers.nbytes > 4_900_000
    assert peak < 1_300_000
    assert np.array_equal(whole_of(path), numbers)


# Refusals


def test_neighbors_that_differ_are_named_with_the_sample(path: Path) -> None:
    def source(place: tuple[int, int], row: int, column: int) -> Any:
        heights = np.zeros((65, 65))
        if (row, column) == (1, 1):
            heights[place] = 5
        return heights

    for place, parts in (
        ((0, 3), ("tile (1, 1): heights", "above", "got 5.0 at [0, 3], there 0.0")),
        ((7, 0), ("tile (1, 1): heights", "to the left", "got 5.0 at [7, 0], there 0.0")),
        ((64, 9), ("tile (2, 1): heights", "above", "got 0.0 at [0, 9], there 5.0")),
        ((8, 64), ("tile (1, 2): heights", "to the left", "got 0.0 at [8, 0], there 5.0")),
    ):
        with pytest.raises(ValueError, match=mentions(*parts)):
            make_tiles(path, partial(source, place), tile=SIDE, size=(3, 3))
        assert list(path.parent.iterdir()) == []


def test_a_corner_is_shared_across_absent_tiles(path: Path) -> None:
    def source(row: int, column: int, *, falling: bool, corner: float) -> Any:
        if (row == column) != falling:
            return None
        heights = np.zeros((65, 65))
        if row == 1:
            heights[0, 0 if falling else 64] = corner
        return heights

    for falling in (True, False):
        for corner in (0.0, 2.0, np.nan):
            here = partial(source, falling=falling, corner=corner)
            if corner == 0.0:
                make_tiles(path, here, tile=SIDE, size=(2, 2))
                continue
            with pytest.raises(ValueError, match=mentions("tile (1, ", "above", f"got {corner}")):
                make_tiles(path, here, tile=SIDE, size=(2, 2))


def test_holes_of_neighbors_are_equal(path: Path) -> None:
    make_tiles(path, lambda *_: np.full((65, 65), np.nan), tile=SIDE, size=(2, 2))
    assert np.isnan(whole_of(path)).all()
    assert TileFile.open(path).ranges.tolist() == [[np.inf, -np.inf]] * 4


FLAT = np.zeros((65, 65))


def _second(value: Any) -> Any:
    return lambda _, column: value if column else FLAT


def _with(value: float) -> NDArray[np.float64]:
    heights = FLAT.copy()
    heights[3, 9] = value
    return heights


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        (np.zeros((64, 65)), ("heights must have shape (65, 65)", "got (64, 65)")),
        (np.zeros(65), ("heights must have shape",)),
        (_with(np.inf), ("heights must be finite", "got inf at [3, 9]")),
        (_with(1e39), ("heights must be below 1e+38 m", "got 1e+39 at [3, 9]")),
        (_with(-1e38), ("heights must be below 1e+38 m", "got -1e+38 at [3, 9]")),
        ([[1, 2], [3]], ("heights must be an array of numbers",)),
        (FLAT.astype(complex), ("heights must hold real numbers",)),
        ("x", ("heights must hold real numbers",)),
        (Tile(FLAT, holes=np.zeros((64, 63), np.bool_)), ("holes must be an array of bool",)),
        (Tile(FLAT, diagonals=np.zeros((64, 64))), ("diagonals must be an array of bool",)),
        (Tile(FLAT, materials=np.full((64, 64), 256)), ("materials must be from 0 to 255",)),
        (Tile(FLAT, materials=np.full((64, 64), "ice")), ("materials must be numbers",)),
        (Tile(FLAT, materials=np.zeros((2, 64))), ("materials must be whole numbers",)),
    ],
)
def test_a_wrong_tile_is_named(path: Path, given: Any, parts: tuple[str, ...]) -> None:
    path.write_bytes(b"before")
    with pytest.raises((ValueError, TypeError), match=mentions("tile (0, 1): ", *parts)):
        make_tiles(path, _second(given), tile=SIDE, size=(1, 2))
    assert [each.name for each in path.parent.iterdir()] == ["land.tiles"]
    assert path.read_bytes() == b"before"


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ({"dtype": "int16", "scale": 40000}, ("must be from -32767 to 32767", "at [3, 9]")),
        ({"dtype": "int16", "scale": -32768}, ("must be from -32767 to 32767", "at [3, 9]")),
        ({"scale": 3e37, "height_scale": 10}, ("keep heights below 1e+38 m",)),
    ],
)
def test_heights_that_do_not_fit_are_named(
    path: Path, given: dict[str, Any], parts: tuple[str, ...]
) -> None:
    tile = _with(given.pop("scale"))
    with pytest.raises(ValueError, match=mentions("tile (0, 1): ", *parts)):
        make_tiles(path, _second(tile), tile=SIDE, size=(1, 2), **given)


def test_kinds_of_numbers_are_not_mixed(path: Path) -> None:
    whole = FLAT.astype(np.int16)
    with pytest.raises(ValueError, match=mentions("tile (0, 1): heights must be integers")):
        make_tiles(path, lambda _, c: FLAT if c else whole, tile=SIDE, size=(1, 2))
    make_tiles(path, lambda _, c: whole if c else FLAT, tile=SIDE, size=(1, 2))
    make_tiles(path, lambda _, c: FLAT if c else whole, tile=SIDE, size=(1, 2), dtype="int16")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"tile": 100}, ("tile must be a multiple of 64 from 64 to 4096", "got 100")),
        ({"tile": 0}, ("tile must be from 1",)),
        ({"tile": 8192}, ("tile must be a multiple of 64",)),
        ({"tile": 64.0}, ("tile must be a whole number",)),
        ({"size": None}, ("size must be (rows, columns) of tiles with a function",)),
        ({"size": (0, 1)}, ("size must be from 1",)),
        ({"size": (1, 2, 3)}, ("size must be (rows, columns)",)),
        ({"size": (1, 1 << 20)}, ("size must be 1 to 2048 tiles",)),
        ({"first": (1,)}, ("first must be (row, column)",)),
        ({"cell_size": 0}, ("cell_size must be finite and > 0",)),
        ({"cell_size": (1, 2, 3)}, ("cell_size must be a number or (x, z)",)),
        ({"height_scale": 0}, ("height_scale must not be 0",)),
        ({"origin": (0, np.inf, 0)}, ("origin.y must be finite",)),
        ({"origin": (1e30, 0, 0)}, ("samples apart",)),
        ({"thickness": 0}, ("thickness must be from",)),
        ({"diagonal": "d-b"}, ("diagonal must be one of",)),
        ({"diagonal": np.zeros((64, 64), np.bool_)}, ("diagonal must not be an array", "Tile(")),
        ({"holes": np.zeros((64, 64), np.bool_)}, ("holes must not be an array", "holes=...")),
        ({"dtype": "int32"}, ("dtype must be one of 'int16', 'float32'",)),
        ({"material_names": ["a", "a"]}, ("material_names must be different",)),
        ({"material_names": ["x" * (1 << 20)]}, ("material_names must take at most",)),
        ({"progress": 1}, ("progress must be a bool",)),
    ],
)
def test_wrong_options_are_refused(
    path: Path, options: dict[str, Any], parts: tuple[str, ...]
) -> None:
    given: dict[str, Any] = {"tile": SIDE, "size": (1, 1)} | options
    with pytest.raises((ValueError, TypeError), match=mentions(*parts)):
        make_tiles(path, lambda *_: FLAT, **given)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "options", "parts"),
    [
        (np.zeros(5), {}, ("source must have shape (rows, columns)",)),
        (np.zeros((1, 5)), {}, ("source must have shape (rows, columns)",)),
        ("land.npy", {}, ("source must not be a path", "terrain-physics tiles")),
        (FLAT, {"size": (1, 1)}, ("size must be left out with an array",)),
        (FLAT, {"holes": np.zeros((2, 2), np.bool_)}, ("holes must have shape (64, 64)",)),
        (FLAT, {"diagonal": np.zeros((64, 64))}, ("tile (0, 0): diagonals must be an array of",)),
    ],
)
def test_wrong_arrays_are_refused(
    path: Path, source: Any, options: dict[str, Any], parts: tuple[str, ...]
) -> None:
    with pytest.raises((ValueError, TypeError), match=mentions(*parts)):
        make_tiles(path, source, tile=SIDE, **options)
    assert list(path.parent.iterdir()) == []


def test_a_tile_has_no_diagonals_where_all_are_split_otherwise(path: Path) -> None:
    given = Tile(FLAT, diagonals=np.zeros((64, 64), np.bool_))
    with pytest.raises(ValueError, match=mentions("tile (0, 0): diagonals", "'b-d'")):
        make_tiles(path, lambda *_: given, tile=SIDE, size=(1, 1), diagonal="b-d")


class StopError(Exception):
    """An error of a source."""


@pytest.mark.parametrize("error", [StopError("enough"), KeyError("x"), ValueError("other")])
def test_an_error_of_the_source_names_the_tile_and_leaves_all_as_it_was(
    path: Path, error: Exception
) -> None:
    def source(row: int, column: int) -> Any:
        if (row, column) == (4, 2):
            raise error
        return FLAT

    path.write_bytes(b"before")
    with pytest.raises(type(error)) as caught:
        make_tiles(path, source, tile=SIDE, size=(3, 3), first=(3, 0))
    assert caught.value is error
    assert caught.value.__notes__ == ["tile (4, 2): raised by the source"]
    assert [each.name for each in path.parent.iterdir()] == ["land.tiles"]
    assert path.read_bytes() == b"before"


def test_ctrl_c_leaves_nothing(path: Path) -> None:
    def source(row: int, _: int) -> Any:
        if row == 1:
            raise KeyboardInterrupt
        return FLAT

    with pytest.raises(KeyboardInterrupt):
        make_tiles(path, source, tile=SIDE, size=(3, 1))
    assert list(path.parent.iterdir()) == []


def test_a_file_is_on_the_disk_before_it_has_its_name(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []
    fsync = os.fsync

    def told(descriptor: int) -> None:
        steps.append((path.exists(), os.fstat(descriptor).st_size))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", told)
    make_tiles(path, FLAT, tile=SIDE)
    assert steps == [(False, path.stat().st_size)]


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit of a file's size")
def test_a_full_disk_is_an_error_that_leaves_nothing(path: Path) -> None:
    code = f"""
import resource
import numpy as np
from terrain_physics.tiles.making import make_tiles
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, -1))
rng = np.random.default_rng(0)
try:
    make_tiles({str(path)!r}, rng.normal(size=(300, 300)), tile=64)
except OSError as error:
    print(type(error).__name__, error.errno is not None)
"""
    done = forks.run("-c", code)
    assert (done.returncode, done.stdout) == (0, "OSError True\n"), done.stderr
    assert list(path.parent.iterdir()) == []


def test_a_bar_shows_how_many_tiles_are_done(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tqdm

    bars = []

    class Bar(tqdm.tqdm):  # type: ignore[misc]
        def __init__(self, **options: Any) -> None:
            bars.append(self)
            super().__init__(**(options | {"disable": False}))

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    make_tiles(path, lambda *_: FLAT, tile=SIDE, size=(3, 2), progress=True)
    assert [(bar.n, bar.total) for bar in bars] == [(6, 6)]

"""Files of tiles of height files, by a function and by the command."""

import re
import signal
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import HeightMap
from terrain_physics import __main__ as command_line
from terrain_physics.heightmap.files import MappedHeights, load_heights
from terrain_physics.tiles.of_file import tiles_of_file
from terrain_physics.tiles.tile_file import TileFile
from tests.helpers import forks

Run = Callable[..., tuple[int, str, str]]


def numbers(rows: int = 130, columns: int = 194) -> NDArray[np.uint16]:
    return np.random.default_rng(2).integers(0, 65536, (rows, columns)).astype(np.uint16)


def written(folder: Path, suffix: str) -> Path:
    """Write a height file of a kind, 130 x 194 or square."""
    path = folder / f"land{suffix}"
    match suffix:
        case ".npy":
            np.save(path, numbers().astype(">f8") / 7)
        case ".fortran.npy":
            np.save(path, np.asfortranarray(numbers().astype(np.int32)))
        case ".raw" | ".r16":
            path.write_bytes(numbers(130, 130).astype("<u2").tobytes())
        case ".r32":
            path.write_bytes((numbers(130, 130) / 3).astype("<f4").tobytes())
        case ".hgt":
            path.write_bytes((numbers(130, 130) // 2).astype(">i2").tobytes())
        case ".npz":
            np.savez(path, numbers())
        case ".csv":
            np.savetxt(path, numbers(66, 70), delimiter=",", fmt="%d")
        case ".png":
            HeightMap(numbers()).save(path)
    return path


def all_samples(path: Path) -> NDArray[np.float32]:
    tiles = TileFile.open(path)
    side, rows, columns = tiles.shape[:3]
    whole = np.full((rows * side + 1, columns * side + 1), np.nan, np.float32)
    for number in range(rows * columns):
        row, column = (side * place for place in divmod(number, columns))
        whole[row : row + side + 1, column : column + side + 1] = tiles.read(number).heights
    return whole


SUFFIXES = (".npy", ".fortran.npy", ".raw", ".r16", ".r32", ".hgt", ".npz", ".csv", ".png")


@pytest.mark.filterwarnings("ignore:.*without height_range")
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("options", [{}, {"flip": "both", "no_data": 5.0}])
def test_heights_are_those_that_a_height_map_loads(
    tmp_path: Path, suffix: str, options: Any
) -> None:
    source, path = written(tmp_path, suffix), tmp_path / "land.tiles"
    tiles_of_file(source, path, options, tile=64)
    wanted = np.asarray(HeightMap.load(source, **options), np.float32)
    found = all_samples(path)
    rows, columns = wanted.shape
    assert np.array_equal(found[:rows, :columns], wanted, equal_nan=True)
    assert np.isnan(found[rows:]).all()


def test_a_range_of_heights_is_that_of_a_height_map(tmp_path: Path) -> None:
    source, path = written(tmp_path, ".raw"), tmp_path / "land.tiles"
    options: Any = {"height_range": (-20.0, 900.0), "byte_order": "big"}
    tiles_of_file(source, path, options, tile=64)
    wanted = np.asarray(HeightMap.load(source, **options), np.float32)
    assert np.array_equal(all_samples(path)[:130, :130], wanted)


def test_the_place_of_a_file_is_that_of_a_height_map(tmp_path: Path) -> None:
    source, path = tmp_path / "land.asc", tmp_path / "land.tiles"
    lines = ["ncols 3", "nrows 2", "xllcorner 100", "yllcorner 50", "cellsize 10", "1 2 3", "4 5 6"]
    source.write_text("\n".join(lines))
    land = HeightMap.load(source)
    for own, wanted in (
        ({}, (tuple(land.origin), 10.0)),
        ({"cell_size": 2.0}, ((0.0, 0.0, 0.0), 2.0)),
        ({"origin": (1.0, 2.0, 3.0)}, ((1.0, 2.0, 3.0), 10.0)),
    ):
        tiles_of_file(source, path, {}, tile=64, **own)
        shape = TileFile.open(path).shape
        assert (shape.origin, shape.cell_size[0]) == wanted


def test_a_large_file_is_read_a_row_of_tiles_at_a_time(tmp_path: Path) -> None:
    source, path = tmp_path / "land.raw", tmp_path / "land.tiles"
    many = np.zeros((3001, 1001), "<u2")
    many[::9, ::5] = 700
    source.write_bytes(many.tobytes())
    tracemalloc.start()
    tiles_of_file(source, path, {"shape": (3001, 1001), "no_data": 3.0}, tile=64)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < many.nbytes / 2
    assert np.array_equal(all_samples(path)[:3001, :1001], many)


def test_mapped_heights_are_those_that_are_loaded(tmp_path: Path) -> None:
    source = written(tmp_path, ".npy")
    mapped, loaded = MappedHeights(source), load_heights(source)
    assert mapped.shape == loaded.shape
    assert np.array_equal(mapped[20:50], loaded[20:50])
    assert mapped[20:50].dtype == loaded.dtype


# The command


@pytest.fixture
def tiles(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command; return the exit status, and what it wrote to standard output and error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        try:
            status = command_line.run(["tiles", *map(str, arguments)])
        except SystemExit as stop:
            status = int(str(stop.code))
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


def test_the_command_makes_a_file_and_says_how_large(tmp_path: Path, tiles: Run) -> None:
    source, path = written(tmp_path, ".raw"), tmp_path / "land.tiles"
    status, out, err = tiles(
        source, path, "--tile", 64, "--height-range", -10, 90, "--diagonal", "shortest",
        "--thickness", 3, "--cell-size", 0.5, "--origin", 1, -2, 3, "--flip", "rows",
    )  # fmt: skip
    size = f"{path.stat().st_size:,}"
    assert (status, err) == (0, "")
    assert out == f"{path}: 3 x 3 tiles of 64 x 64 cells, {size} bytes\n"
    shape = TileFile.open(path).shape
    assert (shape.thickness, shape.cell_size, shape.origin) == (3, (0.5, 0.5), (1, -2, 3))
    wanted = HeightMap.load(source, height_range=(-10, 90), flip="rows")
    assert np.array_equal(all_samples(path)[:130, :130], np.asarray(wanted, np.float32))


def test_the_command_tells_a_warning_in_a_line(tmp_path: Path, tiles: Run) -> None:
    source, path = written(tmp_path, ".png"), tmp_path / "land.tiles"
    status, out, err = tiles(source, path)
    assert status == 0
    assert out.startswith(f"{path}: 1 x 1 tiles")
    assert re.fullmatch(
        r"terrain-physics: .*land\.png: 16-bit numbers without height_range.*\n", err
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{npy}", "{out}", "--tile", "100"], "{npy}: tile must be a multiple of 64"),
        (["{npy}", "{out}", "--key", "a"], "{npy}: key is for .npz files"),
        (["{npy}", "{out}", "--height-range", "0", "9"], "{npy}: .*height_range is for 8 or 16"),
        (["{npy}", "{out}", "--height-scale", "nan"], "{npy}: height_scale must be finite"),
        (["{npy}", "{out}", "--dtype", "int16", "--height-scale", "0"], "{npy}: height_scale must"),
        (["{npy}", "/no/folder/land.tiles"], "/no/folder/land.tiles: No such folder"),
        (["none.npy", "{out}"], "none.npy: No such file"),
        (["{bad}", "{out}"], "{bad}: must start as a NumPy file"),
        (["{bad}.jpg", "{out}"], "{bad}.jpg: suffix must be one of"),
    ],
)
def test_the_command_refuses_bad_input_in_a_line(
    tmp_path: Path, tiles: Run, arguments: list[str], message: str
) -> None:
    names = {"npy": written(tmp_path, ".npy"), "bad": tmp_path / "x.npy", "out": tmp_path / "o"}
    names["bad"].write_text("hello")
    names["out"].write_text("before")
    status, out, err = tiles(*(argument.format(**names) for argument in arguments))
    assert (status, out) == (command_line.BAD_INPUT, "")
    wanted = message.format(**{name: re.escape(str(path)) for name, path in names.items()})
    assert re.match(f"terrain-physics: {wanted}", err)
    assert err.count("\n") == 1
    assert names["out"].read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{npy}", "{npy}"], "OUT must be another file than IN"),
        (["{npy}"], "the following arguments are required: OUT"),
        (["{npy}", "o", "--tile", "x"], "argument --tile: invalid int value"),
        (["{npy}", "o", "--dtype", "int8"], "argument --dtype: invalid choice"),
    ],
)
def test_the_command_explains_wrong_use(
    tmp_path: Path, tiles: Run, arguments: list[str], message: str
) -> None:
    source = written(tmp_path, ".npy")
    status, out, err = tiles(*(argument.format(npy=source) for argument in arguments))
    assert (status, out) == (command_line.BAD_INPUT, "")
    assert err.startswith("usage: terrain-physics tiles ")
    assert message in err
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.alone
@pytest.mark.skipif(sys.platform == "win32", reason="has no signals that a program can handle")
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, command_line.INTERRUPTED), (signal.SIGTERM, command_line.TERMINATED)],
)
def test_a_signal_leaves_no_file(tmp_path: Path, number: int, status: int) -> None:
    source, path = written(tmp_path, ".npy"), tmp_path / "land.tiles"
    code = f"""
import os, sys
from terrain_physics import __main__ as command_line
from terrain_physics.tiles.writer import TileWriter
add = TileWriter.add

def add_and_stop(writer, number, tile):
    add(writer, number, tile)
    if number == 2:
        os.kill(os.getpid(), {int(number)})

TileWriter.add = add_and_stop
sys.argv[1:] = ["tiles", {str(source)!r}, {str(path)!r}, "--tile", "64"]
command_line.main()
"""
    assert forks.run("-c", code) == (status, "", "")
    assert list(tmp_path.iterdir()) == [source]

"""The file of tiles: what is read is what was made, and nothing in a file is trusted."""

import hashlib
import os
import re
import shutil
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from terrain_physics._kernels.heightmap.grid import CELL_FLIPPED, CELL_HOLE
from terrain_physics.heightmap.survey import survey
from terrain_physics.tiles.format import (
    START,
    TileLayout,
    block_numbers,
    header_size,
)
from terrain_physics.tiles.making import make_tiles
from terrain_physics.tiles.samples import Tile
from terrain_physics.tiles.tile_file import TileFile
from tests.helpers.damaged_saves import OTHERS, damaged_json, is_refused
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.helpers.threads import together
from tests.helpers.tile_files import cut, joined, parts_of, write_wide_land

SIDE = 64


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3 x 4 tiles with all that tiles may have; (1, 2) is absent."""
    path = tmp_path_factory.mktemp("tiles") / "land.tiles"
    rng = np.random.default_rng(3)
    whole = cut(rng.normal(size=(3 * SIDE + 1, 4 * SIDE + 1)).astype(np.float32), SIDE)

    def source(row: int, column: int) -> Any:
        heights = whole(row, column)
        if (row, column) == (1, 2):
            return None
        if (row, column) == (0, 1):
            return Tile(heights, holes=rng.random((SIDE, SIDE)) < 0.1)
        if (row, column) == (2, 3):
            marks = rng.random((2, SIDE, SIDE)) < 0.5
            made_of = rng.integers(0, 3, (SIDE, SIDE))
            return Tile(heights, diagonals=marks[0], materials=made_of)
        return heights

    make_tiles(
        path, source, tile=SIDE, size=(3, 4), origin=(5, -2, 1e4), cell_size=(2, 0.5),
        height_scale=3, material_names=["grass", "rock", "ice"],
    )  # fmt: skip
    return path


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """A file that a test may damage."""
    return Path(shutil.copy(made, tmp_path / "copy.tiles"))


@pytest.fixture
def tiles(copy: Path) -> Iterator[TileFile]:
    file = TileFile.open(copy)
    yield file
    file.close()


def test_a_file_says_what_the_land_is(tiles: TileFile, copy: Path) -> None:
    shape = tiles.shape
    assert shape[:3] == (SIDE, 3, 4)
    assert (shape.origin, shape.cell_size, shape.height_scale) == ((5, -2, 1e4), (2, 0.5), 3)
    assert shape.thickness == 2.0  # a tile is absent
    assert shape.material_names == ("grass", "rock", "ice")
    assert shape.has_cells
    assert tiles.path == str(copy)
    assert tiles.first == (0, 0)
    assert np.argwhere(~tiles.exists).tolist() == [[1, 2]]
    assert len(tiles.digest) == 32


def test_tiles_are_read_as_they_were_made(tiles: TileFile) -> None:
    rng = np.random.default_rng(3)
    whole = rng.normal(size=(3 * SIDE + 1, 4 * SIDE + 1)).astype(np.float32)
    holes = rng.random((SIDE, SIDE)) < 0.1
    flipped = (rng.random((2, SIDE, SIDE)) < 0.5)[0]
    made_of = rng.integers(0, 3, (SIDE, SIDE))
    for number in range(12):
        row, column = divmod(number, 4)
        if (row, column) == (1, 2):
            assert np.isnan(tiles.ranges[number]).all()
            continue
        tile = tiles.read(number)
        assert np.array_equal(tile.heights, cut(whole, SIDE)(row, column))
        assert tile.heights.dtype == np.float32
        assert np.array_equal(tile.blocks, survey(tile.heights).blocks)
        assert tiles.ranges[number].tolist() == [tile.heights.min(), tile.heights.max()]
        bits = np.zeros((SIDE, SIDE), np.uint8)
        if number == 1:
            bits = holes * np.uint8(CELL_HOLE)
        if number == 11:
            bits = flipped * np.uint8(CELL_FLIPPED)
        assert tile.cells is not None
        assert np.array_equal(tile.cells, bits)
        if number == 11:
            assert tile.materials is not None
            assert np.array_equal(tile.materials, made_of)
        else:
            assert tile.materials is None


def test_arrays_are_a_tiles_own(tiles: TileFile) -> None:
    one, other = tiles.read(11), tiles.read(11)
    for array in (one.heights, one.blocks, one.cells, one.materials):
        assert array is not None
        assert array.flags.owndata
        assert array.flags.writeable
        array[:] = 1
    assert not np.array_equal(one.heights, other.heights)


def test_blocks_of_a_tile_are_as_many_as_those_of_a_map() -> None:
    for side in (64, 128, 192, 256, 512, 576):
        assert block_numbers(side) == survey(np.zeros((side + 1, side + 1), np.float32)).blocks.size


def test_an_absent_tile_and_a_closed_file_are_refused_by_name(tiles: TileFile) -> None:
    with pytest.raises(ValueError, match=r"copy\.tiles: tile \(1, 2\): must be in the index"):
        tiles.read(6)
    tiles.close()
    tiles.close()
    with pytest.raises(ValueError, match=r"tile \(0, 0\): file must be open"):
        tiles.read(0)


def test_equal_digests_are_equal_lands(made: Path, tmp_path: Path) -> None:
    whole = np.zeros((129, 129), np.float32)
    digests = []
    for change, options in (
        (0.0, {}), (0.0, {}), (1.0, {}), (0.0, {"cell_size": 2}), (0.0, {"thickness": 3}),
        (0.0, {"first": (1, 0)}), (0.0, {"material_names": ["a"]}), (0.0, {"diagonal": "b-d"}),
    ):  # fmt: skip
        whole[100, 100] = change
        make_tiles(tmp_path / "a.tiles", whole, tile=SIDE, **options)
        with_digest = TileFile.open(tmp_path / "a.tiles")
        digests.append(with_digest.digest)
        with_digest.close()  # Windows replaces no file that is open
    assert digests[0] == digests[1]
    assert len(set(digests)) == len(digests) - 1


def test_a_land_of_32k_is_a_small_file_that_is_opened_by_its_index(tmp_path: Path) -> None:
    path = tmp_path / "wide.tiles"
    hill = np.zeros((257, 257), np.float32)
    hill[100:120, 100:120] = 7
    write_wide_land(path, tiles={(5, 9): hill})
    assert path.stat().st_size < 2 << 20
    tracemalloc.start()
    tiles = TileFile.open(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20
    assert tiles.exists.all()
    assert tiles.shape.rows * tiles.shape.side == 1 << 15
    assert tiles.read(5 * 128 + 9).heights.max() == 7
    assert tiles.read(128**2 - 1).heights.max() == 0
    assert np.nanmax(tiles.ranges) == 7


@pytest.mark.skipif(not hasattr(os, "pread"), reason="counts calls of pread")
def test_nothing_but_header_and_index_is_read_at_open(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    own = os.pread

    def pread(descriptor: int, length: int, place: int) -> bytes:
        reads.append((place, length))
        return own(descriptor, length, place)

    monkeypatch.setattr(os, "pread", pread)
    TileFile.open(made)
    header, tiles, index = parts_of(made.read_bytes())
    start = made.stat().st_size - len(tiles) - index.nbytes
    assert [read for read in reads if start <= read[0] < header.index_at and read[1]] == []


def test_a_system_without_pread_reads_the_same(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = TileFile.open(made)
    wanted = [one.read(number).heights for number in (0, 11)]
    monkeypatch.delattr(os, "pread", raising=False)
    other = TileFile.open(made)
    assert other.digest == one.digest
    for number, heights in zip((0, 11), wanted, strict=True):
        assert np.array_equal(other.read(number).heights, heights)


@pytest.mark.alone
def test_many_threads_read_at_the_same_time(tiles: TileFile) -> None:
    wanted = {n: tiles.read(n).heights for n in range(12) if n != 6}

    def read() -> None:
        for number, heights in wanted.items():
            assert np.array_equal(tiles.read(number).heights, heights)

    together(read, read, read)


# Damage


@contextmanager
def _flipped(path: Path, place: int, bit: int) -> Iterator[None]:
    """Flip a bit of a file for a while."""
    with path.open("r+b") as file:

        def flip() -> None:
            file.seek(place)
            (byte,) = file.read(1)
            file.seek(place)
            file.write(bytes([byte ^ 1 << bit]))
            file.flush()

        flip()
        yield
        flip()


def _refused(path: Path, *parts: str) -> str:
    with pytest.raises(ValueError, match=re.escape(f"{path}: ")) as caught:
        TileFile.open(path)
    text = str(caught.value)
    for part in parts:
        assert part in text
    return text


def test_each_byte_of_header_and_index_is_guarded(copy: Path) -> None:
    content = copy.read_bytes()
    header, _, index = parts_of(content)
    start = header_size(content[:START])
    places = [*range(start), *range(header.index_at, len(content))]
    for place in places:
        with _flipped(copy, place, place % 8):
            _refused(copy)
    assert len(places) == start + index.nbytes


def test_a_byte_of_a_tile_is_guarded_by_its_hash(copy: Path) -> None:
    header, _, index = parts_of(copy.read_bytes())
    draws = Draws(1)
    for row in index:
        size = TileLayout(SIDE, header.heights, int(row["holds"])).size
        with _flipped(copy, int(row["offset"]) + draws.below(size), draws.below(8)):
            tiles = TileFile.open(copy)
            number = int(row["number"])
            name = f"{copy}: tile {divmod(number, 4)}: must have the hash"
            with pytest.raises(ValueError, match=re.escape(name)):
                tiles.read(number)
            for other in set(index["number"].tolist()) - {number}:
                assert tiles.read(other).number == other


def test_a_truncated_file_is_refused(copy: Path) -> None:
    content = copy.read_bytes()
    header, *_ = parts_of(content)
    draws = Draws(2)
    some = [draws.below(len(content)) for _ in range(times(30))]
    for length in [*range(START + 3), header.index_at, len(content) - 1, *some]:
        copy.write_bytes(content[:length])
        _refused(copy)
    copy.write_bytes(content + b"x")
    _refused(copy, f"must have {len(content)} bytes, got {len(content) + 1}")


def test_foreign_files_are_refused(copy: Path, tmp_path: Path) -> None:
    for content in (b"", b"PK\x03\x04", b"\x93NUMPY" + bytes(900), b"hello\n" * 99, bytes(5000)):
        copy.write_bytes(content)
        _refused(copy, "file must be one that TiledGround.make wrote")
    with pytest.raises(ValueError, match="regular file"):
        TileFile.open(tmp_path)
    with pytest.raises(FileNotFoundError):
        TileFile.open(tmp_path / "none.tiles")


def test_another_version_is_told(copy: Path) -> None:
    content = bytearray(copy.read_bytes())
    content[8] = 2
    copy.write_bytes(content)
    _refused(copy, "file must be of version 1, got 2")


_HOSTILE_SHAPES: list[tuple[dict[str, Any], str]] = [
    ({"side": 0}, "tile must be a multiple of 64"),
    ({"side": 100}, "tile must be a multiple of 64"),
    ({"side": 1 << 31}, "tile must be a multiple of 64"),
    ({"rows": 0}, "size must be 1 to"),
    ({"rows": 2**32 - 1, "columns": 2**32 - 1}, "size must be 1 to"),
    ({"rows": 2048, "columns": 2048}, "size must be at most"),
    ({"origin": (np.nan, 0.0, 0.0)}, "origin.x must be finite"),
    ({"origin": (0.0, 1e39, 0.0)}, "origin.y"),
    ({"cell_size": (1.0, -1.0)}, "cell_size[1] must be finite and > 0"),
    ({"cell_size": (1e-300, 1.0)}, "samples apart"),
    ({"height_scale": 0.0}, "height_scale must not be 0"),
    ({"height_scale": np.inf}, "height_scale must be finite"),
    ({"height_scale": 3e38}, "heights below 1e+38 m"),
    ({"thickness": 0.0}, "thickness must be"),
    ({"thickness": np.nan}, "thickness must be"),
    ({"diagonal": 9}, "diagonal must be from 0 to 3"),
    ({"diagonal": 3, "has_cells": False}, "has_cells must be from 1 to 1"),
    ({"diagonal": 0, "has_cells": False}, "tiles hold what the header does not know"),
    ({"material_names": ("a", "a")}, "material names must be"),
]


def test_names_of_another_type_are_refused(copy: Path) -> None:
    header, tiles, index = parts_of(copy.read_bytes())
    found = []
    for what, names in damaged_json(["grass", "rock", "ice"], lambda: OTHERS):
        if names is not None:  # a file without
            other = header._replace(shape=header.shape._replace(material_names=names))
            copy.write_bytes(joined(other, tiles, index))
            found.append(is_refused(TileFile.open, copy, what))
    assert all(found)


@pytest.mark.parametrize(("change", "message"), _HOSTILE_SHAPES)
def test_a_header_with_wrong_numbers_is_refused(
    copy: Path, change: dict[str, Any], message: str
) -> None:
    header, tiles, index = parts_of(copy.read_bytes())
    copy.write_bytes(joined(header._replace(shape=header.shape._replace(**change)), tiles, index))
    tracemalloc.start()
    _refused(copy, message)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20


def test_hostile_counts_and_places_take_no_memory(copy: Path) -> None:
    header, tiles, index = parts_of(copy.read_bytes())
    for change, message in (
        ({"tile_count": 13}, "count of tiles must be from 0 to 12"),
        ({"tile_count": 10}, "must have"),
        ({"index_at": 2**63}, "must have"),
        ({"index_at": 0}, "must have"),
        ({"first": (2**50, 0)}, "first must be"),
    ):
        copy.write_bytes(joined(header._replace(**change), tiles, index))
        tracemalloc.start()
        _refused(copy, message)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 4 << 20


@pytest.mark.parametrize(
    ("field", "values", "message"),
    [
        ("number", [0] * 11, "ascending order"),
        ("number", [*range(10), 12], "ascending order"),
        ("number", [*range(10), 2**32 - 1], "ascending order"),
        ("number", [1, 0, *range(2, 11)], "ascending order"),
        ("holds", [4] * 11, "hold what the header does not know"),
        ("holds", [2**31] * 11, "hold what the header does not know"),
        ("offset", [0] * 11, "between header and index"),
        ("offset", [2**64 - 1] * 11, "between header and index"),
        ("offset", [2**63] * 11, "between header and index"),
        ("least", [np.nan] * 11, "range of heights"),
        ("least", [3.0] * 11, "range of heights"),
        ("greatest", [np.inf] * 11, "heights must be below 1e+38 m"),
        ("greatest", [1e38 + 1e31] * 11, "heights must be below 1e+38 m"),
    ],
)
def test_an_index_with_wrong_numbers_is_refused(
    copy: Path, field: str, values: list[Any], message: str
) -> None:
    header, tiles, index = parts_of(copy.read_bytes())
    index[field] = np.array(values).astype(index[field].dtype)
    if field == "least" and values[0] == 3.0:
        index["greatest"] = 2.0
    copy.write_bytes(joined(header, tiles, index))
    _refused(copy, message)


def _with_tile(copy: Path, k: int, change: Any, **fields: Any) -> tuple[TileFile, int]:
    """Return a file of which one tile is changed, with the right hash."""
    header, tiles, index = parts_of(copy.read_bytes())
    start = len(joined(header, b"", index[:0]))
    row = index[k]
    layout = TileLayout(SIDE, header.heights, int(row["holds"]))
    at = int(row["offset"]) - start
    content = bytearray(tiles[at : at + layout.size])
    change(content, layout)
    index["hash"][k] = np.void(hashlib.blake2b(content, digest_size=16).digest())
    for name, value in fields.items():
        index[name][k] = value
    copy.write_bytes(joined(header, tiles[:at] + content + tiles[at + layout.size :], index))
    return TileFile.open(copy), int(row["number"])


def test_values_that_make_never_writes_are_refused(copy: Path) -> None:
    def infinite(content: bytearray, _: TileLayout) -> None:
        content[0:4] = np.float32(np.inf).tobytes()

    def bits(content: bytearray, layout: TileLayout) -> None:
        content[layout.cells_at] = 4

    def material(content: bytearray, layout: TileLayout) -> None:
        content[layout.materials_at] = 3

    for k, change, fields, message in (
        (0, infinite, {}, "heights must be finite"),
        (0, lambda *_: None, {"greatest": 1e6}, "heights must be finite"),
        (1, bits, {}, "bits of cells must be 0 to 3, got 4"),
        (10, material, {}, "materials must be 0 to 2, got 3"),
    ):
        original = copy.read_bytes()
        tiles, number = _with_tile(copy, k, change, **fields)
        with pytest.raises(ValueError, match=message):
            tiles.read(number)
        copy.write_bytes(original)


def test_a_file_that_is_cut_short_or_changed_while_it_is_open(copy: Path) -> None:
    tiles = TileFile.open(copy)
    content = bytearray(copy.read_bytes())
    _, _, index = parts_of(bytes(content))
    last = int(index["offset"][-1])
    with copy.open("r+b") as file:
        file.truncate(last + 10)
    with pytest.raises(ValueError, match=r"tile \(2, 3\): must have \d+ bytes, got 10: cut short"):
        tiles.read(11)
    assert tiles.read(0).number == 0
    copy.unlink()  # what is open stays
    assert tiles.read(0).number == 0


def test_random_damage_is_an_error_or_no_matter(copy: Path) -> None:
    content = copy.read_bytes()
    draws = Draws(4)
    for _ in range(times(450)):
        damaged = bytearray(content)
        for _ in range(draws.one_of((1, 1, 2, 8, 64))):
            damaged[draws.below(len(damaged))] = draws.below(256)
        if draws.below(5) == 0:
            del damaged[draws.below(len(damaged)) :]
        copy.write_bytes(damaged)
        if bytes(damaged) != content:
            with pytest.raises(ValueError, match=re.escape(f"{copy}: ")):
                _read_all(copy)


def _read_all(path: Path) -> None:
    tiles = TileFile.open(path)
    for number in np.flatnonzero(tiles.exists).tolist():
        tiles.read(number)

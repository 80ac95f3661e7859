"""Edits of a land of tiles: laid over tiles, kept in a file, merged."""

import itertools
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import time
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import TiledGround
from terrain_physics._kernels.heightmap.grid import CELL_HOLE
from terrain_physics.heightmap.cells import ranges_of
from terrain_physics.heightmap.survey import survey
from terrain_physics.tiles import edits
from terrain_physics.tiles.edit_records import HEAD, packed, saved_mark, start_of
from terrain_physics.tiles.edits import EditStore
from terrain_physics.tiles.making import make_tiles
from terrain_physics.tiles.tile_file import TileFile
from tests.helpers import forks
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.helpers.threads import together

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


def _log(tmp_path: Path) -> Path:
    return tmp_path / "save.edits"


def _values(store: EditStore) -> list[tuple[Any, Any, bytes]]:
    return [(what, place, values.tobytes()) for what, place, values, _ in store.records()]


def test_what_lies_on_a_border_is_of_all_tiles_that_share_it(tiles: TileFile) -> None:
    for place, numbers in (
        ((64, 64), {0, 1, 4, 5}), ((0, 64), {0, 1}), ((64, 3), {0, 4}), ((0, 0), {0}),
        ((192, 256), {11}), ((128, 128), {5, 9, 10}), ((100, 150), set()),
    ):  # fmt: skip
        store = EditStore.open(None, tiles)
        spot = slice(place[0], place[0] + 1), slice(place[1], place[1] + 1)
        store.add("heights", spot, np.full((1, 1), 7, np.float32))
        assert store.edited == numbers
        for number in numbers:
            tile = store.apply(tiles.read(number))
            assert np.argwhere(tile.heights == 7).tolist() == [
                [place[0] - number // 4 * SIDE, place[1] - number % 4 * SIDE]
            ]
            assert store.count(number) == 1
        assert len(list(store.records())) == (len(numbers) > 0)  # what is of no tile is not kept
    store = EditStore.open(None, tiles)
    store.add("holes", (slice(64, 65), slice(64, 65)), np.ones((1, 1), np.uint8))
    assert store.edited == {5}


@pytest.mark.parametrize("place", [(8, 20), (20, 8), (SIDE + 16, SIDE + 32), (2 * SIDE, SIDE)])
def test_blocks_on_both_sides_of_an_edit_follow_it(tiles: TileFile, place: tuple[int, int]) -> None:
    store, oracle = EditStore.open(None, tiles), Oracle(tiles)
    row, column = place
    edit = "heights", np.s_[row : row + 1, column : column + 1], np.full((1, 1), 50, np.float32)
    store.add(*edit)  # type: ignore[arg-type]
    oracle.edit(*edit)
    check_all(tiles, store, oracle)


def test_edits_are_seen_again_in_their_order(tiles: TileFile, tmp_path: Path) -> None:
    store = EditStore.open(_log(tmp_path), tiles)
    edited(tiles, store, 25)
    kept = _values(store)
    store.close()
    again = EditStore.open(_log(tmp_path), tiles)
    assert _values(again) == kept
    assert again.nbytes == _log(tmp_path).stat().st_size


def test_ranges_hold_all_heights_that_were_edited(
    tiles: TileFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, oracle = EditStore.open(_log(tmp_path), tiles), Oracle(tiles)
    rng = np.random.default_rng(8)

    def check(store: EditStore) -> None:
        known = np.zeros((193, 257), np.bool_)
        for found in store.ranges():
            place = ranges_of(found[:4])
            values = oracle.heights[place]
            new = is_new[place]
            with np.errstate(invalid="ignore"):
                bad = (values < found.least) | (values > found.greatest)
            assert not (bad & new).any()
            known[place] |= True
        assert known[is_new].all()

    is_new = np.zeros((193, 257), np.bool_)
    for k in range(40):
        what, place, values = drawn(rng)
        store.add(what, place, values)
        oracle.edit(what, place, values)
        if what == "heights":
            is_new[place] = True
        if k % 10 == 0:
            check(store)
    check(store)
    with monkeypatch.context() as patch:
        patch.delattr(os, "dup")  # all are known: nothing is read
        check(store)
    store.close()
    check(store)
    check(EditStore.open(_log(tmp_path), tiles))


def test_the_file_of_tiles_is_never_written_to(tiles: TileFile, tmp_path: Path) -> None:
    path = Path(tiles.path)
    before, date = path.read_bytes(), path.stat().st_mtime_ns
    store = EditStore.open(_log(tmp_path), tiles)
    edited(tiles, store, 20)
    store.compact()
    store.close()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, date)


def test_merged_edits_have_each_value_once(tiles: TileFile, tmp_path: Path) -> None:
    store = EditStore.open(_log(tmp_path), tiles)
    place = slice(60, 69), slice(60, 69)
    for k in range(50):
        store.add("heights", place, np.full((9, 9), k, np.float32))
    long = store.nbytes
    store.compact()
    assert store.nbytes < long / 9
    seen = np.zeros((193, 257), np.int64)
    for what, (rows, columns), values, _ in store.records():
        assert what == "heights"
        assert (values == 49).all()
        seen[rows, columns] += 1
    wanted = np.zeros_like(seen)
    wanted[place] = 1
    assert np.array_equal(seen, wanted)
    assert [each.name for each in tmp_path.iterdir()] == ["land.tiles", "save.edits"]
    store.add("heights", place, np.zeros((9, 9), np.float32))  # it goes on
    store.close()
    again = EditStore.open(_log(tmp_path), tiles)
    assert not again.apply(tiles.read(0)).heights[60:65, 60:65].any()


def test_edits_in_memory_are_merged_before_they_are_many(
    tiles: TileFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edits, "_LEAST_MERGED", 20_000)
    store = EditStore.open(None, tiles)
    oracle = Oracle(tiles)
    for k in range(300):
        place, values = (slice(3, 20), slice(50, 70)), np.full((17, 20), k, np.float32)
        store.add("heights", place, values)
        oracle.edit("heights", place, values)
        assert store.nbytes < 23_000
    check_all(tiles, store, oracle)


def test_sync_waits_for_the_disk(
    tiles: TileFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, fsync = list[tuple[bool, int]](), os.fsync

    def told(descriptor: int) -> None:
        status = os.fstat(descriptor)
        synced.append((stat.S_ISDIR(status.st_mode), status.st_size))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", told)
    store = EditStore.open(_log(tmp_path), tiles)
    store.add("holes", (slice(0, 1), slice(0, 1)), np.ones((1, 1), np.uint8))
    assert synced == []  # an edit does not wait
    size = store.nbytes
    store.sync()
    assert synced[0] == (False, size)
    assert [is_folder for is_folder, _ in synced] == [False, True]  # its name is new, too
    store.sync()
    assert len(synced) == 3
    store.close()
    assert len(synced) == 4


# What a killed process leaves


def test_a_file_that_ends_at_any_byte_has_all_whole_edits(
    tiles: TileFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # a thousand of them take seconds
    path = _log(tmp_path)
    store, other = EditStore.open(path, tiles), EditStore.open(None, tiles)
    ends, wanted = [0], [other.contents()]
    rng = np.random.default_rng(5)
    for k in range(3):
        place = slice(63, 64 + k), slice(10 * k, 10 * k + 2)  # some are of two squares
        values = rng.normal(size=(1 + k, 2)).astype(np.float32)
        for each in (store, other):
            each.add("heights", place, values)
        ends.append(store.nbytes)
        wanted.append(other.contents())
    store.close()
    content = path.read_bytes()
    for length in range(len(content) + 1):
        path.write_bytes(content[:length])
        again = EditStore.open(path, tiles)
        whole = sum(end <= length for end in ends) - 1
        assert again.contents() == wanted[whole]
        again.add("holes", (slice(0, 1), slice(0, 1)), np.ones((1, 1), np.uint8))
        later = again.contents()
        again.close()
        once_more = EditStore.open(path, tiles)
        assert once_more.contents() == later != wanted[whole]
        once_more.close()


def test_an_end_of_zeros_is_cut_off(tiles: TileFile, tmp_path: Path) -> None:
    store = EditStore.open(_log(tmp_path), tiles)
    edited(tiles, store, 5)
    kept = _values(store)
    store.close()
    for zeros in (1, 30, 5000):
        with _log(tmp_path).open("ab") as file:
            file.write(bytes(zeros))
        again = EditStore.open(_log(tmp_path), tiles)
        assert _values(again) == kept
        again.close()


_WRITER = """
import sys
import numpy as np
from terrain_physics.tiles.edits import EditStore
from terrain_physics.tiles.tile_file import TileFile
tiles = TileFile.open({land!r})
store = EditStore.open({log!r}, tiles)
first = len(list(store.records()))
print("ready", flush=True)
for k in range(first, 10**9):
    size = 1 + k % 40
    store.add("heights", (slice(0, size), slice(0, 9)), np.full((size, 9), k, np.float32))
    if k % 5 == 4:
        store.sync()
        print(k + 1, flush=True)
    if k % 64 == 63:
        store.compact()
        print(0, flush=True)
"""


@pytest.mark.alone
@pytest.mark.skipif(sys.platform == "win32", reason="kills by signals")
@pytest.mark.parametrize("kills", [8, pytest.param(2000, marks=pytest.mark.full)])
def test_a_killed_process_loses_nothing_that_was_told_as_saved(
    tiles: TileFile, tmp_path: Path, kills: int
) -> None:
    code = _WRITER.format(land=tiles.path, log=str(_log(tmp_path)))
    draws = Draws(kills)
    for _ in range(kills):
        reader, writer = os.pipe()
        process = forks.start("-c", code, stdout=writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            assert pipe.readline() == b"ready\n"
            told = [0]
            told += [int(pipe.readline()) for _ in range(draws.below(30))]
            time.sleep(draws.uniform(0.0, 0.003))
            process.end()
            told += [int(line) for line in pipe.read().split(b"\n")[:-1]]
        store = EditStore.open(_log(tmp_path), tiles)
        last = max([values.max() for _, _, values, _ in store.records()], default=-1)
        assert last + 1 >= max(told)
        store.close()
        for left in tmp_path.glob("*.part"):  # of a merge; nobody needs it
            left.unlink()
        _log(tmp_path).unlink()


def test_a_power_cut_takes_what_was_not_told_as_saved(tiles: TileFile, tmp_path: Path) -> None:
    path, place = _log(tmp_path), (slice(0, 20), slice(0, 20))
    store = EditStore.open(path, tiles)
    for k in range(4):
        store.add("heights", place, np.full((20, 20), k, np.float32))
        if k == 1:
            store.sync()
            saved, contents = store.nbytes, store.contents()
    content = path.read_bytes()
    store.close()
    for start in (saved, saved + 3, saved + 32, saved + 900, len(content) - 5):
        # The file has its length, but some of its blocks have not been written.
        for junk in (bytes(len(content) - start), b"\x77" * (len(content) - start)):
            path.write_bytes(content[:start] + junk)
            again = EditStore.open(path, tiles)
            if start < saved + 1600:
                assert again.contents() == contents
            assert again.contents()[40:] != b""
            again.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="has no forks")
def test_a_forked_process_reads_and_writes_nothing(tiles: TileFile, tmp_path: Path) -> None:
    code = f"""
import os
import numpy as np
from terrain_physics.tiles.edits import EditStore
from terrain_physics.tiles.tile_file import TileFile
tiles = TileFile.open({tiles.path!r})
store = EditStore.open({str(_log(tmp_path))!r}, tiles)
place, ones = (slice(0, 9), slice(0, 9)), np.ones((9, 9), np.float32)
store.add("heights", place, ones)
if not os.fork():
    for step in (lambda: store.add("heights", place, 2 * ones), store.compact):
        try:
            step()
        except ValueError as error:
            print("edits must be made in the process that opened their file" in str(error))
    print(store.apply(tiles.read(0)).heights[5, 5], flush=True)
    store.close()
    os._exit(0)
os.wait()
store.add("heights", place, 3 * ones)
store.close()
again = EditStore.open({str(_log(tmp_path))!r}, tiles)
print(again.apply(tiles.read(0)).heights[5, 5])
"""
    done = forks.run("-c", code)
    assert (done.returncode, done.stdout) == (0, "True\nTrue\n1.0\n3.0\n"), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="has no forks")
def test_a_forked_process_does_not_keep_the_file(tiles: TileFile, tmp_path: Path) -> None:
    code = f"""
import os
from terrain_physics.tiles.edits import EditStore
from terrain_physics.tiles.tile_file import TileFile
tiles = TileFile.open({tiles.path!r})
store = EditStore.open({str(_log(tmp_path))!r}, tiles)
reader, writer = os.pipe()
if not os.fork():
    os.read(reader, 1)
    os._exit(0)
for _ in range(2):
    store.close()
    store = EditStore.open({str(_log(tmp_path))!r}, tiles)
    store.compact()
os.write(writer, b"x")
os.wait()
print("opened again")
"""
    done = forks.run("-c", code)
    assert (done.returncode, done.stdout) == (0, "opened again\n"), done.stderr


def test_an_empty_path_is_refused_by_name(tiles: TileFile) -> None:
    with pytest.raises(ValueError, match="path of edits must not be empty"):
        EditStore.open("", tiles)
    with pytest.raises(ValueError, match="path of a file of tiles must not be empty"):
        TileFile.open("")


def test_a_program_may_go_to_another_folder(
    tiles: TileFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    store = EditStore.open("save.edits", tiles)
    monkeypatch.chdir(tmp_path / "other")
    edited(tiles, store, 5)
    store.compact()
    contents = store.contents()
    store.close()
    assert list((tmp_path / "other").iterdir()) == []
    assert EditStore.open(_log(tmp_path), tiles).contents() == contents


@pytest.mark.skipif(not hasattr(os, "pread"), reason="counts calls of pread")
def test_a_large_edit_is_read_tile_by_tile(
    tiles: TileFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, oracle = EditStore.open(_log(tmp_path), tiles), Oracle(tiles)
    values = np.random.default_rng(9).normal(size=(193, 257)).astype(np.float32)
    whole = slice(0, 193), slice(0, 257)
    store.add("heights", whole, values)
    oracle.edit("heights", whole, values)
    check_all(tiles, store, oracle)
    lengths, pread = list[int](), os.pread

    def told(descriptor: int, length: int, place: int) -> bytes:
        lengths.append(length)
        return pread(descriptor, length, place)

    tile = tiles.read(0)
    monkeypatch.setattr(os, "pread", told)
    store.apply(tile)
    assert sum(lengths) <= 4 * (HEAD + 4 * SIDE**2)


def test_many_edits_of_a_place_are_merged_by_themselves(tiles: TileFile, tmp_path: Path) -> None:
    store, oracle = EditStore.open(_log(tmp_path), tiles), Oracle(tiles)
    rng = np.random.default_rng(4)
    for k in range(400):
        row, column = rng.integers(0, 30, 2).tolist()
        place = slice(row, row + 5), slice(column, column + 5)
        values = np.full((5, 5), k, np.float32)
        store.add("heights", place, values)
        oracle.edit("heights", place, values)
    count = len(list(store.records()))
    assert count < 200
    check_all(tiles, store, oracle)
    contents = store.contents()
    store.close()
    again = EditStore.open(_log(tmp_path), tiles)
    assert again.contents() == contents
    assert len(list(again.records())) == count
    check_all(tiles, again, oracle)


def test_a_file_that_has_grown_is_merged_when_it_is_opened(
    tiles: TileFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, place = EditStore.open(_log(tmp_path), tiles), (slice(0, 60), slice(0, 60))
    for k in range(30):
        store.add("heights", place, np.full((60, 60), k, np.float32))
    contents, size = store.contents(), store.nbytes
    store.close()
    monkeypatch.setattr(edits, "_LEAST_MERGED", 10_000)
    again = EditStore.open(_log(tmp_path), tiles)
    assert again.nbytes == _log(tmp_path).stat().st_size < size / 20
    assert again.contents() == contents


def test_a_count_never_falls(tiles: TileFile, tmp_path: Path) -> None:
    store, place = EditStore.open(_log(tmp_path), tiles), (slice(0, 2), slice(0, 2))
    seen = [store.count(0)]
    contents = store.contents()
    for step in (None, None, store.compact, None, lambda: store.replace(contents), None):
        if step is None:
            store.add("holes", place, np.ones((2, 2), np.uint8))
        else:
            step()
        seen.append(store.count(0))
    assert seen == sorted(set(seen))
    assert store.count(11) == 0


def test_a_close_that_fails_says_so_and_lets_go_of_the_file(
    tiles: TileFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = EditStore.open(_log(tmp_path), tiles)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            store.close()
    EditStore.open(_log(tmp_path), tiles).close()


# Refusals


def _refused(path: Path, tiles: TileFile, *parts: str) -> None:
    before = path.read_bytes()
    with pytest.raises(ValueError, match="(?s)" + ".*".join(map(re.escape, (f"{path}: ", *parts)))):
        EditStore.open(path, tiles)
    assert path.read_bytes() == before


def test_damage_names_the_record_and_nothing_is_dropped(tiles: TileFile, tmp_path: Path) -> None:
    path, ends = _log(tmp_path), list[int]()
    store = EditStore.open(path, tiles)
    for k in range(4):
        ends.append(store.nbytes)
        store.add("materials", (slice(k, k + 3), slice(10, 20)), np.full((3, 10), 9, np.uint8))
    end = store.nbytes  # then a mark follows, which says that all is on the disk
    store.close()
    content = path.read_bytes()
    for place in range(end):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        if place < ends[0]:
            _refused(path, tiles)
            continue
        number = sum(end <= place for end in ends) - 1
        _refused(path, tiles, f"record {number} at byte {ends[number]} is damaged")


def test_random_damage_is_an_error_or_the_end(
    tiles: TileFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    path = _log(tmp_path)
    store = EditStore.open(path, tiles)
    other, rng = EditStore.open(None, tiles), np.random.default_rng(1)
    wanted = {other.contents()}
    for _ in range(8):
        edit = drawn(rng)
        store.add(*edit)
        other.add(*edit)
        wanted.add(other.contents())
    store.close()
    content, draws = path.read_bytes(), Draws(3)
    for _ in range(times(600)):
        damaged = bytearray(content)
        for _ in range(draws.one_of((0, 1, 4))):
            damaged[draws.below(len(damaged))] = draws.below(256)
        if draws.chance(0.3):
            del damaged[draws.below(len(damaged)) :]
        path.write_bytes(damaged)
        try:
            again = EditStore.open(path, tiles)
        except ValueError as error:
            assert str(path) in str(error)  # noqa: PT017 some are no error
            continue
        assert again.contents() in wanted
        again.close()


# Rectangles of cells that one edit after another sets; the last ones are one edit of four squares.
_RECTANGLES = [(k, k + 3, 10, 20) for k in range(3)] + [
    (row, row + 1, column, column + 1) for row in (63, 64) for column in (63, 64)
]


def _written(store: EditStore, rectangles: list[tuple[int, int, int, int]], number: int) -> None:
    """Set the cells of rectangles to a number, each by an edit."""
    for row_0, row_1, column_0, column_1 in rectangles:
        values = np.full((row_1 - row_0, column_1 - column_0), number, np.uint8)
        store.add("materials", (slice(row_0, row_1), slice(column_0, column_1)), values)


def test_what_is_damaged_is_skipped_and_told(tiles: TileFile, tmp_path: Path) -> None:
    path = _log(tmp_path)
    store = EditStore.open(path, tiles)
    _written(store, _RECTANGLES[:3], 5)
    _written(store, [(63, 65, 63, 65)], 5)
    end = store.nbytes
    store.close()
    content = path.read_bytes()
    sizes = [HEAD + (r[1] - r[0]) * (r[3] - r[2]) for r in _RECTANGLES]
    starts = [end - sum(sizes[k:]) for k in range(len(sizes))]
    for byte in range(starts[0], end):
        damaged = bytearray(content)
        damaged[byte] ^= 1 << (byte % 8)
        path.write_bytes(damaged)
        number = sum(start <= byte for start in starts) - 1
        again, other = EditStore.open(path, tiles, skips=True), EditStore.open(None, tiles)
        _written(other, _RECTANGLES[:number] + _RECTANGLES[number + 1 :], 5)
        assert again.contents() == other.contents()
        (lost,) = again.lost
        assert (lost.place, lost.nbytes) == (starts[number], sizes[number])
        if byte >= starts[number] + HEAD:  # one of the values: the head says whose
            row_0, row_1, column_0, column_1 = _RECTANGLES[number]
            assert lost[2:] == ("materials", range(row_0, row_1), range(column_0, column_1))
        again.close()
        assert path.read_bytes() == damaged


def test_edits_can_be_made_where_damaged_ones_were_skipped(tiles: TileFile, tmp_path: Path) -> None:
    path = _log(tmp_path)
    store = EditStore.open(path, tiles)
    start = store.nbytes
    _written(store, _RECTANGLES[:3], 5)
    store.close()
    damaged = bytearray(path.read_bytes())
    damaged[start : start + 2 * HEAD] = bytes(2 * HEAD)  # two records, of which one has no head
    path.write_bytes(damaged)
    store, other = EditStore.open(path, tiles, skips=True), EditStore.open(None, tiles)
    assert [(one.place, one.what) for one in store.lost] == [(start, None)]
    _written(other, _RECTANGLES[1:3], 5)
    for each in (store, other):
        _written(each, [(0, 2, 12, 14)], 7)
    assert store.contents() == other.contents()
    store.close()
    with pytest.raises(ValueError, match='damaged="skip"'):
        EditStore.open(path, tiles)
    store = EditStore.open(path, tiles, skips=True)
    store.compact()
    assert store.lost == ()
    store.close()
    store = EditStore.open(path, tiles)
    assert store.contents() == other.contents()
    store.close()


def test_values_that_no_edit_has_are_skipped(tiles: TileFile, tmp_path: Path) -> None:
    bad = packed(1, (0, 1, 0, 1), np.full((1, 1), 2))[0]
    fields = struct.pack("<BB2x4I", 0xED, 7, 0, 1, 0, 1)  # a kind that no edit is of
    unknown = struct.pack("<I", zlib.crc32(fields)) + fields
    good = packed(1, (4, 5, 6, 7), np.ones((1, 1)))[0]
    _log(tmp_path).write_bytes(start_of(tiles.digest) + bad + unknown + good)
    store = EditStore.open(_log(tmp_path), tiles, skips=True)
    assert store.places() == [("holes", (slice(4, 5), slice(6, 7)))]
    assert [one.what for one in store.lost] == ["holes", None]
    store.close()


def test_a_head_that_claims_more_than_any_file_is_skipped(tiles: TileFile, tmp_path: Path) -> None:
    first = packed(1, (0, 1, 0, 1), np.ones((1, 1)))[0]
    claim = b"none" + struct.pack("<BBBx4I", 0xED, 0, 0, 0, 2**30, 0, 2**30)
    good = packed(1, (4, 5, 6, 7), np.ones((1, 1)))[0]
    content = start_of(tiles.digest) + first + claim + good
    _log(tmp_path).write_bytes(content + saved_mark(len(content)))
    store = EditStore.open(_log(tmp_path), tiles, skips=True)
    assert [place[0].start for _, place in store.places()] == [0, 4]
    (lost,) = store.lost
    assert (lost.nbytes, lost.what) == (len(claim), None)
    store.close()


def test_a_file_that_looks_like_many_records_is_searched_for_a_bounded_time(
    tiles: TileFile, tmp_path: Path
) -> None:
    head = packed(0, (0, 1000, 0, 1000), np.zeros((1000, 1000)))[0][4:HEAD]
    rest = (b"none" + head) * 100_000  # each claims 4 MB, which have not its checksum
    content = start_of(tiles.digest) + rest
    _log(tmp_path).write_bytes(content + saved_mark(len(content)))
    store = EditStore.open(_log(tmp_path), tiles, skips=True)
    assert store.contents() == start_of(tiles.digest)
    assert len(store.lost) == 1
    store.close()


@pytest.mark.parametrize(
    ("kind", "bounds", "values", "message"),
    [
        (0, (0, 194, 0, 1), np.zeros((194, 1)), "must be within 193 rows and 257 columns"),
        (1, (0, 1, 0, 257), np.zeros((1, 257)), "must be within 192 rows and 256 columns"),
        (1, (0, 1, 0, 1), np.full((1, 1), 2), "holes must be 0 to 1, got 2"),
        (0, (0, 1, 0, 1), np.full((1, 1), np.inf), "heights must be below 1e+38 m"),
        (0, (0, 1, 0, 1), np.full((1, 1), -np.inf), "heights must be below 1e+38 m"),
        (0, (0, 1, 0, 1), np.full((1, 1), -3e38), "heights must be below 1e+38 m"),
        (0, (3, 3, 0, 1), np.zeros((0, 1)), "its rows and columns must be some"),
        (0, (4, 3, 0, 1), np.zeros((0, 1)), "its rows and columns must be some"),
    ],
)
def test_values_that_no_edit_has_are_refused(
    tiles: TileFile, tmp_path: Path, kind: int, bounds: Any, values: Any, message: str
) -> None:
    content = start_of(tiles.digest) + packed(kind, bounds, values)[0]
    _log(tmp_path).write_bytes(content)
    _refused(_log(tmp_path), tiles, "record 0", message)
    store = EditStore.open(None, tiles)
    with pytest.raises(ValueError, match=re.escape(message)):
        store.replace(content)


def test_a_record_that_claims_much_takes_no_memory(tiles: TileFile, tmp_path: Path) -> None:
    head = struct.pack("<BB2x4I", 0xED, 0, 0, 2**32 - 1, 0, 2**32 - 1)
    head = struct.pack("<I", zlib.crc32(head)) + head
    content = start_of(tiles.digest) + head + bytes(range(200))
    _log(tmp_path).write_bytes(content)
    tracemalloc.start()
    EditStore.open(_log(tmp_path), tiles).close()  # the rest of it is not there: it is torn
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20


def test_edits_of_another_land_and_foreign_files_are_refused(
    tiles: TileFile, tmp_path: Path
) -> None:
    path = _log(tmp_path)
    path.write_bytes(start_of("00" * 16))
    _refused(path, tiles, f"same land, with digest {tiles.digest}, got {'00' * 16}", "made anew?")
    content = bytearray(start_of(tiles.digest))
    content[8] = 7
    content[-4:] = struct.pack("<I", zlib.crc32(content[:-4]))
    path.write_bytes(content)
    _refused(path, tiles, "file must be of version 1, got 7")
    for foreign in (b"x", b"\x89EDITS", b"a letter to nobody, of some length", bytes(100)):
        path.write_bytes(foreign)
        if start_of(tiles.digest).startswith(foreign):
            EditStore.open(path, tiles).close()  # torn when it was begun
            continue
        _refused(path, tiles, "file must be one of edits")
    with pytest.raises(ValueError, match="regular file"):
        EditStore.open(tmp_path, tiles)
    with pytest.raises(FileNotFoundError, match="Edits must be in a file that can be written to"):
        EditStore.open(tmp_path / "none" / "save.edits", tiles)


def test_contents_are_checked_before_they_replace_any(tiles: TileFile, tmp_path: Path) -> None:
    store = EditStore.open(_log(tmp_path), tiles)
    edited(tiles, store, 5)
    kept, contents = _values(store), store.contents()
    before = _log(tmp_path).read_bytes()
    for damaged in (
        b"", contents[:-1], contents + b"x", contents[:40] + b"xx" + contents[42:],
        start_of("11" * 16), contents[20:],
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"edits|record"):
            store.replace(damaged)
    assert _values(store) == kept
    assert _log(tmp_path).read_bytes() == before
    store.replace(contents)
    assert _log(tmp_path).read_bytes()[: len(contents)] == contents == store.contents()


def test_an_edit_off_the_lattice_or_of_another_shape_changes_nothing(tiles: TileFile) -> None:
    store = EditStore.open(None, tiles)
    spot = np.zeros((2, 2), np.float32)
    for rows, columns, values in (
        (slice(192, 194), slice(0, 2), spot), (slice(0, 2), slice(256, 258), spot),
        (slice(-1, 1), slice(0, 2), spot), (slice(0, 2), slice(-2, 0), spot),
        (slice(0, 2), slice(0, 3), spot), (slice(2, 2), slice(0, 2), spot[:0]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="edit"):
            store.add("heights", (rows, columns), values)
    assert not store.edited


def test_one_alone_has_the_file(tiles: TileFile, tmp_path: Path) -> None:
    path = _log(tmp_path)
    store = EditStore.open(path, tiles)
    store.add("heights", (slice(0, 1), slice(0, 1)), np.ones((1, 1), np.float32))
    with pytest.raises(BlockingIOError, match="Edits must be open once only") as caught:
        EditStore.open(path, tiles)
    assert caught.value.filename == str(path)
    store.compact()  # another file is there now
    with pytest.raises(BlockingIOError):
        EditStore.open(path, tiles)
    done = forks.run("-c", _OPENER.format(land=tiles.path, log=str(path)))
    assert (done.returncode, done.stdout) == (0, "BlockingIOError\n"), done.stderr
    store.close()
    store.close()
    for step in (
        lambda: store.add("holes", (slice(0, 1), slice(0, 1)), np.ones((1, 1), np.uint8)),
        lambda: store.apply(tiles.read(0)), store.contents, store.compact,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="edits must be open"):
            step()
    EditStore.open(path, tiles).close()


_OPENER = """
from terrain_physics.tiles.edits import EditStore
from terrain_physics.tiles.tile_file import TileFile
try:
    EditStore.open({log!r}, TileFile.open({land!r}))
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.skipif(
    not forks.CAN_FORK or os.geteuid() != 0,
    reason="only root can be another user, who may be unable to load Python",
)
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_cannot_be_written_to_is_refused_at_open(tiles: TileFile, what: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copy(tiles.path, folder / "land.tiles")
        (folder / "land.tiles").chmod(0o644)
        if what == "file":
            EditStore.open(folder / "save.edits", tiles).close()
            (folder / "save.edits").chmod(0o444)
        code = _OPENER.format(land=str(folder / "land.tiles"), log=str(folder / "save.edits"))
        code = code.replace("type(error).__name__", "type(error).__name__, error.strerror")
        done = forks.run("-c", "import os; os.setuid(65534)\n" + code)
        rule = "PermissionError Edits must be in a file that can be written to (Permission denied)"
        assert (done.returncode, done.stdout) == (0, f"{rule}\n"), done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit of a file's size")
def test_a_full_disk_keeps_what_was_there(tiles: TileFile, tmp_path: Path) -> None:
    code = f"""
import resource
import numpy as np
from terrain_physics.tiles.edits import EditStore
from terrain_physics.tiles.tile_file import TileFile
tiles = TileFile.open({tiles.path!r})
store = EditStore.open({str(_log(tmp_path))!r}, tiles)
place = slice(0, 9), slice(0, 9)
store.add("heights", place, np.ones((9, 9), np.float32))
size = store.nbytes
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
try:
    store.add("heights", place, np.zeros((9, 9), np.float32))
except OSError as error:
    print(error.errno is not None, store.nbytes == size, store.count(0))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.add("heights", place, np.full((9, 9), 2, np.float32))
store.close()
"""
    done = forks.run("-c", code)
    assert (done.returncode, done.stdout) == (0, "True True 1\n"), done.stderr
    again = EditStore.open(_log(tmp_path), tiles)
    assert [values[0, 0] for _, _, values, _ in again.records()] == [1, 2]


def test_a_merge_that_fails_leaves_the_edits_as_they_were(
    tiles: TileFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = EditStore.open(_log(tmp_path), tiles)
    edited(tiles, store, 5)
    kept, before = _values(store), _log(tmp_path).read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os if name == "fsync" else Path, name, full)
            with pytest.raises(OSError, match="No space left"):
                store.compact()
        assert _values(store) == kept
        assert _log(tmp_path).read_bytes() == before
        assert sorted(each.name for each in tmp_path.iterdir()) == ["land.tiles", "save.edits"]
    store.add("holes", (slice(0, 1), slice(0, 1)), np.ones((1, 1), np.uint8))
    contents = store.contents()
    store.close()
    assert EditStore.open(_log(tmp_path), tiles).contents() == contents


def test_a_changed_file_is_told_with_file_and_tile(tiles: TileFile, tmp_path: Path) -> None:
    store = EditStore.open(_log(tmp_path), tiles)
    store.add("heights", (slice(0, 2), slice(130, 132)), np.ones((2, 2), np.float32))
    with _log(tmp_path).open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    with pytest.raises(ValueError, match=r"save\.edits: tile \(0, 2\): the edit at byte \d+"):
        store.apply(tiles.read(2))


@pytest.mark.alone
def test_threads_apply_while_others_add(tiles: TileFile, tmp_path: Path) -> None:
    store = EditStore.open(_log(tmp_path), tiles)
    place = slice(0, 30), slice(0, 30)
    numbers = itertools.count()

    def add() -> None:
        store.add("heights", place, np.full((30, 30), next(numbers), np.float32))
        if store.nbytes > 500_000:
            store.compact()

    def apply() -> None:
        heights = store.apply(tiles.read(0)).heights[place]
        assert (heights == heights[0, 0]).all() or not store.count(0)

    add()
    together(add, apply, apply)


def test_a_program_may_end_with_its_land_open(tmp_path: Path) -> None:
    """The thread that reads tiles is still there then, and nothing is told on stderr."""
    program = """
import atexit, sys, time
atexit.register(time.sleep, 0.5)  # the last of all: the thread comes to its end before
import numpy as np
from terrain_physics import TiledGround

TiledGround.make("a.tiles", np.zeros((257, 257)), tile=64)
land = TiledGround.open("a.tiles", edits="a.edits")
land.keep_near([(99, 0, 99)], radius=50)
while not land.load_some():
    pass
land.carve((64, 64), radius=9, depth=2)
loader = land._supply._loader
end = loader._end
loader._end = lambda: (time.sleep(0.2), end())  # once Python has closed what it closes at its end
sys.exit(7)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (7, b"")
    with TiledGround.open(tmp_path / "a.tiles", edits=tmp_path / "a.edits") as land:
        assert land.height_at(64, 64) == -2.0

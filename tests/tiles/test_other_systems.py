"""Files, locks and threads as other systems have them: what those lack is taken away here.

Windows has no `os.pread` and no fcntl, and replaces no file that is open. It cannot be run here.
"""

import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from terrain_physics import HeightMap
from terrain_physics._support import files, threads
from terrain_physics.heightmap.files import save_heights
from terrain_physics.tiles import file_log
from terrain_physics.tiles.file_log import FileLog
from tests.helpers import forks, lacking
from tests.helpers.environments import ROOT

RECORD = bytes(range(256)) * 16


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have files as Windows has them."""
    if sys.platform == "win32":
        return
    monkeypatch.delattr(os, "pread", raising=False)
    for module in (files, file_log):
        monkeypatch.setattr(module, "CAN_REPLACE_OPEN", False)
    monkeypatch.setattr(Path, "replace", lacking._replace_closed)
    monkeypatch.setattr(file_log, "fcntl", None)
    monkeypatch.setattr(file_log, "msvcrt", lacking.Locking(), raising=False)


def made(tmp_path: Path) -> FileLog:
    return FileLog(tmp_path / "land.edits", b"START")


@pytest.mark.usefixtures("windows")
@pytest.mark.alone
def test_what_is_read_beside_appends_and_cuts_is_what_lies_there(tmp_path: Path) -> None:
    log = made(tmp_path)
    place = log.append(RECORD)
    wrong: list[bytes] = []
    done = threading.Event()

    def load() -> None:
        while not done.is_set():
            with log.reading() as read:
                wrong.extend(found for _ in range(9) if (found := read(place, 4096)) != RECORD)

    loaders = [threading.Thread(target=load) for _ in range(2)]
    for loader in loaders:
        loader.start()
    end = time.monotonic() + 0.15
    while time.monotonic() < end:
        log.append(RECORD)
        if log.size > 1_000_000:
            log.cut(place + len(RECORD))
    done.set()
    for loader in loaders:
        loader.join()
    assert not wrong
    with log.reading() as read:
        content = read(0, log.size)
    assert content == b"START" + RECORD * (len(content) // len(RECORD))
    log.close()


@pytest.mark.usefixtures("windows")
def test_a_file_is_replaced_when_its_readers_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_log, "_PATIENCE", 600.0)
    log = made(tmp_path)
    place = log.append(RECORD)
    is_open, may_end = threading.Event(), threading.Event()
    found: list[bytes] = []

    def load() -> None:
        with log.reading() as read:
            is_open.set()
            may_end.wait()
            time.sleep(0.02)
            found.append(read(place, 4096))

    loader = threading.Thread(target=load)
    loader.start()
    is_open.wait()
    may_end.set()
    log.replace(b"START" + b"new")
    loader.join()
    assert found == [RECORD]
    with log.reading() as read:
        assert read(5, 3) == b"new"
    log.close()


@pytest.mark.usefixtures("windows")
def test_who_replaces_what_it_reads_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_log, "_PATIENCE", 0.01)
    log = made(tmp_path)
    place = log.append(RECORD)
    with log.reading() as read:
        with pytest.raises(PermissionError, match="must not be read while") as raised:
            log.replace(b"START")
        assert raised.value.filename == log.name
        assert read(place, 4096) == RECORD
    log.append(b"more")
    log.replace(b"START")
    log.close()
    assert [file.name for file in tmp_path.iterdir()] == ["land.edits"]
    assert (tmp_path / "land.edits").read_bytes() == b"START"


@pytest.mark.usefixtures("windows")
def test_edits_that_another_program_reads_stay_when_they_cannot_be_replaced(tmp_path: Path) -> None:
    log = made(tmp_path)
    place = log.append(RECORD)
    with (
        (tmp_path / "land.edits").open("rb"),
        pytest.raises(PermissionError, match="Must not be open"),
    ):
        log.replace(b"START")
    assert log.append(b"more") == place + len(RECORD)
    with log.reading() as read:
        assert read(place, 4100) == RECORD + b"more"
    log.close()


@pytest.mark.usefixtures("windows")
def test_a_file_that_is_open_is_not_replaced_and_a_message_says_so(tmp_path: Path) -> None:
    path = tmp_path / "land.npy"
    save_heights(path, np.zeros((2, 2)))
    before = path.read_bytes()
    with path.open("rb"), pytest.raises(PermissionError, match="Must not be open, here or in"):
        save_heights(path, np.ones((2, 2)))
    assert path.read_bytes() == before
    save_heights(path, np.ones((2, 2)))
    assert [file.name for file in tmp_path.iterdir()] == ["land.npy"]


@pytest.mark.usefixtures("windows")
def test_edits_are_open_once(tmp_path: Path) -> None:
    log = made(tmp_path)
    with pytest.raises(BlockingIOError, match="open once only"):
        made(tmp_path)
    log.append(RECORD)
    log.replace(b"START")
    with pytest.raises(BlockingIOError, match="open once only"):
        made(tmp_path)
    log.close()
    made(tmp_path).close()


def test_where_there_are_no_threads_calls_work_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    land = HeightMap(np.random.default_rng(1).uniform(0, 3, (60, 60)))
    starts = np.random.default_rng(2).uniform((0, 9, 0), (59, 9, 59), (9_000, 3))
    wanted = land.raycast_many(starts, [(0.1, -1, 0)], threads=4).distance
    monkeypatch.setattr(threads, "_HAS_THREADS", False)
    monkeypatch.setattr(threads, "_POOL", threads._Pool())
    found = land.raycast_many(starts, [(0.1, -1, 0)], threads=4).distance
    assert np.array_equal(found, wanted)
    assert not threads._POOL._threads


TESTS = (
    "tests/tiles", "tests/lattice", "tests/heightmap/test_files_saved.py",
    "tests/heightmap/test_files_damaged.py", "tests/package/test_threads.py",
    "tests/recording/test_recording_files.py",
)  # fmt: skip

# Another process has fcntl there, and takes another kind of lock.
OTHERS_LOCK = {"fcntl": ("--deselect", "tests/tiles/test_edits.py::test_one_alone_has_the_file")}


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="looks for open files in /proc")
@pytest.mark.parametrize("lack", lacking.LACKS)
def test_the_tests_of_tiles_files_and_threads_pass_without(
    lack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(lacking.VARIABLE, lack)
    options = ["-q", "-n", "0", "-p", "tests.helpers.lacking", *OTHERS_LOCK.get(lack, ())]
    done = forks.run("-m", "pytest", *options, *TESTS, cwd=ROOT, own=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]

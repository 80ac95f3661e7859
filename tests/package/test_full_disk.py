"""Errors of writing name the file that was asked for, and leave what was there."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from terrain_physics import (
    CharacterMovement,
    Ground,
    HeightMap,
    Recording,
    SphereCollider,
    TiledGround,
    TriangleMesh,
    World,
)
from terrain_physics._support import files

LAND = [[0] * 65] * 65


@contextmanager
def full(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size: the system refuses that as a full disk."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def recording() -> Recording:
    hero = CharacterMovement(HeightMap([[0, 0], [0, 0]]), SphereCollider(0.5), position=(0, 2, 0))
    made = Recording(hero)
    made.update(1 / 60)
    return made


WRITERS: dict[str, Callable[[Path], Any]] = {
    "world": lambda path: World(HeightMap(LAND)).save(path),
    "ground": lambda path: Ground([HeightMap(LAND)]).save(path),
    "mesh": lambda path: TriangleMesh.box((1, 1, 1)).save(path),
    "map.ground": lambda path: HeightMap(LAND).save(path),
    "heights.npy": lambda path: HeightMap(LAND).save(path),
    "heights.png": lambda path: HeightMap(LAND).save(path),
    "heights.r16": lambda path: HeightMap(LAND).save(path),
    "recording": lambda path: recording().save(path),
    "page": lambda path: recording().save_html(path),
    "tiles": lambda path: TiledGround.make(path, LAND, tile=64),
    "obj": lambda path: HeightMap(LAND).save_obj(path),
}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a relative name, as a caller may give it, of a file that is there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saves").mkdir()
    return os.path.join("saves", "day")  # noqa: PTH118 a name, not a place


@contextmanager
def refused(asked: str, number: int) -> Iterator[None]:
    """Expect an error of the system that names the file."""
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        yield
    error = caught.value
    assert (error.errno, error.strerror) == (number, os.strerror(number))
    assert type(error) is type(OSError(number, ""))
    assert error.filename == asked
    assert error.filename2 is None


@pytest.mark.alone
@pytest.mark.skipif(sys.platform == "win32", reason="has no limit of the size of files")
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_told_with_the_file(name: str, asked: str) -> None:
    path = Path(f"{asked}.{name}")
    path.write_bytes(b"before")
    WRITERS[name](path.with_name(f"loads.{name}"))  # what a first call loads may write its cache
    path.with_name(f"loads.{name}").unlink()
    with full(10), refused(str(path), errno.EFBIG):
        WRITERS[name](path)
    assert path.read_bytes() == b"before"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.alone
@pytest.mark.skipif(sys.platform == "win32", reason="has no limit of the size of files")
def test_a_full_disk_is_told_with_the_file_of_edits(asked: str, tmp_path: Path) -> None:
    tiles, edits = Path(f"{asked}.tiles"), Path(f"{asked}.edits")
    TiledGround.make(tiles, LAND, tile=64)
    with TiledGround.open(tiles, edits=edits) as land:
        land.carve((20, 20), radius=3, depth=1)
        land.compact()
        land.carve((30, 30), radius=3, depth=1)
        before = edits.read_bytes()
        with full(len(before) + 1), refused(str(edits), errno.EFBIG):
            land.carve((40, 40), radius=3, depth=1)
        with full(10), refused(str(edits), errno.EFBIG):
            land.compact()
        assert edits.read_bytes() == before
        land.carve((40, 40), radius=3, depth=1)
    other = Path(f"{asked}.other")
    with full(10), refused(str(other), errno.EFBIG):
        TiledGround.open(tiles, edits=other)


@pytest.mark.parametrize("name", WRITERS)
def test_no_hidden_file_is_named(name: str, asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(f"{asked}.{name}")
    monkeypatch.setattr(files, "uuid", SimpleNamespace(uuid4=lambda: SimpleNamespace(hex="same")))
    path.with_name(".same.part").touch()  # so it cannot be made: permissions bind no root
    with refused(str(path), errno.EEXIST):
        WRITERS[name](path)


def test_a_file_that_cannot_be_replaced_is_named(
    asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(part: Path, target: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(part), str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    path = Path(f"{asked}.tiles")
    with refused(str(path), errno.EACCES):
        TiledGround.make(path, LAND, tile=64)
    assert list(path.parent.iterdir()) == []


def test_a_disk_that_fails_at_last_is_told(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    tiles, edits = Path(f"{asked}.tiles"), Path(f"{asked}.edits")
    TiledGround.make(tiles, LAND, tile=64)
    with TiledGround.open(tiles, edits=edits) as land:
        land.carve((20, 20), radius=3, depth=1)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with refused(str(edits), errno.EIO):
                land.sync()
            with refused(str(edits), errno.EIO):
                land.compact()
            with refused(str(tiles), errno.EIO):
                TiledGround.make(tiles, LAND, tile=64)


def test_an_error_of_the_callers_own_stays_as_it_is(asked: str) -> None:
    def source(row: int, column: int) -> Any:
        raise ConnectionResetError(errno.ECONNRESET, "the server went away")

    with pytest.raises(ConnectionResetError) as caught:
        TiledGround.make(f"{asked}.tiles", source, tile=64, size=(1, 1))
    assert caught.value.filename is None

"""What builds keep: right or made anew, within its limit, and never a reason to fail."""

import os
from pathlib import Path

import pytest

from terrain_physics._kernels import _jit

pytestmark = pytest.mark.skipif(not _jit.HAS_NUMBA, reason="nothing is compiled")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "builds"


def cache_of(folder: Path, state: str = "state"):
    from terrain_physics._build.build_cache import BuildCache

    return BuildCache(folder, state)


def test_what_is_kept_is_read_by_name_and_state(folder):
    cache_of(folder).keep(b"code", "place", "processor")
    assert cache_of(folder).read("place", "processor") == b"code"
    assert cache_of(folder).read("place", "another") is None
    assert cache_of(folder, "edited").read("place", "processor") is None


@pytest.mark.parametrize("content", [b"", b"cut short", bytes(40)])
def test_what_is_damaged_is_made_anew(folder, content):
    cache = cache_of(folder)
    cache.keep(b"code", "name")
    (file,) = folder.iterdir()
    file.write_bytes(content)
    assert cache.read("name") is None
    cache.keep(b"code", "name")
    assert cache.read("name") == b"code"


def test_the_oldest_go_first_and_what_is_read_is_young(folder, monkeypatch):
    from terrain_physics._build import build_cache

    monkeypatch.setattr(build_cache, "LIMIT", 3 * (32 + 100))
    cache = cache_of(folder)
    for number in range(3):
        cache.keep(bytes(100), str(number))
        (file,) = [one for one in folder.iterdir() if one.stat().st_mtime > 100]
        os.utime(file, (number + 1, number + 1))
    assert cache.read("0") is not None
    cache.keep(bytes(100), "3")
    found = [cache.read(str(number)) is not None for number in range(4)]
    assert found == [True, False, True, True]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no mode bits")
def test_nothing_is_read_or_kept_where_others_may_write(folder):
    folder.mkdir()
    folder.chmod(0o777)
    cache_of(folder).keep(b"code", "name")
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_no_failure(folder):
    folder.touch()
    cache_of(folder).keep(b"code", "name")
    assert cache_of(folder).read("name") is None


def test_a_state_is_that_of_sources_lists_and_compilers(monkeypatch):
    from terrain_physics._build import build_cache, signatures
    from terrain_physics._build.packages import DEMO, LIBRARY
    from terrain_physics._kernels import _cache

    before = build_cache.state([LIBRARY])
    assert build_cache.state([LIBRARY]) == before
    assert build_cache.state([LIBRARY, DEMO]) != before
    monkeypatch.setattr(_cache, "settings", lambda: ("checked bounds",))
    assert build_cache.state([LIBRARY]) != before
    monkeypatch.undo()
    monkeypatch.setattr(signatures, "read", lambda _: ["another.kernel(int64)"])
    assert build_cache.state([LIBRARY]) != before
    monkeypatch.undo()
    monkeypatch.setattr(build_cache, "version", lambda _: "0")
    assert build_cache.state([LIBRARY]) != before

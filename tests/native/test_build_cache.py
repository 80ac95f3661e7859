"""What builds keep: right or made anew, within its limit, and never a reason to fail."""

import errno
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from terrain_physics._kernels import _jit, _own_files

pytestmark = pytest.mark.skipif(not _jit.HAS_NUMBA, reason="nothing is compiled")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "builds"


def cache_of(folder: Path):
    from terrain_physics._build.build_cache import BuildCache

    return BuildCache(folder)


def test_what_is_kept_is_read_by_its_whole_name_and_for_the_same_tools(folder, monkeypatch):
    from terrain_physics._build import build_cache

    cache_of(folder).keep(b"code", "place", "processor")
    assert cache_of(folder).read("place", "processor") == b"code"
    assert cache_of(folder).read("place", "another") is None
    monkeypatch.setattr(build_cache, "tools", lambda: "edited")
    assert cache_of(folder).read("place", "processor") is None


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
    cache.forget_oldest()
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


def test_on_a_full_disk_nothing_is_kept_and_nothing_fails(folder, monkeypatch):
    def write_some(file, content):
        file.write_bytes(content[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    cache_of(folder).keep(b"code", "name")
    monkeypatch.setattr(_own_files, "write_new", write_some)
    cache_of(folder).keep(b"code", "other")
    assert cache_of(folder).read("other") is None
    assert cache_of(folder).read("name") == b"code"
    assert len(list(folder.iterdir())) == 1


def test_builds_may_keep_the_same_at_once(folder):
    content = bytes(range(256)) * 4000
    with ThreadPoolExecutor(4) as threads:
        for _ in range(100):
            threads.submit(cache_of(folder).keep, content, "name")
        found = [threads.submit(cache_of(folder).read, "name") for _ in range(100)]
    assert {one.result() for one in found} <= {None, content}
    assert cache_of(folder).read("name") == content
    assert len(list(folder.iterdir())) == 1


def test_another_build_may_forget_what_this_one_keeps(folder, monkeypatch):
    from terrain_physics._build import build_cache

    replace = Path.replace

    def replace_and_forget(part, file):
        replace(part, file)
        cache_of(folder).forget_oldest()

    monkeypatch.setattr(build_cache, "LIMIT", 0)
    monkeypatch.setattr(Path, "replace", replace_and_forget)
    cache_of(folder).keep(b"code", "name")
    assert cache_of(folder).read("name") is None
    cache_of(folder).forget_oldest()


def test_tools_are_compilers_their_settings_and_what_is_ours(tmp_path, monkeypatch):
    from terrain_physics._build import build_cache
    from terrain_physics._kernels import _cache

    def tools():
        build_cache.tools.cache_clear()
        return build_cache.tools()

    before = tools()
    assert tools() == before
    monkeypatch.setattr(_cache, "settings", lambda: ("checked bounds",))
    assert tools() != before
    monkeypatch.undo()
    monkeypatch.setattr(build_cache, "version", lambda _: "0")
    assert tools() != before
    monkeypatch.undo()
    folder = shutil.copytree(build_cache.FOLDER, tmp_path / "build")
    monkeypatch.setattr(build_cache, "FOLDER", folder)
    assert tools() == before
    (folder / "llvm" / "optimizing.py").write_bytes(b"edited")
    assert tools() != before

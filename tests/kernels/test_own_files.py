"""Machine code is loaded from files that nobody else can have written, and from no others."""

import hashlib
import os
import pickle
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.extras import library
from tests.helpers.tiny_package import RESULT, Tiny, preceded_by

library("numba", "jit")
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no mode bits")

_SOMEBODY_ELSE = 54321


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    tiny = Tiny(tmp_path_factory.mktemp("first"))
    tiny.run()
    return tiny


@pytest.fixture
def tiny(tmp_path: Path, first_run: Tiny) -> Tiny:
    """Return a package whose machine code is on disk already."""
    tiny = Tiny(tmp_path)
    shutil.copytree(first_run.cache, tiny.cache)
    return tiny


def kernels_folder(tiny: Tiny) -> Path:
    return tiny.cached_files()[0].parent


def is_loaded(tiny: Tiny, code: str = "", **env: str) -> bool:
    report = tiny.run(code, env=env)
    assert (report["result"], report["compiled"], report["warnings"]) == (RESULT, True, [])
    assert report["hits"] == report["cached_before"]
    return bool(report["hits"])


def test_what_this_user_wrote_is_loaded(tiny: Tiny) -> None:
    assert is_loaded(tiny)


class Planted:
    """An object that writes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self._mark,)


@posix_only
def test_planted_code_is_not_run(tiny: Tiny) -> None:
    mark = tiny.place / "run"
    payload = pickle.dumps(Planted(mark))
    for file in tiny.cached_files():
        file.write_bytes(hashlib.sha256(payload).digest() + payload)
        file.chmod(0o666)
    tiny.run()
    assert not mark.exists()


@posix_only
@pytest.mark.parametrize("mode", [0o666, 0o602, 0o646])
def test_a_file_that_others_may_write_is_compiled_again(tiny: Tiny, mode: int) -> None:
    for file in tiny.cached_files():
        file.chmod(mode)
    assert tiny.run()["hits"] == 0
    assert is_loaded(tiny)  # it was written anew


@posix_only
@pytest.mark.parametrize("mode", [0o777, 0o703, 0o1777])
def test_a_folder_that_others_may_write_is_not_used(tiny: Tiny, mode: int) -> None:
    kernels_folder(tiny).chmod(mode)
    before = sorted((file, file.stat().st_mtime_ns) for file in tiny.cached_files())
    assert not is_loaded(tiny)
    assert not is_loaded(tiny)
    assert before == sorted((file, file.stat().st_mtime_ns) for file in tiny.cached_files())


@posix_only
@pytest.mark.parametrize(("mode", "loaded"), [(0o777, False), (0o1777, True)])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_folder_above_may_be_shared_if_nobody_can_move_others_files(
    tiny: Tiny, mode: int, depth: int, loaded: bool
) -> None:
    [kernels_folder(tiny).parent, tiny.place][depth - 1].chmod(mode)
    try:
        assert is_loaded(tiny) is loaded
    finally:
        tiny.place.chmod(0o755)


@posix_only
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give")
@pytest.mark.parametrize("what", ["file", "folder", "folder above"])
def test_what_belongs_to_somebody_else_is_not_loaded(tiny: Tiny, what: str) -> None:
    folder = kernels_folder(tiny)
    given = {"file": tiny.cached_files(), "folder": [folder], "folder above": [folder.parent]}
    for path in given[what]:
        os.chown(path, _SOMEBODY_ELSE, -1)
    assert tiny.run()["hits"] == 0


@posix_only
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give")
def test_a_group_may_write_if_it_is_this_users_alone(tiny: Tiny) -> None:
    tiny.cache.chmod(0o775)
    assert is_loaded(tiny)  # root's own group, as with umask 002 on Debian
    os.chown(tiny.cache, -1, _SOMEBODY_ELSE)
    assert not is_loaded(tiny)


@posix_only
def test_a_link_leads_to_what_is_judged(tiny: Tiny) -> None:
    link = tiny.place / "link"
    link.symlink_to(tiny.cache)
    assert is_loaded(tiny, TERRAIN_PHYSICS_CACHE_DIR=str(link))
    tiny.cache.chmod(0o777)
    assert not is_loaded(tiny, TERRAIN_PHYSICS_CACHE_DIR=str(link))


@posix_only
@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077])
def test_new_folders_are_this_users_alone_whatever_the_umask(tiny: Tiny, mask: int) -> None:
    cache = tiny.place / "new" / "deep" / "cache"
    code = preceded_by(f"import os; os.umask({mask})")
    assert not is_loaded(tiny, code, TERRAIN_PHYSICS_CACHE_DIR=str(cache))
    assert is_loaded(tiny, code, TERRAIN_PHYSICS_CACHE_DIR=str(cache))
    files = sorted(cache.glob("*/*.bin"))
    for folder in (cache.parent.parent, cache.parent, cache, files[0].parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(not file.stat().st_mode & 0o022 for file in files)


@posix_only
def test_what_lies_in_the_package_is_trusted_like_its_sources(tiny: Tiny) -> None:
    cache = tiny.package / "cache"
    shutil.copytree(tiny.cache, cache)
    for path in cache.rglob("*"):
        path.chmod(0o777)
    assert is_loaded(tiny, TERRAIN_PHYSICS_CACHE_DIR=str(cache))


def test_where_there_are_no_owners_the_place_decides(tiny: Tiny) -> None:
    code = preceded_by("import numba, os; vars(os).pop('geteuid', None)")
    cache = tiny.home / "cache"
    shutil.copytree(tiny.cache, cache)
    home = {"HOME": str(tiny.home), "USERPROFILE": str(tiny.home)}
    assert is_loaded(tiny, code, TERRAIN_PHYSICS_CACHE_DIR=str(cache), **home)
    assert not is_loaded(tiny, code, **home)

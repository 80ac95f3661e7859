"""Programs in one archive, which Python runs as it is: `python app.pyz`."""

import importlib.util
import json
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.environments import IS_NATIVE, run

pytestmark = pytest.mark.packaging

PROGRAM = """
import json
import terrain_physics
from terrain_physics import HeightMap
from terrain_physics._kernels import _jit
from terrain_physics._kernels.heightmap.grid import height_at

height = HeightMap([[0, 1], [2, 3]]).height_at(0.25, 0.5)
hits = sum(height_at.stats.cache_hits.values()) if _jit.native is None else 0
print(json.dumps([terrain_physics.__file__, _jit.native is not None, height, hits]))
"""

UNPACKED_BESIDE = """
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(sys.argv[0]), "unpacked"))
"""

HEIGHT = 1.25


def run_app(python: Path, app: Path, cache: Path) -> Any:
    """Run a program elsewhere, any warning being an error; return what it says."""
    env = {"TERRAIN_PHYSICS_CACHE_DIR": str(cache)}
    return json.loads(run([python, "-W", "error", app], cwd=cache, env=env))


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba compiles there")
def test_numba_compiles_what_is_in_an_archive_and_keeps_it(wheel: Path, tmp_path: Path) -> None:
    app = tmp_path / "app.pyz"
    shutil.copy(wheel, app)
    with zipfile.ZipFile(app, "a") as archive:
        archive.writestr("__main__.py", PROGRAM)
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    for hits in (0, 1):
        file, is_native, *answers = run_app(Path(sys.executable), app, cache)
        assert Path(file).is_relative_to(app)
        assert not is_native
        assert answers == [HEIGHT, hits]


@pytest.mark.skipif(not IS_NATIVE, reason="no machine code is made here")
def test_machine_code_unpacked_beside_an_archive_is_used(
    wheel: Path, scripts: Path, tmp_path: Path
) -> None:
    unpacked, app = tmp_path / "unpacked", tmp_path / "app.pyz"
    zipfile.ZipFile(wheel).extractall(unpacked)
    with zipfile.ZipFile(app, "w") as archive:
        archive.writestr("__main__.py", UNPACKED_BESIDE + PROGRAM)
    file, *answers = run_app(scripts / "python", app, tmp_path)
    assert Path(file).is_relative_to(unpacked)
    assert answers == [True, HEIGHT, 0]

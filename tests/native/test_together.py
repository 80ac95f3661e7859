"""Several processes compile, and nothing twice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from terrain_physics._kernels import _jit

pytestmark = pytest.mark.skipif(
    not _jit.HAS_NUMBA or not hasattr(os, "fork"), reason="numba compiles, in forks"
)
pytest.importorskip("terrain_physics._build")

ROOT = Path(__file__).parents[2]

PROGRAM = """
import os, sys
from terrain_physics._build import signatures
from terrain_physics._build.packages import DEMO, LIBRARY
from terrain_physics._kernels._cache import _KernelCache
from tests.helpers import compiled, together

wanted = ("math.rows.", "math.orientation.", "raster.see_points", "raster.mark_ground")
lines = {
    package: [line for line in signatures.read(package) if line.startswith(wanted)]
    for package in (LIBRARY, DEMO)
}
signatures.read = lines.get
save = _KernelCache.save_overload

def save_and_tell(self, signature, result):
    save(self, signature, result)
    os.write(1, (self.file(signature, result.codegen).name + "\\n").encode())

_KernelCache.save_overload = save_and_tell
compiled.compile_all(3)
compiled.compile_all(2)  # compiles nothing
assert len(lines[LIBRARY]) > 2 and len(lines[DEMO]) == 2
kernels = [signatures.load(line, package) for package in lines for line in lines[package]]
for kernel, types in kernels:
    assert kernel._cache.file(types, kernel.targetctx.codegen()).exists()
"""


def test_each_task_is_done_once(tmp_path: Path) -> None:
    from tests.helpers import together

    together.do_all(20, lambda task: (tmp_path / str(task)).touch(exist_ok=False), 3)
    assert {file.name for file in tmp_path.iterdir()} == set(map(str, range(20)))


def test_a_task_that_fails_says_so_and_others_are_done(tmp_path: Path, capfd) -> None:
    from tests.helpers import together

    def do(task: int) -> None:
        if task == 0:
            raise ValueError("no such kernel")
        (tmp_path / str(task)).touch()

    together.do_all(5, do, 2)
    assert {file.name for file in tmp_path.iterdir()} == {"1", "2", "3", "4"}
    assert "no such kernel" in capfd.readouterr().err


@pytest.mark.full  # each cold run of the tests compiles all of them so
def test_no_kernel_is_compiled_twice_and_all_are_on_disk(tmp_path: Path) -> None:
    env = os.environ | {"TERRAIN_PHYSICS_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    compiled = done.stdout.splitlines()
    assert len(compiled) > 2
    assert sorted(compiled) == sorted(set(compiled))
    assert not done.stderr

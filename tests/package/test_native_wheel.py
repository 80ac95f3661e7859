"""The wheel's machine code: the same bits as numba's on each level and Python, and no gap in it."""

import os
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from terrain_physics import __version__
from tests.helpers.environments import IS_NATIVE, ROOT, environment, pythons, run, seconds

pytestmark = [
    pytest.mark.packaging,
    pytest.mark.skipif(not IS_NATIVE, reason="no machine code is made here"),
]

TEST_TOOLS = ("pytest>=8.2", "hypothesis>=6.100", "Pillow>=10.3")

FIRST_UPDATE = """
from terrain_physics import CharacterMovement, HeightMap, SphereCollider

CharacterMovement(HeightMap([[0, 0], [0, 0]]), SphereCollider(1)).update(1 / 60)
"""

LOADED = """
import importlib.util, sys
from terrain_physics._kernels import _jit
assert importlib.util.find_spec("numba") is None
print(_jit.native.__name__.rpartition("_")[2])
"""


WALK = ("--headless", "--renderer", "software", "--frames", "10", "--size", "320x200")

PLAYED = """
import importlib.util, os, sys
from terrain_physics._kernels import _native
from terrain_physics_demo.renderers import compiled
from terrain_physics_demo.running import command_line

assert command_line.main(sys.argv[1:]) == 0
assert compiled.native.__name__ == "terrain_physics_demo.renderers._native_" + os.environ["LEVEL"]
assert not _native.fallbacks
assert importlib.util.find_spec("numba") is None
"""


@pytest.fixture(scope="module")
def tester(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of an environment with the wheel and pytest, without numba."""
    # `.ci/wheel` calls pip.
    return environment(tmp_path_factory.mktemp("tester"), wheel, "pip", *TEST_TOOLS)


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the tests that has no package beside it."""
    folder = tmp_path_factory.mktemp("tests")
    for name in ("tests", "demo", "assets"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def run_tests(programs: Path, tests: Path, *names: str, level: str = "") -> None:
    """Run tests from the wheel; they fail if a kernel runs without machine code."""
    paths = [f"tests/{name}" for name in names]
    env = {"TERRAIN_PHYSICS_NATIVE_LEVEL": level}
    assert run([programs / "python", "-c", LOADED], cwd=tests, env=env)
    run([programs / "python", "-m", "pytest", "-q", *paths], cwd=tests, env=env)


def levels_here(programs: Path, folder: Path) -> list[str]:
    """Return the levels that this processor can run."""
    best = run([programs / "python", "-c", LOADED], cwd=folder).decode().strip()
    return ["v2", "v3", "v4"][: int(best.removeprefix("v")) - 1]


def test_wheel_serves_all_pythons_on_all_linuxes(wheel: Path) -> None:
    python, interface, place = wheel.stem.split("-")[2:]
    tags = "manylinux2014_x86_64.manylinux_2_17_x86_64"
    assert (python, interface, place) == ("cp311", "abi3", tags)
    assert wheel.stat().st_size < 6e6
    text = zipfile.ZipFile(wheel).read(f"terrain_physics-{__version__}.dist-info/WHEEL").decode()
    assert "Root-Is-Purelib: false" in text


def test_first_update_comes_within_a_second(scripts: Path, tmp_path: Path) -> None:
    numpy_alone = seconds([scripts / "python", "-c", "import numpy"], cwd=tmp_path)
    first_update = seconds([scripts / "python", "-W", "error", "-c", FIRST_UPDATE], cwd=tmp_path)
    assert first_update < max(1.0, 6 * numpy_alone)  # where NumPy takes 0.16 s, that is a second


@pytest.fixture(scope="module")
def player(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of an environment with the wheel and what its demo needs."""
    return environment(tmp_path_factory.mktemp("player"), f"{wheel}[demo]")


def test_the_demo_compiles_nothing_and_draws_what_a_checkout_draws(
    player: Path, tmp_path: Path
) -> None:
    pictures = [tmp_path / name for name in ("checkout.png", "wheel.png")]
    native = {"TERRAIN_PHYSICS_NATIVE": "0"}
    command = [sys.executable, "-m", "demo", *WALK, "--screenshot", pictures[0]]
    run(command, cwd=ROOT, env=native)
    command = [player / "python", "-W", "error::RuntimeWarning", "-c", PLAYED, *WALK]
    best = levels_here(player, tmp_path)[-1]
    run([*command, "--screenshot", pictures[1]], cwd=tmp_path, env={"LEVEL": best})
    seen, expected = (np.asarray(Image.open(file).convert("RGB")) for file in pictures)
    assert seen.std() > 1.0
    assert np.array_equal(seen, expected)
    told = run([player / "terrain-physics", "info"], cwd=tmp_path).decode()
    assert "machine code of the demo: as well" in told.splitlines()


@pytest.mark.full
def test_bits_of_the_other_levels_are_those_recorded(tester: Path, tests: Path) -> None:
    levels = levels_here(tester, tests)
    assert "v2" in levels
    for level in levels[:-1]:
        run_tests(tester, tests, "kernels/test_recorded_bits.py", level=level)


def run_suite(wheel: Path, python: str, place: Path) -> None:
    """Run the suite in an environment of a Python that holds the wheel, and no numba."""
    programs = environment(place, "pip", python=python)  # `.ci/wheel` calls it
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    sys.stdout.write(run([ROOT / ".ci" / "wheel", wheel], cwd=ROOT, env={"PATH": path}).decode())


def test_the_suite_passes_from_the_wheel_on_the_newest_python(wheel: Path, tmp_path: Path) -> None:
    run_suite(wheel, pythons()[0], tmp_path)


@pytest.mark.full
def test_the_suite_passes_from_the_wheel_on_other_pythons(wheel: Path, tmp_path: Path) -> None:
    for number, python in enumerate(pythons()[1:]):
        run_suite(wheel, python, tmp_path / str(number))


@pytest.mark.long
def test_the_rows_of_behaviour_hold_from_the_wheel(tester: Path, tests: Path) -> None:
    run_tests(tester, tests, "behaviour")

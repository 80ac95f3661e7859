"""The installed package: the wheel, from the source archive, in a bare environment elsewhere."""

import os
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from terrain_physics import __version__
from tests.helpers.environments import IS_NATIVE, OWN_PYTHON, ROOT, environment, run

pytestmark = pytest.mark.packaging

SAMPLE = ROOT / "assets" / "contest" / "sample.in"

LOOP = """
from terrain_physics import CharacterMovement, HeightMap, SphereCollider

land = HeightMap([[0, 0, 0], [0, 1, 0], [0, 0, 0]], cell_size=4.0)
mover = CharacterMovement(land, SphereCollider(0.5), position=(1, 3, 6.5))
for frame in range(180):
    result = mover.update(1 / 60)
assert result.grounded
x, y, z = mover.position
assert land.height_at(x, z) + 0.45 < y < land.height_at(x, z) + 0.6, mover.position
print("stands")
"""


LEVELS = ("v2", "v3", "v4")


def files_of(package: Path, *left_out: str) -> set[str]:
    """Return the files of a package of ours that belong into a wheel."""
    kept = {".py", ".pyi", ".typed", ".md", ".svg", ".png", ".txt"}
    kept |= {".html", ".css", ".js", ".json", ".LICENSE"}
    return {
        file.relative_to(ROOT).as_posix()
        for file in package.rglob("*")
        if file.suffix in kept and not any(package / name in file.parents for name in left_out)
    }


def test_wheel_holds_the_package_and_its_demo_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {
        "terrain_physics",
        "terrain_physics_demo",
        f"terrain_physics-{__version__}.dist-info",
    }
    expected = files_of(ROOT / "terrain_physics", "_build")
    expected |= {f"terrain_physics_{name}" for name in files_of(ROOT / "demo", "docs", "making")}
    expected.add("terrain_physics_demo/assets/land.png")
    stills = (ROOT / "assets" / "demo" / "stills").iterdir()
    expected |= {f"terrain_physics_demo/assets/demo/stills/{still.name}" for still in stills}
    if IS_NATIVE:
        places = ("terrain_physics/_kernels", "terrain_physics_demo/renderers")
        expected |= {f"{place}/_native_{level}.abi3.so" for place in places for level in LEVELS}
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert {"terrain_physics/py.typed", "terrain_physics/__init__.pyi"} <= expected


def test_demo_of_the_wheel_runs(wheel: Path, tmp_path: Path) -> None:
    place, here = tmp_path / "environment", tmp_path / "here"
    here.mkdir()
    programs = environment(place, f"{wheel}[demo]")
    options = ("--headless", "--frames", "2", "--size", "320x200", "--screenshot", "picture.png")
    told = run([programs / "terrain-physics", "demo", *options], cwd=here).decode()
    assert told.startswith("2 frames of walk")
    assert [file.name for file in here.iterdir()] == ["picture.png"]
    usage = run([programs / "python", "-m", "terrain_physics_demo", "--help"], cwd=here).decode()
    assert usage.startswith("usage: python -m terrain_physics_demo ")
    ball = run([programs / "python", "-m", "terrain_physics_demo.examples.minimal_loop"], cwd=here)
    assert ball


def test_wheel_says_what_it_is(wheel: Path) -> None:
    folder = f"terrain_physics-{__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = Parser().parsestr(archive.read(f"{folder}/METADATA").decode())
        assert f"{folder}/licenses/LICENSE" in archive.namelist()
        assert f"{folder}/licenses/terrain_physics/viewer/three.LICENSE" in archive.namelist()
        for file in (ROOT / "terrain_physics" / "_build" / "licenses").iterdir():  # linked in
            place = file.relative_to(ROOT).as_posix()
            assert archive.read(f"{folder}/licenses/{place}") == file.read_bytes()
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    required = [entry for entry in metadata.get_all("Requires-Dist", []) if "extra ==" not in entry]
    always = {entry.split(">=")[0] for entry in required if ";" not in entry}
    assert always == {"numpy", "pyglm", "platformdirs", "tqdm"}
    # Which of them is asked for where: test_requirements.py.
    numbas = [Requirement(entry) for entry in required if ";" in entry]
    assert {one.name for one in numbas} == {"numba"}
    assert {str(one.specifier) for one in numbas} == {">=0.61"}


def test_source_archive_holds_what_the_tests_need(built: Path) -> None:
    (file,) = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "pyproject.toml",
        ".ci/run",
        ".github/workflows/tests.yml",
        "terrain_physics/_build/hatch_hook.py",
        "terrain_physics/_build/memory.c",
        "terrain_physics/_build/runtime.c",
        "terrain_physics/_build/quick/entries.c",
        "terrain_physics/_build/signatures.txt",
        "terrain_physics/_build/signatures_of_demo.txt",
        "terrain_physics/viewer/three.min.js",
        "demo/making/three_bundle.py",
        "assets/contest/sample.in",
        "demo/docs/conf.py",
        "demo/docs/cookbook/jump.md",
        "demo/examples/minimal_loop.py",
        "tests/package/test_packaging.py",
    } <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith(".venv")]


@pytest.mark.full
def test_the_tests_of_the_source_archive_are_found_and_run(built: Path, tmp_path: Path) -> None:
    (file,) = built.glob("*.tar.gz")
    run(["tar", "-xzf", file], cwd=tmp_path)
    (folder,) = tmp_path.iterdir()
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q"]
    found, expected = (run(collect, cwd=place).decode() for place in (folder, ROOT))
    assert found.splitlines()[:-1] == expected.splitlines()[:-1]
    # Those that read files beside the packages run, too.
    reading = ["test_readme", "test_requirements", "test_workflows", "test_architecture"]
    files = [f"tests/package/{name}.py" for name in reading] + ["tests/docs/test_names.py"]
    told = run([sys.executable, "-m", "pytest", "-q", *files], cwd=folder).decode()
    assert "passed" in told
    assert "skipped" not in told


def test_nothing_is_released_without_a_date() -> None:
    ended = subprocess.run(
        [ROOT / ".ci" / "package", "--release", "nowhere"],
        cwd=ROOT,
        env=dict(os.environ) | OWN_PYTHON,
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, b"")
    told = f"not to be released: CHANGELOG.md has no date for {__version__}\n"
    assert ended.stderr.decode() == told


def test_installed_counter_answers_the_sample(scripts: Path, tmp_path: Path) -> None:
    expected = SAMPLE.with_suffix(".out").read_bytes()
    problem = SAMPLE.read_bytes()
    module = [scripts / "python", "-m", "terrain_physics", "count"]
    assert run(module, cwd=tmp_path, stdin=problem) == expected
    assert run([scripts / "terrain-physics", "count"], cwd=tmp_path, stdin=problem) == expected
    assert run([*module, SAMPLE], cwd=tmp_path) == expected


def test_installed_library_serves_a_loop(scripts: Path, tmp_path: Path) -> None:
    assert run([scripts / "python", "-W", "error", "-c", LOOP], cwd=tmp_path).split() == [b"stands"]


def test_installed_library_comes_without_the_demo(scripts: Path, tmp_path: Path) -> None:
    code = (
        "import importlib.util as u; print([u.find_spec(n) for n in ('demo', 'tests', 'pygame')])"
    )
    assert run([scripts / "python", "-c", code], cwd=tmp_path).strip() == b"[None, None, None]"

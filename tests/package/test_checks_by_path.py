"""The map of `.ci/checks.py` from paths to checks: complete, without dead rows, and it works."""

import re
import runpy
import shutil
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "checks.py"
MAP = runpy.run_path(str(SCRIPT))
CHECKS, PATHS, asked_by = MAP["CHECKS"], MAP["PATHS"], MAP["asked_by"]


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("the files of a checkout are known to git, those of an archive are not")
    paths: list[str] = MAP["tracked"]()
    return paths


def test_every_path_fits_a_row(tracked: list[str]) -> None:
    unknown = [path for path in tracked if not any(fnmatchcase(path, row) for row in PATHS)]
    assert not unknown


def test_every_row_fits_a_path(tracked: list[str]) -> None:
    dead = [row for row in PATHS if not any(fnmatchcase(path, row) for path in tracked)]
    assert not dead


def test_an_unknown_path_asks_for_all() -> None:
    assert asked_by("something/new.xyz") == set(CHECKS)


def test_rows_name_checks_and_each_is_a_function_of_the_steps() -> None:
    assert {check for checks in PATHS.values() for check in checks} == set(CHECKS)
    steps = (ROOT / ".ci" / "steps").read_text(encoding="utf-8")
    for check in CHECKS:
        assert f"\n{check}() {{\n" in steps


def test_the_check_of_data_runs_all_tests_of_its_libraries() -> None:
    asks = re.compile(r'library\("[\w.]+", "data"\)')
    files = [
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "tests").rglob("test_*.py")
        if asks.search(file.read_text(encoding="utf-8"))
    ]
    steps = (ROOT / ".ci" / "steps").read_text(encoding="utf-8")
    run = re.findall(
        r"tests/\w+/test_\w+\.py(?!:)", steps.partition("\ndata() {")[2].partition("}")[0]
    )
    assert sorted(files) == sorted(run)
    assert all("data" in asked_by(path) for path in files)


@pytest.mark.parametrize(
    ("path", "checks"),
    [
        ("terrain_physics/_kernels/geometry/rays.py", {"plain_python"}),
        ("terrain_physics/_kernels/_native.py", {"plain_python", "packaging"}),
        ("terrain_physics/counter/cluster/run.py", {"cluster", "data", "site"}),
        ("tests/conftest.py", set(CHECKS)),
        ("terrain_physics/viewer/page.js", {"browser", "site"}),
        ("demo/examples/pyglet_game.py", {"engines", "examples"}),
        ("demo/docs/index.md", {"site"}),
        ("tests/heightmap/test_rays.py", set()),
        ("CONTRIBUTING.md", set()),
        (".ci/steps", set(CHECKS)),
    ],
)
def test_what_paths_ask_for(path: str, checks: set[str]) -> None:
    assert asked_by(path) == checks


def script(place: Path) -> dict[str, Any]:
    """Return the names of the script of a checkout."""
    return runpy.run_path(str(place / ".ci" / "checks.py"))


def asked(place: Path) -> list[str]:
    found: list[str] = script(place)["asked"]()
    return found


def pass_on(place: Path, check: str) -> None:
    """Write down that a check has passed on the files as they are."""
    names = script(place)
    names["note"](check, names["state_of"](check, names["tracked"]()))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a checkout of a few files, on which all checks have passed."""
    for name in (".ci/checks.py", "demo/docs/index.md", "terrain_physics/viewer/page.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    shutil.copy(SCRIPT, tmp_path / ".ci")
    (tmp_path / ".ci" / "passed.json").write_text("{}\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert asked(tmp_path) == list(CHECKS)
    for check in CHECKS:
        pass_on(tmp_path, check)
    assert asked(tmp_path) == []
    return tmp_path


def test_an_edited_file_asks_for_its_checks_until_it_is_put_back(place: Path) -> None:
    page = place / "demo/docs/index.md"
    page.write_text("edited")
    assert asked(place) == ["site"]
    page.write_text("demo/docs/index.md")
    assert asked(place) == []


def test_new_and_removed_files_ask_for_theirs(place: Path) -> None:
    (place / "terrain_physics/viewer/new.js").write_text("")
    assert asked(place) == ["site", "browser"]
    (place / "terrain_physics/viewer/new.js").unlink()
    (place / "terrain_physics/viewer/page.js").unlink()
    assert asked(place) == ["site", "browser"]


def test_a_file_in_an_unknown_place_asks_for_all(place: Path) -> None:
    (place / "setup.cfg").write_text("")
    assert asked(place) == list(CHECKS)


@pytest.mark.parametrize("content", ["", "[", "[]", '{"site": 1}'])
def test_a_damaged_record_asks_for_all_and_is_written_anew(place: Path, content: str) -> None:
    (place / ".ci/passed.json").write_text(content)
    assert asked(place) == list(CHECKS)
    pass_on(place, "site")
    assert asked(place) == [check for check in CHECKS if check != "site"]


def test_without_git_all_are_asked_for(place: Path) -> None:
    shutil.rmtree(place / ".git")
    assert asked(place) == list(CHECKS)


def test_an_unknown_check_is_not_written_down(place: Path) -> None:
    with pytest.raises(SystemExit, match="no check: unknown"):
        script(place)["note"]("unknown", "")
    assert asked(place) == []

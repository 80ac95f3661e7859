"""The map of `.ci/checks.py` from paths to checks: complete, without dead rows, and it works."""

import json
import re
import runpy
import shutil
import subprocess
from datetime import date, timedelta
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


def step(name: str) -> str:
    """Return the lines of a step, and of the list of its tests."""
    steps = (ROOT / ".ci" / "steps").read_text(encoding="utf-8")
    lines = steps.partition(f"\n{name}() {{\n")[2].partition("\n}")[0]
    return lines + steps.partition(f"\n{name}_tests=(")[2].partition(")\n")[0]


TESTS = {
    file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
    for file in sorted((ROOT / "tests").rglob("test_*.py"))
}
OF_README = {"demo", "test", "gym", "jit"}
MARKED = {"site": "tests/docs/", "browser": "tests/viewer/", "cluster": "tests/cluster/"}


def test_a_test_that_asks_for_an_extra_runs_where_it_is_promised() -> None:
    for file, text in TESTS.items():
        if file == "tests/helpers/test_extras.py":  # no library is called so
            continue
        for extra in set(re.findall(r'library\("[\w.]+", "(\w+)"\)', text)) - OF_README:
            checks = [check for check in CHECKS if extra in MAP["ENVIRONMENTS"][check]]
            runs = [
                check
                for check in checks
                if file in step(check) or file.startswith(MARKED.get(check, "-"))
            ]
            assert runs, f"no step with extra {extra} runs {file}"
            assert all(check in asked_by(file) for check in runs), file


def test_libraries_are_asked_for_by_their_extras() -> None:
    asked_for = {
        name
        for text in TESTS.values()
        for name in re.findall(r'importorskip\(\s*"([\w.]+)"', text)
        if not name.startswith("terrain_physics.")
    }
    assert asked_for == {"fcntl", "resource"}  # which a system has or lacks


@pytest.mark.parametrize(
    ("path", "checks"),
    [
        ("terrain_physics/_kernels/geometry/rays.py", {"plain_python", "packaging"}),
        ("terrain_physics/warmup.py", {"packaging", "site"}),
        ("terrain_physics/character/movement.py", {"engines", "site"}),
        ("terrain_physics/_support/threads.py", {"cluster", "data"}),
        ("demo/renderers/raster.py", {"packaging"}),
        ("terrain_physics/counter/cluster/run.py", {"cluster", "data", "site"}),
        ("tests/conftest.py", set(CHECKS)),
        ("terrain_physics/viewer/page.js", {"browser", "site"}),
        ("demo/examples/pyglet_game.py", {"engines", "examples"}),
        ("demo/docs/index.md", {"site"}),
        ("tests/heightmap/test_rays.py", set()),
        ("CONTRIBUTING.md", set()),
        (".ci/steps", set(CHECKS)),
        (".ci/full", {"packaging"}),
    ],
)
def test_what_paths_ask_for(path: str, checks: set[str]) -> None:
    assert asked_by(path) == checks


LOG = "....s\n4 passed, 1 skipped in 0.1s\n"


def script(place: Path) -> dict[str, Any]:
    """Return the names of the script of a checkout."""
    return runpy.run_path(str(place / ".ci" / "checks.py"))


def asked(place: Path, *python: str) -> dict[str, str]:
    found: dict[str, str] = script(place)["asked"](*python)
    return found


def pass_on(place: Path, check: str, printed: str = LOG) -> None:
    """Write down that a check has passed on the files as they are."""
    names = script(place)
    names["note"].__globals__["installed"] = lambda _: {"python": "3.11.2", "dask": "2026.1"}
    names["note"](check, names["state_of"](check, names["tracked"]()), printed, "9", "python")


def edit(place: Path, check: str, **fields: str) -> None:
    """Change fields of an entry by hand."""
    record = place / ".ci/passed.json"
    known = json.loads(record.read_text())
    known[check] |= fields
    record.write_text(json.dumps(known))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a checkout of a few files, on which all checks have passed."""
    for name in ("demo/docs/index.md", "terrain_physics/viewer/page.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / ".ci").mkdir()
    for name in (".ci/checks.py", ".ci/pieces", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".ci" / "passed.json").write_text("{}\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert list(asked(tmp_path)) == list(CHECKS)
    for check in CHECKS:
        pass_on(tmp_path, check)
    assert asked(tmp_path) == {}
    return tmp_path


def test_an_edited_file_asks_for_its_checks_until_it_is_put_back(place: Path) -> None:
    page = place / "demo/docs/index.md"
    page.write_text("edited")
    assert list(asked(place)) == ["site"]
    page.write_text("demo/docs/index.md")
    assert asked(place) == {}


def test_new_and_removed_files_ask_for_theirs(place: Path) -> None:
    (place / "terrain_physics/viewer/new.js").write_text("")
    assert list(asked(place)) == ["site", "browser"]
    (place / "terrain_physics/viewer/new.js").unlink()
    (place / "terrain_physics/viewer/page.js").unlink()
    assert list(asked(place)) == ["site", "browser"]


def test_a_file_in_an_unknown_place_asks_for_all(place: Path) -> None:
    (place / "setup.cfg").write_text("")
    assert list(asked(place)) == list(CHECKS)


@pytest.mark.parametrize("content", ["", "[", "[]", '{"site": 1}', '{"site": {"files": "f"}}'])
def test_a_damaged_record_asks_for_all_and_is_written_anew(place: Path, content: str) -> None:
    (place / ".ci/passed.json").write_text(content)
    assert list(asked(place)) == list(CHECKS)
    pass_on(place, "site")
    assert list(asked(place)) == [check for check in CHECKS if check != "site"]


def test_without_git_all_are_asked_for(place: Path) -> None:
    shutil.rmtree(place / ".git")
    assert list(asked(place)) == list(CHECKS)


def test_an_unknown_check_and_one_without_a_test_are_not_written_down(place: Path) -> None:
    page = place / "demo/docs/index.md"
    page.write_text("edited")
    with pytest.raises(SystemExit, match="no check: unknown"):
        pass_on(place, "unknown")
    with pytest.raises(SystemExit, match="site ran no test"):
        pass_on(place, "site", "5 skipped in 0.1s\n")
    assert list(asked(place)) == ["site"]


@pytest.mark.parametrize("days", [0, 13])  # a day may end meanwhile
def test_a_check_counts_for_two_weeks(place: Path, days: int) -> None:
    edit(place, "site", date=(date.today() - timedelta(days)).isoformat())
    assert asked(place) == {}


@pytest.mark.parametrize("when", [str(date.today() - timedelta(15)), "2999-01-01", "yesterday"])
def test_an_old_check_does_not_count_nor_one_to_come(place: Path, when: str) -> None:
    edit(place, "site", date=when)
    assert list(asked(place)) == ["site"]


def test_a_hash_that_a_hand_writes_does_not_count(place: Path) -> None:
    (place / "demo/docs/index.md").write_text("edited")
    names = script(place)
    state = names["state_of"]("site", names["tracked"]())
    (place / ".ci/logs/site.log").write_text("1 failed, 4 passed in 0.1s\n")
    edit(place, "site", files=state)
    assert "its log is another one" in asked(place)["site"]
    (place / ".ci/logs/site.log").unlink()
    assert "cannot be read" in asked(place)["site"]


def test_other_versions_ask_for_a_check(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = script(place)
    now = {"python": "3.11.2", "dask": "2026.1"}
    own = names["asked"].__globals__
    monkeypatch.setitem(own, "installed", lambda _: {"python": "3.11.2"})
    monkeypatch.setitem(own, "resolved", lambda _python, _extras, held: held | now)
    assert names["asked"]("python") == {}
    now["dask"] = "2026.2"
    assert names["asked"]("python")["cluster"] == "dask 2026.1 is 2026.2 now"
    now.clear()
    monkeypatch.setitem(own, "installed", lambda _: {"python": "3.14.0", "numba": "0.70"})
    told = names["asked"]("python")
    assert told.keys() == set(CHECKS)
    assert told["site"] == "numba missing is 0.70 now, python 3.11.2 is 3.14.0 now"


def test_what_extras_resolve_to_is_asked_of_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    report = {"install": [{"metadata": {"name": "Dask_X", "version": "2026.1"}}]}
    asked_for: list[list[str]] = []

    def run(command: list[str], **_: object) -> Any:
        asked_for.append(command)
        return subprocess.CompletedProcess(command, 0, f"WARNING\n{json.dumps(report)}", "")

    monkeypatch.setattr(subprocess, "run", run)
    held = {"python": "3.11.2"}
    assert MAP["resolved"]("python", (), held) == held
    assert not asked_for
    assert MAP["resolved"]("python", ("dask",), held) == held | {"dask-x": "2026.1"}
    assert "--dry-run" in asked_for[0]
    assert any(word.startswith("dask[") for word in asked_for[0])


def test_logs_name_no_place_and_no_address() -> None:
    printed = f"{ROOT}/tests/a.py /tmp/x/y.log: https://example.invalid/simple\n\n4 passed\n"
    assert MAP["cleaned"](printed) == "./tests/a.py <folder>: <address>\n4 passed\n"
    many = "".join(f"line {k}\n" for k in range(999)) + "SKIPPED [1] why\n4 passed, 1 skipped\n"
    told = MAP["cleaned"](many).splitlines()
    assert told[19:] == ["line 19", "...", "SKIPPED [1] why", "4 passed, 1 skipped"]
    assert MAP["tests_in"](many) == (4, 1)


def test_the_map_is_compared_with_the_lines_that_a_check_alone_runs() -> None:
    compare = runpy.run_path(str(ROOT / ".ci" / "coverage_map.py"))
    source = (
        "import os\ndef here():\n    return os.name\nclass A:\n    def b(self):\n        pass\n"
    )
    assert compare["of_functions"](source) == {3, 6}
    path = "terrain_physics/group/group.py"
    bodies = sorted(compare["of_functions"]((ROOT / path).read_text(encoding="utf-8")))
    ran = {path: set(bodies[:9])}
    assert list(compare["missing"]("cluster", ran, {path: set(bodies[:8])})) == [path]
    assert list(compare["missing"]("cluster", ran, ran)) == []
    assert list(compare["missing"]("site", ran, {})) == []  # asks for it already


def test_pieces_of_full_are_functions_and_hold_all_folders_of_tests() -> None:
    pieces = [piece.split() for piece in MAP["pieces"]()]
    scripts = "".join(
        (ROOT / ".ci" / name).read_text(encoding="utf-8") for name in ("full", "steps")
    )
    assert all(f"\n{words[0]}() {{\n" in scripts for words in pieces)
    for tier in "full", "long":
        folders = {folder for words in pieces if words[0] == tier for folder in words[1:]}
        marked = {
            "/".join(file.split("/")[:2]) for file, text in TESTS.items() if f"mark.{tier}" in text
        }
        assert marked - {"tests/package", "tests/kernels", "tests/machines"} <= folders

"""The workflows of GitHub: nothing in them changes by itself."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
USES = [
    (file.name, line.strip())
    for file in WORKFLOWS
    for line in file.read_text(encoding="utf-8").splitlines()
    if re.match(r"\s*(- )?uses:", line)
]


def test_there_are_workflows() -> None:
    assert {file.stem for file in WORKFLOWS} >= {"tests", "release", "docs", "nightly"}
    assert len(USES) >= 10


@pytest.mark.parametrize(("file", "line"), USES, ids=[f"{file}: {line}" for file, line in USES])
def test_actions_are_pinned_by_a_hash_with_the_version_beside_it(file: str, line: str) -> None:
    assert re.fullmatch(r"(- )?uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)


def test_an_action_has_one_version_everywhere() -> None:
    pins: dict[str, set[str]] = {}
    for _, line in USES:
        action, pin = line.partition("uses: ")[2].split("@")
        pins.setdefault(action, set()).add(pin)
    assert {action: found for action, found in pins.items() if len(found) != 1} == {}


def jobs_of(file: Path) -> dict[str, str]:
    """Return the text of each job of a workflow, by its name."""
    jobs = file.read_text(encoding="utf-8").partition("\njobs:\n")[2]
    named = re.split(r"^  (\w+):$", jobs, flags=re.MULTILINE)[1:]
    return dict(zip(named[::2], named[1::2], strict=True))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_each_job_ends_by_itself_and_runs_no_package_where_it_may_write(file: Path) -> None:
    jobs = jobs_of(file)
    assert jobs
    for name, job in jobs.items():
        assert re.search(r"^    timeout-minutes: \d+$", job, re.MULTILINE), name
        assert ": write" not in job or "run:" not in job, name
    assert ": write" not in file.read_text(encoding="utf-8").partition("\njobs:\n")[0]

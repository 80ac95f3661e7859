"""A few cases of each campaign, a minute of each as a long test, and what the runner reports."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import soak
from tests.fuzz.__main__ import main
from tests.fuzz.campaigns import CAMPAIGNS
from tests.fuzz.runner import run

ROOT = Path(__file__).parents[2]

DAMAGED = """
import os, time
def case(seed):
    if seed == 3:
        raise ValueError("bad")
    if seed == 5:
        os.abort()
    if seed == 7:
        time.sleep(1000.0)
"""


def each(name: str) -> object:
    """Return a campaign for a test; those of threads and signals go alone."""
    is_alone = name in {"races", "signals_and_forks"}
    return pytest.param(name, marks=pytest.mark.alone) if is_alone else name


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's, about damaged files
@pytest.mark.parametrize("name", [each(name) for name in CAMPAIGNS])
def test_a_few_cases(name: str) -> None:
    """In this process, and for `api` without checks: to compile them takes minutes."""
    case = getattr(importlib.import_module(CAMPAIGNS[name].module), CAMPAIGNS[name].brief)
    for seed in range(CAMPAIGNS[name].quick):
        case(seed)


@pytest.mark.long
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_minute(name: str) -> None:
    assert main([name, "--seconds", "60", "--seed", "1000000"]) == 0


@pytest.mark.full  # it waits for the clock to tell that a case hangs
@pytest.mark.alone
def test_failures_crashes_and_hangs_are_told(tmp_path: Path) -> None:
    (tmp_path / "damaged.py").write_text(DAMAGED)
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    tally = run("damaged", 0, 600.0, 10, longest=10.0, environment=environment)
    assert tally.cases == 10
    assert [seed for seed, _ in tally.failures] == [3, 5, 7]
    assert "took more than 10 s" in tally.failures[2].reason


def test_the_command_line_tells_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["counter_inputs", "--seed", "7", "--cases", "2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("counter_inputs: from seed 7\n")
    assert "2 cases from seed 7" in out


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells")
def test_20000_frames_of_the_demo_in_flat_memory() -> None:
    command = [sys.executable, "-m", "demo", "--headless", "--frames", "20000", "--scene", "walk"]
    with subprocess.Popen(
        [*command, "--size", "160x120", "--renderer", "software"], cwd=ROOT, stdout=subprocess.PIPE
    ) as process:
        seen = []
        while process.poll() is None:
            seen.append(soak.held_by(process.pid))
            try:
                process.wait(1.0)
            except subprocess.TimeoutExpired:
                continue
    assert process.returncode == 0
    settled = seen[len(seen) // 4 : -2]
    assert max(held.memory for held in settled) <= soak.GROWTH * settled[0].memory
    assert max(held.handles for held in settled) == settled[0].handles

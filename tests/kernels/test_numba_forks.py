"""The process that forks for short programs tells what a process of its own would tell."""

import os
from pathlib import Path

import pytest

from tests.helpers import numba_forks
from tests.helpers.extras import library

library("numba", "jit")
pytestmark = pytest.mark.skipif(not numba_forks.CAN_FORK, reason="there are no forks")


def run(code: str, place: Path) -> tuple[int, str, str]:
    return numba_forks.run(code, env={"SEEN": "yes"}, cwd=place, path=[str(place)])


def test_a_program_has_its_environment_folder_and_modules(tmp_path: Path) -> None:
    (tmp_path / "found.py").write_text("text = 'found'")
    code = "import os, sys, found; print(found.text, __name__, dict(os.environ), os.getcwd())"
    status, out, err = run(code, tmp_path)
    assert (status, err) == (0, "")
    assert out == f"found __main__ {{'SEEN': 'yes'}} {os.path.realpath(tmp_path)}\n"


@pytest.mark.parametrize(
    ("code", "status", "told"),
    [
        ("raise SystemExit(3)", 3, ""),
        ("import sys; sys.exit('no way')", 1, "no way\n"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
        ("import os; os.kill(os.getpid(), 9)", -9, ""),
    ],
)
def test_the_end_of_a_program_is_told(tmp_path: Path, code: str, status: int, told: str) -> None:
    ended, out, err = run(code, tmp_path)
    assert (ended, out) == (status, "")
    assert err.endswith(told)
    assert run("print(1)", tmp_path) == (0, "1\n", "")  # the next is served


def test_nothing_is_left_of_one_program_in_the_next(tmp_path: Path) -> None:
    run("import numba, sys; numba.config.OPT = 7; sys.modules['of_mine'] = numba", tmp_path)
    code = "import numba, sys; print(numba.config.OPT == 7, 'of_mine' in sys.modules)"
    assert run(code, tmp_path)[1] == "False False\n"


def test_the_time_that_programs_take_is_added_up(tmp_path: Path) -> None:
    before = numba_forks.forked_cpu
    run("import time\nwhile time.process_time() < 0.05: pass", tmp_path)
    assert numba_forks.forked_cpu > before

"""A forked program is what a Python that is started for it would be."""

import os
import signal

import pytest

from tests.helpers import forks

PROGRAMS = {
    "what it is": "import sys; print(sys.argv, __name__, sys.path[0], sys.stdin.read())",
    "a status": "raise SystemExit(3)",
    "no status": "import sys; print('said'); sys.exit()",
    "a message": "import sys; sys.exit('refused')",
    "an error": "def work():\n    raise ValueError('bad')\nwork()",
    "no program": "x = = 1",
    "a warning": "import warnings; warnings.warn('odd'); print(warnings.filters[-1])",
    "Ctrl-C": "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
    "a signal": "import os; print('said', flush=True); os.kill(os.getpid(), 15)",
    "last words": "import atexit, threading\n"
    "atexit.register(print, 'last')\n"
    "threading.Thread(target=print, args=['thread']).start()",
    "a setting": "import os; print(os.environ['COLOR'], os.getcwd())",
}

needs_fork = pytest.mark.skipif(not forks.CAN_FORK, reason="the system does not fork well")


@needs_fork
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_forked_program_is_as_one_that_is_started(name, strict, tmp_path):
    words = [*(("-W", "error") if strict else ()), "-c", PROGRAMS[name], "one", 2]
    how = {"env": os.environ | {"COLOR": "red"}, "cwd": tmp_path, "input": b"read\n"}
    assert forks.run(*words, **how) == forks.run(*words, **how, own=True)


@needs_fork
def test_files_and_modules_too(tmp_path):
    for name in ("told", "other"):
        (tmp_path / f"{name}.py").write_text(
            "import sys\nfrom pathlib import Path\n"
            "print(__name__, Path(sys.argv[0]).name, sys.argv[1:], Path(sys.path[0]).name)"
        )
    for words in (("-m", "told", "x"), (tmp_path / "other.py", "y")):
        assert forks.run(*words, cwd=tmp_path) == forks.run(*words, cwd=tmp_path, own=True)


@needs_fork
def test_kernels_are_there_compiled_or_plain():
    program = (
        "from terrain_physics._kernels.heightmap.grid import height_at; print(type(height_at))"
    )
    for plain in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": plain}
        before = forks.spent
        told = forks.printed("-c", program, env=environment)
        assert forks.spent > before
        assert told == forks.printed("-c", program, env=environment, own=True)


def test_a_program_that_is_left_is_ended_before_the_next():
    left = forks.start("-c", "while True: pass")
    assert left.poll() is None
    assert forks.printed("-c", "print(1)") == "1\n"
    left.end()
    assert left.returncode == -getattr(signal, "SIGKILL", signal.SIGTERM)

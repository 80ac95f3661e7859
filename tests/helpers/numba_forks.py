"""Programs run in forks of one process that has loaded numba, and nothing of ours.

Half of the time of a short program goes into that. Where loading is what is tested, or where there
is no fork, a process of its own does it.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

CAN_FORK = hasattr(os, "fork")

forked_cpu = 0.0
"""Seconds of the processor that programs have taken, here and in the kernel, so far."""

_PARENT = """
import gc, importlib, json, os, signal, sys, traceback, types
import numba
from numba.core import caching, compiler, dispatcher
from numba.core.registry import cpu_target
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
gc.collect()
gc.freeze()

def run(ask):
    signal.alarm(1800)
    for name, number in (("out", 1), ("err", 2)):
        os.dup2(os.open(ask[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.clear()
    os.environ.update(ask["env"])
    os.chdir(ask["cwd"])
    sys.path[1:1] = ask["path"]
    sys.argv[:] = ["-c"]
    sys.dont_write_bytecode = True
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        exec(compile(ask["code"], "<string>", "exec"), vars(main))
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

answers = os.fdopen(os.dup(1), "w", buffering=1)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        status = run(json.loads(line))
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)
    _, status, used = os.wait4(child, 0)
    answer = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
    print(json.dumps(answer), file=answers)
"""

_SETTINGS = ("NUMBA_", "TERRAIN_PHYSICS_", "XDG_", "PYTHON", "COV")


def clean_environment() -> dict[str, str]:
    """Return the environment with no trace of this process's settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS)}


@cache
def _parent() -> subprocess.Popen[str]:
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT],
        env=clean_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(_end, parent)
    return parent


def _end(parent: subprocess.Popen[str]) -> None:
    for pipe in (parent.stdin, parent.stdout):
        if pipe is not None:
            pipe.close()
    parent.wait()


def run(code: str, *, env: Mapping[str, str], cwd: Path, path: list[str]) -> tuple[int, str, str]:
    """Run a program to its end; return its status, and what it wrote.

    Parameters
    ----------
    code : str
        What would follow ``python -c``.
    env : mapping
        The whole environment. What Python, numba or the loader read as they start is not heeded.
    cwd : Path
        The current folder.
    path : list of str
        Where modules are looked for first, as ``PYTHONPATH`` names them.
    """
    global forked_cpu  # noqa: PLW0603 a counter, read by whoever adds up
    parent = _parent()
    assert parent.stdin is not None
    assert parent.stdout is not None
    with tempfile.TemporaryDirectory() as name:
        out, err = Path(name, "out"), Path(name, "err")
        ask = {"code": code, "env": dict(env), "cwd": str(cwd), "path": path}
        parent.stdin.write(json.dumps(ask | {"out": str(out), "err": str(err)}) + "\n")
        parent.stdin.flush()
        status, seconds = json.loads(parent.stdout.readline())
        forked_cpu += seconds
        return status, out.read_text(), err.read_text()

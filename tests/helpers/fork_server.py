"""The helper of `tests.helpers.forks`: it has all loaded, and forks for each program."""

import atexit
import faulthandler
import gc
import json
import linecache
import os
import runpy
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

import terrain_physics
from terrain_physics._kernels import _jit
from terrain_physics._kernels.character.update import update_characters

_PID, _END, _LENGTH = struct.Struct("=i"), struct.Struct("=id"), struct.Struct("=I")


def load() -> None:
    """Load the library, and those of its kernels that are compiled; keep no thread."""
    for name in terrain_physics.__all__:
        getattr(terrain_physics, name)
    is_plain = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}
    if _jit.HAS_NUMBA and not is_plain and _jit.is_cached(update_characters):
        terrain_physics.warm_up()
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()  # so that no child writes to what it shares


def serve(asked: socket.socket) -> tuple[Any, list[int]]:
    """Fork for each program; return in the child what it shall do, and its streams."""
    told = 0.0
    while True:
        head, files, _, _ = socket.recv_fds(asked, _LENGTH.size, 3)
        if not head:
            os._exit(0)
        asking = json.loads(asked.recv(_LENGTH.unpack(head)[0], socket.MSG_WAITALL))
        child = os.fork()
        if child == 0:
            asked.close()
            return asking, files
        for file in files:
            os.close(file)
        asked.sendall(_PID.pack(child))
        _, status, used = os.wait4(child, 0)
        own = time.process_time()
        seconds = used.ru_utime + used.ru_stime + own - told
        told = own
        asked.sendall(_END.pack(os.waitstatus_to_exitcode(status), seconds))


def become(asking: Any, files: list[int]) -> Callable[[], object]:
    """Make this process one that was just started; return its program."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    streams = {
        "stdin": open(0, closefd=False),  # noqa: SIM115
        "stdout": open(1, "w", closefd=False),  # noqa: SIM115
        "stderr": open(2, "w", buffering=1, errors="backslashreplace", closefd=False),  # noqa: SIM115
    }
    for name, stream in streams.items():
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    here = os.environ.get("PYTHONPATH")
    os.environ.clear()
    os.environ.update(asking["env"])
    os.chdir(asking["cwd"])
    tempfile.tempdir = None
    if (path := os.environ.get("PYTHONPATH")) and path != here:
        sys.path[1:1] = path.split(os.pathsep)
    np.random.seed()  # noqa: NPY002 the state that all forks would share
    return main_of(options_of(asking["arguments"]))


def options_of(arguments: list[str]) -> list[str]:
    """Do what options of Python say; return what follows them."""
    is_strict = False
    while arguments[0] in {"-W", "-X"}:
        option, value, *arguments = arguments
        assert (option, value) in {("-W", "error"), ("-X", "faulthandler")}, "needs an own process"
        is_strict |= option == "-W"
        if option == "-X":
            faulthandler.enable()
    if not is_strict:
        sys.warnoptions.clear()
        filters = cast("list[Any]", warnings.filters)
        filters[:] = [one for one in filters if one[0] != "error"]
    return arguments


def main_of(arguments: list[str]) -> Callable[[], object]:
    """Return the program of ``python arguments``, as `__main__`."""
    kind, *rest = arguments
    if kind == "-m":
        name, *sys.argv[1:] = rest
        sys.path[0] = str(Path.cwd())
        return lambda: runpy.run_module(name, run_name="__main__", alter_sys=True)
    if kind != "-c":
        sys.argv[:] = arguments
        sys.path[0] = str(Path(kind).resolve().parent)
        return lambda: runpy.run_path(kind, run_name="__main__")
    code, *sys.argv[1:] = rest
    sys.argv[0] = "-c"
    sys.path[0] = ""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    if sys.version_info >= (3, 13):  # where Python shows the lines of such a program, too
        linecache.cache["<string>"] = len(code), None, code.splitlines(keepends=True), "<string>"
    return lambda: exec(compile(code, "<string>", "exec"), main.__dict__)  # noqa: S102


def status_of(program: Callable[[], object]) -> int:
    """Run a program; return its exit status, less than 0 for the number of a signal."""
    try:
        program()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)  # noqa: T201
        return 1
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_globals.get("__name__") != "__main__":
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def end(status: int) -> None:
    """End as Python does, but for its memory, which the system takes back."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            status = 120
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def main() -> None:
    """Serve; each child runs its program, and ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who runs the tests
    load()
    end(status_of(become(*serve(socket.socket(fileno=int(sys.argv[1]))))))

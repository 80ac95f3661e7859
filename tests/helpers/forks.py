"""Programs that run in a process of their own: forked from a Python that has the library loaded.

`run("-c", code)` is ``python -c code``, and so on, without the second that Python takes to load
numba, the library, and kernels from the cache. A helper, `tests.helpers.fork_server`, has them;
each process that runs tests starts its own when it first needs one, and another one where kernels
are plain Python. Where a program is to have other settings of Python, numba or the library, where
a system cannot fork well, and with ``own=True``, a Python is started as usual.
"""

import atexit
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

ROOT = Path(__file__).parents[2]

CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"
"""Whether this system can; libraries of macOS may end a child that is forked and starts nothing."""

HANG = 1800.0
"""Seconds that no program takes, whatever else the machine does: only against a hang."""

spent = 0.0
"""Seconds of CPU time of helpers and their programs, which are no children of this process."""

_SETTINGS = ("PYTHON", "NUMBA_", "TERRAIN_PHYSICS_", "XDG_", "HOME", "LD_", "MALLOC_")
"""How names of variables begin that are read while something is loaded."""

_FOLLOWED = "PYTHONPATH"
"""One of them that a forked program follows all the same."""

_PLAIN = "NUMBA_DISABLE_JIT"

_SERVE = "from tests.helpers.fork_server import main; main()"

_PID, _END, _LENGTH = struct.Struct("=i"), struct.Struct("=id"), struct.Struct("=I")


_Kept = Sequence[IO[bytes] | None]
"""Files for what a program writes to standard output and to standard error; None: it has others."""


class Done(NamedTuple):
    """The end of a program."""

    returncode: int
    stdout: str
    stderr: str


class Program:
    """A program that runs: what `subprocess.Popen` tells of one. Files keep what it writes."""

    def __init__(self, pid: int, kept: _Kept) -> None:
        self.pid, self._kept = pid, kept
        self.returncode: int | None = None
        self._written = [b"", b""]

    def poll(self) -> int | None:
        """Return the exit status, None while it runs."""
        return self._look(0.0)

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ends just now
                os.kill(self.pid, number)

    def communicate(self) -> tuple[bytes, bytes]:
        """Wait for the end; return what it wrote to standard output and error, if to no pipe."""
        if self._look(HANG) is None:
            self.abort()
            raise AssertionError(f"hangs: {self._read()}")
        out, err = self._read()
        return out, err

    def end(self) -> None:
        """Let it not run any longer."""
        self.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        self._look(HANG)
        self._read()

    def abort(self) -> None:
        """End it so that `faulthandler` can say where it is."""
        self.send_signal(signal.SIGABRT)
        if self._look(60.0) is None:
            self.end()

    def _read(self) -> list[bytes]:
        for number, file in enumerate(self._kept):
            if file is not None and not file.closed:
                file.seek(0)
                self._written[number] = file.read()
                file.close()
        return self._written

    def _look(self, seconds: float) -> int | None:
        """Wait so long at most; return the exit status, None while it runs."""
        raise NotImplementedError


class _Own(Program):
    """A Python that was started for it."""

    def __init__(self, process: "subprocess.Popen[bytes]", kept: _Kept) -> None:
        super().__init__(process.pid, kept)
        self._process = process

    def _look(self, seconds: float) -> int | None:
        try:
            self.returncode = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        return self.returncode


class _Forked(Program):
    """A program that a helper has forked."""

    def __init__(self, told: socket.socket, kept: _Kept) -> None:
        (pid,) = _PID.unpack(_exactly(told, _PID.size))
        super().__init__(pid, kept)
        self._told = told

    def _look(self, seconds: float) -> int | None:
        global spent  # noqa: PLW0603
        if self.returncode is None and select.select([self._told], [], [], seconds)[0]:
            self.returncode, used = _END.unpack(_exactly(self._told, _END.size))
            spent += used
        return self.returncode


class _Helper:
    """A process that forks; it runs one program at a time."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._socket, there = socket.socketpair()
        self._running: Program | None = None
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", _SERVE, str(there.fileno())],
            stdin=subprocess.DEVNULL,
            cwd=ROOT,
            pass_fds=[there.fileno()],
            # Who forks must have no threads, and a library for matrices would.
            env=os.environ | settings | {"OPENBLAS_NUM_THREADS": "1"},
        )
        there.close()
        atexit.register(self._end)

    def _end(self) -> None:
        if self._running is not None:
            self._running.end()  # else the helper would wait for it
        self._socket.close()
        self._process.wait()

    def fork(
        self,
        arguments: Sequence[str],
        files: Sequence[int],
        kept: _Kept,
        env: Mapping[str, str],
        cwd: str,
    ) -> Program:
        """Start a program; one that a test has left is ended."""
        if self._running is not None:
            self._running.end()
        asked = json.dumps({"arguments": arguments, "env": dict(env), "cwd": cwd}).encode()
        socket.send_fds(self._socket, [_LENGTH.pack(len(asked))], files)
        self._socket.sendall(asked)
        self._running = _Forked(self._socket, kept)
        return self._running


def start(
    *arguments: object,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    own: bool = False,
) -> Program:
    """Start ``python arguments``; what it reads, and where it writes, may be a file."""
    words, env = [str(word) for word in arguments], os.environ if env is None else env
    kept = [_file() if given is None else None for given in (stdout, stderr)]
    given: list[Any] = [stdout, stderr]
    out, err = (file or other for file, other in zip(kept, given, strict=True))
    helper = None if own else _helper(env)
    if helper is None:
        command = [sys.executable, *words]
        process = subprocess.Popen(command, env=env, cwd=cwd, stdin=stdin, stdout=out, stderr=err)
        return _Own(process, kept)
    with Path(os.devnull).open("rb") as nothing:
        read = nothing if stdin == subprocess.DEVNULL else stdin
        files = [file if isinstance(file, int) else file.fileno() for file in (read, out, err)]
        return helper.fork(words, files, kept, env, str(cwd))


def run(*arguments: object, input: bytes = b"", **options: Any) -> Done:  # noqa: A002
    """Run ``python arguments`` to its end."""
    with tempfile.TemporaryFile() as read:
        read.write(input)
        read.seek(0)
        program = start(*arguments, stdin=read, **options)
        out, err = (text.decode() for text in program.communicate())
    assert program.returncode is not None
    return Done(program.returncode, out, err)


def printed(*arguments: object, **options: Any) -> str:
    """Run ``python arguments``, which must end well; return what it prints."""
    done = run(*arguments, **options)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
    return done.stdout


def _file() -> IO[bytes]:
    return tempfile.TemporaryFile()


def _settings(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in env.items()
        if name.startswith(_SETTINGS) and name != _FOLLOWED
    }


_AT_FIRST = _settings(os.environ)


def _helper(env: Mapping[str, str]) -> _Helper | None:
    """Return who forks programs with these settings; None: a Python has to be started."""
    asked = _settings(env)
    is_plain = asked.pop(_PLAIN, "0") not in {"", "0"}
    usual = {name: value for name, value in _AT_FIRST.items() if name != _PLAIN}
    if not CAN_FORK or asked != usual:
        return None
    return _helper_of(is_plain=is_plain)


@cache
def _helper_of(*, is_plain: bool) -> _Helper:
    return _Helper({**_AT_FIRST, _PLAIN: "1" if is_plain else "0"})


def _exactly(told: socket.socket, size: int) -> bytes:
    found = told.recv(size, socket.MSG_WAITALL)
    if len(found) < size:
        raise RuntimeError("the helper that forks programs has ended")
    return found

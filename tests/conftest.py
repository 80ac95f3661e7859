"""Settings for all tests."""

import gc
import os
import signal
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

from terrain_physics._kernels import _jit, _native
from terrain_physics._support import threads
from tests.helpers import compiled, machine_code

# Tests compare what programs write.
os.environ.setdefault("TERRAIN_PHYSICS_QUIET", "1")

# What is far too little to be shared out in a game is shared out in tests.
threads._SHORTEST_TASK = 1_000

# A shell has what it starts in the background ignore Ctrl-C; children inherit that, and some tests
# send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first call of a kernel compiles it: no example has a deadline.
settings.register_profile("explore", deadline=None)
# The same examples in every run, so that a change is told from chance.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


_gaps_of_workers: set[str] = set()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(specs: list[object]) -> None:
    """Compile what the tests call before the workers start, so that none does it twice."""
    compiled.compile_all(processes=len(specs))


def pytest_report_header() -> list[str]:
    """Say if machine code was made for this checkout and is not used."""
    return _native.stale


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without looking for garbage among them: nearly all of it stays."""
    with _jit.collecting_rarely():
        return (yield)


def pytest_collection_finish() -> None:
    """Leave the modules and the thousands of tests out when Python looks for garbage.

    That is an eighth of the time that the tests take.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over from a worker that has ended."""
    _gaps_of_workers.update(getattr(node, "workeroutput", {}).get("gaps", ()))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if Python called a kernel with types that a wheel has no machine code for."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["gaps"] = machine_code.gaps()
    elif _gaps() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which those are."""
    for call in _gaps():
        terminalreporter.line(f"FAILED: no machine code for {call}; see CONTRIBUTING, Kernels")


def _gaps() -> list[str]:
    return sorted(_gaps_of_workers.union(machine_code.gaps()))

"""Settings for all tests."""

import gc
import signal
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

from terrain_physics._kernels import _jit, _native
from terrain_physics._support import threads
from tests.helpers import (
    compiled,
    examples,
    forks,
    lanes,
    leaps,
    machine_code,
    numba_forks,
    prices,
    rewriting,
)
from tests.helpers import threads as threads_at_work

# What is far too little to be shared out in a game is shared out in tests.
threads._SHORTEST_TASK = 1_000

# A shell has what it starts in the background ignore Ctrl-C; children inherit that, and some tests
# send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first call of a kernel compiles it: no example has a deadline. `max_examples` is the factor of
# `tests.helpers.examples`. The same examples in every run, so that a change is told from chance.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("full", deadline=None, derandomize=True, max_examples=100)
settings.register_profile("explore", deadline=None, max_examples=100)
settings.load_profile("steady")

TESTS = Path(__file__).parent

MOTION = ("behaviour", "character", "group")
"""Folders of tests of motion."""

TIERS = ("full", "long")
"""Markers of tests that repeat a promise for more input; `full` also tries all examples."""

_prices = prices.Prices()
_gaps_of_workers: set[str] = set()
_left_out: Counter[str] = Counter()
_files_begun: set[Path] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the prices of the default tier be recorded, if it runs whole."""
    parser.addoption("--record-prices", action="store_true", help="write tests/prices.json anew")


def pytest_configure(config: pytest.Config) -> None:
    """Try all examples in the larger tiers; look for doctests; make the lanes of the workers."""
    if _selects(config, *TIERS) and not config.getoption("hypothesis_profile", None):
        settings.load_profile("full")
    config.pluginmanager.register(_Doctests())  # this file's own hooks are for tests alone
    if getattr(config.option, "numprocesses", None):
        lanes.begin()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what the lanes needed."""
    if getattr(config.option, "numprocesses", None):
        lanes.end()


def _selects(config: pytest.Config, *markers: str) -> bool:
    """Tell whether the tests that are asked for are those of a marker."""
    words = config.getoption("markexpr").replace("(", " ").replace(")", " ").split()
    return any(word in markers and words[max(k - 1, 0)] != "not" for k, word in enumerate(words))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(specs: list[object]) -> None:
    """Compile what the tests call before the workers start, so that none does it twice."""
    compiled.compile_all(processes=len(specs))


def pytest_report_header() -> list[str]:
    """Say if machine code was made for this checkout and is not used."""
    return _native.stale


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect the tests without looking for garbage among them: nearly all of it stays."""
    with _jit.collecting_rarely():
        worker = getattr(session.config, "workerinput", None)
        if worker is not None and _is_default(session.config):
            number = int(worker["workerid"].removeprefix("gw"))
            rewriting.import_all(number, worker["workercount"])
        return (yield)


class _Doctests:
    """Looks for doctests in modules of the library that may have some: tests have none.

    What is public is of the package whose ``__init__.py`` names it.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Leave out what would be imported and looked through in vain."""
        collectors = yield
        may_have = file_path.name == "__init__.py" or b">>>" in file_path.read_bytes()
        if may_have and TESTS not in file_path.parents:
            return collectors
        return [one for one in collectors if type(one).__name__ != "DoctestModule"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let those that go alone go last; add to the tier `full` what tries more there."""
    items.sort(key=lambda item: item.get_closest_marker("alone") is not None)
    if _selects(config, "full"):
        for item in items:
            is_long = item.get_closest_marker("long") is not None
            if not is_long and _tries_more(getattr(item, "obj", None)):
                item.add_marker("full")


_TRY_MORE = {"times": examples.times, "together": threads_at_work.together}


def _tries_more(test: Any) -> bool:
    """Tell whether a test tries more in the tier `full`: a property, or one that asks for more."""
    names = getattr(getattr(test, "__code__", None), "co_names", ())
    asks = any(
        name in names and test.__globals__.get(name) is function
        for name, function in _TRY_MORE.items()
    )
    return asks or is_hypothesis_test(test)


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count what is left to other tiers."""
    _left_out.update(
        tier for item in items for tier in TIERS if item.get_closest_marker(tier) is not None
    )


def pytest_collection_finish() -> None:
    """Leave the modules and the thousands of tests out when Python looks for garbage.

    That is an eighth of the time that the tests take.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test in its lane, and add up what it costs."""
    if item.path not in _files_begun:  # kernels and trees of syntax that those before have kept
        _files_begun.add(item.path)
        gc.freeze()
    is_alone = item.get_closest_marker("alone") is not None
    with lanes.lane(alone=is_alone), _prices.paid_by(item.nodeid):
        before = _spent_in_forks()
        try:
            return (yield)
        finally:
            _prices.of_others += _spent_in_forks() - before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Hold the law of leaps in tests of motion of the larger tiers: it doubles their price."""
    is_larger = any(item.get_closest_marker(tier) is not None for tier in TIERS)
    with leaps.none_leaps() if is_larger and item.path.parent.name in MOTION else nullcontext():
        return (yield)


def _spent_in_forks() -> float:
    return forks.spent + numba_forks.forked_cpu


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over from a worker that has ended."""
    output = getattr(node, "workeroutput", {})
    _gaps_of_workers.update(output.get("gaps", ()))
    _prices.add(output.get("prices", {}))
    _left_out.update(output.get("left_out", {}) if not _left_out else {})  # each has left out all


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a kernel had types that a wheel has no machine code for."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput |= {
            "gaps": machine_code.gaps(),
            "prices": dict(_prices.spent),
            "left_out": dict(_left_out),
        }
        return
    if _gaps() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if _is_default(session.config) and session.config.getoption("record_prices"):
        prices.record(_prices.spent)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which those are, what tests cost, and what is left to other tiers."""
    config = terminalreporter.config
    for call in _gaps():
        terminalreporter.line(f"FAILED: no machine code for {call}; see CONTRIBUTING, Kernels")
    if "not full" in config.getoption("markexpr"):
        for line in _prices.report(is_whole=_is_default(config)):
            terminalreporter.line(line)
    if _is_default(config):
        terminalreporter.line(
            f"left out: {_left_out['full']} tests, and four fifths of the examples of properties "
            f"(pytest -m full); {_left_out['long']} tests that take minutes (pytest -m long)"
        )


def _is_default(config: pytest.Config) -> bool:
    """Tell whether this run was the default tier, whole."""
    is_whole = config.args == config.getini("testpaths") and not config.getoption("keyword")
    return is_whole and config.getoption("markexpr").startswith("not full and not long and")


def _gaps() -> list[str]:
    return sorted(_gaps_of_workers.union(machine_code.gaps()))

"""What takes long says so once: in a log, or on a terminal where no log is kept."""

import io
import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

from terrain_physics._kernels import _notices
from terrain_physics._kernels._jit import HAS_NUMBA
from tests.helpers.tiny_package import Tiny, preceded_by

TEXT = "compiling, once on this computer, about a minute if all is used"


class Stream(io.StringIO):
    """A stand-in for standard error."""

    is_terminal = True

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.fixture
def stderr(monkeypatch: pytest.MonkeyPatch) -> Stream:
    """Return a terminal in a program that keeps no log."""
    stream = Stream()
    # Not of the real `sys`: pytest puts its own there for each part of a test.
    monkeypatch.setattr(_notices, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(_notices, "IS_QUIET", False)
    monkeypatch.setattr(_notices, "audience", _notices._Audience())
    monkeypatch.setattr(logging.Logger, "hasHandlers", lambda _: False)  # pytest adds its own
    return stream


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(_notices, "time", clock)
    return clock


def test_a_terminal_gets_one_line(stderr):
    _notices.tell("so it is")
    assert stderr.getvalue() == "terrain_physics: so it is\n"


def test_a_file_gets_nothing_unless_our_own_command_runs(stderr):
    stderr.is_terminal = False
    _notices.tell("unseen")
    _notices.audience.runs_our_command = True
    _notices.tell("so it is")
    assert stderr.getvalue() == "terrain_physics: so it is\n"


def test_a_bar_that_moves_is_enough(stderr):
    _notices.audience.sees_progress = True
    _notices.tell("unseen")
    assert not stderr.getvalue()


def test_no_standard_error_or_a_closed_one_is_no_error(stderr, monkeypatch):
    stderr.close()
    _notices.tell("unseen")
    monkeypatch.setattr(_notices, "sys", SimpleNamespace(stderr=None))
    _notices.tell("unseen")


def test_a_log_gets_it_instead_of_the_terminal(stderr, caplog, monkeypatch):
    monkeypatch.setattr(logging.Logger, "hasHandlers", lambda _: True)
    with caplog.at_level(logging.INFO, "terrain_physics"):
        _notices.tell("so it is")
    assert caplog.record_tuples == [("terrain_physics", logging.INFO, "so it is")]
    assert not stderr.getvalue()


def test_a_log_that_keeps_warnings_only_leaves_it_to_the_terminal(stderr, caplog, monkeypatch):
    monkeypatch.setattr(logging.Logger, "hasHandlers", lambda _: True)
    with caplog.at_level(logging.WARNING, "terrain_physics"):
        _notices.tell("so it is")
    assert not caplog.records
    assert stderr.getvalue() == "terrain_physics: so it is\n"


def test_a_quiet_program_gets_nothing(stderr, caplog, monkeypatch):
    monkeypatch.setattr(_notices, "IS_QUIET", True)
    _notices.tell("unseen")
    assert not stderr.getvalue()
    assert not caplog.records


def told(stderr: Stream) -> int:
    return stderr.getvalue().count("\n")


def test_what_takes_long_by_itself_says_so_as_it_ends(stderr, clock):
    watch = _notices.Stopwatch(lambda: "long")
    watch.begin("one")
    clock.now += _notices.PATIENCE
    assert told(stderr) == 0
    watch.end("one")
    assert told(stderr) == 1


def test_what_begins_within_it_says_so_meanwhile_and_only_once(stderr, clock):
    watch = _notices.Stopwatch(lambda: "long")
    watch.begin("one")
    clock.now += _notices.PATIENCE / 2
    watch.begin("two")
    watch.end("two")
    assert told(stderr) == 0
    clock.now += _notices.PATIENCE / 2
    watch.begin("three")
    assert told(stderr) == 1
    clock.now += 99.0
    watch.end("three")
    watch.end("one")
    watch.begin("one")
    assert told(stderr) == 1


def test_short_times_add_up_and_those_between_do_not(stderr, clock):
    watch = _notices.Stopwatch(lambda: "long")
    for _ in range(2):
        watch.begin("one")
        clock.now += 0.4 * _notices.PATIENCE
        watch.end("one")
        clock.now += 99.0
    assert told(stderr) == 0
    watch.begin("one")
    clock.now += 0.4 * _notices.PATIENCE
    watch.end("one")
    assert told(stderr) == 1


@pytest.mark.skipif(not HAS_NUMBA, reason="nothing is compiled")
def test_kernels_that_take_long_to_compile_say_so_and_cached_ones_do_not(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path)
    code = preceded_by("""
import io, sys
from types import SimpleNamespace
from tiny import _notices
class Terminal(io.StringIO):
    def isatty(self):
        return True
sys.stderr = Terminal()
times = iter(range(1_000_000))
_notices.time = SimpleNamespace(monotonic=lambda: next(times))
""").replace("dumps(report())", "dumps(report() | {'told': sys.stderr.getvalue()})")
    assert [tiny.run(code)["told"] for _ in range(2)] == [f"terrain_physics: {TEXT}\n", ""]
    tiny = Tiny(tmp_path / "again")
    quiet = tiny.run(code, env={"TERRAIN_PHYSICS_QUIET": "1"})
    assert not quiet["told"]

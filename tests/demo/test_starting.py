"""A first start: what is compiled by whom, how long it takes yet, and what goes wrong."""

import importlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest

from demo.panel.loading import Report
from demo.starting import background, code, courses, helper, preparation, rehearsal
from demo.starting.compiling import told_of_functions
from demo.starting.course import Course, Milestone, in_words
from terrain_physics import warmup
from terrain_physics._kernels._jit import HAS_NUMBA
from terrain_physics._support.helper_process import start_helper

WAY = [Milestone("a", 0.25), Milestone("b", 0.5), Milestone("c", 0.75)]
HANG = 900.0  # seconds that nothing here takes


def test_a_course_expects_what_was_measured() -> None:
    course = Course(40.0, WAY, 100.0)
    assert course.share(100.0) == 0.0
    assert course.left(100.0) == 40.0
    assert course.left(104.0) == pytest.approx(36.0)


def test_a_course_stops_short_of_a_milestone_that_is_late() -> None:
    course = Course(40.0, WAY, 0.0)
    assert course.share(9.0) < course.share(30.0) <= course.share(300.0) < 0.25
    assert course.left(9.0) < 40.0 < course.left(30.0) < course.left(300.0)


def test_a_slow_computer_corrects_what_is_left() -> None:
    course = Course(40.0, WAY, 0.0)
    course.reach("a", 30.0)
    course.reach("b", 60.0)
    assert course.share(60.0) == 0.5
    assert 40.0 < course.left(60.0) < 60.0  # three times 20 s, and a little trust in the table
    course.finish()
    assert (course.share(61.0), course.left(61.0)) == (1.0, 0.0)


def test_what_was_done_before_tells_nothing_of_the_pace() -> None:
    course = Course(40.0, WAY, 0.0)
    course.reach("b", 0.5)  # another start has passed the first
    assert course.share(0.5) == 0.5
    assert course.left(0.5) == pytest.approx(20.0)
    course.reach("a", 0.6)  # is behind
    course.reach("unknown", 0.7)
    assert course.left(0.5) == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "a few seconds left"),
        (12.4, "about 10 seconds left"),
        (88.0, "about 90 seconds left"),
        (100.0, "about 2 minutes left"),
        (400.0, "about 7 minutes left"),
    ],
)
def test_what_is_left_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


@pytest.mark.parametrize("part", ["walking", "drawing"])
def test_milestones_are_functions_in_the_order_of_their_shares(part: str) -> None:
    seconds, milestones = courses.measured()[part]
    assert seconds > 1.0
    shares = [0.0, *(milestone.share for milestone in milestones), 1.0]
    assert shares == sorted(shares)
    assert max(after - before for before, after in pairwise(shares)) < 0.2
    assert len({milestone.name for milestone in milestones}) == len(milestones) > 10
    known = sum(is_there(milestone.name) for milestone in milestones)
    assert known > 0.8 * len(milestones)  # a few that are gone do not mislead anybody


def is_there(function: str) -> bool:
    module, _, name = function.rpartition(".")
    for package in ("", "demo."):
        try:
            return hasattr(importlib.import_module(package + module), name)
        except ModuleNotFoundError:
            continue
    return False


@pytest.mark.skipif(not HAS_NUMBA, reason="nothing is compiled without numba")
def test_functions_are_told_as_they_are_compiled() -> None:
    import numba

    @numba.njit
    def twice(x):
        return 2 * x

    told: list[str] = []
    with told_of_functions(told.append):
        assert twice(3) == 6
    assert told == [f"{__name__}.twice"]
    assert twice(3.0) == 6.0
    assert len(told) == 1


def test_another_process_tells_how_far_it_is_and_when_it_is_done(monkeypatch) -> None:
    start(monkeypatch, "print('one'); print('two'); print('done')")
    heard: list[str] = []
    process = helper.Helper("drawing", "walk", "software", heard.append)
    process.wait()
    assert not process.is_working
    assert (heard, process.failure) == (["one", "two"], "")


def test_the_last_word_of_a_process_that_fails_is_the_reason(monkeypatch) -> None:
    start(monkeypatch, "print('one', flush=True); raise SystemExit('no room')")
    process = helper.Helper("drawing", "walk", "software", lambda _: None)
    process.wait()
    assert process.failure == "no room"


def test_a_process_that_is_ended_has_not_failed(monkeypatch) -> None:
    start(monkeypatch, "import time; time.sleep(900)")
    process = helper.Helper("rest", "walk", "software", lambda _: None)
    assert process.is_working
    process.end()
    process.wait()
    assert not process.failure


def test_a_process_that_cannot_be_started_has_failed(monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("not allowed")

    monkeypatch.setattr("demo.starting.helper.start_helper", refuse)
    process = helper.Helper("rest", "walk", "software", lambda _: None)
    assert not process.is_working
    assert process.failure == "not allowed"
    process.wait()
    process.end()
    assert background.Background("walk", "software").news().endswith(": not allowed")


def test_a_warning_in_another_encoding_is_heard(monkeypatch) -> None:
    start(monkeypatch, r"sys.stdout.buffer.write(b'\xff\none\ndone\n')")
    heard: list[str] = []
    process = helper.Helper("drawing", "walk", "software", heard.append)
    process.wait()
    assert (heard[1:], process.failure) == (["one"], "")


def start(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Have helpers run another program."""
    monkeypatch.setattr(
        "demo.starting.helper.start_helper", lambda _, **how: start_helper(program, **how)
    )


def test_a_part_that_cannot_be_done_is_told_in_a_line(monkeypatch, capsys) -> None:
    def rehearse(part: str, name: str, kind: str, tell: Callable[[str], None]) -> None:
        tell("a")
        raise OSError("no\nroom")

    monkeypatch.setattr(rehearsal, "rehearse", rehearse)
    with pytest.raises(SystemExit) as ended:
        rehearsal.main("walking", "walk", "software")
    assert ended.value.code == 1
    assert capsys.readouterr().out == "a\nOSError: no room\n"


def test_the_rest_is_every_scene_and_every_job(monkeypatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(rehearsal, "everything", lambda scene, _: seen.append(scene.name))
    monkeypatch.setattr(warmup, "run_jobs", lambda: seen.append("jobs"))
    monkeypatch.setattr(rehearsal, "SCENES", ("slopes", "stairs"))
    told: list[str] = []
    rehearsal.rehearse("rest", "stairs", "software", told.append)
    assert seen == ["stairs", "slopes", "jobs"]
    assert [line.partition("\t")[2] for line in told] == ["stairs", "slopes", "queries"]
    assert [float(line.partition("\t")[0]) for line in told] == [0.0, 1 / 3, 2 / 3]


class Stand:
    """Takes the place of a process."""

    made: ClassVar[list[tuple[str, bool]]] = []
    left: ClassVar[list[list[str]]] = []
    lines: tuple[str, ...] = ()
    failure = ""
    is_working = False

    def __init__(self, part, _name, _kind, hear, *, gives_way=False) -> None:
        self.made.append((part, gives_way))
        for line in self.lines:
            hear(line)

    def wait(self) -> None:
        pass

    def end(self) -> None:
        self.made.append(("ended", False))


@pytest.fixture
def stand(monkeypatch) -> Any:
    """Let nothing be compiled here, and tell who compiles what."""

    class Fresh(Stand):
        made: ClassVar[list[tuple[str, bool]]] = []

    monkeypatch.setattr(helper, "Helper", Fresh)
    monkeypatch.setattr(background, "Helper", Fresh)
    monkeypatch.setattr(code, "can_help", lambda: True)
    monkeypatch.setattr(code, "why_not_kept", lambda: "")
    left = [["walking", "drawing"], []]
    monkeypatch.setattr(code, "missing_parts", lambda _: left.pop(0))
    monkeypatch.setattr("demo.renderers.likely_kind", lambda _: "software")

    def rehearse(part: str, *_: object) -> None:
        Fresh.made.append((f"{part} here", False))

    monkeypatch.setattr(rehearsal, "rehearse", rehearse)
    Fresh.left = left
    return Fresh


def test_two_processes_compile_and_this_one_loads(stand) -> None:
    prepared = preparation.Preparation("walk")
    assert prepared.report().title == "Loading"
    assert prepared.compile("auto") == "software"
    assert stand.made == [("walking", False), ("drawing", False)]
    assert prepared.report() == Report("Loading", (), 1.0)
    assert not prepared.notes


def test_meanwhile_the_bar_tells_what_and_how_long(stand, monkeypatch) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(stand, "wait", lambda _: let_go.wait(HANG))
    prepared = preparation.Preparation("walk")
    thread = threading.Thread(target=prepared.compile, args=("auto",))
    thread.start()
    try:
        end = time.monotonic() + HANG
        while len(stand.made) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        report = prepared.report()
        assert report.title == "Compiling the code for walking and drawing"
        assert report.details[0].startswith("once on this computer, about ")
        assert 0.0 <= report.share < 1.0
    finally:
        let_go.set()
        thread.join()


def test_all_that_is_compiled_is_told_from_the_beginning(stand, monkeypatch) -> None:
    prepared = preparation.Preparation("walk")
    titles: list[str] = []

    class Asking(stand):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            titles.append(prepared.report().title)

    monkeypatch.setattr(helper, "Helper", Asking)
    prepared.compile("auto")
    assert titles == ["Compiling the code for walking and drawing"] * 2


def test_a_course_may_finish_while_the_bar_is_drawn(monkeypatch) -> None:
    class Finishing(Course):
        asked = 0
        when = 0

        @property
        def done(self) -> bool:
            self.asked += 1
            return self.asked > self.when

        @done.setter
        def done(self, value: bool) -> None:
            pass

    prepared = preparation.Preparation("walk")
    for when in range(5):
        course = Finishing(40.0, WAY, 0.0)
        course.when = when
        monkeypatch.setattr(prepared, "_courses", {"walking": course})
        assert prepared.report().share <= 1.0


def test_a_picture_without_opengl_after_all_is_compiled_later(stand) -> None:
    stand.left[:] = [["walking"], [], ["drawing"], []]
    prepared = preparation.Preparation("walk")
    prepared.compile("auto")
    prepared.compile("software")
    assert stand.made == [("walking", False), ("drawing", False)]


def test_why_code_is_not_kept_is_told_once(stand, monkeypatch) -> None:
    monkeypatch.setattr(code, "why_not_kept", lambda: "full")
    stand.left[:] = [["walking"], ["walking"], ["drawing"], ["drawing"]]
    prepared = preparation.Preparation("walk")
    prepared.compile("auto")
    prepared.compile("software")
    assert stand.made == [("walking here", False), ("drawing here", False)]
    assert prepared.notes == ["full"]


def test_what_other_processes_left_out_is_compiled_here(stand) -> None:
    stand.failure = "OSError: no room"
    stand.left[1:] = [["drawing"]]
    prepared = preparation.Preparation("walk")
    prepared.compile("auto")
    assert stand.made[2:] == [("drawing here", False)]
    assert prepared.notes == [
        "the code for walking was not compiled (OSError: no room)",
        "the code for drawing was not compiled (OSError: no room)",
    ]


def test_code_that_cannot_be_kept_is_compiled_here_and_that_is_told(stand, monkeypatch) -> None:
    monkeypatch.setattr(code, "why_not_kept", lambda: "compiled code is not kept: /x: full")
    stand.left[1:] = [["walking", "drawing"]]
    prepared = preparation.Preparation("walk")
    prepared.compile("auto")
    assert stand.made == [("walking here", False), ("drawing here", False)]
    assert prepared.notes == ["compiled code is not kept: /x: full"]


def test_a_closed_window_ends_the_processes(stand) -> None:
    prepared = preparation.Preparation("walk")
    prepared.compile("auto")
    prepared.end()
    assert stand.made[2:] == [("ended", False)] * 2


def test_the_background_tells_how_far_it_is_and_once_why_it_failed(stand) -> None:
    stand.lines = ("a warning of somebody", "0.5\tcrowd")
    rest = background.Background("walk", "software")
    assert stand.made == [("rest", True)]
    assert (rest.share, rest.words) == (0.5, "compiling the rest, once: crowd")
    assert not rest.news()
    failed = background.Background("walk", "software")
    stand.failure = "no room"
    assert failed.news().endswith("another process failed: no room")
    assert not failed.news()


CACHE = "terrain_physics._kernels._cache"  # which needs numba to be there


@pytest.mark.skipif(not HAS_NUMBA, reason="nothing is compiled without numba")
def test_code_is_kept_where_there_is_room(monkeypatch, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "kernels"
    monkeypatch.setattr(f"{CACHE}.cache_folder", lambda: folder)
    monkeypatch.setattr(f"{CACHE}.why_refused", str)
    assert not code.why_not_kept()
    assert not folder.exists()
    monkeypatch.setattr(code, "_ROOM", 10**18)
    assert f"{tmp_path}: only " in code.why_not_kept()
    monkeypatch.setattr(f"{CACHE}.why_refused", lambda: "others can write there")
    assert code.why_not_kept() == "compiled code is not kept: others can write there"
    monkeypatch.setattr(f"{CACHE}.cache_folder", lambda: None)
    assert "no folder" in code.why_not_kept()


def test_frozen_games_have_no_python_to_help(monkeypatch) -> None:
    assert code.can_help()
    monkeypatch.setattr(sys, "executable", "/games/walk")
    assert not code.can_help()


@pytest.mark.skipif(not HAS_NUMBA, reason="nothing is compiled without numba")
def test_what_is_not_on_disk_is_missing(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(f"{CACHE}.cache_folder", lambda: tmp_path)
    assert code.missing_parts("software") == ["walking", "drawing"]
    assert code.missing_parts("gl") == ["walking"]
    assert code.is_missing("rest")


def test_a_window_opens_before_the_library_is_imported() -> None:
    program = """
import sys
from demo.running import command_line, options, window

def run_in_window(*_):
    heavy = {"numba", "llvmlite", "terrain_physics.heightmap", "pyglm", "moderngl", "PIL"}
    print(sorted(heavy & set(sys.modules)))
    return 0

options.has_display = lambda *_: True
window.run_in_window = run_in_window
command_line.main([])
"""
    # No fork: what this process has imported would be there.
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout.splitlines()[-1] == "[]"

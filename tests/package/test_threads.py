"""The pool: nobody waits for another's work, and nothing hangs or is left running."""

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from terrain_physics import HeightMap
from terrain_physics._support import threads
from terrain_physics._support.threads import Workers
from tests.helpers.programs import run
from tests.helpers.threads import cut_finely

pytestmark = pytest.mark.alone

LONG = 1e9  # nanoseconds: each index is worth a task
SOON = 900.0  # seconds that nothing here takes, even on a busy machine


def in_thread(function: Callable[[], Any]) -> Callable[[], Any]:
    """Start a function in a thread; return what waits for its result."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()), daemon=True)
    thread.start()

    def result() -> Any:
        thread.join(SOON)
        return results[0]

    return result


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.fixture(autouse=True)
def _two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "processors", lambda: 2)


@pytest.mark.parametrize("threads", [1, 2, 5, None])
@pytest.mark.parametrize("most", [None, 3])
@pytest.mark.parametrize("cost", [1.0, 1e4, LONG])
def test_ranges_cover_all_in_order(threads: int | None, most: int | None, cost: float) -> None:
    for count in (0, 1, 2, 7, 1000):
        ranges = Workers(threads).run(lambda *r: r, count, cost, most=most)
        assert [i for first, last in ranges for i in range(first, last)] == list(range(count))
        assert all(last - first <= (most or count) for first, last in ranges)


def test_short_work_is_not_shared_and_long_work_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_SHORTEST_TASK", 250_000)
    assert Workers(2).run(lambda *r: r, 1000, 499) == [(0, 1000)]
    assert Workers(2).run(lambda *r: r, 1000, 500) == [(0, 500), (500, 1000)]
    for helpers in (1, 2):
        ranges = Workers(helpers).run(lambda *r: r, 1000, 1e6)
        assert max(last - first for first, last in ranges) == 5


def test_a_thread_of_the_pool_takes_part() -> None:
    both = threading.Barrier(2)
    names = Workers(2).run(lambda *_: (both.wait(SOON), threading.current_thread())[1], 2, LONG)
    assert threading.current_thread() in names
    assert names[0] is not names[1]


def test_results_come_as_they_are_ready() -> None:
    go_on = threading.Event()

    def work(first: int, _: int) -> int:
        if first == 1:
            go_on.wait(SOON)
        return first

    results = Workers(2).each(work, 8, LONG)
    assert next(results) == 0
    go_on.set()
    assert list(results) == list(range(1, 8))


def test_none_waits_for_threads_that_are_busy_elsewhere() -> None:
    """One call keeps the whole pool at work; another one is done before it ends."""
    free = threading.Event()
    begun = itertools.count()
    taken: list[int] = []

    def hold(*_: int) -> bool:
        taken.append(next(begun))
        return free.wait(SOON)

    first = in_thread(lambda: Workers(2).run(hold, 2, LONG))
    wait_for(lambda: len(taken) == 2)
    assert Workers(2).run(lambda first, _: first, 100, LONG) == list(range(100))
    free.set()
    assert first() == [True] * 2


def test_a_call_within_a_call_works_alone() -> None:
    def outer(first: int, _: int) -> list[int]:
        return Workers(2).run(lambda inner, _: 10 * first + inner, 4, LONG)

    for _ in range(20):
        expected = [[10 * k + i for i in range(4)] for k in range(8)]
        assert Workers(2).run(outer, 8, LONG) == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_error_is_raised_and_nothing_goes_on(threads: int) -> None:
    begun: list[int] = []

    def work(first: int, _: int) -> None:
        begun.append(first)
        if first >= 3:
            time.sleep(0.01 * (first == 3))
            raise ValueError(first)

    for _ in range(20):
        begun.clear()
        with pytest.raises(ValueError, match="3"):
            Workers(threads).run(work, 1000, LONG)
        so_far = len(begun)
        time.sleep(0.002)
        assert len(begun) == so_far <= 4 + threads


def test_nothing_runs_on_after_an_interruption() -> None:
    running: set[int] = set()
    given_up: list[bool] = []
    main = threading.main_thread()

    def work(first: int, _: int) -> None:
        running.add(first)
        if threading.current_thread() is main and len(running) > 1:
            raise KeyboardInterrupt
        time.sleep(0.02)
        running.discard(first)

    with pytest.raises(KeyboardInterrupt):
        Workers(2).run(work, 1000, LONG, give_up=lambda: given_up.append(True))
    assert given_up == [True]
    assert len(running) == 1  # that of the interrupted range


def test_a_second_interruption_does_not_leave_threads_at_work() -> None:
    if not hasattr(signal, "setitimer"):
        pytest.skip("needs timers that interrupt")
    begun, again, ended = threading.Event(), threading.Event(), threading.Event()
    main = threading.main_thread()

    def work(*_: int) -> None:
        if threading.current_thread() is main:
            begun.wait(SOON)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            raise KeyboardInterrupt
        begun.set()
        again.wait(SOON)
        time.sleep(0.1)
        ended.set()

    def interrupt(*_: object) -> None:
        again.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            Workers(2).run(work, 2, LONG)
        assert ended.is_set()
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_finished_call_leaves_nothing_in_memory() -> None:
    import gc
    import weakref

    class Thing:
        pass

    free = threading.Event()
    holding = in_thread(lambda: Workers(2).run(lambda *_: free.wait(SOON), 2, LONG))
    thing = Thing()
    gone = weakref.ref(thing)
    Workers(2).run(lambda *_, kept=thing: kept is None, 2, LONG)
    del thing
    gc.collect()
    assert gone() is None
    free.set()
    holding()


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2"])
def test_bad_numbers_of_threads(threads: Any) -> None:
    with pytest.raises(ValueError, match="threads must be None or an integer >= 1"):
        Workers(threads)


# Processes: each ends by itself, or the test fails.

_SETUP = """
import os, signal, sys, threading, time
import numpy as np
from terrain_physics import HeightMap
from terrain_physics._support import threads
threads.processors = lambda: 2
threads._SHORTEST_TASK = 1_000
threads._step = lambda count, cost, threads: 500
land = HeightMap(np.random.default_rng(1).uniform(0, 3, (60, 60)))
places = np.random.default_rng(2).uniform(1, 58, (2, 100_000))
expected = land.height_at(*places, threads=1).tobytes()
def ask():
    assert land.height_at(*places, threads=2).tobytes() == expected
ask()
"""


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")


@needs_fork
def test_forked_children_have_a_pool_of_their_own() -> None:
    run(
        _SETUP
        + """
busy = threading.Thread(target=lambda: [ask() for _ in range(60)])
busy.start()
children = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        signal.alarm(600)
        ask()
        os._exit(0)
    children.append(child)
    ask()
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
busy.join()
"""
    )


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that interrupt")
def test_a_signal_handler_may_ask_at_any_time() -> None:
    run(
        _SETUP
        + """
answers = []
def ask():
    assert threads.Workers(2).run(lambda *r: r, 5000, 1e9)[-1] == (4500, 5000)
def handler(*_):
    ask()
    answers.append(1)
    if len(answers) < 200:  # later ones would end the process while it ends
        signal.setitimer(signal.ITIMER_REAL, 0.0007)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.003)
while len(answers) < 200:
    ask()
"""
    )


def test_the_pool_ends_with_python() -> None:
    run(
        _SETUP
        + """
import atexit
atexit.register(ask)
late = threading.Thread(target=lambda: [ask() for _ in range(20)])
late.start()
""",
        own=True,
    )
    run(
        _SETUP
        + "threading.Thread(target=lambda: [ask() for _ in range(10**9)], daemon=True).start()",
        own=True,
    )


def test_batches_from_many_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch, 500)
    land = HeightMap(np.random.default_rng(1).uniform(0, 3, (60, 60)))
    x, z = np.random.default_rng(2).uniform(1, 58, (2, 20_000))
    expected = land.height_at(x, z, threads=1)
    callers = [
        in_thread(lambda: [land.height_at(x, z, threads=2) for _ in range(20)]) for _ in range(6)
    ]
    for caller in callers:
        for heights in caller():
            np.testing.assert_array_equal(heights, expected)

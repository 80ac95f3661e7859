"""Threads at work on the same ground at once, and work cut into small ranges."""

import sys
import threading
from collections.abc import Callable

import pytest

from terrain_physics._support import threads
from tests.helpers.examples import times


def cut_finely(monkeypatch: pytest.MonkeyPatch, indices: int) -> None:
    """Let each range have so many indices, and any work be shared."""
    monkeypatch.setattr(threads, "_step", lambda _count, _cost, _threads: indices)
    monkeypatch.setattr(threads, "_SHORTEST_TASK", 0)


def together(*works: Callable[[], object], seconds: float = 0.4) -> None:
    """Let threads work in turns until the time is over; raise what one of them raised.

    The time is that of the tier `full`; it is shorter by default.
    """
    over = threading.Event()
    errors: list[BaseException] = []
    for work in works:  # what they need is compiled then
        work()

    def repeat(work: Callable[[], object]) -> None:
        try:
            while not over.is_set():
                work()
        except BaseException as error:
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=repeat, args=(work,), daemon=True) for work in works]
    try:
        for thread in threads:
            thread.start()
        over.wait(times(1000) / 1000 * seconds)
        over.set()
        for thread in threads:
            thread.join(900)
    finally:
        sys.setswitchinterval(before)
    assert not any(thread.is_alive() for thread in threads)
    for error in errors:
        raise error

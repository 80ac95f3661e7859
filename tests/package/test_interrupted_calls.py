"""What comes out of a call that a signal handler ends by raising: that error, and no other."""

import io
import signal
import threading
import zipfile

import pytest

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels._undisturbed import undisturbed
from terrain_physics._support.archives import write_archive
from tests.helpers.programs import run


def test_an_archive_that_is_interrupted_in_a_member_raises_that_error():
    def put(archive: zipfile.ZipFile) -> None:
        with archive.open("member", "w"):
            raise KeyboardInterrupt

    file = io.BytesIO()
    with pytest.raises(KeyboardInterrupt):
        write_archive(file, put)


def test_an_archive_is_whole_without_errors():
    file = io.BytesIO()
    write_archive(file, lambda archive: archive.writestr("member", "text"))
    assert zipfile.ZipFile(file).read("member") == b"text"


def test_a_kernel_raises_what_a_handler_raised():
    """To make an array numba runs Python, and tells what that raises as a cause."""

    inner = SystemError("inner")
    inner.__cause__ = KeyboardInterrupt()

    def boxes() -> None:
        raise SystemError("returned a result with an exception set") from inner

    with pytest.raises(KeyboardInterrupt):
        CachedDispatch(boxes).call()


def test_a_kernel_raises_a_system_error_of_its_own():
    def fail() -> None:
        raise SystemError("its own")

    with pytest.raises(SystemError, match="its own"):
        CachedDispatch(fail).call()


class TestUndisturbed:
    def test_is_made_where_no_handler_runs(self):
        assert undisturbed(threading.current_thread) is not threading.main_thread()

    def test_is_made_at_once_in_other_threads(self):
        found = []
        thread = threading.Thread(
            target=lambda: found.append(undisturbed(threading.current_thread))
        )
        thread.start()
        thread.join()
        assert found == [thread]

    def test_raises_the_error_of_the_call(self):
        with pytest.raises(ZeroDivisionError):
            undisturbed(lambda: 1 // 0)


_CONTACTS = """
import random, signal
import numpy as np
from terrain_physics import HeightMap, Sphere
land = HeightMap(np.random.default_rng(0).normal(0, 0.2, (65, 65)))
def ask():
    land.contacts(Sphere((20, 0, 20), 0.5))
ask()
armed, interrupted, rng = False, 0, random.Random(1)
def stop(*_):
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt
def go_on():
    while armed:
        ask()
signal.signal(signal.SIGALRM, stop)
while interrupted < COUNT:
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 1e-4))
        go_on()
    except KeyboardInterrupt:
        interrupted += 1
    armed = False
"""


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that interrupt")
@pytest.mark.parametrize("interruptions", [300, pytest.param(10_000, marks=pytest.mark.full)])
def test_contacts_raise_what_a_handler_raised(interruptions):
    run(_CONTACTS.replace("COUNT", str(interruptions)))


_FIRST_LOAD = """
import signal
from terrain_physics import HeightMap, Sphere
land, ended = HeightMap([[0, 1], [2, 3]]), []
def stop(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, stop)
for seconds in (0.0005, 0.003, 0.02, 0.05):
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        land.contacts(Sphere((0.5, 0, 0.5), 0.5))
        land.raise_((0.5, 0.5), 1, 0.001)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        ended.append(seconds)
assert ended
assert len(land.contacts(Sphere((0.5, 0.5, 0.5), 2.0)))
land.raise_((0.5, 0.5), 1, 0.001)
"""


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that interrupt")
def test_kernels_can_be_loaded_after_an_interrupted_first_load():
    run(_FIRST_LOAD, own=True)

"""The bar of a first start: the window lives while something compiles."""

import threading
import time

import numba
import pygame
import pytest

from demo.panel.loading import prepare, wait_with_bar
from demo.scenery.scenes import make_scene
from tests.demo.stand_in import Counting

HANG = 900.0  # seconds that nothing here takes


@numba.njit
def twice(x):
    return 2 * x


@pytest.fixture
def renderer():
    pygame.display.init()
    pygame.event.clear()
    yield Counting()
    pygame.display.quit()


def wait_until(condition) -> None:
    end = time.monotonic() + HANG
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


def test_the_bar_is_drawn_while_work_goes_on(renderer) -> None:
    scene = make_scene("slopes", small=True)

    def work(tell):
        assert threading.current_thread() is not threading.main_thread()
        tell("a half", 1, 2)
        wait_until(lambda: renderer.presented > 3)
        return scene

    assert wait_with_bar(renderer, work) is scene
    assert renderer.presented == renderer.overlaid > 3
    assert (renderer.panel == 255).all()  # nothing shows through


@pytest.mark.parametrize(
    "event",
    [
        pygame.event.Event(pygame.QUIT),
        pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE),
    ],
    ids=["close", "escape"],
)
def test_closing_the_window_ends_the_wait_at_once(renderer, event) -> None:
    let_go = threading.Event()
    pygame.event.post(event)
    ended: list[bool] = []
    try:
        assert wait_with_bar(renderer, lambda _: ended.append(let_go.wait(HANG))) is None
        assert not ended
    finally:
        let_go.set()


def test_the_window_can_be_resized_meanwhile(renderer) -> None:
    pygame.event.post(pygame.event.Event(pygame.VIDEORESIZE, w=400, h=30, size=(400, 30)))
    wait_with_bar(renderer, lambda _: wait_until(lambda: renderer.size == (400, 64)))
    assert renderer.size == (400, 64)


def test_what_goes_wrong_in_the_work_is_raised(renderer) -> None:
    def work(_):
        raise ValueError("no such land")

    with pytest.raises(ValueError, match="no such land"):
        wait_with_bar(renderer, work)


def test_library_and_picture_are_made_ready(renderer) -> None:
    told = []
    renderer.prepare = lambda _: twice(1)  # never compiled before
    scene = prepare(
        lambda: make_scene("slopes", small=True), renderer, lambda *job: told.append(job)
    )
    assert scene.name == "slopes"
    *jobs, last = told
    assert [done for _, done, _ in jobs] == list(range(len(jobs)))
    assert jobs[-1] == ("picture", len(jobs) - 1, len(jobs))
    assert last == ("picture: twice", len(jobs) - 1, len(jobs))

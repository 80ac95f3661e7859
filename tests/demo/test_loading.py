"""The picture and the bar of a start: the window lives while something is loaded."""

import threading
import time
from typing import Any

import pygame
import pytest

from demo.panel.loading import Closed, Report, Window, wait_with_bar
from demo.panel.still import GROUND, Still
from demo.panel.thin_bar import ThinBar
from demo.scenery.names import SCENES
from tests.demo.stand_in import Counting

HANG = 900.0  # seconds that nothing here takes


@pytest.fixture
def renderer():
    pygame.display.init()
    pygame.event.clear()
    yield Counting()
    pygame.display.quit()


@pytest.fixture
def still():
    return Still("nowhere")


def wait_until(condition) -> None:
    end = time.monotonic() + HANG
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


def test_the_bar_is_drawn_when_it_changes_while_work_goes_on(renderer, still) -> None:
    reports = [Report("Loading", (), 0.0), Report("Loading", ("a moment",), 0.5)]

    def work() -> str:
        assert threading.current_thread() is not threading.main_thread()
        wait_until(lambda: renderer.presented == 1)
        reports.pop(0)
        wait_until(lambda: renderer.presented == 2)
        return "made"

    assert wait_with_bar(renderer, work, still, lambda: reports[0]) == "made"
    assert renderer.presented == renderer.overlaid == 2
    assert (renderer.panel == 255).all()  # nothing shows through


def test_nothing_is_drawn_over_what_does_not_take_long(renderer, still) -> None:
    assert wait_with_bar(renderer, lambda: 3, still, patience=HANG) == 3
    assert not renderer.presented


def test_a_bar_never_goes_back(renderer, still) -> None:
    shares = [0.5]

    def work() -> None:
        wait_until(lambda: renderer.presented == 1)
        shares[0] = 0.2
        time.sleep(0.2)

    wait_with_bar(renderer, work, still, lambda: Report(share=shares[0]))
    assert renderer.presented == 1


@pytest.mark.parametrize(
    ("event", "by_escape"),
    [
        (pygame.event.Event(pygame.QUIT), False),
        (pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE), True),
    ],
    ids=["close", "escape"],
)
def test_closing_the_window_ends_the_wait_at_once(renderer, still, event, by_escape) -> None:
    let_go = threading.Event()
    pygame.event.post(event)
    ended: list[bool] = []
    try:
        with pytest.raises(Closed) as closed:
            wait_with_bar(renderer, lambda: ended.append(let_go.wait(HANG)), still)
        assert closed.value.by_escape is by_escape
        assert not ended
    finally:
        let_go.set()


def test_the_window_can_be_resized_meanwhile(renderer, still) -> None:
    pygame.event.post(pygame.event.Event(pygame.VIDEORESIZE, w=400, h=30, size=(400, 30)))
    wait_with_bar(renderer, lambda: wait_until(lambda: renderer.size == (400, 64)), still)
    assert renderer.size == (400, 64)


def test_what_is_let_go_meanwhile_is_told_to_the_next_who_listens(renderer, still) -> None:
    up = pygame.event.Event(pygame.KEYUP, key=pygame.K_w)
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_w))
    pygame.event.post(up)
    wait_with_bar(renderer, lambda: wait_until(lambda: renderer.presented), still)
    left = pygame.event.get((pygame.KEYDOWN, pygame.KEYUP))
    assert [(event.type, event.key) for event in left] == [(pygame.KEYUP, pygame.K_w)]


def test_what_goes_wrong_in_the_work_is_raised(renderer, still) -> None:
    def work() -> None:
        raise ValueError("no such land")

    with pytest.raises(ValueError, match="no such land"):
        wait_with_bar(renderer, work, still)


def test_a_window_shows_what_is_laid_on_it() -> None:
    window = Window((80, 64))
    try:
        panel = pygame.Surface((80, 64), pygame.SRCALPHA)
        panel.fill((9, 8, 7, 255))
        window.overlay(panel, [pygame.Rect(10, 10, 5, 5)])
        window.present()
        shown: Any = pygame.display.get_surface()
        assert tuple(shown.get_at((12, 12)))[:3] == (9, 8, 7)
        assert tuple(shown.get_at((20, 20)))[:3] != (9, 8, 7)
        window.resize((100, 70))
        assert pygame.display.get_window_size() == window.size == (100, 70)
    finally:
        pygame.display.quit()


@pytest.mark.parametrize("size", [(64, 64), (800, 300), (300, 900)])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_long_words_are_made_smaller_for_a_narrow_window(renderer, still, size, share) -> None:
    screen = Counting(size)
    long = Report("Compiling the code for walking and drawing", ("words " * 30,), share)
    wait_with_bar(screen, lambda: wait_until(lambda: screen.presented), still, lambda: long)
    shown = pygame.surfarray.array3d(screen._panel)
    words = (shown != pygame.surfarray.array3d(still.fitted(size))).any(axis=2)
    assert words.any()
    assert not words[[0, -1]].any()
    assert not words[:, [0, -1]].any()


@pytest.mark.parametrize("name", SCENES)
def test_each_scene_has_a_still_that_covers_any_window(name: str) -> None:
    still = Still(name)
    for size in ((1280, 720), (300, 900), (64, 64)):
        picture = still.fitted(size)
        assert picture.get_size() == size
        width, height = size
        for corner in ((0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1)):
            assert tuple(picture.get_at(corner))[:3] != GROUND


def test_without_a_still_there_is_a_plain_ground(tmp_path) -> None:
    (tmp_path / "walk.webp").write_bytes(b"no picture")
    for still in (Still("walk", tmp_path), Still("nowhere")):
        assert tuple(still.fitted((70, 70)).get_at((3, 3))) == (*GROUND, 255)


def test_a_thin_bar_grows_and_is_drawn_when_it_changes() -> None:
    bar = ThinBar()
    first = bar.draw((200, 100), 0.25, "compiling")
    assert bar.draw((200, 100), 0.251, "compiling") is first
    later = bar.draw((200, 100), 0.75, "compiling")
    assert later is not first
    assert first.get_at((100, 0)) != first.get_at((20, 0)) == later.get_at((100, 0))
    assert later.get_width() == 200
    assert later.get_height() < 30
    for box in bar.boxes:
        assert later.get_rect().contains(box)

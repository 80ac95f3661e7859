"""A bar in the window while something long is done: the window resizes and closes meanwhile."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

import pygame
from numba.core.event import Event, Listener, install_listener

from terrain_physics import warm_up

from ..picture.frame import Frame
from ..renderers import Renderer
from ..scenery.scene import Scene
from .widgets import ACCENT, FAINT, TRACK, window_ink

FRAME = 1.0 / 30.0  # seconds
_GROUND = (16, 22, 32, 255)
_TITLE = "One moment: what runs here for the first time is compiled now."

T = TypeVar("T")
# Told the name of the next job, how many are done, and how many there are.
Tell = Callable[[str, int, int], None]


def prepare(make: Callable[[], Scene], renderer: Renderer, tell: Tell) -> Scene:
    """Compile, or load, what a scene and its picture need, and make it; in any thread."""

    jobs = 1

    def and_picture(name: str, done: int, count: int) -> None:
        nonlocal jobs
        jobs = count + 1
        tell("picture" if done == count else name, done, jobs)

    warm_up(and_picture)
    scene = make()
    frame = Frame(scene.home)
    scene.fill(frame, 1.0)
    # The longest job of all: the bar says what it is at.
    compiling = _Compiling(lambda function: tell(f"picture: {function}", jobs - 1, jobs))
    with install_listener("numba:compile", compiling):
        renderer.prepare(frame)
    return scene


class _Compiling(Listener):  # type: ignore[misc] # numba is not typed
    """Tells each function of ours that numba begins to compile."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def on_start(self, event: Event) -> None:
        """Tell its name, unless it is one of numba's own."""
        function = event.data["dispatcher"].py_func
        if not function.__module__.startswith("numba."):
            self._tell(function.__name__.strip("_").replace("_", " "))

    def on_end(self, event: Event) -> None:
        """Do nothing: the next begins, or the picture is done."""


def wait_with_bar(renderer: Renderer, work: Callable[[Tell], T]) -> T | None:
    """Return what a thread makes behind a bar; None at once if the window is closed meanwhile."""
    bar, made, errors = _Bar(renderer), list[T](), list[Exception]()

    def do() -> None:
        try:
            made.append(work(bar.tell))
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=do, name="loading", daemon=True)
    thread.start()
    while thread.is_alive():
        for event in pygame.event.get():
            if event.type == pygame.QUIT or (
                event.type == pygame.KEYDOWN and event.key == pygame.K_ESCAPE
            ):
                return None
            if event.type == pygame.VIDEORESIZE:
                renderer.resize((max(event.w, 64), max(event.h, 64)))
        bar.draw()
        thread.join(FRAME)
    if errors:
        raise errors[0]
    return made[0]


class _Bar:
    """What is seen meanwhile."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self._job = ("", 0, 1)
        self._begun = time.monotonic()

    def tell(self, name: str, done: int, count: int) -> None:
        """Take down how far the work is; called by its thread."""
        self._job = (name, done, count)

    def draw(self) -> None:
        name, done, count = self._job
        surface = pygame.Surface(self._renderer.size, pygame.SRCALPHA)
        surface.fill(_GROUND)
        ink = window_ink(surface.get_size())
        middle = surface.get_rect().center
        title = ink.text(_TITLE, 15)
        surface.blit(title, title.get_rect(midbottom=(middle[0], middle[1] - ink.px(18))))
        track = pygame.Rect(0, 0, min(ink.px(420), surface.get_width() - ink.px(40)), ink.px(8))
        track.center = middle
        surface.blit(ink.box(*track.size, TRACK, 4), track)
        if done:
            filled = round(track.width * done / count)
            surface.blit(ink.box(filled, track.height, (*ACCENT, 255), 4), track)
        seconds = time.monotonic() - self._begun
        job = ink.text(f"{done} of {count}   {name}   {seconds:.0f} s", 12, FAINT)
        surface.blit(job, job.get_rect(midtop=(middle[0], middle[1] + ink.px(18))))
        self._renderer.overlay(surface)
        self._renderer.present()

"""A bar over a still picture while something long is done: the window lives meanwhile."""

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

import pygame

from .still import Still
from .widgets import ACCENT, FAINT, GLASS, TRACK, Ink, window_ink

FRAME = 1.0 / 30.0  # seconds
LEAST_SIZE = 64
# Events that end something which was begun before: whoever listens next must hear them.
_ENDINGS = {
    pygame.KEYUP, pygame.MOUSEBUTTONUP, pygame.JOYBUTTONUP, pygame.JOYAXISMOTION,
    pygame.JOYDEVICEADDED, pygame.JOYDEVICEREMOVED, pygame.WINDOWFOCUSLOST,
}  # fmt: skip

T = TypeVar("T")


class Report(NamedTuple):
    """How far the work is."""

    title: str = "Loading"
    details: tuple[str, ...] = ()
    share: float = 0.0  # 0 to 1


class Closed(Exception):  # noqa: N818 nothing went wrong
    """The user does not want to wait."""

    def __init__(self, *, by_escape: bool) -> None:
        super().__init__("closed")
        self.by_escape = by_escape


class Screen(Protocol):
    """What pictures are laid on and shown: a renderer, or a `Window` before there is one."""

    size: tuple[int, int]

    def overlay(self, panel: pygame.Surface, boxes: Sequence[pygame.Rect] | None = None) -> None:
        """Lay a picture with transparency over what was drawn, from the upper left corner."""

    def present(self) -> None:
        """Show what was drawn."""

    def resize(self, size: tuple[int, int]) -> None:
        """Draw at another size from now on."""


class Window:
    """A window that a renderer will take over."""

    def __init__(self, size: tuple[int, int]) -> None:
        pygame.display.init()
        pygame.display.set_caption("terrain_physics")
        self.resize(size)

    def resize(self, size: tuple[int, int]) -> None:
        """Follow the window."""
        self.size = size
        self._surface = pygame.display.set_mode(size, pygame.RESIZABLE)

    def overlay(self, panel: pygame.Surface, boxes: Sequence[pygame.Rect] | None = None) -> None:
        """Lay a picture over the window's."""
        for box in [panel.get_rect()] if boxes is None else boxes:
            self._surface.blit(panel, box, box)

    def present(self) -> None:
        """Show what was drawn."""
        pygame.display.flip()


def wait_with_bar(
    screen: Screen,
    work: Callable[[], T],
    still: Still,
    report: Callable[[], Report] = Report,
    *,
    patience: float = 0.0,
) -> T:
    """Return what a thread makes of some work; nothing is drawn in the first seconds of patience.

    Raise `Closed` at once if the window is closed or Esc pressed; the thread ends by itself.
    """
    made, errors = list[T](), list[BaseException]()

    def do() -> None:
        try:
            made.append(work())
        except BaseException as error:  # raised again by who waits
            errors.append(error)

    thread = threading.Thread(target=do, name="loading", daemon=True)
    thread.start()
    bar, endings = _Bar(screen, still), list[pygame.event.Event]()
    thread.join(patience)
    try:
        while thread.is_alive():
            _heed(pygame.event.get(), screen, bar, endings)
            bar.draw(report())
            thread.join(FRAME)
    finally:
        for event in endings:
            pygame.event.post(event)
    if errors:
        raise errors[0]
    return made[0]


def _heed(
    events: list[pygame.event.Event],
    screen: Screen,
    bar: "_Bar",
    endings: list[pygame.event.Event],
) -> None:
    """Do what the window is asked for."""
    for event in events:
        if event.type == pygame.QUIT:
            raise Closed(by_escape=False)
        if event.type == pygame.KEYDOWN and event.key == pygame.K_ESCAPE:
            raise Closed(by_escape=True)
        if event.type == pygame.VIDEORESIZE:
            screen.resize((max(event.w, LEAST_SIZE), max(event.h, LEAST_SIZE)))
            bar.forget()
        elif event.type == pygame.VIDEOEXPOSE:
            bar.forget()
        elif event.type in _ENDINGS:
            endings.append(event)


class _Bar:
    """What is seen meanwhile; it is drawn when it changes."""

    def __init__(self, screen: Screen, still: Still) -> None:
        self._screen, self._still = screen, still
        self._shown: object = None
        self._most = 0.0

    def forget(self) -> None:
        """Draw anew: what was shown is gone."""
        self._shown = None

    def draw(self, report: Report) -> None:
        """Show a report, if it looks other than the last one. The bar never goes back."""
        size = self._screen.size
        ink = window_ink(size)
        width = min(ink.px(420), size[0] - ink.px(40))
        self._most = max(self._most, report.share)
        filled = round(width * self._most)
        if self._shown == (seen := (report.title, report.details, filled)):
            return
        self._shown = seen
        picture = pygame.Surface(size, pygame.SRCALPHA)
        picture.blit(self._still.fitted(size), (0, 0))
        _draw_plate(picture, ink, report, width, filled)
        self._screen.overlay(picture)
        self._screen.present()


def _draw_plate(picture: pygame.Surface, ink: Ink, report: Report, width: int, filled: int) -> None:
    """Draw words and bar on a dark plate in the lower part of a picture."""
    most = picture.get_width() - ink.px(40)
    words = [ink.text(report.title, 15), *(ink.text(line, 12, FAINT) for line in report.details)]
    words = [_at_most(text, most) for text in words]
    plate = pygame.Rect(0, 0, max(width, *(text.get_width() for text in words)) + ink.px(32), 0)
    plate.height = sum(text.get_height() + ink.px(5) for text in words) + ink.px(34)
    plate.midbottom = picture.get_width() // 2, picture.get_height() - ink.px(28)
    picture.blit(ink.box(*plate.size, (*GLASS[:3], 222)), plate)
    y = plate.top + ink.px(11)
    for text in words:
        picture.blit(text, text.get_rect(midtop=(plate.centerx, y)))
        y += text.get_height() + ink.px(5)
    track = pygame.Rect(0, 0, width, ink.px(8))
    track.midtop = plate.centerx, y + ink.px(4)
    picture.blit(ink.box(*track.size, TRACK, 4), track)
    if filled >= track.height:
        picture.blit(ink.box(filled, track.height, (*ACCENT, 255), 4), track)


def _at_most(text: pygame.Surface, width: int) -> pygame.Surface:
    """Return a text, smaller if it is wider than that."""
    if text.get_width() <= width:
        return text
    height = max(text.get_height() * width // text.get_width(), 1)
    return pygame.transform.smoothscale(text, (width, height))

"""A small menu by mouse, in the lower right corner."""

from collections.abc import Collection

import pygame

from ..scenery.names import SCENES
from .widgets import ACCENT, TEXT, TRACK, Ink

# Words and the command of `demo.app` that they stand for.
_SCENES = tuple((name, f"scene {name}") for name in SCENES)
_REST = (
    ("pause or go on", "pause"),
    ("restart", "restart"),
    ("next camera", "camera"),
    ("sound on or off", "sound"),
    ("help", "help"),
    ("screenshot", "screenshot"),
    ("quit", "quit"),
)
ENTRIES = _SCENES + _REST
_WIDTH, _ROW, _GAP = 136, 20, 8


class Menu:
    """A button, and above it the list that it opens."""

    def __init__(self) -> None:
        self.is_open = False
        self.button: pygame.Rect | None = None  # where it was drawn last
        self.places: dict[str, pygame.Rect] = {}  # by command; none while it is closed

    def press(self, place: tuple[int, int]) -> str | None:
        """Return the command that was chosen; "" if it opens or closes, None if it was missed."""
        chosen = [command for command, rect in self.places.items() if rect.collidepoint(place)]
        was_open, self.is_open = self.is_open, False
        self.places = {}
        if chosen:
            return chosen[0]
        if self.button is not None and self.button.collidepoint(place):
            self.is_open = not was_open
            return ""
        return "" if was_open else None

    def draw(
        self, ink: Ink, surface: pygame.Surface, mouse: tuple[int, int], on: Collection[str]
    ) -> list[pygame.Rect]:
        """Draw it and return where; lit are what is under the mouse and commands that are on."""
        button = pygame.Rect(0, 0, ink.px(72), ink.px(30))
        button.bottomright = surface.get_width() - ink.px(12), surface.get_height() - ink.px(12)
        self.button = button
        surface.blit(ink.box(*button.size), button)
        words = ink.text("Menu", 13, ACCENT if button.collidepoint(mouse) else TEXT)
        surface.blit(words, words.get_rect(center=button.center))
        self.places = {}
        return [button, self._draw_list(ink, surface, mouse, on)] if self.is_open else [button]

    def _draw_list(
        self, ink: Ink, surface: pygame.Surface, mouse: tuple[int, int], on: Collection[str]
    ) -> pygame.Rect:
        assert self.button is not None  # noqa: S101 drawn just before
        row, gap = ink.px(_ROW), ink.px(_GAP)
        box = pygame.Rect(0, 0, ink.px(_WIDTH), row * len(ENTRIES) + 3 * gap)
        box.bottomright = self.button.right, self.button.top - gap
        surface.blit(ink.box(*box.size, (16, 22, 32, 225)), box)
        top = box.top + gap
        for index, (words, command) in enumerate(ENTRIES):
            if index == len(_SCENES):
                top += gap
            place = pygame.Rect(box.left, top, box.width, row)
            self.places[command] = place
            if place.collidepoint(mouse):
                surface.blit(ink.box(place.width, place.height, TRACK, 4), place)
            text = ink.text(words, 13, ACCENT if command in on else TEXT)
            surface.blit(text, text.get_rect(midleft=(box.left + ink.px(14), place.centery)))
            top += row
        return box

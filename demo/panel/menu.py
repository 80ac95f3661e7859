"""A small menu in the lower right corner, for the mouse, keys and gamepads."""

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

import pygame

from ..scenery.names import SCENES
from ..scenery.scenes import scene_class
from .bindings import DIGITS, Bindings
from .widgets import ACCENT, DARK_GLASS, FAINT, TEXT, TRACK, Canvas

# Words and the command of `demo.app` that they stand for.
_REST = (
    ("pause or resume", "pause"),
    ("restart", "restart"),
    ("next camera", "camera"),
    ("figures and sliders", "panel"),
    ("sound on or off", "sound"),
    ("help", "help"),
    ("screenshot", "screenshot"),
    ("quit", "quit"),
)
COMMANDS = (*(f"scene {name}" for name in SCENES), *(command for _, command in _REST))
_ROW, _GAP, _MARGIN = 20, 8, 14


class Look(NamedTuple):
    """What is seen of the menu."""

    is_open: bool
    lit: str | None  # the command that the mouse or a key is at; "" is the button
    on: frozenset[str]


class Menu:
    """A button, and above it the list that it opens."""

    def __init__(self, bindings: Bindings) -> None:
        self.is_open = False
        self.button: pygame.Rect | None = None  # where it was drawn last
        self.places: dict[str, pygame.Rect] = {}  # by command; none while it is closed
        self._chosen: str | None = None
        self._mouse: tuple[int, int] | None = None  # where it was in the last look
        self._labels = bindings.labels()

    def toggle(self, command: str) -> None:
        """Open the list at a command, or close it."""
        self.is_open = not self.is_open
        self.places, self._chosen = {}, command

    def close(self) -> None:
        """Close the list."""
        self.is_open, self.places, self._chosen = False, {}, None

    def move(self, by: int) -> None:
        """Go up or down the list."""
        at = COMMANDS.index(self._chosen) if self._chosen in COMMANDS else -1
        self._chosen = COMMANDS[(at + by) % len(COMMANDS)]

    def choose(self) -> str:
        """Return the command that was gone to, and close the list."""
        chosen = self._chosen or ""
        self.close()
        return chosen

    def press(self, place: tuple[int, int]) -> str | None:
        """Return the command that was chosen; "" if it opens or closes, None if it was missed."""
        chosen = [command for command, rect in self.places.items() if rect.collidepoint(place)]
        was_open = self.is_open
        self.close()
        if chosen:
            return chosen[0]
        if self.button is not None and self.button.collidepoint(place):
            self.is_open = not was_open
            return ""
        return "" if was_open else None

    def look(self, mouse: tuple[int, int], on: Collection[str]) -> Look:
        """Return what is to be seen; lit are what is under the mouse and commands that are on."""
        if mouse != self._mouse:
            self._mouse = mouse
            under = [command for command, rect in self.places.items() if rect.collidepoint(mouse)]
            if under:
                self._chosen = under[0]
            elif not self.is_open:
                at_button = self.button is not None and self.button.collidepoint(mouse)
                self._chosen = "" if at_button else None
        return Look(self.is_open, self._chosen, frozenset(on))

    def draw(self, canvas: Canvas, look: Look) -> None:
        """Draw it."""
        ink = canvas.ink
        button = pygame.Rect(0, 0, ink.px(72), ink.px(30))
        width, height = canvas.surface.get_size()
        button.bottomright = width - ink.px(12), height - ink.px(12)
        self.button, self.places = button, {}
        canvas.box(button.copy())
        words = ink.text("Menu", 13, ACCENT if look.lit == "" else TEXT)
        canvas.surface.blit(words, words.get_rect(center=button.center))
        if look.is_open:
            self._draw_list(canvas, look, button)

    def _draw_list(self, canvas: Canvas, look: Look, button: pygame.Rect) -> None:
        ink, surface = canvas.ink, canvas.surface
        row, gap, margin = ink.px(_ROW), ink.px(_GAP), ink.px(_MARGIN)
        rows = self._rows()
        first = max(ink.text(key, 13, FAINT).get_width() for key, _, _ in rows) + gap
        wide = max(ink.text(words, 13).get_width() for _, words, _ in rows)
        box = pygame.Rect(0, 0, first + wide + 2 * margin, row * len(rows) + 3 * gap)
        box.bottomright = button.right, button.top - gap
        canvas.box(box.copy(), DARK_GLASS)
        top = box.top + gap
        for index, (key, words, command) in enumerate(rows):
            if index == len(SCENES):
                top += gap
            place = pygame.Rect(box.left, top, box.width, row)
            self.places[command] = place
            if command == look.lit:
                surface.blit(ink.box(place.width, place.height, TRACK, 4), place)
            label = ink.text(key, 13, FAINT)
            surface.blit(label, label.get_rect(midleft=(box.left + margin, place.centery)))
            text = ink.text(words, 13, ACCENT if command in look.on else TEXT)
            surface.blit(text, text.get_rect(midleft=(box.left + margin + first, place.centery)))
            top += row

    def _rows(self) -> list[tuple[str, str, str]]:
        """Return the key, words and command of each entry."""
        keys = [*DIGITS[: len(SCENES)], *[""] * (len(SCENES) - len(DIGITS))]
        scenes = zip(keys, _titles(), COMMANDS, strict=False)
        rest = ((self._labels.get(command, ""), words, command) for words, command in _REST)
        return [*scenes, *rest]


@cache
def _titles() -> tuple[str, ...]:
    """Return the titles of all scenes: their modules are loaded when somebody asks."""
    return tuple(scene_class(name).title for name in SCENES)

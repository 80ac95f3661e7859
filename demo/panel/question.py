"""The question before the demo ends."""

from typing import Literal

import pygame

from .widgets import ACCENT, DARK_GLASS, FAINT, TEXT, TRACK, Canvas

Answer = Literal["quit", "stay"]
_TITLE = "Quit the demo?"
_ANSWERS: tuple[tuple[Answer, str, str], ...] = (
    ("quit", "Quit", "{escape} again"),
    ("stay", "Stay", "any other key"),
)


class Question:
    """Two buttons in the middle, each with the key that stands for it."""

    def __init__(self, labels: dict[str, str]) -> None:
        self._rows = [(answer, word, key.format_map(labels)) for answer, word, key in _ANSWERS]
        self._places: dict[Answer, pygame.Rect] = {}  # where they were drawn last

    def press(self, place: tuple[int, int]) -> Answer:
        """Return what a click says: beside the buttons, too, one stays."""
        quits = self._places.get("quit")
        return "quit" if quits is not None and quits.collidepoint(place) else "stay"

    def draw(self, canvas: Canvas, middle: int) -> None:
        """Draw it about a column of the window."""
        ink, surface = canvas.ink, canvas.surface
        wide, high, gap = ink.px(132), ink.px(48), ink.px(12)
        box = pygame.Rect(0, 0, 2 * wide + 3 * gap, high + 3 * gap + ink.px(15))
        box.center = middle, surface.get_height() // 2
        canvas.box(box.copy(), DARK_GLASS)
        title = ink.text(_TITLE, 15)
        surface.blit(title, title.get_rect(midtop=(box.centerx, box.top + gap)))
        for index, (answer, word, key) in enumerate(self._rows):
            left = box.left + gap + index * (wide + gap)
            place = pygame.Rect(left, box.bottom - gap - high, wide, high)
            self._places[answer] = place
            surface.blit(ink.box(*place.size, TRACK, 6), place)
            name = ink.text(word, 13, ACCENT if answer == "quit" else TEXT)
            surface.blit(name, name.get_rect(midbottom=place.center))
            label = ink.text(key, 11, FAINT)
            surface.blit(label, label.get_rect(midtop=place.center))

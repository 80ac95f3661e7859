"""A thin bar over the running game: how far something in the background is."""

from typing import Protocol

import pygame

from .widgets import ACCENT, FAINT, GLASS, TRACK, window_ink


class Underway(Protocol):
    """Work in the background."""

    share: float  # that is done, 0 to 1
    words: str

    @property
    def is_working(self) -> bool:
        """Whether there is more to do."""


class ThinBar:
    """A line at the upper edge of the window, with a few words below; drawn when it changes."""

    def __init__(self) -> None:
        self._shown: tuple[int, int, str] | None = None
        self._surface = pygame.Surface((1, 1), pygame.SRCALPHA)
        self.boxes: list[pygame.Rect] = []

    def draw(self, size: tuple[int, int], share: float, words: str) -> pygame.Surface:
        """Return a strip as wide as the window; nothing is on it outside of `boxes`."""
        ink = window_ink(size)
        filled = round(size[0] * share)
        if self._shown != (seen := (size[0], filled, words)):
            self._shown = seen
            line = pygame.Rect(0, 0, size[0], ink.px(3))
            text = ink.text(words, 11, FAINT)
            plate = text.get_rect(midtop=(size[0] // 2, line.bottom + ink.px(2)))
            plate = plate.inflate(ink.px(16), 0)
            self._surface = pygame.Surface((size[0], plate.bottom + 1), pygame.SRCALPHA)
            self._surface.fill(GLASS, line)
            self._surface.fill(TRACK, line)
            self._surface.fill((*ACCENT, 255), (0, 0, filled, line.height))
            self._surface.blit(ink.box(*plate.size, GLASS, 5), plate)
            self._surface.blit(text, text.get_rect(center=plate.center))
            self.boxes = [line, plate.clip(self._surface.get_rect())]
        return self._surface

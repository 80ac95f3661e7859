"""What the panel is made of: text, translucent boxes with round corners, sliders, a graph."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pygame

Color4 = tuple[int, int, int, int]

GLASS: Color4 = (16, 22, 32, 176)
DARK_GLASS: Color4 = (16, 22, 32, 216)
TEXT = (232, 238, 246)
FAINT = (150, 164, 184)
ACCENT = (250, 196, 32)
TRACK: Color4 = (255, 255, 255, 46)
_SMOOTH = 4  # boxes are drawn this many times larger and made smaller


class Canvas:
    """A transparent surface, and the boxes outside of which there is nothing on it."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.ink = window_ink(size)
        self.surface = pygame.Surface(size, pygame.SRCALPHA)
        self.boxes: list[pygame.Rect] = []

    def clear(self) -> None:
        """Take away what is drawn."""
        for box in self.boxes:
            self.surface.fill((0, 0, 0, 0), box)
        self.boxes.clear()

    def box(self, rect: pygame.Rect, color: Color4 = GLASS) -> None:
        """Draw a box."""
        self.surface.blit(self.ink.box(*rect.size, color), rect)
        # What overlaps becomes one, or it would be blended twice.
        while (other := rect.collidelist(self.boxes)) >= 0:
            rect = rect.union(self.boxes.pop(other))
        self.boxes.append(rect)


class Ink:
    """Fonts and what was drawn with them: the same text is drawn once."""

    def __init__(self, scale: float = 1.0) -> None:
        pygame.font.init()
        self.scale = scale
        self._fonts: dict[int, pygame.font.Font] = {}
        self._texts: dict[tuple[str, int, tuple[int, int, int]], pygame.Surface] = {}
        self._boxes: dict[tuple[int, int, int, Color4], pygame.Surface] = {}

    def px(self, points: float) -> int:
        """Return pixels of the screen."""
        return max(1, round(points * self.scale))

    def text(
        self, text: str, size: float = 13, color: tuple[int, int, int] = TEXT
    ) -> pygame.Surface:
        """Return text as a picture."""
        height = self.px(size)
        key = (text, height, color)
        found = self._texts.get(key)
        if found is None:
            if len(self._texts) > 600:
                self._texts.clear()
            font = self._font(height)
            found = self._texts[key] = font.render(text, True, color)  # noqa: FBT003 smooth
        return found

    def lines(self, text: str, size: float, width: int) -> list[str]:
        """Return text in lines that are at most so many pixels wide, as far as words allow."""
        lines: list[str] = []
        for word in text.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self._font(self.px(size)).size(longer)[0] <= width:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines

    def _font(self, height: int) -> pygame.font.Font:
        font = self._fonts.get(height)
        if font is None:
            font = self._fonts[height] = pygame.font.Font(None, round(height * 1.42))
        return font

    def box(
        self, width: int, height: int, color: Color4 = GLASS, radius: float = 9
    ) -> pygame.Surface:
        """Return a box with smooth round corners."""
        round_by = min(self.px(radius), width // 2, height // 2)
        key = (width, height, round_by, color)
        found = self._boxes.get(key)
        if found is None:
            big = pygame.Surface((width * _SMOOTH, height * _SMOOTH), pygame.SRCALPHA)
            # The color everywhere, so that smoothing the edge mixes no black into it.
            big.fill((*color[:3], 0))
            pygame.draw.rect(big, color, big.get_rect(), border_radius=round_by * _SMOOTH)
            if len(self._boxes) > 100:
                self._boxes.clear()
            found = self._boxes[key] = pygame.transform.smoothscale(big, (width, height))
        return found


def window_ink(size: tuple[int, int]) -> Ink:
    """Return ink that grows with the window."""
    return Ink(min(max(min(size[0] / 960.0, size[1] / 720.0), 0.5), 3.0))


@dataclass
class Slider:
    """A number, or one of some words, set by dragging."""

    name: str
    low: float
    high: float
    value: float
    text: Callable[[float], str]
    words: Sequence[str] = ()
    rect: pygame.Rect | None = None  # where it was drawn last

    @property
    def share(self) -> float:
        """Where the knob is, from 0 to 1."""
        return (self.value - self.low) / (self.high - self.low)

    def drag(self, x: int) -> None:
        """Set the value from the mouse."""
        if self.rect is None:
            return
        share = min(max((x - self.rect.left) / self.rect.width, 0.0), 1.0)
        self.value = self.low + share * (self.high - self.low)
        if self.words:
            self.value = float(math.floor(self.value + 0.5))

    def draw(self, ink: Ink, surface: pygame.Surface, x: int, y: int, width: int) -> int:
        """Draw it; return its height."""
        height = ink.px(33)
        surface.blit(ink.text(self.name, 12, FAINT), (x, y))
        shown = ink.text(self.text(self.value), 12, TEXT)
        surface.blit(shown, (x + width - shown.get_width(), y))
        track, knob = ink.px(4), ink.px(12)
        top = y + ink.px(21)
        surface.blit(ink.box(width, track, TRACK, 2), (x, top - track // 2))
        filled = max(track, round(width * self.share))
        surface.blit(ink.box(filled, track, (*ACCENT, 220), 2), (x, top - track // 2))
        at = x + round((width - knob) * self.share)
        surface.blit(ink.box(knob, knob, (255, 255, 255, 255), 6), (at, top - knob // 2))
        self.rect = pygame.Rect(x, top - ink.px(10), width, ink.px(20))
        return height


def draw_graph(
    ink: Ink,
    surface: pygame.Surface,
    rect: pygame.Rect,
    layers: Sequence[tuple[Sequence[float], tuple[int, int, int]]],
    *,
    top: float,
    line: float,
) -> None:
    """Draw columns on top of each other, newest right; ``line`` is drawn across."""
    count = len(layers[0][0])
    surface.blit(ink.box(rect.width, rect.height, (0, 0, 0, 90), 5), rect)
    most = 120
    step = rect.width / most
    for index in range(count):
        left = rect.left + round((most - count + index) * step)
        width = max(1, rect.left + round((most - count + index + 1) * step) - left)
        base = float(rect.bottom)
        for values, color in layers:
            high = min(values[index] / top, 1.0) * rect.height
            high = min(high, base - rect.top)
            if high >= 0.5:
                surface.fill((*color, 230), (left, round(base - high), width, max(1, round(high))))
            base -= high
    at = rect.bottom - round(min(line / top, 1.0) * rect.height)
    surface.fill((255, 255, 255, 110), (rect.left, at, rect.width, 1))

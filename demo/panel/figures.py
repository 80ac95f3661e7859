"""The left side of the panel: figures, a graph, views and sliders."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import pygame

from .sliders import Sliders
from .widgets import ACCENT, FAINT, TEXT, Canvas, draw_graph

WIDTH = 236
GRAPH_FRAMES = 120
PHYSICS, DRAW, PANEL = (250, 196, 32), (70, 150, 230), (150, 110, 220)
_OF_GRAPH = {"physics": PHYSICS, "draw": DRAW, "panel": PANEL}
_LEFT, _ROW = 12, 16


@dataclass
class FrameTimes:
    """Milliseconds of the last frames."""

    physics: deque[float] = field(default_factory=lambda: deque(maxlen=GRAPH_FRAMES))
    draw: deque[float] = field(default_factory=lambda: deque(maxlen=GRAPH_FRAMES))
    panel: deque[float] = field(default_factory=lambda: deque(maxlen=GRAPH_FRAMES))
    whole: deque[float] = field(default_factory=lambda: deque(maxlen=GRAPH_FRAMES))

    def add(self, physics: float, draw: float, panel: float, whole: float) -> None:
        """Take down a frame, in seconds."""
        for values, seconds in (
            (self.physics, physics),
            (self.draw, draw),
            (self.panel, panel),
            (self.whole, whole),
        ):
            values.append(1e3 * seconds)

    def mean(self, values: deque[float], last: int = 30) -> float:
        """Return the mean of the last frames."""
        part = list(values)[-last:]
        return sum(part) / len(part) if part else 0.0


class Graph(NamedTuple):
    """Milliseconds of the last frames as they are drawn, and what the graph's height stands for."""

    physics: tuple[float, ...]
    draw: tuple[float, ...]
    panel: tuple[float, ...]
    top: float


def graph_of(times: FrameTimes) -> Graph:
    """Return the graph of the last frames; its height is a power of two times 1/60 s."""
    most, top = times.mean(times.whole), 33.4
    while most > 0.8 * top:
        top *= 2.0
    return Graph(tuple(times.physics), tuple(times.draw), tuple(times.panel), top)


class Look(NamedTuple):
    """What is seen of it: figures, their graph, keys and titles of views, values of sliders."""

    figures: tuple[tuple[str, str], ...]
    graph: Graph
    views: tuple[tuple[str, str, bool], ...]
    sliders: tuple[float, ...]


def draw_figures(canvas: Canvas, look: Look, sliders: Sliders) -> None:
    """Draw it; sliders that do not fit into the window are left out."""
    px, wide = canvas.ink.px, canvas.ink.px(WIDTH)
    top = left = px(_LEFT)
    box = pygame.Rect(left, top, wide, px(18) + px(_ROW) * len(look.figures) + px(62))
    _draw_rows(canvas, look, box)
    top = box.bottom + px(8)
    box = pygame.Rect(left, top, wide, px(16) + px(_ROW) * len(look.views))
    _draw_views(canvas, look, box)
    top = box.bottom + px(8)
    box = pygame.Rect(left, top, wide, px(14) + px(33) * len(look.sliders))
    fits = box.bottom <= canvas.surface.get_height()
    if fits:
        canvas.box(box.copy())
    y = top + px(9)
    for slider in sliders:
        slider.rect = None
        if fits:
            y += slider.draw(canvas.ink, canvas.surface, left + px(12), y, wide - px(24))


def _draw_rows(canvas: Canvas, look: Look, box: pygame.Rect) -> None:
    ink, surface = canvas.ink, canvas.surface
    px = ink.px
    canvas.box(box.copy())
    inner, right, y = box.left + px(12), box.right - px(12), box.top + px(10)
    for name, value in look.figures:
        surface.blit(ink.text(name, 12, _OF_GRAPH.get(name, FAINT)), (inner, y))
        shown = ink.text(value, 12)
        surface.blit(shown, (right - shown.get_width(), y))
        y += px(_ROW)
    graph = look.graph
    draw_graph(
        ink,
        surface,
        pygame.Rect(inner, y + px(6), box.width - px(24), px(48)),
        ((graph.physics, PHYSICS), (graph.draw, DRAW), (graph.panel, PANEL)),
        top=graph.top,
        line=16.7,
    )


def _draw_views(canvas: Canvas, look: Look, box: pygame.Rect) -> None:
    ink, surface = canvas.ink, canvas.surface
    px = ink.px
    canvas.box(box.copy())
    inner, y = box.left + px(12), box.top + px(8)
    for key, title, on in look.views:
        surface.blit(ink.text(key, 12, ACCENT if on else FAINT), (inner, y))
        surface.blit(ink.text(title, 12, TEXT if on else FAINT), (inner + px(30), y))
        y += px(_ROW)

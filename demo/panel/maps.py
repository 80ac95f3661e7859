"""Maps in the lower left corner."""

import math

import pygame

from ..scenery.tile_map import TileMap
from .widgets import ACCENT, TEXT, Canvas

SIDE = 88  # of a map
_GAP = 8
_EDGE = 12  # from the sides of the window
_ARROW = 7.0


def width_of(maps: tuple[TileMap, ...]) -> int:
    """Return how much room maps take, with a gap behind them."""
    return len(maps) * (SIDE + _GAP) + (_EDGE + _GAP if maps else 0)


def draw_maps(canvas: Canvas, maps: tuple[TileMap, ...], left: int) -> None:
    """Draw maps side by side."""
    px, height = canvas.ink.px, canvas.surface.get_height()
    side, gap, edge = px(SIDE), px(_GAP), px(_EDGE)
    frame = pygame.Rect(left, 0, len(maps) * (side + gap) + gap, side + 2 * gap)
    frame.bottom = height - edge
    canvas.box(frame.copy())
    for index, chart in enumerate(maps):
        place = pygame.Rect(frame.left + gap + index * (side + gap), frame.top + gap, side, side)
        _draw_map(canvas, chart, place)


def _draw_map(canvas: Canvas, chart: TileMap, place: pygame.Rect) -> None:
    picture = pygame.image.frombuffer(chart.pixels, (chart.side, chart.side), "RGB")
    canvas.surface.blit(pygame.transform.scale(picture, place.size), place)
    scale = place.width / chart.side
    if chart.frame is not None:
        left, top, width, height = (scale * part for part in chart.frame)
        part = pygame.Rect(place.left + left, place.top + top, width, height)
        pygame.draw.rect(canvas.surface, TEXT, part.clip(place), 1)
    x, y = place.left + scale * chart.hero[0], place.top + scale * chart.hero[1]
    arrow = [
        (x - long * math.sin(chart.yaw + turn), y - long * math.cos(chart.yaw + turn))
        for turn, long in (
            (0.0, _ARROW), (2.5, 0.8 * _ARROW), (math.pi, 0.3 * _ARROW), (-2.5, 0.8 * _ARROW),
        )
    ]  # fmt: skip
    pygame.draw.polygon(canvas.surface, ACCENT, arrow)
    pygame.draw.polygon(canvas.surface, (0, 0, 0), arrow, 1)

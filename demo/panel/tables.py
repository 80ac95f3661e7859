"""Words in a box: rows of one or two columns, wrapped where the window ends."""

from typing import NamedTuple

import pygame

from .widgets import ACCENT, GLASS, TEXT, Canvas, Color4, Ink

Color3 = tuple[int, int, int]
_MARGIN, _ABOVE, _GAP = 14, 9, 16


class Words(NamedTuple):
    """A piece of text in a color."""

    text: str
    color: Color3 = TEXT


Row = tuple[Words, ...]
"""One piece of text across the whole table, or one for each of two columns."""


class Table(NamedTuple):
    """Rows of words, and where the box around them is. Equal tables look alike."""

    rows: tuple[Row, ...]
    anchor: str  # the point of the box that is at `place`, as pygame names it: "topleft"
    place: tuple[int, int]
    width: int  # at most
    size: float = 13
    color: Color4 = GLASS


def pairs(rows: list[tuple[str, str]]) -> tuple[Row, ...]:
    """Return keys and what they do as rows."""
    return tuple((Words(key, ACCENT), Words(text)) for key, text in rows)


def draw_table(canvas: Canvas, table: Table) -> pygame.Rect:
    """Draw a table within the window; return its box."""
    ink, size = canvas.ink, table.size
    margin, above = ink.px(_MARGIN), ink.px(_ABOVE)
    width = min(table.width, canvas.surface.get_width() - 2 * ink.px(4)) - 2 * margin
    first = _first_column(ink, table)
    placed: list[tuple[pygame.Surface, int, int]] = []
    y, step = above, ink.px(1.45 * size)
    for row in table.rows:
        lines = 1
        for column, words in enumerate(row):
            x = first if column else 0
            wrapped = ink.lines(words.text, size, width - x)
            placed += [
                (ink.text(line, size, words.color), margin + x, y + step * index)
                for index, line in enumerate(wrapped)
            ]
            lines = max(lines, len(wrapped))
        y += step * lines
    wide = max((x + text.get_width() for text, x, _ in placed), default=0) + margin
    rect = pygame.Rect(0, 0, wide, y + above - (step - ink.px(size)))
    setattr(rect, table.anchor, table.place)
    rect.clamp_ip(canvas.surface.get_rect())
    canvas.box(rect.copy(), table.color)
    for text, x, top in placed:
        canvas.surface.blit(text, (rect.left + x, rect.top + top))
    return rect


def _first_column(ink: Ink, table: Table) -> int:
    """Return where the second column begins."""
    keys = [row[0] for row in table.rows if len(row) > 1]
    if not keys:
        return 0
    return max(ink.text(key.text, table.size, key.color).get_width() for key in keys) + ink.px(_GAP)

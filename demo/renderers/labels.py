"""Texts at places of the world, drawn flat over the picture by both renderers."""

from functools import lru_cache

import numpy as np
import pygame

from ..picture import camera as cameras
from ..picture.frame import Frame, Label
from .look import LABEL_TEXT

FAR = 400.0
"""Texts farther away than this are not drawn, in meters."""
GAP = 4
"""Pixels between a text and what covers the picture."""
_SAMPLES = np.linspace(0.02, 0.985, 48)


def draw_labels(picture: pygame.Surface, frame: Frame) -> None:
    """Write the labels that no hill hides, beside what covers the picture, the nearest last."""
    if not frame.labels:
        return
    window = picture.get_rect()
    covered = [pygame.Rect(box) for box in frame.covered]
    scale = max(window.height / 720.0, 0.6)
    places = cameras.project(frame.camera, window.size, [label.place for label in frame.labels])
    for k in np.argsort(-places[:, 2], kind="stable"):
        x, y, depth = places[k]
        if not cameras.NEAR < depth < FAR or not window.collidepoint(x, y):
            continue
        if _is_hidden(frame, frame.labels[k]):
            continue
        text = _text(frame.labels[k].text, round(scale * (26 if depth < 40.0 else 21)))
        box = _beside(text.get_rect(midbottom=(round(x), round(y))), covered, window)
        if box is not None:
            picture.blit(text, box)


def _beside(
    box: pygame.Rect, covered: list[pygame.Rect], window: pygame.Rect
) -> pygame.Rect | None:
    """Return the box moved into the window and off what is covered; None if that is far."""
    inside = box.clamp(window)
    others = [other.inflate(2 * GAP, 2 * GAP) for other in covered]
    if inside.collidelist(others) < 0:
        return inside
    moved = []
    for other in others:
        moved += [
            inside.move(other.left - inside.right, 0), inside.move(other.right - inside.left, 0),
            inside.move(0, other.top - inside.bottom), inside.move(0, other.bottom - inside.top),
        ]  # fmt: skip
    free = [at for at in moved if window.contains(at) and at.collidelist(others) < 0]
    nearest = min(free, key=lambda at: abs(at.x - box.x) + abs(at.y - box.y), default=None)
    if nearest is None:
        return None
    is_near = abs(nearest.x - box.x) <= box.width and abs(nearest.y - box.y) <= 2 * box.height
    return nearest if is_near else None


def _is_hidden(frame: Frame, label: Label) -> bool:
    if frame.land is None:
        return False
    eye, place = np.array(frame.camera.position), np.array(label.place)
    way = eye + _SAMPLES[:, np.newaxis] * (place - eye)
    return bool((way[:, 1] < frame.land.height_at(way[:, 0], way[:, 2]) - 0.05).any())


@lru_cache(maxsize=256)
def _text(text: str, height: int) -> pygame.Surface:
    """Return a text on a dark, rounded ground that shows a little of what is behind."""
    if not pygame.font.get_init():
        pygame.font.init()
    words = pygame.font.Font(None, height).render(text, True, LABEL_TEXT)  # noqa: FBT003 takes no names
    aside, above = round(0.27 * height), round(0.16 * height)
    size = words.get_width() + 2 * aside, words.get_height() + 2 * above
    plate = pygame.Surface(size, pygame.SRCALPHA)
    pygame.draw.rect(plate, (16, 20, 28, 165), plate.get_rect(), border_radius=round(0.23 * height))
    plate.blit(words, (aside, above))
    return plate

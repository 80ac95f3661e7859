"""Texts at places of the world, drawn flat over the picture by both renderers."""

from functools import lru_cache

import numpy as np
import pygame

from ..picture import camera as cameras
from ..picture.frame import Frame, Label
from .look import LABEL_TEXT

FAR = 400.0
"""Texts farther away than this are not drawn, in meters."""
_SAMPLES = np.linspace(0.02, 0.985, 48)


def draw_labels(picture: pygame.Surface, frame: Frame) -> None:
    """Write the labels that no hill hides, the nearest last."""
    if not frame.labels:
        return
    size = picture.get_size()
    scale = max(size[1] / 720.0, 0.6)
    places = cameras.project(frame.camera, size, [label.place for label in frame.labels])
    for k in np.argsort(-places[:, 2], kind="stable"):
        x, y, depth = places[k]
        if not cameras.NEAR < depth < FAR or not (0 <= x < size[0] and 0 <= y < size[1]):
            continue
        if _is_hidden(frame, frame.labels[k]):
            continue
        text = _text(frame.labels[k].text, round(scale * (26 if depth < 40.0 else 21)))
        picture.blit(text, text.get_rect(midbottom=(round(x), round(y))))


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

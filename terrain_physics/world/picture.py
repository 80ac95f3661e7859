"""The picture of a world for notebooks: its ground from above, with its characters."""

from collections.abc import Iterable

import numpy as np

from terrain_physics._support.pictures import Picture, seen_from_above
from terrain_physics.character.placement import AnyGround
from terrain_physics.character.rows import POSITION
from terrain_physics.world.things import Thing, rows_of

# How much is seen around the characters, and from the first of them at most; in meters. More of a
# tiled land would have to be read first.
_AROUND, _FARTHEST = 16.0, 128.0

_DOT = (255, 168, 48)


def world_picture(ground: AnyGround, things: Iterable[Thing]) -> Picture | None:
    """Return the ground around the characters, each as a dot; None if there are none."""
    places = [rows_of(thing).state[:, POSITION] for thing in things]
    points = np.concatenate(places)[:, ::2] if places else np.empty((0, 2))
    if not len(points):
        return None
    near = np.abs(points - points[0]).max(axis=1) <= _FARTHEST
    points = points[near]
    (left, top), (right, bottom) = points.min(axis=0) - _AROUND, points.max(axis=0) + _AROUND
    picture = seen_from_above(ground.height_at, (left, top), (right, bottom), 0.25)
    rows, columns = picture.shape[:2]
    size = max(max(rows, columns) // 128, 1)
    for x, z in points.tolist():
        row = round((z - top) / (bottom - top) * (rows - 1))
        column = round((x - left) / (right - left) * (columns - 1))
        picture[row - size : row + size + 1, column - size : column + size + 1] = _DOT
    return picture

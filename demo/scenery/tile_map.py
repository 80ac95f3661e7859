"""Maps of a land of tiles, as pictures: the whole world, and which tiles are loaded."""

import math
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..picture.colors import ORANGE, RED
from ..renderers.look import BY_NAME
from .bodies import Floats

Bytes = NDArray[np.uint8]
Place = tuple[int, int]

OUTSIDE = (24, 30, 40)
_DIM = 0.38  # of what is not loaded
_TILE = 8  # pixels of a tile on the map of what is loaded
_AROUND = 9  # tiles on each side of the hero
_TURNS = 32  # directions of the arrow that are told apart
_PARTS = 8  # places along a tile that are


class TileMap(NamedTuple):
    """A square picture with the hero as an arrow on it. Equal ones look alike."""

    pixels: bytes  # rows of red, green and blue
    side: int  # pixels
    hero: tuple[float, float]  # pixels to the right and down
    yaw: float
    frame: tuple[float, float, float, float] | None = None  # a part: left, top, width, height


def colored(heights: Floats, materials: Bytes, names: tuple[str, ...]) -> Bytes:
    """Return the colors of the world, a pixel for a tile, lit from the upper left."""
    colors = np.array([BY_NAME[name] for name in names], dtype=np.float64)[materials]
    down, right = np.gradient(heights)
    light = np.clip(0.85 - 0.004 * (down + right), 0.45, 1.25)
    return np.clip(colors * light[:, :, np.newaxis], 0.0, 255.0).astype(np.uint8)


def world_map(colors: Bytes, hero: tuple[float, float], yaw: float) -> TileMap:
    """Return the map of the whole world; the hero is at a row and a column of tiles."""
    row, column = _rounded(hero[0], 1), _rounded(hero[1], 1)
    part = column - _AROUND, row - _AROUND, 2.0 * _AROUND + 1.0, 2.0 * _AROUND + 1.0
    return TileMap(colors.tobytes(), len(colors), (column, row), _turn(yaw), part)


def loaded_map(
    colors: Bytes,
    hero: tuple[float, float],
    yaw: float,
    loaded: Collection[Place],
    wanted: float,
    edited: Collection[Place],
) -> TileMap:
    """Return the map around the hero: loaded tiles are bright, edited ones have a red spot.

    Tiles within `wanted` tiles of the hero that are not loaded yet are orange.
    """
    middle_row, middle_column = math.floor(hero[0]), math.floor(hero[1])
    count = 2 * _AROUND + 1
    pixels = np.empty((count, count, _TILE, _TILE, 3), dtype=np.uint8)
    for i in range(count):
        for j in range(count):
            row, column = middle_row + i - _AROUND, middle_column + j - _AROUND
            pixels[i, j] = _color(colors, (row, column), hero, loaded, wanted)
            if (row, column) in edited:
                pixels[i, j, 2:-3, 2:-3] = RED
    pixels[:, :, -1] //= 2
    pixels[:, :, :, -1] //= 2
    whole = pixels.swapaxes(1, 2).tobytes()
    place = [
        _TILE * (_rounded(along, _PARTS) - middle + _AROUND)
        for along, middle in ((hero[1], middle_column), (hero[0], middle_row))
    ]
    return TileMap(whole, count * _TILE, (place[0], place[1]), _turn(yaw))


def _color(
    colors: Bytes,
    place: Place,
    hero: tuple[float, float],
    loaded: Collection[Place],
    wanted: float,
) -> tuple[int, ...]:
    """Return the color of a tile."""
    row, column = place
    if not (0 <= row < len(colors) and 0 <= column < len(colors)):
        return OUTSIDE
    color = colors[row, column]
    if place in loaded:
        return tuple(int(part) for part in color)
    if math.hypot(row + 0.5 - hero[0], column + 0.5 - hero[1]) < wanted:
        return ORANGE
    return tuple(int(_DIM * part) for part in color)


def _rounded(value: float, parts: int) -> float:
    return round(value * parts) / parts


def _turn(yaw: float) -> float:
    """Return a yaw as one of some: the picture is not drawn anew for less."""
    return round(yaw * _TURNS / math.tau) * math.tau / _TURNS

"""Maps of a land of tiles, as pictures: the whole world, and which tiles are loaded."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..picture.colors import ORANGE, RED, Color
from .bodies import Floats

Bytes = NDArray[np.uint8]
Place = tuple[int, int]
Position = tuple[float, float]

OUTSIDE = (24, 30, 40)
_DIM = 0.38  # of what is not loaded
_TILE = 8  # pixels of a tile on the map of what is loaded
_AROUND = 9  # tiles on each side of the hero
_COUNT = 2 * _AROUND + 1
_TURNS = 32  # directions of the arrow that are told apart
_PARTS = 8  # places along a tile that are


class TileMap(NamedTuple):
    """A square picture with the hero as an arrow on it. Equal ones look alike."""

    pixels: bytes  # rows of red, green and blue
    side: int  # pixels
    hero: tuple[float, float]  # pixels to the right and down
    yaw: float
    frame: tuple[float, float, float, float] | None = None  # a part: left, top, width, height


def colored(heights: Floats, materials: Bytes, colors: tuple[Color, ...]) -> Bytes:
    """Return the colors of the world, a pixel for a tile, lit from the upper left."""
    plain = np.array(colors, dtype=np.float64)[materials]
    down, right = np.gradient(heights)
    light = np.clip(0.85 - 0.004 * (down + right), 0.45, 1.25)
    lit = np.clip(plain * light[:, :, np.newaxis], 0.0, 255.0)
    return np.asarray(lit, dtype=np.uint8)


def world_map(colors: bytes, hero: Position, yaw: float) -> TileMap:
    """Return the map of the whole world; the hero is at a row and a column of tiles."""
    row, column = _rounded(hero[0], 1), _rounded(hero[1], 1)
    part = column - _AROUND, row - _AROUND, float(_COUNT), float(_COUNT)
    return TileMap(colors, math.isqrt(len(colors) // 3), (column, row), _turn(yaw), part)


class LoadedMap:
    """The map around the hero: loaded tiles are bright, edited ones have a red spot.

    Tiles within `wanted` tiles of the hero that are not loaded yet are orange.
    """

    def __init__(self, colors: Bytes, wanted: float) -> None:
        self._wanted = wanted
        # With what is outside of the world, as far as the map reaches there.
        self._colors = np.full((len(colors) + 2 * _AROUND,) * 2 + (3,), OUTSIDE, dtype=np.uint8)
        self._colors[_AROUND:-_AROUND, _AROUND:-_AROUND] = colors
        self._drawn: tuple[object, bytes] = (None, b"")

    def around(
        self, hero: Position, yaw: float, loaded: frozenset[Place], edited: frozenset[Place]
    ) -> TileMap:
        """Return the map for a hero at a row and a column of tiles."""
        at = _rounded(hero[0], _PARTS), _rounded(hero[1], _PARTS)
        if self._drawn[0] != (at, loaded, edited):
            self._drawn = (at, loaded, edited), self._draw(at, loaded, edited)
        row, column = (_TILE * (along - math.floor(along) + _AROUND) for along in at)
        return TileMap(self._drawn[1], _COUNT * _TILE, (column, row), _turn(yaw))

    def _draw(self, hero: Position, loaded: frozenset[Place], edited: frozenset[Place]) -> bytes:
        last = len(self._colors) - _COUNT
        row, column = (min(max(math.floor(along), 0), last) for along in hero)
        colors = self._colors[row : row + _COUNT, column : column + _COUNT]
        bright, spots = (_marked(tiles, row, column) for tiles in (loaded, edited))
        along = np.arange(_COUNT) - _AROUND + 0.5
        down, right = along + row - hero[0], along + column - hero[1]
        inside = (colors != OUTSIDE).any(axis=2)
        due = (np.hypot(down[:, np.newaxis], right) < self._wanted) & inside & ~bright
        shown = np.where((bright | ~inside)[:, :, np.newaxis], colors, _DIM * colors)
        shown[due] = ORANGE
        tiles = np.repeat(np.repeat(shown, _TILE, axis=0), _TILE, axis=1).astype(np.uint8)
        tiles = tiles.reshape(_COUNT, _TILE, _COUNT, _TILE, 3)
        tiles[:, 2:-3, :, 2:-3] = np.where(
            spots[:, np.newaxis, :, np.newaxis, np.newaxis], RED, tiles[:, 2:-3, :, 2:-3]
        )
        tiles[:, -1] //= 2
        tiles[:, :, :, -1] //= 2
        return tiles.tobytes()


def _marked(tiles: frozenset[Place], row: int, column: int) -> NDArray[np.bool_]:
    """Return which tiles of the map around a row and a column are among some."""
    marks = np.zeros((_COUNT, _COUNT), dtype=np.bool_)
    for i, j in tiles:
        down, right = i - row + _AROUND, j - column + _AROUND
        if 0 <= down < _COUNT and 0 <= right < _COUNT:
            marks[down, right] = True
    return marks


def _rounded(value: float, parts: int) -> float:
    return round(value * parts) / parts


def _turn(yaw: float) -> float:
    """Return a yaw as one of some: the picture is not drawn anew for less."""
    return round(yaw * _TURNS / math.tau) * math.tau / _TURNS

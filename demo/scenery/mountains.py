"""Land for a whole world, made tile by tile: mountains, valleys and frozen lakes.

A height depends on the place alone, so two tiles agree in the line that they share.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from .bodies import Floats

CELL, SIDE, TILES = 2.0, 128, 128  # meters; cells of a tile; tiles along the world: 32 km
HIGHEST = 1000.0
MATERIALS = ("grass", "rock", "snow", "sand", "ice", "earth")
# On a map, in this order.
COLORS = (
    (96, 124, 58),
    (132, 126, 118),
    (238, 243, 250),
    (212, 192, 146),
    (150, 190, 215),
    (126, 98, 68),
)
GRASS, ROCK, SNOW, SAND, ICE, EARTH = range(len(MATERIALS))

Bytes = NDArray[np.uint8]
Samples = NDArray[np.int64]

# Waves of the land: their length in cells, a power of two, and their height in meters.
_CONTINENTS = ((4096, 1.0), (2048, 0.55), (1024, 0.3))
_RIDGES = ((1024, 240.0), (512, 150.0), (256, 80.0), (128, 34.0), (64, 14.0))
_HILLS = ((256, 16.0), (64, 5.0), (16, 0.9), (8, 0.35))
_SEED = 20


def tile(row: int, column: int) -> tuple[NDArray[np.float32], Bytes]:
    """Return the heights of a tile, in meters, and the materials of its cells."""
    samples = np.arange(SIDE + 1)
    heights = _land(row * SIDE + samples, column * SIDE + samples, finest=1)
    return heights.astype(np.float32), _materials(heights)


@cache
def overview() -> tuple[Floats, Bytes]:
    """Return a height and a material in the middle of each tile of the world."""
    middles = SIDE // 2 + SIDE * np.arange(TILES)
    heights = _land(middles, middles, finest=64)
    materials = np.select(
        [heights <= 0.0, heights < 330.0, heights < 400.0], [ICE, GRASS, ROCK], SNOW
    )
    return heights, materials.astype(np.uint8)


def _land(rows: Samples, columns: Samples, *, finest: int) -> Floats:
    """Return the heights where rows and columns of samples cross, without the finest waves."""

    def waves(cells: int) -> Floats:
        return _waves(rows, columns, cells)

    continents, ridges, hills = np.zeros((3, len(rows), len(columns)))
    for cells, high in _CONTINENTS:
        continents += high * waves(cells)
    mountains = detail = _smooth(-0.05, 0.9, continents)
    for cells, high in _RIDGES:
        crest = 1.0 - np.abs(waves(cells))
        ridges += high * crest * crest * detail
        detail = mountains * crest  # the finer ones are on the crests
    for cells, high in _HILLS:
        if cells >= finest:
            hills += high * waves(cells)
    heights = np.maximum(90.0 * continents + 1.25 * ridges + hills - 12.0, 0.0)
    # Short enough for float32, so that no rounding depends on the tile.
    return np.asarray(np.round(64.0 * heights) / 64.0)


def _materials(heights: Floats) -> Bytes:
    """Return what the cells between heights are made of."""
    rises = np.diff(heights, axis=0)[:, :-1], np.diff(heights, axis=1)[:-1]
    steep = np.hypot(*rises) / CELL
    y = heights[:-1, :-1]
    out = np.full(steep.shape, GRASS, dtype=np.uint8)
    out[(y > 330.0 - 80.0 * steep) & (y < 430.0)] = ROCK
    out[y >= 330.0 + 150.0 * steep] = SNOW
    out[steep > 0.85] = ROCK
    out[(y < 2.5) & (steep < 0.5)] = SAND
    out[np.maximum(y, heights[1:, 1:]) <= 0.0] = ICE
    return out


def _waves(rows: Samples, columns: Samples, cells: int) -> Floats:
    """Return smooth noise of a wavelength where rows and columns cross, about -1 to 1."""
    down, i = _weights(rows, cells)
    across, j = _weights(columns, cells)
    first_row, first_column = i[0], j[0]
    values = _random(
        np.arange(first_row, i[-1] + 4)[:, np.newaxis], np.arange(first_column, j[-1] + 4), cells
    )
    i, j = i - first_row, j - first_column
    # Sums in one order, whatever the tile: neighbors get the same bits.
    strips = sum(down[k, :, np.newaxis] * values[i + k] for k in range(4))
    return np.asarray(sum(across[k] * strips[:, j + k] for k in range(4)))


def _weights(samples: Samples, cells: int) -> tuple[Floats, Samples]:
    """Return the four weights of a cubic B-spline at samples, and where they begin."""
    begins, left = np.divmod(samples, cells)
    t = left / cells
    s = 1.0 - t
    cubes = s**3, 4.0 - 6.0 * t**2 + 3.0 * t**3, 4.0 - 6.0 * s**2 + 3.0 * s**3, t**3
    return np.array(cubes) / 6.0, begins


def _random(row: Samples, column: Samples, cells: int) -> Floats:
    """Return a random number for each place: its bits, mixed well."""
    bits = row.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = bits + column.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    bits += np.uint64(cells * 0x165667B1 + _SEED)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    # The spline takes most of the height.
    return np.asarray((bits >> np.uint64(11)) * 2.0**-52 - 1.0) * 1.7


def _smooth(low: float, high: float, x: Floats) -> Floats:
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t))

"""Lands for the proofs of walkability: rough and smooth ones of any size, and small hard ones."""

import math

import numpy as np
from numpy.typing import NDArray

from terrain_physics import HeightMap

_TERRACE = 1.2  # meters, the height of one


def _waves(side: float, cell: float, seed: int, longest: float) -> NDArray[np.float64]:
    """Return a sum of waves in all directions, each octave half as long and half as high."""
    rng, places = np.random.default_rng(seed), np.arange(round(side / cell) + 1) * cell
    x, z = np.meshgrid(places, places)
    total = np.zeros(x.shape)
    for octave in range(4):
        length = longest / 2**octave
        for angle in rng.uniform(0.0, 2.0 * math.pi, 3):
            phase = 2.0 * math.pi * (x * math.cos(angle) + z * math.sin(angle)) / length
            total += 0.5**octave * np.sin(phase + rng.uniform(0.0, 2.0 * math.pi))
    return total


def _steepest(heights: NDArray[np.float64], cell: float, degrees: float) -> NDArray[np.float64]:
    """Return heights scaled so that their steepest slope has so many degrees."""
    along_z, along_x = np.gradient(heights, cell)
    steepest = float(np.hypot(along_x, along_z).max())
    return heights * (math.tan(math.radians(degrees)) / steepest)


def smooth_land(side: float, seed: int = 1) -> HeightMap:
    """Return hills of up to 25 degrees over a square, in cells of a meter."""
    return HeightMap(_steepest(_waves(side, 1.0, seed, 64.0), 1.0, 25.0))


def rough_land(side: float, seed: int = 1) -> HeightMap:
    """Return land with slopes to 55 degrees, half of it in terraces of 1.2 m, in half meters."""
    cell = 0.5
    heights = _steepest(_waves(side, cell, seed, 24.0), cell, 55.0)
    level, part = np.divmod(heights, _TERRACE)
    riser = np.clip((part / _TERRACE - 0.7) / 0.3, 0.0, 1.0)
    is_terraced = _waves(side, cell, seed + 1000, 40.0) > 0.0
    return HeightMap(np.where(is_terraced, _TERRACE * (level + riser), heights), cell_size=cell)

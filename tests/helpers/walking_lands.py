"""Lands for the proofs of walkability: rough and smooth ones of any size, and small hard ones."""

import math

import numpy as np
from numpy.typing import NDArray

from terrain_physics import Ground, HeightMap, TriangleMesh

_TERRACE = 1.2  # meters, the height of one
_CELL = 0.5  # meters


def _waves(side: float, seed: int, longest: float) -> NDArray[np.float64]:
    """Return a sum of waves in all directions, each octave half as long and half as high."""
    rng, places = np.random.default_rng(seed), np.arange(round(side) + 1.0)
    x, z = np.meshgrid(places, places)
    total = np.zeros(x.shape)
    for octave in range(4):
        length = longest / 2**octave
        for angle in rng.uniform(0.0, 2.0 * math.pi, 3):
            phase = 2.0 * math.pi * (x * math.cos(angle) + z * math.sin(angle)) / length
            total += 0.5**octave * np.sin(phase + rng.uniform(0.0, 2.0 * math.pi))
    return total


def _scaled(heights: NDArray[np.float64], degrees: float, percent: float) -> NDArray[np.float64]:
    """Return heights in cells of a meter, so many percent of them no steeper than an angle."""
    along_z, along_x = np.gradient(heights)
    slope = float(np.percentile(np.hypot(along_x, along_z), percent))
    return heights * (math.tan(math.radians(degrees)) / slope)


def smooth_land(side: float, seed: int = 1) -> HeightMap:
    """Return hills of up to 25 degrees over a square, in cells of a meter."""
    return HeightMap(_scaled(_waves(side, seed, 64.0), 25.0, 100.0))


def rough_land(side: float, seed: int = 1) -> HeightMap:
    """Return land with slopes to 55 degrees, most of it in terraces of 1.2 m, in meters."""
    heights = _scaled(_waves(side, seed, 24.0), 55.0, 99.0)
    level, part = np.divmod(heights, _TERRACE)
    riser = np.clip((part / _TERRACE - 0.9) / 0.1, 0.0, 1.0)
    is_terraced = _waves(side, seed + 1000, 40.0) > -1.0
    return HeightMap(np.where(is_terraced, _TERRACE * (level + riser), heights))


def wavy_land() -> HeightMap:
    """Return steep waves in cells of half a meter, along some of which a body creeps and slides."""
    rng, (x, z) = np.random.default_rng(1), np.meshgrid(*2 * [_CELL * np.arange(25)])
    heights = np.zeros_like(x)
    for _ in range(6):
        angle, length = rng.uniform(0.0, 6.28), 6.0 * rng.uniform(0.5, 1.5)
        along = x * math.cos(angle) + z * math.sin(angle)
        heights += 0.5 * np.sin(6.28 * along / length + rng.uniform(0.0, 6.28))
    return HeightMap(heights, cell_size=_CELL)


def flat(side: float = 8.0) -> HeightMap:
    """Return level land in cells of half a meter, with an open border."""
    return HeightMap(_level(side), cell_size=_CELL, border="open")


def _level(side: float) -> NDArray[np.float64]:
    count = round(side / _CELL) + 1
    return np.zeros((count, count))


def kerbs() -> HeightMap:
    """Return level land with banks of 5 cm to 60 cm across it."""
    heights = _level(12.0)
    for k, height in enumerate((0.05, 0.12, 0.2, 0.3, 0.4, 0.6)):
        heights[:, 4 * k + 2 : 4 * k + 4] = height
    return HeightMap(heights, cell_size=(_CELL, _CELL))


def slopes() -> HeightMap:
    """Return roofs with sides of 30 to 60 degrees, one of 45."""
    heights = _level(12.0)
    for k, degrees in enumerate((30.0, 44.0, 45.0, 46.0, 60.0)):
        rise = _CELL * math.tan(math.radians(degrees))
        for row in range(5 * k, 5 * k + 5):
            heights[row, 8:16] = rise * np.minimum(np.arange(8), np.arange(8)[::-1])
    return HeightMap(heights, cell_size=_CELL)


def holes() -> HeightMap:
    """Return level land with holes, narrow ones and wide ones."""
    heights = _level(8.0)
    heights[4, 4] = heights[10:12, 3:9] = heights[3:6, 12] = np.nan
    return HeightMap(heights, cell_size=_CELL)


def _box(lower: tuple[float, ...], upper: tuple[float, ...]) -> TriangleMesh:
    """Return a closed box as a mesh."""
    (a, b, c), (d, e, f) = lower, upper
    corners = [(x, y, z) for x in (a, d) for y in (b, e) for z in (c, f)]
    sides = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [face for p, q, r, s in sides for face in ((p, q, r), (p, r, s))]
    return TriangleMesh(corners, faces)


def stairs() -> Ground:
    """Return level land with a flight of six steps of 20 cm up to a floor at 1.2 m."""
    steps = [_box((2 + 0.3 * k, -0.5, 2), (8, 0.2 * (k + 1), 6)) for k in range(6)]
    return Ground([flat(10.0), *steps])


def doors(width: float) -> Ground:
    """Return level land with two walls, and a door of a width in each, on a place and beside it."""
    walls = []
    for x, middle in ((3.3, 4.0), (6.6, 5.3)):
        walls += [_box((x, -0.5, -1.0), (x + 0.3, 3.0, middle - 0.5 * width))]
        walls += [_box((x, -0.5, middle + 0.5 * width), (x + 0.3, 3.0, 11.0))]
    return Ground([flat(10.0), *walls])


def bridge() -> Ground:
    """Return level land with a ramp up to a bridge, under which there is room."""
    deck = _box((5.0, 2.4, 2.0), (9.0, 2.6, 4.0))
    ramp = TriangleMesh([(0, 0, 2), (0, 0, 4), (5, 2.6, 2), (5, 2.6, 4)], [(0, 1, 2), (1, 3, 2)])
    return Ground([flat(10.0), deck, ramp])


def one_way_deck(top: float = 0.2) -> Ground:
    """Return level land with a deck that holds from above only."""
    ground = Ground([flat(8.0)])
    key = ground.add(_box((2, top - 0.1, 2), (6, top, 6)))
    ground.set_one_way(key, (0, 1, 0))
    return ground


def one_way_gate() -> Ground:
    """Return level land with an upright gate across it that lets through towards +X only."""
    ground, corners = Ground([flat(8.0)]), [(4.5, y, z) for y in (-1, 3) for z in (-1, 9)]
    key = ground.add(TriangleMesh(corners, [(0, 1, 2), (1, 3, 2)]))
    ground.set_one_way(key, (-1, 0, 0))
    return ground

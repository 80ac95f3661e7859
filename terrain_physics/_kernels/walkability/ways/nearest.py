"""The place nearest to a position where a character can stand."""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.walkability.layout import PlaceArrays, aside_of


@kernel(inline=True, no_refcount=True)
def _nearest_in_cell(
    places: PlaceArrays,
    row: int,
    column: int,
    position: tuple[float, float, float],
    best: float,
    found: int,
) -> tuple[float, int]:
    """Return the nearest place, and its squared distance, of one found so far and those here."""
    x, y, z = position
    for level in range(places.levels):
        place = (level * places.rows + row) * places.columns + column
        height = np.float64(places.heights[place])
        if math.isnan(height):
            continue
        rise = 0.0 if math.isnan(y) else height - y
        aside_x, aside_z = aside_of(places, place)
        dx, dz = (column - x) * places.spacing + aside_x, (row - z) * places.spacing + aside_z
        distance = dx * dx + dz * dz + rise * rise
        if distance < best or (distance == best and place < found):
            best, found = distance, place
    return best, found


@kernel(no_refcount=True)
def nearest_place(places: PlaceArrays, position: tuple[float, float, float], within: float) -> int:
    """Return the nearest place that stands, at most so many meters away; -1 if there is none.

    ``position`` has x and z on the grid, in spacings from its first place; its y is in meters, or
    NaN for the distance on the level. Squares around it are searched, from the inside out. Of
    places equally far the one with the least number is taken.
    """
    x, _, z = position
    row = int(min(max(z, 0.0), places.rows - 1.0) + 0.5)
    column = int(min(max(x, 0.0), places.columns - 1.0) + 0.5)
    best, found = within * within, places.levels * places.rows * places.columns
    none, nearer = found, 1.0 if len(places.asides) else 0.5  # half a spacing aside at most
    for ring in range(max(places.rows, places.columns)):
        apart = max(ring - nearer, 0.0) * places.spacing
        if apart * apart > best:
            break
        for r in range(max(row - ring, 0), min(row + ring, places.rows - 1) + 1):
            step = 1 if abs(r - row) == ring else max(2 * ring, 1)
            c = column - ring
            while c <= column + ring:
                if 0 <= c < places.columns:
                    best, found = _nearest_in_cell(places, r, c, position, best, found)
                c += step
    return found if found < none else -1

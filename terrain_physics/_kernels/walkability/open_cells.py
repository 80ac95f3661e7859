"""Open cells of a map: squares between four places that are all joined by walk edges, both ways.

A character may walk there in any direction. The number of an open cell is that of its corner with
the least row and column.
"""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Bytes
from terrain_physics._kernels.walkability.layout import DIRECTIONS, PlaceArrays, end_of

# Walk edges in three directions in a row, beginning with direction 0.
_THREE, _THREE_WALKS = 0b111111, 0b010101

_ALL = 2 * DIRECTIONS


class Spot(NamedTuple):
    """A point on the level in the cells of a places."""

    row: int  # of the cell
    column: int
    down: float  # how far it is in the cell, along +Z and +X; 0..1 inside
    across: float


@kernel(inline=True, no_refcount=True)
def spot_at(places: PlaceArrays, x: float, z: float) -> Spot:
    """Return the cell of a point, or the one nearest to it."""
    across, down = (x - places.lower_x) / places.spacing, (z - places.lower_z) / places.spacing
    column = int(min(max(across, 0.0), max(places.columns - 2.0, 0.0)))
    row = int(min(max(down, 0.0), max(places.rows - 2.0, 0.0)))
    return Spot(row, column, down - row, across - column)


@kernel(inline=True)
def is_inside(spot: Spot) -> bool:
    """Tell whether a point is in the cell."""
    return 0.0 <= spot.down <= 1.0 and 0.0 <= spot.across <= 1.0


@kernel(inline=True, no_refcount=True)
def _leads_on(places: PlaceArrays, place: int, direction: int) -> bool:
    """Tell whether walk edges lead in a direction and in the two next ones."""
    kinds = int(places.kinds[place])
    turned = (kinds >> (2 * direction)) | (kinds << (_ALL - 2 * direction))
    return turned & _THREE == _THREE_WALKS


@kernel(no_refcount=True)
def corners(places: PlaceArrays, cell: int) -> tuple[int, int, int]:
    """Return the other corners of an open cell: those along +X, along +Z, and along both."""
    if places.levels == 1:
        return cell + 1, cell + places.columns, cell + places.columns + 1
    return end_of(places, cell, 0), end_of(places, cell, 2), end_of(places, cell, 1)


@kernel(no_refcount=True)
def is_open(places: PlaceArrays, cell: int) -> bool:
    """Tell whether a cell is open; its corner may be in the last row or column."""
    if int(places.kinds[cell]) & _THREE != _THREE_WALKS:
        return False
    east, south, far = corners(places, cell)
    if not (
        _leads_on(places, east, 2) and _leads_on(places, far, 4) and _leads_on(places, south, 6)
    ):
        return False
    return places.levels == 1 or (
        end_of(places, east, 2) == far
        and end_of(places, east, 3) == south
        and end_of(places, east, 4) == cell
        and end_of(places, far, 4) == south
        and end_of(places, far, 5) == cell
        and end_of(places, far, 6) == east
        and end_of(places, south, 6) == cell
        and end_of(places, south, 7) == east
        and end_of(places, south, 0) == far
    )


@kernel(no_refcount=True)
def put_open(places: PlaceArrays, is_open_at: Bytes) -> None:
    """Write for each place (n,) whether the cell with its number is open."""
    for cell in range(len(is_open_at)):
        is_open_at[cell] = 1 if is_open(places, cell) else 0


@kernel(inline=True)
def blend(spot: Spot, first: float, east: float, south: float, far: float) -> float:
    """Return the value at a point of a cell, by the values at its corners."""
    near_row = first + spot.across * (east - first)
    far_row = south + spot.across * (far - south)
    return near_row + spot.down * (far_row - near_row)


@kernel(no_refcount=True)
def height_in(places: PlaceArrays, cell: int, spot: Spot) -> float:
    """Return the height of a character that stands at a point of an open cell."""
    east, south, far = corners(places, cell)
    return blend(
        spot,
        float(places.heights[cell]),
        float(places.heights[east]),
        float(places.heights[south]),
        float(places.heights[far]),
    )


@kernel(no_refcount=True)
def _open_near(places: PlaceArrays, spot: Spot, y: float, farthest: float) -> float:
    """Return the height nearest to y, and not farther, in the open cells at a point; or NaN."""
    best, least = math.nan, farthest
    for level in range(places.levels):
        cell = (level * places.rows + spot.row) * places.columns + spot.column
        if is_open(places, cell):
            height = height_in(places, cell, spot)
            if abs(height - y) <= least:
                best, least = height, abs(height - y)
    return best


@kernel(no_refcount=True)
def leads_straight(
    places: PlaceArrays,
    start: tuple[float, float, float],
    end: tuple[float, float, float],
) -> bool:
    """Tell whether a straight way leads through open cells alone, looked at four times a cell."""
    dx, dz = end[0] - start[0], end[2] - start[2]
    count = 1 + int(4.0 * math.sqrt(dx * dx + dz * dz) / places.spacing)
    y = start[1]
    for k in range(count + 1):
        x, z = start[0] + k * dx / count, start[2] + k * dz / count
        spot = spot_at(places, x, z)
        if not is_inside(spot):
            return False
        y = _open_near(places, spot, y, 0.5 * places.spacing)
        if math.isnan(y):
            return False
    return abs(y - end[1]) <= 0.5 * places.spacing

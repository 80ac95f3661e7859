"""What hangs together on a map: its parts, what is reachable, and where the nearest place is."""

import math

import numpy as np

from terrain_physics._kernels.types import Bools, Int32s
from terrain_physics._kernels.walkability.ways.labels import put_labels, put_reachable
from terrain_physics._kernels.walkability.ways.nearest import nearest_place
from terrain_physics.walkability.places import Places

# Positions count as no farther from the map, in spacings: of squares of longer distances, the
# differences between places are lost. Likewise for heights, in meters: squares have an end.
_FARTHEST, _HIGHEST = 1e6, 1e100


def labels_of(places: Places) -> Int32s:
    """Return the strongly connected part (n,) of each place, from 1; 0 where nothing stands."""
    labels, stack = np.zeros((2, len(places)), dtype=np.int32)
    put_labels(places.arrays(), labels, np.empty(len(places), dtype=np.uint8), stack)
    return labels


def reachable_from(places: Places, start: int) -> Bools:
    """Return which places (n,) a character gets to from one, itself among them."""
    reached = np.zeros(len(places), dtype=np.bool_)
    put_reachable(places.arrays(), start, reached, np.empty(len(places), dtype=np.int32))
    return reached


def nearest_to(
    places: Places, x: float, y: float | None, z: float, within: float = math.inf
) -> int | None:
    """Return the place nearest to a position where a character can stand, None if there is none.

    Without a ``y`` the distance is that on the level.
    """
    column, row = (x - places.lower_x) / places.spacing, (z - places.lower_z) / places.spacing
    position = (
        _clamped(column, -_FARTHEST, places.columns + _FARTHEST),
        math.nan if y is None else _clamped(y, -_HIGHEST, _HIGHEST),
        _clamped(row, -_FARTHEST, places.rows + _FARTHEST),
    )
    found = nearest_place(places.arrays(), position, within)
    return found if found >= 0 else None


def _clamped(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)

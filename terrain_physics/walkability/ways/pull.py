"""Ways between places, pulled straight where a proof says that the character walks there."""

import numpy as np

from terrain_physics._kernels.types import Bytes, Floats
from terrain_physics._kernels.walkability.layout import WALK
from terrain_physics._kernels.walkability.ways.lengths import Lengths
from terrain_physics._kernels.walkability.ways.pull import PulledWay, pull_way
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.still_ground import StillGround
from terrain_physics.walkability.walkers import Walker
from terrain_physics.walkability.ways.search import Searcher

_ROW, _COLUMN = np.array([0, 1, 1, 1, 0, -1, -1, -1]), np.array([1, 1, 0, -1, -1, -1, 0, 1])
_DIRECTION = np.empty((3, 3), dtype=np.int64)
_DIRECTION[_ROW + 1, _COLUMN + 1] = np.arange(8)


def way_between(
    searcher: Searcher, places: Places, start: int, goal: int, lengths: Lengths
) -> PulledWay | None:
    """Return a shortest way from place to place, None if there is none."""
    numbers = searcher.way(places, start, goal, lengths)
    if numbers is None:
        return None
    cells = numbers % (places.rows * places.columns)
    rows, columns = cells // places.columns, cells % places.columns
    directions = _DIRECTION[np.diff(rows) + 1, np.diff(columns) + 1]
    kinds = places.kinds[numbers[:-1]] >> (2 * directions).astype(np.uint16) & np.uint16(3)
    return PulledWay(numbers, places.points(numbers), kinds.astype(np.uint8))


def pulled(
    places: Places,
    lengths: Lengths,
    way: PulledWay,
    ground: StillGround,
    walker: Walker,
    rates: tuple[float, ...],
) -> tuple[Floats, Bytes]:
    """Return the points (k, 3) of a way that is pulled straight, and the kinds (k - 1,)."""
    kept = np.empty(len(way.numbers), dtype=np.int64)
    who = walker.rules, walker.speed, 1.0 / np.array(rates)
    count = pull_way(places.arrays(), lengths, way, ground.table, *who, kept)
    kept = kept[:count]
    kinds = np.where(np.diff(kept) > 1, np.uint8(WALK), way.kinds[kept[:-1]])
    return way.points[kept], kinds.astype(np.uint8)

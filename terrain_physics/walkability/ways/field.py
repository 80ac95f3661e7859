"""Fields: how far every place is from the nearest goal, and which way to go."""

import numpy as np

from terrain_physics._kernels.types import Int64s
from terrain_physics._kernels.walkability.ways.buckets import ABSENT, SLOTS, Buckets
from terrain_physics._kernels.walkability.ways.directions import put_directions
from terrain_physics._kernels.walkability.ways.field import WaysToGoals, put_distances
from terrain_physics._kernels.walkability.ways.lengths import Lengths
from terrain_physics.walkability.places import Places


def field_of(places: Places, goals: Int64s, lengths: Lengths) -> WaysToGoals:
    """Return the ways from all places to the nearest of some goals, places that stand."""
    count = len(places)
    distances, directions = np.full(count, np.inf), np.zeros((count, 2))
    nexts, targets = np.full((2, count), -1, dtype=np.int32)
    buckets, clearance = new_buckets(count), np.empty(count, dtype=np.uint8)
    arrays, ways = places.arrays(), WaysToGoals(distances, nexts, targets, directions)
    put_distances(arrays, lengths, goals, ways, buckets)
    put_directions(arrays, lengths, ways, buckets, clearance)
    return ways


def new_buckets(count: int) -> Buckets:
    """Return an empty queue of so many places."""
    heads = np.full(SLOTS, -1, dtype=np.int32)
    return Buckets(heads, np.full(count, ABSENT, np.int32), np.empty(count, np.int32))

"""Fields: how far every place is from the nearest goal, and which way to go."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.types import Floats, Int32s, Int64s
from terrain_physics._kernels.walkability.ways.buckets import ABSENT, SLOTS, Buckets
from terrain_physics._kernels.walkability.ways.directions import put_directions
from terrain_physics._kernels.walkability.ways.field import put_distances
from terrain_physics._kernels.walkability.ways.lengths import Lengths
from terrain_physics.walkability.places import Places


class WaysToGoals(NamedTuple):
    """The ways of n places to the nearest of some goals."""

    distances: Floats  # (n,): in meters, times costs; inf: no way
    next_places: Int32s  # (n,): the next place on the way; -1 at goals, and where there is no way
    targets: (
        Int32s  # (n,): the farthest place on the way that is surely in sight; goals: themselves
    )
    directions: Floats  # (n, 2): x and z of a unit vector; zeros where there is no next place


def field_of(places: Places, goals: Int64s, lengths: Lengths) -> WaysToGoals:
    """Return the ways from all places to the nearest of some goals, places that stand."""
    count = len(places)
    distances, directions = np.full(count, np.inf), np.zeros((count, 2))
    nexts, targets = np.full((2, count), -1, dtype=np.int32)
    buckets, clearance = new_buckets(count), np.empty(count, dtype=np.uint8)
    arrays = places.arrays()
    put_distances(arrays, lengths, goals, distances, nexts, buckets)
    first = int(buckets.heads[0])
    put_directions(
        arrays, lengths, distances, nexts, buckets.after, first, clearance, targets, directions
    )
    return WaysToGoals(distances, nexts, targets, directions)


def new_buckets(count: int) -> Buckets:
    """Return an empty queue of so many places."""
    heads = np.full(SLOTS, -1, dtype=np.int32)
    return Buckets(heads, np.full(count, ABSENT, np.int32), np.empty(count, np.int32))

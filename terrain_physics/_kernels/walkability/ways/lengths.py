"""Lengths of edges, with what the ground costs.

A length is a whole multiple of 2**-20 m, about a micrometer. Sums of such numbers are exact: they
are the same in any order, and ways of equal length tie, where rounding would choose among them.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Bytes, Floats
from terrain_physics._kernels.walkability.layout import PlaceArrays

QUANTUM = 2.0**-20
"""All lengths are whole multiples of this, in meters."""

_ROUNDER = 1.5 * 2.0**52 * QUANTUM  # sums with it have no bits below the quantum


class Lengths(NamedTuple):
    """What the length of an edge is made of, beside the heights of its ends."""

    straight: float  # level edges along an axis, and across
    diagonal: float
    materials: Bytes  # (n,): the ground under each place; (0,) if all cost the same
    factors: Floats  # (256,): by material, how much longer an edge counts; at least 1


@kernel(inline=True)
def whole(length: float) -> float:
    """Return the whole multiple of the quantum that is nearest to a length."""
    return (length + _ROUNDER) - _ROUNDER


@kernel(inline=True, no_refcount=True)
def flat_length(lengths: Lengths, direction: int) -> float:
    """Return the length of a level edge in a direction, the least that any edge has there."""
    return lengths.diagonal if direction % 2 else lengths.straight


@kernel(inline=True, no_refcount=True)
def factor_at(lengths: Lengths, place: int) -> float:
    """Return how much longer an edge counts on the ground under a place, where that matters."""
    return float(lengths.factors[lengths.materials[place]])


@kernel(inline=True, no_refcount=True)
def edge_length(
    places: PlaceArrays, lengths: Lengths, flat: float, place: int, other: int
) -> float:
    """Return the length of an edge in space, times the mean of the factors of its ends."""
    rise = np.float64(places.heights[other]) - np.float64(places.heights[place])
    length = math.sqrt(flat * flat + rise * rise)
    if len(lengths.materials) > 0:
        length *= 0.5 * (factor_at(lengths, place) + factor_at(lengths, other))
    return whole(length)

"""Steering along one straight piece of a way, so that no frame leads far off it.

A character is told a velocity and keeps it for one update, whose length nobody knows before. So it
is never told more than what brings it to the next corner, or a little beyond, in the longest update
to be expected. It slows down within the last tenths of a meter before a corner, by how sharp the
corner is. The same velocities follow from the same place at any frame rate.
"""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel


class Gait(NamedTuple):
    """How fast a character is led, and how exactly."""

    speed: float  # that it is told at most, in m/s
    horizon: float  # the time of the longest update to be expected, in s
    slack: float  # how far it may be beside its way, in m


class Piece(NamedTuple):
    """A straight piece of a way, on the level."""

    x: float  # its start
    z: float
    ahead_x: float  # its direction, of unit length; zeros if it is a point
    ahead_z: float
    length: float


@kernel(inline=True)
def piece_between(x: float, z: float, end_x: float, end_z: float) -> Piece:
    """Return the piece from one point to another."""
    dx, dz = end_x - x, end_z - z
    length = math.sqrt(dx * dx + dz * dz)
    if length == 0.0:
        return Piece(x, z, 0.0, 0.0, 0.0)
    return Piece(x, z, dx / length, dz / length, length)


@kernel(inline=True)
def distance_along(piece: Piece, x: float, z: float) -> float:
    """Return how far along a piece the point is that is nearest to (x, z)."""
    along = (x - piece.x) * piece.ahead_x + (z - piece.z) * piece.ahead_z
    return min(max(along, 0.0), piece.length)


@kernel(inline=True)
def point_along(piece: Piece, along: float) -> tuple[float, float]:
    """Return the point at a distance along a piece."""
    return piece.x + along * piece.ahead_x, piece.z + along * piece.ahead_z


@kernel(inline=True)
def flat_distance(x: float, z: float, other_x: float, other_z: float) -> float:
    """Return the distance of two points on the level."""
    dx, dz = other_x - x, other_z - z
    return math.sqrt(dx * dx + dz * dz)


@kernel(inline=True)
def corner_slack(piece: Piece, following: Piece, pace: Gait) -> float:
    """Return how far before or behind the corner a character may turn into the next piece.

    It is then at most ``pace.slack`` beside one of both. However straight the corner is, the
    character first comes so near that it would soon slow down.
    """
    cosine = piece.ahead_x * following.ahead_x + piece.ahead_z * following.ahead_z
    sine = abs(piece.ahead_x * following.ahead_z - piece.ahead_z * following.ahead_x)
    farthest = min(0.5 * min(piece.length, following.length), 0.5 * _look_ahead(pace))
    if cosine <= 0.0:
        return min(pace.slack, farthest)
    return min(pace.slack / sine, farthest) if sine * farthest > pace.slack else farthest


@kernel(inline=True)
def _look_ahead(pace: Gait) -> float:
    """Return how far ahead of a character the point is that it is led to."""
    return max(2.0 * pace.speed * pace.horizon, 8.0 * pace.slack)


@kernel(inline=True)
def velocity_to(
    x: float, z: float, target_x: float, target_z: float, speed: float
) -> tuple[float, float]:
    """Return the velocity of a speed that leads to a target; 0 if it is there."""
    dx, dz = target_x - x, target_z - z
    distance = math.sqrt(dx * dx + dz * dz)
    if distance == 0.0:
        return 0.0, 0.0
    return speed * dx / distance, speed * dz / distance


@kernel
def pursue(x: float, z: float, piece: Piece, slack: float, pace: Gait) -> tuple[float, float]:
    """Return the velocity that leads along a piece, and back to it, and slows before its end.

    ``slack`` is how far the longest update may lead beyond the end.
    """
    along = distance_along(piece, x, z)
    end_x, end_z = point_along(piece, piece.length)
    target_x, target_z = point_along(piece, min(along + _look_ahead(pace), piece.length))
    left = max(flat_distance(x, z, end_x, end_z), slack)
    speed = min(pace.speed, left / pace.horizon)
    return velocity_to(x, z, target_x, target_z, speed)


@kernel
def pursue_drop(
    x: float, z: float, piece: Piece, is_above: bool, is_in_air: bool, pace: Gait
) -> tuple[float, float]:
    """Return the velocity that leads straight over an edge, and in the air above the end.

    ``is_above`` tells whether the character is higher than the end: on the ground it goes on then,
    even beyond the end, until it falls.
    """
    if is_above and not is_in_air:
        longer = Piece(
            piece.x, piece.z, piece.ahead_x, piece.ahead_z, piece.length + 0.5 * piece.length
        )
        return pursue(x, z, longer, 0.0, pace)
    return pursue(x, z, piece, 0.0, pace)

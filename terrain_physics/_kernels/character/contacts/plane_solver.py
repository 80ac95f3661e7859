"""Simultaneous contact solver: the least move out of several half-spaces.

The result does not depend on their order.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, cross, dot, scale
from terrain_physics._kernels.tolerances import PARALLEL_PLANES_SINE, SHORT_SHARE
from terrain_physics._kernels.types import Floats, Int64s

# Columns of the rows: depth, then the unit direction.
_DEPTH, _PUSH = 1, 2


@kernel(inline=True)
def _push(rows: Floats, i: int) -> Vec3:
    return (float(rows[i, _PUSH]), float(rows[i, _PUSH + 1]), float(rows[i, _PUSH + 2]))


@kernel
def _leaves_all(rows: Floats, order: Int64s, count: int, move: Vec3) -> bool:
    for k in range(count):
        depth = float(rows[order[k], _DEPTH])
        if dot(_push(rows, order[k]), move) < depth - SHORT_SHARE * (depth + 1e-3):
            return False
    return True


@kernel(inline=True, no_refcount=True)
def _onto_plane(rows: Floats, order: Int64s, count: int) -> tuple[float, Vec3]:
    """Return (squared length, move) of the shortest move onto one plane that leaves all planes."""
    best, least = (0.0, 0.0, 0.0), np.inf
    for i in range(count):
        depth = float(rows[order[i], _DEPTH])
        move = scale(_push(rows, order[i]), depth)
        if depth * depth < least and _leaves_all(rows, order, count, move):
            best, least = move, depth * depth
    return least, best


@kernel(inline=True, no_refcount=True)
def _onto_line(rows: Floats, order: Int64s, count: int) -> tuple[float, Vec3]:
    """Return (squared length, move) of the shortest such move onto the line of two planes."""
    best, least = (0.0, 0.0, 0.0), np.inf
    for i in range(count):
        n, depth = _push(rows, order[i]), float(rows[order[i], _DEPTH])
        for j in range(i):
            m, other = _push(rows, order[j]), float(rows[order[j], _DEPTH])
            cosine = dot(n, m)
            square = 1.0 - cosine * cosine
            if not square > PARALLEL_PLANES_SINE * PARALLEL_PLANES_SINE:
                continue
            move = add_scaled(
                scale(n, (depth - cosine * other) / square), m, (other - cosine * depth) / square
            )
            size = dot(move, move)
            if size < least and _leaves_all(rows, order, count, move):
                best, least = move, size
    return least, best


@kernel(inline=True, no_refcount=True)
def _onto_point(rows: Floats, order: Int64s, count: int) -> tuple[float, Vec3]:
    """Return (squared length, move) of the shortest such move into the point of three planes."""
    best, least = (0.0, 0.0, 0.0), np.inf
    for i in range(count):
        first, depth = _push(rows, order[i]), float(rows[order[i], _DEPTH])
        for j in range(i):
            m, other = _push(rows, order[j]), float(rows[order[j], _DEPTH])
            line = cross(first, m)
            for k in range(j):
                n = _push(rows, order[k])
                volume = dot(line, n)
                if not abs(volume) > PARALLEL_PLANES_SINE:
                    continue
                move = add_scaled(scale(cross(m, n), depth), cross(n, first), other)
                move = scale(add_scaled(move, line, float(rows[order[k], _DEPTH])), 1.0 / volume)
                size = dot(move, move)
                if size < least and _leaves_all(rows, order, count, move):
                    best, least = move, size
    return least, best


@kernel(inline=True, no_refcount=True)
def _one_after_another(rows: Floats, order: Int64s, count: int) -> Vec3:
    """Return the sum of the pushes in order, each shortened by the part that is already covered."""
    move = (0.0, 0.0, 0.0)
    for k in range(count):
        n = _push(rows, order[k])
        missing = float(rows[order[k], _DEPTH]) - dot(n, move)
        if missing > 0.0:
            move = add_scaled(move, n, missing)
    return move


@kernel(noinline=True, no_refcount=True)
def least_move(rows: Floats, order: Int64s, count: int) -> Vec3:
    """Return the shortest move m with push . m >= depth for all rows named by ``order``.

    The move ends on one plane, on the line of two planes or in the point of three. All combinations
    are tried, and the shortest move that leaves all planes is taken. If there is none, because
    planes face each other, the result is the sum of the pushes applied one after another, in order
    of depth.
    """
    size, move = _onto_plane(rows, order, count)
    if size < np.inf:
        return move  # no line can be nearer than the plane it lies in
    size, move = _onto_line(rows, order, count)
    if size < np.inf:
        return move
    size, move = _onto_point(rows, order, count)
    if size < np.inf:
        return move
    return _one_after_another(rows, order, count)

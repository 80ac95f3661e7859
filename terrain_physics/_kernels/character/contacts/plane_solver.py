"""Contact solver, all at once: the least move that leaves several half-spaces.

It does not depend on their order.
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


@kernel(noinline=True, no_refcount=True)
def least_move(rows: Floats, order: Int64s, count: int) -> Vec3:
    """Return the shortest move m with push . m >= depth for all rows named by ``order``.

    The move ends on one plane, on the line of two or in the point of three of them: all are tried,
    and the shortest that leaves all planes is taken. If there is none, because planes face each
    other, the answer is the sum of one push after another, in order of depth.
    """
    best, least = (0.0, 0.0, 0.0), np.inf
    for i in range(count):
        n, depth = _push(rows, order[i]), float(rows[order[i], _DEPTH])
        move = scale(n, depth)
        if depth * depth < least and _leaves_all(rows, order, count, move):
            best, least = move, depth * depth
    if least < np.inf:
        return best  # no line can be nearer than the plane it lies in
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
    if least < np.inf:
        return best
    for i in range(count):
        for j in range(i):
            line = cross(_push(rows, order[i]), _push(rows, order[j]))
            for k in range(j):
                n = _push(rows, order[k])
                volume = dot(line, n)
                if not abs(volume) > PARALLEL_PLANES_SINE:
                    continue
                move = scale(cross(_push(rows, order[j]), n), float(rows[order[i], _DEPTH]))
                move = add_scaled(
                    move, cross(n, _push(rows, order[i])), float(rows[order[j], _DEPTH])
                )
                move = scale(add_scaled(move, line, float(rows[order[k], _DEPTH])), 1.0 / volume)
                size = dot(move, move)
                if size < least and _leaves_all(rows, order, count, move):
                    best, least = move, size
    if least < np.inf:
        return best
    move = (0.0, 0.0, 0.0)
    for k in range(count):
        n = _push(rows, order[k])
        missing = float(rows[order[k], _DEPTH]) - dot(n, move)
        if missing > 0.0:
            move = add_scaled(move, n, missing)
    return move

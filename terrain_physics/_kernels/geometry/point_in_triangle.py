"""2D points in triangles, borders included: always the exact answer."""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.orientation_2d import (
    BAND,
    SMALLEST,
    TERM_COUNT,
    largest_exponent,
    orientation_sign,
)
from terrain_physics._kernels.types import Bytes, Floats

OUTSIDE, INSIDE, UNDECIDED = np.uint8(0), np.uint8(1), np.uint8(2)
_BLOCK = 4096  # rows that stay in the nearest cache for the second pass


_Numbers = tuple[float, float, float, float, float, float, float, float]


@kernel(inline=True)
def _row(points: Floats, a: Floats, b: Floats, c: Floats, i: int) -> _Numbers:
    """Return x and y of a point, and of the corners of its triangle."""
    px, py, ax, ay = float(points[i, 0]), float(points[i, 1]), float(a[i, 0]), float(a[i, 1])
    return px, py, ax, ay, float(b[i, 0]), float(b[i, 1]), float(c[i, 0]), float(c[i, 1])


@kernel(inline=True, contract=True)
def _verdict(
    px: float, py: float, ax: float, ay: float, bx: float, by: float, cx: float, cy: float
) -> np.uint8:
    """Return INSIDE, OUTSIDE or, where rounding might decide, UNDECIDED; without branches."""
    ax, ay, bx, by, cx, cy = ax - px, ay - py, bx - px, by - py, cx - px, cy - py
    ab, ba, bc, cb, ca, ac = ax * by, ay * bx, bx * cy, by * cx, cx * ay, cy * ax
    u, v, w = ab - ba, bc - cb, ca - ac
    u_off = BAND * (abs(ab) + abs(ba)) + SMALLEST
    v_off = BAND * (abs(bc) + abs(cb)) + SMALLEST
    w_off = BAND * (abs(ca) + abs(ac)) + SMALLEST
    left = (u > u_off) | (v > v_off) | (w > w_off)
    right = (u < -u_off) | (v < -v_off) | (w < -w_off)
    all_left = (u > u_off) & (v > v_off) & (w > w_off)
    all_right = (u < -u_off) & (v < -v_off) & (w < -w_off)
    if left & right:
        return OUTSIDE
    return INSIDE if all_left | all_right else UNDECIDED


@kernel
def _is_inside(
    px: float,
    py: float,
    ax: float,
    ay: float,
    bx: float,
    by: float,
    cx: float,
    cy: float,
    terms: Floats,
) -> bool:
    """Decide with exact signs; a triangle without area is a segment or a point."""
    x = largest_exponent(px, ax, bx, cx)
    px, ax, bx, cx = math.ldexp(px, x), math.ldexp(ax, x), math.ldexp(bx, x), math.ldexp(cx, x)
    y = largest_exponent(py, ay, by, cy)
    py, ay, by, cy = math.ldexp(py, y), math.ldexp(ay, y), math.ldexp(by, y), math.ldexp(cy, y)
    u = orientation_sign(px, py, ax, ay, bx, by, terms)
    v = orientation_sign(px, py, bx, by, cx, cy, terms)
    w = orientation_sign(px, py, cx, cy, ax, ay, terms)
    if u == 0 and v == 0 and w == 0:
        return bool(
            min(ax, bx, cx) <= px <= max(ax, bx, cx) and min(ay, by, cy) <= py <= max(ay, by, cy)
        )
    return not (min(u, v, w) < 0 < max(u, v, w))


@kernel
def point_in_triangle(
    px: float, py: float, ax: float, ay: float, bx: float, by: float, cx: float, cy: float
) -> bool:
    """Tell whether a point lies in a triangle."""
    quick = _verdict(px, py, ax, ay, bx, by, cx, cy)
    if quick != UNDECIDED:
        return bool(quick == INSIDE)
    return _is_inside(px, py, ax, ay, bx, by, cx, cy, np.empty(TERM_COUNT))


@kernel
def points_in_triangle(points: Floats, a: Floats, b: Floats, c: Floats, out: Bytes) -> None:
    """Write 1 for points (n, 2) in one triangle, corners (1, 2), else 0."""
    ax, ay, bx, by = float(a[0, 0]), float(a[0, 1]), float(b[0, 0]), float(b[0, 1])
    cx, cy = float(c[0, 0]), float(c[0, 1])
    terms = np.empty(TERM_COUNT)
    for start in range(0, out.shape[0], _BLOCK):
        stop = min(start + _BLOCK, out.shape[0])
        if not _one_triangle_quickly(points[start:stop], ax, ay, bx, by, cx, cy, out[start:stop]):
            continue
        for i in range(start, stop):
            if out[i] == UNDECIDED:
                px, py = float(points[i, 0]), float(points[i, 1])
                out[i] = _is_inside(px, py, ax, ay, bx, by, cx, cy, terms)


@kernel(contract=True)
def _one_triangle_quickly(
    points: Floats,
    ax: float,
    ay: float,
    bx: float,
    by: float,
    cx: float,
    cy: float,
    out: Bytes,
) -> bool:
    """Write verdicts; tell whether any is UNDECIDED."""
    prefer_wide_vectors()
    found = OUTSIDE
    for i in range(out.shape[0]):
        px, py = float(points[i, 0]), float(points[i, 1])
        verdict = _verdict(px, py, ax, ay, bx, by, cx, cy)
        out[i] = verdict
        found = np.uint8(found | verdict)
    return bool(found >= UNDECIDED)


@kernel
def points_in_triangles(points: Floats, a: Floats, b: Floats, c: Floats, out: Bytes) -> None:
    """Write 1 for points (n, 2) in the triangle of their row, corners (n, 2), else 0."""
    terms = np.empty(TERM_COUNT)
    for start in range(0, out.shape[0], _BLOCK):
        stop = min(start + _BLOCK, out.shape[0])
        if not _rows_quickly(
            points[start:stop], a[start:stop], b[start:stop], c[start:stop], out[start:stop]
        ):
            continue
        for i in range(start, stop):
            if out[i] == UNDECIDED:
                out[i] = _is_inside(*_row(points, a, b, c, i), terms)


@kernel(contract=True)
def _rows_quickly(points: Floats, a: Floats, b: Floats, c: Floats, out: Bytes) -> bool:
    """Write verdicts; tell whether any is UNDECIDED."""
    prefer_wide_vectors()
    found = OUTSIDE
    for i in range(out.shape[0]):
        verdict = _verdict(*_row(points, a, b, c, i))
        out[i] = verdict
        found = np.uint8(found | verdict)
    return bool(found >= UNDECIDED)

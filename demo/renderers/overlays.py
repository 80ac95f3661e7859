"""What is drawn over the finished picture, still hidden by what is nearer: tints and lines."""

import math

import numpy as np
from numpy.typing import NDArray

from ..picture.camera import NEAR
from .compiled import compiled, inlined
from .raster import cut, fill_face, see_points

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Words = NDArray[np.uint32]

LIFT = 1.004
"""Overlays count as this much nearer than they are, so that what they lie on does not hide them."""


@inlined
def _seen_box(corners: Floats, first: int, lens: Floats) -> tuple[float, float, float, float]:
    """Return least and most x and y of what is before the camera of a triangle; 1e9, -1e9 if none.

    A corner behind the camera counts by where the edges to it leave what is seen.
    """
    least_x, most_x, least_y, most_y = 1e9, -1e9, 1e9, -1e9
    for c in range(3):
        here, there = first + c, first + (c + 1) % 3
        is_seen, goes_on = corners[here, 2] > 0.0, corners[there, 2] > 0.0
        if is_seen:
            x, y = corners[here, 0], corners[here, 1]
            least_x, most_x = min(least_x, x), max(most_x, x)
            least_y, most_y = min(least_y, y), max(most_y, y)
        if is_seen != goes_on:
            inner, outer = (here, there) if is_seen else (there, here)
            x, y = cut(corners, inner, outer, lens[0], lens[1], lens[2])
            least_x, most_x = min(least_x, x), max(most_x, x)
            least_y, most_y = min(least_y, y), max(most_y, y)
    return least_x, most_x, least_y, most_y


@compiled
def draw_tints(
    corners: Floats, colors: Floats, lens: Floats, one_sided: int, mark: int, top: int,
    bottom: int, depth: Singles, scratch: Singles, marks: Words, pixels: Words,
) -> None:  # fmt: skip
    """Blend triangles over the rows of a band. ``corners``: seen points, three a triangle.

    ``colors``: red, green, blue, opacity. ``scratch`` and ``marks`` are zero before and after.
    """
    width = depth.shape[1]
    for k in range(colors.shape[0]):
        least_x, most_x, least_y, most_y = _seen_box(corners, 3 * k, lens)
        if most_x < 0.0 or least_x > width or most_y < top or least_y > bottom:
            continue
        fill_face(
            corners, 3 * k, 3 * k + 1, 3 * k + 2, one_sided, lens[0], lens[1], lens[2],
            mark, top, bottom, scratch, marks,
        )  # fmt: skip
        opacity = colors[k, 3]
        for i in range(max(top, int(least_y)), min(bottom, int(min(most_y, 1e6)) + 1)):
            for j in range(max(0, int(least_x)), min(width, int(min(most_x, 1e6)) + 1)):
                if marks[i, j] == 0:
                    continue
                if scratch[i, j] * LIFT >= depth[i, j]:
                    word = int(pixels[i, j])
                    mixed = 0
                    for c in range(3):
                        value = float((word >> (16 - 8 * c)) & 255)
                        value += opacity * (colors[k, c] - value)
                        mixed |= int(value + 0.5) << (16 - 8 * c)
                    pixels[i, j] = mixed
                marks[i, j] = 0
                scratch[i, j] = 0.0


@compiled
def draw_lines(
    ends: Floats, colors: Floats, eye: Floats, view: Floats, lens: Floats, thick: float,
    top: int, bottom: int, depth: Singles, pixels: Words,
) -> None:  # fmt: skip
    """Draw soft-edged lines, (n, 6), into the rows of a band, behind what is nearer."""
    width = depth.shape[1]
    point, seen = np.empty((2, 3)), np.empty((2, 4))
    for k in range(ends.shape[0]):
        for c in range(6):
            point[c // 3, c % 3] = ends[k, c]
        see_points(point, eye, view, lens, seen)
        w0, w1 = seen[0, 3], seen[1, 3]
        if w0 < NEAR and w1 < NEAR:
            continue
        if w0 < NEAR or w1 < NEAR:
            inner = 1 if w0 < NEAR else 0
            share = (seen[inner, 3] - 1.01 * NEAR) / (seen[inner, 3] - seen[1 - inner, 3])
            for c in range(3):
                point[1 - inner, c] = point[inner, c] + share * (
                    point[1 - inner, c] - point[inner, c]
                )
            see_points(point, eye, view, lens, seen)
        x0, y0, i0 = seen[0, 0], seen[0, 1], seen[0, 2]
        x1, y1, i1 = seen[1, 0], seen[1, 1], seen[1, 2]
        if max(x0, x1) < -2.0 or min(x0, x1) > width + 2.0:
            continue
        if max(y0, y1) < top - 2.0 or min(y0, y1) > bottom + 2.0:
            continue
        upright = abs(y1 - y0) > abs(x1 - x0)
        if upright:
            x0, y0, x1, y1 = y0, x0, y1, x1
        if x1 < x0:
            x0, y0, i0, x1, y1, i1 = x1, y1, i1, x0, y0, i0
        run = max(x1 - x0, 1e-9)
        slope, fall = (y1 - y0) / run, (i1 - i0) / run
        half = 0.5 * thick * math.sqrt(1.0 + slope * slope)
        lowest, highest = (top, bottom) if upright else (0, width)
        first = max(lowest, math.floor(max(x0 - 0.5, lowest - 1.0)))
        last = min(highest, math.ceil(min(x1 + 0.5, highest + 1.0)))
        for along in range(first, last):
            middle = along + 0.5
            caps = min(1.0, min(middle - x0, x1 - middle) + 1.0)
            if caps <= 0.0:
                continue
            at = min(max(middle, x0), x1)
            y, inverse = y0 + slope * (middle - x0), i0 + fall * (at - x0)
            for side in range(math.floor(y - half - 0.5), math.floor(y + half + 0.5) + 1):
                i, j = (along, side) if upright else (side, along)
                if i < top or i >= bottom or j < 0 or j >= width:
                    continue
                cover = min(1.0, half + 0.5 - abs(side + 0.5 - y)) * caps
                if cover <= 0.0 or inverse * LIFT < depth[i, j]:
                    continue
                word = int(pixels[i, j])
                mixed = 0
                for c in range(3):
                    value = float((word >> (16 - 8 * c)) & 255)
                    value += cover * (colors[k, c] - value)
                    mixed |= int(value + 0.5) << (16 - 8 * c)
                pixels[i, j] = mixed

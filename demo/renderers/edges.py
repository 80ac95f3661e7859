"""Smoother outlines for the software renderer."""

import numpy as np
from numpy.typing import NDArray

from demo.renderers.compiled import compiled, inlined
from demo.renderers.raster import GROUND

Singles = NDArray[np.float32]
Words = NDArray[np.uint32]

GROUND_KIND = GROUND >> 24


@inlined
def _luma(word: int) -> int:
    return ((word >> 16) & 255) * 2 + ((word >> 8) & 255) * 5 + (word & 255)


@inlined
def _blend(a: int, b: int, share: int) -> int:
    """Mix two words; ``share`` of 256 is the second's."""
    even = (a & 0xFF00FF) * (256 - share) + (b & 0xFF00FF) * share
    odd = ((a >> 8) & 0xFF) * (256 - share) + ((b >> 8) & 0xFF) * share
    return ((even >> 8) & 0xFF00FF) | (odd & 0xFF00)


@compiled
def smooth_edges(
    depth: Singles, surface: Words, colors: Words, first: int, last: int, out: Words
) -> None:
    """Copy rows of pixels, softened along the outlines of things.

    After Lottes, FXAA: an edge's direction from the brightness around a pixel, then a blur along
    it. Only where kind or depth jumps, so that the ground keeps its grain.
    """
    height, width = colors.shape
    for i in range(first, last):
        for j in range(width):
            here = int(colors[i, j])
            if i == 0 or j == 0 or i == height - 1 or j == width - 1:
                out[i, j] = here
                continue
            near = depth[i, j]
            slack = 0.06 * near
            kind = surface[i, j] >> np.uint32(24)
            if (
                abs(depth[i - 1, j] - near) <= slack
                and abs(depth[i + 1, j] - near) <= slack
                and abs(depth[i, j - 1] - near) <= slack
                and abs(depth[i, j + 1] - near) <= slack
                and kind <= GROUND_KIND
            ):
                out[i, j] = here
                continue
            nw, ne = _luma(int(colors[i - 1, j - 1])), _luma(int(colors[i - 1, j + 1]))
            sw, se = _luma(int(colors[i + 1, j - 1])), _luma(int(colors[i + 1, j + 1]))
            middle = _luma(here)
            least = min(middle, nw, ne, sw, se)
            most = max(middle, nw, ne, sw, se)
            if most - least < 120:
                out[i, j] = here
                continue
            along_x = float((sw + se) - (nw + ne))
            along_y = float((nw + sw) - (ne + se))
            scale = 1.0 / (min(abs(along_x), abs(along_y)) + 0.03125 * (nw + ne + sw + se) + 1.0)
            along_x = min(max(along_x * scale, -4.0), 4.0)
            along_y = min(max(along_y * scale, -4.0), 4.0)
            red = green = blue = 0.0
            for k in range(4):
                share = (-0.5, -1.0 / 6.0, 1.0 / 6.0, 0.5)[k]
                x, y = j + share * along_x, i + share * along_y
                x, y = min(max(x, 0.0), width - 1.001), min(max(y, 0.0), height - 1.001)
                c, r = int(x), int(y)
                p, q = int((x - c) * 256.0), int((y - r) * 256.0)
                upper = _blend(int(colors[r, c]), int(colors[r, c + 1]), p)
                lower = _blend(int(colors[r + 1, c]), int(colors[r + 1, c + 1]), p)
                word = _blend(upper, lower, q)
                red += (word >> 16) & 255
                green += (word >> 8) & 255
                blue += word & 255
            out[i, j] = (int(0.25 * red) << 16) | (int(0.25 * green) << 8) | int(0.25 * blue)

"""Smoother outlines for the software renderer."""

import numpy as np
from numpy.typing import NDArray

from .compiled import by_vectors, compiled, inlined
from .raster import GROUND

Singles = NDArray[np.float32]
Words = NDArray[np.uint32]
Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int32]

REACH = 3
"""From so many rows away a pixel is blurred."""

_GROUND, _CONTRAST = np.int32(GROUND >> 24), np.int32(120)
_KIND_SHIFT, _JUMP = np.uint32(24), np.float32(0.06)
_RED, _GREEN, _BYTE = np.uint32(16), np.uint32(8), np.int32(255)


@inlined
def _luma(word: np.uint32) -> np.int32:
    """Eight times the brightness."""
    red, green = np.int32(word >> _RED) & _BYTE, np.int32(word >> _GREEN) & _BYTE
    return np.int32(np.int32(2 * red) + np.int32(5 * green) + np.int32(np.int32(word) & _BYTE))


@inlined
def _blend(a: int, b: int, share: int) -> int:
    """Mix two words; ``share`` of 256 is the second's."""
    even = (a & 0xFF00FF) * (256 - share) + (b & 0xFF00FF) * share
    odd = ((a >> 8) & 0xFF) * (256 - share) + ((b >> 8) & 0xFF) * share
    return ((even >> 8) & 0xFF00FF) | (odd & 0xFF00)


@by_vectors
def _put_lumas(colors: Words, lumas: Numbers) -> None:
    for k in range(colors.shape[0]):
        lumas[k] = _luma(colors[k])


@by_vectors
def _put_outlines(
    above: Singles, near: Singles, below: Singles, surface: Words, upper: Numbers, here: Numbers,
    lower: Numbers, marks: Bytes,
) -> None:  # fmt: skip
    """Mark the pixels on outlines with contrast, not the first and the last.

    ``above``, ``near``, ``below``: depths of three rows; ``upper``, ``here``, ``lower``: lumas.
    """
    for first in range(near.shape[0] - 2):
        before, k, after = np.uint64(first), np.uint64(first + 1), np.uint64(first + 2)
        depth = near[k]
        slack = _JUMP * depth
        jump = max(
            abs(above[k] - depth), abs(below[k] - depth),
            abs(near[before] - depth), abs(near[after] - depth),
        )  # fmt: skip
        nw, ne, sw, se = upper[before], upper[after], lower[before], lower[after]
        middle = here[k]
        contrast = np.int32(max(middle, nw, ne, sw, se) - min(middle, nw, ne, sw, se))
        drawn = np.int32(surface[k] >> _KIND_SHIFT) > _GROUND
        marks[k] = np.uint8(1 if (jump > slack or drawn) and contrast >= _CONTRAST else 0)


@compiled
def smooth_edges(
    depth: Singles, surface: Words, colors: Words, first: int, last: int, out: Words
) -> None:
    """Copy rows of pixels, softened along the outlines of things; reads `REACH` rows beyond.

    After Lottes, FXAA: an edge's direction from the brightness around a pixel, then a blur along
    it. Only where kind or depth jumps, so that the ground keeps its grain.
    """
    height, width = colors.shape
    marks = np.zeros((width + 7) // 8 * 8, dtype=np.uint8)
    eights = marks.view(np.uint64)
    lumas = np.empty((3, width), dtype=np.int32)
    for i in range(max(first - 1, 0), min(first + 1, height)):
        _put_lumas(colors[i], lumas[i % 3])
    for i in range(first, last):
        for j in range(width):
            out[i, j] = colors[i, j]
        if i + 1 < height:
            _put_lumas(colors[i + 1], lumas[(i + 1) % 3])
        if i == 0 or i == height - 1:
            continue
        _put_outlines(
            depth[i - 1], depth[i], depth[i + 1], surface[i], lumas[(i - 1) % 3], lumas[i % 3],
            lumas[(i + 1) % 3], marks,
        )  # fmt: skip
        for eight in range(eights.shape[0]):
            if eights[eight] == 0:
                continue
            for j in range(8 * eight, 8 * eight + 8):
                if marks[j]:
                    out[i, j] = _blurred(colors, i, j)


@inlined
def _blurred(colors: Words, i: int, j: int) -> int:
    """Mean of four pixels along the edge that goes through one."""
    height, width = colors.shape
    nw, ne = int(_luma(colors[i - 1, j - 1])), int(_luma(colors[i - 1, j + 1]))
    sw, se = int(_luma(colors[i + 1, j - 1])), int(_luma(colors[i + 1, j + 1]))
    along_x = float((sw + se) - (nw + ne))
    along_y = float((nw + sw) - (ne + se))
    scale = 1.0 / (min(abs(along_x), abs(along_y)) + 0.03125 * (nw + ne + sw + se) + 1.0)
    along_x = min(max(along_x * scale, -4.0), 4.0)
    along_y = min(max(along_y * scale, -4.0), 4.0)
    red = green = blue = 0
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
    return ((red >> 2) << 16) | ((green >> 2) << 8) | (blue >> 2)

"""Pictures for notebooks: ground from above in colors and with light, as PNG files."""

import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

PNG_MARK = b"\x89PNG\r\n\x1a\n"
"""The first bytes of a PNG file."""

Picture = NDArray[np.uint8]
"""Red, green and blue of pixels (rows, columns, 3): x to the right, z down."""

Corner = tuple[float, float]
"""x and z in meters."""

# Pixels of a picture's longer side; smaller pictures are enlarged.
_LEAST, _MOST = 256, 512

_LOW, _HIGH, _NOTHING = (72.0, 110.0, 62.0), (212.0, 203.0, 186.0), (24, 26, 32)

# Towards the light, of length 1: from the upper left, as on maps on paper.
_LIGHT = (-0.48, 0.64, -0.6)


def seen_from_above(
    height_at: Callable[[Any, Any], Any], lower: Corner, upper: Corner, apart: float
) -> Picture:
    """Return the picture of ground between two corners, with pixels so far ``apart``, or more."""
    longest = max(upper[0] - lower[0], upper[1] - lower[1])
    apart = max(apart, longest / (_MOST - 1))
    x, z = (
        np.linspace(low, high, max(round((high - low) / apart), 1) + 1)
        for low, high in zip(lower, upper, strict=True)
    )
    return shaded(height_at(*np.meshgrid(x, z)), apart)


def shaded(heights: Any, apart: float) -> Picture:
    """Return the picture of heights (rows, columns) so far apart, dark where they are NaN."""
    values = np.array(heights, np.float64)
    is_ground = np.isfinite(values)
    known = values[is_ground]
    low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
    values[~is_ground] = low
    z, x = (_rises(values, axis) / apart for axis in (0, 1))
    light = (_LIGHT[1] - _LIGHT[0] * x - _LIGHT[2] * z) / np.sqrt(1.0 + x * x + z * z)
    share = (values - low) / (high - low if high > low else 1.0)
    colors = np.array(_LOW) + share[..., np.newaxis] * np.subtract(_HIGH, _LOW)
    lit = colors * (0.35 + 0.75 * np.clip(light, 0.0, 1.0))[..., np.newaxis]
    picture: Picture = np.clip(lit, 0.0, 255.0).astype(np.uint8)
    picture[~is_ground] = _NOTHING
    return picture


def _rises(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return the differences of neighbors along an axis; zeros if there is only one."""
    if values.shape[axis] < 2:
        return np.zeros_like(values)
    found: NDArray[np.float64] = np.gradient(values, axis=axis)
    return found


def png(picture: Picture) -> bytes:
    """Return a picture as a PNG file; a small one is enlarged, each pixel to a square."""
    times = max(_LEAST // max(picture.shape[:2]), 1)
    large = picture.repeat(times, axis=0).repeat(times, axis=1)
    rows, columns = large.shape[:2]
    lines = np.zeros((rows, 1 + 3 * columns), np.uint8)  # each begins with its filter, 0: none
    lines[:, 1:] = large.reshape(rows, -1)
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b"")
    return PNG_MARK + b"".join(png_chunk(kind, content) for kind, content in chunks)


def png_chunk(kind: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG file."""
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

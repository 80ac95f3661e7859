"""Places along a Hilbert curve: things near each other get similar keys."""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Floats, UInt64s

ROW_BITS = np.uint64(0xFFFFFFFF)  # the low bits of a key; the high ones are the place on the curve
HILBERT_BITS = 10  # for each axis

_CELL_BITS = np.uint32((1 << HILBERT_BITS) - 1)
_KEY_ZERO = np.uint32(0)
_LARGEST_FLOAT = float(np.finfo(np.float64).max)


def frame_around(lower: Floats, upper: Floats) -> Floats:
    """Return the frame of a box (3,), (3,): middle x y z, factor, scaled half extents, the largest.

    The factor is the power of two that scales the box to a half extent of 1 at most.
    """
    middle = 0.5 * lower + 0.5 * upper
    half = np.maximum(upper - middle, middle - lower)
    largest = float(half.max())
    # A power of two scales exactly. At most 2^33: a box of 2^-33 m is a point to the tolerance.
    exponent = max(math.frexp(largest)[1], -33) if largest > 0.0 else 0
    factor = math.ldexp(1.0, -exponent)
    return np.array([*middle, factor, *(half * factor), largest * factor])


@kernel
def column_bounds(
    values: Floats,
    first: int,
    last: int,
    lower: Floats,
    upper: Floats,
) -> bool:
    """Widen lower and upper (columns,) by rows first..last; tell whether all are finite."""
    finite = True
    for row in range(first, last):
        for column in range(values.shape[1]):
            value = float(values[row, column])
            finite &= abs(value) <= _LARGEST_FLOAT
            if value < lower[column]:
                lower[column] = value
            if value > upper[column]:
                upper[column] = value
    return finite


@kernel(inline=True)
def _hilbert(x: np.uint32, y: np.uint32, z: np.uint32) -> np.uint32:
    """Return the place of a cell on the Hilbert curve.

    Source: J. Skilling, "Programming the Hilbert curve" (2004), with selects instead of branches.
    """
    for level in range(HILBERT_BITS - 1, 0, -1):
        bit = np.uint32(1 << level)
        below = np.uint32((1 << level) - 1)
        x = np.uint32(x ^ (below if (x & bit) != _KEY_ZERO else _KEY_ZERO))
        flip = (y & bit) != _KEY_ZERO
        swap = np.uint32((x ^ y) & (_KEY_ZERO if flip else below))
        x = np.uint32(x ^ swap ^ (below if flip else _KEY_ZERO))
        y = np.uint32(y ^ swap)
        flip = (z & bit) != _KEY_ZERO
        swap = np.uint32((x ^ z) & (_KEY_ZERO if flip else below))
        x = np.uint32(x ^ swap ^ (below if flip else _KEY_ZERO))
        z = np.uint32(z ^ swap)
    y = np.uint32(y ^ x)
    z = np.uint32(z ^ y)
    turn = _KEY_ZERO
    for level in range(HILBERT_BITS - 1, 0, -1):
        odd = (z & np.uint32(1 << level)) != _KEY_ZERO
        turn = np.uint32(turn ^ (np.uint32((1 << level) - 1) if odd else _KEY_ZERO))
    x, y, z = np.uint32(x ^ turn), np.uint32(y ^ turn), np.uint32(z ^ turn)
    return np.uint32((spread_3(x) << np.uint32(2)) | (spread_3(y) << np.uint32(1)) | spread_3(z))


@kernel(inline=True)
def spread_3(bits: np.uint32) -> np.uint32:
    """Return ten bits with two zeros between each."""
    bits = np.uint32((bits | (bits << np.uint32(16))) & np.uint32(0x030000FF))
    bits = np.uint32((bits | (bits << np.uint32(8))) & np.uint32(0x0300F00F))
    bits = np.uint32((bits | (bits << np.uint32(4))) & np.uint32(0x030C30C3))
    return np.uint32((bits | (bits << np.uint32(2))) & np.uint32(0x09249249))


@kernel(inline=True)
def cell_of(value: float, cells: float) -> np.uint32:
    """Return the cell 0 .. cells - 1 of a value in -1 .. 1; other values go to the end cells."""
    cell = (value + 1.0) * (0.5 * cells)
    cell = cell if cell > 0.0 else 0.0
    return np.uint32(cell if cell < cells - 1.0 else cells - 1.0)


@kernel
def triangle_keys(
    triangles: Floats,
    first: int,
    last: int,
    frame: Floats,
    keys: UInt64s,
) -> None:
    """Set keys[first:last] to (Hilbert place << 32) + row, by each triangle's centroid."""
    x0, y0, z0 = float(frame[0]), float(frame[1]), float(frame[2])
    half = float(frame[7])
    third = float(frame[3]) / (3.0 * half) if half > 0.0 else 0.0
    cells = float(1 << HILBERT_BITS)
    for row in range(first, last):
        ax, ay, az = triangles[row, 0] - x0, triangles[row, 1] - y0, triangles[row, 2] - z0
        bx, by, bz = triangles[row, 3] - x0, triangles[row, 4] - y0, triangles[row, 5] - z0
        cx, cy, cz = triangles[row, 6] - x0, triangles[row, 7] - y0, triangles[row, 8] - z0
        # Scaled before they are added: the sum of three may be too large for float64.
        x = cell_of(ax * third + bx * third + cx * third, cells)
        y = cell_of(ay * third + by * third + cy * third, cells)
        z = cell_of(az * third + bz * third + cz * third, cells)
        keys[row] = (x << np.uint32(2 * HILBERT_BITS)) | (y << np.uint32(HILBERT_BITS)) | z
    # A separate loop over a slice is vectorized: six times as fast.
    part = keys[first:last]
    for k in range(len(part)):
        cell = np.uint32(part[k])
        place = _hilbert(
            cell >> np.uint32(2 * HILBERT_BITS),
            (cell >> np.uint32(HILBERT_BITS)) & _CELL_BITS,
            cell & _CELL_BITS,
        )
        part[k] = (np.uint64(place) << np.uint64(32)) | np.uint64(first + k)

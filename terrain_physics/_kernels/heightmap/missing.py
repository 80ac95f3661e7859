"""The tiles of a map that there are, but not in memory."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Bytes, Floats

# The number of a tile that there is, but not in memory.
MISSING_TILE = -2


@kernel(inline=True)
def _tiles_over(
    low: float, high: float, start: float, per_meter: float, count: int
) -> tuple[int, int]:
    """Return the range [first, last) of tiles that low..high touches on one axis, borders too."""
    first, last = (low - start) * per_meter, (high - start) * per_meter
    if not (last >= 0.0 and first <= count):  # also for NaN
        return 0, 0
    # A border belongs to the tiles on both sides.
    least, most = math.ceil(max(first, 0.0)) - 1, math.floor(min(last, float(count))) + 1
    return max(least, 0), min(most, count)


@kernel
def find_missing(
    boxes: Floats, missing: Bytes, columns: int, x0: float, z0: float, per_x: float, per_z: float,
    marks: Bytes, wanted: Bytes,
) -> int:  # fmt: skip
    """Write 1 to the marks (n,) of boxes that touch missing tiles, and to ``wanted`` for these.

    ``boxes`` (n * 4,) are least x and z, greatest x and z. ``missing`` and ``wanted`` have a number
    for each tile, row by row, and ``columns`` of them to a row; ``per_x`` and ``per_z`` are tiles
    for each meter. Returns how many boxes are marked.
    """
    rows, count = len(missing) // columns, 0
    for i in range(len(marks)):
        marks[i] = 0
        row_0, row_1 = _tiles_over(boxes[4 * i + 1], boxes[4 * i + 3], z0, per_z, rows)
        column_0, column_1 = _tiles_over(boxes[4 * i], boxes[4 * i + 2], x0, per_x, columns)
        for row in range(row_0, row_1):
            for column in range(column_0, column_1):
                if missing[row * columns + column] != 0:
                    wanted[row * columns + column] = 1
                    marks[i] = 1
        count += marks[i]
    return count

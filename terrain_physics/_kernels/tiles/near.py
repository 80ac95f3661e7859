"""The tiles near to boxes seen from above, and in which time each is reached."""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Bytes, Floats, Int32s

# Marks of tiles: kept are those within one distance, wanted the missing ones within a lesser one.
KEPT, WANTED = 1, 2

# In m/s: what stands still, or goes away from a tile, may come at this speed all the same.
_ASSUMED_SPEED = 2.0


@kernel(inline=True)
def _lines(low: float, high: float, start: float, size: float, count: int) -> tuple[int, int]:
    """Return the range [first, last) of rows or columns of tiles that low..high may touch."""
    first = min(max(np.floor((low - start) / size), 0.0), count - 1.0)
    last = min(max(np.floor((high - start) / size), -1.0), count - 1.0)
    return int(first), int(last) + 1


@kernel(inline=True)
def _gap(low: float, high: float, start: float, size: float) -> float:
    """Return how far a row or column of tiles is from low..high, signed."""
    return max(start - high, 0.0) - max(low - (start + size), 0.0)


@kernel
def mark_near(
    least: Floats, greatest: Floats, lattice: Floats, columns: int, unload: float, radius: float,
    missing: Bytes, marks: Bytes,
) -> int:  # fmt: skip
    """Mark the tiles within ``unload`` of boxes as kept, or, if missing within ``radius``, wanted.

    ``least`` and ``greatest`` (n, 2) are x and z of the boxes; ``lattice`` is x0, z0, and the size
    of tiles along x and z. ``missing`` and ``marks`` have a number for each tile, row by row, and
    ``columns`` of them to a row. Returns how many are wanted.
    """
    x0, z0, size_x, size_z = lattice[0], lattice[1], lattice[2], lattice[3]
    rows, count = len(marks) // columns, 0
    for k in range(len(least)):
        low_x, low_z, high_x, high_z = least[k, 0], least[k, 1], greatest[k, 0], greatest[k, 1]
        column_0, column_1 = _lines(low_x - unload, high_x + unload, x0, size_x, columns)
        row_0, row_1 = _lines(low_z - unload, high_z + unload, z0, size_z, rows)
        for row in range(row_0, row_1):
            down = _gap(low_z, high_z, z0 + row * size_z, size_z)
            for column in range(column_0, column_1):
                across = _gap(low_x, high_x, x0 + column * size_x, size_x)
                square, number = across * across + down * down, row * columns + column
                if square <= unload * unload and marks[number] != WANTED:
                    is_wanted = missing[number] != 0 and square <= radius * radius
                    marks[number] = WANTED if is_wanted else KEPT
                    count += 1 if is_wanted else 0
    return count


@kernel
def put_times(
    least: Floats, greatest: Floats, velocities: Floats, lattice: Floats, columns: int,
    radius: float, marks: Bytes, slots: Int32s, times: Floats,
) -> None:  # fmt: skip
    """Lower the times until boxes reach wanted tiles, with velocities (n, 2) along x and z in m/s.

    ``slots`` has the place in ``times`` of each wanted tile. All else is as of `mark_near`.
    """
    x0, z0, size_x, size_z = lattice[0], lattice[1], lattice[2], lattice[3]
    rows = len(marks) // columns
    for k in range(len(least)):
        low_x, low_z, high_x, high_z = least[k, 0], least[k, 1], greatest[k, 0], greatest[k, 1]
        column_0, column_1 = _lines(low_x - radius, high_x + radius, x0, size_x, columns)
        row_0, row_1 = _lines(low_z - radius, high_z + radius, z0, size_z, rows)
        for row in range(row_0, row_1):
            down = _gap(low_z, high_z, z0 + row * size_z, size_z)
            for column in range(column_0, column_1):
                across = _gap(low_x, high_x, x0 + column * size_x, size_x)
                square, number = across * across + down * down, row * columns + column
                if square <= radius * radius and marks[number] == WANTED:
                    way, speed = math.sqrt(square), _ASSUMED_SPEED
                    if way > 0.0:
                        along = across * velocities[k, 0] + down * velocities[k, 1]
                        speed = max(speed, along / way)
                    times[slots[number]] = min(times[slots[number]], way / speed)

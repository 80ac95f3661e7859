"""Triangles in ranges of a space-filling curve, each with its box; spheres that may touch a box."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.tolerances import TOUCH_TOLERANCE
from terrain_physics._kernels.types import Floats, Int64s, UInt64s

_LARGEST = 1e150  # squares of smaller numbers are finite


@kernel
def assign_ranges(
    triangles: Floats,
    keys: UInt64s,
    splitters: UInt64s,
    ranges: Int64s,
    counts: Int64s,
    boxes: Floats,
) -> None:
    """Set ranges (n,) by keys (n,); add to the counts (r,) and widen the boxes (r, 6) of ranges.

    Range i holds the keys from splitters[i - 1] on, up to before splitters[i].
    """
    for row in range(len(triangles)):
        key = keys[row]
        low, high = 0, len(splitters)
        while low < high:
            middle = (low + high) // 2
            if splitters[middle] <= key:
                low = middle + 1
            else:
                high = middle
        ranges[row] = low
        counts[low] += 1
        for corner in range(0, 9, 3):
            for axis in range(3):
                value = float(triangles[row, corner + axis])
                boxes[low, axis] = min(float(boxes[low, axis]), value)
                boxes[low, 3 + axis] = max(float(boxes[low, 3 + axis]), value)


@kernel(inline=True)
def _apart_and_across(box: Floats, axis: int, center: float) -> tuple[float, float]:
    """Return the gap from a coordinate to a side of a box, and how far its far end is."""
    below, above = float(box[axis]) - center, center - float(box[3 + axis])
    return max(below, above, 0.0), max(-below, -above)


@kernel
def rows_in_range(spheres: Floats, box: Floats, rows: Int64s) -> int:
    """Set rows[:count] to the spheres with surfaces that may reach into a box (6,); return count.

    Spheres that the box is certainly outside of, or certainly wholly inside, are left out.
    """
    count = 0
    for row in range(len(spheres)):
        radius = float(spheres[row, 0])
        gap, far, widest = 0.0, 0.0, 0.0
        square_gap, square_far = 0.0, 0.0
        for axis in range(3):
            apart, across = _apart_and_across(box, axis, float(spheres[row, 1 + axis]))
            gap, far = max(gap, apart), max(far, across)
            widest = max(widest, apart, abs(across))
        if widest < _LARGEST and radius < _LARGEST:
            for axis in range(3):
                apart, across = _apart_and_across(box, axis, float(spheres[row, 1 + axis]))
                square_gap += apart * apart
                square_far += across * across
            gap, far = math.sqrt(square_gap), math.sqrt(square_far)
        else:  # a distance is at least its largest component, and at most twice as much
            far = 2.0 * far
        # Differences and lengths have errors of a few 1e-16 of the numbers.
        margin = 1e-12 * (far + radius) + 2.0 * TOUCH_TOLERANCE
        if not (gap > radius + margin or far < radius - margin):
            rows[count] = row
            count += 1
    return count

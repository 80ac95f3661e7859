"""Lines of PNG files: their filters undone."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Bytes

NONE, SUB, UP, AVERAGE, PAETH = range(5)


@kernel(no_refcount=True)
def undo_filters(lines: Bytes, step: int) -> int:
    """Return -1, or the first of lines (n, 1 + m) that has no known filter.

    The first byte of a line names its filter: what was subtracted from each of the others, and is
    added here, in place. ``step`` is how many bytes a pixel has, at least 1.
    """
    rows, length = lines.shape
    for row in range(rows):
        filter_type = int(lines[row, 0])
        if filter_type > PAETH:
            return row
        for place in range(1, length if filter_type != NONE else 1):
            inside = place > step
            left = int(lines[row, place - step]) if inside else 0
            above = int(lines[row - 1, place]) if row > 0 else 0
            if filter_type == SUB:
                guess = left
            elif filter_type == UP:
                guess = above
            elif filter_type == AVERAGE:
                guess = (left + above) >> 1
            else:
                guess = _paeth(
                    left, above, int(lines[row - 1, place - step]) if inside and row > 0 else 0
                )
            lines[row, place] = (int(lines[row, place]) + guess) & 255
    return -1


@kernel(inline=True)
def _paeth(left: int, above: int, corner: int) -> int:
    """Return which of three neighbors is next to left + above - corner; the earlier at a tie."""
    to_left, to_above = abs(above - corner), abs(left - corner)
    to_corner = abs(left + above - 2 * corner)
    if to_left <= to_above and to_left <= to_corner:
        return left
    return above if to_above <= to_corner else corner

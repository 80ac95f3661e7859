"""The rows that tell where a ground has changed: the places in them, and fewer for many."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Floats

# The version that a change led to; lower x y z and upper x y z of the box around it; the span, 0 of
# a change. A row with a span is no change: its box is around so many rows before it, which have its
# version. Who is far from it skips them all.
CHANGE_VERSION, CHANGE_LOWER, CHANGE_UPPER, CHANGE_SPAN = 0, 1, 4, 7
CHANGE_SIZE = 8

# Versions that did not lead to the present contents: those after the first, up to the last.
LEFT_AFTER, LEFT_UNTIL = 0, 1


@kernel
def put_merged(rows: Floats, latest: int, most: int, room: Floats) -> int:
    """Write changes (n, CHANGE_SIZE) to ``room``, which has as many rows; return how many they are.

    Rows with a span are left out: those before them may be merged. The ``latest`` changes stay. Of
    those before them at most so many are left for all, by making one of two, and again. Its box is
    around both, and its version that of the later one. Those of one version are joined first: who
    has looked between two versions stays apart from the earlier one.
    """
    count = 0
    for row in range(len(rows)):
        if rows[row, CHANGE_SPAN] == 0.0:
            for k in range(CHANGE_SIZE):
                room[count, k] = rows[row, k]
            count += 1
    older = max(count - latest, 0)
    left = older
    while left > most:
        left = _halve(room, left)
    if left == older:
        return count
    for row in range(older, count):
        for k in range(CHANGE_SIZE):
            room[left + row - older, k] = room[row, k]
    return left + count - older


@kernel
def _halve(rows: Floats, count: int) -> int:
    """Make one of two of the first ``count`` rows, from the first on; return how many are left."""
    joins = False
    for row in range(1, count):
        joins = joins or rows[row, CHANGE_VERSION] == rows[row - 1, CHANGE_VERSION]
    row, end = 0, 0
    while row < count:
        later = min(row + 1, count - 1)
        if joins and rows[later, CHANGE_VERSION] != rows[row, CHANGE_VERSION]:
            later = row
        for axis in range(3):
            lower, upper = CHANGE_LOWER + axis, CHANGE_UPPER + axis
            rows[end, lower] = min(rows[row, lower], rows[later, lower])
            rows[end, upper] = max(rows[row, upper], rows[later, upper])
        rows[end, CHANGE_VERSION] = rows[later, CHANGE_VERSION]
        rows[end, CHANGE_SPAN] = rows[later, CHANGE_SPAN]
        row, end = later + 1, end + 1
    return end

"""Sorting of parts of arrays, short and quick to compile."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Int64s


@kernel
def sort_range(keys: Int64s, begin: int, end: int) -> None:
    """Sort the keys begin..end of an array in place (Shell sort, gaps divided by three)."""
    gap = 1
    while 9 * gap < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(begin + gap, end):
            key, place = keys[k], k
            while place - gap >= begin and keys[place - gap] > key:
                keys[place] = keys[place - gap]
                place -= gap
            keys[place] = key
        gap //= 3

"""Sorting of parts of arrays, and stacks that are sorted; short and quick to compile."""

from typing import Any

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Float32s, Floats, Int32s, Int64s


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


@kernel(inline=True)
def push_sorted(
    stack: Int32s | Int64s, entries: Float32s | Floats, base: int, top: int, node: int, entry: Any
) -> int:
    """Put a node on a stack; return its new top. Above ``base`` the least entry is on top."""
    place = top
    while place > base and entries[place - 1] < entry:
        entries[place], stack[place] = entries[place - 1], stack[place - 1]
        place -= 1
    entries[place], stack[place] = entry, node
    return top + 1

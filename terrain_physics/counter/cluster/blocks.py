"""Lazy arrays of Dask as the counter takes them, and the counts of lazy spheres, block by block.

Each block is counted as if it came by itself, in any process. The threads of Dask are the only
ones: a block is counted by the one thread that works on it.
"""

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support.threads import alone


class Counter(Protocol):
    """An object that counts, as a `TouchCounter` does."""

    def count(self, spheres: Any) -> NDArray[np.int64]:
        """Return for each sphere how many triangles its surface touches."""


def lazy_array(name: str, value: Any, row: tuple[int, ...]) -> Any:
    """Return a lazy array of real numbers whose rows have a shape and are not cut.

    Data frames and series become arrays; of a labeled array the lazy one in it is taken.
    """
    import dask.array as da

    array = value
    if hasattr(value, "to_dask_array") and isinstance(value.ndim, int) and value.ndim > 0:
        array = _frame_of_numbers(name, value).to_dask_array()
    elif hasattr(value, "dims") and hasattr(value, "data"):
        array = value.data
    if not isinstance(array, da.Array):
        raise TypeError(
            f"{name} must be an array, or a data frame or an array of Dask, "
            f"got {type(value).__name__}"
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    if array.shape[1:] != row or array.ndim != 1 + len(row):
        wanted = ", ".join(map(str, row))
        raise ValueError(f"{name} must have shape (n, {wanted}), got {array.shape}")
    return array.rechunk(dict.fromkeys(range(1, array.ndim), -1))


def _frame_of_numbers(name: str, frame: Any) -> Any:
    """Return a data frame or series whose nullable numbers are float64, with NaN for nothing."""
    import pandas as pd

    types = pd.api.types
    kinds = [frame.dtype] if frame.ndim == 1 else frame.dtypes
    if not any(map(types.is_extension_array_dtype, kinds)):
        return frame
    for kind in kinds:
        if not types.is_any_real_numeric_dtype(kind):
            raise TypeError(f"{name} must hold real numbers, got dtype {kind}")
    return frame.astype("float64")


def count_blocks(counter: Counter, spheres: Any) -> Any:
    """Return the lazy counts of lazy spheres, with the same blocks.

    The counter is a node of its own in Dask's graph, named by its content: it goes to each worker
    once, whatever is counted.
    """
    from dask.base import tokenize
    from dask.delayed import delayed

    kind = type(counter).__name__
    node = delayed(counter, name=f"{kind}-{tokenize(kind, counter)}", traverse=False)
    return lazy_array("spheres", spheres, (4,)).map_blocks(
        _count_block, node, drop_axis=1, dtype=np.int64, meta=np.empty(0, np.int64)
    )


def _count_block(spheres: Any, counter: Counter, block_info: Any = None) -> NDArray[np.int64]:
    try:
        with alone():
            return counter.count(spheres)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error}, in {_named(block_info[0])}") from None


def _named(block: Any) -> str:
    """Return which block it is; of blocks behind one of unknown length the row is not known."""
    first = block["array-location"][0][0]
    if math.isnan(first):
        return f"block {block['chunk-location'][0]}"
    return f"the block that begins with row {first}"

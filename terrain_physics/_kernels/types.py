"""Types of arrays by their elements; an array that kernels only read is of another type."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]
UInt64s = NDArray[np.uint64]
UInt32s = NDArray[np.uint32]
UInt16s = NDArray[np.uint16]
Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]


def read_only(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return read-only views: for arrays of another type, kernels would be compiled once more."""
    views = tuple(values.view() for values in arrays)
    for values in views:
        values.setflags(write=False)
    return views

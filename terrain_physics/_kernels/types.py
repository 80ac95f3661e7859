"""What arrays hold, by name."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]

"""The survey of samples: facts that a map needs, from one pass in threads without copies."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.heightmap import blocks as kernels
from terrain_physics._kernels.types import Float32s
from terrain_physics._support.threads import Workers

# Nanoseconds for a sample on one thread, roughly.
_COST = 0.3


class Survey(NamedTuple):
    """Facts about samples, before scale and origin.

    Attributes
    ----------
    blocks : ndarray of float32
        Least and greatest heights of blocks of cells, level after level.
    least, greatest : float
        Infinities among samples count; inf and -inf if all samples are holes.
    has_holes : bool
        Whether any sample is NaN.
    """

    blocks: Float32s
    least: float
    greatest: float
    has_holes: bool


def survey(heights: Float32s) -> Survey:
    """Survey samples (rows, columns), C-contiguous, in one pass."""
    rows, columns = heights.shape[0] - 1, heights.shape[1] - 1
    levels = kernels.level_count(rows, columns)
    blocks = np.empty(2 * kernels.level_start(rows, columns, levels), dtype=np.float32)
    high, across = kernels.blocks_across(rows, 0), kernels.blocks_across(columns, 0)
    samples = heights.reshape(-1).view()
    samples.setflags(write=False)

    def look(first: int, last: int) -> bool:
        return bool(
            kernels.put_lowest_blocks(samples, rows, columns, first, last, 0, across, blocks)
        )

    cost = _COST * kernels.BLOCK * heights.shape[1]
    has_holes = any(Workers().run(look, high, cost))
    kernels.put_upper_blocks(rows, columns, 0, high, 0, across, blocks)
    least, greatest = blocks[-2:].tolist()  # of the only block of the last level
    return Survey(blocks, least, greatest, has_holes)

"""Bodies moving along straight lines over a height map: where they first touch it."""

import numpy as np

from terrain_physics._kernels._jit import borrow, keep, kernel
from terrain_physics._kernels.grid import Cells, Floats, Heights
from terrain_physics._kernels.map_walk import Ints, walk
from terrain_physics._kernels.map_way import survey
from terrain_physics._kernels.obb_triangle import FACE_COUNT


@kernel
def sweep_hits(
    heights: Heights,
    cells: Cells,
    blocks: Heights,
    frame: Floats,
    kind: int,
    bodies: Floats,
    motions: Floats,
    first: int,
    last: int,
    numbers: Floats,
    whole: Ints,
) -> None:
    """Write the hits of bodies [first, last), see `walk`: numbers (n, 8), whole (n, 2)."""
    land = survey(heights, cells, blocks, frame)
    memory = np.empty((FACE_COUNT, 4), dtype=np.float64)
    walk(
        kind, heights, cells, blocks, frame, land, bodies, motions, 0.0, first, last,
        numbers, whole, borrow(memory),
    )  # fmt: skip
    keep(memory)

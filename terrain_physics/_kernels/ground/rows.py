"""Rows of several results merged in one order."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Floats, Int64s


@kernel
def put_rows(places: Int64s, rows: Floats, out: Floats) -> None:
    """Write rows (n, 3) to their places; those below 0 are left out."""
    for k in range(places.shape[0]):
        place = int(places[k])
        if place >= 0:
            out[place, 0], out[place, 1], out[place, 2] = rows[k, 0], rows[k, 1], rows[k, 2]

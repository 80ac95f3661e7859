"""Squares around many paths or shapes, seen from above: mostly nothing is missing there."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.rows import row_of
from terrain_physics._kernels.surface.shapes import bounds_at
from terrain_physics._kernels.types import Floats


@kernel(inline=True)
def _along(start: float, way: float, far: float) -> float:
    """Return a coordinate of the end of a path, which may be infinitely long."""
    return start if way == 0.0 else start + way * far


@kernel
def put_square_of_paths(starts: Floats, ways: Floats, most: Floats, square: Floats) -> None:
    """Write least x and z, greatest x and z of paths, as `put_first_on_paths` takes them."""
    x0, z0, x1, z1 = math.inf, math.inf, -math.inf, -math.inf
    for k in range(len(most)):
        i, j, far = row_of(starts, k), row_of(ways, k), float(most[k])
        x, z = float(starts[i, 0]), float(starts[i, 2])
        end_x, end_z = _along(x, float(ways[j, 0]), far), _along(z, float(ways[j, 2]), far)
        x0, z0 = min(x0, x, end_x), min(z0, z, end_z)
        x1, z1 = max(x1, x, end_x), max(z1, z, end_z)
    square[0], square[1], square[2], square[3] = x0, z0, x1, z1


@kernel
def put_square_of_shapes(kind: int, shapes: Floats, count: int, square: Floats) -> None:
    """Write least x and z, greatest x and z of shapes, flat rows."""
    x0, z0, x1, z1 = math.inf, math.inf, -math.inf, -math.inf
    for k in range(count):
        lower, upper = bounds_at(kind, shapes, k)
        x0, z0 = min(x0, lower[0]), min(z0, lower[2])
        x1, z1 = max(x1, upper[0]), max(z1, upper[2])
    square[0], square[1], square[2], square[3] = x0, z0, x1, z1

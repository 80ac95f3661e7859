"""The boxes of the tiles of a lattice: where they are, and how paths and points lie to them."""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.tolerances import CULLING_SLACK
from terrain_physics._kernels.types import Bytes, Floats


class Lattice(NamedTuple):
    """A lattice of tiles; those of the boxes that are marked are looked for.

    A box is a tile's square by the heights between which it has ground: none where the least one is
    above the greatest.
    """

    marks: Bytes  # of each tile, row by row
    low: Floats
    high: Floats
    rows: int
    columns: int
    x0: float
    z0: float
    size_x: float  # of a tile, in meters
    size_z: float


class PathPart(NamedTuple):
    """A part of a path; none if it ends before it starts."""

    start: float
    end: float


@kernel(inline=True)
def lattice_of(marks: Bytes, low: Floats, high: Floats, columns: int, place: Floats) -> Lattice:
    """Return a lattice; ``place`` is x0, z0, size_x, size_z."""
    return Lattice(
        marks, low, high, len(marks) // columns, columns,
        float(place[0]), float(place[1]), float(place[2]), float(place[3]),
    )  # fmt: skip


@kernel(inline=True)
def slack_at(lattice: Lattice, at: Vec3) -> Vec3:
    """Return what widens boxes so that no rounding hides one: the same as on maps."""
    size_x, size_z = lattice.columns * lattice.size_x, lattice.rows * lattice.size_z
    return (
        CULLING_SLACK * (abs(at[0]) + abs(lattice.x0) + size_x),
        CULLING_SLACK * abs(at[1]),
        CULLING_SLACK * (abs(at[2]) + abs(lattice.z0) + size_z),
    )


@kernel(inline=True)
def clipped(path: PathPart, start: float, rate: float, low: float, high: float) -> PathPart:
    """Return the part of a path in which a coordinate is between two numbers, both included."""
    if rate == 0.0:
        return path if low <= start <= high else PathPart(math.inf, -math.inf)
    one, other = (low - start) / rate, (high - start) / rate
    return PathPart(max(path.start, min(one, other)), min(path.end, max(one, other)))


@kernel(inline=True)
def index_at(place: float, start: float, size: float, count: int) -> int:
    """Return the index of the tile at a place along an axis; beside the lattice the nearest one."""
    return int(min(max((place - start) / size, 0.0), count - 1.0))


@kernel(inline=True)
def heights_at(lattice: Lattice, number: int, slack: float) -> tuple[float, float]:
    """Return the least and the greatest height of a tile's box that has ground, widened."""
    low, high = float(lattice.low[number]), float(lattice.high[number])
    wide = slack + CULLING_SLACK * (abs(low) + abs(high))
    return low - wide, high + wide

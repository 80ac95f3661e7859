"""The place of samples: a file's own account, the coordinates of a labeled array, or a function.

Maps of the earth count eastings and northings; here +X is east and -Z is north, so that a picture
with north at the top keeps its rows.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics._support.warn import warn
from terrain_physics.heightmap.checks import checked_cell_size

# Files that do not name their unit: no terrain has such small cells in meters.
_LEAST_CELL = 0.01
# From here on float32 vectors are 8 mm apart, and more.
_FAR = 100_000.0

METERS, DEGREES = "meters", "degrees"


class GridAxis(NamedTuple):
    """The places of samples along x or z: the first one, and the step to the next."""

    start: float
    step: float

    def backward(self, count: int) -> Self:
        """Return the same places from the last one to the first."""
        return self._replace(start=self.start + (count - 1) * self.step, step=-self.step)

    def mirrored(self) -> Self:
        """Return the places mirrored at 0."""
        return self._replace(start=-self.start, step=-self.step)

    def ascending(self, count: int, *, flipped: bool) -> Self:
        """Return the places, backward if flipped, and mirrored if they then go down."""
        axis = self.backward(count) if flipped else self
        return axis.mirrored() if axis.step < 0.0 else axis


class Placement(NamedTuple):
    """The places of columns along x and of rows along z.

    ``trouble`` says why a map cannot lie there; None: it can.
    """

    x: GridAxis
    z: GridAxis
    trouble: str | None = None

    @classmethod
    def of(cls, x: GridAxis, z: GridAxis, unit: str | None) -> Self:
        """Return the placement in a unit; None: meters, or degrees if cells would be too small."""
        steps = abs(x.step), abs(z.step)
        if not all(map(np.isfinite, (*x, *z))) or min(steps) == 0.0:
            return cls(x, z, "these are no sizes")
        if unit is None:
            unit = METERS if min(steps) >= _LEAST_CELL else DEGREES
        return cls(x, z, None if unit == METERS else f"these are {unit}, not meters")

    def flipped(self, shape: tuple[int, ...], flip: str | None) -> Self:
        """Return the placement after a reversal of rows, columns or both.

        An axis that then descends is mirrored: z = northing if rows ran from the north.
        """
        rows, columns = flip in {"rows", "both"}, flip in {"columns", "both"}
        trouble = self.trouble
        if self.x.step < 0.0 and not columns:
            trouble = 'its columns run from east to west, which flip="columns" turns'
        if self.z.step < 0.0 and not rows:
            trouble = 'its rows run from south to north, which flip="rows" turns'
        x = self.x.ascending(shape[1], flipped=columns)
        z = self.z.ascending(shape[0], flipped=rows)
        return type(self)(x, z, trouble)


def placed(name: str, placement: Placement | None, cell_size: Any, origin: Any) -> tuple[Any, Any]:
    """Return the cell size and the origin: the given ones, else the file's own, else 1 m and 0.

    A given cell size never goes with the file's own origin.
    """
    if placement is None or cell_size is not None:
        return (1.0 if cell_size is None else cell_size), ((0.0,) * 3 if origin is None else origin)
    (x, step_x), (z, step_z), trouble = placement
    if trouble is not None:
        warn(
            f"{name}: cell_size is 1 m. The file says {step_x:g} x {step_z:g}, the first at "
            f"x = {x:g}, z = {z:g}, but {trouble}. Pass cell_size (and origin) in meters"
        )
        return 1.0, ((0.0,) * 3 if origin is None else origin)
    if origin is None and max(abs(x), abs(z)) >= _FAR:
        apart = np.spacing(np.float32(max(abs(x), abs(z))))
        warn(
            f"{name}: lies at x = {x:.10g}, z = {z:.10g} by its own coordinates, where float32 "
            f"vectors are {apart:g} m apart. Pass origin=(0, 0, 0) to have it at 0, or these"
        )
    return (step_x, step_z), ((x + 0.0, 0.0, z + 0.0) if origin is None else origin)


def sampled(
    function: Callable[[Floats, Floats], Any], shape: Any, cell_size: Any, origin: Any
) -> tuple[Any, Floats3]:
    """Return the heights (rows, columns) that a function gives, and the first sample's place."""
    if not callable(function):
        raise TypeError(f"function must take arrays x and z, got {checks.shorten(function)}")
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise ValueError(f"shape must be (rows, columns), got {checks.shorten(shape)}")
    rows, columns = (
        checks.whole(f"shape[{place}]", count, 2, 2**31) for place, count in enumerate(shape)
    )
    cell_x, cell_z = checked_cell_size(cell_size)
    place = checks.vector("origin", origin)
    x = np.broadcast_to(place[0] + cell_x * np.arange(columns), (rows, columns))
    z = np.broadcast_to((place[2] + cell_z * np.arange(rows))[:, np.newaxis], (rows, columns))
    try:
        heights = function(x.copy(), z.copy())
    except (TypeError, ValueError) as error:
        raise TypeError(
            "function must take arrays of x and z, as those of NumPy do; np.vectorize(function) "
            f"makes it of one that takes two numbers: {error}"
        ) from error
    if np.shape(heights) not in ((), (rows, columns)):
        raise ValueError(
            f"function must return heights of shape {(rows, columns)}, got {np.shape(heights)}"
        )
    return np.broadcast_to(heights, (rows, columns)), place

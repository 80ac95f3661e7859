"""Round brushes: the samples and cells that they reach, and the new heights there."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from pyglm import glm

from terrain_physics._kernels.types import Bools, Float32s, Floats
from terrain_physics._support import checks
from terrain_physics.heightmap.cells import Ranges, bounds_of, ranges_of
from terrain_physics.heightmap.checks import checked_samples
from terrain_physics.heightmap.edits import set_heights
from terrain_physics.heightmap.framed import LiveMap, cells_around
from terrain_physics.heightmap.storage import MapStorage

# The narrowest fade, in radii: more than rounding, so that samples at the radius count as within.
_NARROWEST = 1e-12


class Disc(NamedTuple):
    """The area within a radius of a place seen from above, in meters."""

    x: float
    z: float
    radius: float

    @classmethod
    def of(cls, center: Any, radius: Any) -> Self:
        """Return the disc around a point or around (x, z)."""
        two = isinstance(center, (tuple, list, np.ndarray, glm.vec2, glm.dvec2))
        if two and len(center) == 2:
            x, z = checks.finite("center[0]", center[0]), checks.finite("center[1]", center[1])
        else:
            x, _, z = checks.vector("center", center)
        return cls(x, z, checks.positive("radius", radius))

    def samples(self, terrain: LiveMap, flat: float) -> tuple[Ranges, Floats]:
        """Return the samples around, and the weight of each.

        The weight is 1 within ``flat`` meters of the center; from there it falls smoothly to 0 at
        the radius.
        """
        place = self.around(terrain)
        along, beside = self._offsets(terrain, place, 0.0)
        square = np.square(along / self.radius) + np.square(beside / self.radius)
        if flat > 0.0:
            share = flat / self.radius
            beyond = np.maximum(np.sqrt(square) - share, 0.0)
            square = np.square(beyond / max(1.0 - share, _NARROWEST))
        left = 1.0 - square
        return place, np.square(np.where(left > 0.0, left, 0.0))

    def cells(self, terrain: LiveMap) -> tuple[Ranges, Bools]:
        """Return the cells around, and which of them have their middle within, border included."""
        place = ranges_of(cells_around(terrain, *bounds_of(self.around(terrain))))
        along, beside = self._offsets(terrain, place, 0.5)
        with np.errstate(over="ignore"):  # infinitely far is far
            return place, along * along + beside * beside <= self.radius * self.radius

    def around(self, terrain: LiveMap) -> Ranges:
        """Return the ranges of samples of the square around."""
        x0, _, z0 = terrain.origin
        cell_x, cell_z = terrain.cell_size
        rows, columns = terrain.sample_count
        return (
            _range_within(self.z - z0, self.radius, cell_z, rows),
            _range_within(self.x - x0, self.radius, cell_x, columns),
        )

    def _offsets(self, terrain: LiveMap, place: Ranges, middle: float) -> tuple[Floats, Floats]:
        """Return how far samples, or middles of cells, are off the center: (n, 1) and (m,)."""
        x0, _, z0 = terrain.origin
        cell_x, cell_z = terrain.cell_size
        rows, columns = (np.arange(each.start, each.stop) + middle for each in place)
        along = z0 + rows[:, np.newaxis] * cell_z - self.z
        return np.asarray(along), np.asarray(x0 + columns * cell_x - self.x)


def _range_within(place: float, radius: float, size: float, count: int) -> slice:
    """Return the range of samples along one axis that lie within a radius."""
    wider = radius * (1.0 + _NARROWEST)  # samples that rounding puts just outside are within
    first = min(max(np.ceil((place - wider) / size), 0.0), float(count))
    last = min(max(np.floor((place + wider) / size) + 1.0, first), float(count))
    return slice(int(first), int(last))


class Reached(NamedTuple):
    """The samples that a brush reaches.

    Attributes
    ----------
    terrain : LiveMap
    place : (slice, slice)
        Their rows and columns.
    heights : ndarray of float32
        As they are stored; not to be written to.
    weights : ndarray of float64
        From 0 to 1.
    """

    terrain: LiveMap
    place: Ranges
    heights: Float32s
    weights: Floats


class Brush(NamedTuple):
    """A change of the heights in a disc.

    Attributes
    ----------
    disc : Disc
    change : callable
        Takes the samples that are reached, and returns their new heights. It may read samples
        beside them, and reads old heights only.
    strength : float
        The greatest weight of a sample.
    flat : float
        Samples within this distance of the center have the greatest weight, in meters.
    """

    disc: Disc
    change: Callable[[Reached], Floats]
    strength: float = 1.0
    flat: float = 0.0

    def stroke(self, terrain: LiveMap) -> tuple[Ranges, Float32s]:
        """Return the samples of a map that the brush changes, and their new heights."""
        place, weights = self.disc.samples(terrain, self.flat)
        weights *= self.strength
        old = terrain.samples(place)
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is refused below
            new = self.change(Reached(terrain, place, old, weights))
        kept = np.where(weights > 0.0, new, old)
        return place, checked_samples(kept, terrain.frame[:6].tolist())


def apply(storage: MapStorage, brush: Brush) -> None:
    """Change the heights of a map."""
    # Within: no edit of another thread is lost.
    storage.editing(lambda: set_heights(storage, *brush.stroke(storage)))


def raising(disc: Disc, rise: float) -> Brush:
    """Return a brush that raises a hill; a rise below zero digs a pit."""

    def change(reached: Reached) -> Floats:
        return reached.heights + reached.weights * (rise / reached.terrain.height_scale)

    return Brush(disc, change)


def leveling(disc: Disc, level: float, flat: Any, strength: Any) -> Brush:
    """Return a brush that brings the ground to a level; NaN: there is no level."""

    def change(reached: Reached) -> Floats:
        if np.isnan(level) and reached.weights.any():
            raise ValueError(
                f"height must be given where there is no ground at the center, got None at "
                f"({disc.x}, {disc.z})"
            )
        _, y0, _ = reached.terrain.origin
        goal = (level - y0) / reached.terrain.height_scale
        return _toward(goal, reached)

    return Brush(disc, change, _share("strength", strength), _flat_within(disc.radius, flat))


def smoothing(disc: Disc, strength: Any) -> Brush:
    """Return a brush that softens the ground."""

    def change(reached: Reached) -> Floats:
        return _toward(_means(reached.terrain, reached.place), reached)

    return Brush(disc, change, _share("strength", strength))


def _flat_within(radius: float, flat: Any) -> float:
    try:
        return checks.between("flat", flat, 0.0, radius)
    except ValueError as error:
        raise ValueError(f"{error}; it is a distance, height= is the level") from None


def _share(name: str, value: Any) -> float:
    return checks.between(name, value, 0.0, 1.0)


def _toward(goal: Floats | float, reached: Reached) -> Floats:
    """Return heights moved toward a goal: those with weight 1 are exactly there."""
    return reached.weights * goal + (1.0 - reached.weights) * reached.heights


def _means(terrain: LiveMap, place: Ranges) -> Floats:
    """Return means of samples and of those around them that are on the map and no holes.

    A sample counts four times, its four neighbors twice and those at the corners once. So equal
    heights stay, and so does a plane, to the last bit if float64 holds the sums.
    """
    spans, missing = [], []
    for along, count in zip(place, terrain.sample_count, strict=True):
        spans.append(slice(max(along.start - 1, 0), min(along.stop + 1, count)))
        missing.append((int(along.start == 0), int(along.stop == count)))
    samples = terrain.samples((spans[0], spans[1])).astype(np.float64)
    around = np.pad(samples, missing, constant_values=np.nan)
    is_there = ~np.isnan(around)
    sums = _weighted_sums(np.where(is_there, around, 0.0))
    counts = _weighted_sums(is_there.astype(np.float64))
    return sums / np.maximum(counts, 1.0)


def _weighted_sums(values: Floats) -> Floats:
    """Return sums over 3 x 3 values, the inner ones counted twice along each axis."""
    down = values[:-2] + 2.0 * values[1:-1] + values[2:]
    return np.asarray(down[:, :-2] + 2.0 * down[:, 1:-1] + down[:, 2:])

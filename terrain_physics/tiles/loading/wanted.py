"""Which tiles are near to places, and how soon each is reached."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from pyglm import glm

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.tiles import near as kernels
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s
from terrain_physics._support import checks
from terrain_physics._support.matrices import length
from terrain_physics.lattice.tile import LatticeShape
from terrain_physics.surface.limits import refuse_far

_MARK, _TIMES = CachedDispatch(kernels.mark_near), CachedDispatch(kernels.put_times)

_NONE = np.empty(0, np.int64)

# More positions than this are taken together where they are in one tile.
_FEW = 64

_VECTORS = glm.vec3, glm.dvec3
_NUMBERS = int, float, np.number


class WantedPlaces:
    """Boxes seen from above, in meters: of positions, characters and groups.

    Many positions within a square of one ``width`` are one box.

    Attributes
    ----------
    points : ndarray of float64, shape (m, 3)
    least, greatest : ndarray of float64, shape (n, 2)
        Of x and z.
    """

    __slots__ = ("_order", "_owners", "_starts", "greatest", "least", "points")

    _order: Int64s | None
    least: Floats
    greatest: Floats

    def __init__(self, places: Any, width: float) -> None:
        # All that are at each place: objects, or points without any.
        self._owners = list(_owners("places", places))
        found = [_points(name, owner) for name, owner in self._owners]
        self.points = np.concatenate(found) if found else np.empty((0, 3))
        flat = self.points[:, ::2].copy()
        self._order, self._starts = None, np.empty(0, np.int64)
        if len(flat) <= _FEW:
            self.least = self.greatest = flat
        else:
            self._take_together(flat, width)

    def _take_together(self, flat: Floats, width: float) -> None:
        """Find the boxes of the points in each square."""
        rows, columns = np.floor(flat / width).T
        self._order = order = np.lexsort((columns, rows))
        rows, columns, flat = rows[order], columns[order], flat[order]
        differs = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        self._starts = starts = np.append(0, np.flatnonzero(differs) + 1)
        self.least = np.minimum.reduceat(flat, starts)
        self.greatest = np.maximum.reduceat(flat, starts)

    def velocities(self) -> Floats:
        """Return how the boxes move, in m/s along x and z (n, 2): the mean of those in each."""
        found = [_velocities(name, owner) for name, owner in self._owners]
        speeds = np.concatenate(found)[:, ::2].copy() if found else np.empty((0, 2))
        if self._order is None:
            return speeds
        counts = np.diff(np.append(self._starts, len(speeds)))[:, np.newaxis]
        return np.asarray(np.add.reduceat(speeds[self._order], self._starts) / counts)

    def bodies(self) -> list[Any]:
        """Return the bodies of the characters; of a group, that of its first member."""
        ones = (
            one
            for _, owner in self._owners
            for one in (owner if isinstance(owner, list) else _first_of(owner))
        )
        return [body for one in ones if (body := getattr(one, "collider", None)) is not None]


def refuse_smaller(radius: float, bodies: list[Any]) -> None:
    """Raise ValueError for a radius that is smaller than a body."""
    for body in bodies:
        reach = _reach_of(body)
        if radius < reach:
            raise ValueError(
                f"radius must not be smaller than a body, {reach:g} m of {body}, got {radius:g}"
            )


def _owners(name: str, places: Any) -> Iterator[tuple[str, Any]]:
    """Yield groups, arrays of points and lists of single objects, with their names."""
    if hasattr(places, "positions"):
        yield f"{name}.positions", places
    elif hasattr(places, "position"):
        yield name, [places]
    elif isinstance(places, (np.ndarray, *_VECTORS)) or _is_vector(places):
        points = checks.array(name, places, (3,), (None, 3)).reshape(-1, 3)
        refuse_far(name, points)
        yield name, points
    elif isinstance(places, Iterable) and not isinstance(places, (str, bytes)):
        yield from _owners_in(name, list(places))
    else:
        raise TypeError(
            f"{name} must be positions, characters, groups or a sequence of them, got "
            f"{checks.shorten(places)}"
        )


def _owners_in(name: str, places: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield what is in a sequence; characters beside each other as one list."""
    single: list[Any] = []
    for index, place in enumerate(places):
        if hasattr(place, "position"):
            single.append(place)
            continue
        if single:
            yield name, single
            single = []
        yield from _owners(f"{name}[{index}]", place)
    if single:
        yield name, single


def _is_vector(value: Any) -> bool:
    """Tell whether a value is a sequence of numbers, right or wrong."""
    return isinstance(value, (tuple, list)) and len(value) > 0 and isinstance(value[0], _NUMBERS)


def _points(name: str, owner: Any) -> Floats:
    """Return the positions (n, 3) of what `_owners` gives."""
    if isinstance(owner, np.ndarray):
        return owner
    if isinstance(owner, list):
        return _vectors(name, "position", [one.position for one in owner])
    return checks.points(name, owner.positions)


def _velocities(name: str, owner: Any) -> Floats:
    """Return the velocities (n, 3) of what `_owners` gives; 0 of what has none."""
    if isinstance(owner, np.ndarray):
        return np.zeros_like(owner)
    if isinstance(owner, list):
        return _vectors(name, "velocity", [_velocity(one) for one in owner])
    speeds = getattr(owner, "world_velocities", None)
    return np.zeros((len(owner.positions), 3)) if speeds is None else checks.points(name, speeds)


def _velocity(one: Any) -> Any:
    """Return the velocity of an object in the world; 0 if it has none."""
    speed = getattr(one, "world_velocity", None)
    speed = getattr(one, "velocity", None) if speed is None else speed
    return (0.0, 0.0, 0.0) if speed is None else speed


def _vectors(name: str, what: str, values: list[Any]) -> Floats:
    """Return three numbers each as rows; errors name the first wrong ones."""
    if all(isinstance(value, _VECTORS) for value in values):
        rows = np.array([tuple(value) for value in values], np.float64)
        if np.isfinite(rows).all():
            return rows
    return np.array([checks.vector(f"{name}: {what}", value) for value in values])


def _first_of(owner: Any) -> list[Any]:
    """Return the first member of a group; nothing for points."""
    if isinstance(owner, np.ndarray) or not isinstance(owner, Mapping):
        return []
    return [*islice(owner.values(), 1)]


@lru_cache(maxsize=64)
def _reach_of(collider: Any) -> float:
    """Return how far a body reaches from its position at most, without the scale of an owner."""
    sizes = getattr(collider, "half_extents64", None)
    if sizes is None:
        sizes = (max(collider.radius, getattr(collider, "height", 0.0) / 2.0),)
    return length(sizes) + length(collider.offset64)


class Nearness:
    """Finds the tiles near to places.

    Attributes
    ----------
    width : float
        The lesser side of a tile in meters.
    """

    __slots__ = ("_columns", "_lattice", "width")

    def __init__(self, shape: LatticeShape) -> None:
        (x0, _, z0), (cell_x, cell_z) = shape.origin, shape.cell_size
        self._lattice = np.array([x0, z0, shape.side * cell_x, shape.side * cell_z])
        self._columns, self.width = shape.columns, shape.side * min(cell_x, cell_z)

    def look(
        self, places: WantedPlaces, radius: float, unload: float, missing: Bytes
    ) -> tuple[Int64s, Bools]:
        """Return the missing tiles to load, the soonest first, and which tiles are to be kept.

        Tiles within ``radius`` of a place are loaded, those within ``unload`` are kept.
        """
        marks, lattice = np.zeros(len(missing), np.uint8), (self._lattice, self._columns)
        boxes = places.least, places.greatest
        count = _MARK.call(*boxes, *lattice, unload, radius, missing, marks)
        if count == 0:
            return _NONE, marks.view(np.bool_)
        numbers = np.flatnonzero(marks == kernels.WANTED)
        slots, times = np.empty(len(marks), np.int32), np.full(count, np.inf)
        slots[numbers] = np.arange(count)
        _TIMES.call(*boxes, places.velocities(), *lattice, radius, marks, slots, times)
        return numbers[np.argsort(times, kind="stable")], marks != 0

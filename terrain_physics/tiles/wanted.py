"""Which tiles are near to places, and how soon each is reached."""

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from pyglm import glm

from terrain_physics._kernels.types import Bools, Floats, Int64s
from terrain_physics._support import checks
from terrain_physics.heightmap.lattice.tile import LatticeShape
from terrain_physics.surface.limits import refuse_far

# In m/s: what stands still, or goes away from a tile, may come at this speed all the same.
_LEAST_SPEED = 2.0

# More positions than this are taken together where they are in one tile.
_FEW = 16

_VECTORS = glm.vec3, glm.dvec3
_NUMBERS = int, float, np.number


class Places(NamedTuple):
    """Boxes seen from above, in meters, and how they move, in m/s.

    Attributes
    ----------
    least, greatest : ndarray of float64, shape (n, 2)
        Of x and z.
    velocities : ndarray of float64, shape (n, 2)
        Along x and z.
    """

    least: Floats
    greatest: Floats
    velocities: Floats

    @classmethod
    def of(cls, places: Any, radius: float, width: float) -> Self:
        """Return the places of positions, characters and groups.

        Many that are within a square of this ``width`` are one place.
        """
        found = list(_each("places", places, radius))
        points = np.concatenate([own for own, _ in found]) if found else np.empty((0, 3))
        speeds = np.concatenate([own for _, own in found]) if found else np.empty((0, 3))
        flat, velocities = points[:, ::2], speeds[:, ::2]
        if len(points) <= _FEW:
            return cls(flat, flat, velocities)
        return cls(*_taken_together(flat, velocities, width))


def _taken_together(points: Floats, velocities: Floats, width: float) -> tuple[Floats, ...]:
    """Return the boxes of points in each square, and their mean velocity."""
    squares = np.floor(points / width)
    order = np.lexsort(squares.T)
    points, squares = points[order], squares[order]
    starts = np.flatnonzero(np.append(True, (squares[1:] != squares[:-1]).any(axis=1)))
    counts = np.diff(np.append(starts, len(points)))[:, np.newaxis]
    return (
        np.minimum.reduceat(points, starts),
        np.maximum.reduceat(points, starts),
        np.add.reduceat(velocities[order], starts) / counts,
    )


def _each(name: str, places: Any, radius: float) -> Iterator[tuple[Floats, Floats]]:
    """Yield positions (n, 3) and velocities of all that ``places`` may be."""
    if hasattr(places, "positions"):
        yield _of_group(name, places, radius)
    elif hasattr(places, "position"):
        yield _of_one(name, places, radius)
    elif isinstance(places, (np.ndarray, *_VECTORS)) or _is_vector(places):
        points = checks.array(name, places, (3,), (None, 3)).reshape(-1, 3)
        refuse_far(name, points)
        yield points, np.zeros_like(points)
    elif isinstance(places, Iterable) and not isinstance(places, (str, bytes)):
        for index, place in enumerate(places):
            yield from _each(f"{name}[{index}]", place, radius)
    else:
        raise TypeError(
            f"{name} must be positions, characters, groups or a sequence of them, got "
            f"{checks.shorten(places)}"
        )


def _is_vector(value: Any) -> bool:
    """Tell whether a value is a sequence of numbers, right or wrong."""
    return isinstance(value, (tuple, list)) and len(value) > 0 and isinstance(value[0], _NUMBERS)


def _of_one(name: str, one: Any, radius: float) -> tuple[Floats, Floats]:
    """Return position and velocity of a character, or of another object that has a position."""
    _refuse_smaller(name, radius, one)
    place = checks.vector(f"{name}.position", one.position)
    speed = getattr(one, "world_velocity", None)
    speed = getattr(one, "velocity", None) if speed is None else speed
    velocity = (0.0, 0.0, 0.0) if speed is None else checks.vector(f"{name}.velocity", speed)
    return np.array([place]), np.array([velocity])


def _of_group(name: str, group: Any, radius: float) -> tuple[Floats, Floats]:
    """Return positions and velocities of all members of a group."""
    points = checks.points(f"{name}.positions", group.positions)
    speeds = getattr(group, "world_velocities", None)
    if speeds is None:
        return points, np.zeros_like(points)
    if len(points):
        _refuse_smaller(name, radius, next(iter(group.values()), None))
    return points, checks.points(f"{name}.world_velocities", speeds)


def _refuse_smaller(name: str, radius: float, character: Any) -> None:
    """Raise ValueError for a radius that is smaller than the body of a character."""
    collider = getattr(character, "collider", None)
    if collider is not None and radius < (reach := _reach_of(collider)):
        raise ValueError(
            f"radius must not be smaller than a body, {reach:g} m for {name}, got {radius:g}"
        )


@lru_cache(maxsize=64)
def _reach_of(collider: Any) -> float:
    """Return how far a body reaches from its position at most, without the scale of an owner."""
    sizes = getattr(collider, "half_extents64", None)
    if sizes is None:
        sizes = (max(collider.radius, getattr(collider, "height", 0.0) / 2.0),)
    return math.hypot(*sizes) + math.hypot(*collider.offset64)


class Nearness:
    """Finds the tiles near to places.

    Parameters
    ----------
    shape : LatticeShape
    exists : ndarray of bool, shape (n,)
        Of all tiles of the lattice.
    """

    __slots__ = ("_corner", "_exists", "_sizes", "_tiles")

    def __init__(self, shape: LatticeShape, exists: Bools) -> None:
        x0, _, z0 = shape.origin
        self._exists, self._corner = exists, (x0, z0)
        self._sizes = shape.side * shape.cell_size[0], shape.side * shape.cell_size[1]
        self._tiles = shape.columns, shape.rows

    @property
    def width(self) -> float:
        """The lesser side of a tile in meters."""
        return min(self._sizes)

    def look(
        self, places: Places, radius: float, unload: float, is_loaded: Bools
    ) -> tuple[Int64s, Bools]:
        """Return the tiles to load, the soonest first, and which tiles are to be kept.

        Tiles within ``radius`` of a place are loaded, those within ``unload`` are kept.
        """
        kept = np.zeros(len(is_loaded), np.bool_)
        if len(places.least) == 0:
            return np.empty(0, np.int64), kept
        across, gaps_x = self._gaps(places, 0, unload)
        down, gaps_z = self._gaps(places, 1, unload)
        squares = gaps_z[:, :, np.newaxis] ** 2 + gaps_x[:, np.newaxis, :] ** 2
        which = np.nonzero(squares <= unload * unload)
        numbers = down[which[0], which[1]] * self._tiles[0] + across[which[0], which[2]]
        kept[numbers] = True
        wanted = squares[which] <= radius * radius
        wanted &= self._exists[numbers] & ~is_loaded[numbers]
        who, row, column = (own[wanted] for own in which)
        ways = np.column_stack([gaps_x[who, column], gaps_z[who, row]])
        return _soonest(numbers[wanted], _times(ways, places.velocities[who])), kept

    def _gaps(self, places: Places, axis: int, far: float) -> tuple[Int64s, Floats]:
        """Return rows or columns of tiles around each place, and how far off these are, signed.

        Those that are too far off, or none, are infinitely far.
        """
        size, corner, count = self._sizes[axis], self._corner[axis], self._tiles[axis]
        least, greatest = places.least[:, axis], places.greatest[:, axis]
        first = np.clip(np.floor((least - far - corner) / size), 0, count - 1).astype(np.int64)
        last = np.clip(np.floor((greatest + far - corner) / size), -1, count - 1).astype(np.int64)
        lines = first[:, np.newaxis] + np.arange(max(int((last - first).max()) + 1, 1))
        starts = corner + lines * size
        before = np.maximum(starts - greatest[:, np.newaxis], 0.0)
        behind = np.maximum(least[:, np.newaxis] - (starts + size), 0.0)
        gaps = np.where(lines <= last[:, np.newaxis], before - behind, np.inf)
        return lines, gaps


def _times(ways: Floats, velocities: Floats) -> Floats:
    """Return in how many seconds ways (n, 2) are gone with velocities (n, 2)."""
    lengths = np.hypot(ways[:, 0], ways[:, 1])
    along = (ways * velocities).sum(axis=1) / np.maximum(lengths, 1e-9)
    return lengths / np.maximum(along, _LEAST_SPEED)


def _soonest(numbers: Int64s, times: Floats) -> Int64s:
    """Return numbers, each once, in the order of their least times."""
    ordered = numbers[np.lexsort((numbers, times))]
    _, firsts = np.unique(ordered, return_index=True)
    return ordered[np.sort(firsts)]

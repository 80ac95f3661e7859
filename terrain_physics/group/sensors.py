"""Sensors: heights and rays around many characters, each in its own frame."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics._kernels.character.sensors import put_sensors
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.surface.shapes import FARTHEST
from terrain_physics._kernels.types import Floats, Int64s, read_only
from terrain_physics._support import checks
from terrain_physics._support.threads import Workers
from terrain_physics.character.rows import POSITION, Rows
from terrain_physics.surface.limits import refuse_far
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.results import RayHits, marked, named

# Rough cost of placing one point, in nanoseconds.
_COST = 1


class Sensors:
    """Characters that sense the ground around them.

    Parameters
    ----------
    rows : Rows
        The numbers of the characters (n, ...).
    keys : sequence of str or int
        Their keys, for messages.
    yaws : ndarray of float64, shape (n,)
        The angle about +Y of each one's frame, in radians.
    queries : Queries
        The queries of their ground.
    threads : int, optional
        Number of threads, as for `Surface`.
    """

    def __init__(
        self,
        rows: Rows,
        keys: Sequence[Any],
        yaws: Floats,
        queries: Queries,
        threads: int | None,
    ) -> None:
        self._keys, self._queries, self._threads = keys, queries, threads
        self._places, self._masks = rows.state[:, POSITION], rows.rules[:, columns.MASK]
        turned = np.fmod(yaws, math.tau)  # exact, as the next line is
        self._yaws = turned - math.tau * np.rint(turned / math.tau)

    def heights(self, offsets: ArrayLike) -> Floats:
        """Return the heights (n, k) at offsets (k, 2) along x and z."""
        flat = checks.array("offsets", offsets, (None, 2))
        self._refuse_far(flat)
        arms = np.insert(flat, 1, 0.0, axis=1)
        levels = np.empty((len(self._places), len(arms)))
        for rows, queries in self._by_mask():
            xs, _, zs = self._points(rows, self._places[rows], arms)
            levels[rows] = queries.heights(xs, zs, self._threads).reshape(len(rows), len(arms))
        return levels

    def rays(self, offsets: ArrayLike, directions: ArrayLike, max_distance: ArrayLike) -> RayHits:
        """Return the hits (n, k) of rays from offsets (k, 3) along directions (k, 3)."""
        arms = checks.points("offsets", offsets)
        units = checks.directions("directions", directions)
        limits = checks.ray_limits("max_distance", max_distance)
        each = checks.common_length(offsets=arms, directions=units, max_distance=limits)
        self._refuse_far(arms)
        arms, units = np.broadcast_to(arms, (each, 3)), np.broadcast_to(units, (each, 3))
        shape = (len(self._places), each)
        points, normals = np.empty((2, *shape, 3))
        triangles, materials = np.empty(shape, np.int64), np.empty(shape, np.uint8)
        hits = RayHits(np.empty(shape), points, normals, triangles, materials)
        return named(*self._queries.with_names(lambda: self._cast(hits, arms, units, limits)))

    def _cast(self, hits: RayHits, arms: Floats, units: Floats, limits: Floats) -> RayHits:
        """Write the hits (n, k) of checked rays, and return them."""
        unknown = np.zeros(hits.distance.shape, np.bool_)
        for rows, queries in self._by_mask():
            origins = _one_by_one(self._points(rows, self._places[rows], arms))
            vectors = _one_by_one(self._points(rows, np.zeros((len(rows), 3)), units))
            (longest,) = read_only(limits if len(limits) == 1 else np.tile(limits, len(rows)))
            found = queries.rays(origins, vectors, longest, self._threads)
            for values, new in zip(_columns(hits), _columns(found), strict=True):
                values[rows] = new.reshape(len(rows), *values.shape[1:])
            unknown[rows] = found.unknown.reshape(len(rows), -1)
        return marked(hits, unknown)

    def _by_mask(self) -> Iterator[tuple[Int64s, Queries]]:
        """Give the rows of characters with the same mask, and the queries that it filters."""
        for mask in np.unique(self._masks).tolist():
            yield np.flatnonzero(self._masks == mask), self._queries.filtered(int(mask))

    def _points(self, rows: Int64s, places: Floats, arms: Floats) -> Floats:
        """Return places (m, 3) of some rows (m,) plus their arms (k, 3) in the world, (3, m k)."""
        out = np.empty((3, len(rows) * len(arms)))
        starts, yaws, vectors = read_only(
            np.ascontiguousarray(places), self._yaws[rows], np.ascontiguousarray(arms)
        )

        def put(first: int, last: int) -> None:
            put_sensors(starts, yaws, vectors, first, last, out)

        Workers(self._threads).run(put, len(rows), _COST * (1 + len(arms)))
        (points,) = read_only(out)
        return points

    def _refuse_far(self, offsets: Floats) -> None:
        """Refuse sensors too far from the origin for a ground, naming their character."""
        refuse_far("offsets", offsets)
        extent = np.abs(offsets).max(initial=0.0)
        far = ~(np.abs(self._places).max(axis=1, initial=0.0) + extent < FARTHEST)
        for row in np.flatnonzero(far)[:1]:
            raise ValueError(
                f"{self._keys[row]!r}: position and offsets must be below {FARTHEST:g} m, "
                f"got {self._places[row].tolist()}"
            )


def _one_by_one(points: Floats) -> Floats:
    """Return points (3, m) as rows (m, 3)."""
    (rows,) = read_only(np.ascontiguousarray(points.T))
    return rows


def _columns(hits: RayHits) -> list[NDArray[Any]]:
    return list(hits)

"""Meshes and queries as arrays: what goes in, checked, and what comes out, by the row."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._kernels.mesh.queries import along_a_curve, closest_rows, raycast_rows
from terrain_physics._kernels.mesh.tree import Mesh
from terrain_physics._threads import Workers
from terrain_physics.surface.results import RayHits

_DOWN = np.array([[0.0, -1.0, 0.0]])

ONE_VISIT = np.zeros(1, np.int64)
ONE_VISIT.setflags(write=False)

# Enough for one task: below, handing it to another thread costs more than it saves.
_ROWS_PER_TASK = 2048

FARTHEST = 1e70
"""Coordinates are smaller than this, in meters: four lengths can be multiplied."""


class ClosestPoint(NamedTuple):
    """The point of a mesh closest to a point, its distance in meters and its face."""

    point: glm.vec3
    distance: float
    triangle: int


class ClosestPoints(NamedTuple):
    """The points of a mesh closest to points, one row for each.

    Attributes
    ----------
    point : ndarray of float64, shape (m, 3)
        On the mesh.
    distance : ndarray of float64, shape (m,)
        In meters, >= 0.
    triangle : ndarray of int64, shape (m,)
        The faces.
    """

    point: NDArray[np.float64]
    distance: NDArray[np.float64]
    triangle: NDArray[np.int64]


def near_points(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return points (m, 3), none too far off to be reckoned with."""
    points = _checks.points(name, value)
    refuse_far(name, points)
    return points


def refuse_far(name: str, rows: NDArray[np.float64]) -> None:
    """Refuse rows of numbers of which one is too large to be reckoned with."""
    if np.abs(rows).max(initial=0.0) >= FARTHEST:
        row = int(np.argmax(np.abs(rows).max(axis=1) >= FARTHEST))
        raise ValueError(
            f"{name} must be below {FARTHEST:g} m, got {rows[row].tolist()} at [{row}]"
        )


def refuse_far_row(name: str, row: Sequence[float]) -> None:
    """Refuse one row: without arrays where there is nothing to refuse."""
    if max(row) >= FARTHEST or min(row) <= -FARTHEST:
        refuse_far(name, np.array([row]))


def near_number(name: str, value: Any) -> float:
    """Return a finite number that is not too large to be reckoned with."""
    if type(value) is float and -FARTHEST < value < FARTHEST:
        return value
    number = _checks.finite(name, value)
    if abs(number) >= FARTHEST:
        raise ValueError(f"{name} must be below {FARTHEST:g} m, got {number}")
    return number


def visits_of(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return an order for rows that begin with a place: what is near is asked soon after."""
    if len(rows) == 1:
        return ONE_VISIT
    visits = along_a_curve(rows[:, :3])
    visits.setflags(write=False)  # kernels know one type only
    return visits


def checked_vertices(vertices: ArrayLike) -> NDArray[np.float64]:
    """Return a read-only copy of vertices (v, 3)."""
    places = np.array(near_points("vertices", vertices))
    places.setflags(write=False)
    return places


def checked_faces(faces: ArrayLike, count: int) -> NDArray[np.int32]:
    """Return a read-only copy of faces (n, 3) with ``count`` vertices."""
    _checks.refuse_masked("faces", faces)
    try:
        rows = np.asarray(faces)
    except ValueError:
        raise ValueError("faces must be an array of integers with rows of one length") from None
    if rows.ndim != 2 or rows.shape[1] != 3 or len(rows) == 0:
        raise ValueError(f"faces must have shape (n, 3), n >= 1, got {rows.shape}")
    if rows.dtype.kind not in "iu":
        raise TypeError(f"faces must hold integers, got dtype {rows.dtype}")
    bad = ((rows < 0) | (rows >= count)).any(axis=1)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"faces[{row}] must hold vertices from 0 to {count - 1}, got {rows[row].tolist()}"
        )
    result = np.array(rows, np.int32, order="C")
    result.setflags(write=False)
    return result


def cast_rays(
    mesh: Mesh,
    origins: NDArray[np.float64],
    directions: NDArray[np.float64],
    max_distance: Any,
    threads: int | None,
) -> RayHits:
    """Return what rays of unit directions meet first; arrays of one row serve for all."""
    longest = _checks.between("max_distance", max_distance, 0.0, math.inf)
    count = _checks.common_length(origins=origins, directions=directions)
    directions.setflags(write=False)  # kernels know one type only
    hits = RayHits(
        np.empty(count),
        np.empty((count, 3)),
        np.empty((count, 3)),
        np.empty(count, np.int64),
        np.zeros(count, np.uint8),
    )

    def cast(first: int, last: int) -> None:
        raycast_rows(*mesh[2:], origins, directions, longest, first, last, *hits[:4])

    with Workers(threads) as workers:
        workers.run(cast, count, _ROWS_PER_TASK)
    return hits


def look_down(
    mesh: Mesh, x: Any, z: Any, threads: int | None
) -> tuple[RayHits, float, tuple[int, ...]]:
    """Return what rays straight down meet first, from which height, and the shape of x and z."""
    xs, zs = _checks.broadcast("x", x, "z", z)
    for name, values in (("x", xs), ("z", zs)):
        for far in values[np.abs(values) >= FARTHEST][:1]:
            near_number(name, far)
    top = float(mesh.frame[4])
    origins = np.stack(np.broadcast_arrays(xs, top, zs), axis=-1).reshape(-1, 3)
    origins.setflags(write=False)  # kernels know one type only
    return cast_rays(mesh, origins, _DOWN, math.inf, threads), top, xs.shape


def find_closest(mesh: Mesh, points: NDArray[np.float64], threads: int | None) -> ClosestPoints:
    """Return the points of a mesh closest to points (m, 3)."""
    # Each begins with the last one's triangle, which is nearly as near.
    order = along_a_curve(points)
    sorted_points = points[order]
    sorted_points.setflags(write=False)
    count = len(points)
    found = ClosestPoints(np.empty((count, 3)), np.empty(count), np.empty(count, np.int64))

    def search(first: int, last: int) -> None:
        closest_rows(*mesh[2:], sorted_points, first, last, *found)

    with Workers(threads) as workers:
        workers.run(search, count, _ROWS_PER_TASK)
    places = np.empty(count, np.int64)
    places[order] = np.arange(count)
    return ClosestPoints(found.point[places], found.distance[places], found.triangle[places])

"""What is at a place, on a path or nearest, from the arrays of a ground: of one and of many."""

from collections.abc import Sequence
from math import inf, isnan
from typing import Any

import numpy as np
from pyglm import glm

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.ground import closest, heights, inside
from terrain_physics._kernels.ground.hits import FACE, TRIANGLE
from terrain_physics._kernels.ground.owners import MESH
from terrain_physics._kernels.ground.rays import ray_hit, ray_hits
from terrain_physics._kernels.ground.sweeps import sweep_one, sweep_rows
from terrain_physics._kernels.ground.triangles import put_triangles, triangle_at
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.mesh.queries import along_a_curve
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s, read_only
from terrain_physics._support.checks import Floats3
from terrain_physics._support.threads import Workers
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.results import (
    ClosestPoint,
    ClosestPoints,
    RayHit,
    RayHits,
    SweepHit,
    SweepHits,
    new_hit,
)
from terrain_physics.surface.shapes import for_kernels

_SURFACE, _SURFACES = CachedDispatch(heights.surface_over), CachedDispatch(heights.put_surface)
_RAY, _RAYS = CachedDispatch(ray_hit), CachedDispatch(ray_hits)
_CLOSEST, _ALL_CLOSEST = CachedDispatch(closest.closest_one), CachedDispatch(closest.closest_rows)
_SWEEP, _SWEEPS = CachedDispatch(sweep_one), CachedDispatch(sweep_rows)
_INSIDE, _ALL_INSIDE = CachedDispatch(inside.contains_one), CachedDispatch(inside.contains_rows)
_DISTANCE = CachedDispatch(inside.signed_distance_one)
_DISTANCES = CachedDispatch(inside.signed_distance_rows)

_TRIANGLE = CachedDispatch(triangle_at)
_TRIANGLES = CachedDispatch(put_triangles)

# Nanoseconds for one question on one thread, roughly; for one to maps alone.
_RAY_COST, _SEARCH_COST, _POINT_COST = 300, 1_500, 8


def surface_at(arrays: GroundArrays, mask: int, x: float, z: float) -> tuple[float, Floats3]:
    """Return the height and the normal at a place; nobody edits the arrays meanwhile."""
    level, normal = _SURFACE.call(arrays.table, mask, x, z)
    return level, normal


def surface_over(
    arrays: GroundArrays, mask: int, xs: Floats, zs: Floats, threads: int | None,
    wanted: tuple[bool, bool] = (True, True),
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return the heights and the normals at places, none of those that are not ``wanted``."""
    levels, normals = np.empty((len(xs) * wanted[0], 1)), np.empty((len(xs) * wanted[1], 3))
    cost = _RAY_COST if arrays.has_meshes else _POINT_COST
    _run(_SURFACES, threads, cost, len(xs), (arrays.table, mask, xs, zs), (levels, normals))
    return levels.reshape(-1), normals


def one_ray(
    arrays: GroundArrays, mask: int, origin: Floats3, direction: Floats3, longest: float
) -> RayHit | None:
    """Return the first hit of a ray of a unit direction; nobody edits the arrays meanwhile."""
    (x, y, z), (dx, dy, dz) = origin, direction
    distance, point, normal, triangle, cell, row = _RAY.call(
        arrays.table, mask, x, y, z, dx, dy, dz, longest
    )
    if isnan(distance):
        return None
    material = _material_of(arrays, row, triangle, cell)
    place = glm.vec3(*point), glm.vec3(*normal)
    parts = distance, *place, triangle, material, None, None, False
    return new_hit(RayHit, parts)


def many_rays(
    arrays: GroundArrays,
    mask: int,
    origins: Floats,
    directions: Floats,
    longest: Floats,
    threads: int | None,
) -> RayHits:
    """Return the first hits of rays of unit directions; an array of one row serves for all."""
    count = _common_count(origins, directions, longest)
    distances, points, normals = np.empty(count), np.empty((count, 3)), np.empty((count, 3))
    whole = np.empty((2, count), np.int64)
    about = arrays.table, mask, origins, directions, longest
    _run(_RAYS, threads, _RAY_COST, count, about, (distances, points, normals, whole))
    materials = _materials_of(arrays, ~np.isnan(distances), whole)
    return RayHits(distances, points, normals, whole[TRIANGLE], materials)


def one_sweep(
    arrays: GroundArrays, mask: int, kind: int, row: Sequence[float], motion: Floats3
) -> SweepHit | None:
    """Return the first touch of one shape that moves."""
    arrays.find_skins()
    distance, fraction, point, normal, triangle, cell, at = _SWEEP.call(
        arrays.table, mask, kind, for_kernels(np.array(row)), *motion
    )
    if isnan(distance):
        return None
    material = _material_of(arrays, at, triangle, cell)
    touch = glm.vec3(*normal), glm.vec3(*point)
    return new_hit(SweepHit, (fraction, distance, *touch, triangle, material, None, None, False))


def many_sweeps(
    arrays: GroundArrays,
    mask: int,
    kind: int,
    rows: Floats,
    motions: Floats,
    threads: int | None,
) -> SweepHits:
    """Return the first touches of moving rows; an array of one row serves for all."""
    count = _common_count(rows, motions)
    numbers, whole = np.empty(8 * count), np.empty((2, count), np.int64)
    visits = _visits_of(arrays, rows if len(rows) == count else motions)
    about = arrays.table, mask, kind, rows.reshape(-1), motions, visits
    _run(_SWEEPS, threads, _SEARCH_COST, count, about, (numbers, whole))
    distances, fractions = numbers[: 2 * count].reshape(2, count)
    points, normals = numbers[2 * count :].reshape(2, count, 3)
    materials = _materials_of(arrays, ~np.isnan(distances), whole)
    return SweepHits(fractions, distances, normals, points, whole[TRIANGLE], materials)


def point_closest(arrays: GroundArrays, mask: int, point: Floats3) -> ClosestPoint:
    """Return the point of the ground closest to a point."""
    distance, place, triangle, cell, row = _CLOSEST.call(arrays.table, mask, *point)
    material = _material_of(arrays, row, triangle, cell)
    return new_hit(ClosestPoint, (glm.vec3(*place), distance, triangle, material, None, None))


def points_closest(
    arrays: GroundArrays, mask: int, points: Floats, threads: int | None
) -> ClosestPoints:
    """Return the points of the ground closest to points (n, 3)."""
    count = len(points)
    distances, places = np.empty(count), np.empty((count, 3))
    whole = np.empty((2, count), np.int64)
    about = arrays.table, mask, points, _visits_of(arrays, points)
    _run(_ALL_CLOSEST, threads, _SEARCH_COST, count, about, (distances, places, whole))
    materials = _materials_of(arrays, distances < inf, whole)
    return ClosestPoints(places, distances, whole[TRIANGLE], materials)


def is_contained(arrays: GroundArrays, mask: int, point: Floats3) -> bool:
    """Tell whether a point is in something solid, or on a surface."""
    return bool(_INSIDE.call(arrays.table, mask, *point))


def are_contained(arrays: GroundArrays, mask: int, points: Floats, threads: int | None) -> Bools:
    """Tell which points (n, 3) are in something solid, or on a surface."""
    are_in = np.empty(len(points), np.uint8)
    cost = _RAY_COST if arrays.has_meshes else _POINT_COST
    _run(_ALL_INSIDE, threads, cost, len(points), (arrays.table, mask, points), (are_in,))
    return are_in.view(np.bool_)


def distance_of(arrays: GroundArrays, mask: int, point: Floats3) -> float:
    """Return the distance of a point to the surface, below 0 in something solid."""
    distance: float = _DISTANCE.call(arrays.table, mask, *point)
    return distance


def distances_of(arrays: GroundArrays, mask: int, points: Floats, threads: int | None) -> Floats:
    """Return the distances (n,) of points (n, 3) to the surface, below 0 in something solid."""
    distances = np.empty(len(points))
    about = arrays.table, mask, points, _visits_of(arrays, points)
    _run(_DISTANCES, threads, _SEARCH_COST, len(points), about, (distances,))
    return distances


def _run(
    kernel: CachedDispatch, threads: int | None, cost: float, count: int,
    about: tuple[Any, ...], out: tuple[Any, ...],
) -> None:  # fmt: skip
    """Have a kernel write the answers of so many rows; one costs so many nanoseconds."""

    def work(first: int, last: int) -> None:
        kernel.call(*about, first, last, *out)

    Workers(threads).run(work, count, cost)


def _common_count(*columns: Floats) -> int:
    """Return how many rows all have, where one row serves for all."""
    counts = [*map(len, columns)]
    return max(counts) if all(counts) else 0


def one_triangle(
    arrays: GroundArrays, _: int, part: int, triangle: int, point: Floats3
) -> tuple[int, int, bool]:
    """Return id and material of a triangle touched at a point, and whether it is there."""
    found, cell, row, known = _TRIANGLE.call(arrays.table, part, triangle, point[0], point[2])
    return found, _material_of(arrays, row, found, cell), known


def many_triangles(
    arrays: GroundArrays, _: int, parts: Int64s, triangles: Int64s, points: Floats
) -> tuple[Int64s, Bytes, Bools]:
    """Return the same of many."""
    columns = parts, triangles, points[:, 0], points[:, 2]
    whole, known = np.empty((2, len(parts)), np.int64), np.empty(len(parts), np.uint8)
    _TRIANGLES.call(arrays.table, *read_only(*map(np.ascontiguousarray, columns)), whole, known)
    everywhere = np.ones(len(parts), np.bool_)
    return whole[TRIANGLE], _materials_of(arrays, everywhere, whole), known.view(np.bool_)


def _visits_of(arrays: GroundArrays, places: Floats) -> Int64s:
    """Return an order for places: near ones follow each other, which helps where meshes are."""
    visits = along_a_curve(places[:, :3]) if arrays.has_meshes else np.arange(len(places))
    visits.setflags(write=False)  # kernels know one type only
    return visits


def _material_of(arrays: GroundArrays, row: int, triangle: int, cell: int) -> int:
    """Return the material of a hit: of a mesh it is in the place of the cell."""
    if row == MESH:
        return cell
    made = arrays.made_of[row]
    return 0 if made is None else made.one(triangle, cell)


def _materials_of(arrays: GroundArrays, are_hits: Bools, whole: Int64s) -> Bytes:
    """Return the materials of hits, 0 where nothing was hit."""
    triangles, places = whole
    materials = np.zeros(len(places), np.uint8)
    if arrays.is_of_one_kind:
        return materials
    rows, cells = places >> ID_BITS, places & FACE
    np.copyto(materials, cells, where=are_hits & (rows == MESH), casting="unsafe")
    for row, made in enumerate(arrays.made_of):
        if made is not None:
            here = np.flatnonzero(are_hits & (rows == row))
            materials[here] = made.of(triangles[here], cells[here])
    return materials

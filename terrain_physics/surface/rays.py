"""Rays to a ground, whatever its parts are: one, and many as rows."""

from math import isnan

import numpy as np
from pyglm import glm

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.ground.owners import MESH
from terrain_physics._kernels.ground.rays import FACE, TRIANGLE, ray_hit, ray_hits
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s
from terrain_physics._support.checks import Floats3
from terrain_physics._support.threads import Workers
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.results import RayHit, RayHits, new_hit

_COST = 300  # nanoseconds for a ray on one thread, roughly

_RAY, _RAYS = CachedDispatch(ray_hit), CachedDispatch(ray_hits)


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
    if row == MESH:
        material = cell
    else:
        made = arrays.made_of[row]
        material = 0 if made is None else made.one(triangle, cell)
    place = glm.vec3(point), glm.vec3(normal)
    parts = distance, *place, triangle, material, None, None, False
    return new_hit(RayHit, parts)


def many_rays(
    arrays: GroundArrays,
    mask: int,
    origins: Floats,
    directions: Floats,
    longest: Floats,
    count: int,
    threads: int | None,
) -> RayHits:
    """Return the first hits of rays of unit directions; an array of one row serves for all."""
    distances, points, normals = np.empty(count), np.empty((count, 3)), np.empty((count, 3))
    whole = np.empty((2, count), np.int64)

    def work(first: int, last: int) -> None:
        _RAYS.call(
            arrays.table, mask, origins, directions, longest, first, last,
            distances, points, normals, whole,
        )  # fmt: skip

    Workers(threads).run(work, count, _COST)
    materials = np.zeros(count, np.uint8)
    if len(arrays.meshes) > 1 or any(made is not None for made in arrays.made_of):
        _put_materials(arrays, ~np.isnan(distances), whole, materials)
    return RayHits(distances, points, normals, whole[TRIANGLE], materials)


def _put_materials(arrays: GroundArrays, are_hits: Bools, whole: Int64s, out: Bytes) -> None:
    """Write the materials of hits."""
    triangles, places = whole
    rows = places >> ID_BITS
    np.copyto(out, places & FACE, where=are_hits & (rows == MESH), casting="unsafe")
    for row, made in enumerate(arrays.made_of):
        if made is not None:
            here = np.flatnonzero(are_hits & (rows == row))
            out[here] = made.of(triangles[here], places[here] & FACE)

"""Rays on a height map, and heights and normals at many places."""

import math
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._kernels._jit import Direct
from terrain_physics._kernels.heightmap.heights import surface_at
from terrain_physics._kernels.heightmap.rays import ray_hit, ray_hits
from terrain_physics._kernels.types import Floats
from terrain_physics._threads import Workers
from terrain_physics.geometry.shapes import Ray
from terrain_physics.heightmap.storage import KernelArrays, MapData
from terrain_physics.surface.results import RayHit, RayHits

# Fewer than these are done at once, without another thread.
_LEAST_POINTS, _LEAST_RAYS = 100_000, 4_000

_RAY = Direct(ray_hit)


class MapRays(MapData):
    """What `terrain_physics.HeightMap` answers about rays and places."""

    __slots__ = ()

    def raycast(self, ray: Ray, max_distance: float = math.inf) -> RayHit | None:
        """Return where a ray meets the ground first, from above or from below.

        Parameters
        ----------
        ray : Ray
            Origin in meters, and direction.
        max_distance : float, default inf
            How far the ray reaches, in meters, that distance included; >= 0.

        Returns
        -------
        RayHit or None
            ``None`` when it meets nothing. A ray that starts on the ground hits at distance 0. Of
            triangles met at the same distance the first by row, column and half is given. An
            upright ray meets exactly `height_at`, and the triangle of `normal_at`. Others pass
            between no two triangles; along the plane of a triangle they hit where they enter it.

        Notes
        -----
        Ground that goes on outside the map does so for rays of any length, up to 1e99 m and 1e15
        cells.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 0, 0], [0, 2, 0], [0, 0, 0]])
        >>> hit = land.raycast(Ray((-1, 1, 1), (1, 0, 0)))
        >>> hit.distance, hit.point, hit.triangle
        (1.5, vec3( 0.5, 1, 1 ), 0)
        >>> land.raycast(Ray((1, 5, 1), (0, -1, 0)), max_distance=2) is None
        True
        """
        if type(ray) is not Ray:
            _checks.instance("ray", ray, Ray)
        most = math.inf if max_distance is math.inf else _reach(max_distance)
        (x, y, z), (dx, dy, dz) = ray.origin64, ray.direction64
        with self._lock:
            heights, cells, blocks, frame = self._views
            distance, point, normal, triangle, cell = _RAY.call(
                heights, cells, blocks, frame, x, y, z, dx, dy, dz, most
            )
            if isnan(distance):
                return None
            materials = self._materials
            material = 0 if materials is None else int(materials.item(cell))
        return RayHit(distance, glm.vec3(point), glm.vec3(normal), triangle, material)

    def raycast_many(
        self,
        origins: Any,
        directions: Any,
        max_distance: float = math.inf,
        *,
        threads: int | None = None,
    ) -> RayHits:
        """Return where n rays meet the ground first.

        Parameters
        ----------
        origins : array_like, shape (n, 3) or (1, 3)
            In meters.
        directions : array_like, shape (n, 3) or (1, 3)
            Of any length but zero.
        max_distance : float, default inf
            How far the rays reach, in meters; >= 0.
        threads : int, optional
            How many threads work; by default one for each processor, for few rays one. The results
            do not depend on it.

        Returns
        -------
        RayHits
            By the rules of `raycast`. A distance of NaN says that a ray missed; an id of -1 does
            not.

        Raises
        ------
        ValueError
            For other shapes, non-finite values, zero directions and numbers of rows that do not
            match.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 0], [0, 0]])
        >>> land.raycast_many([(0.5, 3, 0.5), (9, 3, 9)], [(0, -2, 0)]).distance
        array([3., 3.])
        """
        start = _checks.points("origins", origins)
        along = _checks.directions("directions", directions)
        most = _reach(max_distance)
        count = _checks.common_length(origins=start, directions=along)
        distances, points, normals = np.empty(count), np.empty((count, 3)), np.empty((count, 3))
        whole = np.empty((2, count), dtype=np.int64)
        with self.reading() as (heights, cells, blocks, frame), Workers(threads) as workers:
            materials = self._materials

            def work(first: int, last: int) -> None:
                ray_hits(
                    heights, cells, blocks, frame, start, along, most, first, last,
                    distances, points, normals, whole,
                )  # fmt: skip

            workers.run(work, count, _LEAST_RAYS)
            made_of = materials_at(materials, distances, whole[1])
        return RayHits(distances, points, normals, whole[0], made_of)

    def heights_at(self, x: Any, z: Any, *, threads: int | None = None) -> Floats:
        """Return the heights of the surface at many places, in meters.

        Parameters
        ----------
        x, z : array_like
            Where, in meters; broadcast.
        threads : int, optional
            How many threads work; by default one for each processor, for few places one. The
            results do not depend on it.

        Returns
        -------
        ndarray of float64
            Of the shape of x and z together. NaN in holes, and outside an open border.

        Raises
        ------
        ValueError
            For NaN and infinity, and shapes that do not fit.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> HeightMap([[0, 4], [0, 4]]).heights_at([0.25, 0.5], 0.5)
        array([1., 2.])
        """
        return self._surface_at(x, z, threads, normals=False)

    def normals_at(self, x: Any, z: Any, *, threads: int | None = None) -> Floats:
        """Return the unit normals of the surface at many places.

        Parameters
        ----------
        x, z : array_like
            Where, in meters; broadcast.
        threads : int, optional
            How many threads work; by default one for each processor, for few places one. The
            results do not depend on it.

        Returns
        -------
        ndarray of float64, shape (..., 3)
            The normal of the triangle there, of one of them where several meet. NaN in holes, and
            outside an open border.

        Raises
        ------
        ValueError
            For NaN and infinity, and shapes that do not fit.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> HeightMap([[0, 0], [0, 0]]).normals_at([0.25], 0.5)
        array([[0., 1., 0.]])
        """
        return self._surface_at(x, z, threads, normals=True)

    def _surface_at(self, x: Any, z: Any, threads: int | None, *, normals: bool) -> Floats:
        with self.reading() as views:
            return surface_of(views, x, z, threads, normals=normals)


def surface_of(
    views: KernelArrays, x: Any, z: Any, threads: int | None, *, normals: bool
) -> Floats:
    """Return the heights of a map at places x, z, or its normals there."""
    xs, zs = _checks.broadcast("x", x, "z", z)
    shape = (*xs.shape, 3) if normals else xs.shape
    flat_x, flat_z = xs.ravel(), zs.ravel()
    out = np.empty((flat_x.size, 3 if normals else 1))
    heights, cells, _, frame = views

    def work(first: int, last: int) -> None:
        surface_at(heights, cells, frame, flat_x, flat_z, first, last, normals, out)

    with Workers(threads) as workers:
        workers.run(work, flat_x.size, _LEAST_POINTS)
    return out.reshape(shape)


def materials_at(
    materials: NDArray[np.uint8] | None, distances: Floats, cells: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return the materials of the cells that were met, 0 where none was."""
    if materials is None:
        return np.zeros(len(cells), dtype=np.uint8)
    found = materials.reshape(-1)[cells]
    found[np.isnan(distances)] = 0
    return found


def _reach(max_distance: float) -> float:
    if max_distance == math.inf:
        return math.inf
    return _checks.non_negative("max_distance", max_distance)

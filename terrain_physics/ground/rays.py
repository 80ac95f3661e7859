"""Rays on a ground of several parts, and heights and normals at places."""

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics._kernels.types import Floats
from terrain_physics.geometry.shapes import Ray
from terrain_physics.ground.answers import highest, nearest_hits
from terrain_physics.ground.parts import GroundData, Part
from terrain_physics.heightmap.heightmap import HeightMap
from terrain_physics.heightmap.rays import surface_of
from terrain_physics.surface.results import RayHit, RayHits

_Many = NDArray[Any] | Sequence[float]


class GroundRays(GroundData):
    """What `terrain_physics.Ground` answers about rays and places."""

    __slots__ = ()

    def raycast(self, ray: Ray, max_distance: float = math.inf) -> RayHit | None:
        """Return where a ray meets the ground first, from either side.

        Parameters
        ----------
        ray : Ray
            Origin in meters, and direction.
        max_distance : float, default inf
            How far the ray reaches, in meters, that distance included; >= 0.

        Returns
        -------
        RayHit or None
            ``None`` when it meets nothing. By the rules of each part; of parts met at the same
            distance, the one with the lower id.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap, TriangleMesh
        >>> floor = HeightMap([[0, 0], [0, 0]], cell_size=4)
        >>> roof = TriangleMesh([(0, 3, 0), (0, 3, 4), (4, 3, 0)], [(0, 1, 2)])
        >>> ground = Ground([floor, roof])
        >>> ground.raycast(Ray((1, 5, 1), (0, -1, 0))).triangle
        2
        >>> ground.raycast(Ray((1, 1, 1), (0, -1, 0))).distance
        1.0
        """
        return self._nearest_hit(lambda part: part.raycast(ray, max_distance))

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
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[0, 0], [0, 0]], origin=(x, 0, 0)) for x in (0, 1)]
        >>> Ground(tiles).raycast_many([(0.5, 3, 0.25), (1.5, 3, 0.25)], [(0, -2, 0)]).triangle
        array([1, 3])
        """
        surfaces = self._current()
        answers = [
            surface.asked.raycast_many(origins, directions, max_distance, threads=threads)
            for surface in surfaces
        ]
        owners = [s.owners(answer.triangle) for s, answer in zip(surfaces, answers, strict=True)]
        return nearest_hits(answers, owners)

    @overload
    def height_at(self, x: float, z: float) -> float: ...
    @overload
    def height_at(self, x: _Many, z: _Many | float) -> Floats: ...
    @overload
    def height_at(self, x: float, z: _Many) -> Floats: ...
    def height_at(self, x: Any, z: Any) -> Any:
        """Return the height of the highest surface in meters.

        Parameters
        ----------
        x, z : float or array_like
            Where, in meters; arrays are broadcast.

        Returns
        -------
        float or ndarray of float64
            NaN where there is none.

        Raises
        ------
        ValueError
            For NaN and infinity.
        """
        answers = [surface.asked.height_at(x, z) for surface in self._current()]
        if type(answers[0]) is not float:
            return np.fmax.reduce(answers)
        best = math.nan
        for level in answers:
            if level > best or math.isnan(best):
                best = level
        return best

    def heights_at(self, x: Any, z: Any, *, threads: int | None = None) -> Floats:
        """Return the heights of the highest surface at many places, in meters.

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
            Of the shape of x and z together; NaN where there is no surface.

        Raises
        ------
        ValueError
            For NaN and infinity, and shapes that do not fit.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[x, x], [x, x]], origin=(3 * x, 0, 0)) for x in (0, 1)]
        >>> Ground(tiles).heights_at([0.5, 2, 3.5], 0.5)
        array([ 0., nan,  1.])
        """
        answers = [s.asked.heights_at(x, z, threads=threads) for s in self._current()]
        return np.asarray(np.fmax.reduce(answers))

    @overload
    def normal_at(self, x: float, z: float) -> glm.vec3: ...
    @overload
    def normal_at(self, x: _Many, z: _Many | float) -> Floats: ...
    @overload
    def normal_at(self, x: float, z: _Many) -> Floats: ...
    def normal_at(self, x: Any, z: Any) -> Any:
        """Return the unit normal of the highest surface.

        Parameters
        ----------
        x, z : float or array_like
            Where, in meters; arrays are broadcast.

        Returns
        -------
        glm.vec3 or ndarray of float64, shape (..., 3)
            By the rules of `normals_at`.

        Raises
        ------
        ValueError
            For NaN and infinity.
        """
        normals_there = self.normals_at(x, z)
        return normals_there if normals_there.ndim > 1 else glm.vec3(normals_there)

    def normals_at(self, x: Any, z: Any, *, threads: int | None = None) -> Floats:
        """Return the unit normals of the highest surface at many places.

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
            The normal of the triangle there, of one of them where several of a part meet. Of parts
            at the same height the first one's, where maps that are one stand in the place of their
            first. NaN where there is no surface.

        Raises
        ------
        ValueError
            For NaN and infinity, and shapes that do not fit.
        """
        surfaces = self._current()
        if len(surfaces) == 1:
            return surfaces[0].asked.normals_at(x, z, threads=threads)
        heights, normals = [], []
        for surface in surfaces:
            level, normal = _heights_and_normals(surface.asked, x, z, threads)
            heights.append(level)
            normals.append(normal)
        return highest(heights, normals)


def _heights_and_normals(asked: Part, x: Any, z: Any, threads: int | None) -> tuple[Floats, Floats]:
    """Return both of one moment, whatever is edited meanwhile."""
    if isinstance(asked, HeightMap):
        with asked.reading() as views:
            return (
                surface_of(views, x, z, threads, normals=False),
                surface_of(views, x, z, threads, normals=True),
            )
    return asked.heights_at(x, z, threads=threads), asked.normals_at(x, z, threads=threads)

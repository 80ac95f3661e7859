"""Triangle meshes: rays, closest points, heights, triangles in a box, meshes that cross; shapes."""

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._kernels._jit import Direct
from terrain_physics._kernels.mesh import intersections as mesh_pairs
from terrain_physics._kernels.mesh.queries import closest_one, ray_hit
from terrain_physics._kernels.mesh.tree import build_mesh, triangles_near
from terrain_physics._threads import Workers
from terrain_physics.geometry.shapes import AABB, Ray
from terrain_physics.mesh.batches import (
    ClosestPoint,
    ClosestPoints,
    cast_rays,
    checked_faces,
    checked_vertices,
    find_closest,
    look_down,
    near_number,
    near_points,
    refuse_far_row,
)
from terrain_physics.mesh.contacts import MeshContacts
from terrain_physics.mesh.sweeps import MeshSweeps
from terrain_physics.surface.results import RayHit, RayHits, Triangles

_Many = NDArray[Any] | Sequence[float]

MOST_TRIANGLES = 20_000_000
_RAY, _CLOSEST = Direct(ray_hit), Direct(closest_one)


class TriangleMesh(MeshContacts, MeshSweeps):
    """Triangles that share vertices, made ready to be asked many questions.

    A face's index is its id. Triangles are two-sided surfaces, closed at their edges: touching
    counts. Where several faces answer a question equally well, the lowest one does. What touches
    one is pushed out, or stopped, on the side where it is, and may leave on that side.

    Parameters
    ----------
    vertices : array_like, shape (v, 3)
        In meters, below 1e70 m; copied. Not every one need be used. Rays and closest points are
        right where lengths that are not zero are above 1e-70 m.
    faces : array_like of integers, shape (n, 3), n >= 1
        Rows of ``vertices``, counter-clockwise seen from the front; copied. A face without area is
        the segment or the point it is, with the normal +Y.

    Raises
    ------
    TypeError
        If ``vertices`` holds no real numbers or ``faces`` no integers.
    ValueError
        For other shapes, vertices that are not finite and faces with vertices that do not exist;
        the message names the first one.

    Examples
    --------
    >>> mesh = TriangleMesh([(0, 0, 0), (0, 0, 4), (4, 0, 0), (4, 2, 4)], [(0, 1, 2), (1, 3, 2)])
    >>> mesh
    <TriangleMesh: 2 faces, 4 vertices>
    >>> mesh.height_at(1, 1), mesh.height_at(3, 3)
    (0.0, 1.0)
    >>> mesh.raycast(Ray((1, 5, 1), (0, -1, 0)))
    RayHit(distance=5.0, point=vec3( 1, 0, 1 ), normal=vec3( 0, 1, 0 ), triangle=0, material=0)
    >>> mesh.closest_point((-3, 4, 1))
    ClosestPoint(point=vec3( 0, 0, 1 ), distance=5.0, triangle=0)
    >>> mesh.contacts([(1, -0.5, 1, 1), (1, 9, 1, 1)]).penetration
    array([[ 0. , -0.5,  0. ]])
    """

    __slots__ = ()

    def __init__(self, vertices: ArrayLike, faces: ArrayLike) -> None:
        places = checked_vertices(vertices)
        self._adopt(build_mesh(places, checked_faces(faces, len(places))), 0)

    def triangles_in(self, aabb: AABB, *, margin: float = 0.1) -> Triangles:
        """Return the triangles near a box.

        Parameters
        ----------
        aabb : AABB
            In meters.
        margin : float, default 0.1
            The box is widened by this much on every side, in meters; >= 0.

        Returns
        -------
        Triangles
            All whose closed box meets the widened box, by id.

        Raises
        ------
        ValueError
            For more than 20 million triangles.
        """
        _checks.instance("aabb", aabb, AABB)
        wider = _checks.non_negative("margin", margin)
        x0, y0, z0 = aabb.lower64
        x1, y1, z1 = aabb.upper64
        lower, upper = (x0 - wider, y0 - wider, z0 - wider), (x1 + wider, y1 + wider, z1 + wider)
        ids = np.empty(128, np.int64)
        count = triangles_near(*self._mesh[2:], lower, upper, ids)
        if count > MOST_TRIANGLES:
            raise ValueError(f"aabb must hold at most {MOST_TRIANGLES} triangles, got {aabb}")
        if count > len(ids):
            ids = np.empty(count, np.int64)
            triangles_near(*self._mesh[2:], lower, upper, ids)
        ids = ids[:count]
        return Triangles(self.vertices[self.faces[ids]], self.normals[ids], ids)

    def raycast(self, ray: Ray, max_distance: float = math.inf) -> RayHit | None:
        """Return where a ray meets the mesh first, from either side.

        Parameters
        ----------
        ray : Ray
        max_distance : float, default infinity
            In meters, >= 0; a triangle at just this distance is met.

        Returns
        -------
        RayHit or None
            None if it meets nothing. A ray within a triangle's plane meets it where it enters.
        """
        if type(ray) is not Ray:
            _checks.instance("ray", ray, Ray)
        refuse_far_row("ray", ray.origin64)
        longest = _checks.between("max_distance", max_distance, 0.0, math.inf)
        triangle, distance, x, y, z, nx, ny, nz = _RAY.call(
            *self._mesh[2:], *ray.origin64, *ray.direction64, longest
        )
        if triangle < 0:
            return None
        return RayHit(distance, glm.vec3(x, y, z), glm.vec3(nx, ny, nz), triangle)

    def raycast_many(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_distance: float = math.inf,
        *,
        threads: int | None = None,
    ) -> RayHits:
        """Return where m rays meet the mesh first, from either side.

        Parameters
        ----------
        origins : array_like, shape (m, 3) or (1, 3)
            In meters.
        directions : array_like, shape (m, 3) or (1, 3)
            Of any length but zero; distances are in meters all the same.
        max_distance : float, default infinity
            In meters, >= 0, for all rays.
        threads : int, optional
            How many threads; None: one for each processor. The results are the same.

        Returns
        -------
        RayHits
            By the rules of `raycast`, in float64.

        Raises
        ------
        ValueError
            For other shapes, non-finite values, zero directions and row counts that do not match.
        """
        starts = near_points("origins", origins)
        units = _checks.directions("directions", directions)
        return cast_rays(self._mesh, starts, units, max_distance, threads)

    @overload
    def height_at(self, x: float, z: float) -> float: ...
    @overload
    def height_at(self, x: _Many, z: _Many | float) -> NDArray[np.float64]: ...
    @overload
    def height_at(self, x: float, z: _Many) -> NDArray[np.float64]: ...
    def height_at(self, x: Any, z: Any) -> Any:
        """Return the height of the highest surface in meters.

        Parameters
        ----------
        x, z : float or array_like
            Where, in meters, finite; arrays are broadcast.

        Returns
        -------
        float or ndarray of float64
            NaN where there is no triangle.
        """
        if isinstance(x, (float, int)) and isinstance(z, (float, int)):
            hit = self._hit_below(x, z)
            return float(self._mesh.frame[4]) - hit[1]
        heights_there = self.heights_at(x, z)
        return heights_there if heights_there.ndim else float(heights_there)

    def heights_at(self, x: Any, z: Any, *, threads: int | None = None) -> NDArray[np.float64]:
        """Return the heights of the highest surface at many places, in meters.

        Parameters
        ----------
        x, z : array_like
            Where, in meters, finite; broadcast.
        threads : int, optional
            How many threads; None: one for each processor. The results are the same.

        Returns
        -------
        ndarray of float64
            Of the shape of x and z together; NaN where there is no triangle.

        Raises
        ------
        ValueError
            For NaN and infinity, and shapes that do not fit.
        """
        hits, top, shape = look_down(self._mesh, x, z, threads)
        return (top - hits.distance).reshape(shape)

    @overload
    def normal_at(self, x: float, z: float) -> glm.vec3: ...
    @overload
    def normal_at(self, x: _Many, z: _Many | float) -> NDArray[np.float64]: ...
    @overload
    def normal_at(self, x: float, z: _Many) -> NDArray[np.float64]: ...
    def normal_at(self, x: Any, z: Any) -> Any:
        """Return the unit normal of the highest surface.

        Parameters
        ----------
        x, z : float or array_like
            Where, in meters, finite; arrays are broadcast.

        Returns
        -------
        glm.vec3 or ndarray of float64, shape (..., 3)
            Of the front, which may look down. NaN where there is no triangle.
        """
        if isinstance(x, (float, int)) and isinstance(z, (float, int)):
            return glm.vec3(self._hit_below(x, z)[5:])
        normals_there = self.normals_at(x, z)
        return normals_there if normals_there.ndim > 1 else glm.vec3(normals_there)

    def normals_at(self, x: Any, z: Any, *, threads: int | None = None) -> NDArray[np.float64]:
        """Return the unit normals of the highest surface at many places.

        Parameters
        ----------
        x, z : array_like
            Where, in meters, finite; broadcast.
        threads : int, optional
            How many threads; None: one for each processor. The results are the same.

        Returns
        -------
        ndarray of float64, shape (..., 3)
            Of the front, which may look down. NaN where there is no triangle.

        Raises
        ------
        ValueError
            For NaN and infinity, and shapes that do not fit.
        """
        hits, _, shape = look_down(self._mesh, x, z, threads)
        return hits.normal.reshape(*shape, 3)

    def _hit_below(self, x: float, z: float) -> tuple[Any, ...]:
        """Return what a ray straight down from the highest vertex's height meets first."""
        x, z, mesh = near_number("x", x), near_number("z", z), self._mesh
        top = float(mesh.frame[4])
        hit: tuple[Any, ...] = _RAY.call(*mesh[2:], x, top, z, 0.0, -1.0, 0.0, math.inf)
        return hit

    def closest_point(self, point: Any) -> ClosestPoint:
        """Return the point of the mesh closest to a point.

        Parameters
        ----------
        point : three numbers
            In meters.

        Returns
        -------
        ClosestPoint
        """
        place = _checks.vector("point", point)
        refuse_far_row("point", place)
        triangle, distance, x, y, z = _CLOSEST.call(*self._mesh[2:], *place)
        return ClosestPoint(glm.vec3(x, y, z), distance, triangle)

    def closest_points(self, points: ArrayLike, *, threads: int | None = None) -> ClosestPoints:
        """Return the points of the mesh closest to m points.

        Parameters
        ----------
        points : array_like, shape (m, 3)
            In meters.
        threads : int, optional
            How many threads; None: one for each processor. The results are the same.

        Returns
        -------
        ClosestPoints
            In float64.

        Raises
        ------
        ValueError
            For another shape and values that are not finite.
        """
        return find_closest(self._mesh, near_points("points", points), threads)

    def intersecting_pairs(
        self, other: "TriangleMesh", *, threads: int | None = None
    ) -> NDArray[np.int64]:
        """Return which triangles of this mesh touch or cross which of another.

        Parameters
        ----------
        other : TriangleMesh
            Where it is; its vertices are in the same world.
        threads : int, optional
            How many threads; None: one for each processor. The results are the same.

        Returns
        -------
        ndarray of int64, shape (m, 2)
            Faces of this mesh and of the other, sorted. Exact: no pair that touches is missing,
            none is there that does not.
        """
        _checks.instance("other", other, TriangleMesh)
        with Workers(threads) as workers:
            return mesh_pairs.touching_pairs(workers.run, self._mesh, other.kernel_arrays)

    def self_intersections(self, *, threads: int | None = None) -> NDArray[np.int64]:
        """Return which triangles of the mesh meet where they should not.

        Vertices at one position count as one, so that seams are no intersections. Faces i and j

        - without a common vertex meet if they touch;
        - with one common vertex, if the side opposite to it of one touches the other;
        - with two, if they lie in one plane and overlap: folded back onto each other;
        - with three, always: they are the same triangle.

        Parameters
        ----------
        threads : int, optional
            How many threads; None: one for each processor. The results are the same.

        Returns
        -------
        ndarray of int64, shape (m, 2)
            Faces i < j, sorted. Exact.
        """
        with Workers(threads) as workers:
            return mesh_pairs.self_pairs(workers.run, self._mesh, self.neighbors.welded)

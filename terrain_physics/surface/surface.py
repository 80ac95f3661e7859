"""The questions that every ground answers, checked and documented once."""

import math
from collections.abc import Sequence
from math import isfinite
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._kernels.surface.shapes import BOX, CAPSULE, SPHERE
from terrain_physics._kernels.types import Floats
from terrain_physics._public import public
from terrain_physics._threads import Workers
from terrain_physics.geometry.shapes import AABB, Ray
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.results import (
    ClosestPoint,
    ClosestPoints,
    Contacts,
    RayHit,
    RayHits,
    SweepHit,
    SweepHits,
    Triangles,
)
from terrain_physics.surface.shapes import (
    SHAPES,
    Shape,
    box_rows,
    capsule_rows,
    row_of,
    rows_of,
    sphere_rows,
)

_Many = NDArray[Any] | Sequence[float]

MOST_TRIANGLES = 20_000_000


@public
class Surface:
    """What `HeightMap`, `TriangleMesh` and `Ground` have in common: the questions they answer.

    Triangles have ids: those of a map are 2 * (row * columns + column) + half, of a mesh the index
    of the face, of a ground of several parts the part's own id plus the part's of ``first_ids``; -1
    outside a map. Touching is contact.

    Questions that end in ``s`` or ``_many`` are asked of arrays and answered with arrays, on as
    many threads as there are processors unless ``threads`` says otherwise, and few of them on one.
    No answer depends on the number of threads, and each is to the last bit that of the question for
    one.

    Bad arguments raise ValueError or TypeError that name the argument, the rule and the value.
    Coordinates must be finite; below 1e70 m where they are asked of a mesh, and for closest points.
    """

    __slots__ = ("_queries",)

    _queries: Queries

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make one of the kinds of ground."""
        if cls is Surface:
            raise TypeError(
                "Surface is what HeightMap, TriangleMesh and Ground have in common: "
                "make one of these"
            )
        return super().__new__(cls)

    # Places

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
            On a map exactly the height of the triangle there. NaN where there is no triangle: in
            holes, outside an open border, beside a mesh.

        Raises
        ------
        ValueError
            For NaN and infinity.
        """
        if type(x) is type(z) is float and isfinite(x + z):  # the sum may overflow
            return self._queries.height(x, z)
        if isinstance(x, (float, int)) and isinstance(z, (float, int)):
            return self._queries.height(_checks.finite("x", x), _checks.finite("z", z))
        heights_there = self.heights_at(x, z)
        return heights_there if heights_there.ndim else float(heights_there)

    def heights_at(self, x: Any, z: Any, *, threads: int | None = None) -> Floats:
        """Return the heights of the highest surface at many places, in meters.

        Parameters
        ----------
        x, z : array_like
            Where, in meters; broadcast.
        threads : int, optional
            How many threads work; see `Surface`.

        Returns
        -------
        ndarray of float64
            By the rules of `height_at`, of the shape of x and z together.

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
        xs, zs = _checks.broadcast("x", x, "z", z)
        return self._queries.heights(xs.ravel(), zs.ravel(), threads).reshape(xs.shape)

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
            Of the front of the triangle there, which on a mesh may look down; of one of them where
            several meet. Of parts of a ground at the same height the first one's, where maps that
            are one stand in the place of their first. NaN where there is no triangle.

        Raises
        ------
        ValueError
            For NaN and infinity.
        """
        if type(x) is type(z) is float and isfinite(x + z):  # the sum may overflow
            return self._queries.normal(x, z)
        if isinstance(x, (float, int)) and isinstance(z, (float, int)):
            return self._queries.normal(_checks.finite("x", x), _checks.finite("z", z))
        normals_there = self.normals_at(x, z)
        return normals_there if normals_there.ndim > 1 else glm.vec3(normals_there)

    def normals_at(self, x: Any, z: Any, *, threads: int | None = None) -> Floats:
        """Return the unit normals of the highest surface at many places.

        Parameters
        ----------
        x, z : array_like
            Where, in meters; broadcast.
        threads : int, optional
            How many threads work; see `Surface`.

        Returns
        -------
        ndarray of float64, shape (..., 3)
            By the rules of `normal_at`.

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
        xs, zs = _checks.broadcast("x", x, "z", z)
        return self._queries.normals(xs.ravel(), zs.ravel(), threads).reshape(*xs.shape, 3)

    # Triangles in boxes

    def triangles_in(self, aabb: AABB, *, margin: float = 0.1) -> Triangles:
        """Return the triangles within a box.

        Parameters
        ----------
        aabb : AABB
            In meters.
        margin : float, default 0.1
            The box is widened by this much on every side, in meters; >= 0.

        Returns
        -------
        Triangles
            Of a map both triangles of every cell whose closed box (its area by its span of heights)
            meets the widened box, by row, column and half; cells outside the map have the id -1. Of
            a mesh all whose closed box meets the widened box, by id. Of a ground part after part.

        Raises
        ------
        ValueError
            For more than 20 million triangles, and for a box over more than 100 million cells of a
            map.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[0, 0], [0, 0]], origin=(x, 0, 0)) for x in (0, 1)]
        >>> Ground(tiles).triangles_in(AABB((1.5, 0, 0), (2, 0, 1))).ids
        array([2, 3])
        """
        _checks.instance("aabb", aabb, AABB)
        wider = _checks.non_negative("margin", margin)
        x0, y0, z0 = aabb.lower64
        x1, y1, z1 = aabb.upper64
        lower, upper = (x0 - wider, y0 - wider, z0 - wider), (x1 + wider, y1 + wider, z1 + wider)
        found = self._queries.triangles_in(lower, upper, MOST_TRIANGLES)
        if found is None:
            raise ValueError(f"aabb must hold at most {MOST_TRIANGLES} triangles, got {aabb}")
        return found

    def triangles_in_many(
        self, lowers: ArrayLike, uppers: ArrayLike, *, margin: float = 0.1
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ids of the triangles within each of n boxes.

        Parameters
        ----------
        lowers, uppers : array_like, shape (n, 3) or (1, 3)
            Corners in meters, lower <= upper.
        margin : float, default 0.1
            The boxes are widened by this much on every side, in meters; >= 0.

        Returns
        -------
        offsets : ndarray of int64, shape (n + 1,)
            Box i has the ids from ``offsets[i]`` to before ``offsets[i + 1]``.
        ids : ndarray of int64
            By the rule and in the order of `triangles_in`; -1 outside a map.

        Raises
        ------
        ValueError
            For a lower corner above its upper one, and for a box over more than 100 million cells
            of a map.
        """
        wider = _checks.non_negative("margin", margin)
        low, high = _checks.points("lowers", lowers), _checks.points("uppers", uppers)
        count = _checks.common_length(lowers=low, uppers=high)
        low, high = np.broadcast_to(low, (count, 3)), np.broadcast_to(high, (count, 3))
        for row, axis in np.argwhere(low > high)[:1].tolist():
            raise ValueError(
                f"lowers must be <= uppers, got {low[row, axis]} > {high[row, axis]} in row {row}"
            )
        boxes = np.concatenate([low - wider, high + wider], axis=1).reshape(-1)
        boxes.flags.writeable = False
        return self._queries.triangle_ids_in(boxes)

    # Rays

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
            ``None`` when it meets nothing. A ray that starts on the ground hits at distance 0. Of
            triangles met at the same distance the first by row, column and half of a map, or by id,
            is given. An upright ray meets exactly the `height_at` a map, and the triangle of
            `normal_at`. Others pass between no two triangles; along the plane of a triangle they
            hit where they enter it.

        Notes
        -----
        Ground that goes on outside a map does so for rays of any length, up to 1e99 m and 1e15
        cells.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap, TriangleMesh
        >>> land = HeightMap([[0, 0, 0], [0, 2, 0], [0, 0, 0]])
        >>> hit = land.raycast(Ray((-1, 1, 1), (1, 0, 0)))
        >>> hit.distance, hit.point, hit.triangle
        (1.5, vec3( 0.5, 1, 1 ), 0)
        >>> land.raycast(Ray((1, 5, 1), (0, -1, 0)), max_distance=2) is None
        True
        >>> roof = TriangleMesh([(0, 3, 0), (0, 3, 2), (2, 3, 0)], [(0, 1, 2)])
        >>> Ground([land, roof]).raycast(Ray((0.5, 5, 0.5), (0, -1, 0))).triangle
        8
        """
        if type(ray) is not Ray:
            _checks.instance("ray", ray, Ray)
        if max_distance is not math.inf:
            max_distance = _checks.between("max_distance", max_distance, 0.0, math.inf)
        return self._queries.ray(ray.origin64, ray.direction64, max_distance)

    def raycast_many(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
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
            Of any length but zero; distances are in meters all the same.
        max_distance : float, default inf
            How far the rays reach, in meters; >= 0.
        threads : int, optional
            How many threads work; see `Surface`.

        Returns
        -------
        RayHits
            By the rules of `raycast`, in float64. A distance of NaN says that a ray missed; an id
            of -1 does not.

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
        starts = _checks.points("origins", origins)
        units = _checks.directions("directions", directions)
        longest = _checks.between("max_distance", max_distance, 0.0, math.inf)
        count = _checks.common_length(origins=starts, directions=units)
        return self._queries.rays(starts, units, longest, count, threads)

    # Contacts

    def contacts(
        self,
        shapes: ArrayLike | Shape | Sequence[Shape],
        *,
        keep: str = "all",
        threads: int | None = None,
    ) -> Contacts:
        """Return the contacts of shapes with the triangles.

        Each triangle is asked alone, by the rules of `intersect_sphere_triangle` and its like.
        Those of a height map are solid from above only, those of a mesh have two sides. Touching is
        contact.

        Parameters
        ----------
        shapes : array_like of shape (n, 4), or one or more shapes of one kind
            Rows x, y, z, radius in meters; or a `Sphere`, `Capsule`, `OBB` or `AABB`, or a sequence
            of them.
        keep : {"all", "deepest"}, default "all"
            All contacts, or of each shape the deepest, the first of those equally deep.
        threads : int, optional
            How many threads work; see `Surface`.

        Returns
        -------
        Contacts
            Ordered by shape, then as ids are: on a map by row, column and half; of a ground part
            after part.

        Raises
        ------
        TypeError
            For shapes of different kinds, naming the first other, and for things that are no
            shapes.
        ValueError
            For values that are not finite or negative where they must not be, for a shape over
            more than 100 million cells of a map, and for one 1e70 m or more from a mesh's origin.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 0], [0, 0]], border="open")
        >>> found = land.contacts([(0.25, 0.5, 0.25, 1), (0.25, 2, 0.25, 1)])
        >>> found.query, found.triangle, found.depth
        (array([0, 0]), array([0, 1]), array([0.38762756, 0.5       ]))
        """
        if keep != "all":
            _checks.choice("keep", keep, ("all", "deepest"))
        if isinstance(shapes, SHAPES):
            if threads is not None:
                Workers(threads)  # refuses what is no number of threads
            return self._queries.contacts_of_one(shapes, keep)
        kind, rows = rows_of("shapes", shapes)
        return self._queries.contacts(kind, rows, keep, threads)

    def sphere_contacts(
        self, spheres: ArrayLike, *, keep: str = "all", threads: int | None = None
    ) -> Contacts:
        """Return the contacts of spheres with the triangles.

        Parameters
        ----------
        spheres : array_like, shape (n, 4)
            Rows x, y, z, radius in meters; radius >= 0.
        keep, threads
            As for `contacts`.

        Returns
        -------
        Contacts
            Ordered by sphere, then as in `contacts`. The point is the triangle's nearest to the
            center.
        """
        return self._contacts_of_rows(SPHERE, sphere_rows("spheres", spheres), keep, threads)

    def capsule_contacts(
        self, capsules: ArrayLike, *, keep: str = "all", threads: int | None = None
    ) -> Contacts:
        """Return the contacts of capsules with the triangles.

        Parameters
        ----------
        capsules : array_like, shape (n, 7)
            Rows of both ends of the axis and the radius, in meters; radius >= 0.
        keep, threads
            As for `contacts`.

        Returns
        -------
        Contacts
            Ordered by capsule, then as in `contacts`. The point is the triangle's nearest to the
            axis; of several that of the axis' start, its end, then those on edges a-b, b-c, c-a.
        """
        return self._contacts_of_rows(CAPSULE, capsule_rows("capsules", capsules), keep, threads)

    def obb_contacts(
        self,
        centers: ArrayLike,
        half_extents: ArrayLike,
        rotations: ArrayLike,
        *,
        keep: str = "all",
        threads: int | None = None,
    ) -> Contacts:
        """Return the contacts of turned boxes with the triangles.

        Any of the arrays may have one row, which then serves for all.

        Parameters
        ----------
        centers, half_extents : array_like, shape (n, 3) or (1, 3)
            In meters; half extents >= 0.
        rotations : array_like, shape (n, 3, 3) or (1, 3, 3)
            Orthonormal matrices with the box axes as columns.
        keep, threads
            As for `contacts`.

        Returns
        -------
        Contacts
            Ordered by box, then as in `contacts`. The point is the triangle's nearest to the
            center.
        """
        return self._contacts_of_rows(
            BOX, box_rows(centers, half_extents, rotations), keep, threads
        )

    def _contacts_of_rows(
        self, kind: int, rows: Floats, keep: str, threads: int | None
    ) -> Contacts:
        _checks.choice("keep", keep, ("all", "deepest"))
        return self._queries.contacts(kind, rows, keep, threads)

    def contact_counts(
        self, shapes: ArrayLike | Shape | Sequence[Shape], *, threads: int | None = None
    ) -> NDArray[np.int64]:
        """Return how many triangles each shape touches.

        Parameters
        ----------
        shapes, threads
            As for `contacts`.

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        kind, rows = rows_of("shapes", shapes)
        return self._queries.contact_counts(kind, rows, threads)

    # Moving shapes

    def sweep(self, shape: Shape, motion: Any) -> SweepHit | None:
        """Return where a moving shape first touches the ground.

        The ground is touched from above and from below. What touches it at the start and moves
        further in is stopped at fraction 0; what moves out of or along it is free. Motion counts as
        along a surface if it leads into it by less than a millionth of its length (motions and
        normals in float32 are that far from square). So nothing that slides over level ground is
        stopped by it, nor by the edge of the next triangle: a touch at an edge or a corner whose
        normal leads into a neighbor is one of the face.

        Parameters
        ----------
        shape : Sphere, Capsule, OBB or AABB
            Where it starts.
        motion : three numbers
            The straight way, in meters; the shape does not turn.

        Returns
        -------
        SweepHit or None
            ``None`` where the way is free. Of triangles touched after the same way the first by
            row, column and half of a map, or by id.

        Raises
        ------
        TypeError
            For other shapes.

        Notes
        -----
        On a map, a shape whose middle is below the surface may move out through the front; one that
        touches from below by less than a thousandth of its size is stopped there.

        A mesh is a skin with two sides: what touches it at the start is stopped where it moves
        further in from the side it is on, and free to leave on that side, however deep it is. That
        side is the one of a sphere's center or the nearest point of a capsule's axis, or where the
        axis goes through a face of its middle; of a box the one with the least way out. The first
        sweep finds the `TriangleMesh.neighbors`; at an edge of more than two faces each face is for
        itself.

        Examples
        --------
        >>> from terrain_physics import HeightMap, Sphere
        >>> land = HeightMap([[0, 0], [0, 0]])
        >>> hit = land.sweep(Sphere((0.5, 3, 0.5), 1), (0, -4, 0))
        >>> hit.fraction, hit.point, hit.normal
        (0.5, vec3( 0.5, 0, 0.5 ), vec3( 0, 1, 0 ))
        >>> land.sweep(Sphere((0.5, 1, 0.5), 1), (5, 0, 0)) is None
        True
        """
        kind, numbers = row_of("shape", shape)
        row, way = np.array(numbers), np.array([_checks.vector("motion", motion)])
        row.flags.writeable = way.flags.writeable = False
        return self._queries.sweep(kind, row, way)

    def sweep_spheres(self, spheres: Any, motions: Any, *, threads: int | None = None) -> SweepHits:
        """Return where n moving spheres first touch the ground.

        Parameters
        ----------
        spheres : array_like, shape (n, 4) or (1, 4)
            x, y, z, radius in meters; radius >= 0.
        motions : array_like, shape (n, 3) or (1, 3)
            Straight ways, in meters.
        threads : int, optional
            How many threads work; see `Surface`.

        Returns
        -------
        SweepHits
            By the rules of `sweep`.

        Raises
        ------
        ValueError
            For other shapes, non-finite values, negative radii and row counts that do not match.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 0], [0, 0]])
        >>> land.sweep_spheres([(0.5, 3, 0.5, 1), (0.5, 9, 0.5, 1)], [(0, -4, 0)]).fraction
        array([0.5, nan])
        """
        rows = sphere_rows("spheres", spheres)
        return self._sweep_rows(SPHERE, "spheres", rows, motions, threads)

    def sweep_capsules(
        self, capsules: Any, motions: Any, *, threads: int | None = None
    ) -> SweepHits:
        """Return where n moving capsules first touch the ground.

        Parameters
        ----------
        capsules : array_like, shape (n, 7) or (1, 7)
            Both ends of the axis, and the radius, in meters; radius >= 0.
        motions : array_like, shape (n, 3) or (1, 3)
            Straight ways, in meters.
        threads : int, optional
            How many threads work; see `Surface`.

        Returns
        -------
        SweepHits
            By the rules of `sweep`.

        Raises
        ------
        ValueError
            For other shapes, non-finite values, negative radii and row counts that do not match.
        """
        rows = capsule_rows("capsules", capsules)
        return self._sweep_rows(CAPSULE, "capsules", rows, motions, threads)

    def sweep_obbs(
        self,
        centers: Any,
        half_extents: Any,
        rotations: Any,
        motions: Any,
        *,
        threads: int | None = None,
    ) -> SweepHits:
        """Return where n moving boxes first touch the ground.

        Any of the arrays may have one row, which then serves for all.

        Parameters
        ----------
        centers, half_extents : array_like, shape (n, 3) or (1, 3)
            In meters; half extents >= 0.
        rotations : array_like, shape (n, 3, 3) or (1, 3, 3)
            Orthonormal matrices with the box axes as columns.
        motions : array_like, shape (n, 3) or (1, 3)
            Straight ways, in meters.
        threads : int, optional
            How many threads work; see `Surface`.

        Returns
        -------
        SweepHits
            By the rules of `sweep`.

        Raises
        ------
        ValueError
            For other shapes, non-finite values, negative half extents, matrices that are no
            rotations and row counts that do not match.
        """
        rows = box_rows(centers, half_extents, rotations)
        return self._sweep_rows(BOX, "boxes", rows, motions, threads)

    def sweep_many(
        self,
        shapes: ArrayLike | Shape | Sequence[Shape],
        motions: Any,
        *,
        threads: int | None = None,
    ) -> SweepHits:
        """Return where moving shapes first touch the ground.

        Parameters
        ----------
        shapes : array_like of shape (n, 4), or one or more shapes of one kind
            As for `contacts`.
        motions : array_like, shape (n, 3) or (1, 3)
            Straight ways, in meters.
        threads : int, optional
            How many threads work; see `Surface`.

        Returns
        -------
        SweepHits
            By the rules of `sweep`.

        Raises
        ------
        TypeError
            For other shapes, and for shapes of several kinds.
        """
        kind, rows = rows_of("shapes", shapes)
        return self._sweep_rows(kind, "shapes", rows, motions, threads)

    def _sweep_rows(
        self, kind: int, name: str, rows: Floats, motions: Any, threads: int | None
    ) -> SweepHits:
        ways = _checks.points("motions", motions)
        count = _checks.common_length(**{name: rows, "motions": ways})
        return self._queries.sweeps(kind, rows, ways, count, threads)

    # Closest points

    def closest_point(self, point: Any) -> ClosestPoint:
        """Return the point of the ground closest to a point.

        Parameters
        ----------
        point : three numbers
            In meters.

        Returns
        -------
        ClosestPoint
            Of triangles equally near the first by row, column and half of a map, or by id. Where a
            map has no ground at all the point is NaN and the distance infinite.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> HeightMap([[1, 1], [1, 1]]).closest_point((0.25, 3, 0.5))
        ClosestPoint(point=vec3( 0.25, 1, 0.5 ), distance=2.0, triangle=1, material=0)
        """
        return self._queries.closest_point(_checks.vector("point", point))

    def closest_points(self, points: ArrayLike, *, threads: int | None = None) -> ClosestPoints:
        """Return the points of the ground closest to n points.

        Parameters
        ----------
        points : array_like, shape (n, 3)
            In meters.
        threads : int, optional
            How many threads work; see `Surface`.

        Returns
        -------
        ClosestPoints
            By the rules of `closest_point`, in float64.

        Raises
        ------
        ValueError
            For another shape and values that are not finite.
        """
        return self._queries.closest_points(_checks.points("points", points), threads)

    @property
    def version(self) -> int:
        """How many edits there were; of a ground in all its parts."""
        return self._queries.version


def queries_of(ground: Surface) -> Queries:
    """Return what answers for a ground, for those that ask with checked arguments."""
    return ground._queries  # noqa: SLF001 the one door

"""The questions that every ground answers, checked and documented once."""

import math
from collections.abc import Sequence
from math import inf
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from terrain_physics._kernels._quick import OF_PYTHON, slots
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.surface.shapes import FARTHEST
from terrain_physics._kernels.types import Floats
from terrain_physics._public import PublicType, public, quick
from terrain_physics._support import checks
from terrain_physics._support.checks import MOST_RESULTS, Floats3
from terrain_physics._support.threads import Workers
from terrain_physics.geometry.shapes import AABB, Ray
from terrain_physics.surface.contact_buffer import ContactBuffer, room_in
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.ground_state import GroundState, Keeper
from terrain_physics.surface.limits import (
    checked_places,
    motion_of,
    ray_of,
    reach_behind_ray,
    refuse_far,
    refuse_far_number,
    refuse_far_row,
)
from terrain_physics.surface.naming import NO_NAMES
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
    named,
    named_hit,
)
from terrain_physics.surface.shape_rows import Boxes, Capsules, Spheres
from terrain_physics.surface.shapes import (
    SHAPES,
    ManyShapes,
    Shape,
    row_of,
    rows_of,
)

_Many = NDArray[Any] | Sequence[float]
_Point = glm.vec3 | glm.dvec3 | tuple[float, float, float]
_Points = NDArray[Any] | Sequence[Sequence[float] | NDArray[Any] | glm.vec3 | glm.dvec3]
_Rows = NDArray[Any] | Sequence[Sequence[float]]

# A place with a smaller square is not too far. Asking for the square first is quick.
_SURELY_NEAR = FARTHEST * FARTHEST / 10.0


@public
class Surface(metaclass=PublicType):
    """The questions that `HeightMap`, `TriangleMesh` and `Ground` answer.

    Triangles have ids. On a map, a triangle's id is 2 * (row * columns + column) + half, and -1
    outside the map. On a mesh it is the index of the face. On a `Ground` a triangle's id is its id
    in its part plus the part's key times 2^40. Touching is contact.

    A question about one place or shape gives one answer, or None; a question about many gives
    arrays. Large arrays are shared by one thread per processor, or by ``threads`` threads; small
    ones take one thread. The answers for many equal the single answers bit for bit, for any number
    of threads.

    Arrays are in memory: lazy arrays of Dask are refused by name. ``dask.array.map_blocks`` asks
    block by block.

    Bad arguments raise ValueError or TypeError, which name the argument, the rule and the value.
    Coordinates and sizes must be below 1e38 m, so that float32 vectors hold the answers. The boxes
    of `triangles_in` and `triangles_in_many` are only regions to search, and may be of any size.

    The parts of a `Ground` are on layers, and each question has a ``mask``: 32 bits each, from the
    whole number 0 to 0xFFFF_FFFF. It is answered as if the ground had only the parts for which
    ``layers & mask`` is not 0. If there are none, there are no triangles. A map or a mesh by itself
    has the layers 1.
    """

    __slots__ = ("__weakref__", "_queries")

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
    def height_at(self, x: float, z: float, *, mask: int = ...) -> float: ...
    @overload
    def height_at(
        self, x: _Many, z: _Many | float, *, threads: int | None = ..., mask: int = ...
    ) -> Floats: ...
    @overload
    def height_at(
        self, x: float, z: _Many, *, threads: int | None = ..., mask: int = ...
    ) -> Floats: ...
    @quick
    def height_at(
        self,
        x: Any,
        z: Any,
        _more: Any = None,
        mask: int = ALL_LAYERS,
        threads: int | None = None,
    ) -> Any:
        """Return the height of the highest surface in meters.

        Parameters
        ----------
        x, z : float or array_like
            The place in meters, x first; arrays are broadcast. A map's samples
            ``land[row, column]`` have the other order: the row runs along z, the column along x.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.
        threads : int, optional
            Number of threads for arrays; see `Surface`.

        Returns
        -------
        float or ndarray of float64
            On a map exactly the height of the triangle there. NaN where there is no triangle: in
            holes, outside an open border, beside a mesh.

        Raises
        ------
        ValueError
            For NaN and infinity, and shapes that do not fit.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 4], [0, 4]])
        >>> land.height_at(0.25, 0.5)
        1.0
        >>> land.height_at([0.25, 0.5], 0.5)
        array([1., 2.])
        """
        queries = self._queries
        if _more is not None or mask is not ALL_LAYERS or threads is not None:
            queries = self._asked_at(_more, mask, threads)
        if type(x) is type(z) is float and x * x + z * z < _SURELY_NEAR:
            return queries.height(x, z)
        if isinstance(x, (float, int)) and isinstance(z, (float, int)):
            return queries.height(_place("x", x), _place("z", z))
        xs, zs = checked_places(x, z)
        heights = queries.heights(xs.ravel(), zs.ravel(), threads)
        return heights.reshape(xs.shape) if xs.ndim else float(heights[0])

    @overload
    def normal_at(self, x: float, z: float, *, mask: int = ...) -> glm.vec3: ...
    @overload
    def normal_at(
        self, x: _Many, z: _Many | float, *, threads: int | None = ..., mask: int = ...
    ) -> Floats: ...
    @overload
    def normal_at(
        self, x: float, z: _Many, *, threads: int | None = ..., mask: int = ...
    ) -> Floats: ...
    @quick
    def normal_at(
        self,
        x: Any,
        z: Any,
        _more: Any = None,
        mask: int = ALL_LAYERS,
        threads: int | None = None,
    ) -> Any:
        """Return the unit normal of the highest surface.

        Parameters
        ----------
        x, z : float or array_like
            The place in meters, x first; arrays are broadcast.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.
        threads : int, optional
            Number of threads for arrays; see `Surface`.

        Returns
        -------
        glm.vec3 or ndarray of float64, shape (..., 3)
            The normal of the triangle's front, which on a mesh may point down. Where several
            triangles meet, that of one of them. Where parts of a ground are equally high, that of
            the first part; united maps rank as the first of them. NaN where there is no triangle.

        Raises
        ------
        ValueError
            For NaN and infinity, and shapes that do not fit.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 0], [0, 0]])
        >>> land.normal_at(0.25, 0.5)
        vec3( 0, 1, 0 )
        >>> land.normal_at([0.25], 0.5)
        array([[0., 1., 0.]])
        """
        queries = self._queries
        if _more is not None or mask is not ALL_LAYERS or threads is not None:
            queries = self._asked_at(_more, mask, threads)
        if type(x) is type(z) is float and x * x + z * z < _SURELY_NEAR:
            return queries.normal(x, z)
        if isinstance(x, (float, int)) and isinstance(z, (float, int)):
            return queries.normal(_place("x", x), _place("z", z))
        xs, zs = checked_places(x, z)
        normals = queries.normals(xs.ravel(), zs.ravel(), threads)
        return normals.reshape(*xs.shape, 3) if xs.ndim else glm.vec3(normals[0])

    # Triangles in boxes

    def triangles_in(self, aabb: AABB, *, margin: float = 0.1, mask: int = ALL_LAYERS) -> Triangles:
        """Return the triangles within a box.

        Parameters
        ----------
        aabb : AABB
            In meters.
        margin : float, default 0.1
            The box is widened by this much on every side, in meters; >= 0.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.

        Returns
        -------
        Triangles
            On a map: both triangles of each cell whose box (its area by its span of heights) meets
            the widened box, by row, column and half; triangles outside the map have the id -1. On a
            mesh: each triangle whose box does, by id. On a ground: part by part. Boxes that touch
            meet.

        Raises
        ------
        TypeError
            If ``aabb`` is not an `AABB`.
        ValueError
            For more than 20 million triangles, and for a box over more than 100 million cells of a
            map.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[0, 0], [0, 0]], origin=(x, 0, 0)) for x in (0, 1)]
        >>> Ground(tiles).triangles_in(AABB((1.5, 0, 0), (2, 0, 1))).ids
        array([1099511627776, 1099511627777])
        """
        checks.instance("aabb", aabb, AABB)
        wider = checks.non_negative("margin", margin)
        x0, y0, z0 = aabb.lower64
        x1, y1, z1 = aabb.upper64
        lower, upper = (x0 - wider, y0 - wider, z0 - wider), (x1 + wider, y1 + wider, z1 + wider)
        found = self._filtered(mask).triangles_in(lower, upper)
        if found is None:
            raise ValueError(f"aabb must hold at most {MOST_RESULTS} triangles, got {aabb}")
        return found

    def triangles_in_many(
        self,
        lowers: ArrayLike,
        uppers: ArrayLike,
        *,
        margin: float = 0.1,
        max_results: int = MOST_RESULTS,
        mask: int = ALL_LAYERS,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ids of the triangles within each of n boxes.

        Parameters
        ----------
        lowers, uppers : array_like, shape (n, 3) or (1, 3)
            Corners in meters, lower <= upper.
        margin : float, default 0.1
            The boxes are widened by this much on every side, in meters; >= 0.
        max_results : int, default 20 million
            More ids than this, of all boxes together, are refused before memory is gone.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.

        Returns
        -------
        offsets : ndarray of int64, shape (n + 1,)
            Box i has the ids from ``offsets[i]`` to before ``offsets[i + 1]``.
        ids : ndarray of int64
            By the rule and in the order of `triangles_in`; -1 outside a map.

        Raises
        ------
        ValueError
            For other shapes, non-finite values, row counts that do not match, a lower corner above
            its upper one, a box over more than 100 million cells of a map, and more than
            ``max_results``.
        """
        most = checks.most_results(max_results)
        wider = checks.non_negative("margin", margin)
        low, high = checks.points("lowers", lowers), checks.points("uppers", uppers)
        count = checks.common_length(lowers=low, uppers=high)
        low, high = np.broadcast_to(low, (count, 3)), np.broadcast_to(high, (count, 3))
        for row, axis in np.argwhere(low > high)[:1].tolist():
            raise ValueError(
                f"lowers must be <= uppers, got {low[row, axis]} > {high[row, axis]} in row {row}"
            )
        boxes = np.concatenate([low - wider, high + wider], axis=1).reshape(-1)
        boxes.flags.writeable = False
        return self._filtered(mask).triangle_ids_in(boxes, most)

    # Rays

    @overload
    def raycast(self, ray: Ray, max_distance: float = ..., *, mask: int = ...) -> RayHit | None: ...
    @overload
    def raycast(
        self, origin: Any, direction: Any, max_distance: float = ..., *, mask: int = ...
    ) -> RayHit | None: ...
    @quick  # type: ignore[misc]  # an argument has another name in each form
    def raycast(
        self,
        ray: Any = None,
        direction: Any = None,
        max_distance: float = math.inf,
        _more: Any = None,
        mask: int = ALL_LAYERS,
        origin: Any = None,
    ) -> RayHit | None:
        """Return the first hit of a ray on the ground, from either side.

        Ask by ``raycast(ray)`` or by ``raycast(origin, direction)``. Sides and undersides of maps
        are hit from outside only, see `HeightMap`.

        Parameters
        ----------
        ray : Ray
            Origin in meters, and direction. An origin and a direction are as a Ray of them.
        direction : three numbers
            Of any length but zero, behind an origin; a `Ray` has its own.
        max_distance : float, default inf
            Reach of the ray in meters, >= 0; a hit at that distance counts. It is the next number
            behind the ray, or behind the direction.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.
        origin : three numbers
            In meters; the name of the first argument where it is no `Ray`.

        Returns
        -------
        RayHit or None
            ``None`` if the ray hits nothing. A ray that starts on the ground hits at distance 0. If
            several triangles are hit at the same distance, the first by row, column and half (map)
            or by id. But a vertical ray hits a map exactly at `height_at`, on the triangle of
            `normal_at`: between cells, in that of higher row and column that has ground (on the far
            border in the last one), and on a diagonal the second half. No other ray passes between
            two adjacent triangles. A ray in the plane of a triangle hits where it enters the
            triangle. On a `TiledGround` that waits for tiles, a hit may be `RayHit.unknown`.

        Raises
        ------
        TypeError
            For neither a `Ray` nor an origin with a direction, and a ``max_distance`` that is not a
            number.
        ValueError
            For a negative distance or NaN, a direction of length zero, and for an origin at 1e38 m
            or beyond.

        Notes
        -----
        An extended map reaches up to 1e15 cells for rays of any length.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap, TriangleMesh
        >>> land = HeightMap([[0, 0, 0], [0, 2, 0], [0, 0, 0]])
        >>> hit = land.raycast(Ray((-1, 1, 1), (1, 0, 0)))
        >>> hit.distance, hit.point, hit.triangle
        (1.5, vec3( 0.5, 1, 1 ), 0)
        >>> land.raycast((-1, 1, 1), (1, 0, 0)) == hit
        True
        >>> land.raycast((1, 5, 1), (0, -1, 0), max_distance=2) is None
        True
        >>> roof = TriangleMesh([(0, 3, 0), (0, 3, 2), (2, 3, 0)], [(0, 1, 2)])
        >>> Ground([land, roof]).raycast(Ray((0.5, 5, 0.5), (0, -1, 0))).triangle
        1099511627776
        """
        if type(ray) is not Ray or origin is not None or _more is not None:
            start, way, max_distance = ray_of(ray, direction, max_distance, _more, origin)
        else:
            start, way = ray.origin64, ray.direction64
            if type(direction) is float and max_distance is inf:
                max_distance = direction
            elif direction is not None:
                max_distance = reach_behind_ray(direction, max_distance)
        if max_distance is not inf:
            max_distance = checks.between("max_distance", max_distance, 0.0, math.inf)
        x, y, z = start
        if not x * x + y * y + z * z < _SURELY_NEAR:  # a NaN must not pass
            refuse_far_row("ray", start)
        queries = self._queries if mask is ALL_LAYERS else self._filtered(mask)
        if queries.naming is NO_NAMES:
            return queries.ray(start, way, max_distance)
        return named_hit(*queries.with_names(lambda: queries.ray(start, way, max_distance)))

    def raycast_many(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_distance: ArrayLike = math.inf,
        *,
        threads: int | None = None,
        mask: int = ALL_LAYERS,
    ) -> RayHits:
        """Return the first hits of n rays on the ground.

        Parameters
        ----------
        origins : array_like, shape (n, 3) or (1, 3)
            In meters.
        directions : array_like, shape (n, 3) or (1, 3)
            Of any length but zero; distances are in meters all the same.
        max_distance : float or array_like, shape (n,), default inf
            Reach of the rays in meters, for all or for each; >= 0.
        threads : int, optional
            Number of threads; see `Surface`.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.

        Returns
        -------
        RayHits
            By the rules of `raycast`, in float64. A ray missed if its distance is NaN; an id of -1
            alone means a hit outside the map.

        Raises
        ------
        ValueError
            For other shapes, non-finite values, zero directions, distances that are negative or
            NaN, row counts that do not match, and for an origin at 1e38 m or beyond.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 0], [0, 0]])
        >>> land.raycast_many([(0.5, 3, 0.5), (9, 3, 9)], [(0, -2, 0)]).distance
        array([3., 3.])
        >>> land.raycast_many([(0.5, 3, 0.5)], [(0, -2, 0)], [4, 2]).distance  # a limit for each
        array([ 3., nan])
        """
        starts = checks.points("origins", origins)
        units = checks.directions("directions", directions)
        longest = checks.ray_limits("max_distance", max_distance)
        checks.common_length(origins=starts, directions=units, max_distance=longest)
        refuse_far("origins", starts)
        queries = self._filtered(mask)
        return named(*queries.with_names(lambda: queries.rays(starts, units, longest, threads)))

    # Contacts

    @quick
    def contacts(
        self,
        shapes: ManyShapes,
        *,
        keep: str = "all",
        threads: int | None = None,
        max_results: int = MOST_RESULTS,
        mask: int = ALL_LAYERS,
        out: ContactBuffer | None = None,
    ) -> Contacts:
        """Return the contacts of shapes with the triangles.

        Each triangle is tested by itself, by the rules of `intersect_sphere_triangle` and its
        counterparts. Those of the surface of a height map are solid from above only; those of a
        mesh have two sides, but lead the shapes out whose middle is inside of a solid mesh or on a
        face of one: a push that would lead further in goes through the face. Touching is contact.

        Sides and undersides of maps (see `HeightMap`) are touched by shapes with a center outside
        of the ground; such a shape does not touch the surface from behind. A side of a cell has one
        contact, the deepest of its triangles.

        What is all inside of something solid, far from its faces, has no contact: `contains` tells
        that it is there. In a map, whose way out is up, only the surface counts as a face; a solid
        mesh leads out by whichever of its faces is touched.

        Parameters
        ----------
        shapes : Spheres, Capsules, Boxes, array_like of shape (n, 4), or shapes of one kind
            An array is spheres, in rows x, y, z, radius in meters. A `Sphere`, `Capsule`, `OBB` or
            `AABB` may stand alone or in a sequence.
        keep : {"all", "deepest"}, default "all"
            All contacts, or only the deepest of each shape (the first, if several are equally
            deep). If the middle of a shape is in a map, that is below its surface and above its
            underside, only contacts whose normals lead up count, as they lead out; if there are
            none, all count.
        threads : int, optional
            Number of threads; see `Surface`.
        max_results : int, default 20 million
            More contacts than this, of all shapes together, are refused before memory is gone.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.
        out : ContactBuffer, optional
            Memory for the contacts of many shapes; faster for a game that asks about 100,000 again
            and again. They last until the buffer's next use.

        Returns
        -------
        Contacts
            Ordered by shape, then on a map by row, column and half, on a mesh by id, and on a
            ground part by part. The point is the triangle's nearest one to the center of a sphere
            or a box, or to the axis of a capsule. If several points are equally near to the axis,
            it is the one nearest to its start, then to its end, then one on the edges a-b, b-c and
            c-a.

        Raises
        ------
        TypeError
            For shapes of different kinds (the message names the first that differs), for anything
            that is not a shape, and for an ``out`` that is no buffer.
        ValueError
            For rows of another width, non-finite values, negative radii, a shape over more than 100
            million cells of a map, for a shape at 1e38 m or beyond, for more contacts than
            ``max_results``, and for a buffer that another call is writing to.

        Examples
        --------
        >>> from terrain_physics import Capsules, HeightMap
        >>> land = HeightMap([[0, 0], [0, 0]], border="open")
        >>> found = land.contacts([(0.25, 0.5, 0.25, 1), (0.25, 2, 0.25, 1)])
        >>> found.query, found.triangle, found.depth
        (array([0, 0]), array([0, 1]), array([0.38762756, 0.5       ]))
        >>> land.contacts(Capsules([(0.5, 0.75, 0.5, 0.5, 3, 0.5, 1)])).depth
        array([0.25, 0.25])
        """
        if keep != "all":
            checks.choice("keep", keep, ("all", "deepest"))
        if max_results is not MOST_RESULTS:
            max_results = checks.most_results(max_results)
        if isinstance(shapes, SHAPES):
            if threads is not None:
                Workers(threads)  # refuses a value that is no number of threads
            if out is not None:
                checks.instance("out", out, ContactBuffer)
            queries = self._queries if mask is ALL_LAYERS else self._filtered(mask)
            if queries.naming is NO_NAMES:
                return queries.contacts_of_one(shapes, keep, max_results)
            return named(
                *queries.with_names(lambda: queries.contacts_of_one(shapes, keep, max_results))
            )
        kind, rows = rows_of("shapes", shapes)
        queries = self._filtered(mask)
        with room_in(out) as room:
            return named(
                *queries.with_names(
                    lambda: queries.contacts(kind, rows, keep, threads, max_results, room)
                )
            )

    def contact_counts(
        self,
        shapes: ManyShapes,
        *,
        threads: int | None = None,
        mask: int = ALL_LAYERS,
    ) -> NDArray[np.int64]:
        """Return the number of triangles that each shape touches.

        Parameters
        ----------
        shapes, threads, mask
            As for `contacts`.

        Returns
        -------
        ndarray of int64, shape (n,)

        Raises
        ------
        TypeError, ValueError
            As `contacts`.
        """
        kind, rows = rows_of("shapes", shapes)
        return self._filtered(mask).contact_counts(kind, rows, threads)

    @overload
    def touches(self, shapes: Shape, *, threads: int | None = ..., mask: int = ...) -> bool: ...
    @overload
    def touches(
        self,
        shapes: Spheres | Capsules | Boxes | Sequence[Shape] | _Rows,
        *,
        threads: int | None = ...,
        mask: int = ...,
    ) -> NDArray[np.bool_]: ...
    @quick
    def touches(
        self, shapes: Any, *, threads: int | None = None, mask: int = ALL_LAYERS
    ) -> bool | NDArray[np.bool_]:
        """Tell whether a shape touches the ground, or which of n shapes do.

        A shape touches where `contacts` has a contact of it: touching counts, a map's surface is
        solid from above, and what is all inside of something solid, far from its faces, touches
        nothing. There `contains` says more.

        Parameters
        ----------
        shapes : Sphere, Capsule, OBB or AABB, or many as for `contacts`
            One shape, or many of one kind.
        threads : int, optional
            Number of threads; see `Surface`.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.

        Returns
        -------
        bool or ndarray of bool, shape (n,)
            One answer for a shape that stands alone.

        Raises
        ------
        TypeError, ValueError
            As `contacts`.

        Examples
        --------
        >>> from terrain_physics import HeightMap, Sphere
        >>> land = HeightMap([[0, 0], [0, 0]])
        >>> land.touches(Sphere((0.5, 1, 0.5), 1))
        True
        >>> land.touches([(0.5, 1, 0.5, 1), (0.5, 2, 0.5, 1)])  # rows x, y, z, radius
        array([ True, False])
        """
        if isinstance(shapes, SHAPES):
            if threads is not None:
                Workers(threads)  # refuses a value that is no number of threads
            queries = self._queries if mask is ALL_LAYERS else self._filtered(mask)
            return len(queries.contacts_of_one(shapes, "deepest", MOST_RESULTS)) > 0
        return self.contact_counts(shapes, threads=threads, mask=mask) > 0

    # Moving shapes

    @overload
    def sweep(self, shape: Shape, motion: Any, *, mask: int = ...) -> SweepHit | None: ...
    @overload
    def sweep(
        self, shape: Shape, direction: Any, *, max_distance: float, mask: int = ...
    ) -> SweepHit | None: ...
    @quick  # type: ignore[misc]  # an argument has another name in each form
    def sweep(
        self,
        shape: Shape,
        motion: Any = None,
        *,
        direction: Any = None,
        max_distance: float | None = None,
        mask: int = ALL_LAYERS,
    ) -> SweepHit | None:
        """Return the first touch of a moving shape with the ground.

        Ask by ``sweep(shape, motion)``, or by ``sweep(shape, direction, max_distance=meters)``.

        The ground is touched from above and from below, sides and undersides of maps from outside.
        A shape that touches at the start is stopped at fraction 0 if it moves further in, and is
        free to move out or along. A motion is along a surface if it leads into the surface by less
        than a millionth of its length, as perpendicular motions and normals in float32 differ by
        that much. So a shape sliding over level ground is stopped neither by the ground nor by the
        edge of the next triangle. A touch at an edge or a corner with a normal that leads into a
        neighbor counts as a touch of the face.

        Parameters
        ----------
        shape : Sphere, Capsule, OBB or AABB
            The shape at its start.
        motion : three numbers
            Displacement in meters, along a straight line; the shape does not turn. With
            ``max_distance``, it is a direction of any length but zero.
        direction : three numbers
            Another name for it then.
        max_distance : float, optional
            How far the shape moves in that direction, in meters, >= 0 and finite.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.

        Returns
        -------
        SweepHit or None
            ``None`` if nothing stops the shape. If several triangles are touched after the same
            distance, the first by row, column and half (map) or by id. On a `TiledGround` that
            waits for tiles, a hit may be `SweepHit.unknown`.

        Raises
        ------
        TypeError
            For anything that is not a shape or not three numbers, for a direction without a
            ``max_distance``, and for a motion and a direction.
        ValueError
            For a motion that is not finite, a direction of length zero, and a shape or a motion at
            1e38 m or beyond.

        Notes
        -----
        On a map, a shape with its middle below the surface may move out through the front. A shape
        that touches from below by less than a thousandth of its size is stopped there.

        A mesh is a skin with two sides. A shape that touches it at the start is stopped if it moves
        further in from the side it is on, and is free to leave on that side, however deep it is.
        The side is that of the sphere's center, or of the point of the capsule's axis nearest to
        the face (of the axis' middle if the axis passes through the face); for a box, the side with
        the shortest way out. The first sweep also finds the `TriangleMesh.neighbors`. Where more
        than two faces share an edge, each face is treated by itself.

        Examples
        --------
        >>> from terrain_physics import HeightMap, Sphere
        >>> land = HeightMap([[0, 0], [0, 0]])
        >>> hit = land.sweep(Sphere((0.5, 3, 0.5), 1), (0, -4, 0))
        >>> hit.fraction, hit.point, hit.normal
        (0.5, vec3( 0.5, 0, 0.5 ), vec3( 0, 1, 0 ))
        >>> land.sweep(Sphere((0.5, 1, 0.5), 1), (5, 0, 0)) is None
        True
        >>> land.sweep(Sphere((0.5, 3, 0.5), 1), (0, -1, 0), max_distance=4).distance
        2.0
        """
        kind, numbers = row_of("shape", shape)
        if max_distance is None and direction is None:
            along = checks.vector("motion", motion)
        else:
            along = motion_of(motion, direction, max_distance)
        refuse_far_row("shape", numbers)
        refuse_far_row("motion", along)
        queries = self._queries if mask is ALL_LAYERS else self._filtered(mask)
        if queries.naming is NO_NAMES:
            return queries.sweep(kind, numbers, along)
        return named_hit(*queries.with_names(lambda: queries.sweep(kind, numbers, along)))

    def sweep_many(
        self,
        shapes: ManyShapes,
        motions: ArrayLike,
        *,
        threads: int | None = None,
        mask: int = ALL_LAYERS,
    ) -> SweepHits:
        """Return the first touches of moving shapes with the ground.

        Parameters
        ----------
        shapes : Spheres, Capsules, Boxes, array_like of shape (n, 4), or shapes of one kind
            As for `contacts`.
        motions : array_like, shape (n, 3) or (1, 3)
            Displacements in meters, along straight lines.
        threads : int, optional
            Number of threads; see `Surface`.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.

        Returns
        -------
        SweepHits
            By the rules of `sweep`.

        Raises
        ------
        TypeError
            For shapes of different kinds (the message names the first that differs) and for
            anything that is not a shape.
        ValueError
            For arrays of other shapes, non-finite values, negative radii, row counts that do not
            match, and shapes or motions at 1e38 m or beyond.
        """
        kind, rows = rows_of("shapes", shapes)
        displacements = checks.points("motions", motions)
        checks.common_length(shapes=rows, motions=displacements)
        refuse_far("motions", displacements)
        queries = self._filtered(mask)
        return named(
            *queries.with_names(lambda: queries.sweeps(kind, rows, displacements, threads))
        )

    # Closest points

    @quick
    def closest_point(self, point: Any, *, mask: int = ALL_LAYERS) -> ClosestPoint:
        """Return the point of the ground closest to a point.

        Parameters
        ----------
        point : three numbers
            In meters.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.

        Returns
        -------
        ClosestPoint
            If several triangles are equally near, the first by row, column and half (map) or by id.
            Where there are no triangles, the point is NaN, the distance infinite and the id -1.

        Raises
        ------
        TypeError
            If ``point`` is not three numbers.
        ValueError
            For another number of values, non-finite values, and a point at 1e38 m or beyond.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> HeightMap([[1, 1], [1, 1]]).closest_point((0.25, 3, 0.5))
        ClosestPoint(point=vec3( 0.25, 1, 0.5 ), distance=2.0, triangle=1, material=0)
        """
        place = checks.vector("point", point)
        refuse_far_row("point", place)
        queries = self._queries if mask is ALL_LAYERS else self._filtered(mask)
        if queries.naming is NO_NAMES:
            return queries.closest_point(place)
        return named_hit(*queries.with_names(lambda: queries.closest_point(place)))

    def closest_points(
        self, points: ArrayLike, *, threads: int | None = None, mask: int = ALL_LAYERS
    ) -> ClosestPoints:
        """Return the points of the ground closest to n points.

        Parameters
        ----------
        points : array_like, shape (n, 3)
            In meters.
        threads : int, optional
            Number of threads; see `Surface`.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.

        Returns
        -------
        ClosestPoints
            By the rules of `closest_point`, in float64.

        Raises
        ------
        ValueError
            For another shape, non-finite values, and a point at 1e38 m or beyond.
        """
        places = checks.points("points", points)
        refuse_far("points", places)
        queries = self._filtered(mask)
        return named(*queries.with_names(lambda: queries.closest_points(places, threads)))

    # Inside

    @overload
    def contains(self, points: _Point, *, threads: int | None = ..., mask: int = ...) -> bool: ...
    @overload
    def contains(
        self, points: _Points, *, threads: int | None = ..., mask: int = ...
    ) -> NDArray[np.bool_]: ...
    @quick
    def contains(
        self, points: Any, *, threads: int | None = None, mask: int = ALL_LAYERS
    ) -> bool | NDArray[np.bool_]:
        """Tell whether a point is in something solid, or which of n points are.

        Solid are a map below its surface, as deep as its thickness, and a closed mesh made with
        ``solid=True``. Any other mesh is a skin, with no inside. Points on a surface, also on a
        skin, are in it. The answer is exact for meshes.

        Parameters
        ----------
        points : three numbers, or array_like, shape (n, 3)
            One point or many, in meters.
        threads : int, optional
            Number of threads; see `Surface`.
        mask : int, default 0xFFFF_FFFF
            Layers to ask, a bit for each; see `Surface`.

        Returns
        -------
        bool or ndarray of bool, shape (n,)

        Raises
        ------
        TypeError
            For anything that is not numbers.
        ValueError
            For another shape, non-finite values, and a point at 1e38 m or beyond.

        Examples
        --------
        >>> from terrain_physics import TriangleMesh
        >>> crate = TriangleMesh.box((2, 2, 2), solid=True)
        >>> crate.contains((0, 0, 0))
        True
        >>> crate.contains([(0, 0, 0), (1, 0, 0), (2, 0, 0)])
        array([ True,  True, False])
        """
        if threads is None and _is_one(points):
            return self._filtered(mask).contains_one(_one_place(points))
        places, is_one = _one_or_many(points)
        inside = self._filtered(mask).contains(places, threads)
        return bool(inside[0]) if is_one else inside

    @overload
    def signed_distance(
        self, points: _Point, *, threads: int | None = ..., mask: int = ...
    ) -> float: ...
    @overload
    def signed_distance(
        self, points: _Points, *, threads: int | None = ..., mask: int = ...
    ) -> Floats: ...
    @quick
    def signed_distance(
        self, points: Any, *, threads: int | None = None, mask: int = ALL_LAYERS
    ) -> float | Floats:
        """Return the distance of points to the surface in meters: below 0 in something solid.

        The sign is that of `contains`: a distance is 0 on a surface, and only that of a point in a
        map or in a solid mesh is negative.

        Parameters
        ----------
        points, threads, mask
            As for `contains`.

        Returns
        -------
        float or ndarray of float64, shape (n,)
            In a map, the distance to its surface, its underside or a side, whichever is nearest. In
            several solid parts of a ground, or solid meshes, that in the one which the point is
            deepest in. Infinite where there are no triangles.

        Raises
        ------
        TypeError, ValueError
            As `contains`.

        Examples
        --------
        >>> from terrain_physics import TriangleMesh
        >>> crate = TriangleMesh.box((2, 2, 2), solid=True)
        >>> crate.signed_distance((0, 0.75, 0))
        -0.25
        >>> crate.signed_distance([(1, 0, 0), (4, 0, 0)])
        array([0., 3.])
        """
        if threads is None and _is_one(points):
            return self._filtered(mask).signed_distance(_one_place(points))
        places, is_one = _one_or_many(points)
        distances = self._filtered(mask).signed_distances(places, threads)
        return float(distances[0]) if is_one else distances

    def _filtered(self, mask: int) -> Queries:
        """Return the queries that a mask filters."""
        if mask is ALL_LAYERS:
            return self._queries
        return self._queries.filtered(checks.whole("mask", mask, 0, ALL_LAYERS))

    def _asked_at(self, third: Any, mask: int, threads: int | None) -> Queries:
        """Return as `_filtered`; refuse a third number, and a bad number of threads."""
        if third is not None:
            raise TypeError(
                "heights and normals are asked for by (x, z), without a height, and mask by name, "
                f"got a third number: {checks.shorten(third)}"
            )
        if threads is not None:
            Workers(threads)  # refuses a value that is no number of threads
        return self._filtered(mask)

    @property
    def version(self) -> int:
        """The number of edits so far; for a ground, in all its parts. It never goes back."""
        return self._queries.version

    # State

    def state(self) -> GroundState:
        """Return what the ground holds now, to go back to.

        That is each edit and refit, and for a `Ground` which parts there are, their names and
        layers, where they are and how they move, and the key of the next one.

        Returns
        -------
        GroundState
            Quick to make, whatever the size of the ground: nothing is copied but the places of
            moved parts. From then on each edit keeps what it replaces, as long as a state needs it.

        Raises
        ------
        RuntimeError
            As `restore`.

        See Also
        --------
        World : keeps a ground, characters and groups together.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0] * 5] * 5)
        >>> before = land.state()
        >>> land.carve((2, 2), radius=2, depth=1)
        >>> after = land.state()
        >>> land.restore(before)
        >>> land.height_at(2, 2)
        0.0
        >>> land.restore(after)
        >>> land.height_at(2, 2)
        -1.0
        """
        return self._kept().state()

    def restore(self, state: GroundState) -> None:
        """Go back to a state, or forward to a later one, bit for bit.

        Other threads see the whole change at once; a long question that has begun keeps the ground
        it began with. A restore counts as an edit: `version` rises, and `HeightMap.changes_since`
        gives the regions that look different. Characters near a difference wake. Those that are
        put back to the same moment go on as they did then, sleepers too.

        Parameters
        ----------
        state : GroundState
            Of this very ground, as `state` returned it; in any order, as often as wanted.

        Raises
        ------
        TypeError, ValueError
            For anything else, and a state of another ground. Nothing has changed then.
        RuntimeError
            Inside a change or an update of characters of the same thread, such as from a signal
            handler that interrupted it. Nothing has changed then.
        """
        self._kept().restore(state)

    def _kept(self) -> Keeper:
        """Return what keeps the states of this ground."""
        queries, keeper = self._queries, self._queries.keeper
        if keeper is None:
            with queries.lock:  # another thread may make one
                keeper = queries.keeper = queries.keeper or self._new_keeper()
        return keeper

    def _new_keeper(self) -> Keeper:
        """Return what will keep the states of this ground."""
        raise NotImplementedError


def _place(name: str, value: Any) -> float:
    """Return one coordinate of a place on the ground."""
    number = checks.finite(name, value)
    refuse_far_number(name, number)
    return number


def _one_or_many(points: Any) -> tuple[Floats, bool]:
    """Return points (n, 3), read-only, and whether it is one that was given as three numbers."""
    is_one = _is_one(points)
    if is_one:
        places = np.array([checks.vector("points", points)])
    else:
        places = checks.points("points", points)
    refuse_far("points", places)
    places.setflags(write=False)
    return places, is_one


def _is_one(points: Any) -> bool:
    """Tell whether points are one that is given as three numbers."""
    if type(points) is tuple and len(points) == 3 and type(points[0]) is float:
        return True  # a missing attribute is slow
    try:
        return hasattr(points, "x") or (np.ndim(points) == 1 and len(points) > 0)
    except ValueError:  # rows of different lengths
        return False


def _one_place(point: Any) -> Floats3:
    place = checks.vector("points", point)
    refuse_far_row("points", place)
    return place


def queries_of(ground: Surface) -> Queries:
    """Return the queries behind a ground, for callers that have checked their arguments."""
    return ground._queries  # noqa: SLF001 the one door


KEPT_BY_ENTRIES = (
    *(glm.vec3, Surface, *slots(Surface, "_queries"), *OF_PYTHON),
    *(GroundArrays, *slots(GroundArrays, "table")),
)
"""What all entries in C know: see ``_build/quick/``."""

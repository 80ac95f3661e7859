"""A loose octree, a broad phase of spheres or boxes: pairs, objects nearby, hits of rays."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._kernels.octree.pairs import (
    GATHERED,
    ROW_BITS,
    ROW_MASK,
    overlapping_pairs,
    split_keys,
)
from terrain_physics._kernels.octree.queries import first_hits, overlapping_objects
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._public import PublicType, public, quick
from terrain_physics._support import checks
from terrain_physics._support.checks import MOST_RESULTS
from terrain_physics.geometry.shapes import AABB, Ray, Sphere
from terrain_physics.octree.forest import MOST_ROWS
from terrain_physics.octree.objects import (
    OctreeObjects,
    box_rows,
    point_rows,
    refuse_far,
    shape_row,
    sphere_rows,
)

_KEYS = 2048  # the least room for keys: more than a kernel adds at a time


@public
class OctreeHit(NamedTuple):
    """The first object that a ray meets.

    Attributes
    ----------
    distance : float
        Along the ray from its origin, in meters; 0 if the ray starts inside.
    object_id : int
        The id of the object.
    """

    distance: float
    object_id: int


@public
class Octree(OctreeObjects, metaclass=PublicType):
    """Many spheres, or many axis-aligned boxes, that may be inserted, removed and moved.

    Objects have ids. Those given to the constructor are 0, 1, 2 and so on in their order; objects
    inserted later get the next ids. The id of a removed object is not used again.

    Touching is overlapping. Spheres overlap if ``dx * dx + dy * dy + dz * dz <= (r1 + r2) ** 2``,
    computed in float64 in this order. Boxes overlap if neither lies beyond the other on any axis. A
    sphere and a box follow the rule for spheres, with the sphere's radius and the vector from its
    center to the nearest point of the box.

    The center of an object decides its cell, which is no smaller than the object, even if the
    object lies across the border of two cells. Small and large objects may be mixed.

    Parameters
    ----------
    centers : array_like, shape (n, 3)
        In meters, none beyond 1e100; n may be 0.
    radii : array_like, shape (n,), or float
        In meters, >= 0; one number serves for all.
    bounds : AABB, optional
        Where most objects will be: the cells divide the smallest cube around its center that
        holds it. Objects elsewhere are found as well. Default: the box around all objects given.
    max_depth : int, default 100
        How many times the cube may be halved, 0 to 1000. Objects that still share a cell then are
        all compared with each other. The default separates micrometers in a cube of 10^23 meters;
        cells with a single child take no memory.
    leaf_capacity : int, default 16
        A cell with no more objects than this is not divided; 1 or more.

    Raises
    ------
    ValueError, TypeError
        For other shapes, numbers that are not finite or too large, and negative radii.

    See Also
    --------
    Octree.from_aabbs : an octree of boxes.

    Notes
    -----
    Building takes O(n log n) steps if the objects are spread out, never more than O(n) for each
    level, and O(n) memory. `overlapping_pairs` then takes little more than O(n log n) steps and one
    for each pair, even for objects along a line or a plane and for very different sizes.

    Changes are recorded at once and take effect with the next query: changed objects get a small
    tree of their own, and trees of similar size are merged. On average an object is built into a
    tree O(log n) times for each change; many changes at once cost no more than building anew.

    Any number of threads may run queries at once while nothing is changed: after a change the
    first query updates the trees, and the others wait for it. A change must not run at the same
    time as a query or another change.

    Examples
    --------
    >>> octree = Octree([(0, 0, 0), (-0.5, -0.5, -0.5), (0.1, 0.2, 0.3)], [0.9, 0.1, 0.3])
    >>> octree.overlapping_pairs()
    array([[0, 1],
           [0, 2]])
    >>> octree.move(1, Sphere((5, 0, 0), 0.1))
    >>> octree.overlapping_pairs()
    array([[0, 2]])
    >>> octree.raycast(Ray((9, 0, 0), (-1, 0, 0)))
    OctreeHit(distance=3.9, object_id=1)
    """

    def __init__(
        self,
        centers: Any,
        radii: Any,
        *,
        bounds: AABB | None = None,
        max_depth: int = 100,
        leaf_capacity: int = 16,
    ) -> None:
        places = point_rows("centers", centers)
        sizes = checks.array("radii", radii, (None,), ())
        if sizes.ndim == 1 and len(sizes) != len(places):
            raise ValueError(
                f"centers and radii must be equally many, got {len(places)} and {len(sizes)}"
            )
        sizes = np.broadcast_to(sizes, len(places)).reshape(-1, 1)
        checks.refuse_negative("radius", "radii", sizes)
        refuse_far("radii", sizes)
        rows = np.concatenate([places, sizes], axis=1)
        super().__init__(rows, bounds, max_depth, leaf_capacity)

    @classmethod
    def from_aabbs(
        cls,
        lowers: Any,
        uppers: Any,
        *,
        bounds: AABB | None = None,
        max_depth: int = 100,
        leaf_capacity: int = 16,
    ) -> Self:
        """Return an octree of boxes.

        Parameters
        ----------
        lowers, uppers : array_like, shape (n, 3)
            Corners in meters, ``lowers <= uppers``, none beyond 1e100.
        bounds : AABB, optional
            As in `Octree`.
        max_depth : int, default 100
            As in `Octree`.
        leaf_capacity : int, default 16
            As in `Octree`.

        Returns
        -------
        Octree
            Its `insert` and `move` take `AABB` instead of `Sphere`.

        Raises
        ------
        ValueError, TypeError
            As `Octree`, and for a lower coordinate greater than the upper one.

        Examples
        --------
        >>> walls = Octree.from_aabbs([(0, 0, 0), (1, 0, 0)], [(1, 2, 1), (3, 1, 1)])
        >>> walls.overlapping_pairs()
        array([[0, 1]])
        >>> walls.query_sphere(Sphere((3, 2, 0), 1))
        array([1])
        """
        octree = cls.__new__(cls)
        rows = box_rows("lowers", lowers, "uppers", uppers)
        OctreeObjects.__init__(octree, rows, bounds, max_depth, leaf_capacity)
        return octree

    def overlapping_pairs(self, *, max_results: int = MOST_RESULTS) -> Int64s:
        """Return all pairs of objects that overlap or touch, each once.

        Parameters
        ----------
        max_results : int, default 20 million
            More pairs than this are refused before memory is gone.

        Returns
        -------
        ndarray of int64, shape (m, 2)
            Ids, the lesser one first; sorted by the first, then by the second.

        Raises
        ------
        ValueError
            For more pairs than ``max_results``.
        """
        most, arrays = checks.most_results(max_results), self._forest.arrays()

        def add(node: int, count: int, keys: Int64s) -> tuple[int, int]:
            node, count, _ = overlapping_pairs(arrays, node, count, 0, keys)
            return node, count

        keys = _collected(add, len(arrays.spans), 8 * len(self), "pairs", most, GATHERED)
        keys.sort()
        pairs = np.empty((len(keys), 2), dtype=np.int64)
        split_keys(keys, self._forest.ids, pairs)
        return pairs

    def count_pair_tests(self) -> int:
        """Return how many pairs `overlapping_pairs` compares: those that overlap or nearly do.

        Returns
        -------
        int
            At most ``n * (n - 1) / 2``: every object compared with every other one.
        """
        _, _, tests = overlapping_pairs(self._forest.arrays(), 0, 0, 0, np.empty(0, np.int64))
        return tests

    @quick
    def query_sphere(self, sphere: Sphere) -> Int64s:
        """Return the objects that a sphere overlaps or touches.

        Parameters
        ----------
        sphere : Sphere
            In meters, within 1e100 of 0; it need not be within the bounds.

        Returns
        -------
        ndarray of int64, shape (m,)
            Ids, ascending.

        Raises
        ------
        ValueError, TypeError
            For anything but a `Sphere`, and a sphere too far away.
        """
        return self._forest.ids[self._met(shape_row("sphere", sphere, Sphere))]

    @quick
    def query_aabb(self, aabb: AABB) -> Int64s:
        """Return the objects that a box overlaps or touches.

        Parameters
        ----------
        aabb : AABB
            In meters, within 1e100 of 0; it need not be within the bounds.

        Returns
        -------
        ndarray of int64, shape (m,)
            Ids, ascending.

        Raises
        ------
        ValueError, TypeError
            For anything but an `AABB`, and a box too far away.
        """
        return self._forest.ids[self._met(shape_row("aabb", aabb, AABB))]

    def query_spheres_many(
        self, spheres: Any, *, max_results: int = MOST_RESULTS
    ) -> tuple[Int64s, Int64s]:
        """Return the objects that each of q spheres overlaps or touches.

        Parameters
        ----------
        spheres : array_like, shape (q, 4)
            x, y, z, radius in meters; radius >= 0.
        max_results : int, default 20 million
            More ids than this, of all spheres together, are refused before memory is gone.

        Returns
        -------
        offsets : ndarray of int64, shape (q + 1,)
            Query i has the ids ``ids[offsets[i] : offsets[i + 1]]``.
        ids : ndarray of int64, shape (m,)
            Ascending for each query.

        Raises
        ------
        ValueError, TypeError
            For other shapes, numbers that are not finite or beyond 1e100, negative radii, and more
            ids than ``max_results``.

        Examples
        --------
        >>> octree = Octree([(0, 0, 0), (3, 0, 0)], 1)
        >>> octree.query_spheres_many([(1.5, 0, 0, 0.5), (9, 0, 0, 1), (3, 0, 0, 0)])
        (array([0, 2, 2, 3]), array([0, 1, 1]))
        """
        return self._met_by_each(sphere_rows("spheres", spheres), max_results)

    def query_aabbs_many(
        self, lowers: Any, uppers: Any, *, max_results: int = MOST_RESULTS
    ) -> tuple[Int64s, Int64s]:
        """Return the objects that each of q boxes overlaps or touches.

        Parameters
        ----------
        lowers, uppers : array_like, shape (q, 3)
            Corners in meters, ``lowers <= uppers``.
        max_results : int, default 20 million
            More ids than this, of all boxes together, are refused before memory is gone.

        Returns
        -------
        offsets : ndarray of int64, shape (q + 1,)
            Query i has the ids ``ids[offsets[i] : offsets[i + 1]]``.
        ids : ndarray of int64, shape (m,)
            Ascending for each query.

        Raises
        ------
        ValueError, TypeError
            For other shapes, numbers that are not finite or beyond 1e100, a lower coordinate
            greater than the upper one, and more ids than ``max_results``.
        """
        return self._met_by_each(box_rows("lowers", lowers, "uppers", uppers), max_results)

    def _met_by_each(self, queries: Floats, max_results: int) -> tuple[Int64s, Int64s]:
        keys = self._met(queries, checks.most_results(max_results))
        offsets = np.searchsorted(keys >> ROW_BITS, np.arange(len(queries) + 1))
        return offsets, self._forest.ids[keys & ROW_MASK]

    def _met(self, queries: Floats, most: int = MOST_ROWS) -> Int64s:
        """Return sorted keys: the query in the high bits, the row in the low bits.

        The keys of a single query are its rows.
        """
        queries.setflags(write=False)  # kernels are compiled for read-only arrays
        arrays = self._forest.arrays()

        def add(query: int, count: int, keys: Int64s) -> tuple[int, int]:
            query, count = overlapping_objects(arrays, queries, query, count, keys)
            return query, count

        leaf = len(arrays.rows)  # of all objects, at most
        keys = _collected(add, len(queries), 4 * len(queries), "ids", most, leaf)
        keys.sort()
        return keys

    @quick
    def raycast(self, ray: Ray, max_distance: float = math.inf) -> OctreeHit | None:
        """Return the first object that a ray meets.

        Parameters
        ----------
        ray : Ray
            Starts within 1e100 of 0.
        max_distance : float, default inf
            How far to look, in meters, inclusive.

        Returns
        -------
        OctreeHit or None
            Distance and id; distance 0 if the ray starts inside. Of equally near objects, the one
            with the least id. ``None`` if the ray meets no object.

        Raises
        ------
        ValueError, TypeError
            For anything but a `Ray`, a ray that starts too far away, and distances that are
            negative or NaN.
        """
        checks.instance("ray", ray, Ray)
        origin = np.array([ray.origin64])
        refuse_far("ray", origin)
        limit = checks.between("max_distance", max_distance, 0.0, math.inf)
        distances, ids = self._first_met(origin, np.array([ray.direction64]), np.array([limit]))
        if ids[0] < 0:
            return None
        return OctreeHit(float(distances[0]), int(ids[0]))

    def raycast_many(
        self, origins: Any, directions: Any, max_distance: ArrayLike = math.inf
    ) -> tuple[Floats, Int64s]:
        """Return the first object that each of q rays meets.

        Parameters
        ----------
        origins : array_like, shape (q, 3) or (1, 3)
            In meters.
        directions : array_like, shape (q, 3) or (1, 3)
            Of any length but zero.
        max_distance : float or array_like, shape (q,), default inf
            How far to look, in meters, inclusive: all rays or each.

        Returns
        -------
        distances : ndarray of float64, shape (q,)
            In meters, by the rules of `raycast`; NaN where nothing is met.
        ids : ndarray of int64, shape (q,)
            -1 where nothing is met.

        Raises
        ------
        ValueError, TypeError
            For other shapes, numbers that are not finite or beyond 1e100, zero directions, and
            distances that are negative or NaN.
        """
        origin_rows = point_rows("origins", origins)
        units = checks.directions("directions", directions)
        limits = checks.ray_limits("max_distance", max_distance)
        return self._first_met(origin_rows, units, limits)

    def _first_met(
        self, origins: Floats, directions: Floats, limits: Floats
    ) -> tuple[Floats, Int64s]:
        for rows in (origins, directions, limits):
            rows.setflags(write=False)  # kernels are compiled for read-only arrays
        count = checks.common_length(origins=origins, directions=directions, max_distance=limits)
        distances, nearest = np.empty(count), np.empty(count, dtype=np.int64)
        first_hits(self._forest.arrays(), origins, directions, limits, distances, nearest)
        met = nearest >= 0
        nearest[met] = self._forest.ids[nearest[met]]
        return distances, nearest


def _collected(
    add: Callable[[int, int, Int64s], tuple[int, int]],
    steps: int,
    room: int,
    what: str,
    most: int,
    spare: int,
) -> Int64s:
    """Return the keys that a kernel adds in steps; refuse more than ``most``.

    The kernel gets a step, the number of keys so far, and an array for keys. It returns the step
    that it had no room for, and the number of keys. A step has room if the array takes ``spare``
    more keys than the step adds.
    """
    keys = np.empty(min(room + _KEYS, most + spare), dtype=np.int64)
    step, count = add(0, 0, keys)
    while step < steps:
        left = most + spare - len(keys)
        if left == 0:
            raise checks.too_many(what, most)
        keys = np.concatenate([keys, np.empty(min(len(keys), left), dtype=np.int64)])
        step, count = add(step, count, keys)
    checks.refuse_more(what, count, most)
    return keys[:count]

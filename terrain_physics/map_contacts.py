"""Contacts of many shapes with a height map, as arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics import _arrays
from terrain_physics._kernels._jit import Direct
from terrain_physics._kernels.map_one_ball import ball_contacts
from terrain_physics._kernels.map_shapes import BALL, BOX, CAPSULE
from terrain_physics._kernels.map_triangles import list_triangles
from terrain_physics.contacts import Contacts
from terrain_physics.map_contact_parts import Query
from terrain_physics.map_data import MapData
from terrain_physics.shapes import AABB, OBB, Capsule, Sphere
from terrain_physics.workers import Workers

_ONE_BALL = Direct(ball_contacts)

_Shape = Sphere | Capsule | OBB | AABB
_IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


class MapContacts(MapData):
    """The questions to a height map that are answered with `terrain_physics.Contacts`."""

    __slots__ = ()

    def contacts(
        self,
        shapes: ArrayLike | _Shape | Sequence[_Shape],
        *,
        keep: str = "all",
        threads: int | None = None,
    ) -> Contacts:
        """Return the contacts of shapes with the triangles of the map.

        Each triangle is asked alone, by the rules of `intersect_sphere_triangle` and its like, and
        solid from above only. Touching is contact.

        Parameters
        ----------
        shapes : array_like of shape (n, 4), or one or more shapes of one kind
            Rows x, y, z, radius in meters; or a `Sphere`, `Capsule`, `OBB` or `AABB`, or a sequence
            of them.
        keep : {"all", "deepest"}, default "all"
            All contacts, or of each shape the deepest, the first of those equally deep.
        threads : int, optional
            How many threads to use. Default: as many as there are processors. The answer does not
            depend on it.

        Returns
        -------
        Contacts
            Ordered by shape, row, column and half.

        Raises
        ------
        TypeError
            For shapes of different kinds, naming the first other, and for things that are no
            shapes.
        ValueError
            For values that are not finite or negative where they must not be, and for a shape over
            more than 100 million cells.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 0], [0, 0]], border="open")
        >>> found = land.contacts([(0.25, 0.5, 0.25, 1), (0.25, 2, 0.25, 1)])
        >>> found.query, found.triangle, found.depth
        (array([0, 0]), array([0, 1]), array([0.38762756, 0.5       ]))
        """
        if type(shapes) is Sphere and keep == "all":
            found = self._of_one_ball(shapes)
            if found is not None:
                return found
        kind, bodies = _bodies_of(shapes)
        return self._contacts(kind, bodies, keep, threads)

    def sphere_contacts(
        self, spheres: ArrayLike, *, keep: str = "all", threads: int | None = None
    ) -> Contacts:
        """Return the contacts of balls with the triangles of the map.

        Parameters
        ----------
        spheres : array_like, shape (n, 4)
            Rows x, y, z, radius in meters; radius >= 0.
        keep, threads
            As for `contacts`.

        Returns
        -------
        Contacts
            Ordered by ball, row, column and half. The point is the triangle's nearest to the
            center.
        """
        return self._contacts(BALL, _arrays.spheres("spheres", spheres), keep, threads)

    def capsule_contacts(
        self, capsules: ArrayLike, *, keep: str = "all", threads: int | None = None
    ) -> Contacts:
        """Return the contacts of capsules with the triangles of the map.

        Parameters
        ----------
        capsules : array_like, shape (n, 7)
            Rows of both ends of the axis and the radius, in meters; radius >= 0.
        keep, threads
            As for `contacts`.

        Returns
        -------
        Contacts
            Ordered by capsule, row, column and half. The point is the triangle's nearest to the
            axis; of several that of the axis' start, its end, then those on edges a-b, b-c, c-a.
        """
        rows = _arrays.array("capsules", capsules, (None, 7))
        _arrays.refuse_negative("radius", "capsules", rows[:, 6:])
        return self._contacts(CAPSULE, rows, keep, threads)

    def obb_contacts(
        self,
        centers: ArrayLike,
        half_extents: ArrayLike,
        rotations: ArrayLike,
        *,
        keep: str = "all",
        threads: int | None = None,
    ) -> Contacts:
        """Return the contacts of turned boxes with the triangles of the map.

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
            Ordered by box, row, column and half. The point is the triangle's nearest to the center.
        """
        center_rows = _arrays.points("centers", centers)
        half_rows = _arrays.array("half_extents", half_extents, (None, 3))
        _arrays.refuse_negative("half extent", "half_extents", half_rows)
        turns = _arrays.rotations("rotations", rotations).reshape(-1, 9)
        count = _arrays.common_length(centers=center_rows, half_extents=half_rows, rotations=turns)
        bodies = np.empty((count, BOX))
        bodies[:, :3], bodies[:, 3:6], bodies[:, 6:] = center_rows, half_rows, turns
        return self._contacts(BOX, bodies, keep, threads)

    def contact_counts(
        self, shapes: ArrayLike | _Shape | Sequence[_Shape], *, threads: int | None = None
    ) -> NDArray[np.int64]:
        """Return how many triangles of the map each shape touches.

        Parameters
        ----------
        shapes, threads
            As for `contacts`.

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        with Workers(threads) as workers, self.reading() as views:
            return Query(views, *_bodies_of(shapes), None).counts(workers)

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
            By the rule and in the order of `triangles_in`; -1 outside the map.

        Raises
        ------
        ValueError
            For a lower corner above its upper one, and for a box over more than 100 million cells.
        """
        wider = _arrays.non_negative("margin", margin)
        low, high = _arrays.points("lowers", lowers), _arrays.points("uppers", uppers)
        count = _arrays.common_length(lowers=low, uppers=high)
        low, high = np.broadcast_to(low, (count, 3)), np.broadcast_to(high, (count, 3))
        for row, axis in np.argwhere(low > high)[:1].tolist():
            raise ValueError(
                f"lowers must be <= uppers, got {low[row, axis]} > {high[row, axis]} in row {row}"
            )
        boxes = np.concatenate([low - wider, high + wider], axis=1).reshape(-1)
        boxes.flags.writeable = False
        offsets = np.zeros(count + 1, dtype=np.int64)
        with self.reading() as views:
            total, ids = list_triangles(*views, boxes, offsets)
        if total < 0:
            raise ValueError(f"boxes must be over at most 100 million cells, got box {-1 - total}")
        return offsets, ids[:total]

    def _of_one_ball(self, sphere: Sphere) -> Contacts | None:
        """Return the contacts of a small ball, without the ways of many; None for a large one."""
        x, y, z = sphere.center64
        with self._lock:
            if self._materials is not None:
                return None
            heights, cells, _, frame = self._views
            ints, floats = _ONE_BALL.call(heights, cells, frame, x, y, z, sphere.radius)
        return None if ints.size == 2 and ints[0, 0] < 0 else Contacts(ints, floats)

    def _contacts(
        self, kind: int, bodies: NDArray[np.float64], keep: str, threads: int | None
    ) -> Contacts:
        deepest = _arrays.choice("keep", keep, ("all", "deepest")) == "deepest"
        with Workers(threads) as workers, self.reading() as views:
            has_materials = self._materials is not None
            query = Query(views, kind, bodies, self.cell_count if has_materials else None)
            ints, floats, cells = (query.deepest if deepest else query.contacts)(workers)
        return Contacts(ints, floats, self._materials_at(cells) if has_materials else None)

    def _materials_at(self, cells: NDArray[np.int64]) -> NDArray[np.uint8] | None:
        """Return what cells are made of."""
        with self._lock:
            if self._materials is None:
                return None
            made_of: NDArray[np.uint8] = self._materials.reshape(-1)[cells]
        return made_of


def _bodies_of(shapes: Any) -> tuple[int, NDArray[np.float64]]:
    """Return (kind, one row for each shape)."""
    if isinstance(shapes, (Sphere, Capsule, OBB, AABB)):
        shapes = [shapes]
    if not isinstance(shapes, (list, tuple)) or not any(
        isinstance(shape, (Sphere, Capsule, OBB, AABB)) for shape in shapes
    ):
        return BALL, _arrays.spheres("shapes", shapes)
    first = type(shapes[0])
    for place, shape in enumerate(shapes):
        if type(shape) is not first:
            raise TypeError(
                f"shapes must be of one kind, got {first.__name__} and, at [{place}], "
                f"{_arrays.shorten(shape)}"
            )
    rows = [_body_of(shape) for shape in shapes]
    bodies = np.array(rows)
    bodies.flags.writeable = False
    return bodies.shape[1], bodies


def _body_of(shape: _Shape) -> tuple[float, ...]:
    """Return a shape as the row that kernels take."""
    if isinstance(shape, Sphere):
        return (*shape.center64, shape.radius)
    if isinstance(shape, Capsule):
        return (*shape.a64, *shape.b64, shape.radius)
    if isinstance(shape, OBB):
        return (*shape.center64, *shape.half_extents64, *shape.rotation64)
    lower, upper = shape.lower64, shape.upper64
    # Halved first: the sum of two large numbers may overflow.
    middle = (0.5 * low + 0.5 * high for low, high in zip(lower, upper, strict=True))
    half = (0.5 * high - 0.5 * low for low, high in zip(lower, upper, strict=True))
    return (*middle, *half, *_IDENTITY)

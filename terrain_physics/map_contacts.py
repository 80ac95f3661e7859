"""Contacts of many shapes with a height map, as arrays."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics import _arrays
from terrain_physics._kernels import map_contact_rows as row_kernels
from terrain_physics._kernels._jit import Direct
from terrain_physics._kernels.map_find import find_contacts
from terrain_physics._kernels.map_one_ball import ball_contacts
from terrain_physics._kernels.map_shapes import BALL, BOX, CAPSULE
from terrain_physics._kernels.map_triangles import list_triangles
from terrain_physics.contacts import Contacts
from terrain_physics.map_data import KernelArrays, MapData
from terrain_physics.shapes import AABB, OBB, Capsule, Sphere
from terrain_physics.workers import Workers

_ONE_BALL = Direct(ball_contacts)

# Shapes that a thread should get at once: less is not worth the handing over.
_LEAST = 1024
# Touches written at once, by the same reckoning.
_LEAST_TOUCHES = 8192

_Shape = Sphere | Capsule | OBB | AABB
# How many touches, which shape, row, code: see `find_contacts`.
_Found = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

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
        kind, bodies = _bodies_of(shapes)
        with Workers(threads) as workers, self.reading() as views:
            found = _find(workers, views, kind, bodies)
        who = [part[1][: part[0]] for part in found]
        return np.bincount(np.concatenate([*who, _NONE]), minlength=len(bodies))

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
        with Workers(threads) as workers:
            with self.reading() as views:
                found = _find(workers, views, kind, bodies)
                put = _put_deepest if deepest else _put_all
                ints, floats, found = put(workers, views, kind, bodies.reshape(-1), found)
            return Contacts(ints, floats, self._materials_of(found))

    def _materials_of(self, found: list[_Found]) -> NDArray[np.uint8] | None:
        """Return what the cells of the touches found are made of."""
        if self._materials is None:
            return None
        rows, columns = self.cell_count
        places = [np.empty(part[0], dtype=np.int64) for part in found]
        for (_, _, row, code), out in zip(found, places, strict=True):
            row_kernels.put_nearest_cells(rows, columns, row, code, out)
        with self._lock:
            made_of: NDArray[np.uint8] = self._materials.reshape(-1)[
                np.concatenate([*places, _NONE])
            ]
        return made_of


_NONE = np.empty(0, dtype=np.int64)


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


def _by_kind(
    kind: int, bodies: NDArray[np.float64]
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Return (balls, capsules, boxes) for a kernel."""
    return (
        bodies if kind == BALL else None,
        bodies if kind == CAPSULE else None,
        bodies if kind == BOX else None,
    )


def _find(
    workers: Workers, views: KernelArrays, kind: int, bodies: NDArray[np.float64]
) -> list[_Found]:
    """Return the touches, in the ranges that the threads worked on."""
    flat = bodies.reshape(-1)
    flat.flags.writeable = False

    def find(first: int, last: int) -> _Found:
        return find_contacts(*views, *_by_kind(kind, flat), first, last)

    found: list[_Found] = workers.run(find, len(bodies), _LEAST)
    for count, *_ in found:
        if count < 0:
            raise ValueError(
                f"shapes must be over at most 100 million cells, got shape {-1 - count}"
            )
    return found


def _put_all(
    workers: Workers,
    views: KernelArrays,
    kind: int,
    bodies: NDArray[np.float64],
    found: list[_Found],
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[_Found]]:
    """Return (ints, floats, the touches that they tell of)."""
    heights, cells, _, frame = views
    starts = list(accumulate((part[0] for part in found), initial=0))
    ints, floats = np.empty((2, starts[-1]), dtype=np.int64), np.empty((3, starts[-1], 3))
    flat_ints, flat_floats = ints.reshape(-1), floats.reshape(-1)

    def put(first: int, last: int) -> None:
        for part in range(first, last):
            count, who, row, code = found[part]
            row_kernels.put_contacts(
                heights, cells, frame, *_by_kind(kind, bodies), who, row, code,
                flat_ints, flat_floats, starts[part], count,
            )  # fmt: skip

    workers.run(put, len(found), 1)
    return ints, floats, found


def _put_deepest(
    workers: Workers,
    views: KernelArrays,
    kind: int,
    bodies: NDArray[np.float64],
    found: list[_Found],
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[_Found]]:
    """Return the same of the deepest touch of each shape."""
    heights, cells, _, frame = views

    def put(first: int, last: int) -> list[Any]:
        results = []
        for part in range(first, last):
            who, row, code = (values[: found[part][0]] for values in found[part][1:])
            size = int(np.count_nonzero(np.diff(who, prepend=-1)))
            places = np.empty(size, dtype=np.int64)
            ints, floats = np.empty((2, size), dtype=np.int64), np.empty((3, size, 3))
            row_kernels.put_deepest(
                heights, cells, frame, *_by_kind(kind, bodies), who, row, code,
                places, ints.reshape(-1), floats.reshape(-1),
            )  # fmt: skip
            kept = (size, who[places], row[places], code[places])
            results.append((ints, floats, kept))
        return results

    parts = [part for results in workers.run(put, len(found), 1) for part in results]
    return (
        np.concatenate([np.empty((2, 0), dtype=np.int64), *(part[0] for part in parts)], axis=1),
        np.concatenate([np.empty((3, 0, 3)), *(part[1] for part in parts)], axis=1),
        [part[2] for part in parts],
    )

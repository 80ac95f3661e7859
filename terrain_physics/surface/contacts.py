"""The questions about contacts of many shapes, for ground of any kind: shapes in, as rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics import _checks
from terrain_physics._kernels.surface.shape_rows import BALL, BOX, CAPSULE
from terrain_physics._kernels.types import Floats
from terrain_physics._threads import Workers
from terrain_physics.geometry.shapes import AABB, OBB, Capsule, Sphere
from terrain_physics.surface.results import Contacts

Shape = Sphere | Capsule | OBB | AABB
_SHAPES = (Sphere, Capsule, OBB, AABB)

_IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


class ShapeContacts:
    """The questions that are answered with `terrain_physics.Contacts`."""

    __slots__ = ()

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
            How many threads to use. Default: as many as there are processors. The answer does not
            depend on it.

        Returns
        -------
        Contacts
            Ordered by shape, then as ids are: on a map by row, column and half.

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
        if isinstance(shapes, _SHAPES):
            if threads is not None:
                Workers(threads)  # refuses what is no number of threads
            found = self.contacts_of_one(shapes, keep)
            if found is not None:
                return found
        kind, bodies = _bodies_of(shapes)
        return self.contacts_of_rows(kind, bodies, keep, threads)

    def sphere_contacts(
        self, spheres: ArrayLike, *, keep: str = "all", threads: int | None = None
    ) -> Contacts:
        """Return the contacts of balls with the triangles.

        Parameters
        ----------
        spheres : array_like, shape (n, 4)
            Rows x, y, z, radius in meters; radius >= 0.
        keep, threads
            As for `contacts`.

        Returns
        -------
        Contacts
            Ordered by ball, then as in `contacts`. The point is the triangle's nearest to the
            center.
        """
        rows = _checks.spheres("spheres", spheres)
        return self.contacts_of_rows(BALL, rows, keep, threads)

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
        rows = _checks.array("capsules", capsules, (None, 7))
        _checks.refuse_negative("radius", "capsules", rows[:, 6:])
        return self.contacts_of_rows(CAPSULE, rows, keep, threads)

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
        center_rows = _checks.points("centers", centers)
        half_rows = _checks.array("half_extents", half_extents, (None, 3))
        _checks.refuse_negative("half extent", "half_extents", half_rows)
        turns = _checks.rotations("rotations", rotations).reshape(-1, 9)
        count = _checks.common_length(centers=center_rows, half_extents=half_rows, rotations=turns)
        bodies = np.empty((count, BOX))
        bodies[:, :3], bodies[:, 3:6], bodies[:, 6:] = center_rows, half_rows, turns
        return self.contacts_of_rows(BOX, bodies, keep, threads)

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
        kind, bodies = _bodies_of(shapes)
        return self.counts_of_rows(kind, bodies, threads)

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
        return self.triangles_in_rows(boxes)

    def contacts_of_one(self, shape: Shape, keep: str) -> Contacts | None:
        """Return the contacts of one shape; None where there is no quicker way than for many."""
        raise NotImplementedError

    def contacts_of_rows(
        self,
        kind: int,
        bodies: Floats,
        keep: str,
        threads: int | None,
    ) -> Contacts:
        """Return the contacts of rows of one kind, all or the deepest of each."""
        raise NotImplementedError

    def counts_of_rows(self, kind: int, bodies: Floats, threads: int | None) -> NDArray[np.int64]:
        """Return how many triangles each row touches."""
        raise NotImplementedError

    def triangles_in_rows(self, boxes: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the offsets and ids of boxes: lower and upper corners, flat."""
        raise NotImplementedError


def by_kind(kind: int, bodies: Floats) -> tuple[Floats | None, Floats | None, Floats | None]:
    """Return (balls, capsules, boxes) for a kernel, flat and read-only."""
    flat = bodies if bodies.ndim == 1 else bodies.reshape(-1)
    flat.setflags(write=False)
    return (
        flat if kind == BALL else None,
        flat if kind == CAPSULE else None,
        flat if kind == BOX else None,
    )


def _bodies_of(shapes: Any) -> tuple[int, NDArray[np.float64]]:
    """Return (kind, one row for each shape)."""
    if isinstance(shapes, _SHAPES):
        shapes = [shapes]
    if not isinstance(shapes, (list, tuple)) or not any(
        isinstance(shape, _SHAPES) for shape in shapes
    ):
        return BALL, _checks.spheres("shapes", shapes)
    first = type(shapes[0])
    for place, shape in enumerate(shapes):
        if type(shape) is not first:
            raise TypeError(
                f"shapes must be of one kind, got {first.__name__} and, at [{place}], "
                f"{_checks.shorten(shape)}"
            )
    rows = [row_of(shape) for shape in shapes]
    bodies = np.array(rows)
    bodies.flags.writeable = False
    return bodies.shape[1], bodies


def row_of(shape: Shape) -> tuple[float, ...]:
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

"""The objects of an octree: spheres or boxes with ids, inserted, removed and moved."""

from typing import Any

import numpy as np

from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._support import checks
from terrain_physics.geometry.shapes import AABB, Sphere
from terrain_physics.octree.forest import Forest

_FARTHEST = 1e100  # meters; products of such lengths stay finite
_MOST_HALVINGS = 1000
_LAST_ID = 2**62
_NO_IDS = np.empty(0, dtype=np.int64)


class OctreeObjects:
    """The objects of an `Octree`: spheres (n, 4) or boxes (n, 6), their ids and changes."""

    def __init__(
        self, rows: Floats, bounds: AABB | None, max_depth: int, leaf_capacity: int
    ) -> None:
        max_depth = checks.whole("max_depth", max_depth, 0, _MOST_HALVINGS)
        leaf_capacity = checks.whole("leaf_capacity", leaf_capacity, 1, 2**31 - 1)
        if bounds is None:
            bounds = _bounds_of(rows)  # with a large radius, this may lie a little beyond _FARTHEST
        else:
            checks.instance("bounds", bounds, AABB)
            refuse_far("bounds", np.array([bounds.lower64, bounds.upper64]))
        lower, upper = np.array(bounds.lower64), np.array(bounds.upper64)
        cube = np.append(0.5 * lower + 0.5 * upper, 0.5 * (upper - lower).max())
        self._bounds = bounds
        self._forest = Forest(rows.shape[1], cube, max_depth, leaf_capacity)
        self._forest.insert(rows, np.arange(len(rows)))

    @property
    def bounds(self) -> AABB:
        """The box in the cube of cells: the one given, or the box around the first objects."""
        return self._bounds

    @property
    def max_depth(self) -> int:
        """How many times the cube may be halved."""
        return self._forest.max_depth

    @property
    def leaf_capacity(self) -> int:
        """How many objects a cell may hold without being divided."""
        return self._forest.leaf_capacity

    @property
    def ids(self) -> Int64s:
        """The ids of all objects, ascending; a copy."""
        return self._forest.ids[self._forest.living()]

    @property
    def _holds_spheres(self) -> bool:
        return self._forest.shapes.shape[1:] == (4,)

    def __len__(self) -> int:
        return self._forest.alive

    def __contains__(self, object_id: object) -> bool:
        try:
            self._forest.rows(_one_id(object_id))
        except (KeyError, TypeError, ValueError):
            return False
        return True

    def __repr__(self) -> str:
        kind = "spheres" if self._holds_spheres else "boxes"
        return f"<{type(self).__name__}: {len(self)} {kind}>"

    def __getstate__(self) -> tuple[Any, ...]:
        forest, living = self._forest, self._forest.living()
        return (
            forest.shapes[living],
            forest.ids[living],
            forest.next_id,
            self._bounds,
            self.max_depth,
            self.leaf_capacity,
        )

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        shapes, ids, next_id, bounds, max_depth, leaf_capacity = state
        OctreeObjects.__init__(self, shapes[:0], bounds, max_depth, leaf_capacity)
        self._forest.insert(shapes, ids)
        self._forest.next_id = next_id

    def shape_of(self, object_id: int) -> Sphere | AABB:
        """Return the current shape of an object.

        Parameters
        ----------
        object_id : int
            Its id.

        Returns
        -------
        Sphere or AABB
            In meters, as last given.

        Raises
        ------
        KeyError
            If no object has this id, or it was removed.
        """
        numbers = self._forest.shapes[self._forest.rows(_one_id(object_id))[0]].tolist()
        if self._holds_spheres:
            return Sphere(numbers[:3], numbers[3])
        return AABB(numbers[:3], numbers[3:])

    def insert(self, shape: Sphere | AABB) -> int:
        """Add an object.

        Parameters
        ----------
        shape : Sphere or AABB
            In meters, of the kind that this octree holds.

        Returns
        -------
        int
            Its id: one more than the last id.

        Raises
        ------
        ValueError, TypeError
            For another kind of shape, and numbers beyond 1e100.
        """
        row = self._row_of(shape)
        new_id = self._forest.next_id
        self._forest.insert(row, np.array([new_id]))
        return new_id

    def insert_many(self, shapes: Any) -> Int64s:
        """Add objects.

        Parameters
        ----------
        shapes : array_like, shape (n, 4) or (n, 6)
            In meters: x, y, z, radius in an octree of spheres; lower and upper corner in an octree
            of boxes.

        Returns
        -------
        ndarray of int64, shape (n,)
            Their ids, which continue from the last id.

        Raises
        ------
        ValueError, TypeError
            As the constructor; then nothing is inserted.
        """
        rows = self._checked_rows(shapes)
        ids = np.arange(self._forest.next_id, self._forest.next_id + len(rows))
        self._forest.insert(rows, ids)
        return ids.copy()

    def remove(self, object_id: int) -> None:
        """Remove an object. Its id is not used again.

        Parameters
        ----------
        object_id : int
            Its id.

        Raises
        ------
        KeyError
            If no object has this id, or it was removed.
        """
        self._forest.remove(self._forest.rows(_one_id(object_id)))

    def remove_many(self, object_ids: Any) -> None:
        """Remove objects. Their ids are not used again.

        Parameters
        ----------
        object_ids : array_like of int, shape (n,)
            Their ids, all different.

        Raises
        ------
        KeyError, ValueError, TypeError
            For an id that no object has or that is given twice; then nothing is removed.
        """
        self._forest.remove(self._forest.rows(_different_ids(object_ids)))

    def move(self, object_id: int, shape: Sphere | AABB) -> None:
        """Move an object, or change its size.

        Parameters
        ----------
        object_id : int
            Its id, which it keeps.
        shape : Sphere or AABB
            Its new shape, in meters.

        Raises
        ------
        KeyError, ValueError, TypeError
            If no object has this id, and as `insert`; then nothing is changed.
        """
        row = self._row_of(shape)
        self._forest.move(self._forest.rows(_one_id(object_id)), row)

    def move_many(self, object_ids: Any, shapes: Any) -> None:
        """Move objects, or change their sizes.

        Parameters
        ----------
        object_ids : array_like of int, shape (n,)
            Their ids, all different, which they keep.
        shapes : array_like, shape (n, 4) or (n, 6)
            Their new shapes, in meters; see `insert_many`.

        Raises
        ------
        KeyError, ValueError, TypeError
            For an id that no object has or that is given twice, and as `insert_many`; then nothing
            is changed.
        """
        ids, rows = _different_ids(object_ids), self._checked_rows(shapes)
        if len(ids) != len(rows):
            raise ValueError(
                f"object_ids and shapes must be equally many, got {len(ids)} and {len(rows)}"
            )
        self._forest.move(self._forest.rows(ids), rows)

    def _row_of(self, shape: Sphere | AABB) -> Floats:
        return shape_row("shape", shape, Sphere if self._holds_spheres else AABB)

    def _checked_rows(self, shapes: Any) -> Floats:
        if self._holds_spheres:
            return sphere_rows("shapes", shapes)
        rows = checks.array("shapes", shapes, (None, 6))
        return box_rows("shapes", rows[:, :3], "shapes", rows[:, 3:])


def shape_row(name: str, shape: Sphere | AABB, kind: type) -> Floats:
    """Return a shape of a kind as a row (1, ...), not too far away."""
    checks.instance(name, shape, kind)
    if isinstance(shape, Sphere):
        row = np.array([(*shape.center64, shape.radius)])
    else:
        row = np.array([shape.lower64 + shape.upper64])
    refuse_far(name, row)
    return row


def point_rows(name: str, value: Any) -> Floats:
    """Return points (n, 3), none too far away; an empty list has no rows."""
    rows = checks.array(name, value, (None, 3), (0,)).reshape(-1, 3)
    refuse_far(name, rows)
    return rows


def sphere_rows(name: str, value: Any) -> Floats:
    """Return spheres (n, 4): x, y, z, radius."""
    rows = checks.array(name, value, (None, 4), (0,)).reshape(-1, 4)
    checks.refuse_negative("radius", name, rows[:, 3:])
    refuse_far(name, rows)
    return rows


def box_rows(lower_name: str, lowers: Any, upper_name: str, uppers: Any) -> Floats:
    """Return boxes (n, 6): lower and upper corner."""
    lower, upper = point_rows(lower_name, lowers), point_rows(upper_name, uppers)
    if len(lower) != len(upper):
        raise ValueError(
            f"{lower_name} and {upper_name} must be equally many, got {len(lower)} and {len(upper)}"
        )
    rows = np.concatenate([lower, upper], axis=1)
    rows.setflags(write=False)
    for row, axis in np.argwhere(lower > upper)[:1]:
        raise ValueError(
            f"lower must be <= upper, got {lower[row, axis]} > {upper[row, axis]} "
            f"in {lower_name}[{row}]"
        )
    return rows


def refuse_far(name: str, rows: Floats) -> None:
    """Raise ValueError naming the first number that is too large: products might overflow."""
    if rows.max(initial=0.0) <= _FARTHEST and rows.min(initial=0.0) >= -_FARTHEST:
        return
    row, column = np.argwhere(np.abs(rows) > _FARTHEST)[0]
    raise ValueError(
        f"{name} must be within {_FARTHEST:g} of 0, got {rows[row, column]} in row {row}"
    )


def _bounds_of(rows: Floats) -> AABB:
    if len(rows) == 0:
        return AABB((0, 0, 0), (0, 0, 0))
    # By columns: many times faster than along the rows.
    columns = rows.T
    if len(columns) == 6:
        return AABB([c.min() for c in columns[:3]], [c.max() for c in columns[3:]])
    *places, radii = columns
    return AABB([(c - radii).min() for c in places], [(c + radii).max() for c in places])


def _one_id(object_id: Any) -> Int64s:
    try:
        return np.array([checks.whole("object_id", object_id, 0, _LAST_ID)])
    except ValueError:
        raise KeyError(f"no object has the id {checks.shorten(object_id)}") from None


def _different_ids(object_ids: Any) -> Int64s:
    checks.refuse_masked("object_ids", object_ids)
    ids = checks.copied("object_ids", object_ids)
    if ids.size == 0:
        return _NO_IDS
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise TypeError(
            f"object_ids must be whole numbers in one row, got {checks.shorten(object_ids)}"
        )
    for beyond in ids[ids > _LAST_ID][:1]:  # uint64 might not fit
        raise KeyError(f"no object has the id {beyond}")
    ids = ids.astype(np.int64)
    sorted_ids = np.sort(ids)
    for twice in sorted_ids[1:][sorted_ids[1:] == sorted_ids[:-1]][:1]:
        raise ValueError(f"object_ids must be all different, got {twice} twice")
    return ids

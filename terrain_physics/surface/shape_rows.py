"""Many shapes of one kind as arrays: checked once, when they are made, and read-only."""

from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._kernels.surface.shapes import BOX, BOX_WIDTH, CAPSULE, NO_TURN, SPHERE
from terrain_physics._kernels.types import Floats
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics.surface.limits import refuse_far


class CheckedShapes:
    """Rows of numbers, one for each shape; the kind says how they are read."""

    __slots__ = ("_rows",)

    _kind: ClassVar[int]
    _rows: Floats

    def _keep(self, name: str, rows: Floats) -> None:
        refuse_far(name, rows)
        object.__setattr__(self, "_rows", rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)}>"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return np.array_equal(self._rows, other._rows)

    __hash__ = None  # type: ignore[assignment] # like the arrays that it holds

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is read-only: make another")

    def __getstate__(self) -> tuple[Floats]:
        return (self._rows,)

    def __setstate__(self, state: tuple[Floats]) -> None:
        (rows,) = state
        rows.setflags(write=False)  # an array that was pickled is writable
        object.__setattr__(self, "_rows", rows)


@public
class Spheres(CheckedShapes):
    """Many spheres, for `Surface.contacts`, `Surface.contact_counts` and `Surface.sweep_many`.

    They are copied and checked once, which saves time for a game that asks about the same spheres
    again and again. ``len`` counts them.

    Parameters
    ----------
    rows : array_like, shape (n, 4)
        x, y, z, radius in meters; radius >= 0.

    Raises
    ------
    TypeError, ValueError
        For other shapes, non-finite values, negative radii, and a number at 1e38 m or beyond.

    Examples
    --------
    >>> from terrain_physics import HeightMap
    >>> land = HeightMap([[0, 0], [0, 0]], border="open")
    >>> land.contact_counts(Spheres([(0.5, 1, 0.5, 2), (0.5, 3, 0.5, 2)]))
    array([2, 0])
    """

    __slots__ = ()

    _kind = SPHERE

    def __init__(self, rows: ArrayLike) -> None:
        self._keep("rows", checks.spheres("rows", rows))

    @property
    def rows(self) -> Floats:
        """The rows x, y, z, radius (n, 4), read-only."""
        return self._rows[:]


@public
class Capsules(CheckedShapes):
    """Many capsules, for `Surface.contacts`, `Surface.contact_counts` and `Surface.sweep_many`.

    They are copied and checked once, as `Spheres` are.

    Parameters
    ----------
    rows : array_like, shape (n, 7)
        Both ends of the axis and the radius, in meters; radius >= 0.

    Raises
    ------
    TypeError, ValueError
        For other shapes, non-finite values, negative radii, and a number at 1e38 m or beyond.

    Examples
    --------
    >>> from terrain_physics import HeightMap
    >>> land = HeightMap([[0, 0], [0, 0]], border="open")
    >>> land.contacts(Capsules([(0.5, 0.5, 0.5, 0.5, 2, 0.5, 1)])).depth
    array([0.5, 0.5])
    """

    __slots__ = ()

    _kind = CAPSULE

    def __init__(self, rows: ArrayLike) -> None:
        self._keep("rows", checks.capsules("rows", rows))

    @property
    def rows(self) -> Floats:
        """The rows of both ends and the radius (n, 7), read-only."""
        return self._rows[:]


@public
class Boxes(CheckedShapes):
    """Many boxes, for `Surface.contacts`, `Surface.contact_counts` and `Surface.sweep_many`.

    They are copied and checked once, as `Spheres` are. An array of one row serves for all boxes.

    Parameters
    ----------
    centers, half_extents : array_like, shape (n, 3) or (1, 3)
        In meters; half extents >= 0.
    rotations : array_like, shape (n, 3, 3) or (1, 3, 3), optional
        Orthonormal matrices with the box axes as columns; boxes are not turned by default.

    Raises
    ------
    TypeError, ValueError
        For other shapes, non-finite values, negative half extents, matrices that are no rotations,
        row counts that do not match, and a number at 1e38 m or beyond.

    Examples
    --------
    >>> from terrain_physics import HeightMap
    >>> land = HeightMap([[0, 0], [0, 0]], border="open")
    >>> land.contact_counts(Boxes([(0.5, 1, 0.5), (0.5, 2, 0.5)], [(1, 1, 1)]))
    array([2, 0])
    """

    __slots__ = ()

    _kind = BOX

    def __init__(
        self, centers: ArrayLike, half_extents: ArrayLike, rotations: ArrayLike | None = None
    ) -> None:
        turns: Any = np.reshape(NO_TURN, (1, 3, 3)) if rotations is None else rotations
        given = checks.obbs("", centers, half_extents, turns)
        rows = np.empty((checks.common_length(**given), BOX_WIDTH))
        rows[:, :3], rows[:, 3:6] = given["centers"], given["half_extents"]
        rows[:, 6:] = given["rotations"].reshape(-1, 9)
        rows.setflags(write=False)
        self._keep("boxes", rows)

    @property
    def centers(self) -> Floats:
        """The centers (n, 3) in meters, read-only."""
        return self._rows[:, :3]

    @property
    def half_extents(self) -> Floats:
        """Half the edge lengths (n, 3) in meters, along the boxes' own axes, read-only."""
        return self._rows[:, 3:6]

    @property
    def rotations(self) -> Floats:
        """The rotations (n, 3, 3) with the box axes as columns, read-only."""
        return self._rows[:, 6:].reshape(-1, 3, 3)


def kind_and_rows(shapes: CheckedShapes) -> tuple[int, Floats]:
    """Return (kind, rows), which have been checked."""
    return shapes._kind, shapes._rows  # noqa: SLF001 of their own file

"""The owner of a component: any object of a game that has a place."""

from typing import Any

import numpy as np
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._checks import Floats3, Floats9
from terrain_physics._kernels.types import Floats


class Owner:
    """Reads and writes the place of a game's object, in the types the object uses.

    A ``transform`` wins over ``position``, ``rotation`` and ``scale``. Scale is only read; so
    is a rotation, but where the ground turns its object along.

    Attributes
    ----------
    shown : tuple of three floats
        The position as the object showed it last: what differs later was written.
    place : tuple of three floats
        The exact position that it was last moved to.
    turned : tuple of nine floats or None
        The same as `linear` after the ground has turned it along: what differs later was written.
    """

    __slots__ = ("_has_transform", "_target", "place", "shown", "turned")

    place: Floats3
    shown: Floats3

    def __init__(self, target: Any) -> None:
        self.turned: Floats9 | None = None
        self._has_transform = hasattr(target, "transform")
        if not self._has_transform and not hasattr(target, "position"):
            raise TypeError(
                f"owner must have a position or a transform, got {_checks.shorten(target)}"
            )
        self._target = target
        # Now is the time to find out that its place is of a kind that cannot be made anew.
        if self._has_transform:
            _moved(target.transform, self.position())
        else:
            _like(target.position, self.position())

    def position(self) -> Floats3:
        """Return the object's position as it shows it."""
        if self._has_transform:
            return _checks.affine("owner.transform", self._target.transform)[1]
        return _checks.vector("owner.position", self._target.position)

    def linear(self) -> Floats9 | None:
        """Return rotation times scale, row by row; None if the object has neither."""
        target = self._target
        if self._has_transform:
            return _checks.floats9(_checks.affine("owner.transform", target.transform)[0])
        rotation, scale = getattr(target, "rotation", None), getattr(target, "scale", None)
        if rotation is None and scale is None:
            return None
        turned = np.eye(3)
        if rotation is not None:
            turned = np.array(_checks.rotation("owner.rotation", rotation)).reshape(3, 3)
        if scale is None:
            return _checks.floats9(turned)
        if hasattr(scale, "x") or hasattr(scale, "__len__"):
            return _checks.floats9(turned * _checks.vector("owner.scale", scale))
        return _checks.floats9(turned * _checks.finite("owner.scale", scale))

    def move_to(self, position: Floats3) -> Floats3:
        """Give the object a new position; return it as the object then shows it."""
        target = self._target
        if self._has_transform:
            target.transform = _moved(target.transform, position)
            return self.position()
        shown = target.position
        try:
            target.position = _like(shown, position)
        except AttributeError:  # read-only, but the vector itself can be written to
            shown.x, shown.y, shown.z = position
        return self.position()

    def turn_to(self, linear: Floats9) -> bool:
        """Turn the object, by rotation times scale; tell whether it has one to be set.

        Its scale stays: a transform gets all of it, a rotation only how its axes are directed.
        """
        target, turned = self._target, np.array(linear).reshape(3, 3)
        try:
            if self._has_transform:
                target.transform = _turned(target.transform, turned)
            elif getattr(target, "rotation", None) is not None:
                axes = turned / np.sqrt((turned * turned).sum(0))
                target.rotation = _turned(target.rotation, axes)
            else:
                return False
        except AttributeError:  # read-only
            return False
        self.turned = self.linear()
        return True


def _turned(old: Any, turned: Floats) -> Any:
    """Return a rotation or a transform with other axes (3, 3), in its own type."""
    if isinstance(old, np.ndarray):
        new = old.astype(old.dtype if old.dtype.kind == "f" else np.float64)
        new[:3, :3] = turned
        return new
    if isinstance(old, (tuple, list)):  # rows
        rows = [[*row] for row in old]
        for row, axes in zip(rows, turned.tolist(), strict=False):
            row[:3] = axes
        return type(old)(type(own)(row) for own, row in zip(old, rows, strict=True))
    matrix = glm.dmat3(*turned.T.ravel())
    if hasattr(old, "w"):  # a quaternion
        return type(old)(glm.quat_cast(matrix))
    new = type(old)(old)
    for axis in range(3):
        for k in range(3):
            new[axis][k] = matrix[axis][k]
    return new


def _like(old: Any, position: Floats3) -> Any:
    """Return a position in the type of the old one."""
    if isinstance(old, np.ndarray):
        return np.array(position, dtype=old.dtype if old.dtype.kind == "f" else np.float64)
    if hasattr(old, "_make"):  # a named tuple
        return old._make(position)
    if isinstance(old, (tuple, list)):
        return type(old)(position)
    try:
        return type(old)(*position)
    except TypeError:
        raise TypeError(
            f"owner.position must be of a type made from three numbers, got {_checks.shorten(old)}"
        ) from None


def _moved(transform: Any, position: Floats3) -> Any:
    """Return a copy of a 4 x 4 matrix with another translation."""
    if isinstance(transform, np.ndarray):
        moved = transform.astype(transform.dtype if transform.dtype.kind == "f" else np.float64)
        moved[:3, 3] = position
        return moved
    try:
        moved = type(transform)(transform)
        column = moved[3]  # PyGLM: a view of the matrix
        column.x, column.y, column.z = position
    except (AttributeError, TypeError):
        raise TypeError(
            "owner.transform must be a matrix of PyGLM or an array, "
            f"got {_checks.shorten(transform)}"
        ) from None
    return moved

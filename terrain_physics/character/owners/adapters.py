"""Owner adapters, which read and write the place of an object of a game.

All numbers are in the axes of the game's engine. A position has three numbers, or two if it is that
of a picture seen from above.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.character.owners.remade import (
    put_parts,
    remade_matrix,
    remade_rotation,
    remade_vector,
)

Read = Callable[[Any], Any]
Write = Callable[[Any, Floats3], object]


class OwnerAdapter(ABC):
    """An object of a game with a position, and perhaps a rotation and a scale.

    Attributes
    ----------
    unread_rotation : object
        Its rotation if that is of a kind that is not read, such as an angle; else None.
    """

    __slots__ = ("_target", "unread_rotation")

    def __init__(self, target: Any) -> None:
        self._target = target
        self.unread_rotation: Any = None

    @abstractmethod
    def position(self) -> tuple[float, ...]:
        """Return its position, three numbers or two; empty if it is only written."""

    @abstractmethod
    def move_to(self, position: Sequence[float]) -> None:
        """Give it a position, with as many numbers as its own has."""

    @abstractmethod
    def linear(self) -> Floats | None:
        """Return its rotation times scale (3, 3); None if it has neither."""

    @abstractmethod
    def turn_to(self, linear: Floats) -> bool:
        """Turn it to a rotation times scale (3, 3); tell whether it has a rotation that can be set.

        Its scale stays: a matrix gets the whole product, a rotation only the directions of the
        axes.
        """


class Functions(OwnerAdapter):
    """An object read and written by functions of the game; it is not turned."""

    __slots__ = ("_read", "_write")

    def __init__(self, target: Any, read: Read | None, write: Write) -> None:
        super().__init__(target)
        self._read, self._write = read, write

    def position(self) -> tuple[float, ...]:
        if self._read is None:
            return ()
        return checks.vector_or_pair("what read returns", self._read(self._target))

    def move_to(self, position: Sequence[float]) -> None:
        x, y, z = position
        self._write(self._target, (x, y, z))

    def linear(self) -> Floats | None:
        return None

    def turn_to(self, linear: Floats) -> bool:  # noqa: ARG002
        return False


class Matrix(OwnerAdapter):
    """An object with its place in a 4 x 4 matrix, or in 16 numbers column by column, as in OpenGL.

    A struct has the numbers as m0 to m15.
    """

    __slots__ = ("_name",)

    def __init__(self, target: Any, name: str) -> None:
        super().__init__(target)
        self._name = name
        # Fail now, not in the first update, if its type cannot be made from numbers.
        shown = getattr(target, name)
        try:
            remade_matrix(shown, _affine(*self._parts()))
        except TypeError:
            raise TypeError(
                f"owner.{name} must be of a type made from numbers, got {checks.shorten(shown)}"
            ) from None

    def position(self) -> tuple[float, ...]:
        return self._parts()[1]

    def move_to(self, position: Sequence[float]) -> None:
        self._put(self._parts()[0], position)

    def linear(self) -> Floats | None:
        return self._parts()[0]

    def turn_to(self, linear: Floats) -> bool:
        try:
            self._put(linear, self._parts()[1])
        except AttributeError:  # read-only
            return False
        return True

    def _parts(self) -> tuple[Floats, Floats3]:
        name, value = f"owner.{self._name}", getattr(self._target, self._name)
        if hasattr(value, "m15"):
            value = [getattr(value, f"m{index}") for index in range(16)]
        if isinstance(value, (tuple, list, np.ndarray)) and len(value) == 16:
            value = np.reshape(value, (4, 4)).T
        return checks.affine(name, value)

    def _put(self, linear: Floats, position: Sequence[float]) -> None:
        shown = getattr(self._target, self._name)
        setattr(self._target, self._name, remade_matrix(shown, _affine(linear, position)))


def _is_matrix(value: Any) -> bool:
    """Tell whether a value is of a kind that `Matrix` reads."""
    return hasattr(value, "m15") or checks.shape_of(value) in {(4, 4), (16,)}


def _affine(linear: Floats, position: Sequence[float]) -> Floats:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, position
    return matrix


class _Turned(OwnerAdapter):
    """An object that may have a rotation and a scale beside its position."""

    __slots__ = ()

    def __init__(self, target: Any) -> None:
        super().__init__(target)
        rotation = getattr(target, "rotation", None)
        angle = getattr(target, "angle", None)
        if rotation is None and isinstance(angle, (int, float)):
            self.unread_rotation = angle
        elif rotation is not None and not checks.is_rotation(rotation):
            self.unread_rotation = rotation

    def linear(self) -> Floats | None:
        rotation, scale = self._rotation(), self._scale()
        if rotation is None and scale is None:
            return None
        turned = np.eye(3)
        if rotation is not None:
            turned = np.array(checks.rotation("owner.rotation", rotation)).reshape(3, 3)
        return turned if scale is None else turned * scale

    def turn_to(self, linear: Floats) -> bool:
        rotation = self._rotation()
        if rotation is None:
            return False
        axes = linear / np.sqrt((linear * linear).sum(0))
        try:
            self._target.rotation = remade_rotation(rotation, axes)
        except AttributeError:  # read-only
            return False
        return True

    def _rotation(self) -> Any:
        return None if self.unread_rotation is not None else getattr(self._target, "rotation", None)

    def _scale(self) -> Any:
        """Return one number or three, or None; two numbers are a picture's scale, so None."""
        return _scale_of(getattr(self._target, "scale", None))


def _scale_of(scale: Any) -> Any:
    if scale is None:
        return None
    if not (hasattr(scale, "x") or hasattr(scale, "__len__")):
        return checks.finite("owner.scale", scale)
    numbers = checks.vector_or_pair("owner.scale", scale)
    return numbers if len(numbers) == 3 else None


class Position(_Turned):
    """An object with a position."""

    __slots__ = ()

    def __init__(self, target: Any) -> None:
        super().__init__(target)
        shown, position = target.position, self.position()
        # Fail now, not in the first update, if its type cannot be made from numbers.
        try:
            new = _moved(shown, position)
            is_same = checks.vector_or_pair("", new) == position
        except (AttributeError, TypeError, ValueError):
            is_same = False
        if not is_same:
            raise TypeError(
                f"owner.position must be of a type made from {_COUNT[len(position)]} numbers, "
                f"or let them be set, got {checks.shorten(shown)}"
            )

    def position(self) -> tuple[float, ...]:
        return checks.vector_or_pair("owner.position", self._target.position)

    def move_to(self, position: Sequence[float]) -> None:
        shown = self._target.position
        try:
            self._target.position = _moved(shown, position)
        except AttributeError:  # read-only, but the vector itself can be written to
            _put_coordinates(shown, position)


_COUNT = {2: "two", 3: "three"}


def _moved(shown: Any, position: Sequence[float]) -> Any:
    """Return a new position in the type of the one shown, or that one with new coordinates."""
    try:
        return remade_vector(shown, position)
    except TypeError:
        _put_coordinates(shown, position)
        return shown


def _put_coordinates(target: Any, position: Sequence[float]) -> None:
    put_parts(target, dict(zip("xyz", position, strict=False)))


class NodePath(_Turned):
    """An object with getPos and setPos, such as Panda3D's."""

    __slots__ = ()

    def __init__(self, target: Any) -> None:
        super().__init__(target)
        if hasattr(target, "getHpr"):
            self.unread_rotation = target.getHpr()

    def position(self) -> tuple[float, ...]:
        return checks.vector("owner.getPos()", self._target.getPos())

    def move_to(self, position: Sequence[float]) -> None:
        self._target.setPos(*position)

    def _scale(self) -> Any:
        return _scale_of(self._target.getScale()) if hasattr(self._target, "getScale") else None


class Coordinates(_Turned):
    """An object that is itself a position, with x, y and z."""

    __slots__ = ()

    def __init__(self, target: Any) -> None:
        super().__init__(target)
        try:
            self.move_to(self.position())
        except AttributeError:
            raise TypeError(
                f"owner must let its x, y and z be set, got {checks.shorten(target)}"
            ) from None

    def position(self) -> tuple[float, ...]:
        return checks.vector("owner", self._target)

    def move_to(self, position: Sequence[float]) -> None:
        _put_coordinates(self._target, position)


def adapter_of(target: Any) -> OwnerAdapter:
    """Return the adapter of an object, by its attributes; TypeError if none is a place."""
    if _is_matrix(getattr(target, "transform", None)):
        return Matrix(target, "transform")
    if hasattr(target, "position"):
        return Position(target)
    if _is_matrix(getattr(target, "matrix", None)):
        return Matrix(target, "matrix")
    if hasattr(target, "getPos") and hasattr(target, "setPos"):
        return NodePath(target)
    if all(hasattr(target, axis) for axis in "xyz"):
        return Coordinates(target)
    pixels = " Its rect is in pixels: write= can put it there." if hasattr(target, "rect") else ""
    raise TypeError(
        "owner must have a position, a transform or matrix of 4 x 4 numbers, getPos and setPos, or "
        f"x, y and z; read= and write= are for others. Got {checks.shorten(target)}.{pixels}"
    )

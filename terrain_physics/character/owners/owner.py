"""The owner of a character: any object of a game that has a place."""

from typing import Any

import numpy as np

from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3, Floats9
from terrain_physics.character.colliders import BoxCollider, Collider
from terrain_physics.character.owners.adapters import (
    Functions,
    OwnerAdapter,
    Read,
    Write,
    adapter_of,
)
from terrain_physics.surface.axes import AnyAxes, frame_of


class Owner:
    """Reads and writes the place of a game's object, in the axes of the library.

    Scale is only read. Rotation is only read too, unless the ground turns the object along.

    Attributes
    ----------
    is_read : bool
        Whether its position decides where the character is; if not, it only shows that.
    is_flat : bool
        Whether its position is read as two numbers: the height is the character's alone.
    shown : tuple of three floats
        The position as the object showed it last; a coordinate that differs later was written.
    place : tuple of three floats
        The exact position that it was last moved to.
    turned : tuple of nine floats or None
        The result of `linear` after the ground turned it last; if it differs later, it was written.
    """

    __slots__ = (
        "_adapter",
        "_frame",
        "_has_height",
        "is_flat",
        "is_read",
        "place",
        "shown",
        "turned",
    )

    shown: Floats3

    def __init__(
        self, target: Any, axes: AnyAxes, read: Read | None = None, write: Write | None = None
    ) -> None:
        self._frame = frame_of(axes)
        self._adapter = _checked_adapter(target, read, write)
        count = len(self._adapter.position())
        self.is_read, self.is_flat = count > 0, count == 2
        self._has_height = write is not None or not self.is_flat
        self.place: Floats3 = (0.0, 0.0, 0.0)
        self.turned: Floats9 | None = None

    @property
    def unread_rotation(self) -> Any:
        """Its rotation if that is of a kind that is not read, such as an angle; else None."""
        return self._adapter.unread_rotation

    def position(self) -> Floats3:
        """Return the object's position as it shows it."""
        return self._seen(self.place)

    def linear(self) -> Floats9 | None:
        """Return rotation times scale, row by row; None if the object has neither."""
        linear = self._adapter.linear()
        return None if linear is None else checks.floats9(self._frame.to_ours.linear(linear))

    def move_to(self, position: Floats3) -> Floats3:
        """Give the object a new position; return it as the object then shows it."""
        theirs: tuple[float, ...] = self._frame.from_ours.point(position)
        if not self._has_height:
            theirs = theirs[: self._frame.up] + theirs[self._frame.up + 1 :]
        self._adapter.move_to(theirs)
        return self._seen(position)

    def turn_to(self, linear: Floats9) -> bool:
        """Turn the object to rotation times scale; tell whether it has a rotation to be set."""
        turned = np.array(linear).reshape(3, 3)
        if not self._adapter.turn_to(self._frame.from_ours.linear(turned)):
            return False
        self.turned = self.linear()
        return True

    def _seen(self, known: Floats3) -> Floats3:
        """Return the object's position, with the ``known`` coordinates that it does not show."""
        theirs = self._adapter.position()
        if not theirs:
            return known
        if len(theirs) == 2:
            theirs = (*theirs[: self._frame.up], known[1], *theirs[self._frame.up :])
        x, y, z = theirs
        return self._frame.to_ours.point((x, y, z))


def checked_owner(
    target: Any, collider: Collider, axes: AnyAxes, read: Read | None, write: Write | None
) -> Owner | None:
    """Return the owner of a body, if it has one, or raise an error."""
    if target is None:
        for name, value in (
            ("axes", axes if axes != "y-up" else None),
            ("read", read),
            ("write", write),
        ):
            if value is not None:
                raise TypeError(f"{name} must come with an owner, got {checks.shorten(value)}")
        return None
    owner = Owner(target, axes, read, write)
    if isinstance(collider, BoxCollider) and owner.unread_rotation is not None:
        raise TypeError(
            "owner must have a rotation by a quaternion or a 3 x 3 matrix for a box, got "
            f"{checks.shorten(owner.unread_rotation)}; with read= and write= it is not read"
        )
    return owner


def _checked_adapter(target: Any, read: Read | None, write: Write | None) -> OwnerAdapter:
    for name, function in (("read", read), ("write", write)):
        if function is not None and not callable(function):
            raise TypeError(f"{name} must be a function, got {checks.shorten(function)}")
    if write is not None:
        return Functions(target, read, write)
    if read is not None:
        raise TypeError("read must come with write, got read alone")
    return adapter_of(target)

"""The pose of a mesh of a ground: a rotation, and then a shift."""

from typing import Any, NamedTuple, Self

import numpy as np

from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats9
from terrain_physics._support.matrices import determinants, product
from terrain_physics.surface.limits import refuse_far_row

# Tolerance for saved rotations: they were made orthonormal when they were given.
_ROUNDING = 1e-12

_UNTURNED: Floats9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

_RULE = "a 4 x 4 matrix, (position, rotation) or a position"


# Scales of parts: wide enough for any unit, and no number overflows or vanishes.
_LEAST_SCALE, _MOST_SCALE = 1e-6, 1e6


def is_position(transform: Any) -> bool:
    """Tell whether a transform is a position alone."""
    has_three = hasattr(transform, "x") and hasattr(transform, "z") and not hasattr(transform, "w")
    return has_three or checks.shape_of(transform) == (3,)


class Pose(NamedTuple):
    """A rigid motion.

    Attributes
    ----------
    rotation : ndarray of float64, shape (3, 3)
        From the part's axes to the world's, orthonormal.
    position : ndarray of float64, shape (3,)
        The place of the part's origin, in meters.
    """

    rotation: Floats
    position: Floats

    @classmethod
    def of(cls, name: str, transform: Any) -> Self:
        """Return a pose given as a 4 x 4 matrix, as position and rotation, or as such a pose.

        Of a position alone it has no rotation.
        """
        if isinstance(transform, Pose):
            return cls(*transform)
        if isinstance(transform, tuple) and len(transform) == 2:
            position = checks.vector(f"{name}[0]", transform[0])
            rotation = checks.rotation(f"{name}[1]", transform[1])
        elif is_position(transform):
            position, rotation = checks.vector(name, transform), _UNTURNED
        else:
            linear, position = checks.affine(name, transform, _RULE)
            rotation = checks.rotation(name, np.array(linear))
        refuse_far_row(name, [*position])
        return cls(np.array(rotation).reshape(3, 3), np.array(position))

    @classmethod
    def none(cls) -> Self:
        """Return the pose of a part that was never moved."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def of_saved(cls, numbers: Any) -> Self:
        """Return the pose of a saved form."""
        rows = checks.array("transforms", numbers, (3, 4))
        rotation, position = rows[:, :3].copy(), rows[:, 3].copy()
        is_orthonormal = np.abs(product(rotation, rotation.T) - np.eye(3)).max() < _ROUNDING
        if not is_orthonormal or determinants(rotation) < 0.0:
            raise ValueError(f"transforms must be rigid, got {checks.shorten(numbers)}")
        refuse_far_row("transforms", [*position])
        return cls(rotation, position)

    def saved(self) -> list[list[float]]:
        """Return the upper three rows of the matrix, for JSON."""
        rows: list[list[float]] = self.matrix()[:3].tolist()
        return rows

    def matrix(self) -> Floats:
        """Return the matrix (4, 4)."""
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.rotation, self.position
        return matrix

    @classmethod
    def of_numbers(cls, numbers: Floats) -> Self:
        """Return the pose of its numbers, an array (12,) that nobody writes to later."""
        return cls(numbers[:9].reshape(3, 3), numbers[9:])

    @property
    def numbers(self) -> list[float]:
        """The rotation row by row, then the position."""
        numbers: list[float] = [*self.rotation.ravel().tolist(), *self.position.tolist()]
        return numbers

    def placed(self, vertices: Floats) -> Floats:
        """Return the places of the part's vertices (v, 3) in the world, read-only."""
        x, y, z = (vertices[:, [axis]] for axis in range(3))
        turn = self.rotation
        # No product of matrices: it may fuse additions, which gives other bits elsewhere.
        places: Floats = x * turn[:, 0] + y * turn[:, 1] + z * turn[:, 2] + self.position
        places.setflags(write=False)
        return places


def checked_scale(name: str, value: Any) -> float:
    """Return the scale of a part."""
    return checks.between(name, value, _LEAST_SCALE, _MOST_SCALE)


def pose_and_scale(name: str, transform: Any) -> tuple[Pose, float | None]:
    """Return a pose as `Pose.of` does, and the scale; None: nothing was said about it.

    The scale is that of a matrix, which is the same along all axes, or the third of (position,
    rotation, scale). A pair of pose and scale is that.
    """
    if isinstance(transform, tuple) and transform and isinstance(transform[0], Pose):
        return transform
    if isinstance(transform, tuple) and len(transform) == 3 and not is_position(transform):
        scale = checked_scale(f"{name}[2]", transform[2])
        return Pose.of(name, transform[:2]), scale
    if isinstance(transform, tuple) or checks.shape_of(transform) != (4, 4):
        return Pose.of(name, transform), None
    linear, position = checks.affine(name, transform, _RULE)
    lengths = np.sqrt((linear * linear).sum(axis=0))
    scale = float(lengths.mean())
    if not np.abs(lengths - scale).max() <= checks.ROTATION_TOLERANCE * scale:
        sheared = f"got axes of lengths {', '.join(f'{length:.6g}' for length in lengths)}"
        raise ValueError(f"{name} must be orthonormal, but for one scale of all axes, {sheared}")
    if abs(scale - 1.0) <= checks.ROTATION_TOLERANCE:
        scale = 1.0  # that of a rotation in float32 is off by rounding
    scale = checked_scale(f"the scale of {name}", scale)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear / scale, position
    return Pose.of(name, matrix), scale


def refuse_other_scale(name: str, scale: float | None, known: float) -> None:
    """Raise ValueError for another scale than the one that a part was added with."""
    if scale is not None and not abs(scale - known) <= checks.ROTATION_TOLERANCE * known:
        raise ValueError(
            f"{name} must keep the scale {known:.9g} that the part was added with, got "
            f"{scale:.9g}; a part of another scale is another `add` of the same mesh"
        )

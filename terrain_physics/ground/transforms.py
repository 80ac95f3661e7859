"""Transforms of many meshes at once: checked as those of one are, in arrays."""

from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics.ground.poses import Pose, is_position
from terrain_physics.surface.limits import refuse_far

_RULE = (
    "matrices (n, 4, 4), a pair of positions (n, 3) and quaternions (n, 4) or rotations (n, 3, 3), "
    "or positions (n, 3)"
)

_LAST = np.array([0.0, 0.0, 0.0, 1.0])


class Transforms(NamedTuple):
    """Rotations row by row (n, 9), None: as they are; and positions (n, 3)."""

    turns: Floats | None
    positions: Floats


def checked_transforms(name: str, value: Any, count: int) -> Transforms:
    """Return the transforms of so many meshes; errors name the row.

    Quaternions are w, x, y, z, as in arrays of PyGLM's.
    """
    if isinstance(value, tuple) and len(value) == 2 and not _is_row(value[0]):
        positions = _positions(f"{name}[0]", value[0], count)
        return Transforms(_turns(f"{name}[1]", value[1], count), positions)
    if not isinstance(value, np.ndarray):
        value = checks.listed(name, value)
        if any(map(_must_be_read_alone, value)):
            return _one_by_one(name, value, count)
    given = _array(name, value)
    if given.ndim == 2 and given.shape[1] == 3:
        return Transforms(None, _positions(name, given, count))
    if given.ndim != 3 or given.shape[1:] != (4, 4):
        raise ValueError(f"{name} must be {_RULE}, got shape {given.shape}")
    _refuse_count(name, given, count)
    checks.refuse_non_finite(name, given)
    off = np.abs(given[:, 3] - _LAST).max(axis=1, initial=0.0) > 1e-6
    if off.any():
        row = int(off.argmax())
        raise ValueError(f"{name}[{row}] must be affine, got last row {given[row, 3].tolist()}")
    turns = _orthonormal(name, given[:, :3, :3])
    return Transforms(turns, _not_far(name, given[:, :3, 3]))


def _is_row(value: Any) -> bool:
    """Tell whether a value is a transform of one mesh."""
    return is_position(value) or checks.shape_of(value) == (4, 4)


def _must_be_read_alone(value: Any) -> bool:
    """Tell whether one transform is of a kind that an array of all would misread."""
    if isinstance(value, tuple | list):
        return not is_position(value) or any(hasattr(part, "x") for part in value)
    return bool(checks.is_for_row_vectors(value))


def _one_by_one(name: str, value: tuple[Any, ...], count: int) -> Transforms:
    _refuse_count(name, value, count)
    if all(map(is_position, value)):
        rows = [checks.vector(f"{name}[{row}]", one) for row, one in enumerate(value)]
        return Transforms(None, _not_far(name, np.array(rows).reshape(-1, 3)))
    for row, one in enumerate(value):
        if is_position(one):
            raise ValueError(f"{name}[{row}] must have a rotation, as others have, got {one!r}")
    poses = [Pose.of(f"{name}[{row}]", one) for row, one in enumerate(value)]
    turns = np.array([pose.rotation.ravel() for pose in poses])
    return Transforms(turns, np.array([pose.position for pose in poses]))


def _array(name: str, value: Any) -> Floats:
    try:
        return checks.real_array(name, value)
    except ValueError:
        raise ValueError(f"{name} must be {_RULE}, got {checks.shorten(value)}") from None


def _refuse_count(name: str, given: Any, count: int) -> None:
    if len(given) != count:
        raise ValueError(f"{name} must be as many as keys, which are {count}, got {len(given)}")


def _positions(name: str, value: Any, count: int) -> Floats:
    given = _array(name, value)
    if given.shape == (0,):
        given = given.reshape(0, 3)
    if given.ndim != 2 or given.shape[1] != 3:
        raise ValueError(f"{name} must have shape (n, 3), got {given.shape}")
    _refuse_count(name, given, count)
    checks.refuse_non_finite(name, given)
    return _not_far(name, given)


def _not_far(name: str, positions: Floats) -> Floats:
    rows = np.ascontiguousarray(positions)
    shown = rows.view()
    shown.setflags(write=False)
    refuse_far(name, shown)
    return rows


def _turns(name: str, value: Any, count: int) -> Floats:
    """Return rotations row by row, of quaternions or matrices."""
    if not isinstance(value, np.ndarray):
        value = checks.listed(name, value)
        if not all(isinstance(one, np.ndarray) for one in value):
            _refuse_count(name, value, count)
            numbers = all(checks.shape_of(one) == (4,) for one in value)
            if not numbers:
                rows = [checks.rotation(f"{name}[{k}]", one) for k, one in enumerate(value)]
                return np.array(rows).reshape(-1, 9)
    given = _array(name, value)
    _refuse_count(name, given, count)
    if given.shape == (0,):
        return given.reshape(0, 9)
    checks.refuse_non_finite(name, given)
    if given.ndim == 3 and given.shape[1:] == (3, 3):
        return _orthonormal(name, given)
    if given.ndim != 2 or given.shape[1] != 4:
        raise ValueError(
            f"{name} must be quaternions (n, 4) or matrices (n, 3, 3), got shape {given.shape}"
        )
    return _of_quaternions(name, given)


def _of_quaternions(name: str, given: Floats) -> Floats:
    w, x, y, z = given.T
    norm = np.sqrt(w * w + x * x + y * y + z * z)
    off = ~(np.abs(norm - 1.0) <= checks.ROTATION_TOLERANCE)
    if off.any():
        row = int(off.argmax())
        raise ValueError(f"{name}[{row}] must have unit length, got length {norm[row]:.6g}")
    w, x, y, z = w / norm, x / norm, y / norm, z / norm
    rows = (
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip
    return np.ascontiguousarray(np.array(rows).T)


def _orthonormal(name: str, matrices: Floats) -> Floats:
    """Return rotations row by row; ValueError that names the row of anything else."""
    try:
        return checks.orthonormal(name, matrices).reshape(-1, 9)
    except ValueError as error:
        if len(matrices) == 1:  # it names no row
            raise ValueError(str(error).replace(name, f"{name}[0]", 1)) from None
        raise

"""Transforms of meshes that move, checked and as rows of numbers: of one mesh, and of many."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pyglm import glm

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.math.rotations import put_frames
from terrain_physics._kernels.surface.shapes import FARTHEST
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics.ground.poses import is_position, pose_and_scale, refuse_other_scale
from terrain_physics.surface.limits import refuse_far, refuse_far_row

_FRAMES = CachedDispatch(put_frames)

_MATRICES = glm.mat4, glm.dmat4
_VECTORS = glm.vec3, glm.dvec3
_RULE = (
    "matrices (n, 4, 4), a pair of positions (n, 3) and quaternions (n, 4) or rotations (n, 3, 3), "
    "or positions (n, 3)"
)

_NUMBERS_OF_POSE = 12


def pose_of_one(name: str, transform: Any, scale: float, known: Callable[[], Floats]) -> Floats:
    """Return the pose (1, 12) of one mesh: its rotation row by row, and its position.

    The mesh has a ``scale``. ``known`` returns the pose that it had: a position alone leaves the
    rotation as it is.
    """
    kind = type(transform)
    if kind in _VECTORS or (kind is tuple and len(transform) == 3 and _is_number(transform[0])):
        position = checks.vector(name, transform)
        refuse_far_row(name, position)
        rows = known()
        rows[0, 9:] = position
        return rows
    if scale == 1.0 and (kind in _MATRICES or (kind is np.ndarray and transform.size == 16)):
        poses = _quick(np.array(transform, np.float64, order="C").reshape(-1))
        if poses is not None:
            return poses
    if kind is np.ndarray and transform.shape == (16,):
        transform = transform.reshape(4, 4)
    pose, given = pose_and_scale(name, transform)
    refuse_other_scale(name, given, scale)
    rows = np.array([pose.numbers])
    if is_position(transform):
        rows[0, :9] = known()[0, :9]
    return rows


def _is_number(value: Any) -> bool:
    return type(value) is float or type(value) is int


def _quick(matrices: Floats) -> Floats | None:
    """Return the poses (n, 12) of matrices (16 n,) without a scale; None if any is no such."""
    poses = np.empty((len(matrices) // 16, _NUMBERS_OF_POSE))
    count = _FRAMES.call(matrices, checks.ROTATION_TOLERANCE, FARTHEST, poses.reshape(-1))
    return poses if count == len(poses) else None


def poses_of_many(
    name: str, value: Any, scales: list[float] | None, count: int, known: Callable[[], Floats]
) -> Floats:
    """Return the poses (n, 12) of so many meshes; errors name the row.

    ``scales`` are theirs, None if all are 1. ``known`` returns the poses that they had: positions
    alone leave the rotations as they are. Quaternions are w, x, y, z, as in arrays of PyGLM's.
    """
    if isinstance(value, tuple) and len(value) == 2 and not _is_of_one(value[0]):
        poses = np.empty((count, _NUMBERS_OF_POSE))
        poses[:, 9:] = _positions(f"{name}[0]", _array(f"{name}[0]", value[0]), count)
        poses[:, :9] = _turns(f"{name}[1]", value[1], count)
        return poses
    if not isinstance(value, np.ndarray):
        value = _listed(name, value)
        if any(map(_must_be_read_alone, value)):
            return _one_by_one(name, value, scales, count, known)
    given = _array(name, value)
    if given.shape[1:] == (3,) or not given.size:
        poses = known()
        poses[:, 9:] = _positions(name, given.reshape(-1, 3), count)
        return poses
    if given.shape[1:] != (4, 4):
        raise ValueError(f"{name} must be {_RULE}, got shape {given.shape}")
    _refuse_count(name, given, count)
    is_quick = scales is None or set(scales) == {1.0}
    quick = _quick(given.reshape(-1)) if is_quick else None
    return _one_by_one(name, given, scales, count, known) if quick is None else quick


def _is_of_one(value: Any) -> bool:
    """Tell whether a value is a transform of one mesh."""
    return is_position(value) or checks.shape_of(value) == (4, 4)


def _listed(name: str, value: Any) -> tuple[Any, ...]:
    if type(value) is glm.array:
        return tuple(value)
    return checks.listed(name, value)


def _must_be_read_alone(value: Any) -> bool:
    """Tell whether one transform is of a kind that an array of all would misread."""
    if isinstance(value, tuple | list):
        return checks.shape_of(value) not in {(3,), (4, 4)} or hasattr(value[0], "x")
    return not isinstance(value, np.ndarray | glm.mat4 | glm.dmat4 | glm.vec3 | glm.dvec3) or bool(
        checks.is_for_row_vectors(value)
    )


def _one_by_one(
    name: str, value: Any, scales: list[float] | None, count: int, known: Callable[[], Floats]
) -> Floats:
    _refuse_count(name, value, count)
    poses, before = np.empty((count, _NUMBERS_OF_POSE)), known()
    for row, one in enumerate(value):
        scale = 1.0 if scales is None else scales[row]
        own = partial(before[row : row + 1].copy)
        poses[row] = pose_of_one(f"{name}[{row}]", one, scale, own)[0]
    return poses


def _array(name: str, value: Any) -> Floats:
    try:
        return checks.real_array(name, value)
    except ValueError:
        raise ValueError(f"{name} must be {_RULE}, got {checks.shorten(value)}") from None


def _refuse_count(name: str, given: Any, count: int) -> None:
    if len(given) != count:
        raise ValueError(f"{name} must be as many as keys, {count}, got {len(given)}")


def _positions(name: str, given: Floats, count: int) -> Floats:
    if not given.size:
        given = given.reshape(0, 3)
    if given.shape[1:] != (3,):
        raise ValueError(f"{name} must have shape (n, 3), got {given.shape}")
    _refuse_count(name, given, count)
    checks.refuse_non_finite(name, given)
    given.setflags(write=False)
    refuse_far(name, given)
    return given


def _turns(name: str, value: Any, count: int) -> Floats:
    """Return rotations row by row (n, 9), of quaternions or matrices."""
    if not isinstance(value, np.ndarray):
        value = _listed(name, value)
        _refuse_count(name, value, count)
        if not all(isinstance(one, np.ndarray | tuple | list) for one in value):
            rows = [checks.rotation(f"{name}[{k}]", one) for k, one in enumerate(value)]
            return np.array(rows).reshape(-1, 9)
    given = _array(name, value)
    if not given.size:
        return given.reshape(0, 9)
    _refuse_count(name, given, count)
    checks.refuse_non_finite(name, given)
    if given.shape[1:] == (3, 3):
        return checks.orthonormal(name if count > 1 else f"{name}[0]", given).reshape(-1, 9)
    if given.shape[1:] != (4,):
        raise ValueError(
            f"{name} must be quaternions (n, 4) or matrices (n, 3, 3), got shape {given.shape}"
        )
    return _of_quaternions(name, given)


def _of_quaternions(name: str, given: Floats) -> Floats:
    w, x, y, z = given.T
    norm = np.sqrt(w * w + x * x + y * y + z * z)
    off = np.abs(norm - 1.0) > checks.ROTATION_TOLERANCE
    if off.any():
        row = int(off.argmax())
        raise ValueError(f"{name}[{row}] must have unit length, got length {norm[row]:.6g}")
    w, x, y, z = w / norm, x / norm, y / norm, z / norm
    rows = (
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip
    return np.array(rows).T

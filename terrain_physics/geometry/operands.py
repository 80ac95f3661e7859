"""Helpers of the functions of pairs: a sphere as floats, moves as vectors, a kernel over rows."""

from collections.abc import Callable

import numpy as np
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._checks import Floats3, Rows
from terrain_physics._kernels.types import Floats
from terrain_physics.geometry.shapes import Sphere


def as_vec3(point: Floats3) -> glm.vec3:
    """Return three floats as a vector, -0 as 0."""
    return glm.vec3(point[0] + 0.0, point[1] + 0.0, point[2] + 0.0)


def as_move(touching: bool, move: Floats3) -> glm.vec3 | None:  # noqa: FBT001
    """Return the result of a pair's kernel as a vector; None where the shapes are apart."""
    return as_vec3(move) if touching else None


def sphere_floats(name: str, shape: Sphere) -> tuple[Floats3, float]:
    """Return center and radius."""
    _checks.instance(name, shape, Sphere)
    return shape.center64, shape.radius


def penetrations(kernel: Callable[..., None], first: Rows, second: Rows) -> Floats:
    """Return the penetrations (n, 3) that a kernel writes for the rows of both shapes."""
    out = np.empty((_checks.common_length(**first, **second), 3))
    kernel(*first.values(), *second.values(), out)
    return out + 0.0  # never -0

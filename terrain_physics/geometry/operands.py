"""What the pairs of solid shapes share: shapes as floats, and a kernel run over rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._checks import Floats3, Floats9
from terrain_physics._kernels.types import Floats
from terrain_physics.geometry.shapes import AABB, OBB, Capsule, Sphere

Rows = dict[str, Floats]


def as_vec3(touching: bool, move: Floats3) -> glm.vec3 | None:  # noqa: FBT001
    """Return a move as a vector; None where the shapes are apart."""
    # + 0.0: never "-0"
    return glm.vec3(move[0] + 0.0, move[1] + 0.0, move[2] + 0.0) if touching else None


def ball(name: str, shape: Sphere) -> tuple[Floats3, float]:
    """Return center and radius."""
    _checks.instance(name, shape, Sphere)
    return shape.center64, shape.radius


def corners(name: str, shape: AABB) -> tuple[Floats3, Floats3]:
    """Return both corners."""
    _checks.instance(name, shape, AABB)
    return shape.lower64, shape.upper64


def box(name: str, shape: OBB) -> tuple[Floats3, Floats3, Floats9]:
    """Return center, half extents and rotation."""
    _checks.instance(name, shape, OBB)
    return shape.center64, shape.half_extents64, shape.rotation64


def ends(name: str, shape: Capsule) -> tuple[Floats3, Floats3, float]:
    """Return both ends of the axis, and the radius."""
    _checks.instance(name, shape, Capsule)
    return shape.a64, shape.b64, shape.radius


def obb_rows(prefix: str, centers: Any, half_extents: Any, rotations: Any) -> Rows:
    """Return oriented boxes as three checked arrays, by the names of the arguments."""
    names = [f"{prefix}{name}" for name in ("centers", "half_extents", "rotations")]
    middles = _checks.points(names[0], centers)
    half = _checks.points(names[1], half_extents)
    _checks.refuse_negative("half extent", names[1], half)
    return {names[0]: middles, names[1]: half, names[2]: _checks.rotations(names[2], rotations)}


def penetrations(kernel: Callable[..., None], first: Rows, second: Rows) -> Floats:
    """Run a kernel over the rows of both shapes."""
    out = np.empty((_checks.common_length(**first, **second), 3))
    kernel(*first.values(), *second.values(), out)
    return out + 0.0  # never -0

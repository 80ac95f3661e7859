"""Helpers of the functions of pairs: shapes as floats, an AABB as an OBB, moves as vectors."""

from pyglm import glm

from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.geometry.shapes import AABB, OBB, Capsule, Sphere

_LARGEST = 3.4e38  # that float32 holds


def as_vec3(point: Floats3) -> glm.vec3:
    """Return three floats as a vector, -0 as 0; refuse floats too large for float32."""
    x, y, z = point
    if -_LARGEST < x < _LARGEST and -_LARGEST < y < _LARGEST and -_LARGEST < z < _LARGEST:
        return glm.vec3(x + 0.0, y + 0.0, z + 0.0)
    raise ValueError(f"shapes must have an answer that float32 holds, got {list(point)}")


def as_move(touching: bool, move: Floats3) -> glm.vec3 | None:  # noqa: FBT001
    """Return the result of a pair's kernel as a vector; None where the shapes are apart."""
    return as_vec3(move) if touching else None


def sphere_floats(name: str, shape: Sphere) -> tuple[Floats3, float]:
    """Return center and radius."""
    checks.instance(name, shape, Sphere)
    return shape.center64, shape.radius


def capsule_floats(name: str, shape: Capsule) -> tuple[Floats3, Floats3, float]:
    """Return both ends of the axis, and the radius."""
    checks.instance(name, shape, Capsule)
    return shape.a64, shape.b64, shape.radius


def as_obb(name: str, shape: AABB) -> OBB:
    """Return an axis-aligned box as an oriented one, which has all of its points."""
    checks.instance(name, shape, AABB)
    sides = [
        (low, 0.5 * low + 0.5 * high, high)
        for low, high in zip(shape.lower64, shape.upper64, strict=True)
    ]
    # Half extents reach from the rounded middle to the farther side, so that no touch is missed.
    return OBB(
        [middle for _, middle, _ in sides],
        [max(middle - low, high - middle) for low, middle, high in sides],
    )

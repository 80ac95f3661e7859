"""Colliders: a character's body as a sphere, a box or a capsule, relative to its owner."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from terrain_physics._kernels.surface.shapes import BOX, CAPSULE, SPHERE
from terrain_physics._kernels.types import Floats
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3, Floats9
from terrain_physics._support.matrices import determinants, product
from terrain_physics.geometry.shapes import OBB, Capsule, Sphere

# Largest cosine between axes after a transform; above it, the transform shears.
_SHEAR = 1e-4

_IDENTITY = np.eye(3)


def _scaled(axes: Floats) -> tuple[Floats, Floats]:
    """Return the lengths (n, 3) of axes, the columns of (n, 3, 3), and the axes at unit length.

    Shear is refused.
    """
    lengths = np.sqrt((axes * axes).sum(axis=1))
    if not (lengths > 0.0).all():
        bad = lengths[np.argmin((lengths > 0.0).all(axis=1))]
        raise ValueError(f"matrix and scale must be nowhere zero, got scale {bad.tolist()}")
    units = axes / lengths[:, np.newaxis]
    cosines = product(units.transpose(0, 2, 1), units) - _IDENTITY
    if np.abs(cosines).max(initial=0.0) > _SHEAR:
        raise TypeError("matrix must not shear the collider: its axes must stay square")
    return lengths, units


def _rotations(units: Floats) -> Floats:
    """Return the rotations (n, 3, 3) of axes; those of a mirrored body have one axis reversed."""
    mirrored = determinants(units) < 0.0
    if mirrored.any():
        units[mirrored, :, 0] *= -1.0
    return checks.orthonormal("matrix", units)


def _rows(extents: Floats, linears: Floats, offset: Floats3, rotations: Floats) -> Floats:
    """Return rows (n, 15): half extents (n, 3), the offset turned, rotations (n, 3, 3)."""
    rows = np.empty((len(linears), 15))
    rows[:, :3] = extents
    rows[:, 3:6] = product(linears, np.array(offset)[:, np.newaxis])[..., 0]
    rows[:, 6:] = rotations.reshape(-1, 9)
    return rows


def _in_world(collider: "Collider", matrix: Any) -> tuple[Floats3, Floats3, Floats9]:
    """Return the half extents, center and rotation of a body by its owner's 4 x 4 matrix."""
    linear, (x, y, z) = checks.affine("matrix", matrix)
    (row,) = collider.placed(linear[np.newaxis])
    (ex, ey, ez), (dx, dy, dz) = row[:3].tolist(), row[3:6].tolist()
    return (ex, ey, ez), (x + dx, y + dy, z + dz), checks.floats9(row[6:])


@public
@dataclass(frozen=True, init=False)
class SphereCollider:
    """A ball around a point of its owner.

    Parameters
    ----------
    radius : float
        In meters, > 0.
    offset : three numbers, default (0, 0, 0)
        The center in the owner's frame, in meters.

    Examples
    --------
    >>> from pyglm import glm
    >>> SphereCollider(0.5, offset=(0, 0.5, 0)).transformed(glm.translate(glm.vec3(3, 0, 0)))
    Sphere(center64=(3.0, 0.5, 0.0), radius=0.5)
    """

    radius: float
    offset64: Floats3
    kind = SPHERE

    def __init__(self, radius: float, offset: Any = (0.0, 0.0, 0.0)) -> None:
        object.__setattr__(self, "radius", checks.positive("radius", radius))
        object.__setattr__(self, "offset64", checks.vector("offset", offset))

    def placed(self, linears: Floats) -> Floats:
        """Return rows of half extents, offset and rotation (n, 15) in the world.

        ``linears`` are the owner's rotation times scale, (n, 3, 3).
        """
        lengths, _ = _scaled(linears)
        radii = self.radius * lengths.max(axis=1, keepdims=True)
        return _rows(radii, linears, self.offset64, _IDENTITY)

    def transformed(self, matrix: Any) -> Sphere:
        """Return the ball in the world.

        Parameters
        ----------
        matrix : glm.mat4 or array_like, shape (4, 4)
            From the owner's frame to the world. The radius grows with the largest axis scale.

        Returns
        -------
        Sphere

        Raises
        ------
        TypeError
            If the matrix shears.
        ValueError
            If it is not finite, not affine or has a zero scale.
        """
        (radius, _, _), center, _ = _in_world(self, matrix)
        return Sphere(center, radius)


@public
@dataclass(frozen=True, init=False)
class BoxCollider:
    """A box, turned and moved relative to its owner.

    Parameters
    ----------
    half_extents : three numbers
        Half the edge lengths along the box's own axes in meters, each > 0.
    offset : three numbers, default (0, 0, 0)
        The center in the owner's frame, in meters.
    rotation : glm.quat, glm.mat3 or 3 x 3 array, optional
        From the box's axes to the owner's.
    """

    half_extents64: Floats3
    offset64: Floats3
    rotation64: Floats9
    kind = BOX

    def __init__(
        self, half_extents: Any, offset: Any = (0.0, 0.0, 0.0), rotation: Any = None
    ) -> None:
        extents = checks.vector("half_extents", half_extents)
        for axis, extent in zip("xyz", extents, strict=True):
            checks.positive(f"half_extents.{axis}", extent)
        matrix = checks.rotation("rotation", np.eye(3) if rotation is None else rotation)
        object.__setattr__(self, "half_extents64", extents)
        object.__setattr__(self, "offset64", checks.vector("offset", offset))
        object.__setattr__(self, "rotation64", matrix)

    def placed(self, linears: Floats) -> Floats:
        """Return rows of half extents, offset and rotation (n, 15) in the world.

        ``linears`` are the owner's rotation times scale, (n, 3, 3).
        """
        axes = product(linears, np.array(self.rotation64).reshape(3, 3))
        lengths, units = _scaled(axes)
        extents = lengths * self.half_extents64
        return _rows(extents, linears, self.offset64, _rotations(units))

    def transformed(self, matrix: Any) -> OBB:
        """Return the box in the world.

        Parameters
        ----------
        matrix : glm.mat4 or array_like, shape (4, 4)
            From the owner's frame to the world: its rotation turns the box, its scale stretches it.

        Returns
        -------
        OBB

        Raises
        ------
        TypeError
            If the box's axes would not stay square, as when a turned box is stretched unevenly.
        ValueError
            If the matrix is not finite, not affine or has a zero scale.
        """
        extents, center, turned = _in_world(self, matrix)
        return OBB(center, extents, np.array(turned).reshape(3, 3))


@public
@dataclass(frozen=True, init=False)
class CapsuleCollider:
    """A capsule along +Y of its owner.

    Parameters
    ----------
    radius : float
        In meters, > 0.
    height : float
        From tip to tip in meters, at least twice the radius.
    offset : three numbers, default (0, 0, 0)
        The center in the owner's frame, in meters.

    Examples
    --------
    >>> from pyglm import glm
    >>> CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)).transformed(glm.mat4())
    Capsule(a64=(0.0, 0.4, 0.0), b64=(0.0, 1.4, 0.0), radius=0.4)
    """

    radius: float
    height: float
    offset64: Floats3
    kind = CAPSULE

    def __init__(self, radius: float, height: float, offset: Any = (0.0, 0.0, 0.0)) -> None:
        object.__setattr__(self, "radius", checks.positive("radius", radius))
        object.__setattr__(self, "height", checks.positive("height", height))
        object.__setattr__(self, "offset64", checks.vector("offset", offset))
        if self.height < 2.0 * self.radius:
            raise ValueError(
                f"height must be at least twice the radius, got {self.height} and {self.radius}"
            )

    def placed(self, linears: Floats) -> Floats:
        """Return rows of half extents, offset and rotation (n, 15) in the world.

        ``linears`` are the owner's rotation times scale, (n, 3, 3). The half extents are the
        radius, half the length of the axis, and the radius.
        """
        lengths, units = _scaled(linears)
        extents = self.radius * np.maximum(lengths, lengths[:, ::-1])  # the larger of x and z
        extents[:, 1] = np.maximum(0.5 * self.height * lengths[:, 1] - extents[:, 0], 0.0)
        return _rows(extents, linears, self.offset64, _rotations(units))

    def transformed(self, matrix: Any) -> Capsule:
        """Return the capsule in the world.

        Parameters
        ----------
        matrix : glm.mat4 or array_like, shape (4, 4)
            From the owner's frame to the world. The height grows with the scale along its axis, the
            radius with the larger of the other two; where that leaves no axis, it is a ball.

        Returns
        -------
        Capsule

        Raises
        ------
        TypeError
            If the matrix shears.
        ValueError
            If it is not finite, not affine or has a zero scale.
        """
        (radius, half, _), (x, y, z), m = _in_world(self, matrix)
        ax, ay, az = m[1] * half, m[4] * half, m[7] * half
        return Capsule((x - ax, y - ay, z - az), (x + ax, y + ay, z + az), radius)


Collider = SphereCollider | BoxCollider | CapsuleCollider

_BY_NAME: dict[str, type[SphereCollider] | type[BoxCollider] | type[CapsuleCollider]] = {
    "ball": SphereCollider,
    "box": BoxCollider,
    "capsule": CapsuleCollider,
}


def described(collider: Collider) -> dict[str, Any]:
    """Return a collider as a dict for JSON."""
    (kind,) = (name for name, form in _BY_NAME.items() if isinstance(collider, form))
    return {"kind": kind} | {
        name.removesuffix("64"): list(value) if isinstance(value, tuple) else value
        for name, value in asdict(collider).items()
    }


def collider_from(description: Any) -> Collider:
    """Return the collider of a dict that `described` returned, or raise ValueError."""
    try:
        given = {name: value for name, value in description.items() if name != "kind"}
        if "rotation" in given:
            given["rotation"] = np.reshape(given["rotation"], (3, 3))
        return _BY_NAME[description["kind"]](**given)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"collider must be one from to_dict, got {checks.shorten(description)}: {error}"
        ) from None

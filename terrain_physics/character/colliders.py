"""What a character's body is made of: a ball, a box or a capsule, relative to its owner."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _checks
from terrain_physics._checks import Floats3, Floats9
from terrain_physics._kernels.surface.shapes import BOX, CAPSULE, SPHERE
from terrain_physics._public import public
from terrain_physics.geometry.shapes import OBB, Capsule, Sphere

# Cosine between axes that were square before a transform, above which it shears.
_SHEAR = 1e-4


def _product(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the product of two matrices (3, 3): the same bits on every processor.

    ``first @ second`` may fuse additions on some.
    """
    x, y, z = (first[:, [k]] * second[k] for k in range(3))
    product: NDArray[np.float64] = x + y + z + 0.0  # a zero has no sign
    return product


def _turned(linear: NDArray[np.float64], offset: Floats3) -> Floats3:
    """Return a matrix (3, 3) times an offset."""
    (x,), (y,), (z,) = _product(linear, np.array(offset)[:, np.newaxis]).tolist()
    return x, y, z


def _dominant_scale(linear: NDArray[np.float64]) -> float:
    """Return the largest axis scale of a 3 x 3 matrix; refuse shear."""
    lengths = np.sqrt((linear * linear).sum(axis=0))
    _refuse_shear(linear, lengths)
    return float(lengths.max())


def _refuse_shear(axes: NDArray[np.float64], lengths: NDArray[np.float64]) -> None:
    if not (lengths > 0.0).all():
        raise ValueError(f"matrix and scale must be nowhere zero, got scale {lengths.tolist()}")
    units = axes / lengths
    cosines = _product(units.T, units) - np.eye(3)
    if np.abs(cosines).max() > _SHEAR:
        raise TypeError("matrix must not shear the collider: its axes must stay square")


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
        object.__setattr__(self, "radius", _checks.positive("radius", radius))
        object.__setattr__(self, "offset64", _checks.vector("offset", offset))

    def placed(self, linear: NDArray[np.float64]) -> tuple[Floats3, Floats3, Floats9]:
        """Return (half extents, offset, rotation) in the world for a 3 x 3 matrix of the owner."""
        radius = self.radius * _dominant_scale(linear)
        x, y, z = _turned(linear, self.offset64)
        return (radius, radius, radius), (x, y, z), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

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
        linear, (x, y, z) = _checks.affine("matrix", matrix)
        (radius, _, _), (dx, dy, dz), _ = self.placed(linear)
        return Sphere((x + dx, y + dy, z + dz), radius)


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
        extents = _checks.vector("half_extents", half_extents)
        for axis, extent in zip("xyz", extents, strict=True):
            _checks.positive(f"half_extents.{axis}", extent)
        matrix = _checks.rotation("rotation", np.eye(3) if rotation is None else rotation)
        object.__setattr__(self, "half_extents64", extents)
        object.__setattr__(self, "offset64", _checks.vector("offset", offset))
        object.__setattr__(self, "rotation64", matrix)

    def placed(self, linear: NDArray[np.float64]) -> tuple[Floats3, Floats3, Floats9]:
        """Return (half extents, offset, rotation) in the world for a 3 x 3 matrix of the owner."""
        axes = _product(linear, np.array(self.rotation64).reshape(3, 3))
        lengths = np.sqrt((axes * axes).sum(axis=0))
        _refuse_shear(axes, lengths)
        axes = axes / lengths
        if np.linalg.det(axes) < 0.0:  # a mirrored box is the same box, one axis turned round
            axes[:, 0] = -axes[:, 0]
        ex, ey, ez = (lengths * self.half_extents64).tolist()
        x, y, z = _turned(linear, self.offset64)
        return (ex, ey, ez), (x, y, z), _checks.rotation("matrix", axes)

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
        linear, (x, y, z) = _checks.affine("matrix", matrix)
        extents, (dx, dy, dz), turned = self.placed(linear)
        return OBB((x + dx, y + dy, z + dz), extents, np.array(turned).reshape(3, 3))


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
        object.__setattr__(self, "radius", _checks.positive("radius", radius))
        object.__setattr__(self, "height", _checks.positive("height", height))
        object.__setattr__(self, "offset64", _checks.vector("offset", offset))
        if self.height < 2.0 * self.radius:
            raise ValueError(
                f"height must be at least twice the radius, got {self.height} and {self.radius}"
            )

    def placed(self, linear: NDArray[np.float64]) -> tuple[Floats3, Floats3, Floats9]:
        """Return (half extents, offset, rotation) in the world for a 3 x 3 matrix of the owner.

        The half extents are the radius, half the length of the axis, and the radius.
        """
        lengths = np.sqrt((linear * linear).sum(axis=0))
        _refuse_shear(linear, lengths)
        axes = linear / lengths
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] = -axes[:, 0]
        scale_x, scale_y, scale_z = lengths.tolist()
        radius = self.radius * max(scale_x, scale_z)
        half = max(0.5 * self.height * scale_y - radius, 0.0)
        x, y, z = _turned(linear, self.offset64)
        return (radius, half, radius), (x, y, z), _checks.rotation("matrix", axes)

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
        linear, (x, y, z) = _checks.affine("matrix", matrix)
        (radius, half, _), (dx, dy, dz), m = self.placed(linear)
        x, y, z = x + dx, y + dy, z + dz
        ax, ay, az = m[1] * half, m[4] * half, m[7] * half
        return Capsule((x - ax, y - ay, z - az), (x + ax, y + ay, z + az), radius)


Collider = SphereCollider | BoxCollider | CapsuleCollider

_BY_NAME: dict[str, type[SphereCollider] | type[BoxCollider] | type[CapsuleCollider]] = {
    "ball": SphereCollider,
    "box": BoxCollider,
    "capsule": CapsuleCollider,
}


def described(collider: Collider) -> dict[str, Any]:
    """Return a collider as JSON knows it."""
    (kind,) = (name for name, form in _BY_NAME.items() if isinstance(collider, form))
    return {"kind": kind} | {
        name.removesuffix("64"): list(value) if isinstance(value, tuple) else value
        for name, value in asdict(collider).items()
    }


def collider_from(description: Any) -> Collider:
    """Return the collider that was described, or raise ValueError."""
    try:
        given = {name: value for name, value in description.items() if name != "kind"}
        if "rotation" in given:
            given["rotation"] = np.reshape(given["rotation"], (3, 3))
        return _BY_NAME[description["kind"]](**given)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"collider must be one from to_dict, got {_checks.shorten(description)}: {error}"
        ) from None

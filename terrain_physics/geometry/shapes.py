"""Shapes: immutable values in float64, which a game reads as ``vec3``.

A shape takes anything with three numbers for a point. It copies its input and returns copies, so
changing a vector that was passed in or returned never changes the shape.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Self

from pyglm import glm

from terrain_physics._public import PublicType, public, quick, quick_or
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3, Floats9

checks.UNPACKED |= {glm.vec3, glm.dvec3}

_IDENTITY: Floats9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def kind_among(kinds: Collection[type], shape: object) -> type | None:
    """Return the one of some classes that a shape is of, or is derived from; None if of none."""
    own = type(shape)  # nearly always; isinstance is slow for each class that it is not
    return own if own in kinds else next((each for each in kinds if isinstance(shape, each)), None)


@public
@dataclass(frozen=True, init=False)
class Sphere(metaclass=PublicType):
    """A sphere, given by center and radius.

    Parameters
    ----------
    center : three numbers
        In meters.
    radius : float
        In meters, >= 0.

    Examples
    --------
    >>> Sphere((1, 2, 3), 0.5)
    Sphere(center64=(1.0, 2.0, 3.0), radius=0.5)
    >>> Sphere((1, 2, 3), -1)
    Traceback (most recent call last):
    ValueError: radius must be finite and >= 0, got -1.0
    """

    center64: Floats3
    radius: float

    @quick
    def __init__(self, center: Any, radius: float) -> None:
        object.__setattr__(self, "center64", checks.vector("center", center))
        object.__setattr__(self, "radius", checks.non_negative("radius", radius))

    @property
    def center(self) -> glm.vec3:
        """The center in meters, a copy in float32."""
        return glm.vec3(self.center64)


@public
@dataclass(frozen=True, init=False)
class AABB(metaclass=PublicType):
    """An axis-aligned box, corners included.

    Parameters
    ----------
    lower, upper : three numbers
        Corners in meters, ``lower <= upper`` on every axis.
    """

    lower64: Floats3
    upper64: Floats3

    @quick_or("AABB.around(center, size)")
    def __init__(self, lower: Any, upper: Any) -> None:
        low, high = checks.vector("lower", lower), checks.vector("upper", upper)
        for axis, start, end in zip("xyz", low, high, strict=True):
            if start > end:
                raise ValueError(f"lower.{axis} must be <= upper.{axis}, got {start} > {end}")
        object.__setattr__(self, "lower64", low)
        object.__setattr__(self, "upper64", high)

    @classmethod
    def around(cls, center: Any, size: Any) -> Self:
        """Return the box around a center.

        Parameters
        ----------
        center : three numbers
            In meters.
        size : three numbers
            Lengths of the edges along the axes in meters, each >= 0; half of it is on either side.

        Returns
        -------
        AABB

        Raises
        ------
        TypeError, ValueError
            For anything but three finite numbers, and for a length below 0.

        Examples
        --------
        >>> AABB.around((0, 1, 0), (4, 2, 4)).upper
        vec3( 2, 2, 2 )
        """
        x, y, z = checks.vector("center", center)
        a, b, c = (
            0.5 * checks.non_negative(f"size.{axis}", length)
            for axis, length in zip("xyz", checks.vector("size", size), strict=True)
        )
        return cls((x - a, y - b, z - c), (x + a, y + b, z + c))

    @property
    def lower(self) -> glm.vec3:
        """The corner with the least coordinates, a copy in float32."""
        return glm.vec3(self.lower64)

    @property
    def upper(self) -> glm.vec3:
        """The corner with the greatest coordinates, a copy in float32."""
        return glm.vec3(self.upper64)


@public
@dataclass(frozen=True, init=False)
class OBB(metaclass=PublicType):
    """An oriented box, rotated in any way.

    Parameters
    ----------
    center : three numbers
        In meters.
    half_extents : three numbers
        Half the edge lengths along the box's own axes in meters, each >= 0.
    rotation : glm.quat, glm.mat3 or 3 x 3 array, optional
        Takes vectors from the box's axes to the world's. It must be orthonormal to float32 and
        must not mirror. Arrays and nested lists are rows; a sequence of three vectors is columns,
        as PyGLM's matrices are.
    """

    center64: Floats3
    half_extents64: Floats3
    rotation64: Floats9

    @quick
    def __init__(self, center: Any, half_extents: Any, rotation: Any = None) -> None:
        extents = checks.vector("half_extents", half_extents)
        for axis, extent in zip("xyz", extents, strict=True):
            checks.non_negative(f"half_extents.{axis}", extent)
        matrix = _IDENTITY if rotation is None else checks.rotation("rotation", rotation)
        object.__setattr__(self, "center64", checks.vector("center", center))
        object.__setattr__(self, "half_extents64", extents)
        object.__setattr__(self, "rotation64", matrix)

    @property
    def center(self) -> glm.vec3:
        """The center in meters, a copy in float32."""
        return glm.vec3(self.center64)

    @property
    def half_extents(self) -> glm.vec3:
        """Half the edge lengths in meters, a copy in float32."""
        return glm.vec3(self.half_extents64)

    @property
    def rotation(self) -> glm.mat3:
        """The rotation as a matrix whose columns are the box's axes, a copy in float32."""
        m = self.rotation64  # rows; glm takes columns
        return glm.mat3(m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])


@public
@dataclass(frozen=True, init=False)
class Triangle:
    """A triangle whose front is the side from which its corners run counter-clockwise.

    Parameters
    ----------
    a, b, c : three numbers
        Corners in meters. They may lie on one line or coincide.

    Examples
    --------
    >>> Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0)).normal
    vec3( 0, 1, 0 )
    """

    a64: Floats3
    b64: Floats3
    c64: Floats3

    @quick
    def __init__(self, a: Any, b: Any, c: Any) -> None:
        object.__setattr__(self, "a64", checks.vector("a", a))
        object.__setattr__(self, "b64", checks.vector("b", b))
        object.__setattr__(self, "c64", checks.vector("c", c))

    @property
    def a(self) -> glm.vec3:
        """The first corner, a copy in float32."""
        return glm.vec3(self.a64)

    @property
    def b(self) -> glm.vec3:
        """The second corner, a copy in float32."""
        return glm.vec3(self.b64)

    @property
    def c(self) -> glm.vec3:
        """The third corner, a copy in float32."""
        return glm.vec3(self.c64)

    @property
    def normal64(self) -> Floats3:
        """The unit normal of the front; +Y for a triangle without area."""
        from terrain_physics._kernels.geometry.closest_point import triangle_normal

        has_area, normal = triangle_normal(self.a64, self.b64, self.c64)
        if not has_area:
            return (0.0, 1.0, 0.0)
        return (normal[0] + 0.0, normal[1] + 0.0, normal[2] + 0.0)  # + 0.0: never "-0"

    @property
    def normal(self) -> glm.vec3:
        """The unit normal of the front, in float32; +Y for a triangle without area."""
        return glm.vec3(self.normal64)


@public
@dataclass(frozen=True, init=False)
class Ray(metaclass=PublicType):
    """A half-line from an origin.

    Parameters
    ----------
    origin : three numbers
        In meters.
    direction : three numbers
        Of any length but zero; stored with length 1, so that distances along the ray are meters.
    """

    origin64: Floats3
    direction64: Floats3

    @quick
    def __init__(self, origin: Any, direction: Any) -> None:
        object.__setattr__(self, "origin64", checks.vector("origin", origin))
        object.__setattr__(self, "direction64", checks.unit("direction", direction))

    @property
    def origin(self) -> glm.vec3:
        """The start in meters, a copy in float32."""
        return glm.vec3(self.origin64)

    @property
    def direction(self) -> glm.vec3:
        """The unit direction, a copy in float32."""
        return glm.vec3(self.direction64)


@public
@dataclass(frozen=True, init=False)
class Capsule(metaclass=PublicType):
    """A capsule: all points within a radius of a line segment.

    Parameters
    ----------
    a, b : three numbers
        Ends of the segment in meters; where they coincide, the capsule is a sphere.
    radius : float
        In meters, >= 0.
    """

    a64: Floats3
    b64: Floats3
    radius: float

    @quick_or("Capsule.upright(center, radius, height)")
    def __init__(self, a: Any, b: Any, radius: float) -> None:
        object.__setattr__(self, "a64", checks.vector("a", a))
        object.__setattr__(self, "b64", checks.vector("b", b))
        object.__setattr__(self, "radius", checks.non_negative("radius", radius))

    @classmethod
    def upright(cls, center: Any, radius: float, height: float) -> Self:
        """Return a capsule that stands upright, as a `CapsuleCollider` does.

        Parameters
        ----------
        center : three numbers
            In meters.
        radius : float
            In meters, >= 0.
        height : float
            From the lowest point to the highest in meters, at least twice the radius.

        Returns
        -------
        Capsule
            Its ``a`` is below its ``b``.

        Raises
        ------
        TypeError, ValueError
            For other values.

        Examples
        --------
        >>> Capsule.upright((0, 1, 0), radius=0.5, height=2).a
        vec3( 0, 0.5, 0 )
        """
        x, y, z = checks.vector("center", center)
        around, whole = checks.non_negative("radius", radius), checks.non_negative("height", height)
        if whole < 2.0 * around:
            raise ValueError(f"height must be at least twice the radius, got {whole} for {around}")
        half = 0.5 * whole - around
        return cls((x, y - half, z), (x, y + half, z), around)

    @property
    def a(self) -> glm.vec3:
        """One end of the segment in meters, a copy in float32."""
        return glm.vec3(self.a64)

    @property
    def b(self) -> glm.vec3:
        """The other end of the segment in meters, a copy in float32."""
        return glm.vec3(self.b64)


@public
@dataclass(frozen=True, init=False)
class Segment:
    """A line segment, ends included.

    Parameters
    ----------
    a, b : three numbers
        Ends in meters; they may coincide.
    """

    a64: Floats3
    b64: Floats3

    @quick
    def __init__(self, a: Any, b: Any) -> None:
        object.__setattr__(self, "a64", checks.vector("a", a))
        object.__setattr__(self, "b64", checks.vector("b", b))

    @property
    def a(self) -> glm.vec3:
        """One end in meters, a copy in float32."""
        return glm.vec3(self.a64)

    @property
    def b(self) -> glm.vec3:
        """The other end in meters, a copy in float32."""
        return glm.vec3(self.b64)


@public
@dataclass(frozen=True, init=False)
class Plane:
    """An infinite plane.

    Parameters
    ----------
    point : three numbers
        Any point of the plane, in meters.
    normal : three numbers
        Perpendicular to the plane, of any length but zero; stored with length 1.
    """

    point64: Floats3
    normal64: Floats3

    @quick
    def __init__(self, point: Any, normal: Any) -> None:
        object.__setattr__(self, "point64", checks.vector("point", point))
        object.__setattr__(self, "normal64", checks.unit("normal", normal))

    @property
    def point(self) -> glm.vec3:
        """A point of the plane in meters, a copy in float32."""
        return glm.vec3(self.point64)

    @property
    def normal(self) -> glm.vec3:
        """The unit normal, a copy in float32."""
        return glm.vec3(self.normal64)

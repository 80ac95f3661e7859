"""Rigid motions: points from one frame to another, and the motion between two frames."""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Mat3, Vec3, add, scale, subtract

Quaternion = tuple[float, float, float, float]  # w, x, y, z

# How often an angle is halved before the series of the arc tangent, and the terms of that series.
# Together they are exact to rounding.
_HALVINGS, _TERMS = 4, 11

# Doublings of an angle after the series of its sine.
_DOUBLINGS = 6


class Rigid(NamedTuple):
    """A frame: how it is turned in the world, and where its origin is."""

    rotation: Mat3
    position: Vec3


@kernel(inline=True)
def turned(m: Mat3, v: Vec3) -> Vec3:
    """Return m v."""
    return (
        v[0] * m[0] + v[1] * m[1] + v[2] * m[2],
        v[0] * m[3] + v[1] * m[4] + v[2] * m[5],
        v[0] * m[6] + v[1] * m[7] + v[2] * m[8],
    )


@kernel(inline=True)
def turned_back(m: Mat3, v: Vec3) -> Vec3:
    """Return the transposed of m, times v."""
    return (
        v[0] * m[0] + v[1] * m[3] + v[2] * m[6],
        v[0] * m[1] + v[1] * m[4] + v[2] * m[7],
        v[0] * m[2] + v[1] * m[5] + v[2] * m[8],
    )


@kernel(inline=True)
def to_world(frame: Rigid, point: Vec3) -> Vec3:
    """Return where a point of the frame is in the world."""
    return add(turned(frame.rotation, point), frame.position)


@kernel(inline=True)
def to_local(frame: Rigid, point: Vec3) -> Vec3:
    """Return where a point of the world is in the frame."""
    return turned_back(frame.rotation, subtract(point, frame.position))


@kernel(inline=True)
def turn_between(a: Mat3, b: Mat3) -> Mat3:
    """Return the rotation that leads from a to b: b times the transposed of a."""
    return (
        b[0] * a[0] + b[1] * a[1] + b[2] * a[2],
        b[0] * a[3] + b[1] * a[4] + b[2] * a[5],
        b[0] * a[6] + b[1] * a[7] + b[2] * a[8],
        b[3] * a[0] + b[4] * a[1] + b[5] * a[2],
        b[3] * a[3] + b[4] * a[4] + b[5] * a[5],
        b[3] * a[6] + b[4] * a[7] + b[5] * a[8],
        b[6] * a[0] + b[7] * a[1] + b[8] * a[2],
        b[6] * a[3] + b[7] * a[4] + b[8] * a[5],
        b[6] * a[6] + b[7] * a[7] + b[8] * a[8],
    )


@kernel(inline=True)
def product(a: Mat3, b: Mat3) -> Mat3:
    """Return a times b: first b, then a."""
    return turn_between((b[0], b[3], b[6], b[1], b[4], b[7], b[2], b[5], b[8]), a)


@kernel
def quaternion_of(m: Mat3) -> Quaternion:
    """Return the unit quaternion of a rotation, by its largest component (Shepperd, 1978)."""
    trace = m[0] + m[4] + m[8]
    if trace >= m[0] and trace >= m[4] and trace >= m[8]:
        w, x, y, z = 1.0 + trace, m[7] - m[5], m[2] - m[6], m[3] - m[1]
    elif m[0] >= m[4] and m[0] >= m[8]:
        w, x, y, z = m[7] - m[5], 1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6]
    elif m[4] >= m[8]:
        w, x, y, z = m[2] - m[6], m[1] + m[3], 1.0 - m[0] + m[4] - m[8], m[5] + m[7]
    else:
        w, x, y, z = m[3] - m[1], m[2] + m[6], m[5] + m[7], 1.0 - m[0] - m[4] + m[8]
    return _unit((w, x, y, z))


@kernel(inline=True)
def _unit(q: Quaternion) -> Quaternion:
    size = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (q[0] / size, q[1] / size, q[2] / size, q[3] / size)


@kernel
def _matrix_of(q: Quaternion) -> Mat3:
    w, x, y, z = q
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@kernel(noinline=True)
def between(a: Rigid, b: Rigid, share: float) -> Rigid:
    """Return a frame between a and b: its origin on a line, turned about one axis.

    At a share of 1 it is b itself. The turn is the shorter one.
    """
    if share >= 1.0:
        return b
    position = add(scale(a.position, 1.0 - share), scale(b.position, share))
    if a.rotation == b.rotation:
        return Rigid(a.rotation, position)
    p, q = quaternion_of(a.rotation), quaternion_of(b.rotation)
    same = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] >= 0.0
    s, t = 1.0 - share, share if same else -share
    mixed = (s * p[0] + t * q[0], s * p[1] + t * q[1], s * p[2] + t * q[2], s * p[3] + t * q[3])
    return Rigid(_matrix_of(_unit(mixed)), position)


@kernel(noinline=True)
def angle_of(sine: float, cosine: float) -> float:
    """Return the angle of a vector, in radians from -pi to pi; 0 of the zero vector."""
    # The system's math library is not used: its results differ between systems in the last bit.
    for _ in range(_HALVINGS):
        size = math.sqrt(sine * sine + cosine * cosine)
        if size == 0.0:
            return 0.0
        if cosine >= 0.0:
            cosine += size
        else:  # the same direction, without a difference of near numbers
            sine, cosine = math.copysign(size - cosine, sine), abs(sine)
    tangent, total = sine / cosine, 0.0
    square = tangent * tangent
    for k in range(_TERMS - 1, -1, -1):  # the series of the arc tangent
        total = 1.0 / (2 * k + 1) - square * total
    return tangent * total * 2.0**_HALVINGS


@kernel(holds_gil=True)
def sine_and_cosine(angle: float) -> tuple[float, float]:
    """Return the sine and the cosine of an angle from -pi to pi."""
    # No library functions, as above. For an angle 64 times smaller, the first terms of the series
    # are exact to rounding.
    small = angle / 2.0**_DOUBLINGS
    square = small * small
    sine = small * (1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0)))
    # 1 - cosine is small, and computed by itself it keeps its digits.
    less = 0.5 * square * (1.0 - square / 12.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0)))
    for _ in range(_DOUBLINGS):
        sine, less = 2.0 * sine * (1.0 - less), 2.0 * sine * sine
    return sine, 1.0 - less


@kernel(noinline=True)
def turning(a: Mat3, b: Mat3, seconds: float) -> Vec3:
    """Return the angular velocity in rad/s of a body that turns from a to b in some seconds."""
    if a == b:
        return (0.0, 0.0, 0.0)
    w, x, y, z = quaternion_of(turn_between(a, b))
    sine = math.sqrt(x * x + y * y + z * z)
    if sine == 0.0:
        return (0.0, 0.0, 0.0)
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    rate = 2.0 * angle_of(sine, w) / (sine * seconds)
    return (x * rate, y * rate, z * rate)


@kernel(inline=True)
def point_velocity(velocity: Vec3, spin: Vec3, arm: Vec3) -> Vec3:
    """Return the velocity of a point of a turning frame, ``arm`` from its origin."""
    return (
        velocity[0] + (spin[1] * arm[2] - spin[2] * arm[1]),
        velocity[1] + (spin[2] * arm[0] - spin[0] * arm[2]),
        velocity[2] + (spin[0] * arm[1] - spin[1] * arm[0]),
    )

"""The point where an edge crosses a plane or another edge, given that they cross.

The point divides the edge in the ratio of the volumes (or areas) over its two ends. They are
computed in 106 bits, or exactly where those cancel, so that the point is off by at most a few
roundings of the ends of its edge, however small the angle and however thin the triangle.
Coordinates must be from 2^-150 to 2^150 in size, or so much smaller than others that they do not
matter.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.double_double import cross, difference, dot
from terrain_physics._kernels.math.orientation import exact_area, exact_volume
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, subtract

# A value above this part of the sum of its terms' sizes is used as it is. Rounding in 106 bits
# stays below 2^-95 of that sum.
_TRUSTED = 2.0**-45


@kernel(inline=True)
def _extent(a: Vec3, b: Vec3) -> float:
    return abs(b[0] - a[0]) + abs(b[1] - a[1]) + abs(b[2] - a[2])


@kernel
def _volume(a: Vec3, b: Vec3, c: Vec3, p: Vec3) -> float:
    """Return six times the volume of p over a, b, c, exact to 50 bits."""
    value = dot(difference(p, a), cross(difference(b, a), difference(c, a)))[0]
    if abs(value) > _TRUSTED * (_extent(a, b) * _extent(a, c) * _extent(a, p)):
        return value
    return exact_volume(a, b, c, p)


@kernel
def _between(p: Vec3, q: Vec3, from_p: float, from_q: float) -> Vec3:
    """Return the point that divides p-q in the ratio of these distances from its ends."""
    from_p, from_q = abs(from_p), abs(from_q)
    whole = from_p + from_q
    if whole == 0.0:  # only for coordinates out of range
        return add_scaled(p, subtract(q, p), 0.5)
    if from_p <= from_q:
        return add_scaled(p, subtract(q, p), from_p / whole)
    return add_scaled(q, subtract(p, q), from_q / whole)


@kernel
def on_plane(p: Vec3, q: Vec3, a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Return the point of the edge p-q on the plane a, b, c."""
    return _between(p, q, _volume(a, b, c, p), _volume(a, b, c, q))


@kernel
def on_edge(p: Vec3, q: Vec3, a: Vec3, b: Vec3, axis: int) -> Vec3:
    """Return the point of the edge p-q on the edge a-b.

    All four points lie on one plane; projected along the axis, the edges are not on one line.
    """
    i = (axis + 1) % 3
    j = (axis + 2) % 3
    from_p = exact_area(a[i], a[j], b[i], b[j], p[i], p[j])
    from_q = exact_area(a[i], a[j], b[i], b[j], q[i], q[j])
    return _between(p, q, from_p, from_q)

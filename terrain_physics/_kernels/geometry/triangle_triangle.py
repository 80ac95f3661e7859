"""Triangle against triangle: whether they touch, and the segment in which they cross.

Source: P. Guigue, O. Devillers, "Fast and robust triangle-triangle overlap test using orientation
predicates" (2003). Every decision is an exact sign (see ``math/orientation.py``), so the answers
are those of exact arithmetic, and the same for any order of triangles and corners. Only the places
of the ends of a crossing are computed in float64.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.coplanar_triangles import (
    APART,
    CROSSING,
    coplanar_triangles_share,
    coplanar_triangles_touch,
)
from terrain_physics._kernels.geometry.edge_crossing import on_plane
from terrain_physics._kernels.math.orientation import plane_side, plane_sides
from terrain_physics._kernels.math.vec3 import Vec3, scale

Sides = tuple[int, int, int]
Corners = tuple[Vec3, Vec3, Vec3]

# (Whether an end of the crossing is a corner, and so exact; the end.)
End = tuple[bool, Vec3]

_ZERO = (0.0, 0.0, 0.0)

# Sixth powers of lengths between these neither overflow nor vanish.
_LARGEST = 2.0**150
_SMALLEST = 2.0**-100


@kernel(inline=True)
def _one_side(sides: Sides) -> bool:
    """Tell whether all three corners lie strictly on one side."""
    return sides[0] != 0 and sides[0] == sides[1] and sides[0] == sides[2]


@kernel(inline=True)
def _all_on(sides: Sides) -> bool:
    """Tell whether all three corners lie on the plane, or there is no plane."""
    return sides[0] == 0 and sides[1] == 0 and sides[2] == 0


@kernel(inline=True)
def _is_apex(own: int, left: int, right: int) -> bool:
    """Tell whether a corner is alone on its side of a plane, given the sides of the two others."""
    if own == 0:
        return left * right > 0
    return own * left <= 0 and own * right <= 0


@kernel
def _from_apex(a: Vec3, b: Vec3, c: Vec3, sides: Sides) -> tuple[Vec3, Vec3, Vec3, int, int, int]:
    """Return the corners rotated so that the first is the apex, and their sides."""
    if _is_apex(sides[0], sides[1], sides[2]):
        return a, b, c, sides[0], sides[1], sides[2]
    if _is_apex(sides[1], sides[2], sides[0]):
        return b, c, a, sides[1], sides[2], sides[0]
    return c, a, b, sides[2], sides[0], sides[1]


@kernel(inline=True)
def _points_down(own: int, other: int) -> bool:
    """Tell whether the apex is behind the plane, or on it with the others in front."""
    return own < 0 or (own == 0 and other > 0)


@kernel
def _line_pierces(p: Vec3, q: Vec3, a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Tell whether the line p-q, not in the plane of a triangle with area, goes through it."""
    first, second, third = plane_side(p, q, a, b), plane_side(p, q, b, c), plane_side(p, q, c, a)
    above = first > 0 or second > 0 or third > 0
    below = first < 0 or second < 0 or third < 0
    return not (above and below)


@kernel
def _segment_touches(a: Vec3, b: Vec3, c: Vec3, sides: Sides, d: Vec3, e: Vec3, f: Vec3) -> bool:
    """Tell whether a, b, c, on one line that crosses the plane of d, e, f, touch this triangle."""
    if sides[0] * sides[1] <= 0 and sides[0] != sides[1]:
        return _line_pierces(a, b, d, e, f)
    return _line_pierces(a, c, d, e, f)


@kernel
def triangles_touch(a: Vec3, b: Vec3, c: Vec3, d: Vec3, e: Vec3, f: Vec3) -> bool:
    """Tell whether the triangles a, b, c and d, e, f have a point in common."""
    of_second = plane_sides(a, b, c, d, e, f)
    if _one_side(of_second):
        return False
    of_first = plane_sides(d, e, f, a, b, c)
    if _one_side(of_first):
        return False
    if _all_on(of_second):
        if _all_on(of_first):
            return coplanar_triangles_touch(a, b, c, d, e, f)
        return _segment_touches(a, b, c, of_first, d, e, f)
    if _all_on(of_first):
        return _segment_touches(d, e, f, of_second, a, b, c)

    # Both cross the line common to the planes, each in an interval between the two edges at its
    # apex. With both apexes in front, two volumes tell whether the intervals overlap.
    p, q, r, p_side, q_side, _ = _from_apex(a, b, c, of_first)
    s, t, u, s_side, t_side, _ = _from_apex(d, e, f, of_second)
    if _points_down(p_side, q_side):
        t, u = u, t
    if _points_down(s_side, t_side):
        q, r = r, q
    return plane_side(p, q, s, t) <= 0 and plane_side(p, r, s, u) >= 0


@kernel(inline=True)
def _before(a: Vec3, b: Vec3) -> bool:
    """Tell whether a comes before b: by x, then y, then z."""
    if a[0] != b[0]:
        return a[0] < b[0]
    if a[1] != b[1]:
        return a[1] < b[1]
    return a[2] < b[2]


@kernel
def _in_order(a: Vec3, b: Vec3, c: Vec3) -> tuple[Vec3, Vec3, Vec3]:
    if _before(b, a):
        a, b = b, a
    if _before(c, b):
        b, c = c, b
        if _before(b, a):
            a, b = b, a
    return a, b, c


@kernel
def _comes_first(a: Vec3, b: Vec3, c: Vec3, d: Vec3, e: Vec3, f: Vec3) -> bool:
    """Tell whether the ordered corners a, b, c come before d, e, f."""
    if _before(a, d) or _before(d, a):
        return _before(a, d)
    if _before(b, e) or _before(e, b):
        return _before(b, e)
    return _before(c, f)


@kernel
def _end(p: Vec3, q: Vec3, p_side: int, q_side: int, plane: Corners) -> End:
    """Return where the edge p-q, its ends not both on one side of a plane, crosses that plane."""
    if p_side == 0:
        return True, p
    if q_side == 0:
        return True, q
    return False, on_plane(p, q, plane[0], plane[1], plane[2])


@kernel
def _pierced(a: Vec3, b: Vec3, c: Vec3, sides: Sides, plane: Corners) -> tuple[int, Vec3, Vec3]:
    """Return where a, b, c, in order along a line, hit a face that lies on another plane."""
    p, q, p_side, q_side = a, b, sides[0], sides[1]
    if p_side == q_side:
        p, q, p_side, q_side = b, c, sides[1], sides[2]
    _, point = _end(p, q, p_side, q_side, plane)
    if p_side * q_side != 0:  # not an end of the segment, so perhaps a corner of the face
        for k in range(3):
            before, corner, after = plane[(k + 2) % 3], plane[k], plane[(k + 1) % 3]
            if plane_side(p, q, before, corner) == 0 and plane_side(p, q, corner, after) == 0:
                point = corner
    return CROSSING, point, point


@kernel(inline=True)
def _inner(order: int, first: End, second: End) -> Vec3:
    """Return the second end if the order is > 0, the first if < 0; if 0, one that is exact."""
    if order > 0 or (order == 0 and second[0]):
        return second[1]
    return first[1]


@kernel
def _share(a: Vec3, b: Vec3, c: Vec3, d: Vec3, e: Vec3, f: Vec3) -> tuple[int, Vec3, Vec3]:
    """Return what two triangles that touch share; the corners of each are in order."""
    of_second = plane_sides(a, b, c, d, e, f)
    of_first = plane_sides(d, e, f, a, b, c)
    if _all_on(of_second) and _all_on(of_first):
        return coplanar_triangles_share(a, b, c, d, e, f)
    one, two = (a, b, c), (d, e, f)
    if _all_on(of_second):
        return _pierced(a, b, c, of_first, two)
    if _all_on(of_first):
        return _pierced(d, e, f, of_second, one)

    p, q, r, p_side, q_side, r_side = _from_apex(a, b, c, of_first)
    s, t, u, s_side, t_side, u_side = _from_apex(d, e, f, of_second)
    if _points_down(p_side, q_side):
        t, u, t_side, u_side = u, t, u_side, t_side
    if _points_down(s_side, t_side):
        q, r, q_side, r_side = r, q, r_side, q_side
    # Along that line the first covers `low` to `high`, the second `start` to `end`.
    low, high = _end(p, r, p_side, r_side, two), _end(p, q, p_side, q_side, two)
    start, end = _end(s, t, s_side, t_side, one), _end(s, u, s_side, u_side, one)
    if plane_side(p, q, s, t) == 0:
        point = _inner(0, high, start)
        return CROSSING, point, point
    if plane_side(p, r, s, u) == 0:
        point = _inner(0, low, end)
        return CROSSING, point, point
    return (
        CROSSING,
        _inner(plane_side(p, r, s, t), low, start),
        _inner(-plane_side(p, q, s, u), high, end),
    )


@kernel
def triangles_cross(a: Vec3, b: Vec3, c: Vec3, d: Vec3, e: Vec3, f: Vec3) -> tuple[int, Vec3, Vec3]:
    """Return what the triangles a, b, c and d, e, f share.

    (0, zeros, zeros): nothing. (1, start, end): a segment, or a point twice. (2, zeros, zeros): an
    area, in one plane.
    """
    if not triangles_touch(a, b, c, d, e, f):
        return APART, _ZERO, _ZERO
    a, b, c = _in_order(a, b, c)
    d, e, f = _in_order(d, e, f)
    if _comes_first(d, e, f, a, b, c):
        a, b, c, d, e, f = d, e, f, a, b, c
    largest = 0.0
    for k in range(3):
        largest = max(largest, abs(a[k]), abs(b[k]), abs(c[k]), abs(d[k]), abs(e[k]), abs(f[k]))
    factor, back = 1.0, 1.0
    if largest > _LARGEST or 0.0 < largest < _SMALLEST:
        power = max(min(-math.frexp(largest)[1], 1000), -1000)
        factor, back = math.ldexp(1.0, power), math.ldexp(1.0, -power)
    a, b, c = scale(a, factor), scale(b, factor), scale(c, factor)
    d, e, f = scale(d, factor), scale(e, factor), scale(f, factor)
    kind, start, end = _share(a, b, c, d, e, f)
    start, end = scale(start, back), scale(end, back)
    if _before(end, start):
        start, end = end, start
    return kind, start, end

"""Two coplanar triangles, or two without area: whether they touch, and what they share.

Used where the planes decide nothing: every corner lies on the plane of the other triangle, or
neither triangle has a plane. All decisions are exact signs in a projection along an axis in which
the common plane keeps its area.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.edge_crossing import on_edge
from terrain_physics._kernels.math.orientation import line_side, plane_side
from terrain_physics._kernels.math.vec3 import Vec3, dot, subtract

# Sides of the corners p, q, r: of the edge a-b, then of b-c, then of c-a.
Sides = tuple[int, int, int, int, int, int, int, int, int]

_SKEW = -1
_ONE_LINE = -2

APART = 0
CROSSING = 1
OVERLAP = 2


@kernel(inline=True)
def _turn(a: Vec3, b: Vec3, p: Vec3, axis: int) -> int:
    """Return the side of the line a-b on which p lies, seen along an axis."""
    i = (axis + 1) % 3
    j = (axis + 2) % 3
    return line_side(a[i], a[j], b[i], b[j], p[i], p[j])


@kernel
def _edge_sides(a: Vec3, b: Vec3, c: Vec3, p: Vec3, q: Vec3, r: Vec3, axis: int) -> Sides:
    return (
        _turn(a, b, p, axis),
        _turn(a, b, q, axis),
        _turn(a, b, r, axis),
        _turn(b, c, p, axis),
        _turn(b, c, q, axis),
        _turn(b, c, r, axis),
        _turn(c, a, p, axis),
        _turn(c, a, q, axis),
        _turn(c, a, r, axis),
    )


@kernel
def _any(sides: Sides) -> bool:
    for side in sides:
        if side != 0:
            return True
    return False


@kernel
def _view(a: Vec3, b: Vec3, c: Vec3, d: Vec3, e: Vec3, f: Vec3) -> int:
    """Return an axis along which to project the common plane; or _SKEW or _ONE_LINE."""
    for turn in range(3):
        axis = (turn + 1) % 3  # +Y first: floors are most common
        if _turn(a, b, c, axis) != 0 or _turn(d, e, f, axis) != 0:
            return axis
    # Neither has area. Two different corners of each, if there are any, span its line.
    if (
        plane_side(a, b, d, e) != 0
        or plane_side(a, b, d, f) != 0
        or plane_side(a, c, d, e) != 0
        or plane_side(a, c, d, f) != 0
    ):
        return _SKEW
    for axis in range(3):
        if _any(_edge_sides(a, b, c, d, e, f, axis)) or _any(_edge_sides(d, e, f, a, b, c, axis)):
            return axis
    return _ONE_LINE


@kernel
def _parts(sides: Sides, own: int) -> bool:
    """Tell whether any edge has the other triangle strictly on its outer side.

    ``own`` is the side of the triangle's own third corner. Without area both sides are outer ones.
    """
    for k in range(0, 9, 3):
        side = sides[k]
        if side != 0 and side != own and sides[k + 1] == side and sides[k + 2] == side:
            return True
    return False


@kernel
def _borders(sides: Sides, own: int) -> bool:
    """Tell whether any edge has no corner of the other triangle on its inner side."""
    for k in range(0, 9, 3):
        if sides[k] != own and sides[k + 1] != own and sides[k + 2] != own:
            return True
    return False


@kernel
def _in_box(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Tell whether p is in the bounds of a, b, c; on one line with them, whether it is between."""
    for k in range(3):
        if p[k] < min(a[k], b[k], c[k]) or p[k] > max(a[k], b[k], c[k]):
            return False
    return True


@kernel
def _boxes_overlap(a: Vec3, b: Vec3, c: Vec3, d: Vec3, e: Vec3, f: Vec3) -> bool:
    for k in range(3):
        if max(a[k], b[k], c[k]) < min(d[k], e[k], f[k]):
            return False
        if max(d[k], e[k], f[k]) < min(a[k], b[k], c[k]):
            return False
    return True


@kernel
def coplanar_triangles_touch(a: Vec3, b: Vec3, c: Vec3, d: Vec3, e: Vec3, f: Vec3) -> bool:
    """Tell whether two coplanar triangles, or two without area, have a point in common."""
    if not _boxes_overlap(a, b, c, d, e, f):
        return False
    axis = _view(a, b, c, d, e, f)
    if axis == _SKEW:
        return False
    if axis == _ONE_LINE:
        return True
    if _parts(_edge_sides(a, b, c, d, e, f, axis), _turn(a, b, c, axis)):
        return False
    return not _parts(_edge_sides(d, e, f, a, b, c, axis), _turn(d, e, f, axis))


@kernel
def _stretch(found: bool, start: Vec3, end: Vec3, p: Vec3) -> tuple[Vec3, Vec3]:
    """Return the ends of a segment extended to p; all points are on one line."""
    if not found:
        return p, p
    whole, head, tail = subtract(end, start), subtract(p, start), subtract(end, p)
    length2, head2, tail2 = dot(whole, whole), dot(head, head), dot(tail, tail)
    if tail2 > length2 and tail2 >= head2:
        return p, end
    if head2 > length2:
        return start, p
    return start, end


@kernel
def _inside(sides: Sides, k: int, p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Tell whether p, corner k of the other triangle, is in a, b, c."""
    above = sides[k] > 0 or sides[k + 3] > 0 or sides[k + 6] > 0
    below = sides[k] < 0 or sides[k + 3] < 0 or sides[k + 6] < 0
    return not (above and below) and _in_box(p, a, b, c)


@kernel
def coplanar_triangles_share(
    a: Vec3, b: Vec3, c: Vec3, d: Vec3, e: Vec3, f: Vec3
) -> tuple[int, Vec3, Vec3]:
    """Return what two such triangles share if they touch: (OVERLAP, zeros) or (CROSSING, its ends).

    The corners of each are in order: a, b, c follow each other along a line if there is no area.
    """
    start, end = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    found = False
    first, second = (a, b, c), (d, e, f)
    axis = _view(a, b, c, d, e, f)
    if axis == _ONE_LINE:
        for k in range(3):
            if _in_box(first[k], d, e, f):
                start, end = _stretch(found, start, end, first[k])
                found = True
            if _in_box(second[k], a, b, c):
                start, end = _stretch(found, start, end, second[k])
                found = True
        return CROSSING, start, end
    one, two = _edge_sides(a, b, c, d, e, f, axis), _edge_sides(d, e, f, a, b, c, axis)
    own_one, own_two = _turn(a, b, c, axis), _turn(d, e, f, axis)
    if own_one != 0 and own_two != 0 and not _borders(one, own_one) and not _borders(two, own_two):
        return OVERLAP, start, end
    for k in range(3):
        if _inside(two, k, first[k], d, e, f):
            start, end = _stretch(found, start, end, first[k])
            found = True
        if _inside(one, k, second[k], a, b, c):
            start, end = _stretch(found, start, end, second[k])
            found = True
    # With three corners on one line, the edges a-b and b-c cover c-a: a crossing counts once.
    for i in range(3 if own_one != 0 else 2):
        for k in range(3 if own_two != 0 else 2):
            i_end = (i + 1) % 3
            k_end = (k + 1) % 3
            if one[3 * i + k] * one[3 * i + k_end] < 0 and two[3 * k + i] * two[3 * k + i_end] < 0:
                point = on_edge(first[i], first[i_end], second[k], second[k_end], axis)
                start, end = _stretch(found, start, end, point)
                found = True
    return CROSSING, start, end

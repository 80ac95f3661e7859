"""A quick verdict on one sphere and one triangle, which is either proven or undecided.

It is written once for float32 (sixteen triangles side by side in the counter) and float64 (the
first step of the definition): every constant is an argument, of the caller's own type.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, dot, subtract

APART, TOUCHING, UNDECIDED = np.int32(0), np.int32(1), np.int32(2)


@kernel(inline=True)
def _ratio(part: float, rest: float, zero: float, one: float) -> float:
    """Return part / (part + rest) clamped to 0..1, for an edge; 0 for an edge without length."""
    whole = part + rest
    has_length = whole > zero
    share = part / (whole if has_length else one)
    share = share if has_length & (share > zero) else zero
    return share if share < one else one


@kernel(inline=True)
def verdict(
    a: Vec3,
    b: Vec3,
    c: Vec3,
    inside: float,
    outside: float,
    near: float,
    far: float,
    band: float,
    share: float,
    zero: float,
    one: float,
) -> np.int32:
    """Return APART, TOUCHING or UNDECIDED; the first two are certain.

    ``a, b, c`` lead from the three corners to the center of the sphere. All other numbers are
    squared distances. If the farthest corner is below ``inside``, the triangle is wholly inside; at
    ``outside`` or more it reaches out. A point at ``near`` or less is touched, a point beyond
    ``far`` is not. ``band`` and ``share`` widen the last two; ``zero`` and ``one`` set the type.

    Why it is certain: let u be half an ulp of 1, M the largest corner square, r the radius
    (tolerance included), and let each given vector be off by at most eps + u sqrt(M). The caller
    promises near <= r^2 - E, far >= r^2 + E, band >= 2 E, share >= 64 u with E = 2 eps r + 10 u
    r^2 + eps^2.

    *Touching*: w = a - s (a - b) - t (a - c), s, t >= 0, s + t <= 1 + 4 u, leads from a point of
    the triangle to the center for any such s and t, so they need not be accurate. Rounding moves w
    by less than eps + 20 u sqrt(M). So the true square is below w.w + 2 eps r + 44 u M + small,
    which is less than w.w + band + share M.

    *Apart*: for every point x of the triangle, w . (center - x) >= g, the least of w.a, w.b, w.c.
    So the distance is at least g / sqrt(w.w) for any w; rounding moves that by less than eps
    + 4 u sqrt(M). Hence g > 0 and g^2 > w.w (far + band + share M) proves it.

    Slivers, points and near ties fail both tests; so does NaN, as both are positive comparisons.
    """
    aa, bb, cc = dot(a, a), dot(b, b), dot(c, c)
    largest = aa if aa > bb else bb
    largest = cc if cc > largest else largest
    slack = band + share * largest

    ab = subtract(a, b)
    ac = subtract(a, c)
    d1, d2 = dot(ab, a), dot(ac, a)
    d3, d4 = dot(ab, b), dot(ac, b)
    d5, d6 = dot(ab, c), dot(ac, c)
    # The closest point on each edge, and the one of these that is closest to the center.
    s, t = _ratio(d1, -d3, zero, one), zero
    w = add_scaled(a, ab, -s)
    square = dot(w, w)
    on_ac = _ratio(d2, -d6, zero, one)
    other = add_scaled(a, ac, -on_ac)
    other_square = dot(other, other)
    closer = other_square < square
    s, t = (zero if closer else s), (on_ac if closer else t)
    square = other_square if closer else square
    on_bc = _ratio(d4 - d3, d5 - d6, zero, one)
    other = add_scaled(b, subtract(b, c), -on_bc)
    closer = dot(other, other) < square
    s, t = (one - on_bc if closer else s), (on_bc if closer else t)
    # Barycentric coordinates of the foot point (Ericson, Real-Time Collision Detection, 5.1.5).
    area_a, area_b, area_c = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    over_face = (area_a > zero) & (area_b > zero) & (area_c > zero)
    area = area_a + area_b + area_c
    area = area if over_face else one
    s, t = (area_b / area if over_face else s), (area_c / area if over_face else t)

    w = subtract(subtract(a, (ab[0] * s, ab[1] * s, ab[2] * s)), (ac[0] * t, ac[1] * t, ac[2] * t))
    square = dot(w, w)
    wa, wb, wc = dot(w, a), dot(w, b), dot(w, c)
    least = wa if wa < wb else wb
    least = wc if wc < least else least
    apart = (least > zero) & (least * least > square * (far + slack))
    touching = (square + slack <= near) & (largest >= outside)
    decided = TOUCHING if touching else UNDECIDED
    return APART if apart | (largest < inside) else decided

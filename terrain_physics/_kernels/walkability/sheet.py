"""Open land: one walkable sheet of ground, on which nothing can stop a walk."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.scene import Scene
from terrain_physics._kernels.ground.candidates import NORMAL, PART, THICKNESS, A, B, C, three
from terrain_physics._kernels.math.vec3 import Vec3, dot
from terrain_physics._kernels.surface.shapes import extent_along
from terrain_physics._kernels.tolerances import CONTACT_MARGIN

# Areas of a sheet without a hole differ by no more from that of the rectangle around it: a share.
_AREA_SHARE = 1e-9


@kernel(inline=True)
def _aside(place: Vec3, heading: Vec3) -> float:
    """Return how far a place is beside a way, signed."""
    return place[0] * heading[2] - place[2] * heading[0]


@kernel(noinline=True, no_refcount=True)
def _part_over(scene: Scene, k: int, heading: Vec3, wide: float) -> tuple[float, float]:
    """Return from where to where along a way a strip of half a width is over a candidate.

    If it never is, the first is infinity, and the second minus infinity.
    """
    corners = (
        three(scene.candidates, k, A), three(scene.candidates, k, B), three(scene.candidates, k, C)
    )  # fmt: skip
    first, last = np.inf, -np.inf
    for i in range(3):
        p, q = corners[i], corners[(i + 1) % 3]
        from_p, from_q = _aside(p, heading), _aside(q, heading)
        if abs(from_p) <= wide:
            first, last = min(first, dot(p, heading)), max(last, dot(p, heading))
        for border in (wide, -wide):
            if (from_p < border) != (from_q < border):
                share = (border - from_p) / (from_q - from_p)
                crossing = dot(p, heading) + share * (dot(q, heading) - dot(p, heading))
                first, last = min(first, crossing), max(last, crossing)
    return first, last


@kernel(noinline=True, no_refcount=True)
def closed_part(scene: Scene, heading: Vec3, size: float, walkable: float) -> tuple[float, float]:
    """Return (first, last): only between them may a body on a straight way meet what is not open.

    The way leads from the origin of the scene for ``size`` meters. Beside that part, the body is
    over one map, walkable all over. All of a way is closed if there is another part or a hole:
    cells are rectangles, so those around the way form one without holes if their areas add up. If
    nothing is closed, ``first`` is infinity.
    """
    rows, half, area, start, end = scene.candidates, scene.body.half_extents, 0.0, np.inf, -np.inf
    low_x, high_x, low_z, high_z = np.inf, -np.inf, np.inf, -np.inf
    ahead = extent_along(scene.body, heading) + CONTACT_MARGIN
    wide = extent_along(scene.body, (heading[2], 0.0, -heading[0])) + CONTACT_MARGIN
    for k in range(scene.size):
        if not rows[k, THICKNESS] > 0.0 or rows[k, PART] != rows[0, PART]:
            return 0.0, size
        ax, bx, cx = float(rows[k, A]), float(rows[k, B]), float(rows[k, C])
        az, bz, cz = float(rows[k, A + 2]), float(rows[k, B + 2]), float(rows[k, C + 2])
        low_x, high_x = min(low_x, ax, bx, cx), max(high_x, ax, bx, cx)
        low_z, high_z = min(low_z, az, bz, cz), max(high_z, az, bz, cz)
        area += abs((bx - ax) * (cz - az) - (cx - ax) * (bz - az))
        if rows[k, NORMAL + 1] < walkable:
            first, last = _part_over(scene, k, heading, wide)
            if first - ahead <= size and last + ahead >= 0.0:
                start, end = min(start, first - ahead), max(end, last + ahead)
    along_x, along_z = size * heading[0], size * heading[2]
    margin_x, margin_z = half[0] + CONTACT_MARGIN, half[2] + CONTACT_MARGIN
    covers = (
        low_x <= min(along_x, 0.0) - margin_x
        and low_z <= min(along_z, 0.0) - margin_z
        and high_x >= max(along_x, 0.0) + margin_x
        and high_z >= max(along_z, 0.0) + margin_z
    )
    whole = 2.0 * (high_x - low_x) * (high_z - low_z)
    if not covers or area < whole * (1.0 - _AREA_SHARE):
        return 0.0, size
    return (max(start, 0.0), min(end, size)) if start < np.inf else (np.inf, np.inf)

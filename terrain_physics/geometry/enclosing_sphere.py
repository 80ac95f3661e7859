"""The smallest sphere around points.

The kernel has a closed form for up to four points, and pivots for more.
"""

from typing import Any

import numpy as np

from terrain_physics._kernels.geometry.enclosing_sphere import enclosing_spheres
from terrain_physics._kernels.types import Floats
from terrain_physics._public import hinted
from terrain_physics._support import checks
from terrain_physics.geometry.shapes import Sphere

# A few rounds are usual, thirty are rare. The cap ends a search that would go on by rounding.
_MAX_ROUNDS = 1000


@hinted
def smallest_enclosing_sphere(points: Any) -> Sphere:
    """Return the smallest sphere that holds all points.

    Points may be repeated, lie on one line, in one plane or on one sphere. A single point has a
    sphere of radius 0. Points in another order give the same sphere except for rounding; points in
    the same order give the same bits.

    Parameters
    ----------
    points : array_like of shape (n, 3), or sequence of vectors
        One point or more, in meters.

    Returns
    -------
    Sphere
        ``center64`` and ``radius`` are its float64 values. No point is farther from
        ``center64`` than ``radius * (1 + 1e-15)``, and no sphere with a radius less than
        ``radius * (1 - 1e-14) - ulp`` holds all points. The ulp is the distance between neighboring
        floats at the largest coordinate, since the center is rounded to float64. This holds for
        radii from 1e-290 to 1e290. ``center`` is rounded further, to float32.

    Raises
    ------
    ValueError
        For no points, other shapes, non-finite coordinates, and a radius too large for float64.
    TypeError
        If the input does not hold real numbers.

    See Also
    --------
    terrain_physics.rows.smallest_enclosing_sphere : the same for many sets of points, as arrays.

    Notes
    -----
    The search starts from the first point. In each round the point farthest from the center is
    added to the one to four points that the sphere rests on, and the smallest sphere around those
    takes its place, until no point sticks out. No set of points is known to need 1000 rounds; if
    one did, the last center is kept, and the radius is at most twice the smallest.

    Examples
    --------
    >>> smallest_enclosing_sphere([(0, 0, 0), (4, 0, 0), (2, 1, 0)])
    Sphere(center64=(2.0, 0.0, 0.0), radius=2.0)
    >>> from pyglm import glm
    >>> smallest_enclosing_sphere([glm.vec3(1, 2, 3)]).radius
    0.0
    """
    if isinstance(points, list | tuple) and points and hasattr(points[0], "x"):
        points = [checks.vector(f"points[{i}]", point) for i, point in enumerate(points)]
    rows = checks.points("points", points)
    if len(rows) == 0:
        raise ValueError("points must be one or more, got none")
    x, y, z, radius = enclosing_rows(rows[np.newaxis])[0].tolist()
    return Sphere((x, y, z), radius)


def enclosing_rows(sets: Floats) -> Floats:
    """Return the smallest spheres (m, 4) around sets of points (m, k, 3); k >= 1."""
    out = np.empty((len(sets), 4))
    enclosing_spheres(sets, _MAX_ROUNDS, out)
    out += 0.0  # never -0
    if not np.isfinite(out).all():
        row = np.flatnonzero(~np.isfinite(out).all(axis=1))[0]
        where = "points" if len(sets) == 1 else f"points[{row}]"
        raise ValueError(f"{where} must fit in a sphere whose radius float64 can hold")
    return out

"""Smallest spheres around many sets of points."""

from typing import Any

from terrain_physics._kernels.types import Floats
from terrain_physics._public import hinted
from terrain_physics._support import checks
from terrain_physics.geometry.enclosing_sphere import enclosing_rows


@hinted
def smallest_enclosing_sphere(points: Any) -> Floats:
    """Return the smallest sphere around each of m sets of k points.

    Parameters
    ----------
    points : array_like, shape (m, k, 3)
        In meters; k >= 1. Fill up smaller sets by repeating one of their points.

    Returns
    -------
    ndarray of float64, shape (m, 4)
        x, y, z, radius in meters, as exact as `terrain_physics.smallest_enclosing_sphere` is.

    Raises
    ------
    ValueError
        For sets of no points, other shapes, non-finite coordinates, and radii too large for
        float64.
    TypeError
        If the input does not hold real numbers.

    Examples
    --------
    >>> triangles = [[(0, 0, 0), (4, 0, 0), (2, 1, 0)], [(0, 0, 3), (0, 4, 0), (0, 0, 0)]]
    >>> smallest_enclosing_sphere(triangles)
    array([[2. , 0. , 0. , 2. ],
           [0. , 2. , 1.5, 2.5]])
    """
    sets = checks.array("points", points, (None, None, 3))
    if sets.shape[1] == 0:
        raise ValueError(f"points must be one or more in each set, got shape {sets.shape}")
    return enclosing_rows(sets)

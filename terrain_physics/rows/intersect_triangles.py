"""Many triangles against triangles, by the rules of `geometry/intersect_triangles.py`."""

from typing import Any

import numpy as np

from terrain_physics._kernels.geometry.triangle_triangle_rows import (
    triangles_cross_rows,
    triangles_touch_rows,
)
from terrain_physics._kernels.types import Bools, Floats
from terrain_physics._public import hinted
from terrain_physics._support import checks
from terrain_physics._support.checks import Rows
from terrain_physics.rows.answers import answers


@hinted
def intersect_triangle_triangle(first: Any, second: Any) -> Bools:
    """Tell for each of n pairs of triangles whether they have a point in common.

    Parameters
    ----------
    first, second : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters. Without area, a triangle is a segment or a point.

    Returns
    -------
    ndarray of bool, shape (n,)
        As `terrain_physics.intersect_triangle_triangle`: touching counts.

    Raises
    ------
    ValueError
        For other shapes, non-finite values and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> intersect_triangle_triangle(
    ...     floor, [[(1, -1, 1), (1, 1, 1), (3, 1, 1)], [(1, 1, 1), (1, 2, 1), (3, 1, 1)]]
    ... )
    array([ True, False])
    """
    return answers(triangles_touch_rows, _rows(first, second), dtype=np.bool_)


@hinted
def crossing_segment(first: Any, second: Any) -> Floats:
    """Return for each of n pairs of triangles the segment they have in common.

    Parameters
    ----------
    first, second : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters. Without area, a triangle is a segment or a point.

    Returns
    -------
    ndarray of float64, shape (n, 2, 3)
        The ends in meters, by the rules of `terrain_physics.crossing_segment`; NaN where apart and
        where coplanar triangles overlap in an area.

    Raises
    ------
    ValueError
        For other shapes, non-finite values and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> crossing_segment(floor, [[(1, -1, 1), (1, 1, 1), (3, 1, 1)]])
    array([[[1., 0., 1.],
            [2., 0., 1.]]])
    """
    # Never "-0".
    return answers(triangles_cross_rows, _rows(first, second), shape=(2, 3)) + 0.0


def _rows(first: Any, second: Any) -> Rows:
    return {"first": checks.triangles("first", first), "second": checks.triangles("second", second)}

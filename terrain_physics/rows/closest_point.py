"""Closest points of many triangles and segments, by the rules of `geometry/closest_point.py`."""

from typing import Any

from terrain_physics._kernels.geometry import closest_point_rows
from terrain_physics._kernels.types import Floats
from terrain_physics._public import hinted
from terrain_physics._support import checks
from terrain_physics.rows.answers import answers


@hinted
def closest_point_on_triangle(points: Any, triangles: Any) -> Floats:
    """Return the closest points to n points, each of the triangle in its row.

    Parameters
    ----------
    points : array_like, shape (n, 3) or (1, 3)
        In meters.
    triangles : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters; without area they are segments or points.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        In meters.

    Raises
    ------
    ValueError
        For other shapes, non-finite values and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> closest_point_on_triangle([(1, 5, 1), (-3, 5, -3)], floor)
    array([[1., 0., 1.],
           [0., 0., 0.]])
    """
    rows = {
        "points": checks.points("points", points),
        "triangles": checks.triangles("triangles", triangles),
    }
    return answers(closest_point_rows.closest_on_triangle_rows, rows, shape=(3,))


@hinted
def closest_point_on_segment(points: Any, segments: Any) -> Floats:
    """Return the closest points to n points, each of the segment in its row.

    Parameters
    ----------
    points : array_like, shape (n, 3) or (1, 3)
        In meters.
    segments : array_like, shape (n, 2, 3), (n, 6) or one row
        Both ends in meters; they may coincide.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        In meters.

    Raises
    ------
    ValueError
        For other shapes, non-finite values and row counts that do not match.

    Examples
    --------
    >>> closest_point_on_segment([(1, 5, 1)], [[(0, 0, 0), (4, 0, 0)]])
    array([[1., 0., 0.]])
    """
    point_rows = checks.points("points", points)
    segment_rows = checks.array("segments", segments, (None, 2, 3), (None, 6)).reshape(-1, 2, 3)
    rows = {"points": point_rows, "segments": segment_rows}
    return answers(closest_point_rows.closest_on_segment_rows, rows, shape=(3,))

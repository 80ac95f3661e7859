"""Pairs of shapes: do they touch, and which move takes the first out of the second.

The functions of one pair take shapes and give a ``vec3``; those ending in ``_many`` take float64
arrays and give one. Both run the same kernels.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import _arrays
from terrain_physics._kernels import pairs
from terrain_physics._kernels.obb_triangle import FACE_COUNT, obb_triangle
from terrain_physics._kernels.sphere_triangle import sphere_triangle
from terrain_physics.shapes import OBB, Sphere, Triangle


def _as_vec3(move: tuple[float, float, float]) -> glm.vec3:
    return glm.vec3(move[0] + 0.0, move[1] + 0.0, move[2] + 0.0)  # + 0.0: never "-0"


def _expect(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {_arrays.shorten(value)}")


def intersect_sphere_triangle(
    sphere: Sphere, triangle: Triangle, *, two_sided: bool = False
) -> glm.vec3 | None:
    """Return the move that takes a sphere out of a triangle.

    The front face is solid: where the closest point lies inside the face, the sphere leaves along
    the front normal, also from behind. At an edge or a corner it leaves straight away from the
    closest point. Touching is contact, with a zero-length move.

    Parameters
    ----------
    sphere : Sphere
        Center and radius in meters.
    triangle : Triangle
        Three corners in meters, counter-clockwise seen from the front; may be a segment or a point.
    two_sided : bool, default False
        Leave by the shortest way, on whichever side that is.

    Returns
    -------
    glm.vec3 or None
        Penetration in meters: add it to the center and the shapes just touch. ``None`` when they
        are farther apart than the radius. A center on the triangle leaves along the normal;
        where there is no area, square to the segment, as near to straight up as that allows.

    See Also
    --------
    intersect_sphere_triangle_many : the same for arrays, in float64.

    Examples
    --------
    >>> floor = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    >>> intersect_sphere_triangle(Sphere((1, 0.75, 1), 1), floor)
    vec3( 0, 0.25, 0 )
    >>> intersect_sphere_triangle(Sphere((1, -0.25, 1), 1), floor)
    vec3( 0, 1.25, 0 )
    >>> intersect_sphere_triangle(Sphere((1, -0.25, 1), 1), floor, two_sided=True)
    vec3( 0, -0.75, 0 )
    >>> intersect_sphere_triangle(Sphere((1, 2, 1), 1), floor) is None
    True
    """
    _expect("sphere", sphere, Sphere)
    _expect("triangle", triangle, Triangle)
    touching, move = sphere_triangle(
        sphere.center64, sphere.radius, triangle.a64, triangle.b64, triangle.c64, bool(two_sided)
    )
    return _as_vec3(move) if touching else None


def intersect_obb_triangle(
    obb: OBB, triangle: Triangle, *, two_sided: bool = False
) -> glm.vec3 | None:
    """Return the move that takes a box out of a triangle, by the 13-axis separating axis test.

    Of the 13 axes (normal, box axes, edge products), each in both directions, the one with the
    least overlap wins; on a tie the earlier one in that order. One-sided, directions against the
    front normal are not allowed, so a box whose center is behind the face leaves through the front
    or sideways. Touching is contact, with a zero-length move.

    Parameters
    ----------
    obb : OBB
        Center and half extents in meters.
    triangle : Triangle
        Three corners in meters, counter-clockwise seen from the front; may be a segment or a point,
        which has no front: then every direction is allowed.
    two_sided : bool, default False
        Leave by the shortest way, on whichever side that is.

    Returns
    -------
    glm.vec3 or None
        Penetration in meters: add it to the center and the shapes just touch. ``None`` when apart.
        A center in the triangle's plane leaves along the front normal if that is a shortest way.

    See Also
    --------
    intersect_obb_triangle_many : the same for arrays, in float64.

    Notes
    -----
    Where the direction of least overlap is not allowed, each allowed direction is measured to the
    point where the shapes part, which may come before the overlap on that axis is used up.

    Examples
    --------
    >>> floor = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    >>> intersect_obb_triangle(OBB((1, 0.75, 1), (1, 1, 1)), floor)
    vec3( 0, 0.25, 0 )
    """
    _expect("obb", obb, OBB)
    _expect("triangle", triangle, Triangle)
    touching, move = obb_triangle(
        obb.center64,
        obb.half_extents64,
        obb.rotation64,
        triangle.a64,
        triangle.b64,
        triangle.c64,
        bool(two_sided),
        np.empty((FACE_COUNT, 4)),
    )
    return _as_vec3(move) if touching else None


def _common_length(**arrays: NDArray[np.float64]) -> int:
    """Return the number of rows; arrays of one row stand for any number."""
    lengths = {name: len(values) for name, values in arrays.items() if len(values) != 1}
    if len(set(lengths.values())) > 1:
        stated = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ValueError(f"arrays must have the same number of rows or one, but {stated}")
    return next(iter(lengths.values()), 1)


def _triangle_array(name: str, value: Any) -> NDArray[np.float64]:
    return _arrays.array(name, value, (None, 3, 3), (None, 9)).reshape(-1, 3, 3)


def intersect_sphere_triangle_many(
    spheres: Any, triangles: Any, *, two_sided: bool = False
) -> NDArray[np.float64]:
    """Return the penetrations of n spheres, each against the triangle in the same row.

    Parameters
    ----------
    spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.
    triangles : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters, counter-clockwise seen from the front.
    two_sided : bool, default False
        As in `intersect_sphere_triangle`.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Penetrations in meters, by the rules of `intersect_sphere_triangle`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> intersect_sphere_triangle_many([(1, 0.75, 1, 1), (1, 2, 1, 1)], floor)
    array([[0.  , 0.25, 0.  ],
           [ nan,  nan,  nan]])
    """
    sphere_rows = _arrays.array("spheres", spheres, (None, 4))
    _refuse_negative("radius", "spheres", sphere_rows[:, 3:])
    triangle_rows = _triangle_array("triangles", triangles)
    count = _common_length(spheres=sphere_rows, triangles=triangle_rows)
    out = np.empty((count, 3))
    pairs.sphere_triangle_rows(sphere_rows, triangle_rows, bool(two_sided), out)
    return out + 0.0  # never -0


def intersect_obb_triangle_many(
    centers: Any, half_extents: Any, rotations: Any, triangles: Any, *, two_sided: bool = False
) -> NDArray[np.float64]:
    """Return the penetrations of n boxes, each against the triangle in the same row.

    Any of the arrays may have one row, which then serves for all.

    Parameters
    ----------
    centers, half_extents : array_like, shape (n, 3) or (1, 3)
        In meters; half extents >= 0.
    rotations : array_like, shape (n, 3, 3) or (1, 3, 3)
        Orthonormal matrices with the box axes as columns.
    triangles : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters, counter-clockwise seen from the front.
    two_sided : bool, default False
        As in `intersect_obb_triangle`.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Penetrations in meters, by the rules of `intersect_obb_triangle`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative half extents, matrices that are no rotations
        and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> intersect_obb_triangle_many([(1, 0.75, 1)], [(1, 1, 1)], [np.eye(3)], floor)
    array([[0.  , 0.25, 0.  ]])
    """
    center_rows = _arrays.array("centers", centers, (None, 3))
    half_rows = _arrays.array("half_extents", half_extents, (None, 3))
    _refuse_negative("half extent", "half_extents", half_rows)
    rotation_rows = _arrays.rotations("rotations", rotations)
    triangle_rows = _triangle_array("triangles", triangles)
    count = _common_length(
        centers=center_rows,
        half_extents=half_rows,
        rotations=rotation_rows,
        triangles=triangle_rows,
    )
    out = np.empty((count, 3))
    pairs.obb_triangle_rows(
        center_rows, half_rows, rotation_rows, triangle_rows, bool(two_sided), out
    )
    return out + 0.0  # never -0


def _refuse_negative(what: str, name: str, values: NDArray[np.float64]) -> None:
    bad = np.argwhere(values < 0.0)
    if len(bad):
        row, column = (int(i) for i in bad[0])
        raise ValueError(f"{what} must be >= 0, got {values[row, column]} in {name}[{row}]")

"""Counts of triangles and spheres that are given together, in memory or lazily."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._public import hinted
from terrain_physics._support import checks
from terrain_physics._support.lazy import is_lazy
from terrain_physics._support.threads import Workers
from terrain_physics.counter.cluster.ranges import plan
from terrain_physics.counter.counter import TouchCounter, build_tree, count_in_blocks
from terrain_physics.counter.tables import table_of


@hinted
def count_touching(
    triangles: Any, spheres: Any, *, threads: int | None = None
) -> NDArray[np.int64]:
    """Return for each sphere how many of the triangles its surface touches.

    A sphere touches a triangle if the least distance of its center to the triangle is <= radius +
    1e-10 and the greatest is >= radius - 1e-10, in meters: touching from outside or from inside
    counts, lying wholly inside does not. The counts are exact, and the same for any number of
    threads; only a triangle thinner than a billionth of its length may count as a segment.

    Parameters
    ----------
    triangles : array_like, shape (n, 9) or (n, 3, 3)
        Corners ax ay az bx by bz cx cy cz, in meters. A triangle without area counts as the
        segment or the point it is.
    spheres : array_like, shape (q, 4)
        Radius and center, r x y z, in meters.
    threads : int, optional
        How many threads count; None: one for each processor. Blocks of lazy arrays are each counted
        by the one thread of Dask that works on them.

    Returns
    -------
    ndarray of int64, shape (q,)
        Numbers of triangles, in the order of the spheres; lazy if triangles or spheres are.

    Raises
    ------
    TypeError
        If the arrays do not hold real numbers.
    ValueError
        If a shape is wrong, a number is not finite or a radius is negative; the message names
        array, row, rule and value.

    Notes
    -----
    Both may be lazy arrays or data frames of Dask, with any blocks. If only the spheres are, the
    triangles go to each worker once, as those of a `TouchCounter`. If the triangles are lazy, they
    may be more than a machine holds: then the call itself reads a sample of them, and all triangles
    and spheres once, to find out which blocks of spheres may meet which triangles, and so it takes
    its time. The counts are computed when you compute them, and both are read again. Spheres that
    are near each other should be near each other in the array: then a block of them meets few
    triangles.

    Examples
    --------
    >>> floor = [[0, 0, 0, 4, 0, 0, 0, 0, 4]]
    >>> count_touching(floor, [[1, 1, 1, 1], [1, 1, 1.5, 1], [9, 0, 0, 0]])
    array([1, 0, 0])
    """
    workers = Workers(threads)
    if is_lazy(triangles):
        counts: NDArray[np.int64] = plan(triangles, spheres, TouchCounter).counts
        return counts
    if is_lazy(spheres):
        return TouchCounter(triangles, threads=threads).count(spheres)
    corners = checks.real_array("triangles", table_of("triangles", triangles, 9))
    sphere_rows = table_of("spheres", spheres, 4)
    return count_in_blocks(workers, build_tree(workers, corners), sphere_rows)

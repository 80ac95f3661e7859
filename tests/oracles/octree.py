"""The answers of an octree, found by comparing everything with everything. NumPy only."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _corners(shapes: Array) -> tuple[Array, Array]:
    """Return the corners of boxes (n, 6); of balls (n, 4) twice the center."""
    return shapes[:, :3], shapes[:, :3] if shapes.shape[1] == 4 else shapes[:, 3:]


def _radii(shapes: Array) -> Array:
    return shapes[:, 3] if shapes.shape[1] == 4 else np.zeros(len(shapes))


def meets(first: Array, second: Array) -> NDArray[np.bool_]:
    """Return (n, m): whether n balls or boxes meet m balls or boxes, touching included."""
    lower, upper = _corners(first)
    others_lower, others_upper = _corners(second)
    gaps = np.maximum(others_lower - upper[:, None], lower[:, None] - others_upper)
    x, y, z = np.moveaxis(np.maximum(gaps, 0.0), 2, 0)
    if first.shape[1] == second.shape[1] == 6:  # no square may vanish
        return np.asarray((x == 0.0) & (y == 0.0) & (z == 0.0))
    reach = _radii(first)[:, None] + _radii(second)
    return np.asarray(x * x + y * y + z * z <= reach * reach)


def pairs(shapes: Array) -> NDArray[np.int64]:
    """Return all pairs (m, 2) of rows that meet, sorted."""
    return np.argwhere(np.triu(meets(shapes, shapes), 1)).reshape(-1, 2)


def ray_distances(origin: Array, direction: Array, shapes: Array) -> Array:
    """Return the distance (n,) to each ball or box along a unit direction, infinity if missed."""
    if shapes.shape[1] == 6:
        return _box_distances(origin, direction, shapes[:, :3], shapes[:, 3:])
    way = shapes[:, :3] - origin
    along = way @ direction
    aside = way - along[:, None] * direction
    square = shapes[:, 3] ** 2 - (aside * aside).sum(axis=1)
    near = along - np.sqrt(np.maximum(square, 0.0))
    inside = (way * way).sum(axis=1) <= shapes[:, 3] ** 2
    missed = (square < 0.0) | (near < 0.0)
    return np.where(inside, 0.0, np.where(missed, np.inf, near))


def _box_distances(origin: Array, direction: Array, lower: Array, upper: Array) -> Array:
    """Slab by slab; a ray along a slab is in it all the way or not at all."""
    near, far = np.zeros(len(lower)), np.full(len(lower), np.inf)
    for axis in range(3):
        low, high = lower[:, axis] - origin[axis], upper[:, axis] - origin[axis]
        if direction[axis] == 0.0:
            near = np.where((low > 0.0) | (high < 0.0), np.inf, near)
            continue
        ends = np.sort([low / direction[axis], high / direction[axis]], axis=0)
        near, far = np.maximum(near, ends[0]), np.minimum(far, ends[1])
    return np.where(near <= far, near, np.inf)

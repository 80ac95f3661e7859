"""Which contact of each shape is the deepest, chosen among all of them."""

import numpy as np


def deepest_rows(queries, depths, rises, inside):
    """Return the row of the deepest contact of each query that has any, the first of equals.

    ``queries`` ascend. ``rises`` are the upward parts of the normals. ``inside`` tells of every
    query whether the middle of its shape is in a map: then only contacts that lead up count, if
    there are any.
    """
    rows = []
    for query in np.unique(queries):
        own = np.arange(*(np.searchsorted(queries, query, side) for side in ("left", "right")))
        up = own[rises[own] > 0.0]
        if inside[query] and len(up):
            own = up
        rows.append(own[np.argmax(depths[own])])
    return np.array(rows, dtype=np.int64)


def is_in_map(heights, thickness, ys):
    """Tell whether places are below a surface, NaN where there is none, and above its underside."""
    return (ys < heights) & (ys > heights - thickness)

"""Whose the triangles of united maps are, and rows of several answers put in one order."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Floats, Longs


@kernel
def _last_at_most(edges: Longs, value: int) -> int:
    """Return the place of the last edge that is not above a value, of ascending edges."""
    low, high = 0, edges.shape[0]
    while high - low > 1:
        middle = (low + high) // 2
        if edges[middle] <= value:
            low = middle
        else:
            high = middle
    return low


@kernel(inline=True)
def _place_of(
    columns: int,
    row_edges: Longs,
    column_edges: Longs,
    table: Longs,
    frames: Longs,
    triangle: int,
    part: int,
) -> tuple[int, int]:
    """Return which of the parts a triangle is of, and its own id; ``part`` is a first guess."""
    row = triangle // 2 // columns
    column = triangle // 2 - row * columns
    beside, below = column - frames[part, 1], row - frames[part, 0]
    if not (0 <= below < frames[part, 2] and 0 <= beside < frames[part, 3]):
        part = int(table[_last_at_most(row_edges, row), _last_at_most(column_edges, column)])
        beside, below = column - frames[part, 1], row - frames[part, 0]
    return part, int(2 * (below * frames[part, 3] + beside) + triangle % 2)


@kernel
def owner_of(
    columns: int,
    row_edges: Longs,
    column_edges: Longs,
    table: Longs,
    frames: Longs,
    first_ids: Longs,
    parts: Longs,
    triangle: int,
) -> tuple[int, int]:
    """Return what `put_owners` writes for one triangle: its id and the part it is of."""
    if triangle < 0:
        return triangle, int(parts[0])
    part, own = _place_of(columns, row_edges, column_edges, table, frames, triangle, 0)
    return int(first_ids[part]) + own, int(parts[part])


@kernel
def put_owners(
    columns: int,
    row_edges: Longs,
    column_edges: Longs,
    table: Longs,
    frames: Longs,
    first_ids: Longs,
    parts: Longs,
    triangles: Longs,
    owners: Longs,
) -> bool:
    """Write whose triangles (n,) of a map with so many columns are, and over them their own ids.

    The table (row edges, column edges) holds which of k parts begins there; frames (k, 4) their
    first cells and sizes. What is -1 stays. Returns whether the parts ascend.
    """
    part, ascend = 0, True
    for i in range(triangles.shape[0]):
        triangle = int(triangles[i])
        if triangle < 0:
            owners[i] = parts[0]
        else:
            # Most are where the last one was.
            part, own = _place_of(columns, row_edges, column_edges, table, frames, triangle, part)
            owners[i] = parts[part]
            triangles[i] = first_ids[part] + own
        ascend = ascend and (i == 0 or owners[i] >= owners[i - 1])
    return ascend


@kernel
def put_rows(places: Longs, rows: Floats, out: Floats) -> None:
    """Write rows (n, 3) to their places; those below 0 are left out."""
    for k in range(places.shape[0]):
        place = int(places[k])
        if place >= 0:
            out[place, 0], out[place, 1], out[place, 2] = rows[k, 0], rows[k, 1], rows[k, 2]

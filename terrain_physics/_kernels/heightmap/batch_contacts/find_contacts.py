"""The search for the triangles of a height map that shapes touch: its stages, one by one.

For a chunk of shapes the broad phase lists their cells. A filter in float32 tells for each cell
which halves a shape touches, which it does not, and which are too close to tell. The function that
defines a touch of that pair decides these, and all cells of large shapes. The result is a list of
touches; `contact_rows.py` computes their contacts.

The staged pipeline was measured against a loop of `one_shape` over all shapes and is 3.0 times as
fast for spheres and 4.5 times for boxes.

A search stops and is resumed where it stopped, so that no list outgrows memory: one large shape may
touch all triangles of a map.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import (
    CHUNK,
    LARGE,
    PAIRS,
    RANGE,
    REFUSED,
    Chunk,
    Outline,
    Touches,
    half_triangle,
    height_limits,
    outline,
    pack,
    part_of,
    put_cells,
    put_codes,
    put_pairs,
    put_range,
    put_touches,
    with_room,
)
from terrain_physics._kernels.heightmap.batch_contacts.filter_boxes import (
    BOX_PARTS,
    judge_boxes,
    put_boxes,
)
from terrain_physics._kernels.heightmap.batch_contacts.filter_spheres import (
    SPHERE_PARTS,
    judge_spheres,
    put_spheres,
)
from terrain_physics._kernels.heightmap.clipping import Terrain
from terrain_physics._kernels.heightmap.grid import (
    Grid,
    corner_heights,
    has_ground,
    is_flipped,
)
from terrain_physics._kernels.surface.contact import touches
from terrain_physics._kernels.surface.shapes import (
    BOX,
    BOX_WIDTH,
    SPHERE,
    SPHERE_WIDTH,
    bounds_at,
)
from terrain_physics._kernels.types import Float32s, Floats, Int32s, Int64s

# Bits of a verdict: half 0 or 1 is touched; half 0 or 1 is too close to tell.
TOUCHED_0, TOUCHED_1, DOUBT_0, DOUBT_1 = 1, 2, 4, 8

# `put_pairs` copies at least so many columns.
_LEAST_PARTS = 2

_FAR = 64

# A search stops after so many touches, or so many cells of a large shape.
AT_ONCE = 1 << 19

# Where a search resumes: at which shape, and within a large one at which row and column.
Place = tuple[int, int, int]
NO_ROW = -(2**62)  # at the shape's first cell


@kernel
def _with_room(lists: Touches, count: int, room: int) -> Touches:
    """Return a list with the first touches and room for as many more."""
    shape, row = with_room(lists.shape, count, room), with_room(lists.row, count, room)
    return Touches(shape, row, with_room(lists.code, count, room))


@kernel(inline=True)
def _part_count(kind: int) -> int:
    """Return how many columns of numbers the filter of a kind of shape reads."""
    if kind == SPHERE:
        return SPHERE_PARTS
    if kind == BOX:
        return BOX_PARTS
    return _LEAST_PARTS


@kernel
def _put_ranges(
    grid: Grid, edges: Outline, kind: int, shapes: Floats, begin: int, count: int, chunk: Chunk
) -> None:
    """Write the ranges of cells of a chunk of shapes, and what its filter reads of them."""
    if kind == SPHERE:
        here = shapes[SPHERE_WIDTH * begin : SPHERE_WIDTH * (begin + count)]
        put_spheres(grid, edges, here, chunk)
    elif kind == BOX:
        here = shapes[BOX_WIDTH * begin : BOX_WIDTH * (begin + count)]
        put_boxes(grid, edges, here, chunk)
    else:
        for k in range(count):
            lower, upper = bounds_at(kind, shapes, begin + k)
            put_range(grid, edges, lower, upper, k, chunk)


@kernel
def _settle(
    grid: Grid,
    kind: int,
    shapes: Floats,
    first: int,
    places: Int32s,
    codes: Int32s,
    verdicts: Int32s,
    faces: Floats,
) -> None:
    """Replace doubt by the exact verdict."""
    for k in range(verdicts.shape[0]):
        verdict = int(verdicts[k])
        if verdict < DOUBT_0:
            continue
        index, row = first + int(places[k]), int(places[PAIRS + k])
        code = int(codes[k])
        for half in range(2):
            if verdict & (DOUBT_0 << half):
                a, b, c = half_triangle(grid, row, code >> 2, (code >> 1) & 1, half)
                if touches(kind, shapes, index, a, b, c, faces):
                    verdict |= TOUCHED_0 << half
        verdicts[k] = verdict


@kernel
def judge_by_height(
    grid: Grid,
    kind: int,
    shapes: Floats,
    slack: float,
    first: int,
    places: Int32s,
    verdicts: Int32s,
) -> None:
    """Leave in doubt the cells that are neither above nor below a shape of any kind."""
    for k in range(verdicts.shape[0]):
        row, column = int(places[PAIRS + k]), int(places[2 * PAIRS + k])
        lower, upper = bounds_at(kind, shapes, first + int(places[k]))
        low, high = height_limits(lower, upper, slack)
        a, b, c, d = corner_heights(grid, row, column)
        near = min(a, b, c, d) <= high and max(a, b, c, d) >= low
        verdicts[k] = DOUBT_0 + DOUBT_1 if near and has_ground(grid, row, column) else 0


@kernel(noinline=True)
def add_large(
    grid: Grid,
    blocks: Float32s,
    slack: float,
    kind: int,
    shapes: Floats,
    index: int,
    ranges: Int64s,
    k: int,
    faces: Floats,
    lists: Touches,
    total: int,
    from_row: int,
    from_column: int,
) -> tuple[int, Touches, int, int]:
    """Append the touches of one shape, the row k of the ranges; return (count, the list, place).

    The place is the row and the column to begin at, and then to resume at: `NO_ROW` if all is done.
    """
    rows, columns = np.empty(_FAR, dtype=np.int64), np.empty(_FAR, dtype=np.int64)
    place = np.empty(2, dtype=np.int64)
    place[0], place[1] = ranges[k], ranges[2 * CHUNK + k]
    if from_row != NO_ROW:
        place[0], place[1] = from_row, from_column
    looked = 0
    lower, upper = bounds_at(kind, shapes, index)
    low, high = height_limits(lower, upper, slack)
    while place[0] < ranges[CHUNK + k] and looked < AT_ONCE:
        n = put_cells(grid, blocks, ranges, k, low, high, place, rows, columns)
        looked += n
        lists = _with_room(lists, total, 2 * n)
        for j in range(n):
            row, column = int(rows[j]), int(columns[j])
            a, b, c, d = corner_heights(grid, row, column)
            if min(a, b, c, d) > high or max(a, b, c, d) < low or not has_ground(grid, row, column):
                continue
            flipped = 1 if is_flipped(grid, row, column) else 0
            for half in range(2):
                p, q, r = half_triangle(grid, row, column, flipped, half)
                if touches(kind, shapes, index, p, q, r, faces):
                    lists.shape[total], lists.row[total] = index, row
                    lists.code[total] = 4 * column + 2 * flipped + half
                    total += 1
    row = int(place[0]) if place[0] < ranges[CHUNK + k] else NO_ROW
    return total, lists, row, int(place[1])


@kernel
def find_contacts(
    terrain: Terrain, kind: int, shapes: Floats, place: Place, last: int
) -> tuple[int, Int64s, Int64s, Int64s, Place]:
    """Return (count, which shape, row, code) of touches of shapes before ``last``, in order.

    The search begins at a place, and the place to resume at is returned too; it is at the shape
    ``last`` if the search is complete. For the shapes see `surface/shapes.py`. Codes are those of
    `broad_phase.pack`. A count of -1 - k means that shape k is over too many cells.
    """
    grid, (first, from_row, from_column) = terrain.grid, place
    edges = outline(grid, terrain.blocks)
    faces = np.empty((FACE_COUNT, 4), dtype=np.float64)
    ranges, corners = np.empty(RANGE * CHUNK, np.int64), np.empty(2 * CHUNK, np.int32)
    part_count = _part_count(kind)
    chunk = Chunk(ranges, corners, np.zeros(part_count * CHUNK, dtype=np.float32))
    numbers = np.empty(part_count * PAIRS, dtype=np.float32)
    places, samples = np.empty(3 * PAIRS, dtype=np.int32), np.empty(4 * PAIRS, dtype=np.float32)
    codes, verdicts = np.empty(PAIRS, dtype=np.int32), np.empty(PAIRS, dtype=np.int32)
    hits = np.empty(2 * PAIRS + 1, dtype=np.int32)
    size = 6 * (last - first) + 2 * PAIRS
    lists = Touches(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64))
    total = 0
    begin = first
    while begin < last:
        count = min(CHUNK, last - begin)
        _put_ranges(grid, edges, kind, shapes, begin, count, chunk)
        k = 0
        while k < count:
            if total >= AT_ONCE:
                return total, lists.shape, lists.row, lists.code, (begin + k, NO_ROW, 0)
            found, k = put_pairs(grid.heights, grid, chunk, k, count, places, samples, numbers)
            n = int(found)
            put_codes(grid, places, samples, codes[:n])
            if kind == SPHERE:
                judge_spheres(grid, samples, numbers, codes, verdicts[:n])
            elif kind == BOX:
                judge_boxes(grid, samples, numbers, codes, verdicts[:n])
            else:
                judge_by_height(grid, kind, shapes, edges[2], begin, places, verdicts[:n])
            _settle(grid, kind, shapes, begin, places, codes, verdicts[:n], faces)
            touched = int(pack(verdicts[:n], hits))
            lists = _with_room(lists, total, touched)
            new = part_of(lists, total, total + touched)
            put_touches(hits[:touched], begin, places, codes, new)
            total += touched
            if k == count or ranges[4 * CHUNK + k] < LARGE:
                continue
            if ranges[4 * CHUNK + k] == REFUSED:
                return -1 - (begin + k), lists.shape, lists.row, lists.code, (first, NO_ROW, 0)
            total, lists, from_row, from_column = add_large(
                grid, terrain.blocks, edges[2], kind, shapes, begin + k, ranges, k, faces, lists,
                total, from_row, from_column,
            )  # fmt: skip
            if from_row != NO_ROW:
                return total, lists.shape, lists.row, lists.code, (begin + k, from_row, from_column)
            k += 1
        begin += count
    return total, lists.shape, lists.row, lists.code, (last, NO_ROW, 0)

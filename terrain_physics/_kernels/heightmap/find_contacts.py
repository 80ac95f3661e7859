"""Which triangles of a height map shapes touch: the stages of the search, one after the other.

For a chunk of shapes the broad phase lists their cells. A filter in float32 tells for each cell
which halves a shape touches, which it does not, and which are too close to tell. The function that
defines a touch of that pair decides these, and all cells of large shapes. The result is a list of
touches; `contact_rows.py` computes their contacts.

A search stops and is resumed where it stopped, so that no list outgrows memory: one large shape may
touch all triangles of a map.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT
from terrain_physics._kernels.heightmap.broad_phase import (
    CHUNK,
    LARGE,
    PAIRS,
    RANGE,
    REFUSED,
    half_triangle,
    height_limits,
    outline,
    pack,
    put_cells,
    put_codes,
    put_pairs,
    put_range,
    put_touches,
    with_room,
)
from terrain_physics._kernels.heightmap.filter_boxes import BOX_PARTS, judge_boxes, put_boxes
from terrain_physics._kernels.heightmap.filter_spheres import (
    SPHERE_PARTS,
    judge_spheres,
    put_spheres,
)
from terrain_physics._kernels.heightmap.grid import (
    FIRST_BLOCK,
    Grid,
    corner_heights,
    has_ground,
    is_flipped,
    unpack_grid,
)
from terrain_physics._kernels.surface.contact import touches
from terrain_physics._kernels.surface.shapes import BOX_WIDTH, SPHERE_WIDTH, ShapeRows, bounds_at
from terrain_physics._kernels.types import Bytes, Floats, Ints, Longs, Singles

# Bits of a verdict: half 0 or 1 is touched; half 0 or 1 is too close to tell.
TOUCHED_0, TOUCHED_1, DOUBT_0, DOUBT_1 = 1, 2, 4, 8

_FAR = 64

# A search stops after so many touches, or so many cells of a large shape.
AT_ONCE = 1 << 19

# What `find_contacts` resumes at: the row and the column within a large shape, and the shape.
ROW, COLUMN, SHAPE = range(3)
NO_ROW = -(2**62)  # at the shape's first cell


@kernel
def _settle(
    grid: Grid,
    spheres: ShapeRows,
    boxes: ShapeRows,
    capsules: ShapeRows,
    first: int,
    places: Ints,
    codes: Ints,
    verdicts: Ints,
    faces: Floats,
) -> None:
    """Replace doubt by the exact verdict."""
    for k in range(verdicts.shape[0]):
        verdict = int(verdicts[k])
        if verdict < DOUBT_0:
            continue
        who, row = first + int(places[k]), int(places[PAIRS + k])
        code = int(codes[k])
        for half in range(2):
            if verdict & (DOUBT_0 << half):
                a, b, c = half_triangle(grid, row, code >> 2, (code >> 1) & 1, half)
                if touches(spheres, boxes, capsules, who, a, b, c, faces):
                    verdict |= TOUCHED_0 << half
        verdicts[k] = verdict


@kernel
def judge_by_height(
    grid: Grid,
    spheres: ShapeRows,
    boxes: ShapeRows,
    capsules: ShapeRows,
    slack: float,
    first: int,
    places: Ints,
    verdicts: Ints,
) -> None:
    """Leave in doubt the cells that are neither above nor below a shape of any kind."""
    for k in range(verdicts.shape[0]):
        row, column = int(places[PAIRS + k]), int(places[2 * PAIRS + k])
        lower, upper = bounds_at(spheres, boxes, capsules, first + int(places[k]))
        low, high = height_limits(lower, upper, slack)
        a, b, c, d = corner_heights(grid, row, column)
        near = min(a, b, c, d) <= high and max(a, b, c, d) >= low
        verdicts[k] = DOUBT_0 + DOUBT_1 if near and has_ground(grid, row, column) else 0


@kernel(apart=True)
def add_large(
    grid: Grid,
    blocks: Singles,
    first_block: int,
    slack: float,
    spheres: ShapeRows,
    boxes: ShapeRows,
    capsules: ShapeRows,
    who: int,
    ranges: Longs,
    k: int,
    faces: Floats,
    list_who: Longs,
    list_row: Longs,
    list_code: Longs,
    total: int,
    place: Longs,
) -> tuple[int, Longs, Longs, Longs]:
    """Append the touches of one shape, the row k of the ranges; return (count, the lists).

    This begins at the place, and moves it to where to resume: beyond the last row if all is done.
    """
    rows, columns = np.empty(_FAR, dtype=np.int64), np.empty(_FAR, dtype=np.int64)
    if place[ROW] == NO_ROW:
        place[ROW], place[COLUMN] = ranges[k], ranges[2 * CHUNK + k]
    looked = 0
    lower, upper = bounds_at(spheres, boxes, capsules, who)
    low, high = height_limits(lower, upper, slack)
    while place[ROW] < ranges[CHUNK + k] and looked < AT_ONCE:
        n = put_cells(grid, blocks, first_block, ranges, k, low, high, place, rows, columns)
        looked += n
        list_who = with_room(list_who, total, 2 * n)
        list_row = with_room(list_row, total, 2 * n)
        list_code = with_room(list_code, total, 2 * n)
        for j in range(n):
            row, column = int(rows[j]), int(columns[j])
            a, b, c, d = corner_heights(grid, row, column)
            if min(a, b, c, d) > high or max(a, b, c, d) < low or not has_ground(grid, row, column):
                continue
            flipped = 1 if is_flipped(grid, row, column) else 0
            for half in range(2):
                p, q, r = half_triangle(grid, row, column, flipped, half)
                if touches(spheres, boxes, capsules, who, p, q, r, faces):
                    list_who[total] = who
                    list_row[total] = row
                    list_code[total] = 4 * column + 2 * flipped + half
                    total += 1
    return total, list_who, list_row, list_code


@kernel
def find_contacts(
    heights: Singles,
    cells: Bytes,
    blocks: Singles,
    frame: Floats,
    spheres: ShapeRows,
    boxes: ShapeRows,
    capsules: ShapeRows,
    place: Longs,
    last: int,
) -> tuple[int, Longs, Longs, Longs]:
    """Return (count, which shape, row, code) of touches of shapes before ``last``, in order.

    ``place`` (3,) says where to begin, and receives where to go on: at the shape ``last`` if these
    are all. For the shapes see `surface/shapes.py`. Codes are those of `broad_phase.pack`. A count
    of -1 - k means that shape k is over too many cells.
    """
    first = int(place[SHAPE])
    grid = unpack_grid(heights, cells, frame)
    edges = outline(grid, blocks, frame)
    first_block = int(frame[FIRST_BLOCK])
    own = heights[grid.first_height : grid.first_height + (grid.rows + 1) * (grid.columns + 1)]
    faces = np.empty((FACE_COUNT, 4), dtype=np.float64)
    ranges, corners = np.empty(RANGE * CHUNK, np.int64), np.empty(2 * CHUNK, np.int32)
    part_count = 2
    if spheres is not None:
        part_count = SPHERE_PARTS
    if boxes is not None:
        part_count = BOX_PARTS
    parts = np.zeros(part_count * CHUNK, dtype=np.float32)
    numbers = np.empty(part_count * PAIRS, dtype=np.float32)
    places, samples = np.empty(3 * PAIRS, dtype=np.int32), np.empty(4 * PAIRS, dtype=np.float32)
    codes, verdicts = np.empty(PAIRS, dtype=np.int32), np.empty(PAIRS, dtype=np.int32)
    hits = np.empty(2 * PAIRS + 1, dtype=np.int32)
    size = 6 * (last - first) + 2 * PAIRS
    list_who, list_row = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    list_code = np.empty(size, dtype=np.int64)
    total = 0
    begin = first
    while begin < last:
        count = min(CHUNK, last - begin)
        if spheres is not None:
            here = spheres[SPHERE_WIDTH * begin : SPHERE_WIDTH * (begin + count)]
            put_spheres(grid, edges, here, ranges, corners, parts)
        elif boxes is not None:
            here = boxes[BOX_WIDTH * begin : BOX_WIDTH * (begin + count)]
            put_boxes(grid, edges, here, ranges, corners, parts)
        else:
            for k in range(count):
                lower, upper = bounds_at(spheres, boxes, capsules, begin + k)
                put_range(grid, edges, lower, upper, k, ranges, corners)
        k = 0
        while k < count:
            if total >= AT_ONCE:
                place[SHAPE] = begin + k
                return total, list_who, list_row, list_code
            found, k = put_pairs(own, grid, ranges, parts, k, count, places, samples, numbers)
            n = int(found)
            put_codes(grid, places, samples, codes[:n])
            if spheres is not None:
                judge_spheres(grid, samples, numbers, codes, verdicts[:n])
            elif boxes is not None:
                judge_boxes(grid, samples, numbers, codes, verdicts[:n])
            else:
                judge_by_height(
                    grid, spheres, boxes, capsules, edges[2], begin, places, verdicts[:n]
                )
            _settle(grid, spheres, boxes, capsules, begin, places, codes, verdicts[:n], faces)
            touched = int(pack(verdicts[:n], hits))
            list_who = with_room(list_who, total, touched)
            list_row = with_room(list_row, total, touched)
            list_code = with_room(list_code, total, touched)
            put_touches(
                hits[:touched], begin, places, codes,
                list_who[total:], list_row[total:], list_code[total:],
            )  # fmt: skip
            total += touched
            if k == count or ranges[4 * CHUNK + k] < LARGE:
                continue
            if ranges[4 * CHUNK + k] == REFUSED:
                return -1 - (begin + k), list_who, list_row, list_code
            total, list_who, list_row, list_code = add_large(
                grid, blocks, first_block, edges[2], spheres, boxes, capsules, begin + k,
                ranges, k, faces, list_who, list_row, list_code, total, place,
            )  # fmt: skip
            if place[ROW] < ranges[CHUNK + k]:
                place[SHAPE] = begin + k
                return total, list_who, list_row, list_code
            place[ROW] = NO_ROW
            k += 1
        begin += count
    place[SHAPE] = last
    return total, list_who, list_row, list_code

"""Candidates: the triangles of maps and meshes near a body, gathered in a broad phase.

The broad phase runs once for a step. Candidates are rows relative to a point near the body: so the
narrow phase is exact however far from the world's origin, and need not know where a triangle came
from. Neighbors are known by the corners they share, so that ground made of several maps and meshes
is one surface wherever their corners meet.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep, prefetch
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.ground.movers import (
    IS_MOBILE,
    is_one_way,
    largest_part_shift,
    note_look,
    note_one_way,
    part_shift_of,
)
from terrain_physics._kernels.ground.nearby import FEW, next_near, put_runs, rows_needed, widened
from terrain_physics._kernels.ground.table import (
    STILL_PARTS,
    GroundTable,
    has_movers,
    map_of,
    maps_of,
    mover_of,
    movers_of,
    parts_of,
    sides_of,
)
from terrain_physics._kernels.heightmap.blocks import BLOCK, block_span, blocks_across
from terrain_physics._kernels.heightmap.grid import (
    Grid,
    cell_span,
    corner_heights,
    half_slopes,
    in_map,
    is_flipped,
    is_ground,
    sample_places,
    slope_normal,
)
from terrain_physics._kernels.heightmap.solid.sides import lowered, underside_id
from terrain_physics._kernels.math.sorting import sort_range
from terrain_physics._kernels.math.vec3 import Vec3, add, choose, scale, subtract
from terrain_physics._kernels.mesh.near import SLOT, SLOT_BITS, faces_near
from terrain_physics._kernels.mesh.part_tree import NODES_ON_PATH, items_near
from terrain_physics._kernels.mesh.parts import (
    ID_BITS,
    INSIDE_OUT,
    NUMBER,
    OWNER,
    SIDE,
    SKIN,
    MeshPart,
    ids_at,
    part_at,
    row_count,
    triangle_of,
)
from terrain_physics._kernels.mesh.tree import STACK
from terrain_physics._kernels.surface.ground_arrays import MAP_LAYERS, MAP_NUMBER
from terrain_physics._kernels.types import Floats, Int64s

# Columns of a candidate. The triangle is the id in its part, -1 outside of a map. The thickness is
# that of the solid below a surface of a map, 0 of a skin, and below 0 of what has solid behind it,
# but is no surface of a map: SOLID_MESH of a solid mesh, BESIDE of the sides and the underside of a
# map. The last column tells whether its part moves, is a conveyor or is one-way.
A, B, C, NORMAL, PART, TRIANGLE, THICKNESS, OF_MOVER = 0, 3, 6, 9, 12, 13, 14, 15
CANDIDATE_SIZE = 16

# The thickness of a skin, of a solid mesh, and of what a map has beside its surface.
SKIN_THICKNESS, SOLID_MESH, BESIDE = 0.0, -1.0, -2.0

# Rows of cells over more columns than this are looked at block by block.
_WIDE = 2 * BLOCK


@kernel(inline=True, no_refcount=True)
def three(rows: Floats, i: int, start: int) -> Vec3:
    """Return three numbers of a row."""
    return (float(rows[i, start]), float(rows[i, start + 1]), float(rows[i, start + 2]))


@kernel(inline=True, no_refcount=True)
def put_three(rows: Floats, i: int, start: int, v: Vec3) -> None:
    """Write three numbers of a row."""
    rows[i, start] = v[0]
    rows[i, start + 1] = v[1]
    rows[i, start + 2] = v[2]


@kernel
def _grown(rows: Floats) -> Floats:
    # Four times as large: memory that is never written to costs nothing, but each copy does.
    larger = np.empty((4 * rows.shape[0], rows.shape[1]), dtype=np.float64)
    # Element by element: for a slice, numba would spend three seconds to compile its error message.
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            larger[i, k] = rows[i, k]
    return larger


@kernel(inline=True, no_refcount=True)
def _gather_cell(
    grid: Grid, number: int, row: int, column: int, origin: Vec3, lower: Vec3, upper: Vec3,
    candidates: Floats, count: int,
) -> int:  # fmt: skip
    """Write the triangles of a cell if its box meets lower..upper; return the new count."""
    a, b, c, d = corner_heights(grid, row, column)
    # Comparisons with NaN are false: most cells with a hole end here.
    if not (min(a, b, c, d) <= upper[1] and max(a, b, c, d) >= lower[1]):
        return count
    west, north = grid.x0 + column * grid.cell_x, grid.z0 + row * grid.cell_z
    if (
        west > upper[0]
        or west + grid.cell_x < lower[0]
        or north > upper[2]
        or north + grid.cell_z < lower[2]
        or not is_ground(grid, row, column, a, b, c, d)
    ):
        return count
    east, south = grid.x0 + (column + 1) * grid.cell_x, grid.z0 + (row + 1) * grid.cell_z
    at_a, at_b = subtract((west, a, south), origin), subtract((east, b, south), origin)
    at_c, at_d = subtract((east, c, north), origin), subtract((west, d, north), origin)
    flipped = is_flipped(grid, row, column)
    for half in range(2):
        along_x, along_z = half_slopes(grid, flipped, half, a, b, c, d)
        put_three(candidates, count, A, choose(flipped and half == 1, at_b, at_a))
        put_three(candidates, count, B, choose(half == 0, at_b, at_c))
        put_three(candidates, count, C, choose(flipped or half == 1, at_d, at_c))
        put_three(candidates, count, NORMAL, slope_normal(along_x, along_z))
        candidates[count, PART] = number
        triangle = 2 * (row * grid.columns + column) + half
        candidates[count, TRIANGLE] = triangle if in_map(grid, row, column) else -1
        candidates[count, THICKNESS] = grid.thickness
        candidates[count, OF_MOVER] = 0.0
        count += 1
    return count


@kernel(noinline=True, no_refcount=True)
def _gather_underside(
    grid: Grid, row: int, column: int, origin: Vec3, low: float, high: float, candidates: Floats,
    count: int,
) -> int:  # fmt: skip
    """Write the underside of the cell whose triangles come last, if it meets low..high."""
    a, b, c, d = corner_heights(lowered(grid), row, column)
    if min(a, b, c, d) > high or max(a, b, c, d) < low:
        return count
    y = (a - origin[1], b - origin[1], c - origin[1], d - origin[1])
    flipped = is_flipped(grid, row, column)
    for half in range(2):
        above = count - 2
        for k in range(CANDIDATE_SIZE):
            candidates[count, k] = candidates[above, k]
        # Seen from below, the corners run the other way.
        candidates[count, A + 1] = y[1] if flipped and half == 1 else y[0]
        put_three(candidates, count, B, three(candidates, above, C))
        candidates[count, B + 1] = y[3] if flipped or half == 1 else y[2]
        put_three(candidates, count, C, three(candidates, above, B))
        candidates[count, C + 1] = y[1] if half == 0 else y[2]
        put_three(candidates, count, NORMAL, scale(three(candidates, above, NORMAL), -1.0))
        if candidates[above, TRIANGLE] >= 0.0:
            candidates[count, TRIANGLE] = underside_id(grid, row, column, half)
        candidates[count, THICKNESS] = BESIDE
        count += 1
    return count


@kernel(inline=True)
def _narrowed(
    first: int, last: int, low: float, high: float, start: float, size: float
) -> tuple[int, int]:
    """Return a range of cells without those at its ends that do not meet low..high."""
    while first < last and start + first * size + size < low:
        first += 1
    while first < last and start + (last - 1) * size > high:
        last -= 1
    return first, last


@kernel(inline=True)
def _gather_map(
    ground: GroundTable, which: int, origin: Vec3, lower: Vec3, upper: Vec3,
    candidates: Floats, count: int, left: float,
) -> tuple[Floats, int, float]:  # fmt: skip
    grid, blocks = map_of(ground, which)
    number = int(maps_of(ground)[which, MAP_NUMBER])
    skyward = (upper[0], np.inf, upper[2])  # a body in the ground must know all of it overhead
    blocks_wide = blocks_across(grid.columns, 0)
    row_0, row_1 = cell_span(lower[2], upper[2], grid.z0, grid.cell_z, grid.rows, grid.extend)
    column_0, column_1 = cell_span(
        lower[0], upper[0], grid.x0, grid.cell_x, grid.columns, grid.extend
    )
    wide = column_1 - column_0 > _WIDE
    found = float(row_1 - row_0) * float(column_1 - column_0)
    if not wide and found < left:  # the cells left out count as well
        row_0, row_1 = _narrowed(row_0, row_1, lower[2], upper[2], grid.z0, grid.cell_z)
        column_0, column_1 = _narrowed(column_0, column_1, lower[0], upper[0], grid.x0, grid.cell_x)
        left -= found - float(row_1 - row_0) * float(column_1 - column_0)
    for row in range(row_0, row_1):
        column = column_0
        while column < column_1 and left > 0.0:
            left -= 1.0
            if (
                wide
                and column % BLOCK == 0
                and 0 <= column < grid.columns
                and (0 <= row < grid.rows)
            ):
                place = (row // BLOCK) * blocks_wide + column // BLOCK
                _, high = block_span(grid, blocks, place)
                if high < lower[1]:
                    column = min(column + BLOCK, grid.columns)
                    continue
            if count + 4 > candidates.shape[0]:
                candidates = _grown(candidates)
            before = count
            count = _gather_cell(
                grid, number, row, column, origin, lower, skyward, candidates, count
            )
            if count > before and grid.thickness < np.inf:
                count = _gather_underside(
                    grid, row, column, origin, lower[1], upper[1], candidates, count
                )
            column += 1
    return candidates, count, left


@kernel(noinline=True, no_refcount=True)
def fetch_ahead(ground: GroundTable, place: Vec3) -> None:
    """Prefetch the samples around a place, before they are gathered."""
    for which in range(len(maps_of(ground))):
        grid, _ = map_of(ground, which)
        row_0, row_1 = cell_span(place[2], place[2], grid.z0, grid.cell_z, grid.rows, grid.extend)
        column, _ = cell_span(place[0], place[0], grid.x0, grid.cell_x, grid.columns, grid.extend)
        for row in range(row_0, row_1 + 1):
            _, _, _, d = sample_places(grid, row, column)
            prefetch(grid.heights, d)


@kernel
def _gather_faces(
    part: MeshPart, origin: Vec3, faces: Int64s, found: int, candidates: Floats, count: int
) -> tuple[Floats, int]:
    """Write the triangles of a mesh that `faces_near` found, sorted by face."""
    sort_range(faces, 0, found)
    thickness = SKIN_THICKNESS if part.facing == SKIN else SOLID_MESH
    if part.facing == SIDE:
        thickness = BESIDE
    for k in range(found):
        slot = int(faces[k] & SLOT)
        a, b, c = triangle_of(part, slot)
        a, b, c = subtract(a, origin), subtract(b, origin), subtract(c, origin)
        if part.facing == INSIDE_OUT:
            b, c = c, b
        has_area, normal = triangle_normal(a, b, c)
        if not has_area:
            continue  # its edges are those of its neighbors
        if count == candidates.shape[0]:
            candidates = _grown(candidates)
        put_three(candidates, count, A, a)
        put_three(candidates, count, B, b)
        put_three(candidates, count, C, c)
        put_three(candidates, count, NORMAL, normal)
        candidates[count, PART] = part.first_id >> ID_BITS
        candidates[count, TRIANGLE] = faces[k] >> SLOT_BITS
        candidates[count, THICKNESS] = thickness
        candidates[count, OF_MOVER] = 0.0
        count += 1
    return candidates, count


@kernel(no_refcount=True)
def _is_there(ground: GroundTable, number: int, row: int) -> bool:
    """Tell whether a mesh is among the parts asked for; its row is 0 if it never moves."""
    if ground.only >= 0:
        return ground.only == number
    is_still = row == 0 or movers_of(ground)[row, IS_MOBILE] == 0.0 or number == ground.base_part
    return ground.only != STILL_PARTS or bool(is_still)


@kernel
def _gather_meshes(
    ground: GroundTable, origin: Vec3, lower: Vec3, upper: Vec3, candidates: Floats, count: int,
    left: float,
) -> tuple[Floats, int, float]:  # fmt: skip
    parts, moving, margin, row = parts_of(ground), has_movers(ground), 0.0, 0
    nodes, stack = np.empty(NODES_ON_PATH, np.int64), np.empty(STACK, np.int32)
    near, faces = np.empty(row_count(parts.rows), np.int64), np.empty(FEW, np.int64)
    if moving:
        margin = largest_part_shift(ground.part_shifts)
        note_one_way(ground.part_shifts, 0.0)
    wide = (margin, margin, margin)
    low, high = subtract(lower, wide), add(upper, wide)
    for k in range(items_near(parts.tree, low, high, borrow(nodes), borrow(near))):
        part, first, shift = part_at(parts.rows, int(near[k])), count, (0.0, 0.0, 0.0)
        if moving:
            number = part.first_id >> ID_BITS
            row = mover_of(ground, number)
            if row > 0:
                shift = part_shift_of(ground.part_shifts, number)
            if not _is_there(ground, number, row) or shift[0] == np.inf:
                continue
        own_origin = subtract(origin, shift)  # the body sees the part shifted
        own_lower, own_upper = subtract(lower, shift), subtract(upper, shift)
        found = faces_near(part, own_lower, own_upper, left, borrow(stack), borrow(faces))
        if found > len(faces):
            faces = np.empty(found, np.int64)
            faces_near(part, own_lower, own_upper, left, borrow(stack), borrow(faces))
        candidates, count = _gather_faces(part, own_origin, borrow(faces), found, candidates, count)
        left -= found
        if row > 0 and count > first:  # the tree may name parts that are far off
            if is_one_way(movers_of(ground), row):
                note_one_way(ground.part_shifts, 1.0)
            for i in range(first, count):
                candidates[i, OF_MOVER] = 1.0
    keep(nodes)
    keep(stack)
    keep(near)
    keep(faces)
    return candidates, count, left


@kernel(no_refcount=True)
def _sort_patches(rows: Int64s, near: Int64s, count: int) -> None:
    """Sort the rows of a few patches by map and number: their places in the table tell nothing."""
    for k in range(1, count):
        own, place = near[k], k
        while place > 0 and (rows[near[place - 1], OWNER], rows[near[place - 1], NUMBER]) > (
            rows[own, OWNER],
            rows[own, NUMBER],
        ):
            near[place] = near[place - 1]
            place -= 1
        near[place] = own


@kernel
def _gather_sides(
    ground: GroundTable, origin: Vec3, lower: Vec3, upper: Vec3, candidates: Floats, count: int,
    left: float,
) -> tuple[Floats, int, float]:  # fmt: skip
    """Write the sides of maps near a box, map by map and patch by patch."""
    sides = sides_of(ground)
    nodes, stack = np.empty(NODES_ON_PATH, np.int64), np.empty(STACK, np.int32)
    near, faces = np.empty(row_count(sides.rows), np.int64), np.empty(FEW, np.int64)
    patches = items_near(sides.tree, lower, upper, borrow(nodes), borrow(near))
    _sort_patches(sides.rows, borrow(near), patches)
    for k in range(patches):
        part, ids, first = (
            part_at(sides.rows, int(near[k])),
            ids_at(sides.rows, int(near[k])),
            count,
        )
        found = faces_near(part, lower, upper, left, borrow(stack), borrow(faces))
        if found > len(faces):
            faces = np.empty(found, np.int64)
            faces_near(part, lower, upper, left, borrow(stack), borrow(faces))
        candidates, count = _gather_faces(part, origin, borrow(faces), found, candidates, count)
        left -= found
        for i in range(first, count):
            candidates[i, PART] = sides.rows[near[k], OWNER]
            candidates[i, TRIANGLE] = ids[int(candidates[i, TRIANGLE])]
    keep(nodes)
    keep(stack)
    keep(near)
    keep(faces)
    return candidates, count, left


@kernel(noinline=True)
def gather_candidates(
    ground: GroundTable, origin: Vec3, lower: Vec3, upper: Vec3, candidates: Floats, most: float
) -> tuple[Floats, int, float]:
    """Return (triangles near the box lower..upper relative to ``origin``, how many, work).

    The work is the number of map cells and mesh triangles found. The search ends soon after
    ``most`` of them, without the rest.

    The triangles are in ``candidates`` if that has room, else in a larger array; behind many of
    them lies the index of `nearby.py`.

    Maps come first, by row, column and half, however far above the box: a body in the ground must
    know all of it overhead. Their sides follow, map by map, then meshes by their numbers, each by
    its faces: the order of its tree, which stays as it was when vertices move, decides nothing.
    """
    count, left = 0, most
    if ground.only < 0:  # else no maps are looked at
        note_look(ground.part_shifts, lower, upper)
    for which in range(len(maps_of(ground))):
        if maps_of(ground)[which, MAP_LAYERS] & ground.mask == 0 or ground.only >= 0:
            continue
        candidates, count, left = _gather_map(
            ground, which, origin, lower, upper, candidates, count, left
        )
    if row_count(sides_of(ground).rows) > 1 and ground.only < 0:
        candidates, count, left = _gather_sides(
            ground, origin, lower, upper, candidates, count, left
        )
    if row_count(parts_of(ground).rows) > 1:
        candidates, count, left = _gather_meshes(
            ground, origin, lower, upper, candidates, count, left
        )
    if count > FEW:
        while candidates.shape[0] < rows_needed(count):
            candidates = _grown(candidates)
        put_runs(candidates, count)
    return candidates, count, most - left


@kernel(no_refcount=True)
def height_over(candidates: Floats, k: int, x: float, z: float) -> float:
    """Return the height of a candidate at a place, relative to its base; -inf beside it."""
    a, b, c = three(candidates, k, A), three(candidates, k, B), three(candidates, k, C)
    ax, az, bx, bz, cx, cz = a[0] - x, a[2] - z, b[0] - x, b[2] - z, c[0] - x, c[2] - z
    u, v, w = bx * cz - bz * cx, cx * az - cz * ax, ax * bz - az * bx
    if (u < 0.0 or v < 0.0 or w < 0.0) and (u > 0.0 or v > 0.0 or w > 0.0):
        return -np.inf
    area = u + v + w
    return (u * a[1] + v * b[1] + w * c[1]) / area if area != 0.0 else -np.inf


@kernel(no_refcount=True)
def surface_at(
    candidates: Floats, count: int, x: float, z: float, top: float, solid: bool
) -> tuple[float, int, int]:
    """Return (height, candidate) of the highest surface at a place not above ``top``; -inf, -1.

    All is relative to the candidates' base; ``solid``: of maps only. The last is the work done.
    """
    best, which, looked_at = -np.inf, -1, 0
    lower, upper = widened((x, -np.inf, z), (x, top, z))
    k = next_near(candidates, count, 0, lower, upper)
    while k < count:
        looked_at += 1
        if not solid or candidates[k, THICKNESS] > 0.0:
            surface = height_over(candidates, k, x, z)
            if best < surface <= top:
                best, which = surface, k
        k = next_near(candidates, count, k + 1, lower, upper)
    return best, which, looked_at


@kernel(no_refcount=True)
def is_in_ground(candidates: Floats, count: int, place: Vec3) -> tuple[bool, int]:
    """Tell whether a place lies in a map, below its surface and not below its underside.

    Then how many candidates were looked at.
    """
    highest, thickness, looked_at = -np.inf, 0.0, 0
    lower, upper = widened(place, (place[0], np.inf, place[2]))
    k = next_near(candidates, count, 0, lower, upper)
    while k < count:
        looked_at += 1
        top = max(candidates[k, A + 1], candidates[k, B + 1], candidates[k, C + 1])
        if top > place[1] and candidates[k, THICKNESS] > 0.0:
            surface = height_over(candidates, k, place[0], place[2])
            if surface > highest:
                highest, thickness = surface, float(candidates[k, THICKNESS])
        k = next_near(candidates, count, k + 1, lower, upper)
    return bool(place[1] < highest and place[1] > highest - thickness), looked_at

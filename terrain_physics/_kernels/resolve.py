"""Pushing a body out of solid ground: gather contacts, push in shuffled order, repeat, or lift."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.closest_point import closest_on_triangle
from terrain_physics._kernels.grid import (
    Grid,
    cell_span,
    corner_heights,
    has_ground,
    height,
)
from terrain_physics._kernels.ground_state import MOST_PLANES, add_plane
from terrain_physics._kernels.obb_triangle import FACE_COUNT
from terrain_physics._kernels.random64 import shuffle
from terrain_physics._kernels.surface import (
    CONTACT_MARGIN,
    SLOP,
    SPHERE,
    box_contact,
    box_lift,
    box_touches,
    half_triangle,
    sphere_contact,
    sphere_lift,
)
from terrain_physics._kernels.vec3 import Mat3, Vec3, add, add_scaled, dot, length, scale, subtract

# A box that overlaps a triangle by more than this, while no contact is left, is lifted.
STUCK = 1e-4

# Times the way straight up that pushing out may move a body.
FARTHEST_PUSH = 2.0

# Lifts in a row; each clears all that the body overlaps.
MOST_LIFTS = 64

# Cosine above which two contacts push the same way.
SAME_WAY = 1.0 - 1e-9

# Columns of a contact row.
ROW, COLUMN, HALF, DEPTH, NORMAL = 0, 1, 2, 3, 4
CONTACT_SIZE = 7


class Body(NamedTuple):
    """The shape of a body: kind, half extents (a sphere's radius three times), box rotation."""

    kind: int
    extents: Vec3
    rotation: Mat3
    reach: Vec3  # half extents of the box around it along the world's axes


class Scratch(NamedTuple):
    """Working memory, made once for an update."""

    contacts: NDArray[np.float64]  # (capacity, CONTACT_SIZE)
    order: NDArray[np.int64]  # (capacity,)
    faces: NDArray[np.float64]  # (26, 4)
    planes: NDArray[np.float64]  # (MOST_PLANES, 3)


@kernel
def make_scratch(grid: Grid, reach: Vec3) -> Scratch:
    """Return working memory for a body, wherever it is on the map."""
    columns = math.ceil(2.0 * reach[0] / grid.cell_x) + 4
    rows = math.ceil(2.0 * reach[2] / grid.cell_z) + 4
    capacity = 2 * rows * columns
    return Scratch(
        np.empty((capacity, CONTACT_SIZE), dtype=np.float64),
        np.empty(capacity, dtype=np.int64),
        np.empty((FACE_COUNT, 4), dtype=np.float64),
        np.empty((MOST_PLANES, 3), dtype=np.float64),
    )


@kernel
def _cells_below(grid: Grid, center: Vec3, reach: Vec3) -> tuple[int, int, int, int]:
    """Return the ranges of rows and columns under a body."""
    rows, columns = grid.heights.shape[0] - 1, grid.heights.shape[1] - 1
    wide_x, wide_z = reach[0] + CONTACT_MARGIN, reach[2] + CONTACT_MARGIN
    row_0, row_1 = cell_span(
        center[2] - wide_z, center[2] + wide_z, grid.z0, grid.cell_z, rows, grid.extend
    )
    column_0, column_1 = cell_span(
        center[0] - wide_x, center[0] + wide_x, grid.x0, grid.cell_x, columns, grid.extend
    )
    return row_0, row_1, column_0, column_1


@kernel
def _may_touch(grid: Grid, row: int, column: int, center: Vec3, reach: Vec3) -> bool:
    """Tell whether the box around a cell comes near the box around a body."""
    left = grid.x0 + column * grid.cell_x - center[0]
    near = grid.z0 + row * grid.cell_z - center[2]
    wide_x, wide_z = reach[0] + CONTACT_MARGIN, reach[2] + CONTACT_MARGIN
    if (
        left > wide_x
        or left + grid.cell_x < -wide_x
        or near > wide_z
        or near + grid.cell_z < -wide_z
        or not has_ground(grid, row, column)
    ):
        return False
    a, b, c, d = corner_heights(grid, row, column)
    high = reach[1] + CONTACT_MARGIN
    return max(a, b, c, d) - center[1] >= -high and min(a, b, c, d) - center[1] <= high


@kernel
def _contact(
    grid: Grid,
    row: int,
    column: int,
    half: int,
    center: Vec3,
    body: Body,
    faces: NDArray[np.float64],
) -> tuple[float, Vec3, float]:
    """Return (depth, normal, overlap with the triangle alone) of a body against one triangle."""
    if body.kind == SPHERE:
        depth, normal = sphere_contact(grid, row, column, half, center, body.extents[0])
        return depth, normal, depth
    return box_contact(grid, row, column, half, center, body.extents, body.rotation, faces)


@kernel
def gather_contacts(
    grid: Grid, center: Vec3, body: Body, scratch: Scratch
) -> tuple[int, float, float]:
    """Write all contacts by row, column, half; return (count, greatest depth, greatest overlap)."""
    contacts = scratch.contacts
    row_0, row_1, column_0, column_1 = _cells_below(grid, center, body.reach)
    count, deepest, overlapping = 0, 0.0, 0.0
    for row in range(row_0, row_1):
        for column in range(column_0, column_1):
            if not _may_touch(grid, row, column, center, body.reach):
                continue
            for half in range(2):
                depth, normal, overlap = _contact(
                    grid, row, column, half, center, body, scratch.faces
                )
                overlapping = max(overlapping, overlap)
                if depth < -CONTACT_MARGIN:
                    continue
                contacts[count, ROW] = row
                contacts[count, COLUMN] = column
                contacts[count, HALF] = half
                contacts[count, DEPTH] = depth
                contacts[count, NORMAL] = normal[0]
                contacts[count, NORMAL + 1] = normal[1]
                contacts[count, NORMAL + 2] = normal[2]
                count += 1
                deepest = max(deepest, depth)
    return count, deepest, overlapping


@kernel(inline=True)
def contact_normal(contacts: NDArray[np.float64], i: int) -> Vec3:
    """Return the normal of a gathered contact."""
    return (
        float(contacts[i, NORMAL]),
        float(contacts[i, NORMAL + 1]),
        float(contacts[i, NORMAL + 2]),
    )


@kernel
def _contact_again(
    grid: Grid, center: Vec3, body: Body, scratch: Scratch, i: int
) -> tuple[float, Vec3, float]:
    """Return a gathered contact as it is with the body elsewhere."""
    row = scratch.contacts[i]
    return _contact(
        grid, int(row[ROW]), int(row[COLUMN]), int(row[HALF]), center, body, scratch.faces
    )


@kernel
def _list_penetrating(grid: Grid, center: Vec3, body: Body, scratch: Scratch, count: int) -> int:
    """List the contacts to push out of, shallow ones first; return how many.

    Of those that push the same way only the deepest: out of it is out of all. And a contact that
    another, shallower one makes an end of is left out: a box with a corner in one flank of a ridge
    overlaps the triangles of the other flank too, by half its size, but out of the first flank it
    is out of both.
    """
    contacts, order = scratch.contacts, scratch.order
    ways = 0
    for i in range(count):
        if contacts[i, DEPTH] <= SLOP:
            continue
        normal = contact_normal(contacts, i)
        k = 0
        while k < ways and dot(normal, contact_normal(contacts, order[k])) <= SAME_WAY:
            k += 1
        if k == MOST_PLANES:
            continue  # left to the next round
        if k == ways:
            order[k] = i
            ways += 1
        elif contacts[i, DEPTH] > contacts[order[k], DEPTH]:
            order[k] = i
    for k in range(1, ways):
        i, place = order[k], k
        while place > 0 and contacts[order[place - 1], DEPTH] > contacts[i, DEPTH]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i
    kept = 0
    for k in range(ways):
        i = order[k]
        needed = True
        for j in range(kept):
            depth, normal = float(contacts[order[j], DEPTH]), contact_normal(contacts, order[j])
            moved = add_scaled(center, normal, depth)
            _, _, overlap = _contact_again(grid, moved, body, scratch, i)
            if overlap <= SLOP:
                needed = False
                break
        if needed:
            order[kept] = i
            kept += 1
    return kept


@kernel
def _push_out(
    grid: Grid,
    center: Vec3,
    body: Body,
    scratch: Scratch,
    count: int,
    plane_count: int,
    random_state: NDArray[np.uint64],
) -> tuple[Vec3, int]:
    """Push once out of each penetrating contact in shuffled order; return (center, planes met)."""
    contacts, order = scratch.contacts, scratch.order
    penetrating = _list_penetrating(grid, center, body, scratch, count)
    shuffle(random_state, order, penetrating)
    for k in range(penetrating):
        i = order[k]
        if k == 0:
            depth, normal = float(contacts[i, DEPTH]), contact_normal(contacts, i)
        else:  # the pushes before this one have moved the body
            depth, normal, _ = _contact_again(grid, center, body, scratch, i)
        if depth > 0.0:
            center = add_scaled(center, normal, depth)
            plane_count = add_plane(scratch.planes, plane_count, normal)
    return center, plane_count


@kernel
def _lift(grid: Grid, center: Vec3, body: Body, faces: NDArray[np.float64], buried: bool) -> float:
    """Return the least lift along +Y that clears the ground; unless buried, what it overlaps."""
    row_0, row_1, column_0, column_1 = _cells_below(grid, center, body.reach)
    best = 0.0
    for row in range(row_0, row_1):
        for column in range(column_0, column_1):
            if not has_ground(grid, row, column):
                continue
            if not buried and not _may_touch(grid, row, column, center, body.reach):
                continue
            for half in range(2):
                a, b, c, normal = half_triangle(grid, row, column, half, center)
                if body.kind == SPHERE:
                    radius = body.extents[0]
                    _, point = closest_on_triangle(a, b, c, True, normal)
                    if buried or dot(point, point) < radius * radius:
                        best = max(best, sphere_lift(a, b, c, normal, radius))
                else:
                    best = max(best, box_lift(a, b, c, body.extents, body.rotation, faces, buried))
    return best


@kernel
def is_buried(grid: Grid, center: Vec3) -> bool:
    """Tell whether a point lies in the ground, below its surface."""
    surface = height(grid, center[0], center[2])
    # Comparisons with NaN are false: below a hole nothing is buried.
    return center[1] < surface and center[1] > surface - grid.thickness


@kernel
def stop_at_side(grid: Grid, start: Vec3, end: Vec3) -> tuple[bool, Vec3, Vec3]:
    """Return (whether a move led into the ground from beside or below, where it ends, normal).

    That is only so around holes and open borders: elsewhere the way into the ground is through its
    surface, from which pushing out and lifting lead back. Its side is a wall, its underside a
    ceiling.
    """
    if (
        not is_buried(grid, end)
        or is_buried(grid, start)
        # Over a hole the height is NaN, and no comparison with it holds.
        or start[1] >= height(grid, start[0], start[2])
    ):
        return False, end, (0.0, 0.0, 0.0)
    back = (start[0] - end[0], 0.0, start[2] - end[2])
    stopped = (start[0], end[1], start[2])
    if is_buried(grid, stopped):
        back, stopped = subtract(start, end), start
    size = length(back)
    return True, stopped, scale(back, 1.0 / size) if size > 0.0 else (0.0, -1.0, 0.0)


@kernel
def resolve(
    grid: Grid,
    center: Vec3,
    body: Body,
    scratch: Scratch,
    random_state: NDArray[np.uint64],
    max_rounds: int,
) -> tuple[Vec3, int, int, float, int, float]:
    """Push a body out of the ground; return (center, planes, contacts, depth left, rounds, lifted).

    The planes it was pushed by and those it ends up touching are left in the scratch.
    """
    start, lifted = center, 0.0
    rounds, planes = 0, int(np.int64(0))  # for a literal 0, functions would compile twice
    buried = is_buried(grid, center)
    count, deepest, overlapping = 0, 0.0, 0.0
    if not buried:
        count, deepest, overlapping = gather_contacts(grid, center, body, scratch)
        while deepest > SLOP and rounds < max_rounds:
            rounds += 1
            center, planes = _push_out(grid, center, body, scratch, count, planes, random_state)
            count, deepest, overlapping = gather_contacts(grid, center, body, scratch)
        moved = length(subtract(center, start))
        if moved > min(body.extents[0], body.extents[1], body.extents[2]):
            # A long body, deep in rough ground: if up is much nearer, sideways was no way out.
            up = _lift(grid, start, body, scratch.faces, buried)
            if moved > FARTHEST_PUSH * up:
                center, planes, lifted = add(start, (0.0, up, 0.0)), 0, up
                count, deepest, overlapping = gather_contacts(grid, center, body, scratch)
        buried = is_buried(grid, center)
    lifts = 0
    while (deepest > SLOP or overlapping > STUCK or buried) and lifts < MOST_LIFTS:
        lifts += 1
        lift = _lift(grid, center, body, scratch.faces, buried)
        center = add(center, (0.0, lift, 0.0))
        lifted += lift
        # Higher up, a long body may reach under what it did not overlap before.
        count, deepest, overlapping = gather_contacts(grid, center, body, scratch)
        buried = is_buried(grid, center)
    for i in range(count):
        planes = add_plane(scratch.planes, planes, contact_normal(scratch.contacts, i))
    return center, planes, count, max(deepest, overlapping), rounds, lifted


@kernel
def touched_normals(
    grid: Grid, center: Vec3, body: Body, faces: NDArray[np.float64]
) -> tuple[int, Vec3]:
    """Return (how many triangles a body touches, the sum of their normals), by row, column, half.

    Unlike contacts these are the triangles one by one, also where a neighbour covers them.
    """
    row_0, row_1, column_0, column_1 = _cells_below(grid, center, body.reach)
    count, total = 0, (0.0, 0.0, 0.0)
    for row in range(row_0, row_1):
        for column in range(column_0, column_1):
            if not _may_touch(grid, row, column, center, body.reach):
                continue
            for half in range(2):
                a, b, c, normal = half_triangle(grid, row, column, half, center)
                if body.kind == SPHERE:
                    _, point = closest_on_triangle(a, b, c, True, normal)
                    reach = body.extents[0] + CONTACT_MARGIN
                    touches = dot(point, point) <= reach * reach
                else:
                    touches = box_touches(a, b, c, body.extents, body.rotation, faces)
                if touches:
                    count += 1
                    total = add(total, normal)
    return count, total

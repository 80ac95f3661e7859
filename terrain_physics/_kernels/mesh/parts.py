"""The table that hands all meshes of a ground to kernels: a row for each, and a tree.

One mesh alone is a table of one row. Python hands a kernel one table of addresses instead of the
arrays of each mesh: each array would cost 40 ns a call, and there may be thousands.
`terrain_physics.mesh.table` makes the tables and keeps their arrays alive.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, borrow
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.rows import corners_in, row3, row_vector
from terrain_physics._kernels.math.vec3 import Vec3, scale, subtract
from terrain_physics._kernels.mesh.adjacency import Neighbors
from terrain_physics._kernels.mesh.part_tree import (
    NODE_SIZE,
    PartTree,
    move_leaf,
    put_leaf,
    take_leaf,
)
from terrain_physics._kernels.mesh.places import (
    BOX,
    SCALE,
    address_of_place,
    box_at,
    off_at,
    placed_corners,
    placed_middle,
    placed_point,
    put_place,
    turned_box,
    turned_direction,
    turned_extents,
    turned_point,
)
from terrain_physics._kernels.mesh.tree import FRAME_SIZE, LANES, LOWER, UPPER
from terrain_physics._kernels.surface.ground_arrays import MESH_ROW_SIZE
from terrain_physics._kernels.tolerances import BOX_ROUNDING, FRAME_MARGIN, LEAF_SIZE_MARGIN
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int32s, Int64s

# A triangle's id is the number of its mesh, shifted by so many bits, plus its face.
ID_BITS = 40

# Row 0, the head: how many rows are in use, this one included; the tree's (address, nodes), twice;
# the (address, length) of the places of all rows; how many meshes are no skins.
ROW_COUNT, TREE_BOXES, TREE_LINKS, PLACES, FACED = 0, 1, 3, 5, 7

# Columns of a mesh: its number, its leaf in the tree; the address of the list of its arrays;
# (address, length) of the ground's numbers for its materials, if they differ; its layers; how it
# faces; whether it has a place, see `places.py`. Sides of a map have the
# number of their patch, and in the place of materials that of the map.
NUMBER, LEAF, MESH, NAMED, LAYERS, FACING, PLACED = 0, 1, 2, 3, 5, 6, 7
OWNER = NAMED

# Places in the list of a mesh's arrays: (address, length) of each; materials, and the ids of faces,
# if there are any; whether each vertex is one of a face. All places of a mesh share one list.
CORNERS, ORDER, BOXES, CHILDREN, FRAME = 0, 2, 4, 6, 8
VERTICES, FACES, WELDED, ACROSS, RING_OFFSETS, RING = 10, 12, 14, 16, 18, 20
MATERIALS, IDS, USES_ALL = 22, 24, 26
MESH_SIZE = 27

# How a mesh faces: a skin has two sides. A solid has its outside in front of its faces, or behind
# them if it was given inside out. Sides of a map are seen from the front alone.
INSIDE_OUT, SKIN, SOLID, SIDE = -1, 0, 1, 2


class Parts(NamedTuple):
    """The table and its tree."""

    rows: Int64s  # (n, MESH_ROW_SIZE)
    tree: PartTree


class MeshPart(NamedTuple):
    """One mesh, see `tree.Mesh`, the first of its ids, how it faces, and where it is."""

    first_id: int
    facing: int
    place: int  # the address of its place, see `places.py`; 0: its vertices are where it is
    corners: Floats
    order: Int32s
    boxes: Float32s
    children: Int32s
    frame: Floats


class Skin(NamedTuple):
    """The connectivity of the triangles of one mesh."""

    place: int  # as of a `MeshPart`
    vertices: Floats
    faces: Int32s
    neighbors: Neighbors


@kernel(inline=True)
def parts_at(table: Int64s, mask: int) -> Parts:
    """Return the meshes of a table that a mask selects; the table must outlive them."""
    rows = borrow(table)
    return Parts(
        rows,
        PartTree(
            array_at(rows[0, TREE_BOXES], (rows[0, TREE_BOXES + 1], 6), np.float64),
            array_at(rows[0, TREE_LINKS], (rows[0, TREE_LINKS + 1], NODE_SIZE), np.int64),
            mask,
        ),
    )


@kernel(inline=True)
def _place_of(rows: Int64s, row: int) -> int:
    """Return the address of the place of a mesh; 0: its vertices are where it is."""
    return address_of_place(rows[0, PLACES], row) if rows[row, PLACED] != 0 else 0


@kernel(inline=True)
def _mesh_of(rows: Int64s, row: int) -> Int64s:
    """Return the list of the arrays of a mesh."""
    mesh: Int64s = array_at(rows[row, MESH], (MESH_SIZE,), np.int64)
    return mesh


@kernel(inline=True)
def part_at(rows: Int64s, row: int) -> MeshPart:
    """Return the mesh of a row."""
    mesh = _mesh_of(rows, row)
    return MeshPart(
        rows[row, NUMBER] << ID_BITS,
        rows[row, FACING],
        _place_of(rows, row),
        array_at(mesh[CORNERS], (mesh[CORNERS + 1], 9), np.float64),
        array_at(mesh[ORDER], (mesh[ORDER + 1],), np.int32),
        array_at(mesh[BOXES], (mesh[BOXES + 1], 6, LANES), np.float32),
        array_at(mesh[CHILDREN], (mesh[CHILDREN + 1],), np.int32),
        array_at(mesh[FRAME], (mesh[FRAME + 1],), np.float64),
    )


@kernel(inline=True)
def ids_at(rows: Int64s, row: int) -> Int64s:
    """Return the ids of the faces of a mesh that is the sides of a map."""
    mesh = _mesh_of(rows, row)
    ids: Int64s = array_at(mesh[IDS], (mesh[IDS + 1],), np.int64)
    return ids


@kernel(inline=True)
def skin_at(rows: Int64s, row: int) -> Skin:
    """Return the connectivity of a mesh, which Python has computed before."""
    mesh = _mesh_of(rows, row)
    return Skin(
        _place_of(rows, row),
        array_at(mesh[VERTICES], (mesh[VERTICES + 1], 3), np.float64),
        array_at(mesh[FACES], (mesh[FACES + 1], 3), np.int32),
        Neighbors(
            array_at(mesh[WELDED], (mesh[WELDED + 1],), np.int32),
            array_at(mesh[ACROSS], (mesh[ACROSS + 1], 3), np.int32),
            array_at(mesh[RING_OFFSETS], (mesh[RING_OFFSETS + 1],), np.int32),
            array_at(mesh[RING], (mesh[RING + 1],), np.int32),
        ),
    )


@kernel(inline=True)
def triangle_of(part: MeshPart, slot: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return the corners of the triangle in a slot, in the world."""
    a, b, c = corners_in(part.corners, slot)
    if part.place != 0:
        return placed_corners(part.place, a, b, c)
    return a, b, c


@kernel(inline=True)
def vertex_of(skin: Skin, vertex: int) -> Vec3:
    """Return a vertex in the world."""
    own = row3(skin.vertices, vertex)
    return placed_point(skin.place, own) if skin.place != 0 else own


@kernel(noinline=True)
def corners_of(rows: Int64s, triangle: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return the corners of a triangle that is given by its id, in the world."""
    row, face = row_of_number(rows, triangle >> ID_BITS), triangle & ((1 << ID_BITS) - 1)
    mesh, place = _mesh_of(rows, row), _place_of(rows, row)
    vertices = array_at(mesh[VERTICES], (mesh[VERTICES + 1], 3), np.float64)
    faces = array_at(mesh[FACES], (mesh[FACES + 1], 3), np.int32)
    a, b = row3(vertices, faces[face, 0]), row3(vertices, faces[face, 1])
    c = row3(vertices, faces[face, 2])
    return placed_corners(place, a, b, c) if place != 0 else (a, b, c)


@kernel(inline=True)
def bounds_of_part(part: MeshPart) -> tuple[Vec3, Vec3]:
    """Return the lower and upper corner of the box around a mesh."""
    if part.place != 0:
        return box_at(part.place)
    return _bounds_in(part.frame)


@kernel(inline=True)
def _bounds_in(frame: Floats) -> tuple[Vec3, Vec3]:
    return row_vector(frame, LOWER), row_vector(frame, UPPER)


# Queries in the frame of a mesh's tree, see `tree.py`.


@kernel(inline=True)
def _middle_of(part: MeshPart) -> Vec3:
    return row_vector(part.frame, 0)


@kernel(inline=True)
def point_in_tree(part: MeshPart, point: Vec3) -> tuple[Vec3, float, float]:
    """Return a point in the frame of a tree, the factor of lengths, and how far corners are off."""
    middle, factor = _middle_of(part), float(part.frame[3])
    if part.place != 0:
        there, ratio = turned_point(part.place, middle, factor, point)
        return there, ratio, off_at(part.place)
    return scale(subtract(point, middle), factor), factor, 0.0


@kernel(inline=True)
def path_in_tree(
    part: MeshPart, start: Vec3, direction: Vec3, half_extents: Vec3
) -> tuple[Vec3, Vec3, Vec3, float]:
    """Return the path of a box in the frame of a tree.

    That is where it starts, its direction, and the half extents of the box around it, which are as
    much larger as corners are off; then the factor of lengths.
    """
    middle, factor = _middle_of(part), float(part.frame[3])
    if part.place != 0:
        there, ratio = turned_point(part.place, middle, factor, start)
        wide = turned_extents(part.place, factor, half_extents)
        return there, turned_direction(part.place, direction), wide, ratio
    wide = scale(half_extents, factor)
    return scale(subtract(start, middle), factor), direction, wide, factor


@kernel(inline=True)
def world_in_tree(part: MeshPart) -> tuple[Vec3, float, float]:
    """Return (middle, factor, margin): how the boxes around a tree's turned boxes are in the world.

    That is as for `box_in_frame`; the axes are those of the world.
    """
    middle, factor = _middle_of(part), float(part.frame[3])
    if part.place != 0:
        there, ratio = placed_middle(part.place, middle, factor)
        return there, ratio, FRAME_MARGIN + off_at(part.place)
    return middle, factor, BOX_ROUNDING


@kernel(inline=True)
def box_in_tree(part: MeshPart, lower: Vec3, upper: Vec3) -> tuple[Vec3, Vec3, Vec3, float]:
    """Return the box around a box for a tree: the first arguments of `box_in_frame`."""
    middle, factor = _middle_of(part), float(part.frame[3])
    if part.place != 0:
        low, high = turned_box(part.place, middle, factor, lower, upper)
        return low, high, (0.0, 0.0, 0.0), 1.0
    return lower, upper, middle, factor


@kernel(inline=True)
def row_count(rows: Int64s) -> int:
    """Return how many rows are in use: as many items as the tree may find."""
    return int(rows[0, ROW_COUNT])


@kernel(inline=True)
def is_solid(part: MeshPart) -> bool:
    """Tell whether a mesh is solid, and no skin."""
    return bool(part.facing == SOLID or part.facing == INSIDE_OUT)


@kernel
def row_of_number(rows: Int64s, number: int) -> int:
    """Return the row of a number, or the row where an unknown number belongs; numbers ascend."""
    low, high = 1, row_count(rows)
    while low < high:
        middle = (low + high) // 2
        if rows[middle, NUMBER] < number:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(inline=True)
def _frame_of(table: Int64s, row: int) -> Floats:
    frame: Floats = array_at(_mesh_of(table, row)[FRAME], (FRAME_SIZE,), np.float64)
    return frame


@kernel(inline=True)
def _box_of_row(table: Int64s, row: int, poses: Floats, k: int, spots: Floats) -> tuple[Vec3, Vec3]:
    """Return the box around a mesh, and write its place if it has one."""
    mesh, frame = _mesh_of(table, row), _frame_of(table, row)
    if table[row, PLACED] == 0:
        return _bounds_in(frame)
    corners = array_at(mesh[CORNERS], (3 * mesh[CORNERS + 1], 3), np.float64)
    if mesh[USES_ALL] != 0:  # they are some six times fewer
        corners = array_at(mesh[VERTICES], (mesh[VERTICES + 1], 3), np.float64)
    return put_place(poses, k, corners, frame, spots, row)


@kernel
def put_part(
    table: Int64s,
    boxes: Floats,
    links: Int64s,
    spots: Floats,
    row: int,
    content: Int64s,
    pose: Floats,
    size: float,
    is_new: bool,
) -> None:
    """Write the row of a mesh (MESH_ROW_SIZE,), and put its leaf where it belongs in the tree.

    ``pose`` (1, POSE_SIZE) and the scale ``size`` are its place, if the row has one. This is a
    single call: between two calls, a signal handler would find the mesh gone.
    """
    if not is_new:
        take_leaf(boxes, links, table[row, LEAF])
        table[0, FACED] -= int(table[row, FACING] != SKIN)
    table[0, FACED] += int(content[FACING] != SKIN)
    for k in range(MESH_ROW_SIZE):
        table[row, k] = content[k]
    spots[row, SCALE] = size
    lower, upper = _box_of_row(table, row, pose, 0, spots)
    table[row, LEAF] = put_leaf(
        boxes, links, row, table[row, LAYERS], lower, upper, LEAF_SIZE_MARGIN
    )
    if is_new:
        table[0, ROW_COUNT] = row + 1


@kernel
def bounds_of_row(table: Int64s, spots: Floats, row: int) -> tuple[Vec3, Vec3]:
    """Return the lower and upper corner of the box around a mesh."""
    if table[row, PLACED] == 0:
        return _bounds_in(_frame_of(table, row))
    return row_vector(spots[row], BOX), row_vector(spots[row], BOX + 3)


@kernel
def place_part(
    table: Int64s, boxes: Floats, links: Int64s, spots: Floats, row: int, poses: Floats, k: int
) -> tuple[Vec3, Vec3]:
    """Put the mesh of a row at the k-th of poses (n, POSE_SIZE); return the box around it.

    A pose is a rotation row by row and a position; the scale stays. Nobody may read meanwhile.
    """
    table[row, PLACED] = 1
    lower, upper = _box_of_row(table, row, poses, k, spots)
    table[row, LEAF] = move_leaf(boxes, links, table[row, LEAF], lower, upper)
    return lower, upper


@kernel
def take_part(table: Int64s, boxes: Floats, links: Int64s, row: int) -> None:
    """Take the mesh of a row out of the tree, and its addresses out of the row."""
    take_leaf(boxes, links, table[row, LEAF])
    table[0, FACED] -= int(table[row, FACING] != SKIN)
    for k in range(MESH, MESH_ROW_SIZE):
        table[row, k] = 0


@kernel(inline=True)
def face_count(rows: Int64s, row: int) -> int:
    """Return how many faces a mesh has; 0: it has gone."""
    return 0 if rows[row, MESH] == 0 else int(_mesh_of(rows, row)[ORDER + 1])


@kernel(inline=True)
def material_in(rows: Int64s, row: int, face: int) -> int:
    """Return the material of a face, by the table's own numbers."""
    material = np.int64(0)
    if rows[row, MESH] == 0:  # it has gone
        return 0
    mesh = _mesh_of(rows, row)
    if mesh[MATERIALS + 1] > 0:
        made_of = array_at(mesh[MATERIALS], (mesh[MATERIALS + 1],), np.uint8)
        material = np.int64(made_of[face])
    if rows[row, NAMED + 1] > 0:
        named = array_at(rows[row, NAMED], (rows[row, NAMED + 1],), np.uint8)
        material = np.int64(named[material])
    return int(material)


@kernel
def material_of(table: Int64s, triangle: int) -> int:
    """Return the material of an id; 0 for -1."""
    if triangle < 0:
        return 0
    row = row_of_number(table, triangle >> ID_BITS)
    return material_in(table, row, triangle & ((1 << ID_BITS) - 1))


@kernel
def put_materials(table: Int64s, triangles: Int64s, out: Bytes) -> None:
    """Write the materials of ids (n,); 0 for -1."""
    row = 1
    for k in range(len(triangles)):
        triangle = int(triangles[k])
        if triangle < 0:
            out[k] = 0
            continue
        number = triangle >> ID_BITS
        if row >= row_count(table) or table[row, NUMBER] != number:  # often that of the last one
            row = row_of_number(table, number)
        out[k] = material_in(table, row, triangle & ((1 << ID_BITS) - 1))

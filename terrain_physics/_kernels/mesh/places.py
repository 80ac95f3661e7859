"""Places of meshes: corners are brought to the world, and queries to the frame of a mesh's tree.

A mesh that was moved, or that a ground has several times, is not copied. Its row in the table has a
place: a rotation, a position and a scale. The tree is searched in its own frame, by a query that is
turned, and widened by all rounding. Each triangle found is placed by the formula of
`terrain_physics.ground.poses`, and decides in the world. So every answer is that of a mesh with its
vertices there, to the last bit.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.rigid import Rigid, to_world, turned_back
from terrain_physics._kernels.math.rows import row3, row_matrix, row_vector
from terrain_physics._kernels.math.vec3 import Vec3, add, scale, subtract
from terrain_physics._kernels.mesh.tree import LANES, LOWER, UPPER, Place
from terrain_physics._kernels.tolerances import PLACE_MARGIN
from terrain_physics._kernels.types import Float32s, Floats

# Columns of a place: the rotation row by row, and the position, which are its pose; the scale; then
# what follows from the mesh: the lower and upper corner of the box around its placed corners, and
# how far, in the frame of the tree, a placed corner that is turned back may be from the corner.
POSITION, SCALE, BOX, OFF = 9, 12, 13, 19
POSE_SIZE, PLACE_SIZE = 12, 20

_BYTES = 8 * PLACE_SIZE

_NONE = np.int32(0)
_HALF = np.float32(0.5)

# Boxes reach from -1 to 1, and turned ones not twice as far; nothing that is asked for does.
_BEYOND = np.float32(4.0)


@kernel(inline=True)
def address_of_place(spots: int, row: int) -> int:
    """Return the address of the place of a row, in an array at an address."""
    return int(spots + row * _BYTES)


@kernel(inline=True)
def _frame_at(place: int) -> tuple[Rigid, float]:
    """Return the frame and the scale of the place at an address."""
    p = array_at(place, (PLACE_SIZE,), np.float64)
    return Rigid(row_matrix(p, 0), row_vector(p, POSITION)), float(p[SCALE])


@kernel(inline=True)
def off_at(place: int) -> float:
    """Return how far placed corners that are turned back may be off, in the frame of the tree."""
    return float(array_at(place, (PLACE_SIZE,), np.float64)[OFF])


@kernel(inline=True)
def box_at(place: int) -> tuple[Vec3, Vec3]:
    """Return the lower and upper corner of the box around a mesh at its place."""
    p = array_at(place, (PLACE_SIZE,), np.float64)
    return row_vector(p, BOX), row_vector(p, BOX + 3)


@kernel(noinline=True)
def placed_point(place: int, point: Vec3) -> Vec3:
    """Return where a point of a mesh is in the world."""
    frame, size = _frame_at(place)
    return to_world(frame, scale(point, size))


@kernel(noinline=True)
def placed_corners(place: int, a: Vec3, b: Vec3, c: Vec3) -> tuple[Vec3, Vec3, Vec3]:
    """Return where the corners of a triangle are in the world."""
    frame, size = _frame_at(place)
    return (
        to_world(frame, scale(a, size)),
        to_world(frame, scale(b, size)),
        to_world(frame, scale(c, size)),
    )


@kernel(noinline=True)
def placed_middle(place: int, middle: Vec3, factor: float) -> tuple[Vec3, float]:
    """Return where the middle of a tree's frame is, and the factor from the world's lengths."""
    frame, size = _frame_at(place)
    return to_world(frame, scale(middle, size)), factor / size


@kernel(noinline=True)
def turned_point(place: int, middle: Vec3, factor: float, point: Vec3) -> tuple[Vec3, float]:
    """Return a point in the frame of a tree, and the factor that brings lengths there.

    ``middle`` and ``factor`` are those of the tree's own frame.
    """
    there, ratio = placed_middle(place, middle, factor)
    rotation = _frame_at(place)[0].rotation
    return scale(turned_back(rotation, subtract(point, there)), ratio), ratio


@kernel(noinline=True)
def turned_direction(place: int, direction: Vec3) -> Vec3:
    """Return a direction in the frame of a tree."""
    frame, _ = _frame_at(place)
    return turned_back(frame.rotation, direction)


@kernel(noinline=True)
def turned_extents(place: int, factor: float, half: Vec3) -> Vec3:
    """Return the half extents of the box around a turned box in the frame of a tree, and the slack.

    ``factor`` is that of the tree's own frame.
    """
    frame, size = _frame_at(place)
    m, ratio, slack = frame.rotation, factor / size, off_at(place)
    return (
        (half[0] * abs(m[0]) + half[1] * abs(m[3]) + half[2] * abs(m[6])) * ratio + slack,
        (half[0] * abs(m[1]) + half[1] * abs(m[4]) + half[2] * abs(m[7])) * ratio + slack,
        (half[0] * abs(m[2]) + half[1] * abs(m[5]) + half[2] * abs(m[8])) * ratio + slack,
    )


@kernel(noinline=True)
def turned_box(
    place: int, middle: Vec3, factor: float, lower: Vec3, upper: Vec3
) -> tuple[Vec3, Vec3]:
    """Return the box around a turned box in the frame of a tree, widened by the slack.

    ``middle`` and ``factor`` are those of the tree's own frame.
    """
    low, high = scale(lower, 0.5), scale(upper, 0.5)
    center, _ = turned_point(place, middle, factor, add(low, high))
    wide = turned_extents(place, factor, subtract(high, low))
    return subtract(center, wide), add(center, wide)


@kernel(noinline=True)
def lanes_around(boxes: Float32s, node: int, place: int, lower: Place, upper: Place) -> np.int32:
    """Return bits: the boxes around which of sixteen turned boxes overlap a box, closed.

    The box is in the world's axes, in meters times the factor to the frame of the tree, from where
    the middle of that frame is in the world.
    """
    prefer_wide_vectors()
    (x0, y0, z0), (x1, y1, z1) = lower, upper
    m = _frame_at(place)[0].rotation
    m0, m1, m2 = np.float32(m[0]), np.float32(m[1]), np.float32(m[2])
    m3, m4, m5 = np.float32(m[3]), np.float32(m[4]), np.float32(m[5])
    m6, m7, m8 = np.float32(m[6]), np.float32(m[7]), np.float32(m[8])
    bits = _NONE
    for k in range(LANES):
        # An empty box is upside down, and infinite: infinity times 0 is NaN.
        low, high = min(boxes[node, 0, k], _BEYOND), max(boxes[node, 3, k], -_BEYOND)
        x, half_x = (low + high) * _HALF, (high - low) * _HALF
        low, high = min(boxes[node, 1, k], _BEYOND), max(boxes[node, 4, k], -_BEYOND)
        y, half_y = (low + high) * _HALF, (high - low) * _HALF
        low, high = min(boxes[node, 2, k], _BEYOND), max(boxes[node, 5, k], -_BEYOND)
        z, half_z = (low + high) * _HALF, (high - low) * _HALF
        at_x, wide_x = m0 * x + m1 * y + m2 * z, abs(m0) * half_x + abs(m1) * half_y
        at_y, wide_y = m3 * x + m4 * y + m5 * z, abs(m3) * half_x + abs(m4) * half_y
        at_z, wide_z = m6 * x + m7 * y + m8 * z, abs(m6) * half_x + abs(m7) * half_y
        wide_x, wide_y = wide_x + abs(m2) * half_z, wide_y + abs(m5) * half_z
        wide_z = wide_z + abs(m8) * half_z
        overlaps = (
            (at_x - wide_x <= x1)
            & (at_x + wide_x >= x0)
            & (at_y - wide_y <= y1)
            & (at_y + wide_y >= y0)
            & (at_z - wide_z <= z1)
            & (at_z + wide_z >= z0)
        )
        bits = np.int32(bits | (np.int32(1 << k) if overlaps else _NONE))
    return bits


@kernel(noinline=True)
def put_place(
    poses: Floats, k: int, corners: Floats, frame: Floats, spots: Floats, row: int
) -> tuple[Vec3, Vec3]:
    """Write the place of a row, which has its scale; return the box around the mesh there.

    ``poses`` (n, POSE_SIZE) holds the pose in its row ``k``; ``corners`` and ``frame`` are the
    mesh's own; corners (n, 3) may be there more than once.
    """
    for column in range(POSE_SIZE):
        spots[row, column] = poses[k, column]
    rigid = Rigid(row_matrix(poses[k], 0), row_vector(poses[k], POSITION))
    size = float(spots[row, SCALE])
    x0, y0, z0 = x1, y1, z1 = to_world(rigid, scale(row3(corners, 0), size))
    for i in range(len(corners)):
        x, y, z = to_world(rigid, scale(row3(corners, i), size))
        x0, x1 = (x if x < x0 else x0), (x if x > x1 else x1)
        y0, y1 = (y if y < y0 else y0), (y if y > y1 else y1)
        z0, z1 = (z if z < z0 else z0), (z if z > z1 else z1)
    spots[row, BOX], spots[row, BOX + 1], spots[row, BOX + 2] = x0, y0, z0
    spots[row, BOX + 3], spots[row, BOX + 4], spots[row, BOX + 5] = x1, y1, z1
    own, far = 0.0, 0.0
    for axis in range(3):
        own = max(own, abs(float(frame[LOWER + axis])), abs(float(frame[UPPER + axis])))
        far = max(far, abs(float(poses[k, POSITION + axis])))
    spots[row, OFF] = PLACE_MARGIN * (own + far / size) * float(frame[3])
    return (x0, y0, z0), (x1, y1, z1)

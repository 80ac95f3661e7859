"""The one table of shapes: their kinds, their rows of numbers, and the bodies made of them.

Contacts and sweeps take shapes as rows of float64 numbers, one behind the other in a flat array.
Characters keep the kind in columns of their own (`character/state/layout.py`) and make the same
`Body`.

To add a shape, such as a cone:

1. Here: a row of `SHAPE_KINDS` at the end (saved states hold kinds), the names of its kind and
   width, its width in `row_width`, a reader (`read_cone`), a constructor of its body, and a branch
   in `bounds_at`, `body_at`, `grown_body` and `turned_body`.
2. Its pair kernels, `geometry/cone_triangle.py` and `geometry/sweep_cone.py`. A branch for them in
   `touches` and `contact` of `contact.py`, and in `travel` and `point_of_touch` of `sweep.py`.
3. At the border, in `terrain_physics/surface/shapes.py`: `Shape`, `SHAPES`, and `row_of` with its
   message; in `shape_rows.py` beside it a class of its rows.

That makes it right everywhere. Most chains take a kind without a branch for a capsule, some for
another: `tests/package/test_shape_kinds.py` names all. A filter of cells in float32, as
`heightmap/batch_contacts/filter_boxes.py` is one, makes contacts of many with maps faster.
"""

from typing import NamedTuple

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.rigid import product, turned
from terrain_physics._kernels.math.rows import row_matrix, row_vector
from terrain_physics._kernels.math.vec3 import Mat3, Vec3, add, dot
from terrain_physics._kernels.types import Floats


class ShapeKind(NamedTuple):
    """A kind of shape as a row of numbers."""

    name: str
    width: int
    columns: str


# A kind is the place in this table.
SHAPE_KINDS = (
    ShapeKind("sphere", 4, "center, radius"),
    ShapeKind("box", 15, "center, half extents, rotation row by row"),
    ShapeKind("capsule", 7, "both ends of the axis, radius"),
)
SPHERE, BOX, CAPSULE = range(3)
SPHERE_WIDTH, BOX_WIDTH, CAPSULE_WIDTH = (shape.width for shape in SHAPE_KINDS)

FARTHEST = 1e38
"""Coordinates and sizes are smaller than this, in meters: float32 holds them, float64 products."""

NO_TURN: Mat3 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


class Body(NamedTuple):
    """A shape around its center.

    A sphere is its radius. A box is its half extents along its own axes, and its rotation. A
    capsule is the radius around the line from -axis to axis; for a character's capsule, the half
    extents (0, h, 0) and the rotation describe the same line.
    """

    kind: int
    radius: float  # 0 of a box
    extents: Vec3
    rotation: Mat3
    axis: Vec3  # of a capsule: from its center to an end, a character's upper one
    half_extents: Vec3  # half extents of the box around it along the world's axes
    least: float  # the least distance from the center to the outside


@kernel(inline=True)
def row_width(kind: int) -> int:
    """Return how many numbers a row has."""
    return (SPHERE_WIDTH, BOX_WIDTH, CAPSULE_WIDTH)[kind]


@kernel(inline=True)
def read_sphere(spheres: Floats, index: int) -> tuple[Vec3, float]:
    """Return (center, radius) of a sphere."""
    i = SPHERE_WIDTH * index
    return row_vector(spheres, i), float(spheres[i + 3])


@kernel(inline=True)
def read_box(boxes: Floats, index: int) -> tuple[Vec3, Vec3, Mat3]:
    """Return (center, half extents, rotation) of a box."""
    i = BOX_WIDTH * index
    return row_vector(boxes, i), row_vector(boxes, i + 3), row_matrix(boxes, i + 6)


@kernel(inline=True)
def read_capsule(capsules: Floats, index: int) -> tuple[Vec3, Vec3, float]:
    """Return (start, end, radius) of a capsule."""
    i = CAPSULE_WIDTH * index
    return row_vector(capsules, i), row_vector(capsules, i + 3), float(capsules[i + 6])


@kernel(inline=True)
def half_extents_of_bounds(half: Vec3, m: Mat3) -> Vec3:
    """Return the half extents of the box around a turned box along the world's axes."""
    return (
        abs(m[0]) * half[0] + abs(m[1]) * half[1] + abs(m[2]) * half[2],
        abs(m[3]) * half[0] + abs(m[4]) * half[1] + abs(m[5]) * half[2],
        abs(m[6]) * half[0] + abs(m[7]) * half[1] + abs(m[8]) * half[2],
    )


@kernel(inline=True)
def bounds_at(kind: int, rows: Floats, index: int) -> tuple[Vec3, Vec3]:
    """Return (lower, upper) of a row."""
    if kind == SPHERE:
        (x, y, z), radius = read_sphere(rows, index)
        return (x - radius, y - radius, z - radius), (x + radius, y + radius, z + radius)
    if kind == BOX:
        (x, y, z), half, rotation = read_box(rows, index)
        wide, tall, deep = half_extents_of_bounds(half, rotation)
        return (x - wide, y - tall, z - deep), (x + wide, y + tall, z + deep)
    (x, y, z), (u, v, w), radius = read_capsule(rows, index)
    return (
        (min(x, u) - radius, min(y, v) - radius, min(z, w) - radius),
        (max(x, u) + radius, max(y, v) + radius, max(z, w) + radius),
    )


@kernel(inline=True)
def center_at(kind: int, rows: Floats, index: int) -> Vec3:
    """Return the center of a row; of a capsule it is the middle of the axis."""
    if kind != CAPSULE:
        return row_vector(rows, row_width(kind) * index)
    a, b, _ = read_capsule(rows, index)
    # Halved first: the sum of two large numbers may overflow.
    return (0.5 * a[0] + 0.5 * b[0], 0.5 * a[1] + 0.5 * b[1], 0.5 * a[2] + 0.5 * b[2])


@kernel(inline=True)
def sphere_body(radius: float) -> Body:
    """Return a sphere."""
    none = (0.0, 0.0, 0.0)
    return Body(SPHERE, radius, none, NO_TURN, none, (radius, radius, radius), radius)


@kernel(inline=True)
def box_body(half: Vec3, rotation: Mat3) -> Body:
    """Return a box."""
    half_extents, least = half_extents_of_bounds(half, rotation), min(half[0], half[1], half[2])
    return Body(BOX, 0.0, half, rotation, (0.0, 0.0, 0.0), half_extents, least)


@kernel(inline=True)
def capsule_body(radius: float, axis: Vec3, extents: Vec3, rotation: Mat3) -> Body:
    """Return a capsule; a sweep along a line leaves out ``extents`` and ``rotation``."""
    half_extents = (abs(axis[0]) + radius, abs(axis[1]) + radius, abs(axis[2]) + radius)
    return Body(CAPSULE, radius, extents, rotation, axis, half_extents, radius)


@kernel
def extent_along(body: Body, normal: Vec3) -> float:
    """Return how far a body extends from its center against a unit normal."""
    if body.kind != BOX:
        return body.radius + abs(dot(body.axis, normal))
    m, e = body.rotation, body.extents
    return (
        abs(m[0] * normal[0] + m[3] * normal[1] + m[6] * normal[2]) * e[0]
        + abs(m[1] * normal[0] + m[4] * normal[1] + m[7] * normal[2]) * e[1]
        + abs(m[2] * normal[0] + m[5] * normal[1] + m[8] * normal[2]) * e[2]
    )


@kernel(noinline=True)
def grown_body(body: Body, by: float) -> Body:
    """Return a body that is larger on all sides."""
    if body.kind == SPHERE:
        return sphere_body(body.radius + by)
    if body.kind == BOX:
        return box_body(add(body.extents, (by, by, by)), body.rotation)
    return capsule_body(body.radius + by, body.axis, body.extents, body.rotation)


@kernel(noinline=True)
def turned_body(body: Body, turn: Mat3) -> Body:
    """Return a body that has been turned."""
    if body.kind == SPHERE:
        return body
    rotation = product(turn, body.rotation)
    if body.kind == BOX:
        return box_body(body.extents, rotation)
    return capsule_body(body.radius, turned(turn, body.axis), body.extents, rotation)


@kernel(noinline=True)
def upside_down_body(body: Body) -> Body:
    """Return a body whose y is -y. The rotation stays one: its third axis becomes its opposite."""
    m, axis = body.rotation, body.axis
    return replaced(
        body,
        rotation=(m[0], m[1], -m[2], -m[3], -m[4], m[5], m[6], m[7], -m[8]),
        axis=(axis[0], 0.0 - axis[1], axis[2]),
    )


@kernel(noinline=True)
def body_at(kind: int, rows: Floats, index: int) -> tuple[Vec3, Body]:
    """Return (center, body) of a row."""
    if kind == SPHERE:
        center, radius = read_sphere(rows, index)
        return center, sphere_body(radius)
    if kind == BOX:
        center, half, rotation = read_box(rows, index)
        return center, box_body(half, rotation)
    a, b, radius = read_capsule(rows, index)
    center = center_at(kind, rows, index)
    axis = (0.5 * b[0] - 0.5 * a[0], 0.5 * b[1] - 0.5 * a[1], 0.5 * b[2] - 0.5 * a[2])
    return center, capsule_body(radius, axis, (0.0, 0.0, 0.0), NO_TURN)

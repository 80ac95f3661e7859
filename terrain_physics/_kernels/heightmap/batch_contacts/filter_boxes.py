"""Boxes against the cells of a height map, in float32: touched, apart, or too close to tell."""

import numpy as np

from terrain_physics._kernels._intrinsics import prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import (
    CHUNK,
    PAIRS,
    SMALL,
    Chunk,
    Outline,
    put_range,
)
from terrain_physics._kernels.heightmap.batch_contacts.filter_spheres import APART, TOUCHED, UNKNOWN
from terrain_physics._kernels.heightmap.grid import Grid
from terrain_physics._kernels.surface.shapes import BOX, BOX_WIDTH, bounds_at
from terrain_physics._kernels.types import Float32s, Floats, Int32s

# Overlaps are in doubt by this part of the sizes. In units of 2^-24: the corners in the box's frame
# are off by at most 8 of all lengths at hand, an edge's product with an axis by 8 of the edge, the
# overlap by 13 more of edge times lengths. 32 is more.
DOUBT_RATIO = 32.0 * 2.0**-24

# Columns of a box in float32, each for CHUNK boxes: x and z of the center relative to the first
# cell; its height in units of the samples, in two parts; half extents; rotation row by row.
BOX_PARTS = 16

Vec3f = tuple[np.float32, np.float32, np.float32]


@kernel(noinline=True, noalias=True)
def put_boxes(grid: Grid, edges: Outline, bodies: Floats, chunk: Chunk) -> None:
    """Write the ranges of n boxes, and their columns in float32."""
    ranges, corners, boxes = chunk
    for k in range(bodies.shape[0] // BOX_WIDTH):
        lower, upper = bounds_at(BOX, bodies, k)
        put_range(grid, edges, lower, upper, k, chunk)
        if ranges[4 * CHUNK + k] != SMALL:
            continue
        x, y, z = bodies[BOX_WIDTH * k], bodies[BOX_WIDTH * k + 1], bodies[BOX_WIDTH * k + 2]
        boxes[k] = np.float32(x - (grid.x0 + corners[CHUNK + k] * grid.cell_x))
        boxes[CHUNK + k] = np.float32(z - (grid.z0 + corners[k] * grid.cell_z))
        level = (y - grid.y0) / grid.height_scale
        high = np.float32(level)
        boxes[2 * CHUNK + k] = high
        boxes[3 * CHUNK + k] = np.float32(level - np.float64(high))
        for i in range(12):
            boxes[(4 + i) * CHUNK + k] = np.float32(bodies[BOX_WIDTH * k + 3 + i])


@kernel(inline=True, contract=True)
def _gap(first: np.float32, second: np.float32, extent: np.float32) -> np.float32:
    """Return the gap between first..second and -extent..extent; negative where they overlap."""
    low = first if first < second else second
    high = second if first < second else first
    return (low if low > -high else -high) - extent


@kernel(inline=True, contract=True)
def _edge_gaps(
    corner: Vec3f, edge: Vec3f, third: Vec3f, half: Vec3f, gap: np.float32, doubt: np.float32
) -> np.float32:
    """Return the greatest gap so far, in units of doubt, with those of an edge and the box's axes.

    ``gap`` is the greatest so far; the edge begins at ``corner``, ``third`` is not on it.
    """
    # The size of the edge stands for the size of its products, which may vanish. So an edge that is
    # all but parallel to an axis stays in doubt.
    share = np.float32(1.0) / (doubt * (abs(edge[0]) + abs(edge[1]) + abs(edge[2])))
    own = _gap(
        edge[2] * corner[1] - edge[1] * corner[2],
        edge[2] * third[1] - edge[1] * third[2],
        abs(edge[2]) * half[1] + abs(edge[1]) * half[2],
    )
    gap = own * share if own * share > gap else gap
    own = _gap(
        edge[0] * corner[2] - edge[2] * corner[0],
        edge[0] * third[2] - edge[2] * third[0],
        abs(edge[0]) * half[2] + abs(edge[2]) * half[0],
    )
    gap = own * share if own * share > gap else gap
    own = _gap(
        edge[1] * corner[0] - edge[0] * corner[1],
        edge[1] * third[0] - edge[0] * third[1],
        abs(edge[1]) * half[0] + abs(edge[0]) * half[1],
    )
    return own * share if own * share > gap else gap


@kernel(inline=True, contract=True)
def _face_gap(
    p: np.float32, q: np.float32, r: np.float32, half: np.float32, gap: np.float32,
    doubt: np.float32,
) -> np.float32:  # fmt: skip
    """Return the greatest gap so far, in units of doubt, with that along one of the box's axes."""
    low = p if p < q else q
    low = low if low < r else r
    high = p if p > q else q
    high = high if high > r else r
    own = ((low if low > -high else -high) - half) / doubt
    return own if own > gap else gap


@kernel(inline=True, contract=True)
def _minus(a: Vec3f, b: Vec3f) -> Vec3f:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel(inline=True, contract=True)
def _verdict(
    a: Vec3f, b: Vec3f, c: Vec3f, slope_x: np.float32, slope_z: np.float32,
    right: Vec3f, up: Vec3f, back: Vec3f, half: Vec3f, doubt: np.float32,
) -> np.int32:  # fmt: skip
    """Return the verdict on a triangle, corners and the world's axes in the frame of the box."""
    one = np.float32(1.0)
    normal = (
        up[0] - slope_x * right[0] - slope_z * back[0],
        up[1] - slope_x * right[1] - slope_z * back[1],
        up[2] - slope_x * right[2] - slope_z * back[2],
    )
    away = normal[0] * b[0] + normal[1] * b[1] + normal[2] * b[2]
    extent = abs(normal[0]) * half[0] + abs(normal[1]) * half[1] + abs(normal[2]) * half[2]
    gap = (abs(away) - extent) / (doubt * (one + abs(slope_x) + abs(slope_z)))
    gap = _face_gap(a[0], b[0], c[0], half[0], gap, doubt)
    gap = _face_gap(a[1], b[1], c[1], half[1], gap, doubt)
    gap = _face_gap(a[2], b[2], c[2], half[2], gap, doubt)
    gap = _edge_gaps(a, _minus(b, a), c, half, gap, doubt)
    gap = _edge_gaps(b, _minus(c, b), a, half, gap, doubt)
    gap = _edge_gaps(c, _minus(a, c), b, half, gap, doubt)
    verdict = np.int32(TOUCHED) if gap < -one else np.int32(UNKNOWN)
    return np.int32(APART) if gap > one else verdict


@kernel(noinline=True, noalias=True, contract=True)
def judge_boxes(
    grid: Grid, samples: Float32s, boxes: Float32s, codes: Int32s, verdicts: Int32s
) -> None:
    """Write the verdicts on n pairs of a box and a cell: that on half 0 + 2 * that on half 1."""
    prefer_wide_vectors()
    zero, none = np.int32(0), np.float32(0.0)
    size_x, size_z = np.float32(grid.cell_x), np.float32(grid.cell_z)
    inverse_x, inverse_z = np.float32(1.0 / grid.cell_x), np.float32(1.0 / grid.cell_z)
    scale, two = np.float32(grid.height_scale), np.float32(2.0)
    for k in range(verdicts.shape[0]):
        x, z = boxes[k], boxes[PAIRS + k]
        high, low = boxes[2 * PAIRS + k], boxes[3 * PAIRS + k]
        half = (boxes[4 * PAIRS + k], boxes[5 * PAIRS + k], boxes[6 * PAIRS + k])
        # Heights of the center over the corners. The first difference is off by 2^-24 of itself.
        a = ((high - samples[k]) + low) * scale
        b = ((high - samples[PAIRS + k]) + low) * scale
        c = ((high - samples[2 * PAIRS + k]) + low) * scale
        d = ((high - samples[3 * PAIRS + k]) + low) * scale
        # A flipped cell is the mirror image of one that is not.
        flipped = np.int32(codes[k] & np.int32(2)) != zero
        mirror = np.float32(-1.0) if flipped else np.float32(1.0)
        x = size_x - x if flipped else x
        a, b = b if flipped else a, a if flipped else b
        c, d = d if flipped else c, c if flipped else d
        east = (
            mirror * boxes[7 * PAIRS + k],
            mirror * boxes[8 * PAIRS + k],
            mirror * boxes[9 * PAIRS + k],
        )
        up = (boxes[10 * PAIRS + k], boxes[11 * PAIRS + k], boxes[12 * PAIRS + k])
        south = (boxes[13 * PAIRS + k], boxes[14 * PAIRS + k], boxes[15 * PAIRS + k])
        w, s = size_x - x, size_z - z
        at_a = _seen(-x, -a, s, east, up, south)
        at_b = _seen(w, -b, s, east, up, south)
        at_c = _seen(w, -c, -z, east, up, south)
        at_d = _seen(-x, -d, -z, east, up, south)
        # All cells of the box together are no wider: this covers the rounding of the places.
        sizes = two * (two * (half[0] + half[1] + half[2]) + size_x + size_z)
        total = abs(a) + abs(b) + abs(c) + abs(d)
        doubt = np.float32(DOUBT_RATIO) * (sizes + total)
        half_0 = _verdict(
            at_a, at_b, at_c, (a - b) * inverse_x, (c - b) * inverse_z,
            east, up, south, half, doubt,
        )  # fmt: skip
        half_1 = _verdict(
            at_a, at_c, at_d, (d - c) * inverse_x, (d - a) * inverse_z,
            east, up, south, half, doubt,
        )  # fmt: skip
        # In a hole, a sample is NaN.
        is_ground = total - total == none
        verdicts[k] = np.int32(half_0 + half_1 + half_1) if is_ground else zero


@kernel(inline=True, contract=True)
def _seen(
    x: np.float32, y: np.float32, z: np.float32, east: Vec3f, up: Vec3f, south: Vec3f
) -> Vec3f:
    """Return a vector in the frame of the box."""
    return (
        x * east[0] + y * up[0] + z * south[0],
        x * east[1] + y * up[1] + z * south[1],
        x * east[2] + y * up[2] + z * south[2],
    )

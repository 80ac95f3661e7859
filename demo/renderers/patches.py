"""Which patches of the ground are drawn, and how fine: a quadtree walk with culling."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..picture.camera import NEAR, basis, focal_length
from ..picture.frame import Camera
from .compiled import compiled, inlined
from .ground import PATCH, LitGround

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

QUAD_PIXELS = 40.0
"""Quads of a patch are made finer while they are wider than this on the screen,"""
ERROR_PIXELS = 4.0
"""or farther than this from the ground they stand for."""
SIDE = PATCH + 3
"""Vertices along a patch: those of its quads, and a skirt around them that hides cracks."""
MOST_PATCHES = 8192


def visible_patches(ground: LitGround, camera: Camera, size: tuple[int, int]) -> Places:
    """Return row, column and step of patches in samples, and `skirts`, (n, 4); near ones first."""
    low, high, gaps, errors = (
        np.concatenate([level[k].ravel() for level in ground.bounds]) for k in range(4)
    )
    shapes = np.array([level[0].shape for level in ground.bounds], dtype=np.int64)
    focal = focal_length(camera, size)
    slopes = np.array([0.5 * size[0] / focal, 0.5 * size[1] / focal])
    place = np.array(
        [ground.x0, ground.z0, ground.cell_x, ground.cell_z, ground.far, QUAD_PIXELS, ERROR_PIXELS]
    )
    out = np.empty((MOST_PATCHES, 4))
    count = _walk(
        low, high, gaps, errors, shapes, place, np.array(camera.position, dtype=np.float64),
        basis(camera), slopes, focal,
        1.0 if ground.extends else 0.0, out,
    )  # fmt: skip
    found = out[:count]
    order = np.argsort(found[:, 3], kind="stable")
    patches = found[order, :3].astype(np.int64)
    return np.column_stack([patches, skirts(patches)])


def skirts(patches: Places) -> Places:
    """Return which sides of patches have no patch as fine beside them: there may be cracks.

    Bits: 1 is the side of the first row, 2 of the last, 4 of the first column, 8 of the last.
    """
    rows, columns, steps = patches.T
    known = set(zip(rows.tolist(), columns.tolist(), steps.tolist(), strict=True))
    sides = np.zeros(len(patches), dtype=np.int64)
    for k, (row, column, step) in enumerate(patches.tolist()):
        wide = PATCH * step
        sides[k] = (
            1 * ((row - wide, column, step) not in known)
            + 2 * ((row + wide, column, step) not in known)
            + 4 * ((row, column - wide, step) not in known)
            + 8 * ((row, column + wide, step) not in known)
        )
    return sides


@inlined
def _outside(view: Floats, slopes: Floats, center: Any, half: Any) -> bool:
    """Whether a box, about the camera, is outside one of the view's planes."""
    cx, cy, cz = center
    hx, hy, hz = half
    ahead = view[2, 0] * cx + view[2, 1] * cy + view[2, 2] * cz
    reach = abs(view[2, 0]) * hx + abs(view[2, 1]) * hy + abs(view[2, 2]) * hz
    if ahead + reach < NEAR:
        return True
    for axis in range(2):
        for sign in (-1.0, 1.0):
            nx = sign * view[axis, 0] - slopes[axis] * view[2, 0]
            ny = sign * view[axis, 1] - slopes[axis] * view[2, 1]
            nz = sign * view[axis, 2] - slopes[axis] * view[2, 2]
            if nx * cx + ny * cy + nz * cz > abs(nx) * hx + abs(ny) * hy + abs(nz) * hz:
                return True
    return False


@compiled
def _walk(
    low: NDArray[np.float32],
    high: NDArray[np.float32],
    gaps: NDArray[np.uint8],
    errors: NDArray[np.float32],
    shapes: Places,
    place: Floats,
    eye: Floats,
    view: Floats,
    slopes: Floats,
    focal: float,
    extends: float,
    out: Floats,
) -> int:
    """Write row, column, step and distance of patches; return how many."""
    x0, z0, cell_x, cell_z, far = place[0], place[1], place[2], place[3], place[4]
    wide = max(cell_x, cell_z)
    top = 0
    while PATCH * (1 << top) * wide < 0.5 * far:
        top += 1
    side_x, side_z = PATCH * (1 << top) * cell_x, PATCH * (1 << top) * cell_z
    if extends > 0.0:
        first_i = math.floor((eye[2] - far - z0) / side_z)
        last_i = math.floor((eye[2] + far - z0) / side_z)
        first_j = math.floor((eye[0] - far - x0) / side_x)
        last_j = math.floor((eye[0] + far - x0) / side_x)
    else:
        first_i = first_j = 0
        last_i, last_j = (shapes[0, 0] - 1) >> top, (shapes[0, 1] - 1) >> top
    stack = np.empty((4096, 3), dtype=np.int64)
    held = count = 0
    for i in range(first_i, last_i + 1):
        for j in range(first_j, last_j + 1):
            if held < 1024:
                stack[held, 0], stack[held, 1], stack[held, 2] = top, i, j
                held += 1
    while held > 0:
        held -= 1
        level, i, j = stack[held, 0], stack[held, 1], stack[held, 2]
        if extends == 0.0 and ((i << level) >= shapes[0, 0] or (j << level) >= shapes[0, 1]):
            continue
        known, start = min(level, shapes.shape[0] - 1), 0
        for k in range(known):
            start += shapes[k, 0] * shapes[k, 1]
        lift = level - known
        ki = min(max(i << lift, 0), shapes[known, 0] - 1)
        kj = min(max(j << lift, 0), shapes[known, 1] - 1)
        inside = 0 <= (i << lift) < shapes[known, 0] and 0 <= (j << lift) < shapes[known, 1]
        index = start + ki * shapes[known, 1] + kj
        size = PATCH << level
        half = (0.5 * size * cell_x, 0.5 * (high[index] - low[index]), 0.5 * size * cell_z)
        center = (
            x0 + j * size * cell_x + half[0] - eye[0],
            0.5 * (high[index] + low[index]) - eye[1],
            z0 + i * size * cell_z + half[2] - eye[2],
        )
        if _outside(view, slopes, center, half):
            continue
        dx, dy, dz = (
            max(abs(center[0]) - half[0], 0.0),
            max(abs(center[1]) - half[1], 0.0),
            max(abs(center[2]) - half[2], 0.0),
        )
        distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        if distance > far:
            continue
        step = 1 << level
        fine = wide * step * focal <= place[5] * distance
        if level >= shapes.shape[0]:
            fine = fine and not inside and distance > 0.0
        fine = fine and errors[index] * focal <= place[6] * distance
        if fine and inside and gaps[index] != 0 and wide * focal > 1.5 * distance:
            fine = False
        if (fine or level == 0) and count < out.shape[0]:
            out[count, 0], out[count, 1], out[count, 2] = i * size, j * size, step
            out[count, 3] = distance
            count += 1
        elif level > 0 and held + 4 <= stack.shape[0]:
            for k in range(4):
                stack[held, 0] = level - 1
                stack[held, 1], stack[held, 2] = 2 * i + (k >> 1), 2 * j + (k & 1)
                held += 1
    return count


@compiled
def patch_vertices(
    patches: Places,
    heights: NDArray[np.float32],
    place: Floats,
    eye: Floats,
    view: Floats,
    lens: Floats,
    extends: float,
    out: Floats,
    spans: Floats,
) -> None:
    """Write pixel x, y, 1 / depth and depth of the vertices of patches, (n, SIDE, SIDE, 4).

    What is nearer than `NEAR` has 1 / depth 0 and, in place of pixels, x and y of view space.
    ``spans``: least and greatest pixel y of each patch.
    """
    x0, z0, cell_x, cell_z = place[0], place[1], place[2], place[3]
    focal, middle_x, middle_y = lens[0], lens[1], lens[2]
    rows, columns = heights.shape
    for k in range(patches.shape[0]):
        step = patches[k, 2]
        skirt = step * max(cell_x, cell_z)
        least, greatest = np.inf, -np.inf
        for i in range(SIDE):
            row = patches[k, 0] + min(max(i - 1, 0), PATCH) * step
            clear_row = min(max(row, 0), rows - 1)
            z = z0 + (row if extends > 0.0 else clear_row) * cell_z - eye[2]
            for j in range(SIDE):
                column = patches[k, 1] + min(max(j - 1, 0), PATCH) * step
                clear_column = min(max(column, 0), columns - 1)
                x = x0 + (column if extends > 0.0 else clear_column) * cell_x - eye[0]
                y = heights[clear_row, clear_column] - eye[1]
                if i == 0 or j == 0 or i == SIDE - 1 or j == SIDE - 1:
                    # An open border has a wall of its own.
                    inner = 0 < row < rows - 1 and 0 < column < columns - 1
                    if extends > 0.0 or inner:
                        y -= skirt
                across = view[0, 0] * x + view[0, 1] * y + view[0, 2] * z
                up = view[1, 0] * x + view[1, 1] * y + view[1, 2] * z
                depth = view[2, 0] * x + view[2, 1] * y + view[2, 2] * z
                if depth < NEAR:
                    out[k, i, j, 0], out[k, i, j, 1], out[k, i, j, 2] = across, up, 0.0
                    least, greatest = -np.inf, np.inf
                else:
                    pixel = middle_y - focal * up / depth
                    out[k, i, j, 0], out[k, i, j, 1] = middle_x + focal * across / depth, pixel
                    out[k, i, j, 2] = 1.0 / depth
                    least, greatest = min(least, pixel), max(greatest, pixel)
                out[k, i, j, 3] = depth
        spans[k, 0], spans[k, 1] = least, greatest

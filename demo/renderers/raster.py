"""Triangles into the depth buffer. A pixel knows 1 / depth and a word that says what it shows.

Words: `SKY`, `GROUND`, `FACE` + the face's number, or `LIT` + a color. Two triangles with a common
edge neither overlap nor leave a gap: each row's ends follow from the edge alone.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..picture.camera import NEAR
from .compiled import compiled, inlined
from .patches import SIDE

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Words = NDArray[np.uint32]
Places = NDArray[np.int64]

SKY = 0
GROUND = 1 << 24
FACE = 2 << 24
LIT = 255 << 24
DEPTH_ALONE = 254 << 24
"""In place of a word: none is written."""

MOST_FACES = 1 << 24
LANES = 16
"""Pixels of a row that are filled at once; no picture is narrower."""
_LANE, _NOTHING = np.arange(LANES, dtype=np.float32), np.float32(0.0)


@inlined
def _deepen(
    depth: Singles, row: int, start: int, stop: int, first: float, across: float, lowest: float,
    highest: float,
) -> None:  # fmt: skip
    """Fill a row's part, sixteen pixels at a time; those outside are as far as nothing."""
    begin, step = np.float32(first), np.float32(across)
    least, most = np.float32(lowest), np.float32(highest)
    count = np.float32(stop - start)
    for block in range(start // LANES, (stop + LANES - 1) // LANES):
        left = min(block * LANES, depth.shape[1] - LANES)
        shift = np.float32(left - start)
        for lane in range(LANES):
            place = shift + _LANE[lane]
            value = min(max(begin + step * place, least), most)
            value = value if place >= _NOTHING and place < count else _NOTHING
            at = np.uint64(left + lane)
            depth[np.uint64(row), at] = max(depth[np.uint64(row), at], value)


@inlined
def _raise(
    depth: Singles, row: int, start: int, stop: int, base: float, across: float, lowest: float,
    highest: float,
) -> None:  # fmt: skip
    """Fill a row's part where nothing is nearer, several pixels at a time, exact to the bit."""
    for column in range(start, stop):
        value = np.float32(min(max(base + across * column, lowest), highest))
        at = np.uint64(column)
        depth[np.uint64(row), at] = max(depth[np.uint64(row), at], value)


@compiled
def mark_ground(depth: Singles, surface: Words, top: int, bottom: int) -> None:
    """Write what rows show where only ground was filled."""
    for row in range(top, bottom):
        for column in range(depth.shape[1]):
            surface[row, column] = GROUND if depth[row, column] > 0.0 else SKY


@inlined
def fill_triangle(
    ax: float, ay: float, ai: float, bx: float, by: float, bi: float, cx: float, cy: float,
    ci: float,
    word: int, top: int, bottom: int, depth: Singles, surface: Words,
) -> None:  # fmt: skip
    """Fill the pixels from row ``top`` to before ``bottom`` that nothing nearer covers.

    The word `GROUND` is not written: `mark_ground` does it for all at once.
    """
    # Most triangles are so small that many of them hold no pixel's middle.
    first = max(top, math.ceil(max(min(ay, by, cy), -1.0) - 0.5))
    last = min(bottom, math.ceil(min(max(ay, by, cy), bottom + 1.0) - 0.5))
    if first >= last or math.ceil(min(ax, bx, cx) - 0.5) >= math.ceil(max(ax, bx, cx) - 0.5):
        return
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if area == 0.0:
        return
    lowest, highest = min(ai, bi, ci), max(ai, bi, ci)
    inverse = 1.0 / area
    across = ((bi - ai) * (cy - ay) - (ci - ai) * (by - ay)) * inverse
    down = ((ci - ai) * (bx - ax) - (bi - ai) * (cx - ax)) * inverse
    base = ai - across * ax - down * ay
    if by < ay:
        ax, ay, bx, by = bx, by, ax, ay
    if cy < by:
        bx, by, cx, cy = cx, cy, bx, by
        if by < ay:
            ax, ay, bx, by = bx, by, ax, ay
    long_slope = (cx - ax) / (cy - ay)
    upper_slope = (bx - ax) / (by - ay) if by > ay else 0.0
    lower_slope = (cx - bx) / (cy - by) if cy > by else 0.0
    width = depth.shape[1]
    for row in range(first, last):
        middle = row + 0.5
        x0 = ax + (middle - ay) * long_slope
        x1 = ax + (middle - ay) * upper_slope if middle < by else bx + (middle - by) * lower_slope
        if x1 < x0:
            x0, x1 = x1, x0
        start = max(0, math.ceil(max(x0, -1.0) - 0.5))
        stop = min(width, math.ceil(min(x1, width + 1.0) - 0.5))
        if start >= stop:
            continue
        offset = base + down * middle + across * 0.5
        if word == GROUND:
            _deepen(depth, row, start, stop, offset + across * start, across, lowest, highest)
            continue
        if word == DEPTH_ALONE:
            _raise(depth, row, start, stop, offset, across, lowest, highest)
            continue
        for column in range(start, stop):
            value = np.float32(min(max(offset + across * column, lowest), highest))
            if value > depth[row, column]:
                depth[row, column] = value
                surface[row, column] = word


@inlined
def cut(
    seen: Floats, inner: int, outer: int, focal: float, middle_x: float, middle_y: float
) -> tuple[float, float]:
    """Pixel where the way from a vertex in front to one behind meets the near plane."""
    depth = seen[inner, 3]
    share = (depth - NEAR) / (depth - seen[outer, 3])
    x, y = (seen[inner, 0] - middle_x) * depth / focal, (middle_y - seen[inner, 1]) * depth / focal
    x, y = x + share * (seen[outer, 0] - x), y + share * (seen[outer, 1] - y)
    return middle_x + focal * x / NEAR, middle_y - focal * y / NEAR


@compiled
def fill_cut(
    seen: Floats, a: int, b: int, c: int, focal: float, middle_x: float, middle_y: float,
    word: int, top: int, bottom: int, depth: Singles, surface: Words,
) -> None:  # fmt: skip
    """Fill the part in front of the near plane of a triangle that crosses it."""
    for _ in range(2):  # turn the corners until a is the one in front, or the one behind
        alone = (seen[a, 2] > 0.0) != (seen[b, 2] > 0.0) and (seen[a, 2] > 0.0) != (
            seen[c, 2] > 0.0
        )
        if not alone:
            a, b, c = b, c, a
    near = 1.0 / NEAR
    if seen[a, 2] > 0.0:
        px, py = cut(seen, a, b, focal, middle_x, middle_y)
        qx, qy = cut(seen, a, c, focal, middle_x, middle_y)
        fill_triangle(
            seen[a, 0], seen[a, 1], seen[a, 2], px, py, near, qx, qy, near,
            word, top, bottom, depth, surface,
        )  # fmt: skip
    else:
        px, py = cut(seen, b, a, focal, middle_x, middle_y)
        qx, qy = cut(seen, c, a, focal, middle_x, middle_y)
        fill_triangle(
            seen[b, 0], seen[b, 1], seen[b, 2], seen[c, 0], seen[c, 1], seen[c, 2], px, py, near,
            word, top, bottom, depth, surface,
        )  # fmt: skip
        fill_triangle(
            px, py, near, seen[c, 0], seen[c, 1], seen[c, 2], qx, qy, near,
            word, top, bottom, depth, surface,
        )  # fmt: skip


@inlined
def fill_face(
    seen: Floats, a: int, b: int, c: int, one_sided: int, focal: float, middle_x: float,
    middle_y: float, word: int, top: int, bottom: int, depth: Singles, surface: Words,
) -> None:  # fmt: skip
    """Fill a triangle of vertices as `patch_vertices` writes them, (n, 4)."""
    in_front = (seen[a, 2] > 0.0) + (seen[b, 2] > 0.0) + (seen[c, 2] > 0.0)
    if in_front == 0:
        return
    if in_front < 3:
        fill_cut(seen, a, b, c, focal, middle_x, middle_y, word, top, bottom, depth, surface)
        return
    ax, ay, bx, by, cx, cy = seen[a, 0], seen[a, 1], seen[b, 0], seen[b, 1], seen[c, 0], seen[c, 1]
    if max(ax, bx, cx) < 0.0 or min(ax, bx, cx) > depth.shape[1]:
        return
    if max(ay, by, cy) < top or min(ay, by, cy) > bottom:
        return
    # Counter-clockwise in the world is clockwise on a screen whose y grows down.
    if one_sided and (bx - ax) * (cy - ay) - (cx - ax) * (by - ay) >= 0.0:
        return
    fill_triangle(
        ax, ay, seen[a, 2], bx, by, seen[b, 2], cx, cy, seen[c, 2],
        word, top, bottom, depth, surface,
    )  # fmt: skip


@compiled
def fill_ground(
    patches: Places, spans: Floats, seen: Floats, solid: NDArray[np.uint8],
    flipped: NDArray[np.uint8],
    lens: Floats, top: int, bottom: int, depth: Singles, surface: Words,
) -> None:  # fmt: skip
    """Fill the rows of a band with the ground's patches. ``lens``: focal length, middle."""
    focal, middle_x, middle_y = lens[0], lens[1], lens[2]
    rows, columns = solid.shape
    for k in range(patches.shape[0]):
        if spans[k, 1] < top or spans[k, 0] > bottom:
            continue
        start = k * SIDE * SIDE
        for i in range(SIDE - 1):
            for j in range(SIDE - 1):
                d = start + i * SIDE + j
                c, a = d + 1, d + SIDE
                b = a + 1
                if (
                    seen[a, 2] > 0.0 and seen[b, 2] > 0.0 and seen[c, 2] > 0.0 and seen[d, 2] > 0.0
                    and (
                        max(seen[a, 1], seen[b, 1], seen[c, 1], seen[d, 1]) < top
                        or min(seen[a, 1], seen[b, 1], seen[c, 1], seen[d, 1]) > bottom
                    )
                ):  # fmt: skip
                    continue
                skirt = i == 0 or j == 0 or i == SIDE - 2 or j == SIDE - 2
                if skirt:
                    sides = (1 if i == 0 else 0) + (2 if i == SIDE - 2 else 0)
                    sides += (4 if j == 0 else 0) + (8 if j == SIDE - 2 else 0)
                    if patches[k, 3] & sides == 0:
                        continue
                flip = False
                if patches[k, 2] == 1:
                    row = patches[k, 0] + min(max(i - 1, 0), SIDE - 4)
                    column = patches[k, 1] + min(max(j - 1, 0), SIDE - 4)
                    if 0 <= row < rows and 0 <= column < columns:
                        if solid[row, column] == 0:
                            continue
                    row, column = min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)
                    flip = flipped[row, column] != 0
                for half in range(2):
                    third = d if flip else (c if half == 0 else d)
                    first, second = (b, c) if flip and half else (a, b if half == 0 else c)
                    fill_face(
                        seen, first, second, third, 0 if skirt else 1, focal, middle_x, middle_y,
                        GROUND, top, bottom, depth, surface,
                    )  # fmt: skip


@compiled
def see_points(points: Floats, eye: Floats, view: Floats, lens: Floats, out: Floats) -> None:
    """Write points (n, 3) as `patch_vertices` does, (n, 4)."""
    focal, middle_x, middle_y = lens[0], lens[1], lens[2]
    for k in range(points.shape[0]):
        x, y, z = points[k, 0] - eye[0], points[k, 1] - eye[1], points[k, 2] - eye[2]
        across = view[0, 0] * x + view[0, 1] * y + view[0, 2] * z
        up = view[1, 0] * x + view[1, 1] * y + view[1, 2] * z
        depth = view[2, 0] * x + view[2, 1] * y + view[2, 2] * z
        out[k, 3] = depth
        if depth < NEAR:
            out[k, 0], out[k, 1], out[k, 2] = across, up, 0.0
        else:
            out[k, 0], out[k, 1] = middle_x + focal * across / depth, middle_y - focal * up / depth
            out[k, 2] = 1.0 / depth


@compiled
def fill_faces(
    seen: Floats, faces: Places, lens: Floats, one_sided: int, word: int, top: int, bottom: int,
    depth: Singles, surface: Words,
) -> None:  # fmt: skip
    """Fill the rows of a band with the faces of meshes; ``word`` is the first one's."""
    for k in range(faces.shape[0]):
        fill_face(
            seen, faces[k, 0], faces[k, 1], faces[k, 2], one_sided, lens[0], lens[1], lens[2],
            word + k, top, bottom, depth, surface,
        )  # fmt: skip

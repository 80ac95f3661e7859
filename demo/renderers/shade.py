"""From depths and words to colors: ground, sky, fog, lines of the cells.

Pixels are words 0x00RRGGBB.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demo.renderers.bodies import shadow_share
from demo.renderers.compiled import compiled, inlined
from demo.renderers.look import (
    BELOW,
    BEYOND,
    DETAIL_METERS,
    GRID_LINE,
    HORIZON,
    NOISE_SIZE,
    SUN_GLOW,
    WIRE,
    WIRE_GROUND,
    ZENITH,
)

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Words = NDArray[np.uint32]
Places = NDArray[np.int64]

DETAIL_FAR = 70.0
"""Where the fine noise has faded away, in meters."""
GROUND_KIND, FACE_KIND = 1, 2


@inlined
def _sky(dx: float, dy: float, dz: float, length: float, sun: Floats, clouds: Singles) -> Any:
    """Color of the sky along a ray that leads up; ``length`` is 1 / |d|."""
    up = dy * length
    t = 1.0 - up
    t *= t
    t *= t * (0.55 + 0.45 * t)
    r = ZENITH[0] + t * (HORIZON[0] - ZENITH[0])
    g = ZENITH[1] + t * (HORIZON[1] - ZENITH[1])
    b = ZENITH[2] + t * (HORIZON[2] - ZENITH[2])
    if up > 0.02:
        scale = 30.0 / (dy + 0.06 / length)
        u, v = dx * scale + 40.0, dz * scale + 300.0
        j, i = math.floor(u), math.floor(v)
        p, q = u - j, v - i
        wrap = NOISE_SIZE - 1
        j0, j1, i0, i1 = j & wrap, (j + 1) & wrap, i & wrap, (i + 1) & wrap
        upper = clouds[i0, j0] + p * (clouds[i0, j1] - clouds[i0, j0])
        lower = clouds[i1, j0] + p * (clouds[i1, j1] - clouds[i1, j0])
        cover = (upper + q * (lower - upper)) * min(1.0, 4.0 * (up - 0.02))
        r += cover * (253.0 - r)
        g += cover * (251.0 - g)
        b += cover * (249.0 - b)
    toward = (dx * sun[6] + dy * sun[7] + dz * sun[8]) * length
    if toward > 0.5:
        glow = toward * toward
        glow *= glow
        wide = glow * glow
        disc = wide * wide
        disc *= disc
        disc *= disc * disc
        disc *= disc
        add = min(1.0, 0.32 * wide + 1.3 * disc)
        r += add * (SUN_GLOW[0] - r)
        g += add * (SUN_GLOW[1] - g)
        b += add * (SUN_GLOW[2] - b)
    return r, g, b


@inlined
def _sky_at(
    k: int, from_x: float, from_y: float, from_z: float, step_x: float, step_y: float,
    step_z: float, sun: Floats, clouds: Singles,
) -> Any:  # fmt: skip
    """Color of the sky some pixels to the right."""
    dx, dy, dz = from_x + k * step_x, max(from_y + k * step_y, 0.0), from_z + k * step_z
    return _sky(dx, dy, dz, 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz), sun, clouds)


@inlined
def _haze(dx: float, dz: float, length: float, sun: Floats) -> Any:
    """Color of the fog along a ray: the sky's at the horizon."""
    glow = max(0.0, (dx * sun[6] + dz * sun[8]) * length)
    glow *= glow
    glow *= 0.35 * glow
    return (
        HORIZON[0] + glow * (SUN_GLOW[0] - HORIZON[0]),
        HORIZON[1] + glow * (SUN_GLOW[1] - HORIZON[1]),
        HORIZON[2] + glow * (SUN_GLOW[2] - HORIZON[2]),
    )


@inlined
def _texel(texels: Words, levels: Places, level: int, u: float, v: float) -> Any:
    """Red, green, blue and the sun's share at a place in texels of the finest level."""
    scale = 1.0 / (1 << level)
    start, rows, columns = levels[level, 0], levels[level, 1], levels[level, 2]
    u, v = min(max(u * scale, 0.0), columns - 1.001), min(max(v * scale, 0.0), rows - 1.001)
    # Masks tell the compiler that an index is not negative.
    j, i = int(u) & 0xFFFFFF, int(v) & 0xFFFFFF
    # Weights sum to 256, so that two bytes fit side by side into one product.
    p, q = int((u - j) * 16.0), int((v - i) * 16.0)
    at = (start + i * columns + j) & 0x7FFFFFFF
    under = (at + columns) & 0x7FFFFFFF
    a, b = int(texels[at]), int(texels[at + 1])
    c, d = int(texels[under]), int(texels[under + 1])
    wa, wb, wc, wd = (16 - p) * (16 - q), p * (16 - q), (16 - p) * q, p * q
    even = (a & 0xFF00FF) * wa + (b & 0xFF00FF) * wb + (c & 0xFF00FF) * wc + (d & 0xFF00FF) * wd
    odd = (
        ((a >> 8) & 0xFF00FF) * wa
        + ((b >> 8) & 0xFF00FF) * wb
        + ((c >> 8) & 0xFF00FF) * wc
        + ((d >> 8) & 0xFF00FF) * wd
    )
    return (
        (even & 0xFFFF) * (1.0 / 256.0),
        (odd & 0xFFFF) * (1.0 / 256.0),
        (even >> 16) * (1.0 / 256.0),
        (odd >> 16) * (1.0 / 65280.0),
    )


@inlined
def _mixed(a: Any, b: Any, t: float) -> Any:
    return (
        a[0] + t * (b[0] - a[0]),
        a[1] + t * (b[1] - a[1]),
        a[2] + t * (b[2] - a[2]),
        a[3] + t * (b[3] - a[3]),
    )


@inlined
def _fine(detail: NDArray[np.uint8], level: int, x: float, z: float, w: float) -> float:
    """Brightness of the fine noise at a place, about 1; interpolated where it is magnified."""
    size = NOISE_SIZE >> level
    start = (4 * NOISE_SIZE * NOISE_SIZE - 4 * size * size) // 3
    u, v = x * (size / DETAIL_METERS), z * (size / DETAIL_METERS)
    j, i = math.floor(u), math.floor(v)
    wrap = size - 1
    upper = (start + (i & wrap) * size) & 0xFFFFF
    value = float(detail[upper + (j & wrap)])
    if level == 0:
        p, q = u - j, v - i
        lower = (start + ((i + 1) & wrap) * size) & 0xFFFFF
        j0, j1 = j & wrap, (j + 1) & wrap
        top = value + p * (float(detail[upper + j1]) - value)
        low = detail[lower + j0] + p * (float(detail[lower + j1]) - detail[lower + j0])
        value = top + q * (low - top)
    return float(1.0 + 0.34 * (value - 128.0) * (1.0 / 128.0) * (1.0 - w / DETAIL_FAR))


@inlined
def _line(u: float, u_right: float, u_below: float, width: float) -> float:
    """How much of a pixel the nearest line at a whole number covers."""
    span = abs(u_right - u) + abs(u_below - u)
    if span > 0.6:
        return 0.0
    away = abs(u - math.floor(u + 0.5)) / max(span, 1e-9)
    return min(max(0.5 * width + 0.5 - away, 0.0), 1.0) * min(1.0, (0.6 - span) * 4.0)


@compiled
def _lined(
    depth: Singles, i: int, j: int, right: int, eye: Floats, view: Floats, focal: float,
    dx: float, dz: float,
    place: Floats, flipped: NDArray[np.uint8], lines: int, red: float, green: float, blue: float,
) -> tuple[float, float, float]:  # fmt: skip
    """A color of the ground with the lines of its cells, or of its triangles, over it."""
    height = depth.shape[0]
    # At the edge of the strip look back: what is beyond may not be drawn yet.
    turn = 1 if j + 1 < right else -1
    x, z, scale_x, scale_z = eye[0] - place[0], eye[2] - place[1], 1.0 / place[2], 1.0 / place[3]
    w = 1.0 / depth[i, j]
    wr = 1.0 / max(depth[i, j + turn], 1e-9)
    wb = 1.0 / max(depth[min(i + 1, height - 1), j], 1e-9)
    u, v = (x + w * dx) * scale_x, (z + w * dz) * scale_z
    u_right = (x + wr * (dx + turn * view[0, 0] / focal)) * scale_x
    v_right = (z + wr * (dz + turn * view[0, 2] / focal)) * scale_z
    u_below = (x + wb * (dx - view[1, 0] / focal)) * scale_x
    v_below = (z + wb * (dz - view[1, 2] / focal)) * scale_z
    cover = max(_line(u, u_right, u_below, 1.2), _line(v, v_right, v_below, 1.2))
    if lines == 1:
        cover *= 0.62
        return (
            red + cover * (GRID_LINE[0] - red),
            green + cover * (GRID_LINE[1] - green),
            blue + cover * (GRID_LINE[2] - blue),
        )
    row = min(max(math.floor(v), 0), flipped.shape[0] - 1)
    column = min(max(math.floor(u), 0), flipped.shape[1] - 1)
    # From a to c u + v is whole; from b to d u - v.
    way = -1.0 if flipped[row, column] else 1.0
    cross = _line(u + way * v, u_right + way * v_right, u_below + way * v_below, 1.2)
    cover = 0.85 * max(cover, cross)
    light = 0.35 + 0.5 * (red + green + blue) / 765.0
    red, green, blue = WIRE_GROUND[0] * light, WIRE_GROUND[1] * light, WIRE_GROUND[2] * light
    return (
        red + cover * (WIRE[0] - red),
        green + cover * (WIRE[1] - green),
        blue + cover * (WIRE[2] - blue),
    )


@compiled
def shade(
    depth: Singles, surface: Words, left: int, right: int, eye: Floats, view: Floats, lens: Floats,
    sun: Floats, cast: Singles, place: Floats, far: float, texels: Words, levels: Places,
    detail: NDArray[np.uint8], clouds: Singles, face_colors: Floats, flipped: NDArray[np.uint8],
    lines: int, ends: int, out: Words,
) -> None:  # fmt: skip
    """Color the columns of a strip. ``lines``: 0 none, 1 the cells', 2 the triangles' alone.

    ``ends``: 1 if the ground has an end, past which one sees the sky.

    Row by row in three loops, of which the first and the last are vectorized.
    """
    focal, middle_x, middle_y = lens[0], lens[1], lens[2]
    height, count = depth.shape[0], right - left
    inverse_x, inverse_z = place[10] / place[2], place[10] / place[3]
    sharp = max(inverse_x, inverse_z) / focal  # texels under a pixel at 1 m
    limits, fine_limits = np.empty(levels.shape[0]), np.empty(6)
    for k in range(levels.shape[0]):  # how far each level of the texels is used
        limits[k] = 1.4 * (1 << k) / sharp
    for k in range(6):
        fine_limits[k] = DETAIL_METERS / NOISE_SIZE * focal * (1 << k)
    limits[-1] = fine_limits[-1] = np.inf
    level = fine_level = 0
    most_u, most_v = levels[0, 2] - 1.0, levels[0, 1] - 1.0
    thick = 1.0 / (far * far)
    shadowed = cast.shape[0] > 1
    drop = eye[1] - place[4] + 2.0
    void = np.array(BEYOND if ends else BELOW, dtype=np.float64)
    depths, lengths, fogs = np.empty(count), np.empty(count), np.empty(count)
    reds, greens, blues = np.empty(count), np.empty(count), np.empty(count)
    for i in range(height):
        b = (middle_y - i - 0.5) / focal
        row_x = view[2, 0] + b * view[1, 0]
        row_y = view[2, 1] + b * view[1, 1]
        row_z = view[2, 2] + b * view[1, 2]
        step_x, step_y, step_z = view[0, 0] / focal, view[0, 1] / focal, view[0, 2] / focal
        from_x = row_x + (left + 0.5 - middle_x) * step_x
        from_y = row_y + (left + 0.5 - middle_x) * step_y
        from_z = row_z + (left + 0.5 - middle_x) * step_z
        near, words, pixels = depth[i, left:right], surface[i, left:right], out[i, left:right]
        for k in range(count):
            dx, dy, dz = from_x + k * step_x, from_y + k * step_y, from_z + k * step_z
            squared = dx * dx + dy * dy + dz * dz
            w = 1.0 / (float(near[k]) + 1e-12)
            depths[k] = w
            lengths[k] = 1.0 / math.sqrt(squared)
            # Close to 1 - exp(-3.2 t), t the square of the distance, without the exponent.
            t = 3.2 * w * w * squared * thick
            fogs[k] = 1.0 - 1.0 / (1.0 + t + 0.5 * t * t + 0.33 * t * t * t)
        known = -100
        left_sky = right_sky = (0.0, 0.0, 0.0)
        for k in range(count):
            j = left + k
            word = int(words[k])
            kind = word >> 24
            dx, dy, dz = from_x + k * step_x, from_y + k * step_y, from_z + k * step_z
            if kind == 0:
                if dy >= 0.0:
                    # The sky is smooth: every eighth pixel is computed, those between are mixed.
                    anchor = k & ~7
                    if anchor != known:
                        if anchor != known + 8:
                            right_sky = _sky_at(
                                anchor, from_x, from_y, from_z, step_x, step_y, step_z, sun, clouds
                            )
                        left_sky = right_sky
                        right_sky = _sky_at(
                            anchor + 8, from_x, from_y, from_z, step_x, step_y, step_z, sun, clouds
                        )
                        known = anchor
                    t = 0.125 * (k - anchor)
                    red = left_sky[0] + t * (right_sky[0] - left_sky[0])
                    green = left_sky[1] + t * (right_sky[1] - left_sky[1])
                    blue = left_sky[2] + t * (right_sky[2] - left_sky[2])
                    fogs[k] = 0.0
                else:  # a hole, or beyond the end of the ground: dark, as deep as fog lets one see
                    red, green, blue = void[0], void[1], void[2]
                    t = min(3.2 * (drop / (dy * lengths[k])) ** 2 * thick, 1e6)
                    fogs[k] = 1.0 - 1.0 / (1.0 + t + 0.5 * t * t + 0.33 * t * t * t)
            elif kind == GROUND_KIND:
                w = depths[k]
                x, z = eye[0] + w * dx, eye[2] + w * dz
                # Neighbors mostly have the same levels: start from the last ones.
                while w > limits[level]:
                    level += 1
                while level > 0 and w <= limits[level - 1]:
                    level -= 1
                u, v = (x - place[0]) * inverse_x, (z - place[1]) * inverse_z
                red, green, blue, share = _texel(texels, levels, level, u, v)
                past = max(-u, u - most_u, -v, v - most_v)
                if past > 0.0:  # outside the map, colors run on as streaks: blur them
                    blur = min(math.log2(1.0 + 0.4 * past), levels.shape[0] - 1.001)
                    if blur > level:
                        coarse = int(blur)
                        red, green, blue, share = _mixed(
                            _texel(texels, levels, coarse, u, v),
                            _texel(texels, levels, coarse + 1, u, v),
                            blur - coarse,
                        )
                if w < DETAIL_FAR:
                    while w > fine_limits[fine_level]:
                        fine_level += 1
                    while fine_level > 0 and w <= fine_limits[fine_level - 1]:
                        fine_level -= 1
                    bright = _fine(detail, fine_level, x, z, w)
                    red, green, blue = red * bright, green * bright, blue * bright
                if shadowed:
                    taken = share * shadow_share(cast, sun, x, eye[1] + w * dy, z, 0.02)
                    if taken > 0.0:
                        red *= 1.0 - 1.06 * taken
                        green *= 1.0 - taken
                        blue *= 1.0 - 0.86 * taken
                if lines > 0:
                    red, green, blue = _lined(
                        depth, i, j, right, eye, view, focal, dx, dz, place, flipped, lines,
                        red, green, blue,
                    )  # fmt: skip
            elif kind == FACE_KIND:
                face = word & 0xFFFFFF
                taken = face_colors[face, 3]
                if shadowed and taken > 0.0:
                    w = depths[k]
                    x, y, z = eye[0] + w * dx, eye[1] + w * dy, eye[2] + w * dz
                    taken *= shadow_share(cast, sun, x, y, z, 3.0 / sun[11])
                else:
                    taken = 0.0
                red = face_colors[face, 0] * (1.0 - 1.06 * taken)
                green = face_colors[face, 1] * (1.0 - taken)
                blue = face_colors[face, 2] * (1.0 - 0.86 * taken)
            else:
                red, green, blue = (
                    float((word >> 16) & 255),
                    float((word >> 8) & 255),
                    float(word & 255),
                )
            reds[k], greens[k], blues[k] = red, green, blue
        last = count - 1
        h0 = _haze(from_x, from_z, lengths[0], sun)
        h1 = _haze(from_x + last * step_x, from_z + last * step_z, lengths[last], sun)
        grow = 1.0 / max(last, 1)
        for k in range(count):
            t, fog = k * grow, fogs[k]
            red = reds[k] + fog * (h0[0] + t * (h1[0] - h0[0]) - reds[k])
            green = greens[k] + fog * (h0[1] + t * (h1[1] - h0[1]) - greens[k])
            blue = blues[k] + fog * (h0[2] + t * (h1[2] - h0[2]) - blues[k])
            pixels[k] = (
                (np.int32(min(max(red, 0.0), 255.0)) << np.int32(16))
                | (np.int32(min(max(green, 0.0), 255.0)) << np.int32(8))
                | np.int32(min(max(blue, 0.0), 255.0))
            )

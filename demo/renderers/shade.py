"""From depths and words to colors: ground, sky, fog, lines of the cells.

Pixels are words 0x00RRGGBB.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bodies import shadow_share
from .compiled import compiled, inlined
from .look import (
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
from .shade_rows import (
    DETAIL_FAR,
    mix_texels,
    put_depths,
    put_grain,
    put_pixels,
    put_places,
    put_shadows,
    put_texels,
)

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Words = NDArray[np.uint32]
Numbers = NDArray[np.int32]

GROUND_KIND, FACE_KIND = 1, 2
CHUNK = 320
"""Pixels of a row that are handled at once: many, but few enough for the nearest cache."""
SLACK = 0.02
"""How much farther than ground a body's shadow begins, in meters."""


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
def _sky_at(k: int, from_: Floats, step: Floats, sun: Floats, clouds: Singles) -> Any:
    """Color of the sky some pixels to the right."""
    dx, dy, dz = from_[0] + k * step[0], from_[1], from_[2] + k * step[2]
    return _sky(dx, dy, dz, 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz), sun, clouds)


@inlined
def _haze(dx: float, dy: float, dz: float, sun: Floats) -> Any:
    """Color of the fog along a ray: the sky's at the horizon."""
    length = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz)
    glow = max(0.0, (dx * sun[6] + dz * sun[8]) * length)
    glow *= glow
    glow *= 0.35 * glow
    return (
        HORIZON[0] + glow * (SUN_GLOW[0] - HORIZON[0]),
        HORIZON[1] + glow * (SUN_GLOW[1] - HORIZON[1]),
        HORIZON[2] + glow * (SUN_GLOW[2] - HORIZON[2]),
    )


@inlined
def _line(u: float, u_right: float, u_below: float, width: float) -> float:
    """How much of a pixel the nearest line at a whole number covers."""
    span = abs(u_right - u) + abs(u_below - u)
    if span > 0.6:
        return 0.0
    away = abs(u - math.floor(u + 0.5)) / max(span, 1e-9)
    return min(max(0.5 * width + 0.5 - away, 0.0), 1.0) * min(1.0, (0.6 - span) * 4.0)


@compiled
def _draw_lines(
    depth: Singles, surface: Words, i: int, left: int, right: int, eye: Floats, view: Floats,
    from_: Floats, step: Floats, place: Floats, flipped: NDArray[np.uint8], lines: int,
    colors: Singles,
) -> None:  # fmt: skip
    """Put the lines of its cells, or of its triangles, over a row of the ground's colors."""
    height, width = depth.shape
    below = min(i + 1, height - 1)
    # What is added to a ray one pixel farther down; the one to the right is ``step``.
    size = math.sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2])
    down_x, down_z = -view[1, 0] * size, -view[1, 2] * size
    x, z, scale_x, scale_z = eye[0] - place[0], eye[2] - place[1], 1.0 / place[2], 1.0 / place[3]
    for j in range(left, right):
        k = j - left
        if surface[i, j] >> np.uint32(24) != GROUND_KIND:
            continue
        turn = 1 if j + 1 < width else -1
        dx, dz = from_[0] + k * step[0], from_[2] + k * step[2]
        w = 1.0 / depth[i, j]
        wr = 1.0 / max(depth[i, j + turn], 1e-9)
        wb = 1.0 / max(depth[below, j], 1e-9)
        u, v = (x + w * dx) * scale_x, (z + w * dz) * scale_z
        u_right = (x + wr * (dx + turn * step[0])) * scale_x
        v_right = (z + wr * (dz + turn * step[2])) * scale_z
        u_below, v_below = (x + wb * (dx + down_x)) * scale_x, (z + wb * (dz + down_z)) * scale_z
        cover = max(_line(u, u_right, u_below, 1.2), _line(v, v_right, v_below, 1.2))
        if lines == 1:
            for c in range(3):
                colors[c, k] += 0.62 * cover * (GRID_LINE[c] - colors[c, k])
            continue
        row = min(max(math.floor(v), 0), flipped.shape[0] - 1)
        column = min(max(math.floor(u), 0), flipped.shape[1] - 1)
        # From a to c u + v is whole; from b to d u - v.
        way = -1.0 if flipped[row, column] else 1.0
        cross = _line(u + way * v, u_right + way * v_right, u_below + way * v_below, 1.2)
        cover = 0.85 * max(cover, cross)
        light = 0.35 + 0.5 * (colors[0, k] + colors[1, k] + colors[2, k]) / 765.0
        for c in range(3):
            colors[c, k] = WIRE_GROUND[c] * light + cover * (WIRE[c] - WIRE_GROUND[c] * light)


@inlined
def _put_light(sun: Floats, eye: Floats, from_: Floats, step: Floats, light: Singles) -> None:
    """Write what `put_shadows` needs to know of a row."""
    for c in range(3):
        x, y, z = sun[3 * c], sun[3 * c + 1], sun[3 * c + 2]
        here = x * eye[0] + y * eye[1] + z * eye[2]
        ahead = x * from_[0] + y * from_[1] + z * from_[2]
        aside = x * step[0] + y * step[1] + z * step[2]
        if c < 2:
            light[c] = (here - sun[9 + c]) * sun[11] - 0.5
            light[3 + c], light[6 + c] = ahead * sun[11], aside * sun[11]
        else:
            light[c], light[3 + c], light[6 + c] = here + SLACK, ahead, aside


@compiled
def _put_rest(
    from_: Floats, step: Floats, words: Words, depths: Singles, eye: Floats,
    sun: Floats, cast: Singles, void: Floats, face_colors: Floats, clouds: Singles,
    colors: Singles, fogs: Singles,
) -> None:  # fmt: skip
    """Write the colors of a row's pixels that show no ground; ``colors``: (4, n)."""
    shadowed = cast.shape[0] > 1
    known = -100
    left_sky = right_sky = (0.0, 0.0, 0.0)
    for k in range(words.shape[0]):
        word = int(words[k])
        kind = word >> 24
        if kind == GROUND_KIND:
            continue
        if kind == 0 and from_[1] >= 0.0:
            # The sky is smooth: every eighth pixel is computed, those between are mixed.
            anchor = k & ~7
            if anchor != known:
                if anchor != known + 8:
                    right_sky = _sky_at(anchor, from_, step, sun, clouds)
                left_sky = right_sky
                right_sky = _sky_at(anchor + 8, from_, step, sun, clouds)
                known = anchor
            t = 0.125 * (k - anchor)
            red = left_sky[0] + t * (right_sky[0] - left_sky[0])
            green = left_sky[1] + t * (right_sky[1] - left_sky[1])
            blue = left_sky[2] + t * (right_sky[2] - left_sky[2])
            fogs[k] = 0.0
        elif (
            kind == 0
        ):  # a hole, or beyond the end of the ground: dark, as deep as fog lets one see
            dx, dy, dz = from_[0] + k * step[0], from_[1], from_[2] + k * step[2]
            red, green, blue = void[0], void[1], void[2]
            t = min(void[3] * (dx * dx + dy * dy + dz * dz) / (dy * dy), 1e6)
            fogs[k] = 1.0 - 1.0 / (1.0 + t + 0.5 * t * t + 0.33 * t * t * t)
        elif kind == FACE_KIND:
            face = word & 0xFFFFFF
            taken = face_colors[face, 3]
            if shadowed and taken > 0.0:
                w = float(depths[k])
                x, y = eye[0] + w * (from_[0] + k * step[0]), eye[1] + w * from_[1]
                z = eye[2] + w * (from_[2] + k * step[2])
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
        colors[0, k], colors[1, k], colors[2, k] = red, green, blue


@compiled
def shade(
    depth: Singles, surface: Words, first: int, last: int, eye: Floats, view: Floats, lens: Floats,
    sun: Floats, cast: Singles, place: Floats, far: float, texels: Words, levels: Numbers,
    grain: Words, grain_levels: Numbers, clouds: Singles, face_colors: Floats,
    flipped: NDArray[np.uint8], lines: int, ends: int, out: Words,
) -> None:  # fmt: skip
    """Color the rows of a band. ``lines``: 0 none, 1 the cells', 2 the triangles' alone.

    ``ends``: 1 if the ground has an end, past which one sees the sky. ``place``: see `paint`.
    Rows of pixels are level: the camera does not roll.
    """
    focal, middle_x, middle_y = lens[0], lens[1], lens[2]
    width = depth.shape[1]
    wide = min(width, CHUNK)
    texels_x, texels_z = place[10] / place[2], place[10] / place[3]
    most = np.int32(levels.shape[0] // 3 - 1)
    thick = 3.2 / (far * far)
    drop = eye[1] - place[4] + 2.0
    void = np.empty(4)
    for k in range(3):
        void[k] = BEYOND[k] if ends else BELOW[k]
    void[3] = thick * drop * drop
    ramp = np.empty(wide, dtype=np.float32)
    for k in range(wide):
        ramp[k] = k
    from_, step = np.empty(3), np.empty(3)
    ray = np.empty(7, dtype=np.float32)
    ray[6] = thick
    map_place = np.array(
        [
            (eye[0] - place[0]) * texels_x, (eye[2] - place[1]) * texels_z, texels_x, texels_z,
            levels[2] - 1.0, levels[1] - 1.0, max(texels_x, texels_z) / (1.4 * focal),
        ]
    ).astype(np.float32)  # fmt: skip
    finest = NOISE_SIZE / DETAIL_METERS
    grain_place = np.array(
        [eye[0] * finest % NOISE_SIZE, eye[2] * finest % NOISE_SIZE, finest / focal]
    ).astype(np.float32)
    light, haze = np.empty(9, dtype=np.float32), np.empty(6, dtype=np.float32)
    colors, coarser = np.empty((4, wide), dtype=np.float32), np.empty((4, wide), dtype=np.float32)
    all_depths, all_fogs = np.empty(wide, dtype=np.float32), np.empty(wide, dtype=np.float32)
    all_us, all_vs = np.empty(wide, dtype=np.float32), np.empty(wide, dtype=np.float32)
    all_mixes, all_levels = np.empty(wide, dtype=np.float32), np.empty(wide, dtype=np.int32)
    for i in range(first, last):
        b = (middle_y - i - 0.5) / focal
        for left in range(0, width, CHUNK):
            right = min(left + CHUNK, width)
            count = right - left
            depths, fogs, mixes = all_depths[:count], all_fogs[:count], all_mixes[:count]
            us, vs, own_levels = all_us[:count], all_vs[:count], all_levels[:count]
            for c in range(3):
                step[c] = view[0, c] / focal
                from_[c] = view[2, c] + b * view[1, c] + (left + 0.5 - middle_x) * step[c]
                ray[c], ray[3 + c] = from_[c], step[c]
            near, words = depth[i, left:right], surface[i, left:right]
            ground, nearest = 0, np.float32(0.0)
            for k in range(count):
                ground += (words[k] >> np.uint32(24)) == GROUND_KIND
                nearest = max(nearest, near[k])
            put_depths(near, ray, ramp, depths, fogs)
            if ground > 0:
                put_places(depths, ray, ramp, map_place, most, us, vs, own_levels, mixes)
                put_texels(texels, levels, us, vs, own_levels, colors)
                begin, end = 0, count
                while begin < count and mixes[begin] == 0.0:
                    begin += 1
                while end > begin and mixes[end - 1] == 0.0:
                    end -= 1
                if begin < end:
                    for k in range(begin, end):
                        own_levels[k] = min(own_levels[k] + 1, most)
                    put_texels(
                        texels, levels, us[begin:end], vs[begin:end], own_levels[begin:end],
                        coarser,
                    )  # fmt: skip
                    mix_texels(colors, coarser, mixes[begin:end], begin)
                if nearest * DETAIL_FAR > 1.0:
                    put_grain(depths, ray, ramp, grain_place, grain_levels, grain, colors)
                if cast.shape[0] > 1:
                    _put_light(sun, eye, from_, step, light)
                    put_shadows(depths, ramp, cast, light, colors)
                if lines > 0:
                    _draw_lines(
                        depth, surface, i, left, right, eye, view, from_, step, place, flipped,
                        lines, colors,
                    )  # fmt: skip
            if ground < count:
                _put_rest(
                    from_, step, words, depths, eye, sun, cast, void, face_colors, clouds, colors,
                    fogs,
                )  # fmt: skip
            h0 = _haze(from_[0], from_[1], from_[2], sun)
            end = count - 1
            h1 = _haze(from_[0] + end * step[0], from_[1], from_[2] + end * step[2], sun)
            for c in range(3):
                haze[c], haze[3 + c] = h0[c], (h1[c] - h0[c]) / max(end, 1)
            put_pixels(colors, fogs, haze, ramp, out[i, left:right])

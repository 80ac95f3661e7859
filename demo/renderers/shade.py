"""From depths and words to colors: ground, sky, fog, lines of the cells.

Pixels are words 0x00RRGGBB.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled, inlined
from .look import (
    BELOW,
    BEYOND,
    DETAIL_METERS,
    HORIZON,
    NOISE_SIZE,
    SUN_GLOW,
    ZENITH,
)
from .raster import GROUND
from .shade_rows import (
    count_kinds,
    fetch,
    mix_texels,
    put_cells,
    put_corners,
    put_covers,
    put_depths,
    put_drawn,
    put_faces,
    put_grain,
    put_grain_places,
    put_pixels,
    put_places,
    put_shadow_places,
    put_shadows,
    put_sky,
    put_texels,
    put_wires,
    touches_shadows,
)

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Words = NDArray[np.uint32]
Pairs = NDArray[np.uint64]
Numbers = NDArray[np.int32]

GROUND_KIND = np.uint32(GROUND >> 24)
CHUNK = 640
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


@compiled
def _put_lines(
    depth: Singles, surface: Words, i: int, other: int, left: int, right: int, eye: Floats,
    view: Floats, from_: Floats, step: Floats, place: Floats, flipped: NDArray[np.uint8],
    wires: int, ramp: Singles, colors: Singles,
) -> None:  # fmt: skip
    """Put the lines of its cells, or of its triangles, over a row of the ground's colors."""
    scale_x, scale_z = 1.0 / place[2], 1.0 / place[3]
    u, v = (eye[0] - place[0]) * scale_x, (eye[2] - place[1]) * scale_z
    # What is added to a ray in the other row; the one to the right is ``step``.
    size = (i - other) * math.sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2])
    grid = np.array(
        [
            u - math.floor(u), v - math.floor(v), from_[0] * scale_x, from_[2] * scale_z,
            step[0] * scale_x, step[2] * scale_z, size * view[1, 0] * scale_x,
            size * view[1, 2] * scale_z,
        ]
    ).astype(np.float32)  # fmt: skip
    near, words = depth[i, left:right], surface[i, left:right]
    beside = near.copy()
    beside[: depth.shape[1] - left - 1] = depth[i, left + 1 : right + 1]
    ways = np.zeros(right - left, dtype=np.float32)
    for k in range(right - left if wires else 0):
        w = 1.0 / max(near[k], 1e-9)
        row = math.floor(v + w * (from_[2] + k * step[2]) * scale_z)
        column = math.floor(u + w * (from_[0] + k * step[0]) * scale_x)
        row = min(max(row, 0), flipped.shape[0] - 1)
        column = min(max(column, 0), flipped.shape[1] - 1)
        # From a to c u + v is whole; from b to d u - v.
        ways[k] = -1.0 if flipped[row, column] else 1.0
    covers = np.empty(right - left, dtype=np.float32)
    put_covers(words, near, beside, depth[other, left:right], ramp, grid, ways, covers)
    if wires:
        put_wires(words, covers, colors)
    else:
        put_cells(covers, colors)


@inlined
def _put_beside(row: Singles, left: int, beside: Singles) -> None:
    """Write 1 / depth of the pixels to the right, of the last one as a plane goes on."""
    width, count = row.shape[0], beside.shape[0]
    known = min(count, width - left - 1)
    for k in range(known):
        beside[k] = row[left + k + 1]
    if known < count:
        beside[known] = 2.0 * row[width - 1] - row[width - 2]


@inlined
def _put_facing(view: Floats, lens: Floats, i: int, other: int, left: int, facing: Singles) -> None:
    """Write what `put_grain_places` needs to know of a row's normals."""
    way = i - other
    for c in range(3):
        facing[c], facing[3 + c], facing[6 + c] = (
            lens[0] * view[0, c], lens[0] * way * view[1, c], view[2, c],
        )  # fmt: skip
    facing[9], facing[10] = left + 0.5 - lens[1], way * (lens[2] - i - 0.5)


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
            light[c], light[3 + c], light[6 + c] = here, ahead, aside
    light[9], light[10] = SLACK, 3.0 / sun[11]


@compiled
def _put_void(
    from_: Floats, step: Floats, words: Words, void: Floats, colors: Singles, fogs: Singles
) -> None:
    """Write what is in holes and past the ground's end: dark, as deep as fog lets one see."""
    for k in range(words.shape[0]):
        if words[k] == 0:
            dx, dy, dz = from_[0] + k * step[0], from_[1], from_[2] + k * step[2]
            t = min(void[3] * (dx * dx + dy * dy + dz * dz) / (dy * dy), 1e6)
            fogs[k] = 1.0 - 1.0 / (1.0 + t + 0.5 * t * t + 0.33 * t * t * t)
            colors[0, k], colors[1, k], colors[2, k] = void[0], void[1], void[2]
            colors[3, k] = 0.0


@compiled
def _put_anchors(
    from_: Floats, step: Floats, words: Words, sun: Floats, clouds: Singles, anchors: Singles
) -> None:
    """Write the sky's color at every eighth pixel where there is sky nearby; it is smooth."""
    count = words.shape[0]
    known = -8
    for first in range(0, count, 8):
        sky = False
        for k in range(first, min(first + 8, count)):
            sky |= words[k] == 0
        if not sky:
            continue
        for k in range(max(first, known + 8), first + 9, 8):
            at = k >> 3
            anchors[0, at], anchors[1, at], anchors[2, at] = _sky_at(k, from_, step, sun, clouds)
            known = k


class _Places(NamedTuple):
    """Room for the numbers of texels of a row, and for what is there."""

    upper: Numbers
    lower: Numbers
    pairs_above: Pairs
    pairs_below: Pairs
    quads: Words


@compiled
def _put_colors(
    pairs: Pairs, starts: Numbers, map_place: Singles, places: _Places, us: Singles, vs: Singles,
    levels: Numbers, colors: Singles,
) -> None:  # fmt: skip
    """Write the map's colors at places; see `put_texels`. ``us`` and ``vs`` are used up."""
    upper, lower = places.upper[: us.shape[0]], places.lower[: us.shape[0]]
    put_corners(starts, map_place, us, vs, levels, upper, lower)
    fetch(pairs, upper, places.pairs_above)
    fetch(pairs, lower, places.pairs_below)
    put_texels(places.pairs_above, places.pairs_below, us, vs, colors)


@compiled
def shade(
    depth: Singles, surface: Words, first: int, last: int, eye: Floats, view: Floats, lens: Floats,
    sun: Floats, cast: Singles, cast_pairs: Pairs, place: Floats, far: float, pairs: Pairs,
    levels: Numbers, grain: Words, grain_levels: Numbers, clouds: Singles, face_colors: Singles,
    flipped: NDArray[np.uint8], lines: int, ends: int, out: Words,
) -> None:  # fmt: skip
    """Color the rows of a band. ``lines``: 0 none, 1 the cells', 2 the triangles' alone.

    ``ends``: 1 if the ground has an end, past which one sees the sky. ``place``: see `paint`.
    ``pairs``: see `put_texels`. Rows of pixels are level: the camera does not roll.
    """
    focal, middle_x, middle_y = lens[0], lens[1], lens[2]
    width = depth.shape[1]
    wide = min(width, CHUNK)
    texels_x, texels_z = place[10] / place[2], place[10] / place[3]
    starts = levels[::3].copy()
    most = np.int32(starts.shape[0] - 1)
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
        [
            eye[0] * finest % NOISE_SIZE, eye[1] * finest % NOISE_SIZE,
            eye[2] * finest % NOISE_SIZE, finest / focal,
        ]
    ).astype(np.float32)  # fmt: skip
    facing, beside = np.empty(11, dtype=np.float32), np.empty(wide, dtype=np.float32)
    light, haze = np.empty(11, dtype=np.float32), np.empty(6, dtype=np.float32)
    colors, coarser = np.empty((4, wide), dtype=np.float32), np.empty((4, wide), dtype=np.float32)
    places = _Places(
        np.empty(wide, dtype=np.int32), np.empty(wide, dtype=np.int32),
        np.empty(wide, dtype=np.uint64), np.empty(wide, dtype=np.uint64),
        np.empty(wide, dtype=np.uint32),
    )  # fmt: skip
    anchors = np.zeros((3, wide // 8 + 2), dtype=np.float32)
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
            ground, faces, drawn, detailed = count_kinds(near, words)
            put_depths(near, ray, ramp, depths, fogs)
            if ground > 0:
                mixed = put_places(depths, ray, ramp, map_place, most, us, vs, own_levels, mixes)
                _put_colors(pairs, starts, map_place, places, us, vs, own_levels, colors)
                if mixed:
                    put_places(depths, ray, ramp, map_place, most, us, vs, own_levels, mixes)
                    for k in range(count):
                        own_levels[k] = min(own_levels[k] + 1, most)
                    _put_colors(pairs, starts, map_place, places, us, vs, own_levels, coarser)
                    mix_texels(colors, coarser, mixes)
                if detailed > 0:
                    # The row below, unless another thread may be at it.
                    other = i + 1 if i + 1 < last else max(i - 1, first)
                    _put_beside(depth[i], left, beside[:count])
                    _put_facing(view, lens, i, other, left, facing)
                    put_grain_places(
                        depths, near, beside[:count], depth[other, left:right], ray, ramp,
                        grain_place, facing, grain_levels, us, vs, places.upper[:count],
                    )  # fmt: skip
                    fetch(grain, places.upper[:count], places.quads)
                    put_grain(places.quads, depths, us, vs, colors)
            if faces > 0:
                put_faces(words, face_colors, colors)
            if drawn > 0:
                put_drawn(words, colors)
            if ground + faces + drawn < count:
                if from_[1] >= 0.0:
                    _put_anchors(from_, step, words, sun, clouds, anchors)
                    put_sky(words, anchors, colors, fogs)
                else:
                    _put_void(from_, step, words, void, colors, fogs)
            if cast.shape[0] > 1 and ground + faces > 0:
                _put_light(sun, eye, from_, step, light)
                if touches_shadows(depths, ramp, cast, light):
                    put_shadow_places(
                        words, depths, ramp, cast, light, us, vs, mixes, places.upper, places.lower
                    )
                    fetch(cast_pairs, places.upper[:count], places.pairs_above)
                    fetch(cast_pairs, places.lower[:count], places.pairs_below)
                    put_shadows(places.pairs_above, places.pairs_below, us, vs, mixes, colors)
            if lines > 0 and ground > 0:
                # The row below, unless another thread may be at it.
                other = i + 1 if i + 1 < last else max(i - 1, first)
                _put_lines(
                    depth, surface, i, other, left, right, eye, view, from_, step, place, flipped,
                    lines - 1, ramp, colors,
                )  # fmt: skip
            h0 = _haze(from_[0], from_[1], from_[2], sun)
            end = count - 1
            h1 = _haze(from_[0] + end * step[0], from_[1], from_[2] + end * step[2], sun)
            for c in range(3):
                haze[c], haze[3 + c] = h0[c], (h1[c] - h0[c]) / max(end, 1)
            put_pixels(colors, fogs, haze, ramp, out[i, left:right])

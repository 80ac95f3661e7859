"""Loops over one row of pixels that become vector instructions: places, texels, noise, fog.

Numbers are float32 throughout, arrays do not overlap, and nothing branches: so each loop handles
eight or sixteen pixels at a time. What is no ground is computed too, and thrown away.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import by_vectors, compiled, inlined
from .look import DETAIL_METERS, GRID_LINE, NOISE_SIZE, WIRE, WIRE_GROUND
from .raster import FACE, GROUND, LIT, SKY

Singles = NDArray[np.float32]
Words = NDArray[np.uint32]
Pairs = NDArray[np.uint64]
Numbers = NDArray[np.int32]

DETAIL_FAR = 70.0
"""Where the fine noise has faded away, in meters."""

_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
_THIRD, _TINY, _BYTE = np.float32(0.33), np.float32(1e-9), np.float32(255.0)
_NOISE, _FIRST, _PAIR = np.int32(NOISE_SIZE), np.uint64(0), np.uint64(32)
_ABOVE_ALL = np.float32(1e30)
_FAR = np.float32(DETAIL_FAR)
_WHOLE = np.float32(1.0 / 255.0)
_BLUR, _PART, _TEXEL_PART = np.float32(0.4), np.float32(2.0**-23), np.float32(0.001)
_FADE, _GRAIN, _GRAY = np.float32(1.0 / DETAIL_FAR), np.float32(0.34 / 128.0), np.float32(128.0)
_FINEST = np.float32(NOISE_SIZE / DETAIL_METERS)
# Added before rounding down, where numbers may be negative: a multiple of the noise's size.
_BIAS = np.float32(16 * NOISE_SIZE)
# Sums of 32 bit numbers have 64, unless they are told not to: half as many would go at once.
_NOTHING, _UNIT, _BYTES = np.int32(0), np.int32(1), np.int32(255)
_SIGN, _BELOW_ONE, _FRACTION = np.int32(23), np.int32(126), np.int32(0x7FFFFF)
_EXPONENT, _COARSEST_GRAIN = np.int32(127), np.int32(5)
_RED_DARK, _BLUE_DARK = np.float32(1.06), np.float32(0.86)
_LINE_WIDTH, _DENSE, _FADING = np.float32(1.2), np.float32(0.6), np.float32(4.0)
_WIRES, _CELLS, _DULL, _BRIGHT = (np.float32(x) for x in (0.85, 0.62, 0.35, 0.5 / 765.0))
_CELL_TONE, _WIRE_TONE, _DARK_TONE = np.array([GRID_LINE, WIRE, WIRE_GROUND], dtype=np.float32)
_SKY, _GROUND, _FACE, _LIT = (np.uint32(word) for word in (SKY, GROUND, FACE, LIT))
_EIGHT, _SEVEN, _EIGHTH, _NEXT = np.int32(3), np.int32(7), np.float32(0.125), np.uint32(1)


@inlined
def _level_of(size: np.float32, most: np.int32) -> np.int32:
    """Return how often a size must be halved to be 1 or less: a float's exponent tells."""
    bits = np.float32(size).view(np.int32)
    return min(max(np.int32((bits >> _SIGN) - _BELOW_ONE), _NOTHING), most)


@inlined
def _halved(level: np.int32) -> np.float32:
    """Return 1, halved so often."""
    return np.int32(np.int32(_EXPONENT - level) << _SIGN).view(np.float32)


@inlined
def byte_of(word: np.uint32, shift: np.uint32) -> np.float32:
    return np.float32(np.int32(np.int32(word >> shift) & _BYTES))


@by_vectors
def count_kinds(near: Singles, words: Words) -> tuple[Any, Any, Any, Any]:
    """Return how many pixels show ground, faces and bodies, and how many are near enough for noise.

    ``near``: 1 / depth.
    """
    ground = faces = drawn = detailed = _ZERO
    for k in range(words.shape[0]):
        word = words[k]
        ground += _ONE if word >= _GROUND and word < _FACE else _ZERO
        faces += _ONE if word >= _FACE and word < _LIT else _ZERO
        drawn += _ONE if word >= _LIT else _ZERO
        detailed += _ONE if near[k] > _FADE else _ZERO
    return ground, faces, drawn, detailed


@by_vectors
def put_depths(near: Singles, ray: Singles, ramp: Singles, depths: Singles, fogs: Singles) -> None:
    """Write depths in meters, and the share of fog.

    ``ray``: x, y, z of the first pixel's ray, what is added for each next one, and the density.
    """
    for k in range(near.shape[0]):
        x = ray[0] + ramp[k] * ray[3]
        y = ray[1] + ramp[k] * ray[4]
        z = ray[2] + ramp[k] * ray[5]
        w = _ONE / (near[k] + _TINY)
        depths[k] = w
        # Close to 1 - exp(-t), t growing with the square of the distance, without the exponent.
        t = w * w * (x * x + y * y + z * z) * ray[6]
        fogs[k] = _ONE - _ONE / (_ONE + t * (_ONE + t * (_HALF + t * _THIRD)))


@by_vectors
def put_places(
    depths: Singles, ray: Singles, ramp: Singles, map_place: Singles, most: np.int32,
    us: Singles, vs: Singles, levels: Numbers, mixes: Singles,
) -> bool:  # fmt: skip
    """Write where pixels lie in texels of the finest level, and the levels to take them from.

    ``map_place``: u and v of the camera, texels per meter along both, greatest u and v, and the
    level's measure: 2 ** level meters times this are the greatest depth of a level. Outside the
    map colors run on as streaks, so they are blurred: between a level and the next, by ``mixes``;
    returns whether any is.
    """
    mixed = _ZERO
    for k in range(depths.shape[0]):
        w = depths[k]
        u = map_place[0] + w * (ray[0] + ramp[k] * ray[3]) * map_place[2]
        v = map_place[1] + w * (ray[2] + ramp[k] * ray[5]) * map_place[3]
        us[k], vs[k] = u, v
        level = _level_of(w * map_place[6], most)
        past = max(-u, u - map_place[4], -v, v - map_place[5], _ZERO)
        bits = np.float32(_ONE + _BLUR * past).view(np.int32)
        coarse = min(np.int32((bits >> _SIGN) - _EXPONENT), np.int32(most - _UNIT))
        blurred = coarse >= level and past > _ZERO
        levels[k] = coarse if blurred else level
        mixes[k] = np.float32(np.int32(bits & _FRACTION)) * _PART if blurred else _ZERO
        mixed += mixes[k]
    return bool(mixed > _ZERO)


@compiled
def fetch(source: Any, places: Numbers, out: Any) -> None:
    """Copy what lies at places: one by one, which is faster than a vector's gathering."""
    for k in range(places.shape[0]):
        out[k] = source[np.uint32(places[k])]


@by_vectors
def put_corners(
    starts: Numbers, map_place: Singles, us: Singles, vs: Singles, levels: Numbers,
    upper: Numbers, lower: Numbers,
) -> None:  # fmt: skip
    """Turn places into the numbers of the texels above and below, and shares of the next ones.

    ``starts``: where each level begins. Its size is computed: looking it up would take longer.
    """
    most_row, most_column = np.int32(map_place[5]), np.int32(map_place[4])
    for k in range(us.shape[0]):
        level = levels[k]
        scale = _halved(level)
        last_row, last_column = np.int32(most_row >> level), np.int32(most_column >> level)
        u = min(max(us[k] * scale, _ZERO), np.float32(last_column) - _TEXEL_PART)
        v = min(max(vs[k] * scale, _ZERO), np.float32(last_row) - _TEXEL_PART)
        j, i = np.int32(u), np.int32(v)
        us[k], vs[k] = u - np.float32(j), v - np.float32(i)
        columns = np.int32(last_column + _UNIT)
        first = np.int32(starts[np.uint32(level)] + np.int32(i * columns) + j)
        upper[k], lower[k] = first, np.int32(first + columns)


@by_vectors
def put_texels(upper: Pairs, lower: Pairs, us: Singles, vs: Singles, colors: Singles) -> None:
    """Write red, green, blue and the sun's share, interpolated; ``colors``: (4, n).

    ``upper``, ``lower``: pairs of texels beside each other, as 64 bits.
    """
    for k in range(us.shape[0]):
        p, q = us[k], vs[k]
        a, b = np.uint32(upper[k]), np.uint32(upper[k] >> _PAIR)
        c, d = np.uint32(lower[k]), np.uint32(lower[k] >> _PAIR)
        for channel in range(4):
            shift = np.uint32(8 * channel)
            left, right = byte_of(a, shift), byte_of(b, shift)
            top = left + p * (right - left)
            left, right = byte_of(c, shift), byte_of(d, shift)
            low = left + p * (right - left)
            colors[channel, k] = top + q * (low - top)


@by_vectors
def mix_texels(finer: Singles, coarser: Singles, mixes: Singles) -> None:
    """Mix colors with those of the next level, all of shape (4, n)."""
    for channel in range(4):
        for k in range(mixes.shape[0]):
            color = finer[channel, k]
            finer[channel, k] = color + mixes[k] * (coarser[channel, k] - color)


@by_vectors
def put_grain_places(
    depths: Singles, near: Singles, beside: Singles, under: Singles, ray: Singles, ramp: Singles,
    noise_place: Singles, facing: Singles, starts: Numbers, us: Singles, vs: Singles,
    places: Numbers,
) -> None:  # fmt: skip
    """Write where to take the fine noise from, and shares of the next places where it is magnified.

    Noise is seen along the axis that the ground faces most. 1 / depth of a plane changes evenly
    over pixels, so its normal follows from three of them: ``near``, ``beside``, ``under``: of the
    pixels, of those to the right, of another row. ``facing``: x, y, z of what a normal has of the
    change to the right, of that to the other row, and of 1 / depth; what is added to the first for
    each next pixel. ``noise_place``: x, y and z of the camera, and the greatest depth of the finest
    level. ``starts``: where each level begins.
    """
    for k in range(depths.shape[0]):
        w = depths[k]
        right, down = beside[k] - near[k], under[k] - near[k]
        ahead = near[k] - right * (facing[9] + ramp[k]) - down * facing[10]
        x = abs(right * facing[0] + down * facing[3] + ahead * facing[6])
        y = abs(right * facing[1] + down * facing[4] + ahead * facing[7])
        z = abs(right * facing[2] + down * facing[5] + ahead * facing[8])
        level = _level_of(w * noise_place[3], _COARSEST_GRAIN)
        shrink = _halved(level)
        reach = min(w, _FAR) * _FINEST * shrink
        at_x = noise_place[0] * shrink + reach * (ray[0] + ramp[k] * ray[3])
        at_y = noise_place[1] * shrink + reach * (ray[1] + ramp[k] * ray[4])
        at_z = noise_place[2] * shrink + reach * (ray[2] + ramp[k] * ray[5])
        u = (at_z if x > y and x > z else at_x) + _BIAS
        v = (at_y if max(x, z) > y else at_z) + _BIAS
        j, i = np.int32(u), np.int32(v)
        smooth = _ONE if level == _NOTHING else _ZERO
        us[k], vs[k] = smooth * (u - np.float32(j)), smooth * (v - np.float32(i))
        size = np.int32(_NOISE >> level)
        wrap = np.int32(size - _UNIT)
        at = np.int32(np.int32(np.int32(i & wrap) * size) + np.int32(j & wrap))
        places[k] = np.int32(starts[np.uint32(level)] + at)


@by_vectors
def put_grain(
    quads: Words, depths: Singles, us: Singles, vs: Singles, colors: Singles
) -> None:  # fmt: skip
    """Multiply the fine noise onto colors; ``quads``: four neighboring bytes of it in each word."""
    for k in range(depths.shape[0]):
        p, q, quad = us[k], vs[k], quads[k]
        left, right = byte_of(quad, np.uint32(0)), byte_of(quad, np.uint32(8))
        top = left + p * (right - left)
        left, right = byte_of(quad, np.uint32(16)), byte_of(quad, np.uint32(24))
        low = left + p * (right - left)
        fade = _GRAIN * max(_ONE - depths[k] * _FADE, _ZERO)
        bright = _ONE + fade * (top + q * (low - top) - _GRAY)
        colors[0, k] *= bright
        colors[1, k] *= bright
        colors[2, k] *= bright


@by_vectors
def put_drawn(words: Words, colors: Singles) -> None:
    """Write the colors of bodies, which are in their words."""
    for k in range(words.shape[0]):
        drawn = words[k] >= _LIT
        for channel in range(3):
            color = byte_of(words[k], np.uint32(16 - 8 * channel))
            colors[channel, k] = color if drawn else colors[channel, k]
        colors[3, k] = _ZERO if drawn else colors[3, k]


@by_vectors
def put_faces(words: Words, lit: Singles, colors: Singles) -> None:
    """Write the colors of meshes' faces and the sun's share; ``lit``: (m, 4)."""
    for k in range(words.shape[0]):
        word = words[k]
        shown = word >= _FACE and word < _LIT
        face = np.uint32(np.int32(word - _FACE) if shown else _NOTHING)
        for channel in range(4):
            colors[channel, k] = lit[face, channel] if shown else colors[channel, k]


@by_vectors
def put_sky(words: Words, anchors: Singles, colors: Singles, fogs: Singles) -> None:
    """Write the colors of sky, mixed from those of every eighth pixel; ``anchors``: (3, n)."""
    for k in range(words.shape[0]):
        sky = words[k] == _SKY
        anchor = np.uint32(np.int32(k) >> _EIGHT)
        t = np.float32(np.int32(np.int32(k) & _SEVEN)) * _EIGHTH
        for channel in range(3):
            left, right = anchors[channel, anchor], anchors[channel, np.uint32(anchor + _NEXT)]
            color = left + t * (right - left)
            colors[channel, k] = color if sky else colors[channel, k]
        colors[3, k] = _ZERO if sky else colors[3, k]
        fogs[k] = _ZERO if sky else fogs[k]


@by_vectors
def touches_shadows(depths: Singles, ramp: Singles, cast: Singles, light: Singles) -> bool:
    """Tell whether any pixel lies on the map of shadows."""
    end_u, end_v = np.float32(cast.shape[1] - 1), np.float32(cast.shape[0] - 1)
    touched = _ZERO
    for k in range(depths.shape[0]):
        u = light[0] + depths[k] * (light[3] + ramp[k] * light[6])
        v = light[1] + depths[k] * (light[4] + ramp[k] * light[7])
        touched += _ONE if min(u, end_u - u, v, end_v - v) > _ZERO else _ZERO
    return bool(touched > _ZERO)


@by_vectors
def put_shadow_places(
    words: Words, depths: Singles, ramp: Singles, cast: Singles, light: Singles,
    us: Singles, vs: Singles, highs: Singles, upper: Numbers, lower: Numbers,
) -> None:  # fmt: skip
    """Write where pixels are on the map of shadows ``cast``, and how high towards the sun.

    ``light``: u, v and height towards the sun of the camera, and the same of the first pixel's ray
    and of what is added for each next one; u and v in texels of the map, less a half. Last the
    slacks, in meters, that keep ground and faces from their own shadow.
    """
    most_i, most_j = np.int32(cast.shape[0] - 2), np.int32(cast.shape[1] - 2)
    columns = np.int32(cast.shape[1])
    end_u, end_v = np.float32(most_j) + _ONE, np.float32(most_i) + _ONE
    for k in range(depths.shape[0]):
        w = depths[k]
        u = light[0] + w * (light[3] + ramp[k] * light[6])
        v = light[1] + w * (light[4] + ramp[k] * light[7])
        high = w * (light[5] + ramp[k] * light[8]) + light[2]
        high += light[10] if words[k] >= _FACE else light[9]
        highs[k] = high if min(u, end_u - u, v, end_v - v) > _ZERO else _ABOVE_ALL
        u, v = min(max(u, _ZERO), end_u), min(max(v, _ZERO), end_v)
        j, i = min(np.int32(u), most_j), min(np.int32(v), most_i)
        us[k], vs[k] = u - np.float32(j), v - np.float32(i)
        first = np.int32(np.int32(i * columns) + j)
        upper[k], lower[k] = first, np.int32(first + columns)


@inlined
def _hides(pair: np.uint64, part: np.uint64, high: np.float32) -> np.float32:
    return _ONE if np.uint32(pair >> part).view(np.float32) > high else _ZERO


@by_vectors
def put_shadows(
    above: Pairs, below: Pairs, us: Singles, vs: Singles, highs: Singles, colors: Singles
) -> None:
    """Take from colors what bodies take of the sun, softened over four texels of the map."""
    for k in range(us.shape[0]):
        a, b = _hides(above[k], _FIRST, highs[k]), _hides(above[k], _PAIR, highs[k])
        d, e = _hides(below[k], _FIRST, highs[k]), _hides(below[k], _PAIR, highs[k])
        top, low = a + us[k] * (b - a), d + us[k] * (e - d)
        taken = (top + vs[k] * (low - top)) * (colors[3, k] * _WHOLE)
        colors[0, k] *= _ONE - _RED_DARK * taken
        colors[1, k] *= _ONE - taken
        colors[2, k] *= _ONE - _BLUE_DARK * taken


@inlined
def _line(u: np.float32, u_right: np.float32, u_below: np.float32) -> np.float32:
    """How much of a pixel the nearest line at a whole number covers."""
    span = abs(u_right - u) + abs(u_below - u)
    away = abs(u - np.float32(math.floor(u + _HALF))) / max(span, _TINY)
    cover = min(max(_HALF * _LINE_WIDTH + _HALF - away, _ZERO), _ONE)
    return cover * min(max((_DENSE - span) * _FADING, _ZERO), _ONE)


@by_vectors
def put_covers(
    words: Words, near: Singles, beside: Singles, under: Singles, ramp: Singles, grid: Singles,
    ways: Singles, covers: Singles,
) -> None:  # fmt: skip
    """Write how much of each pixel of ground lines of the cells cover, or of the triangles.

    ``near``, ``beside``, ``under``: 1 / depth of the pixels, of those to the right, of another
    row. ``grid``: u and v, in cells, of the camera from any cell's corner, then of the first
    pixel's ray, of what is added for each next one, and for the other row. ``ways``: 1 where
    diagonals go one way, -1 the other, 0 where only cells are drawn.
    """
    for k in range(words.shape[0]):
        u_ray, v_ray = grid[2] + ramp[k] * grid[4], grid[3] + ramp[k] * grid[5]
        w, w_right = _ONE / (near[k] + _TINY), _ONE / (beside[k] + _TINY)
        w_below = _ONE / (under[k] + _TINY)
        u, v = grid[0] + w * u_ray, grid[1] + w * v_ray
        u_right = grid[0] + w_right * (u_ray + grid[4])
        v_right = grid[1] + w_right * (v_ray + grid[5])
        u_below = grid[0] + w_below * (u_ray + grid[6])
        v_below = grid[1] + w_below * (v_ray + grid[7])
        cells = max(_line(u, u_right, u_below), _line(v, v_right, v_below))
        way = ways[k]
        cross = _line(u + way * v, u_right + way * v_right, u_below + way * v_below)
        cover = _WIRES * max(cells, cross) if way != _ZERO else _CELLS * cells
        covers[k] = cover if words[k] >= _GROUND and words[k] < _FACE else _ZERO


@by_vectors
def put_cells(covers: Singles, colors: Singles) -> None:
    """Put the lines of the cells over colors of ground."""
    for channel in range(3):
        for k in range(covers.shape[0]):
            color = colors[channel, k]
            colors[channel, k] = color + covers[k] * (_CELL_TONE[channel] - color)


@by_vectors
def put_wires(words: Words, covers: Singles, colors: Singles) -> None:
    """Write the lines of the triangles in place of colors of ground, which they dimly show."""
    for k in range(covers.shape[0]):
        light = _DULL + (colors[0, k] + colors[1, k] + colors[2, k]) * _BRIGHT
        ground = words[k] >= _GROUND and words[k] < _FACE
        for channel in range(3):
            bare = _DARK_TONE[channel] * light
            wired = bare + covers[k] * (_WIRE_TONE[channel] - bare)
            colors[channel, k] = wired if ground else colors[channel, k]


@by_vectors
def put_pixels(colors: Singles, fogs: Singles, haze: Singles, ramp: Singles, out: Words) -> None:
    """Write words of colors, (3 or more, n), behind fog. ``haze``: its color, and the change."""
    for k in range(fogs.shape[0]):
        fog = fogs[k]
        red = colors[0, k] + fog * (haze[0] + ramp[k] * haze[3] - colors[0, k])
        green = colors[1, k] + fog * (haze[1] + ramp[k] * haze[4] - colors[1, k])
        blue = colors[2, k] + fog * (haze[2] + ramp[k] * haze[5] - colors[2, k])
        r = np.int32(min(max(red, _ZERO), _BYTE))
        g = np.int32(min(max(green, _ZERO), _BYTE))
        b = np.int32(min(max(blue, _ZERO), _BYTE))
        out[k] = np.uint32((r << 16) | (g << 8) | b)

"""Loops over one row of pixels that become vector instructions: places, texels, noise, fog.

Numbers are float32 throughout, arrays do not overlap, and nothing branches: so each loop handles
eight or sixteen pixels at a time. What is no ground is computed too, and thrown away.
"""

import numpy as np
from numpy.typing import NDArray

from .compiled import by_vectors, inlined
from .look import DETAIL_METERS, NOISE_SIZE

Singles = NDArray[np.float32]
Words = NDArray[np.uint32]
Numbers = NDArray[np.int32]

DETAIL_FAR = 70.0
"""Where the fine noise has faded away, in meters."""

_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
_THIRD, _TINY, _BYTE = np.float32(0.33), np.float32(1e-9), np.float32(255.0)
_ENTRIES, _NOISE = np.int32(3), np.int32(NOISE_SIZE)
_FAR = np.float32(DETAIL_FAR)
_WHOLE = np.float32(1.0 / 255.0)
_BLUR, _PART, _INSIDE = np.float32(0.4), np.float32(2.0**-23), np.float32(1.001)
_FADE, _GRAIN, _GRAY = np.float32(1.0 / DETAIL_FAR), np.float32(0.34 / 128.0), np.float32(128.0)
_FINEST = np.float32(NOISE_SIZE / DETAIL_METERS)
# Added before rounding down, where numbers may be negative: a multiple of the noise's size.
_BIAS = np.float32(16 * NOISE_SIZE)
# Sums of 32 bit numbers have 64, unless they are told not to: half as many would go at once.
_NOTHING, _UNIT, _BYTES = np.int32(0), np.int32(1), np.int32(255)
_SIGN, _BELOW_ONE, _FRACTION = np.int32(23), np.int32(126), np.int32(0x7FFFFF)
_EXPONENT, _COARSEST_GRAIN = np.int32(127), np.int32(5)
_RED_DARK, _BLUE_DARK = np.float32(1.06), np.float32(0.86)


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
def _byte(word: np.uint32, shift: np.uint32) -> np.float32:
    return np.float32(np.int32(np.int32(word >> shift) & _BYTES))


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
) -> None:  # fmt: skip
    """Write where pixels lie in texels of the finest level, and the levels to take them from.

    ``map_place``: u and v of the camera, texels per meter along both, greatest u and v, and the
    level's measure: 2 ** level meters times this are the greatest depth of a level. Outside the
    map colors run on as streaks, so they are blurred: between a level and the next, by ``mixes``.
    """
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


@by_vectors
def put_texels(
    texels: Words, table: Numbers, us: Singles, vs: Singles, levels: Numbers, colors: Singles
) -> None:
    """Write red, green, blue and the sun's share at places, interpolated; ``colors``: (4, n).

    ``table``: start, rows and columns of each level.
    """
    for k in range(us.shape[0]):
        at = np.uint32(np.int32(levels[k] * _ENTRIES))
        start, rows, columns = table[at], table[np.uint32(at + 1)], table[np.uint32(at + 2)]
        scale = _halved(levels[k])
        u = min(max(us[k] * scale, _ZERO), np.float32(columns) - _INSIDE)
        v = min(max(vs[k] * scale, _ZERO), np.float32(rows) - _INSIDE)
        j, i = np.int32(u), np.int32(v)
        p, q = u - np.float32(j), v - np.float32(i)
        first = np.int32(start + np.int32(i * columns) + j)
        under = np.int32(first + columns)
        a, b = texels[np.uint32(first)], texels[np.uint32(first + 1)]
        c, d = texels[np.uint32(under)], texels[np.uint32(under + 1)]
        for channel in range(4):
            shift = np.uint32(8 * channel)
            left, right = _byte(a, shift), _byte(b, shift)
            top = left + p * (right - left)
            left, right = _byte(c, shift), _byte(d, shift)
            low = left + p * (right - left)
            colors[channel, k] = top + q * (low - top)


@by_vectors
def mix_texels(finer: Singles, coarser: Singles, mixes: Singles, first: int) -> None:
    """Mix colors from column ``first`` on with those of the next level, all of shape (4, n)."""
    for channel in range(4):
        for k in range(mixes.shape[0]):
            at = np.uint64(first) + np.uint64(k)
            color = finer[channel, at]
            finer[channel, at] = color + mixes[k] * (coarser[channel, k] - color)


@by_vectors
def put_grain(
    depths: Singles, ray: Singles, ramp: Singles, noise_place: Singles, table: Numbers,
    quads: Words, colors: Singles,
) -> None:  # fmt: skip
    """Multiply the fine noise onto colors, interpolated where it is magnified.

    ``noise_place``: u and v of the camera, and the greatest depth of the finest level.
    ``table``: where each level begins. ``quads``: four neighboring bytes of noise in each word.
    """
    for k in range(depths.shape[0]):
        w = depths[k]
        level = _level_of(w * noise_place[2], _COARSEST_GRAIN)
        shrink = _halved(level)
        near = min(w, _FAR) * _FINEST * shrink
        u = noise_place[0] * shrink + near * (ray[0] + ramp[k] * ray[3]) + _BIAS
        v = noise_place[1] * shrink + near * (ray[2] + ramp[k] * ray[5]) + _BIAS
        j, i = np.int32(u), np.int32(v)
        smooth = _ONE if level == _NOTHING else _ZERO
        p, q = smooth * (u - np.float32(j)), smooth * (v - np.float32(i))
        size = np.int32(_NOISE >> level)
        wrap = np.int32(size - _UNIT)
        at = np.int32(np.int32(np.int32(i & wrap) * size) + np.int32(j & wrap))
        quad = quads[np.uint32(np.int32(table[np.uint32(level)] + at))]
        left, right = _byte(quad, np.uint32(0)), _byte(quad, np.uint32(8))
        top = left + p * (right - left)
        left, right = _byte(quad, np.uint32(16)), _byte(quad, np.uint32(24))
        low = left + p * (right - left)
        fade = _GRAIN * max(_ONE - w * _FADE, _ZERO)
        bright = _ONE + fade * (top + q * (low - top) - _GRAY)
        colors[0, k] *= bright
        colors[1, k] *= bright
        colors[2, k] *= bright


@by_vectors
def put_shadows(
    depths: Singles, ramp: Singles, cast: Singles, light: Singles, colors: Singles
) -> None:  # fmt: skip
    """Take from colors what bodies take of the sun, softened over four texels.

    ``light``: u, v and height towards the sun of the camera, and the same of the first pixel's ray
    and of what is added for each next one; u and v in texels of the map ``cast``, less a half.
    The height has the slack that keeps ground from its own shadow.
    """
    most_i, most_j = np.int32(cast.shape[0] - 2), np.int32(cast.shape[1] - 2)
    end_u, end_v = np.float32(most_j) + _ONE, np.float32(most_i) + _ONE
    touched = _ZERO
    for k in range(depths.shape[0]):
        u = light[0] + depths[k] * (light[3] + ramp[k] * light[6])
        v = light[1] + depths[k] * (light[4] + ramp[k] * light[7])
        touched += _ONE if min(u, end_u - u, v, end_v - v) > _ZERO else _ZERO
    if touched == _ZERO:
        return
    for k in range(depths.shape[0]):
        w = depths[k]
        u = light[0] + w * (light[3] + ramp[k] * light[6])
        v = light[1] + w * (light[4] + ramp[k] * light[7])
        high = w * (light[5] + ramp[k] * light[8]) + light[2]
        inside = min(u, end_u - u, v, end_v - v) > _ZERO
        u, v = min(max(u, _ZERO), end_u), min(max(v, _ZERO), end_v)
        j, i = min(np.int32(u), most_j), min(np.int32(v), most_i)
        p, q = u - np.float32(j), v - np.float32(i)
        r, c = np.uint32(i), np.uint32(j)
        under, right = np.uint32(i + _UNIT), np.uint32(j + _UNIT)
        a = _ONE if cast[r, c] > high else _ZERO
        b = _ONE if cast[r, right] > high else _ZERO
        d = _ONE if cast[under, c] > high else _ZERO
        e = _ONE if cast[under, right] > high else _ZERO
        top, low = a + p * (b - a), d + p * (e - d)
        taken = (top + q * (low - top)) * (colors[3, k] * _WHOLE) if inside else _ZERO
        colors[0, k] *= _ONE - _RED_DARK * taken
        colors[1, k] *= _ONE - taken
        colors[2, k] *= _ONE - _BLUE_DARK * taken


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

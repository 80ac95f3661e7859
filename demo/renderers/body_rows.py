"""Loops over a few pixels of a row beside each other that a body may cover, as vector instructions.

Numbers are float32, arrays do not overlap, and nothing branches: all pixels go at once. ``ray`` is
in the body's axes: the eye, the first pixel's ray, and what is added for each next one. ``times``
says how far along its ray a pixel meets the body, in lengths of the ray; 0: it misses.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..picture import camera as cameras
from .compiled import by_vectors, uncounted
from .look import BOUNCED_LIGHT, SKY_LIGHT, SUN_LIGHT
from .raster import LANES, LIT

Singles = NDArray[np.float32]
Words = NDArray[np.uint32]
Numbers = NDArray[np.int32]

_ZERO, _HALF, _ONE, _TWO = (np.float32(x) for x in (0.0, 0.5, 1.0, 2.0))
_TINY, _BYTE, _NEAR = np.float32(1e-12), np.float32(255.0), np.float32(cameras.NEAR)
_BAND, _DARK, _RIM, _EDGE = (np.float32(x) for x in (0.16, 0.66, 0.09, 1.3))
_WAIST, _BELT, _GLOSS = (np.float32(x) for x in (0.12, 0.78, 0.16))
_SKY, _GROUND, _SUN = (np.array(x, np.float32) for x in (SKY_LIGHT, BOUNCED_LIGHT, SUN_LIGHT))
_ABOVE_ALL = np.float32(1e30)
_LANE, _LIT = np.arange(LANES, dtype=np.float32), np.uint32(LIT)


@by_vectors
def meet_capsule(ray: Singles, size: Singles, times: Singles) -> None:
    """Meet a capsule along z: the side, else the ball at the nearer end. ``size``: radius, half."""
    square, half = size[0] * size[0], size[1]
    for k in range(LANES):
        x, y = ray[3] + _LANE[k] * ray[6], ray[4] + _LANE[k] * ray[7]
        z = ray[5] + _LANE[k] * ray[8]
        flat = max(x * x + y * y, _TINY)
        along = ray[0] * x + ray[1] * y
        middle = -along / flat
        p, q = ray[0] + middle * x, ray[1] + middle * y
        beside = square - (p * p + q * q)
        on_side = middle - np.float32(math.sqrt(max(beside, _ZERO) / flat))
        high = ray[2] + on_side * z
        rise = ray[2] - min(max(high, -half), half)
        whole = flat + z * z
        middle = -(along + rise * z) / whole
        p, q, r = ray[0] + middle * x, ray[1] + middle * y, rise + middle * z
        rest = square - (p * p + q * q + r * r)
        on_end = middle - np.float32(math.sqrt(max(rest, _ZERO) / whole))
        is_side = abs(high) <= half
        met = beside >= _ZERO and (is_side or rest >= _ZERO)
        time = on_side if is_side else on_end
        times[k] = time if met else _ZERO


@by_vectors
def meet_ball(ray: Singles, size: Singles, times: Singles) -> None:
    """Meet a ball. ``size``: its radius."""
    for k in range(LANES):
        x, y = ray[3] + _LANE[k] * ray[6], ray[4] + _LANE[k] * ray[7]
        z = ray[5] + _LANE[k] * ray[8]
        whole = x * x + y * y + z * z
        middle = -(ray[0] * x + ray[1] * y + ray[2] * z) / whole
        p, q, r = ray[0] + middle * x, ray[1] + middle * y, ray[2] + middle * z
        rest = size[0] * size[0] - (p * p + q * q + r * r)
        time = middle - np.float32(math.sqrt(max(rest, _ZERO) / whole))
        times[k] = time if rest >= _ZERO else _ZERO


@by_vectors
def meet_box(ray: Singles, size: Singles, times: Singles) -> None:
    """Meet a box. ``size``: half extents."""
    for k in range(LANES):
        x, y = ray[3] + _LANE[k] * ray[6], ray[4] + _LANE[k] * ray[7]
        z = ray[5] + _LANE[k] * ray[8]
        x = _ONE / (x if abs(x) > _TINY else _TINY)
        y = _ONE / (y if abs(y) > _TINY else _TINY)
        z = _ONE / (z if abs(z) > _TINY else _TINY)
        a, b = (-size[0] - ray[0]) * x, (size[0] - ray[0]) * x
        c, d = (-size[1] - ray[1]) * y, (size[1] - ray[1]) * y
        e, f = (-size[2] - ray[2]) * z, (size[2] - ray[2]) * z
        enter = max(min(a, b), min(c, d), min(e, f))
        leave = min(max(a, b), max(c, d), max(e, f))
        times[k] = enter if enter <= leave else _ZERO


@by_vectors
def covers(depth: Singles, nearest: np.float32) -> bool:
    """Tell whether nothing as far as that, 1 / depth, can be seen in any pixel."""
    least = depth[0]
    for k in range(LANES):
        least = min(least, depth[k])
    return bool(least >= nearest)


@by_vectors
def reveal(times: Singles, depth: Singles) -> bool:
    """Keep the times of pixels that see the body, with their 1 / depth; tell whether any does."""
    seen = _ZERO
    for k in range(LANES):
        inverse = _ONE / max(times[k], _TINY)
        is_seen = times[k] >= _NEAR and inverse > depth[k]
        depth[k] = inverse if is_seen else depth[k]
        times[k] = times[k] if is_seen else _ZERO
        seen += _ONE if is_seen else _ZERO
    return bool(seen > _ZERO)


@by_vectors
def skin_capsule(
    ray: Singles, size: Singles, times: Singles, normals: Singles, tones: Singles
) -> None:
    """Write normals (3, n), in the body's axes, and tones: up to 1 it is darker, to 2 whiter."""
    inverse = _ONE / size[0]
    for k in range(LANES):
        z = ray[2] + times[k] * (ray[5] + _LANE[k] * ray[8])
        normals[0, k] = inverse * (ray[0] + times[k] * (ray[3] + _LANE[k] * ray[6]))
        normals[1, k] = inverse * (ray[1] + times[k] * (ray[4] + _LANE[k] * ray[7]))
        normals[2, k] = inverse * (z - min(max(z, -size[1]), size[1]))
        tones[k] = _BELT if abs(z) < _WAIST * size[0] else _ONE


@by_vectors
def skin_ball(
    ray: Singles, size: Singles, times: Singles, normals: Singles, tones: Singles
) -> None:
    """Write normals and tones as `skin_capsule` does."""
    inverse = _ONE / size[0]
    for k in range(LANES):
        x = inverse * (ray[0] + times[k] * (ray[3] + _LANE[k] * ray[6]))
        y = inverse * (ray[1] + times[k] * (ray[4] + _LANE[k] * ray[7]))
        z = inverse * (ray[2] + times[k] * (ray[5] + _LANE[k] * ray[8]))
        normals[0, k], normals[1, k], normals[2, k] = x, y, z
        tone = _ONE if (x > _ZERO) == (z > _ZERO) else _DARK
        tones[k] = _TWO if abs(y) < _BAND else tone


@by_vectors
def skin_box(ray: Singles, size: Singles, times: Singles, normals: Singles, tones: Singles) -> None:
    """Write normals and tones as `skin_capsule` does."""
    rim = _RIM * min(size[0], size[1], size[2])
    for k in range(LANES):
        x = ray[0] + times[k] * (ray[3] + _LANE[k] * ray[6])
        y = ray[1] + times[k] * (ray[4] + _LANE[k] * ray[7])
        z = ray[2] + times[k] * (ray[5] + _LANE[k] * ray[8])
        p, q, r = size[0] - abs(x), size[1] - abs(y), size[2] - abs(z)
        is_x, is_y = p <= q and p <= r, q <= r
        edge = min(p, r) if is_y else min(p, q)
        edge = min(q, r) if is_x else edge
        tones[k] = _EDGE if edge < rim else _ONE
        x = _ONE if x > _ZERO else -_ONE
        y = _ONE if y > _ZERO else -_ONE
        z = _ONE if z > _ZERO else -_ONE
        normals[0, k] = x if is_x else _ZERO
        normals[1, k] = y if is_y and not is_x else _ZERO
        normals[2, k] = _ZERO if is_x or is_y else z


@by_vectors
def turn_normals(turn: Singles, normals: Singles) -> None:
    """Turn normals to the world's axes. ``turn``: the body's rotation, by rows."""
    for k in range(LANES):
        x, y, z = normals[0, k], normals[1, k], normals[2, k]
        normals[0, k] = turn[0] * x + turn[1] * y + turn[2] * z
        normals[1, k] = turn[3] * x + turn[4] * y + turn[5] * z
        normals[2, k] = turn[6] * x + turn[7] * y + turn[8] * z


@by_vectors
def put_shadow_places(
    times: Singles, normals: Singles, way: Singles, cast: Singles, us: Singles, vs: Singles,
    highs: Singles, rows: Numbers, columns: Numbers,
) -> None:  # fmt: skip
    """Write texels of the map of shadows, shares of the next ones, and heights towards the sun.

    ``way``: column, row and height of the eye, of the first pixel's ray, and what is added for each
    next one; then what normals add, for each of the three.
    """
    end_u, end_v = np.float32(cast.shape[1] - 1), np.float32(cast.shape[0] - 1)
    most_i, most_j = np.int32(cast.shape[0] - 2), np.int32(cast.shape[1] - 2)
    for k in range(LANES):
        t, x, y, z = times[k], normals[0, k], normals[1, k], normals[2, k]
        u = way[0] + t * (way[3] + _LANE[k] * way[6]) + way[9] * x + way[10] * y + way[11] * z
        v = way[1] + t * (way[4] + _LANE[k] * way[7]) + way[12] * x + way[13] * y + way[14] * z
        high = way[2] + t * (way[5] + _LANE[k] * way[8]) + way[15] * x + way[16] * y + way[17] * z
        highs[k] = high if min(u, end_u - u, v, end_v - v) > _ZERO else _ABOVE_ALL
        u, v = min(max(u, _ZERO), end_u), min(max(v, _ZERO), end_v)
        j, i = min(np.int32(u), most_j), min(np.int32(v), most_i)
        us[k], vs[k] = u - np.float32(j), v - np.float32(i)
        rows[k], columns[k] = i, j


@uncounted
def put_shadows(
    cast: Singles, times: Singles, rows: Numbers, columns: Numbers, us: Singles, vs: Singles,
    highs: Singles, sunny: Singles,
) -> None:  # fmt: skip
    """Take from the sun's shares what bodies take, softened over four texels of the map."""
    for k in range(LANES):
        if times[k] == _ZERO:
            continue
        i, j, high = np.uint32(rows[k]), np.uint32(columns[k]), highs[k]
        a = _ONE if cast[i, j] > high else _ZERO
        b = _ONE if cast[i, j + 1] > high else _ZERO
        c = _ONE if cast[i + 1, j] > high else _ZERO
        d = _ONE if cast[i + 1, j + 1] > high else _ZERO
        top, low = a + us[k] * (b - a), c + us[k] * (d - c)
        sunny[k] *= _ONE - (top + vs[k] * (low - top))


@by_vectors
def put_lit(
    normals: Singles, tones: Singles, sunny: Singles, lamp: Singles, times: Singles, surface: Words
) -> None:
    """Write words of what is seen, lit by sun and sky. ``sunny``: how much of the sun is there.

    ``lamp``: towards the sun, the normal where a highlight is brightest, the body's color as light.
    """
    for k in range(LANES):
        x, y, z = normals[0, k], normals[1, k], normals[2, k]
        lambert = sunny[k] * max(_ZERO, x * lamp[0] + y * lamp[1] + z * lamp[2])
        up = _HALF + _HALF * y
        # Blinn's highlight, to the 32nd power.
        power = max(_ZERO, x * lamp[3] + y * lamp[4] + z * lamp[5])
        power *= power
        power *= power
        power *= power
        power *= power
        shine = _GLOSS * power * power * lambert
        white = _HALF * max(tones[k] - _ONE, _ZERO)
        bright = min(tones[k], _ONE) * (_ONE - white)
        word = np.uint32(0)
        for c in range(3):
            light = _SKY[c] * up + _GROUND[c] * (_ONE - up) + _SUN[c] * lambert
            value = (lamp[6 + c] * bright + white) * light + _SUN[c] * shine
            byte = np.int32(min(_BYTE, _BYTE * np.float32(math.sqrt(value)) + _HALF))
            word = np.uint32(word | np.uint32(np.uint32(byte) << np.uint32(16 - 8 * c)))
        surface[k] = np.uint32(_LIT | word) if times[k] > _ZERO else surface[k]

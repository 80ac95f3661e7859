"""Compiled loops over the ground: shadows of hills, colors, bounds of patches."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled, inlined
from .look import (
    BOUNCED_LIGHT,
    BY_NAME,
    BY_PLACE,
    NATURAL,
    NOISE_SIZE,
    PLAIN,
    SKY_LIGHT,
    SUN_LIGHT,
    linear,
)  # fmt: skip

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Words = NDArray[np.uint32]

_WRAP = NOISE_SIZE - 1
_COLORS = tuple(tuple(float(value) for value in row) for row in linear(np.array(NATURAL)))
_GRASS, _DRY, _EARTH, _ROCK, _DARK, _SAND, _SNOW = _COLORS
_SOIL = tuple(float(value) for value in linear(np.array(BY_NAME["earth"])))
_LEAST_SHARE = 0.55
"""A direction's part of a normal, above which noise is seen along it: one part always is."""


@compiled
def sweep_shadows(heights: Singles, shift: float, drop: float, upward: float, out: Singles) -> None:
    """Fill ``out`` with the height below which a hill is between a sample and the sun.

    The sun stands in the direction of growing rows if ``upward``; its rays shift by so many
    columns and drop by so many meters a row. One pass: each row hands its shadow to the next.
    """
    rows, columns = heights.shape
    for k in range(rows):
        row = rows - 1 - k if upward > 0.0 else k
        before = row + 1 if upward > 0.0 else row - 1
        for column in range(columns):
            if k == 0:
                out[row, column] = heights[row, column] - drop
                continue
            place = min(max(column + shift, 0.0), columns - 1.0)
            left = min(int(place), columns - 2)
            part = place - left
            a = max(heights[before, left], out[before, left])
            b = max(heights[before, left + 1], out[before, left + 1])
            out[row, column] = a + part * (b - a) - drop


@inlined
def _smooth(low: float, high: float, x: float) -> float:
    t = min(max((x - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@inlined
def _mix(a: Any, b: Any, t: float) -> Any:
    return a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])


@inlined
def _height(heights: Singles, row: int, column: int) -> float:
    row = min(max(row, 0), heights.shape[0] - 1)
    column = min(max(column, 0), heights.shape[1] - 1)
    return float(heights[row, column])


@inlined
def _waves(noise: Singles, x: float, z: float, meters: float) -> float:
    """Noise at a place, interpolated; it repeats after so many meters."""
    u, v = x * (NOISE_SIZE / meters), z * (NOISE_SIZE / meters)
    column, row = math.floor(u), math.floor(v)
    p, q = u - column, v - row
    c0, c1, r0, r1 = column & _WRAP, (column + 1) & _WRAP, row & _WRAP, (row + 1) & _WRAP
    top = noise[r0, c0] + p * (noise[r0, c1] - noise[r0, c0])
    low = noise[r1, c0] + p * (noise[r1, c1] - noise[r1, c0])
    return float(top + q * (low - top))


@inlined
def _facing(grad_x: float, grad_z: float, slope: float) -> Any:
    """How much noise is seen along x, y and z; along y alone where the ground is not steep."""
    x = max(abs(grad_x) * slope - _LEAST_SHARE, 0.0)
    y = max(slope - _LEAST_SHARE, 0.0)
    z = max(abs(grad_z) * slope - _LEAST_SHARE, 0.0)
    whole = x + y + z
    return x / whole, y / whole, z / whole


@inlined
def _fine(noise: Singles, facing: Any, x: float, y: float, z: float) -> float:
    """Noise of a place, seen along the axes that the ground faces: no steep side stretches it."""
    value = 0.0
    if facing[1] > 0.0:
        value += facing[1] * _waves(noise, x, z, 37.0)
    if facing[0] > 0.0:
        value += facing[0] * _waves(noise, z, y, 37.0)
    if facing[2] > 0.0:
        value += facing[2] * _waves(noise, x, y, 37.0)
    return value


@inlined
def _natural(
    how: float, slope: float, share: float, relief: float, patches: float, fine: float
) -> Any:
    """Color by slope (1: level) and height (share of the relief); ``how``: see `look.palette`."""
    color = _mix(_GRASS, _DRY, _smooth(-0.35, 0.75, patches + 0.5 * fine))
    bright = 1.0 + 0.22 * fine
    color = (color[0] * bright, color[1] * bright, color[2] * bright)
    if how == BY_PLACE and relief > 12.0:
        shore = _smooth(0.075, 0.03, share + 0.012 * patches)
        color = _mix(color, _SAND, shore)
    rough = slope + 0.05 * fine + 0.03 * patches
    is_wild = how == BY_PLACE
    color = _mix(color, _EARTH if is_wild else _SOIL, _smooth(0.90, 0.82, rough))
    stone = _mix(_ROCK, _DARK, _smooth(-0.5, 0.6, fine - 0.4 * patches))
    # A pit in a meadow is of earth.
    bare = _smooth(0.82, 0.70, rough) if is_wild else _smooth(0.52, 0.38, rough)
    color = _mix(color, stone, bare)
    if is_wild and relief > 30.0:
        high = _smooth(0.70, 0.80, share + 0.05 * patches + 0.03 * fine)
        color = _mix(color, stone, 0.7 * high)
        white = _smooth(0.78, 0.86, share + 0.06 * patches) * _smooth(
            0.62, 0.74, slope + 0.05 * fine
        )
        color = _mix(color, _SNOW, white)
    return color


@compiled
def see_sky(
    heights: Singles, cell: float, rows: tuple[int, int], columns: tuple[int, int], out: Singles
) -> None:
    """Write how much of the sky samples see, about 1: less in hollows, more on ridges."""
    for row in range(rows[0], rows[1]):
        for column in range(columns[0], columns[1]):
            y, hollow = heights[row, column], 0.0
            for k in range(8):
                i, j = (-1, -1, -1, 0, 0, 1, 1, 1)[k], (-1, 0, 1, -1, 1, -1, 0, 1)[k]
                hollow += (_height(heights, row + 2 * i, column + 2 * j) - y) / (2.0 * cell)
                hollow += (_height(heights, row + 7 * i, column + 7 * j) - y) / (7.0 * cell)
            out[row, column] = min(max(1.0 - 0.055 * hollow, 0.45), 1.12)


@compiled
def paint(
    heights: Singles,
    shadows: Singles,
    openness: Singles,
    materials: NDArray[np.uint8],
    palette: Floats,
    noise: Singles,
    place: Floats,
    texels_per_cell: int,
    rows: tuple[int, int],
    columns: tuple[int, int],
    out: Words,
) -> None:
    """Write lit colors of texels: red, green, blue from the low byte up, then the sun's share.

    ``place``: x, z of sample (0, 0), cell sizes along x and z, least height, relief, the unit
    direction towards the sun, meters of penumbra.
    """
    x0, z0, cell_x, cell_z, lowest, relief = (
        place[0],
        place[1],
        place[2],
        place[3],
        place[4],
        place[5],
    )
    sun_x, sun_y, sun_z, penumbra = place[6], place[7], place[8], place[9]
    cell_rows, cell_columns = materials.shape
    step = 1.0 / texels_per_cell
    for i in range(rows[0], rows[1]):
        row = min(int(i * step), cell_rows - 1)
        q = i * step - row
        for j in range(columns[0], columns[1]):
            column = min(int(j * step), cell_columns - 1)
            p = j * step - column
            x, z = x0 + j * step * cell_x, z0 + i * step * cell_z
            y = grad_x = grad_z = clear = open_sky = 0.0
            for k in range(4):
                r, c = row + (k >> 1), column + (k & 1)
                weight = (q if k >> 1 else 1.0 - q) * (p if k & 1 else 1.0 - p)
                y += weight * heights[r, c]
                open_sky += weight * openness[r, c]
                clear += weight * (heights[r, c] - shadows[r, c])
                grad_x += weight * (_height(heights, r, c + 1) - _height(heights, r, c - 1))
                grad_z += weight * (_height(heights, r + 1, c) - _height(heights, r - 1, c))
            grad_x /= 2.0 * cell_x
            grad_z /= 2.0 * cell_z
            slope = 1.0 / math.sqrt(1.0 + grad_x * grad_x + grad_z * grad_z)

            facing = _facing(grad_x, grad_z, slope)
            patches = _waves(noise, x, z, 310.0)
            fine = _fine(noise, facing, x, y, z)
            jitter_x, jitter_z = 0.45 * fine, 0.45 * _waves(noise, z + 11.0, x + 5.0, 37.0)
            r = min(max(math.floor(i * step + jitter_z), 0), cell_rows - 1)
            c = min(max(math.floor(j * step + jitter_x), 0), cell_columns - 1)
            kind = materials[r, c]
            if palette[kind, 3] == PLAIN:
                bright = 1.0 + 0.18 * fine
                color = (
                    palette[kind, 0] * bright,
                    palette[kind, 1] * bright,
                    palette[kind, 2] * bright,
                )
            else:
                share = (y - lowest) / max(relief, 1.0)
                color = _natural(palette[kind, 3], slope, share, relief, patches, fine)

            # Small bumps, more of them where it is steep.
            bump = 0.22 + 0.75 * _smooth(0.92, 0.70, slope)
            delta = 0.6
            rise_x, rise_z = delta * slope * grad_x, delta * slope * grad_z
            nx = -grad_x - bump * (_fine(noise, facing, x + delta, y + rise_x, z) - fine)
            nz = -grad_z - bump * (_fine(noise, facing, x, y + rise_z, z + delta) - fine)
            length = 1.0 / math.sqrt(1.0 + nx * nx + nz * nz)
            lambert = max(0.0, (nx * sun_x + sun_y + nz * sun_z) * length)
            lambert *= min(max(0.5 + clear / penumbra, 0.0), 1.0)

            up = 0.5 + 0.5 * length
            word = np.uint32(0)
            whole = sunny = 0.0
            for k in range(3):
                soft = open_sky * (SKY_LIGHT[k] * up + BOUNCED_LIGHT[k] * (1.0 - up))
                hard = SUN_LIGHT[k] * lambert
                whole += soft + hard
                sunny += hard
                value = math.sqrt(max(color[k], 0.0) * (soft + hard))
                word |= np.uint32(min(255.0, 255.0 * value + 0.5)) << np.uint32(8 * k)
            # As the square root goes: how much darker the screen is without the sun.
            share = 1.0 - math.sqrt(1.0 - sunny / whole)
            out[i, j] = word | (np.uint32(255.0 * share + 0.5) << np.uint32(24))


@inlined
def _tent(texels: Words, row: int, column: int, shift: int) -> float:
    """A texel's weighted mean over itself and its eight neighbors, of one byte."""
    total = 0.0
    for dr in range(-1, 2):
        for dc in range(-1, 2):
            r = min(max(row + dr, 0), texels.shape[0] - 1)
            c = min(max(column + dc, 0), texels.shape[1] - 1)
            byte = (texels[r, c] >> np.uint32(shift)) & np.uint32(255)
            total += (2 - abs(dr)) * (2 - abs(dc)) * float(byte)
    return total * (1.0 / 16.0)


@compiled
def halve(texels: Words, rows: tuple[int, int], columns: tuple[int, int], out: Words) -> None:
    """Write every other texel, as the mean of those around it."""
    for i in range(rows[0], rows[1]):
        for j in range(columns[0], columns[1]):
            word = np.uint32(0)
            for k in range(4):
                byte = np.uint32(_tent(texels, 2 * i, 2 * j, 8 * k) + 0.5)
                word |= byte << np.uint32(8 * k)
            out[i, j] = word


@compiled
def patch_bounds(
    heights: Singles,
    solid: NDArray[np.uint8],
    cells: int,
    low: Singles,
    high: Singles,
    gaps: NDArray[np.uint8],
) -> None:
    """Write least and greatest height of patches of so many cells, and whether one is a hole."""
    for i in range(low.shape[0]):
        for j in range(low.shape[1]):
            least, greatest, gap = np.inf, -np.inf, 0
            for row in range(i * cells, min((i + 1) * cells + 1, heights.shape[0])):
                for column in range(j * cells, min((j + 1) * cells + 1, heights.shape[1])):
                    least = min(least, heights[row, column])
                    greatest = max(greatest, heights[row, column])
                    if row < solid.shape[0] and column < solid.shape[1] and solid[row, column] == 0:
                        gap = 1
            low[i, j], high[i, j], gaps[i, j] = least, greatest, gap


@compiled
def patch_errors(
    heights: Singles,
    step: int,
    cells: int,
    rows: tuple[int, int],
    columns: tuple[int, int],
    out: Singles,
) -> None:
    """Write how far the ground is from quads of ``step`` cells, for some patches of ``cells``."""
    most_row, most_column = heights.shape[0] - 1, heights.shape[1] - 1
    for i in range(rows[0], rows[1]):
        for j in range(columns[0], columns[1]):
            worst = 0.0
            for row in range(i * cells, min((i + 1) * cells, most_row) + 1):
                r0 = min(row - row % step, most_row)
                r1, q = min(r0 + step, most_row), (row % step) / step
                for column in range(j * cells, min((j + 1) * cells, most_column) + 1):
                    c0 = min(column - column % step, most_column)
                    c1, p = min(c0 + step, most_column), (column % step) / step
                    top = heights[r0, c0] + p * (heights[r0, c1] - heights[r0, c0])
                    low = heights[r1, c0] + p * (heights[r1, c1] - heights[r1, c0])
                    worst = max(worst, abs(top + q * (low - top) - heights[row, column]))
            out[i, j] = worst

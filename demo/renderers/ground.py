"""What a height map looks like: lit texels, shadows of its hills, bounds of its patches.

Both renderers draw from this. It follows edits, and does again only what an edit changed.
"""

from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics import AABB, HeightMap

from . import look
from .ground_kernels import (
    halve,
    paint,
    patch_bounds,
    patch_errors,
    see_sky,
    sweep_shadows,
)

Singles = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint32]
Span = tuple[int, int]

PATCH = 8
"""Cells along the side of the finest patch, and quads along the side of every patch."""
REACH = 8  # paint looks at the heights this many samples away
MOST_TEXELS = 4_300_000
FINEST_TEXEL = 0.12  # meters


class Part(NamedTuple):
    """Samples that changed: rows and columns from start to before stop."""

    rows: Span
    columns: Span


class LitGround:
    """The look of one height map under one sun."""

    def __init__(self, land: HeightMap, sun: tuple[float, float, float], pool: Executor) -> None:
        self.land, self.sun, self._pool = land, look.unit(sun), pool
        self.version = land.version
        rows, columns = land.sample_count
        self.cell_x, self.cell_z = land.cell_size
        self.x0, y0, self.z0 = land.origin64
        self._y0 = y0
        self.extends = land.border == "extend"
        self.extent = max((rows - 1) * self.cell_z, (columns - 1) * self.cell_x)
        self.far = look.view_distance(self.extent)
        self.heights = np.empty((rows, columns), dtype=np.float32)
        self.solid = np.empty((rows - 1, columns - 1), dtype=np.uint8)
        self.flipped = np.zeros((rows - 1, columns - 1), dtype=np.uint8)
        self.materials = np.zeros((rows - 1, columns - 1), dtype=np.uint8)
        self.palette = look.palette(land.material_names)
        self.openness = np.ones((rows, columns), dtype=np.float32)
        whole = Part((0, rows), (0, columns))
        self._read(whole)
        self.lowest, top = float(self.heights.min()), float(self.heights.max())
        self.relief = top - self.lowest
        self.shadows, self.penumbra = self._shadows()
        self.texels_per_cell = self._texels_per_cell()
        self.texels, self.flat_texels, self.levels = self._empty_texels()
        self._paint(whole)
        self.bounds: list[tuple[Singles, Singles, Bytes, Singles]] = []
        self._bound(whole)

    def follow(self, sun: tuple[float, float, float]) -> list[Part]:
        """Take over edits; return what looks different now."""
        land = self.land
        if land.version == self.version and look.unit(sun) == self.sun:
            return []
        regions = land.changes_since(self.version)
        self.version = land.version
        rows, columns = self.heights.shape
        parts = []
        for region in regions:
            part = Part(
                (region.row_start, min(region.row_stop + 1, rows)),
                (region.column_start, min(region.column_stop + 1, columns)),
            )
            self._read(part)
            parts.append(part)
        before, self.sun = self.shadows, look.unit(sun)
        self.shadows, self.penumbra = self._shadows()
        darker = np.argwhere(np.abs(self.shadows - before) > 1e-4 * (1.0 + self.relief))
        if len(darker):
            (r0, c0), (r1, c1) = darker.min(axis=0), darker.max(axis=0) + 1
            parts.append(Part((int(r0), int(r1)), (int(c0), int(c1))))
        for part in parts:
            self._paint(part)
            self._bound(part)
        return parts

    def _read(self, part: Part) -> None:
        """Take heights, holes and materials of the samples from the map."""
        land, (r0, r1), (c0, c1) = self.land, part.rows, part.columns
        raw = land.heights[r0:r1, c0:c1]
        values = self._y0 + land.height_scale * raw.astype(np.float64)
        missing = np.isnan(values)
        place = np.s_[r0 : max(r1 - 1, r0), c0 : max(c1 - 1, c0)]
        if missing.any():
            values[missing] = _beside(values, missing)[missing]
            values[np.isnan(values)] = self._y0 if missing.all() else values[~missing].mean()
        self.heights[r0:r1, c0:c1] = values
        gone = np.asarray(land.holes)[place]
        corners = missing[:-1, :-1] | missing[1:, :-1] | missing[:-1, 1:] | missing[1:, 1:]
        self.solid[place] = ~(gone | corners)
        self.materials[place] = np.asarray(land.materials)[place]
        self._read_diagonals(place)

    def _read_diagonals(self, place: tuple[slice, slice]) -> None:
        """See from the triangles which way cells are split."""
        rows, columns = place
        most = max(1, 400_000 // max(columns.stop - columns.start, 1))
        for first in range(rows.start, rows.stop, most):
            last = min(first + most, rows.stop)
            low = (
                self.x0 + (columns.start + 0.25) * self.cell_x,
                self.z0 + (first + 0.25) * self.cell_z,
            )
            high = (
                self.x0 + (columns.stop - 0.25) * self.cell_x,
                self.z0 + (last - 0.25) * self.cell_z,
            )
            box = AABB((low[0], -1e30, low[1]), (high[0], 1e30, high[1]))
            found = self.land.triangles_in(box, margin=0.0)
            upper = found.ids % 2 == 0
            cells, third = found.ids[upper] // 2, found.vertices[upper, 2]
            row, column = np.divmod(cells, self.flipped.shape[1])
            # The third corner of a cell's first half is c (on the right) or d (on the left).
            middle = self.x0 + (column + 0.5) * self.cell_x
            self.flipped[row, column] = third[:, 0] < middle

    def _shadows(self) -> tuple[Singles, float]:
        """Return the heights below which samples are in shadow, and how soft it begins."""
        x, y, z = self.sun
        along_rows = abs(z) / self.cell_z >= abs(x) / self.cell_x
        heights = self.heights if along_rows else np.ascontiguousarray(self.heights.T)
        main, side = (z, x) if along_rows else (x, z)
        step, other = (self.cell_z, self.cell_x) if along_rows else (self.cell_x, self.cell_z)
        main = main if abs(main) > 1e-9 else 1e-9
        drop = min(step * y / abs(main), 1e6)
        out = np.empty_like(heights)
        sweep_shadows(heights, side / abs(main) * step / other, drop, main, out)
        return (out if along_rows else np.ascontiguousarray(out.T)), 2.0 * drop

    def _texels_per_cell(self) -> int:
        rows, columns = self.solid.shape
        count = 1
        while (
            count < 8
            and rows * columns * (2 * count) ** 2 <= MOST_TEXELS
            and max(self.cell_x, self.cell_z) / (2 * count) >= FINEST_TEXEL
        ):
            count *= 2
        return count

    def _empty_texels(self) -> tuple[list[Words], Words, NDArray[np.int32]]:
        """Return the texels level by level, their memory, and each level's start, rows, columns."""
        rows, columns = self.solid.shape
        shape = (rows * self.texels_per_cell + 1, columns * self.texels_per_cell + 1)
        shapes = [shape]
        while min(shapes[-1]) > 4:
            shapes.append(((shapes[-1][0] + 1) // 2, (shapes[-1][1] + 1) // 2))
        starts = np.cumsum([0] + [height * width for height, width in shapes])
        flat = np.zeros(starts[-1], dtype=np.uint32)
        levels = [
            flat[start : start + height * width].reshape(height, width)
            for start, (height, width) in zip(starts[:-1], shapes, strict=True)
        ]
        table = np.column_stack([starts[:-1], np.array(shapes)]).astype(np.int32).ravel()
        return levels, flat, table

    def hill_light(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much of the sun the hills let through to points, 0..1."""
        rows, columns = self.heights.shape
        column = np.clip(np.rint((points[:, 0] - self.x0) / self.cell_x), 0, columns - 1)
        row = np.clip(np.rint((points[:, 2] - self.z0) / self.cell_z), 0, rows - 1)
        dark = self.shadows[row.astype(np.int64), column.astype(np.int64)]
        return np.clip(0.5 + (points[:, 1] - dark) / self.penumbra, 0.0, 1.0)

    @property
    def place(self) -> NDArray[np.float64]:
        """What compiled loops need to know of the map: see `paint`; last, texels per cell."""
        return np.array(
            [
                self.x0, self.z0, self.cell_x, self.cell_z, self.lowest, self.relief,
                *self.sun, self.penumbra, self.texels_per_cell,
            ]
        )  # fmt: skip

    def texel_spans(self, part: Part) -> tuple[Span, Span]:
        """Return rows and columns of the texels whose color some samples reach."""
        count = self.texels_per_cell
        rows, columns = (
            (max((start - REACH) * count, 0), min((stop + REACH) * count + 1, most))
            for (start, stop), most in zip(part, self.texels[0].shape, strict=True)
        )
        return rows, columns

    def _paint(self, part: Part) -> None:
        """Paint the texels whose color the samples reach."""
        count = self.texels_per_cell
        (first, last), columns = self.texel_spans(part)
        place = self.place
        near = [
            (max(start - REACH, 0), min(stop + REACH, most))
            for (start, stop), most in zip(part, self.heights.shape, strict=True)
        ]
        see_sky(self.heights, self.cell_x, near[0], near[1], self.openness)
        bands = [(row, min(row + 64, last)) for row in range(first, last, 64)]

        def band(rows: Span) -> None:
            paint(
                self.heights, self.shadows, self.openness, self.materials, self.palette,
                look.noise(), place, count, rows, columns, self.texels[0],
            )  # fmt: skip

        list(self._pool.map(band, bands))
        rows = (first, last)
        for finer, coarser in zip(self.texels, self.texels[1:], strict=False):
            rows = (max(rows[0] // 2 - 1, 0), min(rows[1] // 2 + 2, coarser.shape[0]))
            columns = (max(columns[0] // 2 - 1, 0), min(columns[1] // 2 + 2, coarser.shape[1]))
            halve(finer, rows, columns, coarser)

    def _bound(self, part: Part) -> None:
        """Find the bounds of all patches, the finest first, and again how far changed ones err."""
        rows, columns = (-(-count // PATCH) for count in self.solid.shape)
        low = np.empty((rows, columns), dtype=np.float32)
        high, gaps = np.empty_like(low), np.empty((rows, columns), dtype=np.uint8)
        patch_bounds(self.heights, self.solid, PATCH, low, high, gaps)
        before = self.bounds
        self.bounds = [(low, high, gaps, np.zeros_like(low))]
        while max(low.shape) > 1:
            low, high, gaps = (
                _pairs(low, np.minimum), _pairs(high, np.maximum), _pairs(gaps, np.maximum)
            )  # fmt: skip
            level = len(self.bounds)
            errors = before[level][3] if before else np.empty_like(low)
            self.bounds.append((low, high, gaps, errors))
            side = PATCH << level
            spans = [
                (max((start - 1) // side, 0), min((stop + side) // side, most))
                for (start, stop), most in zip(part, low.shape, strict=True)
            ]
            self._judge(level, spans, errors)

    def _judge(self, level: int, spans: list[Span], errors: Singles) -> None:
        """Write how far the quads of some patches of a level are from the ground."""
        (first, last), columns = spans

        def row(number: int) -> None:
            side, rows = PATCH << level, (number, number + 1)
            patch_errors(self.heights, 1 << level, side, rows, columns, errors)

        list(self._pool.map(row, range(first, last)))


def _beside(values: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the mean of what is known around each value; NaN where nothing is."""
    known, counts = np.pad(np.where(missing, 0.0, values), 1), np.pad(1.0 - missing, 1)
    for axis in (0, 1):
        known, counts = (
            sums[:-2] + sums[1:-1] + sums[2:]
            for sums in (np.moveaxis(known, axis, 0), np.moveaxis(counts, axis, 0))
        )
        known, counts = np.moveaxis(known, 0, axis), np.moveaxis(counts, 0, axis)
    means = np.full_like(values, np.nan)
    np.divide(known, counts, out=means, where=counts > 0)
    return means


def _pairs(values: NDArray[Any], join: np.ufunc) -> NDArray[Any]:
    """Return every two by two values joined to one."""
    for _ in range(2):
        even, odd = values[::2], values[1::2]
        if len(odd) < len(even):
            odd = np.concatenate([odd, even[-1:]])
        values = np.ascontiguousarray(join(even, odd).T)
    return values

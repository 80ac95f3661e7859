"""Draws of hypothesis around a height map: the map twice (ours, the oracle's), places, boxes."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from terrain_physics import AABB, HeightMap
from tests.oracles.heightmap import Map

AROUND = 6
"""Cells outside the map that a window of the oracle reaches beyond it, on every side."""

_SPLITS = ["a-c", "b-d", "alternating", "shortest", "table"]


class MapCase(NamedTuple):
    """One map, as the library and as the oracle see it."""

    land: HeightMap
    oracle: Map

    @property
    def window(self) -> tuple[int, int, int, int]:
        """The cells to look at: rows from, to, columns from, to."""
        oracle = self.oracle
        return -AROUND, oracle.rows + AROUND, -AROUND, oracle.columns + AROUND


def both(heights: Any, *, diagonal: Any = "a-c", **options: Any) -> MapCase:
    """Return one map twice."""
    land = HeightMap(heights, diagonal=diagonal, **options)
    size = options.get("cell_size", 1.0)
    sizes = size if isinstance(size, tuple) else (size, size)
    oracle = Map(heights, split=diagonal, **(options | {"cell_size": sizes}))
    return MapCase(land, oracle)


@st.composite
def maps(
    draw: st.DrawFn, *, exact: bool = False, holes: bool | None = None, border: str | None = None
) -> MapCase:
    """Return any small map; ``exact``: all its coordinates are short binary fractions."""
    rows, columns = draw(st.integers(2, 6)), draw(st.integers(2, 6))
    levels = st.integers(-3, 3).map(float)
    if not exact:
        levels |= st.floats(-100.0, 100.0, width=32) | st.sampled_from([1e30, -1e30, 65535.0])
    with_holes = draw(st.integers(0, 2)) == 0 if holes is None else holes
    if with_holes:
        levels |= st.just(np.nan)
    heights = np.array([[draw(levels) for _ in range(columns)] for _ in range(rows)])
    split = draw(st.sampled_from(_SPLITS))
    diagonal: Any = split
    if split == "table":
        cells = (rows - 1) * (columns - 1)
        table = draw(st.lists(st.booleans(), min_size=cells, max_size=cells))
        diagonal = np.array(table).reshape(rows - 1, columns - 1)
    sizes: list[Any] = [1.0, 0.5, (2.0, 0.25)]
    origins = [(0.0, 0.0, 0.0), (-3.5, 2.0, 1.25), (1e6, -512.0, -1e6)]
    scales = [1.0, -1.0, 0.5]
    if not exact:
        sizes += [0.1, (0.3, 7.7), (1e-3, 1e3)]
        origins += [(0.1, 0.2, -0.3), (-999999.9, 1e5 / 3, 1e6 / 7)]
        scales += [-2.5, 0.1, 1 / 65535]
    return both(
        heights,
        diagonal=diagonal,
        cell_size=draw(st.sampled_from(sizes)),
        origin=draw(st.sampled_from(origins)),
        height_scale=draw(st.sampled_from(scales)),
        border=border or draw(st.sampled_from(["extend", "open"])),
    )


@st.composite
def coordinates(draw: st.DrawFn, case: MapCase, axis: int, part: float = 2.0**-20) -> float:
    """Return x (axis 0) or z (axis 2): on a line of samples, beside one, or anywhere near.

    Beside means by a part of a cell, or by the last bit for a part of 0.
    """
    oracle = case.oracle
    count = oracle.columns if axis == 0 else oracle.rows
    near = AROUND - 3  # boxes are widened by up to a cell, and touch the next
    kind = draw(st.sampled_from(["line", "beside", "eighth", "any"]))
    cell = draw(st.integers(-near, count + near))
    row_column = (0, cell) if axis == 0 else (cell, 0)
    line = oracle.point(*row_column)[axis]
    if kind == "line":
        return line
    size = oracle.cell_size[axis // 2]
    if kind == "beside":
        side = draw(st.sampled_from([-1.0, 1.0]))
        return line + side * part * size if part else float(np.nextafter(line, side * np.inf))
    within = (
        draw(st.integers(0, 8)) / 8 if kind == "eighth" else draw(st.floats(0.0, 1.0, width=16))
    )
    return line + within * size  # exact on an exact map


@st.composite
def places(draw: st.DrawFn, case: MapCase) -> tuple[float, float]:
    """Return x and z: anywhere near, or on a diagonal of a cell, or just beside one."""
    x, z = draw(coordinates(case, 0)), draw(coordinates(case, 2))
    if draw(st.booleans()):
        return x, z
    oracle = case.oracle
    row = draw(st.integers(-1, oracle.rows))
    column = draw(st.integers(-1, oracle.columns))
    along = draw(st.integers(0, 8)) / 8
    across = draw(st.sampled_from([along, 1.0 - along]))
    across += draw(st.sampled_from([0.0, 0.0, 2.0**-20, -(2.0**-20)]))
    start = oracle.point(row, column)
    return start[0] + along * oracle.cell_size[0], start[2] + across * oracle.cell_size[1]


@st.composite
def boxes(draw: st.DrawFn, case: MapCase) -> AABB:
    """Return a box near the map: points and sheets too, sides on samples more often than not."""
    corners: list[list[float]] = [[], []]
    known = [float(h) for h in case.oracle.heights.ravel() if not np.isnan(h)] or [0.0]
    for axis in range(3):
        if axis == 1:
            level = st.sampled_from(known).map(
                lambda h: case.oracle.origin[1] + case.oracle.height_scale * h
            )
            beside = st.tuples(level, st.sampled_from([-np.inf, np.inf])).map(
                lambda pair: float(np.nextafter(*pair))
            )
            place = level | beside | st.floats(-200.0, 200.0)
        else:
            place = coordinates(case, axis, 0.0)
        pair = sorted([draw(place), draw(place)])
        for corner, value in zip(corners, pair, strict=True):
            corner.append(value)
    return AABB(*corners)

"""Checks of a height map's arguments: they become checked arrays, or a clear error."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.surface.shapes import FARTHEST
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.heightmap.cells import Ranges
from terrain_physics.heightmap.survey import Survey, survey

# The least thickness: ground without any would be a skin.
TINY = 1e-9

_FAR = float(np.float32(FARTHEST))  # what becomes this or more may be so far

DIAGONALS = ("a-c", "b-d", "alternating", "shortest")
_CODES = (kernels.DIAGONAL_AC, kernels.DIAGONAL_BD, kernels.DIAGONAL_ALTERNATING)


def checked_heights(heights: ArrayLike, *, copy: bool) -> tuple[NDArray[np.float32], Survey]:
    """Return (heights as float32, their survey); without ``copy`` they may be the caller's."""
    checks.refuse_path("heights", heights, "HeightMap.load")
    if not copy:
        if not (
            isinstance(heights, np.ndarray)
            and heights.dtype == np.float32
            and heights.flags.c_contiguous
            and heights.flags.aligned
            and not checks.is_masked(heights)
        ):
            raise TypeError(
                "heights must be an aligned C-contiguous float32 array to be borrowed (copy=False)"
            )
        wide = np.asarray(heights)
    else:
        wide = checks.real_numbers("heights", checks.masked_as_nan(heights))
    if wide.ndim != 2 or min(wide.shape) < 2:
        raise ValueError(
            f"heights must have shape (rows, columns), at least (2, 2), got {wide.shape}"
        )
    result = as_float32(wide) if copy else wide.view()
    found = survey(result)
    refuse_far_heights(wide, found.least, found.greatest)
    return result, found


def as_float32(wide: NDArray[Any]) -> NDArray[np.float32]:
    """Return a new float32 array; numbers that do not fit become infinite."""
    with np.errstate(over="ignore"):
        return np.array(wide, dtype=np.float32, order="C")


def refuse_far_heights(given: NDArray[Any], least: float, greatest: float) -> None:
    """Raise ValueError naming the first height of 1e38 m or more, also one that is infinite.

    ``least`` and ``greatest`` are those as float32; in the other order if there is none.
    """
    if not (least <= -_FAR or greatest >= _FAR):
        return
    bad = np.abs(given) >= np.float64(FARTHEST)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        got = f"got {given[where]}" + (f" at {list(where)}" if where else "")
        if np.isinf(given[where]):
            raise ValueError(f"heights must be finite or NaN for a hole, {got}")
        raise ValueError(
            f'heights must be below {FARTHEST:g} m (from there on a number means "no data") or NaN '
            f"for a hole, {got}"
        )


def checked_cell_size(cell_size: Any) -> tuple[float, float]:
    """Return the size of a cell along x and z."""
    kinds = (tuple, list, glm.vec2, glm.dvec2)
    if not isinstance(cell_size, kinds) and getattr(cell_size, "ndim", 0) == 0:
        size = checks.positive("cell_size", cell_size)
        return size, size
    sizes = list(cell_size)
    if len(sizes) != 2:
        raise ValueError(f"cell_size must be a number or (x, z), got {checks.shorten(cell_size)}")
    return checks.positive("cell_size[0]", sizes[0]), checks.positive("cell_size[1]", sizes[1])


def refuse_overflow(
    bounds: tuple[float, float],
    scale: float,
    origin: Floats3,
    cell_size: tuple[float, float],
    samples: tuple[int, int],
) -> None:
    """Refuse ground that is too far off, and samples that coincide in float64.

    ``bounds`` are the least and the greatest height, in the other order if there is none.
    """
    least, greatest = bounds
    if least <= greatest:
        largest = max(abs(least), abs(greatest))
        if not largest < FARTHEST:
            raise ValueError(f"heights must be below {FARTHEST:g} m, got {largest}")
        if not abs(scale) * largest + abs(origin[1]) < FARTHEST:
            raise ValueError(
                f"height_scale and origin.y must keep heights below {FARTHEST:g} m, "
                f"got {scale}, {origin[1]}"
            )
    for axis, start, size, count in zip("zx", origin[::-2], cell_size[::-1], samples, strict=True):
        far = max(abs(start), abs(start + size * count))
        if not (size >= 1e-40 + far * 2.0**-50 and far < FARTHEST):
            raise ValueError(
                "cell_size and origin must keep samples apart and below "
                f"{FARTHEST:g} m along {axis}, got {size} and {start}"
            )


def checked_diagonal(
    diagonal: str | ArrayLike, heights: NDArray[np.float32]
) -> tuple[int, NDArray[np.bool_] | None]:
    """Return the kind of diagonal, and the table of cells split from b to d if there is one."""
    if isinstance(diagonal, str):
        kind = checks.choice("diagonal", diagonal, DIAGONALS)
        return diagonal_code(kind), shorter_diagonals(heights) if kind == "shortest" else None
    table = bool_cells("diagonal", diagonal, heights, ", ".join(map(repr, DIAGONALS)))
    return kernels.DIAGONAL_TABLE, table


def diagonal_code(name: str) -> int:
    """Return the kind of a diagonal by its name; that of "shortest" is a table."""
    return kernels.DIAGONAL_TABLE if name == "shortest" else _CODES[DIAGONALS.index(name)]


def diagonal_name(code: int, *, follows_heights: bool) -> str | None:
    """Return the name of a kind of diagonal; None for a table that was given."""
    if code == kernels.DIAGONAL_TABLE:
        return DIAGONALS[-1] if follows_heights else None
    return DIAGONALS[_CODES.index(code)]


def shorter_diagonals(heights: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which cells are split from b to d because that line is the shorter one."""
    # Both lines span the same cell, so the one with the smaller rise is the shorter.
    wide = heights.astype(np.float64)
    rise_ac = np.abs(wide[1:, :-1] - wide[:-1, 1:])
    rise_bd = np.abs(wide[1:, 1:] - wide[:-1, :-1])
    return np.asarray(rise_bd < rise_ac)


def bool_cells(
    name: str, value: ArrayLike, heights: NDArray[np.float32], others: str = ""
) -> NDArray[np.bool_]:
    """Return an array of bool with a value for each cell."""
    try:
        table = checks.copied(name, value)
    except ValueError:  # ragged
        table = np.array(None)
    cells = (heights.shape[0] - 1, heights.shape[1] - 1)
    if table.dtype != np.bool_ or table.shape != cells:
        rule = f"one of {others} or an array" if others else "an array"
        raise ValueError(
            f"{name} must be {rule} of bool of "
            f"shape {cells}, got dtype {table.dtype} of shape {table.shape}"
        )
    return table


def hole_cells(value: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return marks of holes, broadcast to a shape of cells."""
    given = checks.copied("holes", value)
    if given.dtype != np.bool_:
        raise TypeError(f"holes must be bool, got dtype {given.dtype}")
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise ValueError(f"holes must have shape {shape}, got {given.shape}") from None


def basic_index(index: Any, shape: tuple[int, ...]) -> tuple[int | slice, int | slice]:
    """Return an index of two axes as whole numbers and slices."""
    parts = index if isinstance(index, tuple) else (index,)
    if any(part is Ellipsis for part in parts):
        at = next(k for k, part in enumerate(parts) if part is Ellipsis)
        parts = (*parts[:at], *[slice(None)] * (3 - len(parts)), *parts[at + 1 :])
    parts = (*parts, *[slice(None)] * (2 - len(parts)))
    if len(parts) != 2:
        raise IndexError(f"index must have at most two axes, got {checks.shorten(index)}")
    result: list[int | slice] = []
    for part, count in zip(parts, shape, strict=True):
        if isinstance(part, slice):
            start, stop, step = part.indices(count)
            if step < 0:
                raise IndexError(f"index must not step backward, got {checks.shorten(index)}")
            result.append(slice(start, max(stop, start), step))
            continue
        try:
            place = checks.whole("index", part, -count, count - 1)
        except (TypeError, ValueError) as reason:
            raise IndexError(
                f"index must be [row, column], whole numbers in {shape} or slices, got "
                f"{checks.shorten(index)} (places in meters: height_at(x, z), materials.at(x, z))"
            ) from reason
        result.append(place % count)
    return result[0], result[1]


def checked_samples(heights: NDArray[Any], frame: Sequence[float]) -> NDArray[np.float32]:
    """Return heights as a map may hold them. The frame: origin, cell size and height scale."""
    new = as_float32(heights)
    least = float(np.fmin.reduce(new, axis=None, initial=np.inf))
    greatest = float(np.fmax.reduce(new, axis=None, initial=-np.inf))
    refuse_far_heights(heights, least, greatest)
    x0, y0, z0, cell_x, cell_z, scale = frame
    refuse_overflow((least, greatest), scale, (x0, y0, z0), (cell_x, cell_z), (1, 1))
    return new


def edited(index: Any, shape: tuple[int, ...]) -> tuple[Any, Ranges]:
    """Return an index of slices or a mask, and the rows and columns from first to last there."""
    if not isinstance(index, np.ndarray) or index.dtype != np.bool_ or index.ndim != 2:
        rows, columns = basic_index(index, shape)
        return (rows, columns), (_span_of(rows), _span_of(columns))
    index = index.copy()
    if index.shape != shape:
        raise IndexError(f"index must have shape {shape} where it is bool, got {index.shape}")
    down, across = np.flatnonzero(index.any(axis=1)), np.flatnonzero(index.any(axis=0))
    if down.size == 0:
        return index, (slice(0, 0), slice(0, 0))
    rows, columns = (
        slice(int(down[0]), int(down[-1]) + 1),
        slice(int(across[0]), int(across[-1]) + 1),
    )
    return index, (rows, columns)


def _span_of(place: int | slice) -> slice:
    """Return the range from the first place of an index to after its last one."""
    if isinstance(place, slice):
        count = len(range(place.start, place.stop, place.step))
        return slice(place.start, place.start + (count - 1) * place.step + 1)
    return slice(place, place + 1)

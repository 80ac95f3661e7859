"""A height map as solid ground: its triangles, heights and normals."""

import os
from collections.abc import Sequence
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from terrain_physics import _arrays
from terrain_physics._arrays import Floats3
from terrain_physics._kernels import grid as kernels
from terrain_physics._kernels.triangles_in import triangles_in
from terrain_physics.contacts import Triangles
from terrain_physics.shapes import AABB

_Many = NDArray[Any] | Sequence[float]
MOST_TRIANGLES = 20_000_000
_DIAGONALS = ("a-c", "b-d", "alternating", "shortest")

# With holes, ground is a crust: whoever falls through a hole must get out from under the edge.
THICKNESS_WITH_HOLES = 2.0


class HeightMap:
    """Solid ground over a grid of samples.

    ``heights[row, column]`` is the height at x = ``origin.x + column * cell_size``,
    z = ``origin.z + row * cell_size``; y = ``origin.y + height_scale * height``. Two triangles span
    each cell. NaN heights are holes: a cell with a hole at a corner has no ground.

    Parameters
    ----------
    heights : array_like, shape (rows, columns), at least (2, 2)
        Any real numbers; kept as float32, which holds 16-bit samples exactly. Masked numbers are
        holes.
    cell_size : float or (float, float), default 1.0
        Size of a cell in meters, along x and z.
    height_scale : float, default 1.0
        Meters per unit of height, not 0.
    origin : three numbers, default (0, 0, 0)
        Where sample (0, 0) of height 0 lies, in meters.
    border : {"extend", "open"}, default "extend"
        Outside the map the border's heights go on for ever, or there is nothing.
    diagonal : {"a-c", "b-d", "alternating", "shortest"} or array of bool, default "a-c"
        How cells are split: from a (row + 1, column) to c (row, column + 1), the other way,
        a-c where row + column is even, or along the shorter line (a-c when equal). An array has a
        value for each cell, True for b-d; cells outside the map are split as those at its border.
    thickness : float, optional
        How deep below its surface the ground is solid, in meters. Default: any depth; with holes 2.
    copy : bool, default True
        False borrows a float32 array instead of copying it; the caller must not change it.

    Raises
    ------
    ValueError, TypeError
        For arrays that are ragged, smaller than 2 x 2, not numeric or infinite, and for parameters
        outside the stated rules.

    Examples
    --------
    >>> land = HeightMap([[0, 0, 0], [0, 2, 0], [0, 0, 0]])
    >>> land.height_at(1, 1), land.height_at(0.75, 1)
    (2.0, 1.5)
    >>> land.cell_count
    (2, 2)
    >>> len(land.triangles_in(AABB((0.2, 0, 0.2), (0.8, 2, 0.8))))
    2
    """

    __slots__ = ("_flips", "_frame", "_heights", "_origin")

    def __init__(
        self,
        heights: ArrayLike,
        *,
        cell_size: float | tuple[float, float] = 1.0,
        height_scale: float = 1.0,
        origin: Any = (0.0, 0.0, 0.0),
        border: str = "extend",
        diagonal: str | ArrayLike = "a-c",
        thickness: float | None = None,
        copy: bool = True,
    ) -> None:
        self._heights = _checked_heights(heights, copy=copy)
        cell_x, cell_z = _checked_cell_size(cell_size)
        scale = _arrays.finite("height_scale", height_scale)
        if scale == 0.0:
            raise ValueError("height_scale must not be 0, got 0.0")
        self._origin = _arrays.vector("origin", origin)
        _refuse_overflow(self._heights, scale, self._origin, (cell_x, cell_z))
        extend = _arrays.choice("border", border, ("extend", "open")) == "extend"
        if thickness is not None:
            depth = _arrays.positive("thickness", thickness)
        else:
            depth = THICKNESS_WITH_HOLES if np.isnan(self._heights).any() else np.inf
        kind, self._flips = _checked_diagonal(diagonal, self._heights)
        self._frame = np.array(
            [*self._origin, cell_x, cell_z, scale, float(extend), float(kind), depth]
        )
        for values in (self._heights, self._flips, self._frame):
            values.setflags(write=False)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        cell_size: float | tuple[float, float] = 1.0,
        height_scale: float = 1.0,
        origin: Any = (0.0, 0.0, 0.0),
        border: str = "extend",
        diagonal: str | ArrayLike = "a-c",
        thickness: float | None = None,
        **file_options: Any,
    ) -> Self:
        """Return a height map read from a file.

        Parameters
        ----------
        path : path
            ``.npy``, ``.r16`` or ``.raw`` (16 bit), ``.hgt``, ``.png`` (8 or 16 bit gray) or
            ``.tif``/``.tiff`` (one channel). Pictures need the extra ``images``.
        cell_size, height_scale, origin, border, diagonal, thickness
            As for `HeightMap`.
        **file_options
            As for `terrain_physics.loaders.load_heights`: ``height_range``, ``flip``, ``shape``,
            ``byte_order``.

        Returns
        -------
        HeightMap

        Raises
        ------
        FileNotFoundError, ValueError
            Naming the file and what is wrong with it.
        ImportError
            If the file is a picture and Pillow is missing, naming the extra to install.
        """
        from terrain_physics.loaders import load_heights

        return cls(
            load_heights(path, **file_options),
            cell_size=cell_size,
            height_scale=height_scale,
            origin=origin,
            border=border,
            diagonal=diagonal,
            thickness=thickness,
        )

    @property
    def heights(self) -> NDArray[np.float32]:
        """The samples, before scale and origin; read-only."""
        return self._heights

    @property
    def sample_count(self) -> tuple[int, int]:
        """The number of samples, rows by columns."""
        return self._heights.shape[0], self._heights.shape[1]

    @property
    def cell_count(self) -> tuple[int, int]:
        """The number of cells, rows by columns; one less than samples."""
        return self._heights.shape[0] - 1, self._heights.shape[1] - 1

    @property
    def cell_size(self) -> tuple[float, float]:
        """The size of a cell in meters, along x and z."""
        return float(self._frame[3]), float(self._frame[4])

    @property
    def height_scale(self) -> float:
        """Meters per unit of height."""
        return float(self._frame[5])

    @property
    def origin(self) -> glm.vec3:
        """Where sample (0, 0) of height 0 lies, in meters."""
        return glm.vec3(self._origin)

    @property
    def kernel_arrays(
        self,
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.float64]]:
        """What the compiled functions take for a map: heights, diagonals, frame. Read-only."""
        return self._heights, self._flips, self._frame

    @overload
    def height_at(self, x: float, z: float) -> float: ...
    @overload
    def height_at(self, x: _Many, z: _Many | float) -> NDArray[np.float64]: ...
    @overload
    def height_at(self, x: float, z: _Many) -> NDArray[np.float64]: ...
    def height_at(self, x: Any, z: Any) -> Any:
        """Return the height of the surface in meters.

        Parameters
        ----------
        x, z : float or array_like
            Where, in meters; arrays are broadcast.

        Returns
        -------
        float or ndarray of float64
            Exactly the height of the triangle there. NaN in holes, and outside an open border.

        Raises
        ------
        ValueError
            For NaN and infinity.
        """
        if isinstance(x, (float, int)) and isinstance(z, (float, int)):
            x, z = _arrays.finite("x", x), _arrays.finite("z", z)
            return kernels.height_at(self._heights, self._flips, self._frame, x, z)
        xs, zs = _arrays.broadcast("x", x, "z", z)
        out = np.empty(xs.shape)
        kernels.heights_at(
            self._heights, self._flips, self._frame, xs.ravel(), zs.ravel(), out.reshape(-1)
        )
        return out if out.ndim else float(out)

    @overload
    def normal_at(self, x: float, z: float) -> glm.vec3: ...
    @overload
    def normal_at(self, x: _Many, z: _Many | float) -> NDArray[np.float64]: ...
    @overload
    def normal_at(self, x: float, z: _Many) -> NDArray[np.float64]: ...
    def normal_at(self, x: Any, z: Any) -> Any:
        """Return the unit normal of the surface.

        Parameters
        ----------
        x, z : float or array_like
            Where, in meters; arrays are broadcast.

        Returns
        -------
        glm.vec3 or ndarray of float64, shape (..., 3)
            The normal of the triangle there, of one of them where several meet. NaN in holes, and
            outside an open border.

        Raises
        ------
        ValueError
            For NaN and infinity.
        """
        if isinstance(x, (float, int)) and isinstance(z, (float, int)):
            x, z = _arrays.finite("x", x), _arrays.finite("z", z)
            return glm.vec3(kernels.normal_at(self._heights, self._flips, self._frame, x, z)) + 0.0
        xs, zs = _arrays.broadcast("x", x, "z", z)
        out = np.empty((*xs.shape, 3))
        kernels.normals_at(
            self._heights, self._flips, self._frame, xs.ravel(), zs.ravel(), out.reshape(-1, 3)
        )
        return out + 0.0 if out.ndim > 1 else glm.vec3(out) + 0.0

    def triangles_in(self, aabb: AABB, *, margin: float = 0.1) -> Triangles:
        """Return the triangles within a box.

        Parameters
        ----------
        aabb : AABB
            In meters.
        margin : float, default 0.1
            The box is widened by this much on every side, in meters; >= 0.

        Returns
        -------
        Triangles
            Both triangles of every cell whose closed box (its area by its span of heights) meets
            the widened box, ordered by row, column and half. Cells outside the map have the id -1.

        Raises
        ------
        ValueError
            For more than 20 million triangles or 100 million cells.
        """
        if not isinstance(aabb, AABB):
            raise TypeError(f"aabb must be an AABB, got {_arrays.shorten(aabb)}")
        wider = _arrays.non_negative("margin", margin)
        x0, y0, z0 = aabb.lower64
        x1, y1, z1 = aabb.upper64
        count, vertices, normals, ids = triangles_in(
            self._heights,
            self._flips,
            self._frame,
            (x0 - wider, y0 - wider, z0 - wider),
            (x1 + wider, y1 + wider, z1 + wider),
            MOST_TRIANGLES,
        )
        if count > MOST_TRIANGLES:
            raise ValueError(f"aabb must hold at most {MOST_TRIANGLES} triangles, got {aabb}")
        return Triangles(vertices, normals + 0.0, ids)

    def __repr__(self) -> str:
        rows, columns = self.sample_count
        return f"<HeightMap: {rows} x {columns} samples, cells of {self.cell_size} m>"

    def __getstate__(self) -> tuple[Any, ...]:
        return self._heights, self._flips, self._frame, self._origin

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._heights, self._flips, self._frame, self._origin = state
        for values in (self._heights, self._flips, self._frame):
            values.setflags(write=False)


def _checked_heights(heights: ArrayLike, *, copy: bool) -> NDArray[np.float32]:
    if not copy:
        if not (
            isinstance(heights, np.ndarray)
            and heights.dtype == np.float32
            and heights.flags.c_contiguous
            and not isinstance(heights, np.ma.MaskedArray)
        ):
            raise TypeError(
                "heights must be a C-contiguous float32 array to be borrowed (copy=False)"
            )
        wide = np.asarray(heights)
    else:
        if isinstance(heights, np.ma.MaskedArray):
            heights = np.ma.filled(heights.astype(np.float64), np.nan)
        wide = _arrays.real_array("heights", heights)
    if wide.ndim != 2 or min(wide.shape) < 2:
        raise ValueError(
            f"heights must have shape (rows, columns), at least (2, 2), got {wide.shape}"
        )
    # What does not fit float32 turns infinite here, and is refused below with the rest.
    with np.errstate(over="ignore"):
        result = np.array(wide, dtype=np.float32, order="C") if copy else wide.view()
    bad = np.isinf(result)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"heights must be finite (within float32) or NaN for a hole, "
            f"got {wide[row, column]} at [{row}, {column}]"
        )
    return result


def _checked_cell_size(cell_size: Any) -> tuple[float, float]:
    kinds = (tuple, list, glm.vec2, glm.dvec2)
    if not isinstance(cell_size, kinds) and getattr(cell_size, "ndim", 0) == 0:
        size = _arrays.positive("cell_size", cell_size)
        return size, size
    sizes = list(cell_size)
    if len(sizes) != 2:
        raise ValueError(f"cell_size must be a number or (x, z), got {_arrays.shorten(cell_size)}")
    return _arrays.positive("cell_size[0]", sizes[0]), _arrays.positive("cell_size[1]", sizes[1])


def _refuse_overflow(
    heights: NDArray[np.float32], scale: float, origin: Floats3, cell_size: tuple[float, float]
) -> None:
    """Refuse maps whose slopes overflow, or whose samples fall together in float64."""
    largest = float(np.fmax.reduce(np.abs(heights), axis=None))  # NaN if all samples are holes
    if abs(scale) * largest + abs(origin[1]) >= 1e100:
        raise ValueError(
            f"height_scale and origin.y must keep heights below 1e100 m, got {scale}, {origin[1]}"
        )
    for axis, start, size, samples in zip(
        "zx", origin[::-2], cell_size[::-1], heights.shape, strict=True
    ):
        far = max(abs(start), abs(start + size * samples))
        if not (size >= 1e-40 + far * 2.0**-50 and far < 1e100):
            raise ValueError(
                f"cell_size and origin must keep samples apart and below 1e100 m along {axis}, "
                f"got {size} and {start}"
            )


def _checked_diagonal(
    diagonal: str | ArrayLike, heights: NDArray[np.float32]
) -> tuple[int, NDArray[np.bool_]]:
    """Return the kind of diagonal, and the table of cells split from b to d if there is one."""
    if isinstance(diagonal, str):
        kind = _arrays.choice("diagonal", diagonal, _DIAGONALS)
        if kind != "shortest":
            code = (kernels.DIAGONAL_AC, kernels.DIAGONAL_BD, kernels.DIAGONAL_ALTERNATING)
            return code[_DIAGONALS.index(kind)], np.zeros((1, 1), dtype=np.bool_)
        # Both lines span the same cell, so the one with the smaller rise is the shorter.
        wide = heights.astype(np.float64)
        rise_ac = np.abs(wide[1:, :-1] - wide[:-1, 1:])
        rise_bd = np.abs(wide[1:, 1:] - wide[:-1, :-1])
        return kernels.DIAGONAL_TABLE, np.ascontiguousarray(rise_bd < rise_ac)
    try:
        table = np.array(diagonal)
    except ValueError:  # ragged
        table = np.array(None)
    cells = (heights.shape[0] - 1, heights.shape[1] - 1)
    if table.dtype != np.bool_ or table.shape != cells:
        raise ValueError(
            f"diagonal must be one of {', '.join(map(repr, _DIAGONALS))} or an array of bool of "
            f"shape {cells}, got dtype {table.dtype} of shape {table.shape}"
        )
    return kernels.DIAGONAL_TABLE, np.ascontiguousarray(table)

"""A height map as solid ground: its triangles, heights and normals."""

import os
from collections.abc import Sequence
from math import isfinite
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._checks import Floats3
from terrain_physics._kernels._jit import Direct
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.triangles_in import triangles_in
from terrain_physics.geometry.shapes import AABB
from terrain_physics.heightmap.checks import (
    TINY,
    bool_cells,
    checked_cell_size,
    checked_diagonal,
    checked_heights,
    checked_names,
    material_cells,
    refuse_overflow,
)
from terrain_physics.heightmap.contacts import MapContacts
from terrain_physics.heightmap.export import MapExport
from terrain_physics.heightmap.rays import MapRays
from terrain_physics.heightmap.storage import THICKNESS_WITH_HOLES
from terrain_physics.heightmap.sweeps import MapSweeps
from terrain_physics.surface.results import Triangles

_Many = NDArray[Any] | Sequence[float]
MOST_TRIANGLES = 20_000_000
_HEIGHT, _NORMAL = Direct(kernels.height_at), Direct(kernels.normal_at)


class HeightMap(MapContacts, MapSweeps, MapRays, MapExport):
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
        How deep below its surface the ground is solid, in meters. Default: any depth; from the
        first hole on 2.
    holes : array_like of bool, shape of cells, optional
        Cells without ground, besides those with a NaN at a corner.
    materials : array_like of whole numbers from 0 to 255, or of names, shape of cells, optional
        What each cell is made of; at first all 0.
    material_names : sequence of str, optional
        The names of materials 0, 1, ...; then there are no others.
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

    __slots__ = ("_origin",)

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
        holes: ArrayLike | None = None,
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
        copy: bool = True,
    ) -> None:
        samples = checked_heights(heights, copy=copy)
        cell_x, cell_z = checked_cell_size(cell_size)
        scale = _checks.finite("height_scale", height_scale)
        if scale == 0.0:
            raise ValueError("height_scale must not be 0, got 0.0")
        self._origin = _checks.vector("origin", origin)
        refuse_overflow(samples, scale, self._origin, (cell_x, cell_z), samples.shape)
        extend = _checks.choice("border", border, ("extend", "open")) == "extend"
        marked = None if holes is None else bool_cells("holes", holes, samples)
        if thickness is not None:
            depth = _checks.between("thickness", thickness, TINY, np.inf)
        else:
            has_holes = np.isnan(samples).any() or (marked is not None and marked.any())
            depth = THICKNESS_WITH_HOLES if has_holes else np.inf
        kind, flipped = checked_diagonal(diagonal, samples)
        names = None if material_names is None else checked_names(material_names)
        cells = (samples.shape[0] - 1, samples.shape[1] - 1)
        made_of = None if materials is None else material_cells(materials, cells, names=names)
        self._hold(
            samples,
            (*self._origin, cell_x, cell_z, scale, float(extend), float(kind), depth),
            flipped,
            marked,
            follows_heights=isinstance(diagonal, str) and diagonal == "shortest",
            thickens=thickness is None and depth == np.inf,
            own=copy,
        )
        self._materials, self._material_names = made_of, names

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
        holes: ArrayLike | None = None,
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
        **file_options: Any,
    ) -> Self:
        """Return a height map read from a file.

        Parameters
        ----------
        path : path
            ``.npy``, ``.r16`` or ``.raw`` (16 bit), ``.hgt``, ``.dds`` (one channel, not
            compressed), ``.png`` (8 or 16 bit gray) or ``.tif``/``.tiff`` (one channel). The last
            two need the extra ``images``.
        cell_size, height_scale, origin, border, diagonal, thickness
            As for `HeightMap`.
        holes, materials, material_names
            As for `HeightMap`; no file of heights holds them, see `save`.
        **file_options
            As for `terrain_physics.heightmap.files.load_heights`: ``height_range``, ``flip``,
            ``shape``, ``byte_order``.

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
        from terrain_physics.heightmap.files import load_heights

        return cls(
            load_heights(path, **file_options),
            cell_size=cell_size,
            height_scale=height_scale,
            origin=origin,
            border=border,
            diagonal=diagonal,
            thickness=thickness,
            holes=holes,
            materials=materials,
            material_names=material_names,
        )

    @property
    def heights(self) -> NDArray[np.float32]:
        """The samples, before scale and origin; read-only, and up to date until the next edit."""
        view = self._heights.view()
        view.setflags(write=False)
        return view

    def __array__(
        self,
        dtype: Any = None,
        copy: bool | None = None,  # noqa: FBT001 NumPy calls it so
    ) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a HeightMap must be copied to become an array; see `heights`")
        return np.array(self._heights, dtype=dtype)

    @property
    def sample_count(self) -> tuple[int, int]:
        """The number of samples, rows by columns."""
        return self._heights.shape[0], self._heights.shape[1]

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
            if not (type(x) is type(z) is float and isfinite(x + z)):  # the sum may overflow
                x, z = _checks.finite("x", x), _checks.finite("z", z)
            with self._lock:
                heights, cells, _, frame = self._views
                return _HEIGHT.call(heights, cells, frame, x, z)
        heights_there = self.heights_at(x, z)
        return heights_there if heights_there.ndim else float(heights_there)

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
            if not (type(x) is type(z) is float and isfinite(x + z)):
                x, z = _checks.finite("x", x), _checks.finite("z", z)
            with self._lock:
                heights, cells, _, frame = self._views
                return glm.vec3(_NORMAL.call(heights, cells, frame, x, z)) + 0.0
        normals_there = self.normals_at(x, z)
        return normals_there if normals_there.ndim > 1 else glm.vec3(normals_there)

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
        _checks.instance("aabb", aabb, AABB)
        wider = _checks.non_negative("margin", margin)
        x0, y0, z0 = aabb.lower64
        x1, y1, z1 = aabb.upper64
        with self.reading() as (heights, cells, _, frame):
            count, vertices, normals, ids = triangles_in(
                heights,
                cells,
                frame,
                (x0 - wider, y0 - wider, z0 - wider),
                (x1 + wider, y1 + wider, z1 + wider),
                MOST_TRIANGLES,
            )
        if count > MOST_TRIANGLES:
            raise ValueError(f"aabb must hold at most {MOST_TRIANGLES} triangles, got {aabb}")
        return Triangles(vertices, normals + 0.0, ids)

    @property
    def origin64(self) -> Floats3:
        """Where sample (0, 0) of height 0 lies, in meters, in float64."""
        return self._origin

    @property
    def border(self) -> str:
        """What is outside the map: "extend" or "open"."""
        return "extend" if self._frame[kernels.EXTEND] else "open"

    def __repr__(self) -> str:
        rows, columns = self.sample_count
        return f"<HeightMap: {rows} x {columns} samples, cells of {self.cell_size} m>"

    def __getstate__(self) -> tuple[Any, ...]:
        with self._lock:
            return (
                self._heights.copy(),
                self._cells.copy(),
                self._frame,
                self._follows_heights,
                self._thickens,
                None if self._materials is None else self._materials.copy(),
                self._material_names,
                self._origin,
            )

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        (
            self._heights,
            self._cells,
            self._frame,
            self._follows_heights,
            self._thickens,
            self._materials,
            self._material_names,
            self._origin,
        ) = state
        self._own = True
        self._start()

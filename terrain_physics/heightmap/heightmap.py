"""A height map as solid ground."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.types import Floats
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics._support.files import file_name
from terrain_physics._support.pictures import png, seen_from_above
from terrain_physics.geometry.shapes import AABB
from terrain_physics.heightmap.blocks import BlockBounds, block_bounds, block_levels, map_bounds
from terrain_physics.heightmap.brushes import Disc, apply, leveling, raising, smoothing
from terrain_physics.heightmap.cells import MapCells, Region
from terrain_physics.heightmap.checks import (
    TINY,
    bool_cells,
    checked_cell_size,
    checked_diagonal,
    checked_heights,
    edited,
    hole_cells,
    refuse_overflow,
)
from terrain_physics.heightmap.edits import (
    paint,
    set_heights,
    set_holes,
    set_materials,
    set_thickness,
)
from terrain_physics.heightmap.export import checked_region, mesh_arrays, whole_mesh
from terrain_physics.heightmap.files import load_placed, save_heights, warn_of_numbers
from terrain_physics.heightmap.labeled import labeled
from terrain_physics.heightmap.placement import placed, sampled
from terrain_physics.heightmap.saved import (
    KIND,
    holds_all,
    map_options,
    refuse_options,
    saved_map,
)
from terrain_physics.heightmap.solid.entries import put_entries_of_maps
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.heightmap.storage import THICKNESS_WITH_HOLES, MapStorage
from terrain_physics.heightmap.undo import MapEdit
from terrain_physics.surface.axes import AnyAxes
from terrain_physics.surface.ground_files import (
    SavedPart,
    damaged_otherwise,
    load_parts,
    save_parts,
)
from terrain_physics.surface.ground_state import Keeper, StorageKeeper
from terrain_physics.surface.materials import (
    checked_names,
    material_number,
    material_numbers,
    material_rows,
)
from terrain_physics.surface.mesh_arrays import MeshArrays, made_trimesh
from terrain_physics.surface.obj_files import write_obj
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.surface import Surface, queries_of


@public
class HeightMap(Surface):
    """Solid ground over a grid of samples.

    ``heights[row, column]`` is the height at x = ``origin.x + column * cell_size``,
    z = ``origin.z + row * cell_size``; y = ``origin.y + height_scale * height``. Two triangles span
    each cell. NaN heights are holes: a cell with a hole at a corner has no ground.

    Where its ground ends, at holes and open borders, a map has upright sides from its surface down
    to its underside, 4,096 m if the thickness is unlimited. Rays, sweeps, contacts and closest
    points meet them from outside; places inside the ground see none. The same holds for the
    underside of a map of finite thickness. Each side of a cell has an id of its own, behind those
    of the triangles: ``2 * cells + 6 * cell + k``, where ``cell`` is ``row * columns + column`` and
    k 0 to 3 for the sides towards -x, +x, -z and +z, 4 and 5 for the halves of the underside.

    Parameters
    ----------
    heights : array_like, shape (rows, columns), at least (2, 2)
        Any real numbers below 1e38; kept as float32, which holds 16-bit samples exactly. Masked
        numbers are holes.
    cell_size : float or (float, float), default 1.0
        Size of a cell in meters, along x and z.
    height_scale : float, default 1.0
        Meters per unit of height, not 0.
    origin : three numbers, default (0, 0, 0)
        Where sample (0, 0) of height 0 lies, in meters.
    border : {"extend", "open"}, default "extend"
        Outside the map the heights of the border continue without end, or there is nothing, and
        the map has sides.
    diagonal : {"a-c", "b-d", "alternating", "shortest"} or array of bool, default "a-c"
        How cells are split: from a (row + 1, column) to c (row, column + 1), the other way,
        a-c where row + column is even, or along the shorter line (a-c when equal). An array has a
        value for each cell, True for b-d; cells outside the map are split as those at its border.
    thickness : float, optional
        How deep below its surface the ground is solid, in meters. Default: unlimited; 2 once the
        map has a hole.
    holes : array_like of bool, shape of cells, optional
        Cells without ground, besides those with a NaN at a corner.
    materials : array_like of whole numbers from 0 to 255, or of names, shape of cells, optional
        The material of each cell; at first all 0.
    material_names : sequence of str, optional
        The names of materials 0, 1, ...; then there are no others.
    copy : bool, default True
        False borrows a float32 array instead of copying it; the caller must not change it.

    Raises
    ------
    ValueError, TypeError
        For arrays that are ragged, smaller than 2 x 2, not numeric or infinite, for heights of 1e38
        m and more, which mean "no data" (NaN is a hole), and for parameters outside the stated
        rules.

    Examples
    --------
    >>> land = HeightMap([[0, 0, 0], [0, 2, 0], [0, 0, 0]])
    >>> land.height_at(1, 1), land.height_at(0.75, 1)
    (2.0, 1.5)
    >>> land.cell_count
    (2, 2)
    >>> from terrain_physics import AABB
    >>> len(land.triangles_in(AABB((0.2, 0, 0.2), (0.8, 2, 0.8))))
    2
    """

    __slots__ = ("_storage",)

    _storage: MapStorage

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
        samples, found = checked_heights(heights, copy=copy)
        cell_x, cell_z = checked_cell_size(cell_size)
        scale = checks.finite("height_scale", height_scale)
        if scale == 0.0:
            raise ValueError("height_scale must not be 0, got 0.0")
        place = checks.vector("origin", origin)
        bounds = found.least, found.greatest
        refuse_overflow(bounds, scale, place, (cell_x, cell_z), samples.shape)
        extend = checks.choice("border", border, ("extend", "open")) == "extend"
        marked = None if holes is None else bool_cells("holes", holes, samples)
        if thickness is not None:
            depth = checks.between("thickness", thickness, TINY, np.inf)
        else:
            has_holes = found.has_holes or (marked is not None and marked.any())
            depth = THICKNESS_WITH_HOLES if has_holes else np.inf
        kind, flipped = checked_diagonal(diagonal, samples)
        names = None if material_names is None else checked_names(material_names)
        cells = (samples.shape[0] - 1, samples.shape[1] - 1)
        made_of = None if materials is None else material_rows(materials, cells, names=names)
        storage = MapStorage(
            samples,
            (*place, cell_x, cell_z, scale, float(extend), float(kind), depth),
            flipped,
            marked,
            follows_heights=isinstance(diagonal, str) and diagonal == "shortest",
            thickens=thickness is None and depth == np.inf,
            own=copy,
            blocks=found.blocks,
            materials=made_of,
            material_names=names,
        )
        self._adopt(storage)

    def _adopt(self, storage: MapStorage) -> None:
        self._storage, self._queries = storage, Queries(SolidMap(storage))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        cell_size: float | tuple[float, float] | None = None,
        height_scale: float = 1.0,
        origin: Any = None,
        border: str = "extend",
        diagonal: str | ArrayLike = "a-c",
        thickness: float | None = None,
        holes: ArrayLike | None = None,
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
        height_range: Sequence[float] | None = None,
        flip: Literal["rows", "columns", "both"] | None = None,
        channel: str | None = None,
        encoding: Literal["terrarium", "mapbox"] | None = None,
        no_data: float | None = None,
        key: str | None = None,
        shape: Sequence[int] | None = None,
        byte_order: Literal["little", "big"] = "little",
        mmap: bool = False,
    ) -> Self:
        """Return a height map read from a file.

        All of it is in memory. For a map of more than about 8,000 x 8,000 samples, let
        `TiledGround.make`, or ``terrain-physics tiles IN OUT``, write a file of tiles once:
        `TiledGround.open` loads those near to players.

        Parameters
        ----------
        path : path
            ``.npy`` or ``.npz``, ``.r16`` or ``.raw`` (16 bit), ``.r32`` (floats), ``.hgt`` or
            ``.hgt.gz``, ``.asc``, ``.txt`` or ``.csv`` (a row of numbers in each line), ``.dds``
            (one channel, not compressed), ``.png`` or ``.bmp`` (gray, or see ``channel``), ``.exr``
            (the same, with the extra ``exr``), ``.tif`` or ``.tiff`` (one channel, with the extra
            ``images``). ``.ground`` holds all of a map: options must be the defaults.
        cell_size : float or (float, float), optional
            As for `HeightMap`. Default: that of a GeoTIFF or an ``.asc`` file in meters; else 1.
        origin : three numbers, optional
            As for `HeightMap`. Default: if the cell size comes from the file, the file's place of
            the first sample: x = easting, z = -northing; else (0, 0, 0). An axis that ``flip``
            reverses is counted the other way.
        height_scale, border, diagonal, thickness
            As for `HeightMap`.
        holes, materials, material_names
            As for `HeightMap`; only ``.ground`` files hold them.
        height_range : (float, float), optional
            The heights in meters of the lowest and the highest number that an 8 or 16-bit unsigned
            file can hold, of black and white in a picture: 0..255 or 0..65535 become low..high.
            Default: the numbers are heights in meters, times ``height_scale``.
        flip : {"rows", "columns", "both"}, optional
            Reverse the order of the rows, the columns or both. Row 0, the top of a picture, has the
            least z: its north is -Z unless the rows are reversed.
        channel : {"red", "green", "blue", "alpha", "gray"} or str, optional
            The channel that holds the heights of a ``.png``, ``.bmp`` or ``.exr`` (of which others
            have their own names), whatever the others and alpha are. Default: red, green and blue
            must be equal, and alpha is either opaque or 0, which is a hole.
        encoding : {"terrarium", "mapbox"}, optional
            How the red, green and blue of an elevation tile, a ``.png``, are meters.
        no_data : float, optional
            The number that means "no data", besides what the file says itself: holes.
        key : str, optional
            Which array of an ``.npz`` file that holds several.
        shape : (int, int), optional
            Rows and columns of an ``.r16``, ``.raw``, ``.r32``, ``.hgt`` or ``.hgt.gz`` file that
            is not square.
        byte_order : {"little", "big"}
            The byte order of an ``.r16``, ``.raw`` or ``.r32`` file.
        mmap : bool, default False
            Map a ``.npy`` file of float32 into memory instead of reading it. Edits copy the pages
            that they change, and the file stays as it is. The file must not change meanwhile: if
            it is cut short, the process ends.

        Returns
        -------
        HeightMap

        Raises
        ------
        FileNotFoundError, ValueError
            The message names the file and what is wrong with it. Heights of 1e38 m and more, and
            -32768 in 16 bits, are no heights: ``no_data`` makes holes of them. A ``.ground`` file
            unpacks to at most 2 GiB.
        ImportError
            If the library that reads the file is missing; the message names the extra to install.

        Warns
        -----
        UserWarning
            If the cell size of a file is not in meters, and so not used; if its own origin is so
            far off that float32 vectors are coarse there; and if the numbers of a ``.png`` or
            ``.bmp`` are taken as meters, because neither ``height_range`` nor ``height_scale`` is
            given.
        """
        options: dict[str, Any] = {
            "cell_size": cell_size,
            "height_scale": height_scale,
            "origin": origin,
            "border": border,
            "diagonal": diagonal,
            "thickness": thickness,
            "holes": holes,
            "materials": materials,
            "material_names": material_names,
        }
        file_options: dict[str, Any] = {
            "height_range": height_range,
            "flip": flip,
            "channel": channel,
            "encoding": encoding,
            "no_data": no_data,
            "key": key,
            "shape": shape,
            "byte_order": byte_order,
            "mmap": mmap,
        }
        if holds_all(path):
            given = options | file_options
            refuse_options(path, given, cls.load.__kwdefaults__ or {})
            (part,), _ = load_parts(path, KIND)
            with damaged_otherwise(path):
                storage = loaded_map(part)._storage  # noqa: SLF001 of its own kind
            terrain = cls.__new__(cls)
            terrain._adopt(storage)  # noqa: SLF001
            return terrain
        found = load_placed(path, **file_options)
        heights = found.heights
        options["cell_size"], options["origin"] = placed(
            file_name(path), found.placement, cell_size, origin
        )
        if heights.dtype == np.float32 and cls.__init__ is HeightMap.__init__:
            terrain = cls(heights, **options, copy=False)
            terrain._storage.own_heights()
        else:
            terrain = cls(heights, **options)
        if terrain.height_scale == 1.0:
            warn_of_numbers(path, found)
        return terrain

    @classmethod
    def from_function(
        cls,
        function: Callable[[Floats, Floats], ArrayLike],
        shape: tuple[int, int],
        *,
        cell_size: float | tuple[float, float] = 1.0,
        origin: Any = (0.0, 0.0, 0.0),
        **options: Any,
    ) -> Self:
        """Make a map of what a function returns for its samples, such as hills or noise.

        Parameters
        ----------
        function : callable
            Takes two arrays, the x and the z of all samples in meters, and returns their heights.
            ``np.vectorize(f)`` makes it of a function of two numbers.
        shape : (rows, columns)
            How many samples there are along z and along x.
        cell_size : float or (float, float), default 1.0
            As for `HeightMap`, along x and along z.
        origin : three numbers, default (0, 0, 0)
            As for `HeightMap`; the first sample's x and z.
        **options
            The others of `HeightMap`.

        Returns
        -------
        HeightMap

        Raises
        ------
        TypeError, ValueError
            For a shape that is not two whole numbers from 2 on, for what is no function of arrays,
            and as `HeightMap`. What the function raises is the cause.

        Examples
        --------
        >>> import numpy as np
        >>> from terrain_physics import HeightMap
        >>> hills = HeightMap.from_function(lambda x, z: 0.5 * x + z, (3, 5), cell_size=2)
        >>> hills.size, hills.height_at(4, 1)
        ((8.0, 4.0), 3.0)
        """
        heights, place = sampled(function, shape, cell_size, origin)
        return cls(heights, cell_size=cell_size, origin=place, **options)

    @classmethod
    def from_dataarray(
        cls,
        array: Any,
        *,
        cell_size: float | tuple[float, float] | None = None,
        origin: Any = None,
        **options: Any,
    ) -> Self:
        """Return a height map of an xarray.DataArray, which lies where its coordinates say.

        +X is east and -Z is north: x is the coordinate of one dimension, and z is minus that of the
        other, or the coordinate itself if that dimension is called ``z``. Coordinates may go up or
        down: each height comes to its place. Dimensions of length 1, such as a band, are left out.

        Parameters
        ----------
        array : xarray.DataArray, or any object with ``dims``, ``coords`` and ``values``
            Two dimensions. The one called ``x``, ``lon``, ``longitude``, ``easting`` or
            ``projection_x_coordinate`` runs along x, else the second. NaN, and the number that
            ``attrs["_FillValue"]`` names, are holes.
        cell_size : float or (float, float), optional
            As for `HeightMap`. Default: the steps of the coordinates, which must be meters; 1 along
            a dimension without a coordinate.
        origin : three numbers, optional
            As for `HeightMap`. Default: where the coordinates begin; (0, 0, 0) if ``cell_size`` is
            given.
        **options
            As for `HeightMap`: ``height_scale``, ``border`` and so on.

        Returns
        -------
        HeightMap

        Raises
        ------
        TypeError
            For anything else, such as a Dataset, and for lazy arrays of Dask, as of files that were
            opened in chunks.
        ValueError
            If it does not have two dimensions, for coordinates that are not evenly spaced, to a
            hundredth of a step, or not in meters (degrees, for example) without ``cell_size``; and
            as for `HeightMap`.

        Warns
        -----
        UserWarning
            If it lies so far off that float32 vectors are coarse there.

        Examples
        --------
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> dem = SimpleNamespace(  # xarray.DataArray(values, coords, dims)
        ...     values=np.array([[0, 1, 2], [3, 4, 5]]),
        ...     dims=("y", "x"),
        ...     coords={"y": [100, 130], "x": [500, 530, 560]},
        ... )
        >>> land = HeightMap.from_dataarray(dem)
        >>> land.cell_size, land.origin64
        ((30.0, 30.0), (500.0, 0.0, -130.0))
        >>> land.height_at(560, -130)
        5.0
        """
        heights, placement = labeled(array)
        if placement.trouble is not None and cell_size is None:
            raise ValueError(
                "array must have coordinates in meters (rio.reproject makes them), or be given its "
                f"cell_size in meters, but {placement.trouble}"
            )
        size, place = placed("array", placement, cell_size, origin)
        return cls(heights, cell_size=size, origin=place, **options)

    # Properties

    @property
    def heights(self) -> NDArray[np.float32]:
        """The samples, before scale and origin; read-only, and up to date until the next edit."""
        view = self._storage.heights.view()
        view.setflags(write=False)
        return view

    def __array__(
        self,
        dtype: Any = None,
        copy: bool | None = None,  # noqa: FBT001 NumPy calls it so
    ) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a HeightMap must be copied to become an array; see `heights`")
        with self._storage.lock:
            return np.array(self._storage.heights, dtype=dtype)

    @property
    def sample_count(self) -> tuple[int, int]:
        """The number of samples, rows by columns."""
        rows, columns = self._storage.heights.shape
        return rows, columns

    @property
    def cell_size(self) -> tuple[float, float]:
        """The size of a cell in meters, along x and z."""
        return self._storage.cell_size

    @property
    def height_scale(self) -> float:
        """Meters per unit of height."""
        return self._storage.height_scale

    @property
    def origin(self) -> glm.vec3:
        """Where sample (0, 0) of height 0 lies, in meters."""
        return glm.vec3(self._storage.origin)

    @property
    def cell_count(self) -> tuple[int, int]:
        """The number of cells, rows by columns; one less than samples."""
        return self._storage.cell_count

    @property
    def origin64(self) -> Floats3:
        """Where sample (0, 0) of height 0 lies, in meters, in float64."""
        return self._storage.origin

    @property
    def size(self) -> tuple[float, float]:
        """The size of the map in meters, along x and z."""
        (rows, columns), (cell_x, cell_z) = self.cell_count, self.cell_size
        return columns * cell_x, rows * cell_z

    @property
    def bounds(self) -> AABB:
        """The box around the map: its area, and all its heights; `size` is that of the area.

        Cells without ground count too. Without any height the box is flat, at the origin's height.

        Examples
        --------
        >>> land = HeightMap([[0, 1, 2], [3, 4, 9]], cell_size=2)
        >>> land.size, land.bounds
        ((4.0, 2.0), AABB(lower64=(0.0, 0.0, 0.0), upper64=(4.0, 9.0, 2.0)))
        """
        return map_bounds(self._storage)

    @property
    def border(self) -> str:
        """The outside of the map: "extend" or "open"."""
        return "extend" if self._storage.frame[kernels.EXTEND] else "open"

    def __repr__(self) -> str:
        rows, columns = self.sample_count
        return f"<HeightMap: {rows} x {columns} samples, cells of {self.cell_size} m>"

    def _repr_png_(self) -> bytes:
        """Return what notebooks show: the map from above, x to the right and z down."""
        (x, z), (width, length) = (self.origin64[0], self.origin64[2]), self.size
        corners = (x, z), (x + width, z + length)
        return png(seen_from_above(self.height_at, *corners, min(self.cell_size)))

    # Edits

    def changes_since(self, version: int) -> list[Region]:
        """Return the regions edited after a version, so that a renderer need not start over.

        Parameters
        ----------
        version : int
            The value of `version` when the renderer last looked.

        Returns
        -------
        list of Region
            Cells that look different, oldest edit first; the whole map if more than 256 edits, as
            many as are remembered, have been made since.

        Raises
        ------
        TypeError
            If ``version`` is not a whole number.
        ValueError
            If it is below 0 or above `version`.
        """
        last = checks.whole("version", version, 0, self.version)
        with self._storage.lock:
            return self._storage.regions_since(last)

    def __getitem__(self, index: Any) -> Any:
        """Return heights [row, column], a copy, before scale and origin; a mask picks samples.

        The row runs along z, the column along x; `height_at` takes x and z in meters.
        """
        heights = self._storage.heights
        place = edited(index, heights.shape)[0]
        with self._storage.lock:
            value = self._storage.heights[place]
            return value.copy() if isinstance(value, np.ndarray) else float(value)

    def __setitem__(self, index: Any, heights: ArrayLike) -> None:
        """Set heights [row, column], before scale and origin: all of them, or none if one is bad.

        NaN makes holes; 1e38 or more is refused.
        """
        set_heights(self._storage, index, heights)

    @property
    def thickness(self) -> float:
        """How deep below its surface the ground is solid, in meters; inf: unlimited."""
        return self._storage.thickness

    @thickness.setter
    def thickness(self, value: float) -> None:
        set_thickness(self._storage, checks.between("thickness", value, TINY, np.inf))

    def carve(self, center: Any, radius: float, depth: float) -> None:
        """Dig a round pit.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0.
        depth : float
            How much deeper the ground becomes at the center, in meters. The change falls smoothly
            to 0 at the radius.

        Raises
        ------
        TypeError, ValueError
            For other numbers and for heights of 1e38 m and more. Nothing changes then.
        """
        rise = -checks.finite("depth", depth)
        apply(self._storage, raising(Disc.of(center, radius), rise))

    def raise_(self, center: Any, radius: float, height: float) -> None:
        """Raise a round hill.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0.
        height : float
            How much higher the ground becomes at the center, in meters. The change falls smoothly
            to 0 at the radius.

        Raises
        ------
        TypeError, ValueError
            For other numbers and for heights of 1e38 m and more. Nothing changes then.
        """
        rise = checks.finite("height", height)
        apply(self._storage, raising(Disc.of(center, radius), rise))

    def flatten(
        self,
        center: Any,
        radius: float,
        height: float | None = None,
        *,
        flat: float = 0.0,
        strength: float = 1.0,
    ) -> None:
        """Bring the ground to a level.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0. The change falls smoothly to 0 there.
        height : float, optional
            The level in meters. Default: the height of the ground at the center.
        flat : float, default 0
            Samples within this distance of the center change in full, so the place for a building
            is exactly flat. In meters, from 0 to ``radius``; equal to it, the edge is sharp.
        strength : float, default 1
            The share of the way to the level that a full change goes, from 0 to 1.

        Raises
        ------
        TypeError, ValueError
            For other numbers, for heights of 1e38 m and more, and if there is no ground at the
            center to take the height of. Nothing changes then. Holes stay holes.

        Examples
        --------
        >>> land = HeightMap([[0, 1, 2, 3, 4]] * 5)
        >>> land.flatten((2, 2), radius=3, flat=1)
        >>> land.heights[2].tolist()
        [1.125, 2.0, 2.0, 2.0, 2.875]
        """
        disc = Disc.of(center, radius)

        def edit() -> None:
            level = (
                self._queries.height(disc.x, disc.z)
                if height is None
                else checks.finite("height", height)
            )
            apply(self._storage, leveling(disc, level, flat, strength))

        self._storage.editing(edit)

    def smooth(self, center: Any, radius: float, strength: float = 1.0) -> None:
        """Soften the ground: each sample goes to a mean of itself and the eight around it.

        The sample counts four times, its neighbors twice, those at the corners once; holes and
        places outside the map do not count. All means are of the old heights. Planes stay planes
        away from holes and from the map's border. Each call reaches one cell further.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0. The change falls smoothly to 0 there.
        strength : float, default 1
            The share of the way to the mean that the sample at the center goes, from 0 to 1.

        Raises
        ------
        TypeError, ValueError
            For other numbers. Nothing changes then. Holes stay holes.

        Examples
        --------
        >>> land = HeightMap([[0, 0, 0], [0, 8, 0], [0, 0, 0]])
        >>> land.smooth((1, 1), radius=1)
        >>> land.height_at(1, 1)
        2.0
        """
        apply(self._storage, smoothing(Disc.of(center, radius), strength))

    def paint(self, center: Any, radius: float, material: int | str) -> None:
        """Give cells a material.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0. The cells that have their middle within it, border included, change.
        material : int or str
            From 0 to 255, or one of `material_names`.

        Raises
        ------
        TypeError, ValueError
            For other numbers and for a name that the map does not know. Nothing changes then.

        Examples
        --------
        >>> land = HeightMap([[0] * 4] * 3, material_names=["grass", "rock"])
        >>> land.paint((1, 1), radius=1, material="rock")
        >>> land.materials[:]
        array([[1, 1, 0],
               [1, 1, 0]], dtype=uint8)
        """
        disc = Disc.of(center, radius)
        number = material_number("material", material, self.material_names)
        paint(self._storage, *disc.cells(self._storage), number)

    @property
    def holes(self) -> MapCells:
        """The cells that are marked as holes, an array of bool [row, column] to read and to write.

        A cell with a NaN at a corner has no ground either, but is not marked here.
        """
        put, get = partial(set_holes, self._storage, hole_cells), self._storage.hole_marks
        return self._cells("holes", get, put, read=np.asarray, fit=hole_cells, outside=np.True_)

    @holes.setter
    def holes(self, values: Any) -> None:
        self.holes.put_all(values)

    @property
    def materials(self) -> MapCells:
        """The materials of the cells, an array of uint8 [row, column] to read and to write.

        At first all are 0. ``materials.at(x, z)`` takes places in meters. If the map has
        `material_names`, names may stand for numbers.
        """
        storage = self._storage
        fit = partial(material_rows, names=storage.material_names)
        read = partial(material_numbers, names=storage.material_names)
        put, get = partial(set_materials, storage, fit), storage.material_numbers
        return self._cells("materials", get, put, read=read, fit=fit, outside=np.uint8(0))

    @materials.setter
    def materials(self, values: Any) -> None:
        self.materials.put_all(values)

    def _cells(self, kind: str, get: Any, put: Any, **how: Any) -> MapCells:
        """Return the cells of a kind, to read and to write."""
        storage = self._storage
        own = storage.lock, storage.editing, get, put
        return MapCells(kind, self.cell_count, *own, find=storage.cells_at, **how)

    @property
    def material_names(self) -> tuple[str, ...] | None:
        """The names of materials 0, 1, ..., if they have any."""
        return self._storage.material_names

    # For renderers and files

    def to_mesh(
        self,
        region: Region | None = None,
        *,
        relative_to: Any = (0, 0, 0),
        axes: AnyAxes = "y-up",
    ) -> MeshArrays:
        """Return the surface as arrays, with the map's own diagonals and holes.

        Parameters
        ----------
        region : Region, optional
            Only these cells, for example one that `changes_since` returns; a vertex for each of
            their corners.
        relative_to : three numbers, default (0, 0, 0)
            In meters, in the map's axes; subtracted in float64, so that vertices far from the
            origin stay exact.
        axes : {"y-up", "z-up", "y-up-left"}, default "y-up"
            Those of the arrays: "z-up" for Panda3D, "y-up-left" for ursina. Triangles are
            counter-clockwise in all of them; some engines want them clockwise.

        Returns
        -------
        MeshArrays

        Raises
        ------
        TypeError, ValueError
            For anything that is not a region, for a region outside the map, and for other axes.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 0], [0, 0]], origin=(1, 2, 3))
        >>> land.to_mesh().vertices[0], land.to_mesh(axes="z-up").vertices[0]
        (array([1., 2., 3.], dtype=float32), array([ 1., -3.,  2.], dtype=float32))
        """
        rows, columns = self.cell_count
        part = Region(0, rows, 0, columns)
        if region is not None:
            part = checked_region(region, rows, columns)
        origin = checks.vector("relative_to", relative_to)
        return mesh_arrays(self._storage, part, origin, axes)

    @property
    def block_levels(self) -> int:
        """How many levels of blocks there are; the last has a single one."""
        return block_levels(self._storage)

    def blocks(self, level: int = 0) -> BlockBounds:
        """Return the boxes that queries test before they look at cells.

        A block of level 0 is 8 x 8 cells, one of the next level 8 x 8 blocks, and so on.

        Parameters
        ----------
        level : int, default 0
            Less than `block_levels`.

        Returns
        -------
        BlockBounds
            Copies. Every triangle of a block lies in its box. The box is tight unless cells are
            marked as holes.

        Raises
        ------
        TypeError
            If ``level`` is not a whole number.
        ValueError
            If there is no such level.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 1, 2], [3, 4, 5]], cell_size=2)
        >>> bounds = land.blocks()
        >>> bounds.cells, bounds.lower.tolist(), bounds.upper.tolist()
        (8, [[[0.0, 0.0, 0.0]]], [[[4.0, 5.0, 2.0]]])
        """
        number = checks.whole("level", level, 0, self.block_levels - 1)
        return block_bounds(self._storage, number)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        height_range: Sequence[float] | None = None,
        flip: Literal["rows", "columns", "both"] | None = None,
        byte_order: Literal["little", "big"] = "little",
    ) -> tuple[float, float] | None:
        """Write the map to a ``.ground`` file, or its samples, before scale and origin, to another.

        A ``.ground`` file holds everything, versions included: a zip archive of arrays and JSON,
        described in ``surface/ground_files.py``. For other files, pass `load` the cells marked as
        holes, the materials and the shape of the map (cell size, scale, origin, border, diagonal,
        thickness) again.

        Parameters
        ----------
        path : path
            ``.ground``, or ``.npy``, ``.png`` (16 bit gray), ``.r16`` or ``.raw``; an existing file
            is replaced only when the new one is complete.
        height_range : (float, float), optional
            The heights in meters of the lowest and the highest 16-bit number; no height may be
            outside. Default: the least and the greatest height. Not for ``.npy``.
        flip : {"rows", "columns", "both"}, optional
            Reverse the order of the rows, the columns or both in the file.
        byte_order : {"little", "big"}
            The byte order of an ``.r16`` or ``.raw`` file.

        Returns
        -------
        (float, float) or None
            The ``height_range`` that restores the heights when the file is loaded; None for files
            that hold them as they are.

        Raises
        ------
        ValueError
            For NaN in a format that has none and for heights outside the range; the message names
            the file.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 1, 2], [3, 4, 5]], materials=[[7, 8]])
        >>> land.holes[0, 1] = True
        >>> with tempfile.TemporaryDirectory() as name:
        ...     land.save(Path(name) / "land.ground")
        ...     again = HeightMap.load(Path(name) / "land.ground")
        >>> again.holes[:], again.materials[:]
        (array([[False,  True]]), array([[7, 8]], dtype=uint8))
        """
        file_options: dict[str, Any] = {
            "height_range": height_range,
            "flip": flip,
            "byte_order": byte_order,
        }
        if holds_all(path):
            refuse_options(path, file_options, type(self).save.__kwdefaults__ or {})
            save_parts(path, KIND, [saved_map(self._storage)], {})
            return None
        return save_heights(path, np.array(self), **file_options)

    def save_obj(self, path: str | os.PathLike[str]) -> None:
        """Write the surface in meters as a Wavefront OBJ file, with normals.

        Parameters
        ----------
        path : path
            The file; an existing one is replaced only when the new one is complete.

        Raises
        ------
        TypeError, ValueError
            If ``path`` is not a path that the system takes.
        OSError
            If the file cannot be written.
        """
        write_obj(path, *whole_mesh(self._storage))

    def to_trimesh(self) -> Any:
        """Return the surface in meters as a trimesh.Trimesh, with normals.

        It equals the file of `save_obj`: float64, without unused vertices. trimesh
        writes glTF, PLY, STL and more: ``land.to_trimesh().export("land.glb")``.

        Returns
        -------
        trimesh.Trimesh

        Raises
        ------
        ImportError
            If trimesh is missing.
        """
        return made_trimesh(*whole_mesh(self._storage))

    def _new_keeper(self) -> Keeper:
        return StorageKeeper(self._storage, MapEdit)

    def __getstate__(self) -> tuple[Any, ...]:
        return self._storage.snapshot()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._adopt(MapStorage.of_snapshot(state))


def loaded_map(saved: SavedPart) -> HeightMap:
    """Return a map that was saved."""
    options, version = map_options(saved)
    terrain = HeightMap(**options)
    queries_of(terrain).storage.version = version
    return terrain


put_entries_of_maps(MapStorage)

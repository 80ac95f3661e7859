"""A height map for others: as arrays for a renderer, as a mesh, as a file."""

import operator
import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _checks
from terrain_physics._kernels.heightmap import blocks as block_kernels
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics.heightmap.cells import Region
from terrain_physics.heightmap.checks import edited
from terrain_physics.heightmap.files import save_heights
from terrain_physics.heightmap.storage import MapData
from terrain_physics.surface.obj_files import write_obj
from terrain_physics.surface.results import BlockBounds


class MeshArrays(NamedTuple):
    """Triangles as a renderer's buffers take them.

    Attributes
    ----------
    vertices : ndarray of float32, shape (v, 3)
        In meters.
    normals : ndarray of float32, shape (v, 3)
        Unit, the mean of the faces around each vertex by their area; +Y where there is none.
    indices : ndarray of uint32, shape (3 n,)
        Rows of ``vertices``, three for each triangle, counter-clockwise seen from above.
    """

    vertices: NDArray[np.float32]
    normals: NDArray[np.float32]
    indices: NDArray[np.uint32]


class Edit(NamedTuple):
    """What edited cells hold, for a copy of the map elsewhere.

    Attributes
    ----------
    region : Region
        Which cells, r rows by c columns.
    heights : ndarray of float32, shape (r + 1, c + 1)
        Their samples.
    bits : ndarray of uint8, shape (r, c)
        How they are split, and which are marked as holes: see the kernels' `heightmap.grid`.
    materials : ndarray of uint8, shape (r, c), or None
        What they are made of, if the map says so.
    """

    region: Region
    heights: NDArray[np.float32]
    bits: NDArray[np.uint8]
    materials: NDArray[np.uint8] | None


class MapExport(MapData):
    """What a height map gives away; see `HeightMap`."""

    __slots__ = ()

    def edits_since(self, version: int) -> tuple[int, list[Edit]]:
        """Return the version, and what the cells hold that were edited after another version.

        Parameters
        ----------
        version : int
            As for `changes_since`; -1 for the whole map.

        Returns
        -------
        tuple of int and list of Edit
            All of one moment, whatever other threads do.
        """
        with self._lock:
            return self._version, [self._edit(region) for region in self._regions_since(version)]

    def replace_samples(
        self, place: tuple[slice, slice], old: NDArray[np.float32], new: NDArray[np.float32]
    ) -> tuple[int, Edit] | None:
        """Set samples that still are what they were, for a map that shares them.

        Parameters
        ----------
        place : (slice, slice)
            Rows and columns of samples.
        old, new : ndarray of float32, shape of the place
            What they were, and what they become where they are that and it differs.

        Returns
        -------
        (int, Edit) or None
            The version, and what the cells around hold then; None if there was nothing to set.
        """
        rows, columns = self.cell_count
        down, across = place
        with self._lock:
            set_here = _equal(self._heights[place], old) & ~_equal(old, new)
            if not set_here.any():
                return None
            self._prepare_edit()
            self._heights[place][set_here] = new[set_here]
            _, (row_0, row_1), (column_0, column_1) = edited(set_here, set_here.shape)
            region = Region(
                max(down.start + row_0 - 1, 0),
                min(down.start + row_1, rows),
                max(across.start + column_0 - 1, 0),
                min(across.start + column_1, columns),
            )
            self._changed(region, heights=True, holes=bool(np.isnan(new[set_here]).any()))
            return self._version, self._edit(region)

    def _edit(self, region: Region) -> Edit:
        row_0, row_1, column_0, column_1 = region
        made_of = self._materials
        return Edit(
            region,
            self._heights[row_0 : row_1 + 1, column_0 : column_1 + 1].copy(),
            self._bits(region),
            None if made_of is None else made_of[row_0:row_1, column_0:column_1].copy(),
        )

    def _bits(self, region: Region) -> NDArray[np.uint8]:
        """Return a new array with the bits of cells, however the map keeps them."""
        row_0, row_1, column_0, column_1 = region
        if self._cells.ndim == 2:
            bits = self._cells[row_0:row_1, column_0:column_1].copy()
        else:
            bits = np.zeros((row_1 - row_0, column_1 - column_0), dtype=np.uint8)
        kind = int(self._frame[kernels.DIAGONAL])
        if kind == kernels.DIAGONAL_BD:
            bits |= np.uint8(kernels.CELL_FLIPPED)
        elif kind == kernels.DIAGONAL_ALTERNATING:
            odd = np.add.outer(np.arange(row_0, row_1), np.arange(column_0, column_1)) & 1 != 0
            bits |= odd * np.uint8(kernels.CELL_FLIPPED)
        return bits

    def to_mesh(self, region: Region | None = None, *, relative_to: Any = (0, 0, 0)) -> MeshArrays:
        """Return the surface as arrays, with the map's own diagonals and holes.

        Parameters
        ----------
        region : Region, optional
            Only these cells, such as `changes_since` gives; a vertex for each of their corners.
        relative_to : three numbers, default (0, 0, 0)
            In meters; subtracted in float64, so that vertices far from the origin stay exact.

        Returns
        -------
        MeshArrays

        Raises
        ------
        TypeError, ValueError
            For what is no region, and for one outside the map.
        """
        rows, columns = self.cell_count
        part = Region(0, rows, 0, columns)
        if region is not None:
            part = _checked_region(region, rows, columns)
        offset = _checks.vector("relative_to", relative_to)
        places = self._places(part)
        faces = self._faces(part)
        normals = _vertex_normals(places, faces)
        return MeshArrays(
            np.nan_to_num(places - offset).astype(np.float32),
            normals.astype(np.float32),
            faces.astype(np.uint32).ravel(),
        )

    @property
    def block_levels(self) -> int:
        """How many levels of blocks there are; the last has a single one."""
        return int(block_kernels.level_count(*self.cell_count))

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
            Copies. Every triangle of a block is within its box; the box is the least one, but
            where cells are marked as holes.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 1, 2], [3, 4, 5]], cell_size=2)
        >>> bounds = land.blocks()
        >>> bounds.cells, bounds.lower.tolist(), bounds.upper.tolist()
        (8, [[[0.0, 0.0, 0.0]]], [[[4.0, 5.0, 2.0]]])
        """
        number = _checks.whole("level", level, 0, self.block_levels - 1)
        rows, columns = self.cell_count
        start = int(block_kernels.level_start(rows, columns, number))
        side = block_kernels.BLOCK ** (number + 1)
        down, across = -(-rows // side), -(-columns // side)
        with self._lock:
            spans = self._blocks[2 * start : 2 * (start + down * across)].astype(np.float64)
        spans = spans.reshape(down, across, 2)
        x0, y0, z0, cell_x, cell_z, scale = self._frame[:6].tolist()
        spans = y0 + scale * np.where(np.isinf(spans), np.nan, spans)
        lower, upper = np.empty((down, across, 3)), np.empty((down, across, 3))
        lower[:, :, 1], upper[:, :, 1] = spans.min(axis=2), spans.max(axis=2)
        places = np.arange(across) * side
        lower[:, :, 0] = x0 + places * cell_x
        upper[:, :, 0] = x0 + np.minimum(places + side, columns) * cell_x
        places = np.arange(down)[:, np.newaxis] * side
        lower[:, :, 2] = z0 + places * cell_z
        upper[:, :, 2] = z0 + np.minimum(places + side, rows) * cell_z
        return BlockBounds(side, lower, upper)

    def save(self, path: str | os.PathLike[str], **file_options: Any) -> tuple[float, float] | None:
        """Write the samples, before scale and origin, to a file.

        Nothing else: cells marked as holes, materials and the shape of the map (cell size, scale,
        origin, border, diagonal, thickness) are handed to `load` again.

        Parameters
        ----------
        path : path
            ``.npy``, ``.png`` (16 bit gray), ``.r16`` or ``.raw``; written whole or not at all.
        **file_options
            As for `terrain_physics.heightmap.files.save_heights`: ``height_range``, ``flip``,
            ``byte_order``.

        Returns
        -------
        (float, float) or None
            The ``height_range`` that brings the heights back when the file is loaded; None for
            files that hold them as they are.

        Raises
        ------
        ValueError
            Naming the file, for NaN where the format has none and heights outside the range.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 1, 2], [3, 4, 5]], materials=[[7, 8]])
        >>> land.holes[0, 1] = True
        >>> with tempfile.TemporaryDirectory() as name:
        ...     folder = Path(name)
        ...     land.save(folder / "land.npy")
        ...     np.save(folder / "holes.npy", land.holes[:])
        ...     np.save(folder / "materials.npy", land.materials[:])
        ...     again = HeightMap.load(
        ...         folder / "land.npy",
        ...         holes=np.load(folder / "holes.npy"),
        ...         materials=np.load(folder / "materials.npy"),
        ...     )
        >>> again.holes[:], again.materials[:]
        (array([[False,  True]]), array([[7, 8]], dtype=uint8))
        """
        return save_heights(path, self._heights, **file_options)

    def save_obj(self, path: str | os.PathLike[str]) -> None:
        """Write the surface in meters as a Wavefront OBJ file, with normals.

        Parameters
        ----------
        path : path
            Written as a whole or not at all.
        """
        rows, columns = self.cell_count
        whole = Region(0, rows, 0, columns)
        places, faces = self._places(whole), self._faces(whole)
        normals = _vertex_normals(places, faces)
        used, indices = np.unique(faces, return_inverse=True)
        write_obj(path, places[used], indices.reshape(-1, 3), normals[used])

    def _places(self, region: Region) -> NDArray[np.float64]:
        """Return the corners of the cells as points (v, 3), row by row; NaN heights in holes."""
        row_0, row_1, column_0, column_1 = region
        x0, y0, z0, cell_x, cell_z, scale = self._frame[:6].tolist()
        samples = self._heights[row_0 : row_1 + 1, column_0 : column_1 + 1]
        result = np.empty((*samples.shape, 3))
        result[:, :, 0] = x0 + np.arange(column_0, column_1 + 1) * cell_x
        result[:, :, 1] = y0 + scale * samples.astype(np.float64)
        result[:, :, 2] = (z0 + np.arange(row_0, row_1 + 1) * cell_z)[:, np.newaxis]
        return result.reshape(-1, 3)

    def _faces(self, region: Region) -> NDArray[np.int64]:
        """Return the triangles (n, 3) of the cells that have ground, in order of their ids."""
        row_0, row_1, column_0, column_1 = region
        wide = column_1 - column_0 + 1
        samples = self._heights[row_0 : row_1 + 1, column_0 : column_1 + 1]
        missing = np.isnan(samples)
        no_ground = missing[1:, 1:] | missing[1:, :-1] | missing[:-1, 1:] | missing[:-1, :-1]
        bits = self._bits(region)
        no_ground |= bits & kernels.CELL_HOLE != 0
        flipped = bits & kernels.CELL_FLIPPED != 0
        corner = np.arange(row_1 - row_0)[:, np.newaxis] * wide + np.arange(wide - 1)
        result = np.empty((*corner.shape, 2, 3), dtype=np.int64)
        for turned in (False, True):
            here = flipped == turned
            for half in range(2):
                ra, ca, rb, cb, rc, cc = kernels.half_corners(turned, half)
                offsets = np.array([ra * wide + ca, rb * wide + cb, rc * wide + cc])
                result[here, half] = corner[here][:, np.newaxis] + offsets
        return result[~no_ground].reshape(-1, 3)


def _checked_region(region: Any, rows: int, columns: int) -> Region:
    """Return a region of at least one cell within a map."""
    rule = "region must be four whole numbers, (row_start, row_stop, column_start, column_stop)"
    try:
        ends = tuple(map(operator.index, region))
    except TypeError:
        raise TypeError(f"{rule}, got {_checks.shorten(region)}") from None
    if len(ends) != 4:
        raise ValueError(f"{rule}, got {_checks.shorten(region)}")
    row_0, row_1, column_0, column_1 = ends
    if not (0 <= row_0 < row_1 <= rows and 0 <= column_0 < column_1 <= columns):
        raise ValueError(f"region must be cells within {(rows, columns)}, got {ends}")
    return Region(*ends)


def _equal(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Tell which samples are equal; holes are."""
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def _vertex_normals(places: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean of the normals of the faces around each vertex, by area."""
    a, b, c = (places[faces[:, k]] for k in range(3))
    products = np.cross(b - a, c - a)
    sums = np.zeros_like(places)
    for axis in range(3):
        for k in range(3):
            sums[:, axis] += np.bincount(
                faces[:, k], weights=products[:, axis], minlength=len(places)
            )
    lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    sums[lengths[:, 0] == 0.0] = 0.0, 1.0, 0.0
    lengths[lengths == 0.0] = 1.0
    return np.asarray(sums / lengths)

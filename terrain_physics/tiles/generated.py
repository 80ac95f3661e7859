"""Tiles that no file holds: a function makes each when it is needed."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._kernels.surface.shapes import FARTHEST
from terrain_physics._kernels.types import Bools, Float32s
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics.heightmap.checks import TINY, refuse_overflow
from terrain_physics.lattice.tile import LoadedTile
from terrain_physics.surface.materials import checked_names
from terrain_physics.tiles.format import (
    HEIGHTS,
    checked_first,
    checked_shape,
    checked_tile_counts,
    most_before,
    tile_name,
)
from terrain_physics.tiles.samples import CellRules, Tile, checked_tile


@public
class GeneratedTiles:
    """A land that a function makes, tile by tile, for `TiledGround.open`: nothing is stored of it.

    The function is called on a thread of the ground, or where a tile is needed at once, and again
    when a tile comes back. It must return the same each time, and neighbors must agree in the
    samples of their common border: compute a height from the place of its sample alone. Edits are
    kept by the ground, as those of a file.

    Parameters
    ----------
    function : function(row, column)
        Returns the samples of a tile, (tile + 1, tile + 1), or a `Tile` without diagonals. Where
        there is no land, they are NaN.
    size : (int, int), optional
        Rows and columns of tiles. By default the land goes on in all directions: it has as many
        tiles as a land may have, with as many rows and columns below 0 as from 0 on. Of tiles of
        256 cells of a meter these are 512 x 512, and it ends 65,536 m from its origin. There its
        border is open, and a body falls off.
    heights : (float, float)
        Least and greatest height that the function returns. Rays that pass above or below need no
        tile.
    name : str
        Says which land it is, with its seed: edits and saved worlds of another name are refused.
    tile, cell_size, height_scale, material_names
        As for `TiledGround.make`.
    first : (int, int), optional
        Row and column of the first tile, from which the function and messages count. Only with a
        size, and (0, 0) by default.
    origin : (float, float, float), default (0, 0, 0)
        Where the first sample lies, in meters: with a size that of the first tile, without one that
        of tile (0, 0).
    thickness : float, optional
        How deep below its surface the ground is solid, in meters. Default: unlimited.

    Attributes
    ----------
    shape, first, exists, ranges, digest, path : as of a file of tiles
        What `TiledGround` reads: sizes, the first tile, which tiles there are, their heights, a
        hash of all that was given but the function, and None.

    Raises
    ------
    TypeError, ValueError
        For parameters outside the stated rules.

    Examples
    --------
    >>> import numpy as np
    >>> from terrain_physics import GeneratedTiles, TiledGround
    >>> def hills(row, column):
    ...     z, x = np.mgrid[row * 256 : row * 256 + 257, column * 256 : column * 256 + 257]
    ...     return 3 * np.sin(x / 20) * np.cos(z / 30)
    >>> tiles = GeneratedTiles(hills, heights=(-3, 3), name="hills")
    >>> land = TiledGround.open(tiles)
    >>> land.cell_count, tiles.first, round(land.height_at(-20_000, 30_000), 2)
    ((131072, 131072), (-256, -256), -1.4)
    >>> land.close()
    """

    __slots__ = ("_function", "_range", "digest", "first", "shape")

    path: None = None

    def __init__(
        self,
        function: Callable[[int, int], ArrayLike | Tile],
        *,
        size: Sequence[int] | None = None,
        heights: Sequence[float],
        name: str,
        tile: int = 256,
        first: Sequence[int] | None = None,
        cell_size: float | tuple[float, float] = 1.0,
        height_scale: float = 1.0,
        origin: Any = (0.0, 0.0, 0.0),
        thickness: float | None = None,
        material_names: Sequence[str] | None = None,
    ) -> None:
        if not callable(function):
            raise TypeError(f"function must be callable, got {checks.shorten(function)}")
        if size is None and first is not None:
            raise ValueError(
                f"first must be left out without size, got {checks.shorten(first)}: tile (0, 0) is "
                "at the origin then, and the land goes on in all directions"
            )
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {checks.shorten(name)}")
        side = checks.whole("tile", tile, 1, 1 << 30)
        names = None if material_names is None else checked_names(material_names)
        depth = (
            np.inf if thickness is None else checks.between("thickness", thickness, TINY, np.inf)
        )
        before = most_before(side) if size is None else 0
        rows, columns = (2 * before, 2 * before) if size is None else checked_tile_counts(size)
        shape = checked_shape(
            (side, rows, columns), origin, cell_size, height_scale, depth, names, before=before
        )
        self._function, self._range = function, _checked_range(heights)
        refuse_overflow(self._range, shape.height_scale, shape.origin, shape.cell_size, (1, 1))
        # Tiles may have holes, which nobody knows before they are made.
        self.shape = shape._replace(has_cells=True)
        self.first = (-before, -before) if first is None else checked_first(first)
        about = repr((name, self.shape, self.first, self._range))
        self.digest = hashlib.blake2b(about.encode(), digest_size=16).hexdigest()

    @property
    def exists(self) -> Bools:
        """Which tiles there are, (rows, columns): all."""
        return np.broadcast_to(np.True_, (self.shape.rows, self.shape.columns))

    @property
    def ranges(self) -> Float32s:
        """The least and the greatest height, for each tile the same, (rows * columns, 2)."""
        both = np.array(self._range, np.float32)
        return np.broadcast_to(both, (self.shape.rows * self.shape.columns, 2))

    def read(self, number: int) -> LoadedTile:
        """Make a tile.

        Raises
        ------
        ValueError
            If what the function returns is no tile of this land; the message names the tile.
        """
        row, column = divmod(number, self.shape.columns)
        try:
            given = self._function(self.first[0] + row, self.first[1] + column)
            return self._loaded(number, given if isinstance(given, Tile) else Tile(given))
        except (TypeError, ValueError) as error:
            name = tile_name(number, self.shape.columns, self.first)
            raise ValueError(f"{name}: {error}") from error

    def _loaded(self, number: int, given: Tile) -> LoadedTile:
        if given.heights is None:
            raise TypeError("function must return samples, got None: NaN where there is no land")
        if given.diagonals is not None:
            raise ValueError("diagonals must be left out: all cells are split from a to c")
        rules = CellRules(self.shape.side, "a-c", self.shape.material_names)
        tile = checked_tile(given, rules, HEIGHTS[-1])
        (low, high), (least, greatest) = tile.bounds, self._range
        if low < least or high > greatest:
            raise ValueError(
                f"heights must be from {least} to {greatest}, as promised, got {low} to {high}"
            )
        return LoadedTile(number, tile.heights, tile.cells, tile.materials, tile.blocks)

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def __repr__(self) -> str:
        side, rows, columns, *_ = self.shape
        return f"<GeneratedTiles: {rows} x {columns} tiles of {side} x {side}>"


def _checked_range(heights: Any) -> tuple[float, float]:
    """Return the least and the greatest height, as float32 holds numbers between them."""
    both = checks.listed("heights", heights)
    if len(both) != 2:
        raise ValueError(f"heights must be (least, greatest), got {checks.shorten(heights)}")
    least, greatest = (checks.between("heights", each, -FARTHEST, FARTHEST) for each in both)
    if least > greatest:
        raise ValueError(f"heights must be (least, greatest), got {checks.shorten(heights)}")
    low, high = np.float32(least), np.float32(greatest)
    if low > least:
        low = np.nextafter(low, np.float32(-np.inf))
    if high < greatest:
        high = np.nextafter(high, np.float32(np.inf))
    return float(low), float(high)

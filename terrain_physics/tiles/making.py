"""Makes a file of tiles of an array or a function, in bounded memory."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._support import checks
from terrain_physics._support.files import file_name, written_whole
from terrain_physics.heightmap.checks import DIAGONALS, TINY, diagonal_code
from terrain_physics.surface.materials import Names, checked_names
from terrain_physics.tiles.borders import Borders
from terrain_physics.tiles.format import (
    HEIGHTS,
    Header,
    checked_first,
    checked_shape,
    checked_tile_counts,
    tile_name,
)
from terrain_physics.tiles.samples import (
    CellRules,
    CheckedTile,
    Tile,
    checked_tile,
    plain_heights,
)
from terrain_physics.tiles.sources import FunctionSource, SampleSource, array_source
from terrain_physics.tiles.writer import TileWriter

Progress = Callable[[int, int], object]

_KINDS = ("int16", "float32")


def make_tiles(
    path: str | os.PathLike[str],
    source: ArrayLike | Callable[[int, int], ArrayLike | Tile | None],
    *,
    tile: int = 256,
    size: Sequence[int] | None = None,
    first: Sequence[int] = (0, 0),
    cell_size: float | tuple[float, float] = 1.0,
    height_scale: float = 1.0,
    origin: Any = (0.0, 0.0, 0.0),
    thickness: float | None = None,
    diagonal: str | ArrayLike = "a-c",
    dtype: str | None = None,
    holes: ArrayLike | None = None,
    materials: ArrayLike | None = None,
    material_names: Sequence[str] | None = None,
    progress: bool | Progress = False,
) -> None:
    """Write a file of tiles; one that is there is replaced when the new one is complete.

    A row of tiles is in memory at a time, and tiles with equal contents are stored once.

    Parameters
    ----------
    path : path
        The file to write.
    source : array_like, or function(row, column)
        The samples of the whole land (rows, columns), perhaps a ``numpy.memmap``, as for
        `HeightMap`; tiles that reach over its far borders have holes there. Or a function that
        returns the samples of one tile, (tile + 1, tile + 1), a `Tile`, or None where there is no
        land. It is called once for each tile, row by row. Neighbors share the samples of their
        common border. An int16 of -32768 is a hole.
    tile : int, default 256
        Cells along the side of a tile, a multiple of 64.
    size : (int, int), optional
        Rows and columns of tiles. For a function only, which needs it.
    first : (int, int), default (0, 0)
        Row and column of the first tile, from which the function and messages count.
    cell_size, height_scale, origin
        As for `HeightMap`. The first sample of the first tile lies at the origin.
    thickness : float, optional
        How deep below its surface the ground is solid, in meters. Default: unlimited; 2 if there is
        a hole, or a tile is absent. Those beyond the far borders of an array do not count. Edits
        never change it.
    diagonal : {"a-c", "b-d", "alternating", "shortest"} or array of bool, default "a-c"
        As for `HeightMap`. The shorter diagonals are found now; edits leave them. An array goes
        with an array.
    dtype : {"int16", "float32"}, optional
        How heights are stored. With int16 they are rounded, and from -32767 to 32767. Default:
        int16 for integers of these types: int8, uint8 and int16; else float32.
    holes, materials : array_like, shape of cells, optional
        As for `HeightMap`. For an array only; a function returns a `Tile`.
    material_names : sequence of str, optional
        As for `HeightMap`.
    progress : bool or function(done, count), default False
        True shows a bar of the tiles on standard error if that is a terminal.

    Raises
    ------
    TypeError, ValueError
        For parameters and samples outside the stated rules, and for a tile whose border differs
        from its neighbor's; the message names tile and sample.
    OSError
        If the file cannot be written. After any error, that of a function included, a file that was
        there is as before. The error of a function has a note that names the tile.
    """
    name = file_name(path)
    side = checks.whole("tile", tile, 1, 1 << 30)
    place = checked_first(first)
    names = None if material_names is None else checked_names(material_names)
    depth = None if thickness is None else checks.between("thickness", thickness, TINY, np.inf)
    kind = None if dtype is None else HEIGHTS[_KINDS.index(checks.choice("dtype", dtype, _KINDS))]
    rule = checks.choice("diagonal", diagonal, DIAGONALS) if isinstance(diagonal, str) else "a-c"
    given = {
        "holes": holes,
        "diagonals": None if isinstance(diagonal, str) else diagonal,
        "materials": materials,
    }
    tiles, (rows, columns) = _source_of(source, side, size, place, names, given)
    shape = checked_shape(
        (side, rows, columns), origin, cell_size, height_scale, np.inf if depth is None else depth,
        names,
    )  # fmt: skip
    if rule != "shortest":  # those that are turned become bits of cells
        shape = shape._replace(diagonal=diagonal_code(rule))
    making = _Making(tiles, CellRules(side, rule, names), kind)
    with written_whole(name, synced=True) as file, _shown(progress, rows * columns) as show:
        making.write(TileWriter(file, Header(shape, place, HEIGHTS[-1]), depth), show)


def _source_of(
    source: Any,
    side: int,
    size: Any,
    first: tuple[int, int],
    names: Names,
    given: dict[str, Any],
) -> tuple[SampleSource, tuple[int, int]]:
    """Return the source of tiles, and how many rows and columns of them there are."""
    if not callable(source):
        if size is not None:
            raise ValueError(f"size must be left out with an array, got {checks.shorten(size)}")
        array = array_source(source, side, names, **given)
        return array, array.size
    for name, values in given.items():
        if values is not None:
            option = "diagonal" if name == "diagonals" else name
            raise ValueError(
                f"{option} must not be an array with a function, which returns Tile(heights, "
                f"{name}=...), got {checks.shorten(values)}"
            )
    if size is None:
        raise ValueError("size must be (rows, columns) of tiles with a function, got None")
    return FunctionSource(source, first), checked_tile_counts(size)


class _Making:
    """Tiles on their way from a source to a file."""

    def __init__(self, source: SampleSource, rules: CellRules, kind: np.dtype[Any] | None) -> None:
        self._source, self._rules = source, rules
        self._kind, self._kind_is_given = kind, kind is not None

    def write(self, writer: TileWriter, show: Progress) -> None:
        """Write all tiles, row by row."""
        shape, first = writer.shape, writer.first
        borders = Borders(shape.side, shape.columns)
        count = shape.rows * shape.columns
        for number in range(count):
            row, column = divmod(number, shape.columns)
            if column == 0:
                borders.next_row()
            try:
                given = self._source.tile(row, column)
            except Exception as error:
                error.add_note(f"{tile_name(number, shape.columns, first)}: raised by the source")
                raise
            if given is not None:
                name = tile_name(number, shape.columns, first)
                tile = _named(name, self._checked, given)
                _named(name, borders.add, column, tile.heights)
                _named(name, writer.add, number, tile)
            show(number + 1, count)
        kind = HEIGHTS[-1] if self._kind is None else self._kind
        writer.finish(kind, has_holes=self._source.has_holes)

    def _checked(self, given: Tile) -> CheckedTile:
        """Return a tile as it is stored; the first one decides how heights are stored."""
        wide = plain_heights(given.heights)
        is_small = np.can_cast(wide.dtype, np.int16)
        if self._kind is None:
            self._kind = HEIGHTS[0 if is_small else 1]
        if not self._kind_is_given and self._kind == HEIGHTS[0] and not is_small:
            raise ValueError(
                "heights must be integers of 8 or 16 bits as those of the first tile, got dtype "
                f"{wide.dtype}: pass dtype='float32' or 'int16'"
            )
        return checked_tile(given._replace(heights=wide), self._rules, self._kind)


def _named(name: str, step: Callable[..., Any], *values: Any) -> Any:
    """Return what a step makes of values; its error names the tile."""
    try:
        return step(*values)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error


@contextmanager
def _shown(progress: Any, count: int) -> Iterator[Progress]:
    """Yield what is told how many tiles are done."""
    if callable(progress):
        yield progress
        return
    checks.instance("progress", progress, bool)
    if not progress:
        yield lambda _done, _count: None
        return
    import tqdm  # here, because most programs never make a file

    with tqdm.tqdm(
        disable=None, total=count, unit=" tiles", unit_scale=True, leave=False, file=sys.stderr
    ) as bar:
        yield lambda _done, _count: bar.update()

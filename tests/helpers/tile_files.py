"""Files of tiles for tests: their parts, and wide ones that cost next to nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics._kernels.types import Float32s
from terrain_physics.tiles.format import (
    HEIGHTS,
    INDEX,
    START,
    Header,
    checked_shape,
    hash_of,
    header_of,
    header_size,
)
from terrain_physics.tiles.samples import CellRules, Tile, checked_tile


def write_wide_land(
    path: Path,
    rows: int = 128,
    columns: int = 128,
    tiles: Mapping[tuple[int, int], ArrayLike] | None = None,
    *,
    side: int = 256,
    thickness: float = np.inf,
) -> None:
    """Write a file of flat tiles at height 0, but for some tiles, as `make_tiles` would.

    ``tiles`` are samples by row and column; the borders must be those of the neighbors. By default
    it is 32k x 32k cells in 16,384 tiles.
    """
    rules = CellRules(side, "a-c", None)
    shape = checked_shape((side, rows, columns), (0.0, 0.0, 0.0), 1.0, 1.0, thickness, None)
    header = Header(shape, (0, 0), HEIGHTS[1])
    flat = np.zeros((side + 1, side + 1), np.float32)
    index = np.zeros(rows * columns, INDEX)
    index["number"] = np.arange(rows * columns)
    with path.open("wb") as file:
        end = len(header.packed())
        file.seek(end)
        places: list[tuple[Any, ArrayLike]] = [(slice(None), flat)]
        for (row, column), samples in (tiles or {}).items():
            places.append((row * columns + column, samples))
        for place, samples in places:
            tile = checked_tile(Tile(samples), rules, HEIGHTS[1])
            content = tile.content
            file.write(content)
            index["offset"][place] = end
            index["least"][place], index["greatest"][place] = tile.bounds
            index["hash"][place] = np.void(hash_of(content))
            end += len(content)
        file.write(index.tobytes())
        file.seek(0)
        file.write(header.of_index(len(index), end, index.tobytes()).packed())


def cut(whole: Float32s, side: int) -> Any:
    """Return a function that gives the tiles of one array of samples."""

    def source(row: int, column: int) -> Float32s:
        rows = slice(row * side, (row + 1) * side + 1)
        return whole[rows, column * side : (column + 1) * side + 1]

    return source


def parts_of(content: bytes) -> tuple[Header, bytes, NDArray[np.void]]:
    """Return the header of a file of tiles, the bytes of the tiles, and a copy of its index."""
    size = header_size(content[:START])
    header = header_of(content[:size])
    index = np.frombuffer(content, INDEX, offset=header.index_at).copy()
    return header, content[size : header.index_at], index


def joined(header: Header, tiles: bytes, index: NDArray[np.void]) -> bytes:
    """Return the file of a header, tiles and an index, with checksums that are right."""
    about = index.tobytes()
    start = header.of_index(header.tile_count, header.index_at, about).packed()
    return start + tiles + about

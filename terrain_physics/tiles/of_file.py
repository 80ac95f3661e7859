"""Makes a file of tiles of a height file of any kind that the library reads."""

import os
from typing import Any

from terrain_physics._support.files import file_name
from terrain_physics.heightmap.files import (
    FileOptions,
    MappedHeights,
    can_be_mapped,
    load_placed,
    warn_of_numbers,
)
from terrain_physics.heightmap.placement import placed
from terrain_physics.tiles.making import make_tiles


def tiles_of_file(
    source: str | os.PathLike[str],
    path: str | os.PathLike[str],
    reading: FileOptions,
    *,
    cell_size: Any = None,
    origin: Any = None,
    **options: Any,
) -> None:
    """Write a file of tiles of a height file.

    ``reading`` are options of `HeightMap.load`, others those of `make_tiles`. A file of plain
    numbers is mapped and read a row of tiles at a time, so it may be larger than memory; others are
    read as a whole.
    """
    if can_be_mapped(source):
        size, place = placed(file_name(source), None, cell_size, origin)
        heights: Any = MappedHeights(source, **reading)
        make_tiles(path, heights, cell_size=size, origin=place, **options)
        return
    found = load_placed(source, **reading)
    size, place = placed(file_name(source), found.placement, cell_size, origin)
    if options.get("height_scale", 1.0) == 1.0:
        warn_of_numbers(source, found)
    make_tiles(path, found.heights, cell_size=size, origin=place, **options)

"""Height maps to and from files: everything but the log of changed regions.

The header: ``cell_size``, ``height_scale``, ``origin``, ``border``, ``diagonal`` (null: a table),
``thickness`` (null: unlimited), ``thickens`` (whether the first hole ends that),
``material_names`` and ``version``. The arrays: ``heights`` and, where there are any, ``holes``,
``diagonals`` (1: b-d) and ``materials``.
"""

import os
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._support import checks
from terrain_physics._support.files import file_name
from terrain_physics.heightmap.checks import diagonal_name
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.surface.ground_files import MOST_EDITS, SavedPart, as_marks

KIND = "height map"

_SUFFIX = ".ground"


def holds_all(path: str | os.PathLike[str]) -> bool:
    """Tell by a file's name whether it holds all of a map, and not its heights alone."""
    return PurePath(file_name(path)).suffix.lower() == _SUFFIX


def refuse_options(
    path: str | os.PathLike[str], options: dict[str, Any], defaults: dict[str, Any]
) -> None:
    """Refuse all options but the defaults: a file with all of a map has its own."""
    for name, value in options.items():
        if name not in defaults or not _is_same(value, defaults[name]):
            raise ValueError(
                f"{file_name(path)}: {name} must be left out, as a {_SUFFIX} file holds all of a "
                f"map, got {checks.shorten(value)}"
            )


def _is_same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def saved_map(storage: MapStorage) -> SavedPart:
    """Return the saved form of a map, all from one moment."""
    heights, cells, frame, follows_heights, thickens, materials, names, version = storage.snapshot()
    numbers = frame.tolist()
    diagonal = diagonal_name(int(numbers[kernels.DIAGONAL]), follows_heights=follows_heights)
    thickness = numbers[kernels.THICKNESS]
    header = {
        "kind": KIND,
        "cell_size": numbers[kernels.CELL_SIZE : kernels.CELL_SIZE + 2],
        "height_scale": numbers[kernels.HEIGHT_SCALE],
        "origin": numbers[kernels.ORIGIN : kernels.ORIGIN + 3],
        "border": "extend" if numbers[kernels.EXTEND] else "open",
        "diagonal": diagonal,
        "thickness": thickness if np.isfinite(thickness) else None,
        "thickens": thickens,
        "material_names": names,
        "version": version,
    }
    arrays: dict[str, NDArray[Any]] = {"heights": heights}
    holes = cells & np.uint8(kernels.CELL_HOLE) != 0
    if holes.any():
        arrays["holes"] = holes
    if diagonal is None:
        arrays["diagonals"] = cells & np.uint8(kernels.CELL_FLIPPED) != 0
    if materials is not None:
        arrays["materials"] = materials
    return SavedPart(header, arrays)


def map_options(saved: SavedPart) -> tuple[dict[str, Any], int]:
    """Return the arguments of `HeightMap`, which checks them, and the version."""
    header, arrays = saved
    kept = ("cell_size", "height_scale", "origin", "border", "diagonal", "material_names")
    options = {name: header[name] for name in kept}
    options["heights"] = arrays["heights"]
    options["materials"] = arrays.get("materials")
    if "holes" in arrays:
        options["holes"] = as_marks(arrays["holes"])
    if "diagonals" in arrays:
        options["diagonal"] = as_marks(arrays["diagonals"])
    if not header["thickens"]:
        thickness = header["thickness"]
        options["thickness"] = np.inf if thickness is None else thickness
    return options, checks.whole("version", header["version"], 0, MOST_EDITS)

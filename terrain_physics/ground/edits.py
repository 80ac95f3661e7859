"""Edits of all maps of a ground at once: united maps change exactly as one map would."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support import checks
from terrain_physics._support.interruptions import carried_out
from terrain_physics.heightmap.brushes import Brush, Disc
from terrain_physics.heightmap.cells import Ranges
from terrain_physics.heightmap.edits import paint, set_heights
from terrain_physics.heightmap.framed import LiveMap
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.heightmap.tiled import TiledMap
from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.surface.materials import Names, material_number
from terrain_physics.surface.queries import Queries


def _shares(
    terrain: LiveMap, place: Ranges, values: NDArray[Any], *, lines: int
) -> Iterator[tuple[MapStorage | LatticeMap, Ranges, NDArray[Any]]]:
    """Return the maps that own the values of a range, see `TiledMap.shares`."""
    if isinstance(terrain, TiledMap):
        return terrain.shares(place, values, lines=lines)
    return iter([(cast("MapStorage | LatticeMap", terrain), place, values)])


def apply_to_all(maps: Sequence[SolidMap], brush: Brush) -> None:
    """Change the heights of all maps; the caller holds their locks."""
    # If one map refuses its change, no map is changed.
    strokes = [(terrain.storage, brush.stroke(terrain.storage)) for terrain in maps]
    shares = [
        share
        for terrain, (place, heights) in strokes
        for share in _shares(terrain, place, heights, lines=1)
    ]

    def put() -> None:
        for part, own, new in shares:
            if isinstance(part, LatticeMap):
                part.edit("heights", own, new)
            else:
                set_heights(part, own, new)

    carried_out(put)


def paint_all(maps: Sequence[SolidMap], disc: Disc, material: Any, names: Names) -> None:
    """Give cells of all maps a material of the ground, which has these names."""
    # A material that no map has is refused also where the brush reaches no map.
    if isinstance(material, str) and names is not None:
        checks.choice("material", material, names)
    else:
        material_number("material", material, None)
    painted = [
        (part, own, marked, _own_number(material, names, part.material_names))
        for terrain in maps
        for part, own, marked in _shares(terrain.storage, *disc.cells(terrain.storage), lines=0)
        if marked.any()
    ]

    def put() -> None:
        for part, own, marked, number in painted:
            if isinstance(part, LatticeMap):
                part.paint(own, marked, number)
            else:
                paint(part, own, marked, number)

    carried_out(put)


def _own_number(material: Any, names: Names, own_names: Names) -> int:
    """Return the number that a map has for a material of the ground, see `joined_numbers`."""
    if names is None:
        return int(material)
    if not isinstance(material, str):
        if material >= len(names) and own_names is None:
            return int(material) - len(names)
        if material >= len(names):
            raise ValueError(
                f"material must be below {len(names)} on maps with material_names, got {material}"
            )
        material = names[material]
    if own_names is None:
        raise ValueError(
            f"material must be known to every map that is painted, got {material!r} on one "
            "without material_names"
        )
    return material_number("material", material, own_names)


def highest_at(maps: Sequence[SolidMap], disc: Disc) -> float:
    """Return the height of the highest map at the center; NaN if none has ground there."""
    return float(np.fmax.reduce([Queries(terrain).height(disc.x, disc.z) for terrain in maps]))

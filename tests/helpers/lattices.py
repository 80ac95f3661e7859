"""Land on lattices of tiles that are all in memory somewhere, and the same land as one map."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import Ground, HeightMap
from terrain_physics._kernels.heightmap import grid
from terrain_physics.ground.movers import NONE_SAVED
from terrain_physics.ground.parts import GroundParts
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.heightmap.survey import survey
from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.lattice.tile import LatticeShape, LoadedTile, TileSource
from terrain_physics.surface.queries import Queries


class TilesInMemory(TileSource):
    """Tiles of samples that are all in memory, with every edit that was kept."""

    def __init__(
        self, terrain: LatticeMap, samples: NDArray[Any], marks: NDArray[Any] | None = None
    ) -> None:
        self.terrain, self.samples = terrain, samples.copy()
        cells = tuple(size - 1 for size in samples.shape)
        self.holes = np.zeros(cells, np.bool_) if marks is None else marks.copy()
        self.materials = np.zeros(cells, np.uint8)

    def tile(self, number: int) -> LoadedTile:
        """Return a tile as it is now."""
        (row, column), side = self.terrain.place_of(number), self.terrain.shape.side
        heights = self.samples[row : row + side + 1, column : column + side + 1].copy()
        own = np.s_[row : row + side, column : column + side]
        holes, materials = self.holes[own], self.materials[own]
        cells = (holes * np.uint8(grid.CELL_HOLE)) if holes.any() else None
        made = materials.copy() if materials.any() else None
        return LoadedTile(number, heights, cells, made, survey(heights).blocks)

    def fetch(self, numbers: Sequence[int]) -> None:
        self.terrain.put([self.tile(number) for number in numbers])

    def need(self, numbers: Sequence[int], what: str) -> None:  # noqa: ARG002
        self.fetch(numbers)

    def keep(self, what: Any, place: Any, values: NDArray[Any]) -> None:
        self._all(what)[place] = values

    def put_kept(self, what: Any, place: Any, values: NDArray[Any]) -> None:
        values[...] = self._all(what)[place]

    def _all(self, what: Any) -> NDArray[Any]:
        found: NDArray[Any] = getattr(self, "samples" if what == "heights" else what)
        return found


def lattice(
    samples: NDArray[Any],
    side: int,
    exists: NDArray[np.bool_] | None = None,
    thickness: float = np.inf,
    marks: NDArray[Any] | None = None,
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> tuple[LatticeMap, TilesInMemory]:
    """Return a lattice without any tile in memory yet, and where they come from."""
    rows, columns = ((size - 1) // side for size in samples.shape)
    there = np.ones((rows, columns), np.bool_) if exists is None else exists
    shape = LatticeShape(
        side, rows, columns, origin, (1.0, 1.0), 1.0, thickness, 0, marks is not None, None
    )
    terrain = LatticeMap(shape, there)
    terrain.source = source = TilesInMemory(terrain, samples, marks)
    return terrain, source


def ground_of(terrain: LatticeMap) -> Ground:
    """Return the ground of a lattice alone."""
    ground = Ground.__new__(Ground)
    held = GroundParts({0: SolidMap(terrain)}, {0: 1}, 1, 0, {}, NONE_SAVED, {}, {})
    ground._parts, ground._held, ground._queries = {}, held, Queries(held)
    return ground


def one_map(source: TilesInMemory) -> Ground:
    """Return the same land as one height map in a ground."""
    shape, samples = source.terrain.shape, source.samples.copy()
    side, known = shape.side, np.zeros(samples.shape, np.bool_)
    for row, column in np.argwhere(source.terrain.exists) * side:
        known[row : row + side + 1, column : column + side + 1] = True
    samples[~known] = np.nan
    absent = np.repeat(np.repeat(~source.terrain.exists, side, axis=0), side, axis=1)
    terrain = HeightMap(
        samples, origin=shape.origin, border="open", holes=source.holes | absent,
        materials=source.materials, thickness=shape.thickness,
    )  # fmt: skip
    return Ground([terrain])

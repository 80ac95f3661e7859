"""Grounds whose land is in tiles that are read on demand from memory, for tests of questions."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from terrain_physics.tiles.questions.tile_bounds import TileBounds
from terrain_physics.tiles.questions.tiled_queries import TiledQueries
from tests.helpers.lattices import TilesInMemory, ground_of, lattice


class MemorySupply(TilesInMemory):
    """Brings tiles from memory, and remembers which were fetched, in order."""

    def __init__(self, source: TilesInMemory, missing: Literal["load", "wait"]) -> None:
        super().__init__(source.terrain, source.samples, source.holes)
        self.land, self.missing = source.terrain, missing
        self.tile_bounds = TileBounds(self.land.shape, self.land.exists, self._ranges())
        self.fetched: list[int] = []

    def _ranges(self) -> NDArray[np.float32]:
        count = self.land.exists.size
        tiles = [self.tile(number).heights for number in range(count)]
        with np.errstate(all="ignore"):
            return np.array([
                (np.fmin.reduce(own, axis=None, initial=np.inf),
                 np.fmax.reduce(own, axis=None, initial=-np.inf))
                for own in tiles
            ])  # fmt: skip

    def fetch(self, numbers: Sequence[int]) -> None:
        self.fetched += [own for own in numbers if own not in self.land.loaded]
        super().fetch(numbers)

    def keep(self, what: Any, place: Any, values: NDArray[Any]) -> None:
        super().keep(what, place, values)
        if what == "heights":
            self.tile_bounds.widen(place, values)


def tiled_ground(
    samples: NDArray[Any],
    side: int,
    missing: Literal["load", "wait"] = "load",
    **options: Any,
) -> tuple[Any, MemorySupply]:
    """Return a ground on a lattice without any tile in memory yet, and where they come from."""
    terrain, source = lattice(samples, side, **options)
    terrain.source = supply = MemorySupply(source, missing)
    ground = ground_of(terrain)
    ground._queries = TiledQueries(ground._held, supply)
    return ground, supply

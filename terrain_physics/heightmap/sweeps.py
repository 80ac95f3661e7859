"""Moving shapes on a height map: where they first touch it."""

import numpy as np

from terrain_physics._kernels._jit import Direct
from terrain_physics._kernels.heightmap.sweeps import sweep_hits
from terrain_physics._kernels.types import Floats
from terrain_physics._threads import Workers
from terrain_physics.heightmap.rays import materials_at
from terrain_physics.heightmap.storage import MapData
from terrain_physics.surface.results import SweepHit, SweepHits
from terrain_physics.surface.sweeps import ShapeSweeps, hit_of, hits_of

# Fewer than these are done at once, without another thread.
_LEAST_BODIES = 1_000

_SWEEP = Direct(sweep_hits)


class MapSweeps(ShapeSweeps, MapData):
    """What `terrain_physics.HeightMap` answers about moving shapes.

    A shape that is in the ground, its middle below the surface, may move out through the front; one
    that touches from below by less than a thousandth of its size is stopped there.
    """

    __slots__ = ()

    def sweep_of_row(self, kind: int, bodies: Floats, motions: Floats) -> SweepHit | None:
        """Return the hit of one row."""
        numbers, whole = np.empty((1, 8)), np.empty((1, 2), dtype=np.int64)
        with self._lock:
            heights, cells, blocks, frame = self._views
            _SWEEP.call(heights, cells, blocks, frame, kind, bodies, motions, 0, 1, numbers, whole)
            material = int(materials_at(self._materials, numbers[:, 0], whole[:, 1])[0])
        return hit_of(numbers[0], int(whole[0, 0]), material)

    def sweeps_of_rows(
        self, kind: int, bodies: Floats, motions: Floats, count: int, threads: int | None
    ) -> SweepHits:
        """Return the hits of n rows; arrays of one row serve for all."""
        numbers, whole = np.empty((count, 8)), np.empty((count, 2), dtype=np.int64)
        with self.reading() as (heights, cells, blocks, frame), Workers(threads) as workers:
            materials = self._materials

            def work(first: int, last: int) -> None:
                sweep_hits(
                    heights, cells, blocks, frame, kind, bodies, motions, first, last,
                    numbers, whole,
                )  # fmt: skip

            workers.run(work, count, _LEAST_BODIES)
            made_of = materials_at(materials, numbers[:, 0], whole[:, 1])
        return hits_of(numbers, whole[:, 0].copy(), made_of)

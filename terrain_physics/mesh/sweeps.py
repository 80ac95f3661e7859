"""Moving shapes on a triangle mesh: where they first touch it."""

import numpy as np

from terrain_physics._kernels._jit import Direct
from terrain_physics._kernels.mesh.sweeps import sweep_mesh
from terrain_physics._kernels.types import Floats
from terrain_physics._threads import Workers
from terrain_physics.mesh.batches import ONE_VISIT, refuse_far, refuse_far_row, visits_of
from terrain_physics.mesh.storage import MeshData
from terrain_physics.surface.results import SweepHit, SweepHits
from terrain_physics.surface.sweeps import ShapeSweeps, hit_of, hits_of

# Fewer than these are done at once, without another thread.
_LEAST_BODIES = 512

_SWEEP = Direct(sweep_mesh)


class MeshSweeps(ShapeSweeps, MeshData):
    """What `terrain_physics.TriangleMesh` answers about moving shapes.

    A mesh is a skin with two sides: what touches it at the start is stopped where it moves further
    in from the side it is on, and free to leave on that side, however deep it is. That side is the
    one of a ball's center or the nearest point of a capsule's axis, or where the axis goes through
    a face of its middle; of a box the one with the least way out. The first sweep finds the
    `neighbors`; at an edge of more than two faces each face is for itself.
    """

    __slots__ = ()

    def sweep_of_row(self, kind: int, bodies: Floats, motions: Floats) -> SweepHit | None:
        """Return the hit of one row."""
        refuse_far_row("shape", bodies[0].tolist())
        numbers, triangles = np.empty((1, 8)), np.empty(1, np.int64)
        mesh = self._mesh
        _SWEEP.call(
            *mesh[2:], mesh.vertices, mesh.faces, *self.neighbors,
            kind, bodies, motions, ONE_VISIT, 0, 1, numbers, triangles,
        )  # fmt: skip
        return hit_of(numbers[0], int(triangles[0]), 0)

    def sweeps_of_rows(
        self, kind: int, bodies: Floats, motions: Floats, count: int, threads: int | None
    ) -> SweepHits:
        """Return the hits of n rows; arrays of one row serve for all."""
        refuse_far("shapes", bodies)
        numbers, triangles = np.empty((count, 8)), np.empty(count, np.int64)
        mesh, neighbors = self._mesh, self.neighbors
        visits = visits_of(bodies if len(bodies) > 1 else np.zeros((count, 3)))

        def work(first: int, last: int) -> None:
            sweep_mesh(
                *mesh[2:], mesh.vertices, mesh.faces, *neighbors,
                kind, bodies, motions, visits, first, last, numbers, triangles,
            )  # fmt: skip

        with Workers(threads) as workers:
            workers.run(work, count, _LEAST_BODIES)
        return hits_of(numbers, triangles, np.zeros(count, np.uint8))

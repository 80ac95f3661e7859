"""Moving shapes on a ground of several parts: where they first touch it."""

from terrain_physics._kernels.types import Floats
from terrain_physics.ground.answers import nearest_hits
from terrain_physics.ground.parts import GroundData
from terrain_physics.surface.results import SweepHit, SweepHits
from terrain_physics.surface.sweeps import ShapeSweeps


class GroundSweeps(ShapeSweeps, GroundData):
    """What `terrain_physics.Ground` answers about moving shapes.

    Each part answers by its own rules. Of parts touched after the same way the one with the lower
    id does.
    """

    __slots__ = ()

    def sweep_of_row(self, kind: int, bodies: Floats, motions: Floats) -> SweepHit | None:
        """Return the hit of one row."""
        return self._nearest_hit(lambda part: part.sweep_of_row(kind, bodies, motions))

    def sweeps_of_rows(
        self, kind: int, bodies: Floats, motions: Floats, count: int, threads: int | None
    ) -> SweepHits:
        """Return the hits of n rows; arrays of one row serve for all."""
        surfaces = self._current()
        answers = [
            surface.asked.sweeps_of_rows(kind, bodies, motions, count, threads)
            for surface in surfaces
        ]
        owners = [s.owners(answer.triangle) for s, answer in zip(surfaces, answers, strict=True)]
        return nearest_hits(answers, owners)

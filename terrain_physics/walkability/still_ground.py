"""The ground that places and walkers see: all of a ground but the parts that move in time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from terrain_physics._kernels.types import Int64s
from terrain_physics.ground.parts import GroundParts
from terrain_physics.ground.queries import GroundQueries
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.materials import Names
from terrain_physics.surface.queries import Queries


class StillGround(NamedTuple):
    """A ground without its moving parts, for kernels, while it is read."""

    arrays: GroundArrays
    queries: Queries
    names: Names

    @property
    def table(self) -> Int64s:
        """The table that kernels take."""
        return self.arrays.table


def parts_of(queries: Queries) -> GroundParts | None:
    """Return the parts of a ground; None of a map or a mesh by itself."""
    return queries.parts if isinstance(queries, GroundQueries) else None


@contextmanager
def reading_still(queries: Queries) -> Iterator[StillGround]:
    """Give the still ground of one moment to a long query."""
    parts = parts_of(queries)
    with queries.reading() if parts is None else parts.reading_still() as arrays:
        yield StillGround(arrays, queries, queries.naming.materials)

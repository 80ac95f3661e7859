"""The ground that places and walkers see: all of a ground but the parts that move in time."""

from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple

from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._locks import Mark, lasting
from terrain_physics.ground.parts import GroundParts
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
    return queries.source if isinstance(queries.source, GroundParts) else None


def reading_still(
    queries: Queries, square: Floats | None = None
) -> AbstractContextManager[StillGround]:
    """Give the still ground of one moment to a long query.

    ``square`` (4,) is least x and z, greatest x and z: of land in tiles, what is there is brought
    before. Default: nothing.
    """
    return lasting(partial(_begin_reading, queries, square))


def _begin_reading(queries: Queries, square: Floats | None, mark: Mark) -> StillGround:
    parts, streaming = parts_of(queries), queries.streaming
    if streaming is not None and square is not None:
        streaming.begin_updating(mark)
        streaming.bring(square.reshape(1, 4))
    begin = queries.begin_reading if parts is None else parts.begin_reading_still
    return StillGround(begin(mark), queries, queries.naming.materials)


def refuse_missing(queries: Queries, square: Floats) -> None:
    """Refuse ground of which tiles within a square (4,) are not loaded."""
    streaming = queries.streaming
    if streaming is not None and streaming.reached(square.reshape(1, 4)) is not None:
        x0, z0, x1, z1 = square.tolist()
        raise ValueError(
            f"ground must be loaded from ({x0:g}, {z0:g}) to ({x1:g}, {z1:g}), got tiles that are "
            "not: where missing is 'wait', call load_now(aabb) first, or wait until ready(aabb)"
        )

"""Places made: the heights at which a character rests, and the edges that lead from them."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import Int64s, read_only
from terrain_physics._kernels.walkability.layout import DIRECTIONS
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.still_ground import StillGround
from terrain_physics.walkability.walkers import Walker, come_to_rest, walk

# Ground that is farther from a body or from its way by so much does not matter to it, in meters.
_MARGIN = 0.25


class PlaceReach(NamedTuple):
    """How far from a place, along x or z, ground may be that matters to it; in meters."""

    heights: float
    edges: float


def reach_of(spacing: float, walker: Walker) -> PlaceReach:
    """Return how far from a place ground matters to what is made there."""
    rules = walker.rules
    extents, offset = rules[columns.EXTENTS :][:3], rules[columns.OFFSET :][:3]
    turned = np.abs(rules[columns.ROTATION :][:9].reshape(3, 3))
    body = turned @ extents
    if rules[columns.KIND] != 1.0:  # round bodies
        body = body + extents[0]
    own = float(max(body[0] + abs(offset[0]), body[2] + abs(offset[2]))) + _MARGIN
    return PlaceReach(own, own + 1.5 * spacing + walker.speed / 60.0)


class Maker:
    """Makes places anew over a ground that stays as it is meanwhile.

    Parameters
    ----------
    places : Places
        They are written to.
    ground : StillGround
    walker : Walker
    threads : int or None
    """

    def __init__(
        self, places: Places, ground: StillGround, walker: Walker, threads: int | None
    ) -> None:
        self._places, self._ground = places, ground
        self._walker, self._threads = walker, threads
        points = places.points(np.arange(places.rows * places.columns))
        xs, zs = read_only(points[:, 0].copy(), points[:, 2].copy())
        heights = ground.queries.heights(xs, zs, threads)
        self._top = float(np.nanmax(heights, initial=0.0)) + 5.0

    def make_heights(self, columns: Int64s) -> None:
        """Write the heights of all levels of columns: row times columns plus column."""
        places = self._places
        size = places.rows * places.columns
        for level in range(places.levels):
            places.heights[level * size + columns] = np.nan
        places.heights[columns] = come_to_rest(
            places, columns, self._top, self._ground, self._walker
        )

    def make_edges(self, columns: Int64s) -> None:
        """Write the edges from all levels of columns; heights there and around are up to date."""
        places = self._places
        size = places.rows * places.columns
        starts = (columns + size * np.arange(places.levels)[:, np.newaxis]).ravel()
        starts = np.repeat(starts, DIRECTIONS)
        directions = np.tile(np.arange(DIRECTIONS), len(starts) // DIRECTIONS)
        kinds, levels = walk(places, starts, directions, self._ground, self._walker, self._threads)
        places.put_edges(starts[::DIRECTIONS], kinds, levels)

"""Places made: the heights at which a character rests, and the edges that lead from them."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.surface.shapes import BOX, CAPSULE
from terrain_physics._kernels.types import Int64s
from terrain_physics._kernels.walkability.layout import DIRECTIONS
from terrain_physics._kernels.walkability.proof import prove_edges
from terrain_physics._kernels.walkability.resting import put_heights
from terrain_physics._support.matrices import product
from terrain_physics._support.threads import Workers
from terrain_physics.character.material_rules import MaterialRules
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.settling import farthest_aside, settle
from terrain_physics.walkability.still_ground import StillGround
from terrain_physics.walkability.walkers import Walker, walk

# Ground that is farther from a body or from its way by so much does not matter to it, in meters.
_MARGIN = 0.25

# Rough costs of a column, in nanoseconds.
_HEIGHT_COST, _EDGES_COST = 2_000, 20_000

# Of so many ways it is remembered whether they are even.
_KNOWN = 1 << 16

# Where materials change the speed of a walk by less, an even way is walked all the same: a slower
# walk has three times the time that it takes, and a faster one takes longer strides.
_LEAST_SPEED, _MOST_SPEED = 0.5, 1.5


class PlaceReach(NamedTuple):
    """How far from a place, along x or z, ground may be that matters to it; in meters."""

    heights: float
    edges: float
    aside: float  # how much farther that is, where bodies may slip


def reach_of(spacing: float, walker: Walker) -> PlaceReach:
    """Return how far from a place ground matters to what is made there."""
    rules = walker.rules
    extents, offset = rules[columns.EXTENTS :][:3], rules[columns.OFFSET :][:3]
    turned = np.abs(rules[columns.ROTATION :][:9].reshape(3, 3))
    if rules[columns.KIND] == BOX:
        body = product(turned, extents[:, np.newaxis])[:, 0]
    else:  # a capsule's axis is its second half extent; a ball has none
        axis = turned[:, 1] * extents[1] if rules[columns.KIND] == CAPSULE else np.zeros(3)
        body = axis + extents[0]
    own = float(max(body[0] + abs(offset[0]), body[2] + abs(offset[2]))) + _MARGIN
    # A walker is told of its end at the end of an update: half a spacing beyond the end of a
    # diagonal way and beside it, and a stride.
    fastest = max([1.0, *(speed for _, _, speed in walker.material_rules)]) * walker.speed
    edges = own + 1.75 * spacing + 2.0 * fastest / walker.rate
    return PlaceReach(own, edges, farthest_aside(spacing, walker))


class Maker:
    """Makes places anew over a ground that stays as it is meanwhile.

    Proofs decide most edges, walkers the rest. What is made of a place depends on the ground alone.

    Parameters
    ----------
    places : Places
        They are written to.
    ground : StillGround
    walker : Walker
    rates : tuple of float
        Of updates, in 1/s: an edge holds if it does at each.
    threads : int or None
    """

    def __init__(
        self,
        places: Places,
        ground: StillGround,
        walker: Walker,
        rates: tuple[float, ...],
        threads: int | None,
    ) -> None:
        self._places, self._ground = places, ground
        self._walker, self._rates, self._threads = walker, rates, threads
        self._proves = _provable(walker.material_rules)
        self._known = [np.zeros(_KNOWN, np.int64) for _ in rates]

    def make_heights(self, columns: Int64s) -> None:
        """Write the heights of all levels of columns: row times columns plus column."""
        where = self._places.arrays(), self._ground.table, self._walker.rules
        seconds = 1.0 / self._walker.rate
        lying = np.full((len(columns), self._places.levels), np.nan)

        def make(first: int, last: int) -> None:
            put_heights(*where, seconds, columns, first, last, lying)

        Workers(self._threads).run(make, len(columns), _HEIGHT_COST)
        of, level = np.nonzero(~np.isnan(lying))
        if len(of):
            self._places.make_asides()
            who = self._ground, self._walker, self._threads
            settle(self._places, columns[of], lying[of, level], *who)

    def make_edges(self, columns: Int64s) -> None:
        """Write the edges from all levels of columns; heights there and around are up to date."""
        places, size = self._places, self._places.rows * self._places.columns
        numbers = np.concatenate([columns + level * size for level in range(places.levels)])
        self._make_at(0, columns)
        for k in range(1, len(self._rates)):
            before = places.edges_from(numbers)
            self._make_at(k, columns)
            places.keep_edges(numbers, *before)

    def _make_at(self, k: int, columns: Int64s) -> None:
        """Write the edges that hold at one rate."""
        walker = self._walker._replace(rate=self._rates[k])
        doubts = self._prove(columns, walker, self._known[k])
        starts, directions = np.divmod(doubts, DIRECTIONS)
        kinds, levels = walk(self._places, starts, directions, self._ground, walker, self._threads)
        self._places.add_edges(starts, directions, kinds, levels)

    def _prove(self, columns: Int64s, walker: Walker, known: Int64s) -> Int64s:
        """Write the edges that proofs decide; return the others, as `prove_edges` lists them."""
        places, width = self._places, DIRECTIONS * self._places.levels
        doubts = np.empty(width * len(columns), np.int64)
        where = places.arrays(), walker.speed, 1.0 / walker.rate
        who = self._ground.table, walker.rules

        def prove(first: int, last: int) -> Int64s:
            count = prove_edges(*where, *who, columns, first, last, self._proves, known, doubts)
            found: Int64s = doubts[width * first : width * first + count]
            return found

        found = Workers(self._threads).run(prove, len(columns), _EDGES_COST)
        return np.concatenate([doubts[:0], *found])


def _provable(rules: MaterialRules) -> bool:
    """Tell whether anything can be proved of walkers that materials make slower or faster."""
    return all(_LEAST_SPEED <= speed <= _MOST_SPEED for _, _, speed in rules)

"""The truth about edges: characters that walk them, many at a time.

Walkers are rows as those of a `CharacterGroup` without collisions. The kernel between two updates
steers and judges them: see `terrain_physics._kernels.walkability.walkers`.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.character.reports.hits import HITS_SIZE
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.character.update import update_characters
from terrain_physics._kernels.types import Bytes, Floats, Int64s
from terrain_physics._kernels.walkability.walkers import (
    PROGRESS_SIZE,
    WALKER_SIZE,
    Edges,
    Slots,
    steer_walkers,
)
from terrain_physics._support.threads import Workers
from terrain_physics.character.ground_material import put_factors_of_alike
from terrain_physics.character.material_rules import MaterialRules
from terrain_physics.character.placement import make_new
from terrain_physics.character.rows import ALONE, Rows
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.still_ground import StillGround

# Walkers of one thread that walk at the same time: so many that a call for all of them takes much
# longer than to make it, and so few that their rows stay in the cache.
_SLOTS = 256

# Cost of an edge for `Workers`, a tenth of the true one, in nanoseconds, and most edges of one task
# of a thread. Tasks may be long, as Ctrl-C is heard between two updates, and are cheaper then: what
# a call costs is shared by all that walk at the same time.
_COST, _MOST = 10_000, 4_096


class Walker(NamedTuple):
    """How all walkers of a map are and walk.

    Attributes
    ----------
    rules : ndarray of float64, shape (RULES_SIZE,)
        The body, and the rules; read-only.
    material_rules : MaterialRules
    speed : float
        In m/s.
    max_drop : float
        The deepest fall of an edge, in meters.
    rate : float
        Of updates, in 1/s.
    """

    rules: Floats
    material_rules: MaterialRules
    speed: float
    max_drop: float
    rate: float


def walk(
    places: Places,
    starts: Int64s,
    directions: Int64s,
    ground: StillGround,
    walker: Walker,
    threads: int | None,
) -> tuple[Bytes, Bytes]:
    """Return the kinds (n,) of edges, and the levels (n,) that they lead to.

    Each edge is decided by itself: the others, their order and ``threads`` do not matter.
    """
    starts, directions = np.array(starts, np.int64), np.array(directions, np.int64)
    kinds, levels = np.zeros(len(starts), np.uint8), np.zeros(len(starts), np.uint8)

    def run(first: int, last: int) -> None:
        some = slice(first, last)
        _walk_some(
            places, starts[some], directions[some], ground, walker, kinds[some], levels[some]
        )

    Workers(threads).run(run, len(starts), _COST, most=_MOST)
    return kinds, levels


def at_rest(positions: Floats, seeds: Int64s, ground: StillGround, walker: Walker) -> Rows:
    """Return walkers (n, ...) that were placed at positions (n, 3) and have come to rest there.

    One update brings them to rest, if they stand at all.
    """
    rows = new_rows(len(positions), walker)
    make_new(rows, positions, (0.0, 0.0, 0.0), seeds.astype(np.uint64))
    advance(rows, len(positions), ground, walker)
    return rows


def _walk_some(
    places: Places,
    starts: Int64s,
    directions: Int64s,
    ground: StillGround,
    walker: Walker,
    kinds: Bytes,
    levels: Bytes,
) -> None:
    """Walk edges in this thread; write what was found. The seed is the number of the place."""
    standing = ~np.isnan(places.heights[starts])
    begun, own = np.unique(starts[standing], return_inverse=True)
    rows_of_starts = np.zeros(len(starts), np.int64)
    rows_of_starts[standing] = own
    resting = at_rest(places.points(begun), begun, ground, walker)
    flat = resting.state.reshape(-1), resting.random.reshape(-1)
    edges = Edges(starts, directions, rows_of_starts, *flat, kinds, levels)
    rows = new_rows(min(len(starts), _SLOTS), walker)
    slots = _slots_over(rows)
    progress = np.zeros(PROGRESS_SIZE, np.int64)
    way = walker.speed, walker.max_drop, walker.rate
    arrays = places.arrays()
    while walking := steer_walkers(arrays, *way, walker.rules, edges, slots, progress):
        advance(rows, walking, ground, walker)


def new_rows(count: int, walker: Walker) -> Rows:
    """Return rows (n, ...) of walkers, whose states are still to be written."""
    rows = Rows(
        np.zeros((count, columns.STATE_SIZE)),
        np.empty((count, columns.RULES_SIZE)),
        ALONE,  # no walker is resized or saved
        np.zeros((count, 1), np.uint64),
        np.zeros((count, HITS_SIZE)),
    )
    rows.rules[:] = walker.rules
    return rows


def _slots_over(rows: Rows) -> Slots:
    """Return the slots of as many walkers, whose states are those of rows."""
    states, draws = rows.state.reshape(-1), rows.random.reshape(-1)
    walkers = np.zeros((len(draws), WALKER_SIZE))
    before = np.zeros_like(states), np.zeros_like(draws)
    kept = np.zeros_like(states), np.zeros_like(draws), np.zeros_like(walkers)
    return Slots(states, draws, walkers, before[0], before[1], kept[0], kept[1], kept[2])


def advance(rows: Rows, count: int, ground: StillGround, walker: Walker) -> None:
    """Advance the first walkers by one update."""
    if walker.material_rules:
        materials = walker.material_rules, ground.names, ground.queries
        put_factors_of_alike(rows, count, *materials, ground.table)
    states, draws = rows.state.reshape(-1), rows.random.reshape(-1)
    rules, hits = rows.rules.reshape(-1), rows.hits.reshape(-1)
    seconds = 1.0 / walker.rate
    update_characters(states, draws, rules, hits, ALONE, seconds, 0, count, ground.table)

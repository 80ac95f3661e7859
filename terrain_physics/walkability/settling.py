"""Settling: characters that are let go on steep ground or on an edge, and come to stand."""

import math

import numpy as np

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.surface.shapes import BOX
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._kernels.walkability.settling import Settlers, put_settled, watch_settlers
from terrain_physics._support.threads import Workers
from terrain_physics.character.placement import make_new
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.still_ground import StillGround
from terrain_physics.walkability.walkers import Walker, advance, at_rest, new_rows

# A place is so far from the point of the grid at most: shares of the spacing, and of the radius of
# the body, which slides by less from a nosing. Never farther than another share of the spacing.
_OF_SPACING, _OF_RADIUS, _MOST = 0.25, 0.5, 0.5

# So long a body has to come to stand, in seconds.
_SECONDS = 1.0

# A box that balances has not slipped if it comes to stand no farther from where it lay, in meters.
_STAYS = 1e-3

# Rough cost of a body, in nanoseconds, and most bodies of one task of a thread.
_COST, _MOST_AT_ONCE = 50_000, 256


def farthest_aside(spacing: float, walker: Walker) -> float:
    """Return how far from the point of the grid a place may be on the level, in meters."""
    extents = walker.rules[columns.EXTENTS :][:3]
    radius = min(extents[0], extents[2]) if walker.rules[columns.KIND] == BOX else extents[0]
    return float(min(max(_OF_SPACING * spacing, _OF_RADIUS * radius), _MOST * spacing))


def settle(
    places: Places,
    numbers: Int64s,
    heights: Floats,
    ground: StillGround,
    walker: Walker,
    threads: int | None,
) -> None:
    """Let characters go above columns (n,), where they lie at heights (n,); write the new places.

    A place is where one stands still, near enough to the point of the grid, and lower by a step at
    most, as others fall from a wall. It is one only if a character that is put there stands, too.
    """
    starts = places.points_at(numbers, heights)
    found = np.full_like(starts, np.nan)
    limits = farthest_aside(places.spacing, walker), float(walker.rules[columns.STEP_OFFSET])

    def run(first: int, last: int) -> None:
        some = slice(first, last)
        _settle_some(starts[some], numbers[some], found[some], limits, ground, walker)

    Workers(threads).run(run, len(numbers), _COST, most=_MOST_AT_ONCE)
    put_settled(places.arrays(), numbers, found, walker.rules)


def _settle_some(
    starts: Floats,
    numbers: Int64s,
    found: Floats,
    limits: tuple[float, float],
    ground: StillGround,
    walker: Walker,
) -> None:
    """Let characters go in this thread; write where they stand. The seed is the column's number."""
    count = len(starts)
    rows = new_rows(count, walker)
    make_new(rows, starts, (0.0, 0.0, 0.0), numbers.astype(np.uint64))
    states, draws = rows.state.reshape(-1), rows.random.reshape(-1)
    settlers = Settlers(states, draws, np.arange(count), starts.copy(), starts, found)
    for _ in range(math.ceil(_SECONDS * walker.rate)):
        advance(rows, count, ground, walker)
        count = watch_settlers(settlers, *limits, count)
        if count == 0:
            break
    _keep_standing(starts, numbers, found, ground, walker)


def _keep_standing(
    starts: Floats, numbers: Int64s, found: Floats, ground: StillGround, walker: Walker
) -> None:
    """Round where bodies stand as places do; take those away where one that is put slips."""
    if walker.rules[columns.KIND] == BOX:
        stays = np.abs(found - starts).max(axis=1) <= _STAYS
        found[stays] = starts[stays]
    found[:, 1] = found[:, 1].astype(np.float32)
    found[:, ::2] = starts[:, ::2] + (found - starts)[:, ::2].astype(np.float32)
    some = np.flatnonzero(~np.isnan(found[:, 1]))
    if len(some):
        slip = at_rest(found[some], numbers[some], ground, walker).state[:, columns.GROUNDED] == 0.0
        found[some[slip]] = np.nan

"""Places and edges drawn at random, with no ground under them, and their edges for oracles."""

import math
from typing import Any

import numpy as np

from terrain_physics._kernels.walkability import layout
from terrain_physics._kernels.walkability.ways.lengths import Lengths
from terrain_physics.walkability.places import Places
from tests.helpers.draws import Draws
from tests.oracles.graphs import Edges

# Row and column steps of directions 0 to 7, said once more: the library may have them wrong.
STEPS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))

KINDS = (layout.WALK, layout.WALK, layout.WALK, layout.STEP, layout.DROP)


def drawn_places(draws: Draws, *, most: int = 8) -> Places:
    """Return places of up to three levels, with holes, and edges of all kinds, many one-way."""
    levels = 1 if draws.chance(0.5) else 3
    rows, columns = draws.whole(1, most + 1), draws.whole(1, most + 1)
    places = Places(
        draws.uniform(-9.0, 9.0), draws.uniform(-9.0, 9.0), draws.uniform(0.3, 2.0),
        levels, rows, columns,
    )  # fmt: skip
    gaps, missing = draws.uniform(0.0, 0.6), draws.uniform(0.0, 0.7)
    rise = 0.0 if draws.chance(0.4) else draws.uniform(0.0, 2.0)
    size = rows * columns
    for place in range(len(places)):
        below = place < size or not math.isnan(places.heights[place - size])
        if below and not draws.chance(gaps):
            places.heights[place] = rise * draws.uniform(0.0, 1.0) + 3.0 * (place // size)
    for place in range(len(places)):
        for direction in range(layout.DIRECTIONS):
            ends = _ends(places, place, direction)
            if ends and not draws.chance(missing):
                level = ends[draws.below(len(ends))] // size
                _put_edge(places, place, direction, KINDS[draws.below(len(KINDS))], level)
    return places


def _put_edge(places: Places, place: int, direction: int, kind: int, level: int) -> None:
    """Write an edge where there is none."""
    places.kinds[place] |= kind << 2 * direction
    if places.levels > 1:
        places.targets[place] |= level << 2 * direction


def _ends(places: Places, place: int, direction: int) -> list[int]:
    """Return the places that stand next to one that stands."""
    if math.isnan(places.heights[place]):
        return []
    cell = place % (places.rows * places.columns)
    row = cell // places.columns + STEPS[direction][0]
    column = cell % places.columns + STEPS[direction][1]
    if not (0 <= row < places.rows and 0 <= column < places.columns):
        return []
    ends = [(level * places.rows + row) * places.columns + column for level in range(places.levels)]
    return [end for end in ends if not math.isnan(places.heights[end])]


def flat_places(rows: int, columns: int, *, spacing: float = 1.0) -> Places:
    """Return level places on which one walks from each to all its neighbors."""
    places = Places(0.0, 0.0, spacing, 1, rows, columns)
    places.heights[:] = 0.0
    join(places)
    return places


def join(places: Places) -> None:
    """Let one walk between all neighbors that stand, on one level, and make no other edges."""
    size = places.rows * places.columns
    stands = ~np.isnan(places.heights[:size].reshape(places.rows, places.columns))
    around = np.pad(stands, 1)
    places.kinds[:size] = 0
    for direction, (row, column) in enumerate(STEPS):
        ends = around[1 + row : 1 + row + places.rows, 1 + column : 1 + column + places.columns]
        places.kinds[:size] |= (
            np.where(stands & ends, layout.WALK << 2 * direction, 0).astype(np.uint16).ravel()
        )


def edges_of(places: Places, lengths: Lengths) -> Edges:
    """Return all edges with their lengths, read from the bits by other means than the kernels."""
    size = places.rows * places.columns
    edges: Edges = [{} for _ in range(len(places))]
    for place, kinds in enumerate(places.kinds.tolist()):
        for direction, (row, column) in enumerate(STEPS):
            if kinds >> 2 * direction & 3:
                level = places.targets[place] >> 2 * direction & 3 if places.levels > 1 else 0
                end = int(level) * size + place % size + row * places.columns + column
                edges[place][end] = length_of(places, lengths, place, end, direction)
    return edges


def length_of(places: Places, lengths: Lengths, place: int, end: int, direction: int) -> float:
    """Return the length of an edge in whole multiples of 2**-20 m."""
    factor = 1.0
    if len(lengths.materials):
        factors: Any = lengths.factors[lengths.materials[[place, end]]]
        factor = (factors[0] + factors[1]) / 2
    flat = round(places.spacing * math.sqrt(1 + direction % 2) * 2**20) / 2**20
    rise = float(places.heights[end]) - float(places.heights[place])
    return round(math.sqrt(flat**2 + rise**2) * factor * 2**20) / 2**20


def standing(places: Places) -> list[int]:
    """Return the numbers of the places that stand."""
    return np.flatnonzero(~np.isnan(places.heights)).tolist()

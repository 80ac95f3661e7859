"""The sides of maps as pieces of upright planes: what of the side of an edge no ground covers.

A piece is a trapezoid over a stretch of an edge, between two lines. All pieces of a map are rows of
one array, so that each step is a few operations on columns.
"""

from collections.abc import Sequence

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.solid import pieces as columns
from terrain_physics._kernels.heightmap.solid.edges import EDGE_SIZE, LINE_SIZE, put_lines
from terrain_physics._kernels.heightmap.solid.pieces import DEEPEST_SIDE, EDGE, put_places
from terrain_physics._kernels.heightmap.solid.sides import EAST, NORTH, SOUTH, WEST
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics.surface.ground_arrays import MapArrays

_PUT_LINES, _PUT_PLACES = CachedDispatch(put_lines), CachedDispatch(put_places)

# Lower than the underside of any map.
_BOTTOMLESS = -1e9

# Steps between two maps are none if they are lower.
_LEAST_STEP = 1e-6

# Lines of samples of two maps are one line if they are nearer, as a share of a cell.
_SAME_LINE = 1e-6

# Columns of a piece: those of kernels, then the heights of the lines of a map across the edge.
STRETCH, HIGH, LOW = (
    slice(first, first + 2) for first in (columns.BEGIN, columns.HIGH, columns.LOW)
)
_OTHER_HIGH, _OTHER_LOW, _WIDTH = slice(7, 9), slice(9, 11), 11

_OPPOSITE = np.empty(4, dtype=np.int64)
_OPPOSITE[[WEST, EAST, NORTH, SOUTH]] = EAST, WEST, SOUTH, NORTH


def pieces_of(edges: Int64s, lines: Floats, frame: Floats, others: Sequence[MapArrays]) -> Floats:
    """Return the pieces (m, ...) of the sides at edges (n, EDGE_SIZE) of a map.

    ``lines`` (n, LINE_SIZE) are those of the edges. ``others`` are maps that may cover a side.
    """
    pieces = np.zeros((len(edges), _WIDTH))
    pieces[:, EDGE] = np.arange(len(edges))
    pieces[:, STRETCH] = places_of(edges, frame)[1]
    pieces[:, HIGH], pieces[:, LOW] = lines[:, :2], lines[:, 2:]
    for other in others:
        behind = _lines_behind(edges, frame, other[3])
        near = behind[pieces[:, EDGE].astype(np.int64)] >= 0
        if near.any():
            cut = _with_other(pieces[near], edges, behind, other)
            bare = np.isnan(cut[:, _OTHER_HIGH.start])
            left = [pieces[~near], cut[bare], *_uncovered(cut[~bare])]
            pieces = np.concatenate(left)
    return pieces[np.argsort(pieces[:, EDGE], kind="stable")]


def depth_of(thickness: float) -> float:
    """Return how far the sides of ground of a thickness reach below its surface."""
    return DEEPEST_SIDE if np.isinf(thickness) else thickness


def places_of(edges: Int64s, frame: Floats) -> tuple[Floats, Floats]:
    """Return the planes (n,) that edges are in, and where they begin and end in it (n, 2)."""
    planes, ends = np.empty(len(edges)), np.empty((len(edges), 2))
    _PUT_PLACES.call(frame, edges, planes, ends)
    return planes, ends


def _lines_behind(edges: Int64s, frame: Floats, other: Floats) -> Int64s:
    """Return the column, or row, of another map's cells just behind each edge; -1 for none."""
    plane, _ = places_of(edges, frame)
    side = edges[:, 2]
    along_z = side <= EAST
    count = np.where(along_z, other[kernels.COLUMNS], other[kernels.ROWS])
    line = (plane - np.where(along_z, other[0], other[2])) / np.where(along_z, *other[3:5])
    behind = np.round(line) - ((side == WEST) | (side == NORTH))
    fits = (abs(line - np.round(line)) <= _SAME_LINE) & (behind >= 0) & (behind < count)
    return np.where(fits, behind, -1.0).astype(np.int64)


def _with_other(pieces: Floats, edges: Int64s, behind: Int64s, other: MapArrays) -> Floats:
    """Return pieces cut at another map's samples, with its lines; NaN where it has no ground."""
    frame, of_edge = other[3], pieces[:, EDGE].astype(np.int64)
    along_z = edges[of_edge, 2] <= EAST
    start, size = np.where(along_z, frame[2], frame[0]), np.where(along_z, frame[4], frame[3])
    count = np.where(along_z, frame[kernels.ROWS], frame[kernels.COLUMNS])
    begin, end = pieces[:, STRETCH].T
    first = np.maximum(np.floor((begin - start) / size + _SAME_LINE) + 1.0, 0.0)
    last = np.minimum(np.ceil((end - start) / size - _SAME_LINE) - 1.0, count)
    repeats = np.maximum(last - first + 2.0, 1.0).astype(np.int64)
    which = np.repeat(np.arange(len(pieces)), repeats)
    step = np.arange(len(which)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    start, size, count = start[which], size[which], count[which]
    inner = start + (first[which] + step) * size
    ends = np.column_stack(
        [
            np.where(step == 0, begin[which], inner - size),
            np.where(step == repeats[which] - 1, end[which], inner),
        ]
    )
    cut = _stretched(pieces[which], ends)
    cell = np.floor((ends.mean(axis=1) - start) / size)
    own = edges[of_edge[which]]
    cells = np.where(own[:, 2:] <= EAST, np.column_stack([cell, behind[of_edge[which]]]), 0.0)
    cells += np.where(own[:, 2:] > EAST, np.column_stack([behind[of_edge[which]], cell]), 0.0)
    asked = np.column_stack([cells, _OPPOSITE[own[:, 2]]]).astype(np.int64)
    lines = np.full((len(asked), LINE_SIZE), np.nan)
    inside = (cell >= 0.0) & (cell < count)
    lines[inside] = _lines_at(asked[inside], other)
    for k in range(2):
        share = (ends[:, k] - (start + cell * size)) / size
        share = np.where(abs(share - np.round(share)) <= _SAME_LINE, np.round(share), share)
        cut[:, _OTHER_HIGH.start + k] = lines[:, 0] * (1.0 - share) + lines[:, 1] * share
        cut[:, _OTHER_LOW.start + k] = lines[:, 2] * (1.0 - share) + lines[:, 3] * share
    return cut


def _lines_at(edges: Int64s, other: MapArrays) -> Floats:
    """Return the lines of edges of another map, NaN where it has no ground."""
    heights, cells, _, frame = other
    lines = np.empty((len(edges), LINE_SIZE))
    thickness = float(frame[kernels.THICKNESS])
    edges = np.ascontiguousarray(edges).reshape(-1, EDGE_SIZE)
    _PUT_LINES.call(heights, cells, frame, edges, depth_of(thickness), lines)
    if np.isinf(thickness):
        lines[:, 2:] = np.where(np.isnan(lines[:, 2:]), np.nan, _BOTTOMLESS)
    return lines


def _stretched(pieces: Floats, ends: Floats) -> Floats:
    """Return pieces cut to a stretch (n, 2) of theirs: the lines in between are straight."""
    begin, end = pieces[:, STRETCH].T
    cut = pieces.copy()
    cut[:, STRETCH] = ends
    for k in range(2):
        share = (ends[:, k] - begin) / (end - begin)
        for line in (HIGH, LOW, _OTHER_HIGH, _OTHER_LOW):
            near, far = pieces[:, line].T
            # Of equal ends it is the same number, and so it is at both ends.
            between = near + (far - near) * share
            cut[:, line.start + k] = np.where(share == 1.0, far, between)
    return cut


def _cut_at_crossing(pieces: Floats, one: slice, other: slice) -> Floats:
    """Return pieces cut in two where two of their lines cross."""
    before, after = (pieces[:, one] - pieces[:, other]).T
    crosses = before * after < 0.0
    if not crosses.any():
        return pieces
    own, before, after = pieces[crosses], before[crosses], after[crosses]
    share = before / (before - after)
    begin, end = own[:, STRETCH].T
    middle = begin + (end - begin) * share
    left = _stretched(own, np.column_stack([begin, middle]))
    right = _stretched(own, np.column_stack([middle, end]))
    for half, k in ((left, 1), (right, 0)):
        half[:, other.start + k] = half[:, one.start + k]  # one point, without rounding
    halves = np.concatenate([left, right])
    is_long = halves[:, STRETCH.start] != halves[:, STRETCH.start + 1]  # lines may cross at an end
    return np.concatenate([pieces[~crosses], halves[is_long]])


def _uncovered(pieces: Floats) -> list[Floats]:
    """Return what the other map leaves of pieces: above its surface, and below its underside."""
    for one in (HIGH, LOW):
        for other in (_OTHER_HIGH, _OTHER_LOW):
            pieces = _cut_at_crossing(pieces, one, other)
    above, below = pieces.copy(), pieces.copy()
    above[:, LOW] = np.maximum(pieces[:, LOW], pieces[:, _OTHER_HIGH])
    below[:, HIGH] = np.minimum(pieces[:, HIGH], pieces[:, _OTHER_LOW])
    return [
        part[(part[:, HIGH] - part[:, LOW]).max(axis=1) > _LEAST_STEP] for part in (above, below)
    ]

"""The sides of maps as pieces of upright planes: what of the side of an edge no ground covers.

A piece is a trapezoid over a stretch of an edge, between two lines. All pieces of a map are rows of
one array, so that each step is a few operations on columns.
"""

from collections.abc import Sequence

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.solid.edges import EDGE_SIZE, LINE_SIZE, put_lines
from terrain_physics._kernels.heightmap.solid.sides import EAST, NORTH, SOUTH, WEST
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics.surface.ground_arrays import MapArrays

_PUT_LINES = CachedDispatch(put_lines)

# Ground of unlimited thickness has sides that reach so far below its surface; an endless map goes
# on so far beyond its border.
DEEPEST_SIDE = 4096.0

# Lower than the underside of any map.
_BOTTOMLESS = -1e9

# Steps between two maps are none if they are lower.
_LEAST_STEP = 1e-6

# Lines of samples of two maps are one line if they are nearer, as a share of a cell.
_SAME_LINE = 1e-6

# Columns of a piece: the number of its edge; where it begins and ends along the edge; at both ends
# the heights of its upper and its lower line; the same of a map across the edge.
EDGE, STRETCH, HIGH, LOW = 0, slice(1, 3), slice(3, 5), slice(5, 7)
_OTHER_HIGH, _OTHER_LOW, _WIDTH = slice(7, 9), slice(9, 11), 11

_OPPOSITE = np.empty(4, dtype=np.int64)
_OPPOSITE[[WEST, EAST, NORTH, SOUTH]] = EAST, WEST, SOUTH, NORTH


def pieces_of(edges: Int64s, lines: Floats, frame: Floats, others: Sequence[MapArrays]) -> Floats:
    """Return the pieces (m, ...) of the sides at edges (n, EDGE_SIZE) of a map.

    ``lines`` (n, LINE_SIZE) are those of the edges. ``others`` are maps that may cover a side.
    """
    pieces = np.zeros((len(edges), _WIDTH))
    pieces[:, EDGE] = np.arange(len(edges))
    pieces[:, STRETCH] = _stretches(edges, frame)
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


def sample_lines(frame: Floats) -> tuple[Floats, Floats]:
    """Return where the columns and the rows of samples are, from -1 to one beyond the last.

    These two are one cell outside, or far outside of an endless map.
    """
    found = []
    for start, size, count in (
        (frame[0], frame[3], int(frame[kernels.COLUMNS])),
        (frame[2], frame[4], int(frame[kernels.ROWS])),
    ):
        places = np.asarray(start + np.arange(-1, count + 2) * size)  # rounded as in kernels
        if frame[kernels.EXTEND] != 0.0:
            places[0], places[-1] = places[1] - DEEPEST_SIDE, places[-2] + DEEPEST_SIDE
        found.append(places)
    return found[0], found[1]


def places_of(edges: Int64s, frame: Floats) -> tuple[Floats, Floats]:
    """Return the planes (n,) that edges are in, and where they begin and end in it (n, 2)."""
    xs, zs = sample_lines(frame)
    row, column, side = edges.T
    along_z = side <= EAST
    plane = np.where(along_z, xs[column + 1 + (side == EAST)], zs[row + 1 + (side == SOUTH)])
    begin = np.where(along_z, zs[row + 1], xs[column + 1])
    end = np.where(along_z, zs[row + 2], xs[column + 2])
    return plane, np.column_stack([begin, end])


def _stretches(edges: Int64s, frame: Floats) -> Floats:
    return places_of(edges, frame)[1]


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

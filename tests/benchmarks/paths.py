"""Questions to a finished map of places: parts, fields and paths, in CPU time, beside heapq."""

import itertools
import math
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.types import Floats
from terrain_physics._kernels.walkability import layout
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.ways.field import field_of
from terrain_physics.walkability.ways.graph import graph_of
from terrain_physics.walkability.ways.labels import labels_of, nearest_to, reachable_from
from terrain_physics.walkability.ways.lengths import plain_lengths
from terrain_physics.walkability.ways.search import Searcher
from tests.benchmarks.timing import median_seconds, print_table
from tests.oracles import graphs


def _waves(size: int, random: np.random.Generator, scales: list[tuple[int, float]]) -> Floats:
    """Return the sum of smooth noises: of each the cells along a side, and how high it is."""
    heights = np.zeros((size, size))
    for cells, high in scales:
        knots = random.standard_normal((cells + 2, cells + 2)) * high
        at = np.linspace(0, cells, size)
        first = at.astype(int)
        share = at - first
        share = share * share * (3 - 2 * share)
        rows = knots[first] * (1 - share)[:, None] + knots[first + 1] * share[:, None]
        heights += rows[:, first] * (1 - share) + rows[:, first + 1] * share
    return heights


def _places(heights: Floats) -> Places:
    """Return places that are joined by walks up to 45 degrees, and by drops of up to 2 m."""
    rows, columns = heights.shape
    places = Places(0.0, 0.0, 1.0, 1, rows, columns)
    places.heights[:] = heights.ravel()
    around = np.pad(heights, 1, constant_values=np.nan)
    for direction in range(layout.DIRECTIONS):
        r, c = layout.row_step(direction), layout.column_step(direction)
        rise = around[1 + r : 1 + r + rows, 1 + c : 1 + c + columns] - heights
        run = math.hypot(r, c)
        kinds = np.where(np.abs(rise) <= run, layout.WALK, layout.NO_EDGE)
        kinds[(rise < -run) & (rise >= -2.0)] = layout.DROP
        places.kinds |= (kinds << 2 * direction).astype(np.uint16).ravel()
    return places


def _maze(size: int, random: np.random.Generator) -> Places:
    """Return corridors of one place, without circles."""
    cells = (size - 1) // 2
    heights = np.full((size, size), np.nan)
    waiting = [(0, 0)]
    heights[1, 1] = 0.0
    while waiting:
        row, column = waiting[-1]
        around = ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1))
        free = [
            (r, c)
            for r, c in around
            if 0 <= r < cells and 0 <= c < cells and np.isnan(heights[2 * r + 1, 2 * c + 1])
        ]
        if not free:
            waiting.pop()
            continue
        r, c = free[random.integers(len(free))]
        heights[2 * r + 1, 2 * c + 1] = heights[row + r + 1, column + c + 1] = 0.0
        waiting.append((r, c))
    places = _places(heights)
    places.kinds &= np.uint16(0x3333)  # nobody cuts the corners of walls
    return places


class _Land(NamedTuple):
    name: str
    places: Places
    ends: list[tuple[int, int]]  # of paths
    across: str


def _lands(size: int, far: int, count: int) -> list[_Land]:
    random = np.random.default_rng(1)
    smooth = _waves(size, random, [(max(size // 64, 1), 8.0), (size // 16, 0.6)])
    rough = _waves(size, random, [(size // 32, 12.0), (size // 8, 3.0), (size // 2, 0.5)])
    lands = []
    for name, heights in (("level", np.zeros_like(smooth)), ("smooth", smooth), ("rough", rough)):
        lands.append(_Land(name, _places(heights), _ends(size, far, count, random), f"{far} m"))
    maze = _maze(size, random)
    stand = np.flatnonzero(~np.isnan(maze.heights))
    corners = [(int(stand[0]), int(stand[-1])), (int(stand[-1]), int(stand[0]))]
    return [*lands, _Land("maze", maze, corners, "corner to corner")]


def _ends(size: int, far: int, count: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """Return pairs of places so far apart."""
    ends: list[tuple[int, int]] = []
    while len(ends) < count:
        row, column, turn = random.uniform(0, size), random.uniform(0, size), random.uniform(0, 7)
        r, c = int(row + far * math.sin(turn)), int(column + far * math.cos(turn))
        if 0 <= r < size and 0 <= c < size:
            ends.append((int(row) * size + int(column), r * size + c))
    return ends


def _paths(land: _Land) -> tuple[list[float], float]:
    """Return the seconds of each path, and the median count of places that a search looks at."""
    searcher, lengths = Searcher(), plain_lengths(land.places)
    seconds, looked = [], []
    for start, goal in [land.ends[0], *land.ends]:
        begun = time.process_time()
        searcher.way(land.places, start, goal, lengths)
        seconds.append(time.process_time() - begun)
        ((search, stamp),) = searcher._free
        looked.append(int(np.count_nonzero(search.stamps == stamp)))
    return seconds[1:], float(np.median(looked[1:]))


def _by_heapq(land: _Land) -> float:
    """Return the seconds that plain Python takes for the distances of a field."""
    graph = graph_of(land.places)
    ends, lengths = graph.indices.tolist(), graph.lengths.tolist()
    bounds = graph.indptr.tolist()
    edges = [dict(zip(ends[a:b], lengths[a:b], strict=True)) for a, b in itertools.pairwise(bounds)]
    begun = time.process_time()
    graphs.distances(edges, [0])
    return time.process_time() - begun


def main(*, smoke: bool = False) -> None:
    size, far, count, repeats = (33, 20, 5, 1) if smoke else (512, 300, 100, 15)
    for land in _lands(size, far, count):
        places = land.places
        goal = np.array([land.ends[0][1]])
        lengths = plain_lengths(places)
        calls: dict[str, Callable[[], object]] = {
            "field": partial(field_of, places, goal, lengths),
            "labels": partial(labels_of, places),
            "reachable": partial(reachable_from, places, int(goal[0])),
            "nearest": partial(nearest_to, places, 100.4, None, 80.2),
            "to_graph": partial(graph_of, places),
        }
        seconds = median_seconds(calls, repeats, time.process_time)
        rows = [(name, f"{1e3 * value:8.3f} ms") for name, value in seconds.items()]
        paths, looked = _paths(land)
        low, middle, high = np.percentile(paths, [10, 50, 90]) * 1e3
        rows.append((
            f"path, {land.across}",
            f"{middle:8.3f} ms, 10 to 90 % {low:.3f} to {high:.3f}; {looked:,.0f} places seen",
        ))  # fmt: skip
        slow = _by_heapq(land)
        rows.append(
            ("distances by heapq", f"{1e3 * slow:8.0f} ms, {slow / seconds['field']:.0f} x")
        )
        print_table(f"A map of {size} x {size} places, {land.name}: median CPU time", rows)

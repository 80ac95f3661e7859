"""A map of where a character can walk: time to make it, doubts, and errors beside a slope rule."""

import math
import time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from terrain_physics import CapsuleCollider, HeightMap, Walkability
from terrain_physics._kernels.walkability.layout import DIRECTIONS
from terrain_physics.surface.surface import queries_of
from terrain_physics.walkability import making
from terrain_physics.walkability.still_ground import reading_still
from terrain_physics.walkability.walkers import walk
from tests.benchmarks.timing import print_table
from tests.helpers.walking_lands import rough_land, smooth_land

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
RULES: dict[str, Any] = {"slope_limit": math.radians(45), "step_offset": 0.35}


class Made(NamedTuple):
    """A map, how long it took, and how many edges characters had to walk for it."""

    paths: Walkability
    seconds: float
    walked: int


def made(land: HeightMap) -> Made:
    """Make a map of a land with one thread."""
    counts = []

    def counted(places: Any, starts: Any, *rest: Any) -> Any:
        counts.append(len(starts))
        return walk(places, starts, *rest)

    paths = Walkability(land, BODY, threads=1, **RULES)
    with patch.object(making, "walk", counted):
        start = time.process_time()
        paths.update()
        seconds = time.process_time() - start
    return Made(paths, seconds, sum(counts))


def _edit(land: HeightMap, paths: Walkability, repeats: int) -> float:
    """Return the median time to mend a map after an edit of 3 m."""
    rng, side, times = np.random.default_rng(1), float(paths.shape[1]), []
    for _ in range(repeats):
        x, z = rng.uniform(0.2 * side, 0.8 * side, 2)
        land.raise_((x, z), 3.0, 0.2)
        start = time.process_time()
        paths.update()
        times.append(time.process_time() - start)
    return float(np.median(times))


def making_times(side: int, repeats: int) -> None:
    rows = []
    for name, land in (("smooth", smooth_land(side - 1)), ("rough", rough_land(side - 1))):
        paths, seconds, walked = made(land)
        each = 1e6 * seconds / paths.edges.size
        rows += [
            (f"{name}: all places", f"{seconds:7.2f} s, {each:5.2f} us an edge"),
            (f"{name}: edges walked", f"{100 * walked / paths.edges.size:7.2f} %"),
            (f"{name}: an edit of r = 3 m", f"{1e3 * _edit(land, paths, repeats):7.2f} ms"),
        ]
    print_table(f"{side} x {side} places, 1 thread, CPU time", rows)


def errors(side: int) -> None:
    """Compare each edge with the truth, which characters walk, and a slope rule with it, too."""
    paths, _, doubts = made(rough_land(side - 1))
    starts = np.repeat(np.flatnonzero(paths.standing), DIRECTIONS)
    directions = np.tile(np.arange(DIRECTIONS), len(starts) // DIRECTIONS)
    start = time.process_time()
    with reading_still(queries_of(paths.ground)) as ground:
        walker = paths._walker
        kinds, _ = walk(paths._places, starts, directions, ground, walker, 1)
    seconds = time.process_time() - start
    said = paths.edges.reshape(-1, DIRECTIONS)[starts, directions] > 0
    rises = _rises(paths)[starts, directions]
    between, ruled = ~np.isnan(rises), rises <= math.tan(RULES["slope_limit"])
    count = int(between.sum())
    rows = [("characters, each edge walked", f"{1e6 * seconds / count:6.1f} us an edge")]
    for name, yes in (("this map", said), ("rise <= tan(limit)", ruled)):
        wrong_yes = int((yes & (kinds == 0) & between).sum())
        wrong_no = int((~yes & (kinds > 0) & between).sum())
        share = f"{100 * wrong_yes / count:6.3f} % and {100 * wrong_no / count:6.3f} %"
        rows.append((f"{name}: wrong yes, wrong no", share))
    rows.append(("this map: in doubt, so walked", f"{100 * doubts / count:6.2f} %"))
    print_table(f"Rough land, {count:,} edges between {side} x {side} places", rows)


def _rises(paths: Walkability) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the rise of each edge over its length on the level; NaN without both ends."""
    _, rows, columns = paths.shape
    heights = paths.heights[0].astype(np.float64)  # there is one level
    padded = np.pad(heights, 1, constant_values=np.nan)
    around = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
    rises = [
        (padded[1 + z : 1 + z + rows, 1 + x : 1 + x + columns] - heights) / math.hypot(x, z)
        for z, x in around
    ]
    return np.stack(rises, axis=-1).reshape(-1, DIRECTIONS)


def main(*, smoke: bool = False) -> None:
    made(rough_land(16))  # compiles
    making_times(24 if smoke else 512, 3 if smoke else 21)
    errors(24 if smoke else 97)


if __name__ == "__main__":
    main()

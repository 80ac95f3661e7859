"""How much of a large land a flood covers, asked at millions of places on a cluster of Dask.

``--places 100_000_000`` asks at a hundred million, and ``--scheduler tcp://HOST:8786`` asks workers
that are there; by default they are two processes of this machine. Heights stay where they are
computed: what comes back is a histogram and a small picture (``--picture OUT.png``).
Without the extra ``dask`` this process answers.
"""

import argparse
import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import HeightMap

from ._drawing import SIZE, save_pixels

Floats = NDArray[np.float64]

SAMPLES = 4096  # along each side, a meter apart
LEVELS = np.arange(0.0, 85.0, 5.0)  # meters
FLOOD = 25.0
WATER, LOW, HIGH = np.array([(54, 96, 148), (86, 118, 62), (236, 232, 222)], float)


def large_land() -> HeightMap:
    """Return 4 km by 4 km of hills: noise that is the smoother the smaller it is."""
    waves = np.fft.rfft2(np.random.default_rng(4).normal(size=(SAMPLES, SAMPLES)))
    along_z = np.fft.fftfreq(SAMPLES)[:, np.newaxis]
    steepness = np.hypot(along_z, np.fft.rfftfreq(SAMPLES)) + 1.0 / SAMPLES
    heights = np.fft.irfft2(waves / steepness**2.1, (SAMPLES, SAMPLES))
    heights = (heights - heights.min()) / np.ptp(heights)
    return HeightMap(heights * LEVELS[-1])


def heights_of(x: Floats, z: Floats, land: HeightMap) -> Floats:
    """Return the heights of a block of places."""
    return land.height_at(x, z)


def scan_lazily(land: HeightMap, side: int, cells: int) -> tuple[Floats, Floats]:
    """Return how many of side x side places lie at each level, and heights for a picture."""
    dask: Any = import_module("dask")  # typed in part only
    da: Any = import_module("dask.array")
    step = (land.heights.shape[0] - 1) / (side - 1)
    places = da.arange(side) * step
    rows = max(1, 2_000_000 // side // cells) * cells  # of a block: 16 MB of heights
    x, z = da.meshgrid(places.rechunk(side), places.rechunk(rows))
    # The land goes along, 64 MB, once to each worker. Nothing is computed yet.
    heights = da.map_blocks(heights_of, x, z, dask.delayed(land), meta=np.empty((0, 0)))
    counts, _ = da.histogram(heights, bins=np.append(LEVELS, np.inf))
    small = da.coarsen(np.mean, heights, {0: cells, 1: cells})
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        found: tuple[Floats, Floats] = dask.compute(counts, small)
    return found


def scan_here(land: HeightMap, side: int, cells: int) -> tuple[Floats, Floats]:
    """Return the same, without Dask."""
    places = np.arange(side) * ((land.heights.shape[0] - 1) / (side - 1))
    counts = np.zeros(len(LEVELS))
    small = np.empty((side // cells, side // cells))
    for row in range(0, side, cells):
        heights = land.height_at(places, places[row : row + cells, np.newaxis])
        counts += np.histogram(heights, bins=np.append(LEVELS, np.inf))[0]
        small[row // cells] = heights.reshape(cells, -1, cells).mean(axis=(0, 2))
    return counts, small


@contextmanager
def workers(scheduler: str | None) -> Generator[str]:
    """Let Dask compute on a cluster within this block; yield what it is."""
    import distributed

    if scheduler is not None:
        with distributed.Client(scheduler):
            yield f"the workers of {scheduler}"
        return
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=40
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield "two processes"


def draw(heights: Floats, file: Path) -> None:
    share = np.clip(heights / LEVELS[-1], 0.0, 1.0)[..., np.newaxis]
    light = 1.0 + 0.35 * np.clip(np.gradient(heights, axis=1), -2.0, 2.0)[..., np.newaxis]
    pixels = np.where(heights[..., np.newaxis] < FLOOD, WATER, (LOW + share * (HIGH - LOW)) * light)
    wide = pixels[: len(pixels) * SIZE[1] // SIZE[0]]  # the north of it, in the picture's shape
    save_pixels(np.clip(wide, 0, 255).astype(np.uint8), file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=1_000_000)
    parser.add_argument("--scheduler")
    parser.add_argument("--picture", type=Path)
    chosen = parser.parse_args()
    cells = max(1, math.isqrt(chosen.places) // 1000)  # places along each side of a pixel
    side = math.isqrt(chosen.places) // cells * cells
    land = large_land()
    start = time.perf_counter()
    if find_spec("distributed") is None:
        where = "this process"
        counts, small = scan_here(land, side, cells)
    else:
        with workers(chosen.scheduler) as where:
            counts, small = scan_lazily(land, side, cells)
    seconds = time.perf_counter() - start
    print(f"{side * side:,} heights by {where}, {seconds:.1f} s")
    below = np.cumsum(counts) / counts.sum()
    for level, share in zip(LEVELS[1:], below, strict=False):
        if level % 10 == 5:
            print(f"a flood of {level:2.0f} m covers {share:6.1%}")
    if chosen.picture is not None:
        draw(small, chosen.picture)


if __name__ == "__main__":
    main()

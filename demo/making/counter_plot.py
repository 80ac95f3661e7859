"""Time the counter on growing sets and draw it: `python -m demo.making.counter_plot [FILE.png]`.

Needs matplotlib (extra `bench`). Times are the machine's that runs it: median of five, two threads.
"""

import sys
from functools import partial
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from terrain_physics import count_touching
from tests.benchmarks.timing import median_seconds
from tests.counter import data_sets

from . import ASSETS

SIZES = (20_000, 63_000, 200_000, 630_000, 2_000_000)


def measure() -> tuple[list[float], list[float]]:
    """Return times in seconds and numbers of touched pairs.

    The cube grows with the number of triangles, so that each sphere touches as many of them.
    """
    times, pairs = [], []
    for size in SIZES:
        triangles, spheres = data_sets.uniform_large(size, 50.0)
        stretch = (size / 200_000) ** (1.0 / 3.0) - 1.0
        middles = triangles.reshape(-1, 3, 3).mean(axis=1)
        triangles += np.tile(middles * stretch, 3)
        spheres[:, 1:] *= 1.0 + stretch
        call = partial(count_touching, triangles, spheres, threads=2)
        times.append(median_seconds({"count": call}, 5)["count"])
        pairs.append(float(call().sum()))
        print(f"n = q = {size:9,}: {times[-1]:.4f} s, {pairs[-1]:,.0f} pairs touch")
    return times, pairs


def main(file: Path) -> None:
    times, pairs = measure()
    sizes = np.array(SIZES, dtype=np.float64)
    work = sizes * np.log2(sizes) + np.array(pairs)
    figure, axes = plt.subplots(figsize=(6.4, 4.0), dpi=120)
    axes.loglog(sizes, times, "o-", label="measured: build and count")
    middle = len(SIZES) // 2
    axes.loglog(
        sizes, work * (times[middle] / work[middle]), "--", color="gray",
        label="n log n + touched pairs",
    )  # fmt: skip
    for size, seconds in zip(SIZES, times, strict=True):
        axes.annotate(
            f"{seconds * 1e3:.0f} ms", (size, seconds), (6, -12), textcoords="offset points"
        )
    axes.set_xlabel("triangles, and as many spheres")
    axes.set_ylabel("seconds on two threads")
    axes.set_title("Counting touched triangles, radii 1 to 50 m, equal density")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(file, metadata={"Software": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ASSETS / "counter.png")

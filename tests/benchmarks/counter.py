"""Time the counter: arrays in memory, then the whole process. `python -m tests.benchmarks.counter`."""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from terrain_physics.contest import count_touching
from tests.contest import data_sets

# Name, generator, n = q, largest radius, the figure to reach on 2 threads in seconds.
SETS: list[tuple[str, Callable[[int, float], data_sets.Problem], int, float, float | None]] = [
    ("uniform, radii 1..50", data_sets.uniform_large, 20_000, 50.0, 0.005),
    ("uniform, radii 1..50", data_sets.uniform_large, 200_000, 50.0, 0.07),
    ("uniform, radii 1..1000", data_sets.uniform_large, 200_000, 1000.0, 0.85),
    ("clustered, radii 1..50", data_sets.clustered_large, 200_000, 50.0, 0.17),
    ("clustered, radii 1..1000", data_sets.clustered_large, 200_000, 1000.0, 0.6),
    ("uniform, radii 1..50", data_sets.uniform_large, 2_000_000, 50.0, None),
]
REPEATS = 5


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def time_arrays() -> None:
    """Print build + count of each set, on one thread and on two, taken in turn."""
    print(
        f"{'set':26} {'n = q':>10} {'1 thread':>10} {'2 threads':>10} {'goal':>8} {'pairs touched':>14}"
    )
    for name, make, count, radius, goal in SETS:
        triangles, spheres = make(count, radius)
        touched = int(count_touching(triangles, spheres).sum())
        times: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(REPEATS):
            for threads, measured in times.items():
                measured.append(
                    seconds(lambda t=threads: count_touching(triangles, spheres, threads=t))
                )  # type: ignore[misc]
        one, two = (f"{statistics.median(times[threads]) * 1e3:7.1f} ms" for threads in (1, 2))
        shown_goal = "" if goal is None else f"{goal * 1e3:.0f} ms"
        print(f"{name:26} {count:10,} {one:>10} {two:>10} {shown_goal:>8} {touched:14,}")


def time_process() -> None:
    """Print the wall time of `count` on 29 MB of text, and of the smallest problem."""
    triangles, spheres = data_sets.uniform_large(200_000, 50.0)
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.in", Path(folder) / "small.in"
        with large.open("w") as file:
            file.write(f"{len(triangles)} {len(spheres)}\n")
            np.savetxt(file, triangles, fmt="%.6f")
            np.savetxt(file, spheres, fmt="%.6f")
        small.write_text("1 1 0 0 0 4 0 0 0 0 4 1 1 1 1\n")
        for file_name in (large, small):
            command = [sys.executable, "-m", "terrain_physics", "count", str(file_name)]
            times = [
                seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))  # noqa: B023
                for _ in range(REPEATS)
            ]
            size = file_name.stat().st_size / 1e6
            print(f"whole process, {size:4.1f} MB of text: {statistics.median(times):.2f} s")


def main() -> None:
    time_arrays()
    time_process()


if __name__ == "__main__":
    main()

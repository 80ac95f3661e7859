"""Time the counter: arrays in memory, against other trees, then whole processes."""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from terrain_physics.counter.touching import count_touching
from tests.benchmarks.counter_peers import (
    cgal_program,
    count_with_cgal,
    count_with_kd_tree,
    kd_tree,
    write_problem,
)
from tests.benchmarks.timing import median_seconds, print_table
from tests.counter import data_sets

ROOT = Path(__file__).parents[2]

# Name, generator, n = q, largest radius, times on 2 threads to reach.
SETS: list[tuple[str, Callable[[int, float], data_sets.Problem], int, float, str]] = [
    ("uniform, radii 1..50", data_sets.uniform_large, 20_000, 50.0, "5 ms"),
    ("uniform, radii 1..50", data_sets.uniform_large, 200_000, 50.0, "70 ms"),
    ("uniform, radii 1..1000", data_sets.uniform_large, 200_000, 1000.0, "850 ms"),
    ("clustered, radii 1..50", data_sets.clustered_large, 200_000, 50.0, "170 ms"),
    ("clustered, radii 1..1000", data_sets.clustered_large, 200_000, 1000.0, "600 ms"),
    ("uniform, radii 1..50", data_sets.uniform_large, 2_000_000, 50.0, "none set"),
]


def arrays(scale: int, repeats: int) -> None:
    """Print build + count of each set, on one thread and on two."""
    rows = []
    for name, make, full_count, radius, goal in SETS:
        count = full_count // scale
        triangles, spheres = make(count, radius)
        calls: dict[str, Callable[[], object]] = {
            str(threads): partial(count_touching, triangles, spheres, threads=threads)
            for threads in (1, 2)
        }
        times = median_seconds(calls, repeats)
        one, two = times["1"] * 1e3, times["2"] * 1e3
        value = f"{one:7.1f} ms; on 2 threads {two:7.1f} ms, goal {goal}"
        rows.append((f"{name}, n = q = {count:,}", value))
    print_table("Counting touched triangles: build and count", rows)


def growth(scale: int, repeats: int) -> None:
    """Print what a sphere takes of ever more triangles and spheres, of the same density."""
    rows = []
    for full_count in (2_000, 20_000, 200_000, 2_000_000):
        count = full_count // scale
        half = 1000.0 * (count / 200_000) ** (1.0 / 3.0)
        triangles, spheres = data_sets.uniform_large(count, 50.0, half=half)
        calls: dict[str, Callable[[], object]] = {
            str(threads): partial(count_touching, triangles, spheres, threads=threads)
            for threads in (1, 2)
        }
        times = median_seconds(calls, repeats)
        one, two = times["1"] * 1e9 / count, times["2"] * 1e9 / count
        rows.append((f"n = q = {count:,}", f"{one:4.0f} ns; two threads {one / two:.2f} times"))
    print_table("Counting touched triangles: a sphere, where density stays the same", rows)


def peers(scale: int, repeats: int) -> None:
    """Print the time of a k-d tree beside ours, in turn; where it is slow, on some spheres only.

    Its spheres are independent of each other, so that the time for some of them, with the tree
    already in it, is scaled up by their number.
    """
    title = "Counting touched triangles: scipy's cKDTree with NumPy, both on 2 threads"
    if kd_tree() is None:
        print_table(title, [("all sets", "not run: scipy is not installed")])
        return
    rows = []
    for (name, make, full_count, radius, _), share in zip(
        SETS, (1, 40, 2000, 400, 2000), strict=False
    ):
        count = full_count // scale
        triangles, spheres = make(count, radius)
        some = spheres[: max(count // share, 10)]
        times = median_seconds(
            {
                "ours": partial(count_touching, triangles, spheres, threads=2),
                "theirs": partial(count_with_kd_tree, triangles, some, threads=2),
            },
            min(repeats, 3),
        )
        if not np.array_equal(
            count_touching(triangles, some), count_with_kd_tree(triangles, some, threads=2)
        ):
            raise RuntimeError(f"{name}: the counts differ")
        factor = count / len(some)
        theirs = times["theirs"] * factor
        about = "" if factor == 1 else f" (from {len(some)} spheres)"
        value = f"{times['ours'] * 1e3:8.1f} ms; k-d tree {theirs:8.2f} s{about}, "
        rows.append((f"{name}, n = q = {count:,}", f"{value}{theirs / times['ours']:,.0f} times"))
    print_table(title, rows)


def cgal(scale: int, repeats: int) -> None:
    """Print the time of CGAL's AABB tree beside ours, in turn; of large radii on some spheres only.

    The time for some spheres is scaled up by their number, that of the build is not.
    """
    title = "Counting touched triangles: CGAL's AABB_tree in C++, both on 1 thread"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program, problem = cgal_program(Path(folder)), Path(folder) / "problem.in"
        if program is None:
            reason = "not run: needs g++ and CGAL (Debian: libcgal-dev)"
            print_table(title, [("all sets", reason)])
            return
        for (name, make, full_count, radius, _), share in zip(
            SETS, (1, 1, 20, 1, 20), strict=False
        ):
            count = full_count // scale
            triangles, spheres = make(count, radius)
            some = spheres[: max(count // share, 10)]
            write_problem(problem, triangles, some)
            counts = count_touching(triangles, some)
            factor = count / len(some)
            ours_taken, theirs_taken = [], []
            for _ in range(min(repeats, 3)):
                call = partial(count_touching, triangles, spheres, threads=1)
                ours_taken.append(median_seconds({"ours": call}, 1)["ours"])
                found, build, queries = count_with_cgal(program, problem)
                if not np.array_equal(counts, found):
                    raise RuntimeError(f"{name}: the counts differ")
                theirs_taken.append(build + queries * factor)
            ours, theirs = statistics.median(ours_taken), statistics.median(theirs_taken)
            about = "" if factor == 1 else f" (from {len(some)} spheres)"
            value = f"{ours * 1e3:8.1f} ms; CGAL {theirs:8.3f} s{about}, {theirs / ours:,.1f} times"
            rows.append((f"{name}, n = q = {count:,}", value))
    print_table(title, rows)


def memory_of(file: Path) -> str:
    """Return the greatest memory that counting a file takes, where the system tells."""
    command = [sys.executable, "-m", "tests.counter.peak_memory", "count", str(file)]
    finished = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
    return f"{finished.stderr.strip()} MB"


def processes(scale: int, repeats: int) -> None:
    """Print the wall time of `count` on 29 MB of text, and on the smallest problem."""
    triangles, spheres = data_sets.uniform_large(200_000 // scale, 50.0)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.in", Path(folder) / "small.in"
        with large.open("w") as file:
            file.write(f"{len(triangles)} {len(spheres)}\n")
            np.savetxt(file, triangles, fmt="%.6f")
            np.savetxt(file, spheres, fmt="%.6f")
        small.write_text("1 1 0 0 0 4 0 0 0 0 4 1 1 1 1\n")
        for path in (large, small):
            command = [sys.executable, "-m", "terrain_physics", "count", str(path)]
            run = partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)
            times = median_seconds({"count": run}, repeats)
            value = f"{times['count']:.2f} s, {memory_of(path)}"
            rows.append((f"{path.stat().st_size / 1e6:.1f} MB of text", value))
    print_table("Counting touched triangles: the whole process", rows)


def main(*, smoke: bool = False) -> None:
    """Print all tables; with ``smoke``, of small sizes."""
    scale, repeats = (200, 1) if smoke else (1, 5)
    arrays(scale, repeats)
    growth(scale, repeats)
    peers(scale, repeats)
    cgal(scale, repeats)
    processes(scale, repeats)


if __name__ == "__main__":
    main()

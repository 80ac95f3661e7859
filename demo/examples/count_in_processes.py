"""Counting shared by processes, in two ways: spheres in batches, and triangles in parts.

A cluster does the same with its own kind of executor: a `TouchCounter` is pickled to each worker
once, or each worker builds one for its part of the triangles, and the counts are added up.
"""

import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from numpy.typing import NDArray

from terrain_physics import TouchCounter

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

PROCESSES = 2
received: list[TouchCounter] = []  # what was pickled to this process, once


def receive(shared: TouchCounter) -> None:
    received.append(shared)


def count_batch(spheres: Array) -> tuple[int, Counts]:
    return os.getpid(), received[0].count(spheres)


def count_part(part: Array, spheres: Array) -> Counts:
    return TouchCounter(part, threads=1).count(spheres)


def scene(triangle_count: int, sphere_count: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(3)
    places = rng.uniform(-100.0, 100.0, (triangle_count, 1, 3))
    triangles = places + rng.uniform(-3.0, 3.0, (triangle_count, 3, 3))
    centers = rng.uniform(-100.0, 100.0, (sphere_count, 3))
    return triangles, np.column_stack([rng.uniform(1.0, 20.0, sphere_count), centers])


def main() -> None:
    triangles, spheres = scene(20_000, 40_000)
    shared = TouchCounter(triangles, threads=1)
    start = time.perf_counter()
    expected = shared.count(spheres)
    seconds = time.perf_counter() - start
    print(f"one process: {expected.sum()} pairs touch, {seconds:.2f} s")

    # Fork would copy the threads that a game or a library has running, without what they do.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, context, receive, (shared,)) as pool:
        batches = list(pool.map(count_batch, np.array_split(spheres, 8)))
    counts = np.concatenate([part for _, part in batches])
    workers = len({process for process, _ in batches})
    print(f"spheres in {len(batches)} batches, {workers} processes: {counts.sum()} pairs touch")

    with ProcessPoolExecutor(PROCESSES, context) as pool:
        parts = np.array_split(triangles, 2)
        sums = sum(pool.map(count_part, parts, [spheres] * len(parts)), np.zeros_like(expected))
    print(f"triangles in {len(parts)} parts, counts added up: {sums.sum()} pairs touch")

    if not (np.array_equal(counts, expected) and np.array_equal(sums, expected)):
        raise SystemExit("the counts differ")
    print("the same for every sphere")


if __name__ == "__main__":
    main()

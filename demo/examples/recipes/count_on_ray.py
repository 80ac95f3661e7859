"""Counting on Ray: the counter is put into the object store once, tasks count blocks of spheres.

Needs ``pip install ray``. ``python -m demo.examples.recipes.count_on_ray``
"""

from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray

from terrain_physics import TouchCounter

from ..count_in_processes import scene


def count_block(counter: TouchCounter, spheres: NDArray[np.float64]) -> NDArray[np.int64]:
    return counter.count(spheres)


def main() -> None:
    triangles, spheres = scene(20_000, 40_000)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    # One thread in each task: Ray runs as many tasks as there are processors.
    shared = ray.put(TouchCounter(triangles, threads=1))
    count: Any = ray.remote(count_block)
    tasks = [count.remote(shared, block) for block in np.array_split(spheres, 8)]
    counts = np.concatenate(ray.get(tasks))
    ray.shutdown()
    print(f"{len(tasks)} tasks: {counts.sum()} pairs touch")
    if not np.array_equal(counts, TouchCounter(triangles).count(spheres)):
        raise SystemExit("the counts differ")
    print("the same for every sphere as in one process")


if __name__ == "__main__":
    main()

"""Counting on a cluster of processes beside one call in memory, and pairs of blocks that may meet.

Triangles and spheres are in Parquet, and workers read them as they do for ``count --scheduler``.
Each way to count has a process of its own, with workers of one thread. Seconds are of the
processors, as others may use the machine, and without the process that waits for the workers.
"""

import json
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from terrain_physics import TouchCounter, count_touching
from terrain_physics._kernels.math import space_curve
from terrain_physics._kernels.types import Floats
from terrain_physics.counter.cluster import partitions, ranges
from terrain_physics.counter.cluster import run as cluster
from terrain_physics.counter.command import _Bar
from tests.benchmarks.timing import print_table
from tests.counter import data_sets

ROOT = Path(__file__).parents[2]
SETS = {"uniform": data_sets.uniform_large, "clustered": data_sets.clustered_large}
RADIUS = 5.0  # meters, at most
WAYS = {
    "in memory, one thread": "memory",
    "one worker": "1",
    "two workers": "2",
    "one worker, shuffled by Dask": "1 shuffled",
}


def main(*, smoke: bool = False) -> None:
    if find_spec("distributed") is None or find_spec("pyarrow") is None:
        print("\nCounting on a cluster: not run, Dask or pyarrow is not installed")
        return
    count_in_processes(20_000 if smoke else 5_000_000)
    pairs_of_blocks(4_000 if smoke else 400_000, (20, 40) if smoke else (20, 40, 80, 160))


def count_in_processes(count: int) -> None:
    for name, make in SETS.items():
        with tempfile.TemporaryDirectory() as folder:
            for what, table in zip(partitions.COLUMNS, make(count, RADIUS), strict=True):
                _write(Path(folder) / f"{what}.parquet", what, table)
            rows = [(way, _told(_in_a_process(how, folder))) for way, how in WAYS.items()]
        print_table(f"{count:,} triangles and spheres, {name}, in Parquet of 10 row groups", rows)


def _write(file: Path, what: str, table: Floats) -> None:
    pa: Any = import_module("pyarrow")
    pq: Any = import_module("pyarrow.parquet")
    columns = dict(zip(partitions.COLUMNS[what], table.T, strict=True))
    pq.write_table(pa.table(columns), file, row_group_size=len(table) // 10)


def _in_a_process(how: str, folder: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.cluster", how, folder]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _told(found: dict[str, Any]) -> str:
    seconds = " and ".join(f"{each:5.1f}" for each in found["seconds"])
    return f"{seconds} s, at most {max(found['bytes']) / 1e9:.2f} GB, {found['touched']:,} touch"


def measured(how: str, folder: str) -> dict[str, Any]:
    """Return seconds and greatest memory of each process that counts, and how many pairs touch."""
    files = [f"{folder}/{what}.parquet" for what in partitions.COLUMNS]
    if how == "memory":
        _warm()
        start = time.process_time()
        triangles, spheres = (
            np.concatenate(
                [partitions.read(partition) for partition in partitions.partitions_of(what, [file])]
            )
            for what, file in zip(partitions.COLUMNS, files, strict=True)
        )
        touched = int(count_touching(triangles, spheres, threads=1).sum())
        seconds = time.process_time() - start
        return {"seconds": [seconds], "bytes": [_most_memory()], "touched": touched}
    distributed: Any = import_module("distributed")
    workers, _, is_shuffled = how.partition(" ")
    most_parts = 0 if is_shuffled else ranges._MOST_PARTS
    with (
        mock.patch.object(ranges, "_MOST_PARTS", most_parts),
        distributed.LocalCluster(
            n_workers=int(workers), threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as local,
        distributed.Client(local) as client,
    ):
        client.run(_warm)
        before = client.run(time.process_time)
        counted = cluster.count(
            local.scheduler_address, files[:1], files[1:], patience=600.0, out=None,
            counter_of=TouchCounter, progress=_Bar(),
        )  # fmt: skip
        after = client.run(time.process_time)
        return {
            "seconds": [after[worker] - before[worker] for worker in before],
            "bytes": list(client.run(_most_memory).values()),
            "touched": sum(int(counts.sum()) for counts in counted.counts),
        }


def _warm() -> None:
    """Load what is compiled."""
    from terrain_physics import count_touching
    from tests.counter import data_sets

    count_touching(*data_sets.uniform_large(1000, 50.0), threads=1)


def _most_memory() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def pairs_of_blocks(count: int, cuts: tuple[int, ...]) -> None:
    """Print how many pairs of a block of spheres and a range may meet, of all."""
    da: Any = import_module("dask.array")
    rows = []
    for name, make in SETS.items():
        triangles, spheres = make(count, RADIUS)
        spheres = spheres[_along_the_curve(spheres[:, 1:])]
        told = []
        for blocks in cuts:
            size = -(-count // blocks)
            with mock.patch.object(ranges, "RANGE_ROWS", size):
                planned = ranges.plan(
                    da.from_array(triangles, (size, 9)),
                    da.from_array(spheres, (size, 4)),
                    TouchCounter,
                )
            told.append(f"{planned.pair_count:,} ({planned.all_pairs:,})")
        rows.append((name, ", ".join(told)))
    heads = ", ".join(map(str, cuts))
    print_table(f"Pairs (of all) of {heads} blocks of spheres and ranges, {count:,} of each", rows)


def _along_the_curve(points: Floats) -> Any:
    keys = np.empty(len(points), np.uint64)
    frame = space_curve.frame_around(points.min(axis=0), points.max(axis=0))
    space_curve.triangle_keys(np.tile(points, 3), 0, len(points), frame, keys)
    return np.argsort(keys)


if __name__ == "__main__":
    print(json.dumps(measured(*sys.argv[1:])))

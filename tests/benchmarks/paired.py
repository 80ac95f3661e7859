"""Two installations in turn: ``python -m tests.benchmarks.paired FIRST_PYTHON SECOND_PYTHON``.

For a wheel with machine code and one that numba compiles, each in an environment of its own. Times
are of the processor, and medians: a busy machine takes longer, both alike.
"""

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from statistics import median

from tests.benchmarks.timing import print_table

START = """
from terrain_physics import CharacterMovement, HeightMap, SphereCollider
CharacterMovement(HeightMap([[0, 0], [0, 0]]), SphereCollider(1)).update(1 / 60)
"""

WARM_UP = "from terrain_physics import warm_up; warm_up()"

CALLS = """
import json, time
import numpy as np
from terrain_physics import CharacterMovement, HeightMap, Sphere, SphereCollider, TouchCounter

rng = np.random.default_rng(1)
x, z = np.meshgrid(np.arange(1025.0), np.arange(1025.0))
land = HeightMap(4 * np.sin(z / 20) + 5 * np.cos(x / 33))
at_x, at_z = rng.uniform(0, 1024, (2, 100_000))
balls = np.column_stack([at_x, land.height_at(at_x, at_z), at_z, np.full(100_000, 0.5)])
ball = Sphere(balls[0, :3], 0.5)
mover = CharacterMovement(land, SphereCollider(0.5), position=(40, land.height_at(40, 40) + 1, 40))
corners = rng.uniform(0, 100, (100_000, 1, 3)) + rng.uniform(-1, 1, (100_000, 3, 3))
spheres = np.column_stack([rng.uniform(0, 100, (100_000, 3)), rng.uniform(0.5, 5, 100_000)])
counter = TouchCounter(corners.reshape(-1, 9), threads=1)

def walk():
    for frame in range(2000):
        mover.velocity.x = 2.0 if frame // 60 % 2 else -2.0
        mover.update(1 / 60)

def times(call, count, repeats=7):
    call()
    found = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        found.append((time.process_time() - began) / count)
    return sorted(found)[repeats // 2]

def thousand(call):
    return lambda: [call() for _ in range(1000)]

print(json.dumps({
    "height_at, us": 1e6 * times(thousand(lambda: land.height_at(40.3, 40.7)), 1000),
    "contacts of a ball, us": 1e6 * times(thousand(lambda: land.contacts(ball)), 1000),
    "update of a walking ball, us": 1e6 * times(walk, 2000),
    "contacts of 100,000 balls, ms": 1e3 * times(lambda: land.contacts(balls, threads=1), 1),
    "counter, 100,000 x 100,000, ms": 1e3 * times(lambda: counter.count(spheres), 1, 5),
}))
"""


def _run(python: str, code: str) -> tuple[str, dict[str, float]]:
    """Run code elsewhere; return what it prints, its time and its memory."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [python, "-E", "-c", code], stdout=output, cwd=tempfile.gettempdir()
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{python} ended with {process.returncode}")
        output.seek(0)
        spent = {"s": used.ru_utime + used.ru_stime, "MB": used.ru_maxrss / 1000}
        return output.read().decode(), spent


def _measure(python: str) -> dict[str, float]:
    _, first = _run(python, START)
    _, all_loaded = _run(python, WARM_UP)
    calls, _ = _run(python, CALLS)
    found = {
        "start to first update, s": first["s"],
        "memory at first update, MB": first["MB"],
        "all of warm_up, s": all_loaded["s"],
    }
    found.update(json.loads(calls))
    return found


def main(pythons: Sequence[str], rounds: int) -> None:
    for python in pythons:
        _measure(python)  # what is compiled is on disk then
    found = [[_measure(python) for python in pythons] for _ in range(rounds)]
    rows = []
    for name in found[0][0]:
        first, second = ([each[which][name] for each in found] for which in (0, 1))
        ratio = median(b / a for a, b in zip(first, second, strict=True))
        rows.append((name, f"{median(first):8.3g} {median(second):8.3g}   ratio {ratio:.2f}"))
    print_table(f"{pythons[0]}, {pythons[1]}: medians of {rounds}", rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.paired", description=__doc__)
    parser.add_argument("python", nargs=2)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    main(options.python, options.rounds)

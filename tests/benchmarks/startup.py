"""Costs of starting: importing, the counter on the sample and a first update, cold and warm."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.timing import print_table

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "assets" / "contest" / "sample.in"
COUNT = [sys.executable, "-m", "terrain_physics", "count", str(SAMPLE)]
UPDATE = [
    sys.executable,
    "-c",
    (
        "from terrain_physics import CharacterMovement, HeightMap, SphereCollider\n"
        "CharacterMovement(HeightMap([[0, 0], [0, 0]]), SphereCollider(1)).update(1 / 60)"
    ),
]


def _run(command: list[str], cache: str) -> float:
    environment = os.environ | {"TERRAIN_PHYSICS_CACHE_DIR": cache}
    start = time.perf_counter()
    subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    rows = []
    for name, command in (
        ("counter on the sample", COUNT),
        ("first update of a character", UPDATE),
    ):
        with tempfile.TemporaryDirectory() as cache:
            cold = _run(command, cache)
            warm = sorted(_run(command, cache) for _ in range(5))[2]
        rows.append((name, f"cold {cold:5.2f} s, warm {warm:5.2f} s"))
    for name, code in (
        ("import terrain_physics", "import terrain_physics"),
        ("import numpy", "import numpy"),
        ("import numba", "import numba"),
        ("nothing", "pass"),
    ):
        times = sorted(_run([sys.executable, "-c", code], os.devnull) for _ in range(5))
        rows.append((name, f"{times[2]:5.2f} s"))
    print_table("Whole processes, from start to end", rows)

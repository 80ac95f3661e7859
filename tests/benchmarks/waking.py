"""Five thousand characters at rest, while a part far away moves and a hole is dug there."""

import time
from statistics import median

import numpy as np
from pyglm import glm

from terrain_physics import CharacterGroup, Ground, HeightMap, SphereCollider, TriangleMesh
from tests.benchmarks.timing import print_table


def main(*, smoke: bool = False) -> None:
    count, rounds = (200, 20) if smoke else (5_000, 400)
    land = HeightMap(np.zeros((257, 257)), cell_size=2)
    lift = TriangleMesh.box((4, 0.5, 4))
    ground = Ground([land, lift])
    group = CharacterGroup(ground, SphereCollider(0.4), threads=1)
    for k, (x, z) in enumerate(np.random.default_rng(1).uniform(2, 400, (count, 2))):
        group.add(k, (x, 0.4, z))
    for _ in range(60):
        group.update(1 / 60)
    times: dict[str, list[float]] = {"undisturbed": [], "disturbed": []}
    for frame in range(2 * rounds):
        which = "disturbed" if frame % 2 else "undisturbed"
        if frame % 2:
            height = 1.0 if frame % 4 == 1 else 1.01
            ground.move(1, ((500, height, 500), glm.quat()), 1 / 60)
            land.carve((480, 440), 2, 0.001)
        begun = time.perf_counter()
        group.update(1 / 60)
        times[which].append(time.perf_counter() - begun)
    quiet, busy = (median(times[which]) * 1e6 for which in ("undisturbed", "disturbed"))
    rows = [
        ("undisturbed", f"{quiet:7.1f} us"),
        ("a far lift moved, a far pit was dug", f"{busy:7.1f} us, {busy - quiet:+.1f}"),
    ]
    print_table(f"An update of {count:,} characters at rest, median of {rounds} frames", rows)

"""Characters beside what happens far away: thousands at rest, and one that asks first."""

import time
from statistics import median

import numpy as np
from pyglm import glm

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from tests.benchmarks.timing import print_table


def main(*, smoke: bool = False) -> None:
    _crowd(smoke=smoke)
    _asked_first(20 if smoke else 400)
    _asleep(20 if smoke else 400)


def _crowd(*, smoke: bool) -> None:
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


def _asked_first(rounds: int) -> None:
    """Print what the first update costs after many far parts moved.

    Beside it stands one after the same moves on another ground: they take the processor's caches.
    """
    rows = []
    for count in (1, 200, 1_000):
        (ground, hero), (_, other) = _walker(count), _walker(count)
        places = np.column_stack([np.full(count, 5e3), np.zeros(count), 4.0 * np.arange(count)])
        times: dict[CharacterMovement, list[float]] = {hero: [], other: []}
        for frame in range(rounds):
            for mover, seconds in times.items():
                places[:, 1] += 0.01
                ground.move_many(range(1, 1 + count), places, 1 / 60)
                mover.walk(2.0 if frame % 60 < 30 else -2.0, 0.0)
                begun = time.perf_counter()
                mover.update(1 / 60)
                seconds.append(time.perf_counter() - begun)
        own, beside = (median(times[mover]) * 1e6 for mover in (hero, other))
        rows.append((f"{count:,} moved", f"{own:6.1f} us, {beside:6.1f} if on another ground"))
    print_table("The first update of a walker after far parts moved, median", rows)


def _walker(count: int) -> tuple[Ground, CharacterMovement]:
    ground, deck = Ground([HeightMap(np.zeros((257, 257)))]), TriangleMesh.box((2, 0.4, 2))
    for _ in range(count):
        ground.add(deck)
    return ground, CharacterMovement(ground, SphereCollider(0.4), position=(200, 0.4, 200))


def _asleep(rounds: int) -> None:
    """Print what an update asleep costs after a far edit."""
    rows = []
    for name in ("a map", "a ground of one map"):
        land = HeightMap(np.zeros((257, 257)))
        body = SphereCollider(0.4)
        mover = CharacterMovement(
            land if name == "a map" else Ground([land]), body, position=(200, 0.4, 200)
        )
        for _ in range(60):
            mover.update(1 / 60)
        times: tuple[list[float], list[float]] = [], []
        for frame in range(2 * rounds):
            if frame % 2:
                land.carve((100, 100 + frame % 50), 2, 0.001)
            begun = time.perf_counter()
            mover.update(1 / 60)
            times[frame % 2].append(time.perf_counter() - begun)
        quiet, edited = (median(own) * 1e6 for own in times)
        rows.append((name, f"{edited:6.1f} us, {quiet:6.1f} if nothing changes"))
    print_table("An update of one body asleep, after a far pit was dug, median", rows)

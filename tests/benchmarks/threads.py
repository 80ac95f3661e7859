"""Two threads against one, from little work to much."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from terrain_physics import CharacterGroup, HeightMap, SphereCollider
from tests.benchmarks.timing import median_seconds, print_table

FRAME = 1 / 60


def _land() -> HeightMap:
    x, z = np.meshgrid(np.arange(1025), np.arange(1025))
    return HeightMap(20 * np.sin(x / 70) + 15 * np.cos(z / 90) + np.sin(x / 7) * np.cos(z / 5))


def _queries(land: HeightMap, count: int) -> dict[str, Callable[[int], object]]:
    rng = np.random.default_rng(count)
    places = rng.uniform(10, 1010, (count, 3)) * (1, 0, 1)
    above = np.add(places, (0, 60, 0))
    ways = rng.normal(size=(count, 3)) * (1, 0, 1) - (0, 0.5, 0)
    heights = land.height_at(places[:, 0], places[:, 2])
    balls = np.column_stack([places[:, 0], heights, places[:, 2], np.full(count, 0.5)])
    return {
        "heights": lambda threads: land.height_at(places[:, 0], places[:, 2], threads=threads),
        "rays": lambda threads: land.raycast_many(above, ways, threads=threads),
        "contacts": lambda threads: land.contacts(balls, threads=threads),
        "sweeps": lambda threads: land.sweep_many(balls, ways, threads=threads),
    }


def _compared(calls: list[Callable[[], object]], repeats: int) -> str:
    one, two = median_seconds(dict(zip("12", calls, strict=True)), repeats).values()
    return f"{1e3 * one:8.3f} ms  {one / two:5.2f} x"


def queries(land: HeightMap, counts: list[int], repeats: int) -> None:
    rows = [
        (f"{count:7,} {name}", _compared([partial(ask, 1), partial(ask, 2)], repeats))
        for count in counts
        for name, ask in _queries(land, count).items()
    ]
    print_table("queries on one thread, and how much faster on two", rows)


def _group(land: HeightMap, count: int, threads: int) -> CharacterGroup:
    group = CharacterGroup(land, SphereCollider(0.5), threads=threads)
    for i, (x, z) in enumerate(np.random.default_rng(2).uniform(30, 980, (count, 2))):
        group.add(i, (x, land.height_at(x, z) + 0.5, z))
    for _ in range(100):
        group.update(FRAME)
    return group


def groups(land: HeightMap, counts: list[int], repeats: int) -> None:
    rows = []
    for count in counts:
        pair = [_group(land, count, threads) for threads in (1, 2)]
        angles = np.random.default_rng(3).uniform(0, 2 * np.pi, count)
        speeds = 4.0 * np.column_stack([np.cos(angles), np.zeros(count), np.sin(angles)])

        def walk(group: CharacterGroup, speeds: NDArray[np.float64] = speeds) -> None:
            group.velocities = speeds
            group.update(FRAME)

        at_rest = _compared([partial(group.update, FRAME) for group in pair], repeats)
        walking = _compared([partial(walk, group) for group in pair], repeats)
        rows += [(f"{count:7,} at rest", at_rest), (f"{count:7,} walking", walking)]
    print_table("a group's frame on one thread, and how much faster on two", rows)


def main(*, smoke: bool = False) -> None:
    land = _land()
    queries(
        land,
        [100, 10_000] if smoke else [10, 100, 1_000, 3_000, 10_000, 30_000, 100_000],
        5 if smoke else 101,
    )
    groups(land, [100] if smoke else [100, 300, 1_000, 5_000], 5 if smoke else 101)


if __name__ == "__main__":
    main()

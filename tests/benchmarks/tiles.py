"""Maps united to a ground against the one map they were cut from, and a land without end."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np

from terrain_physics import CharacterMovement, Ground, HeightMap, Ray, Sphere, SphereCollider
from tests.benchmarks import endless
from tests.benchmarks.terrain import near_surface, wide_land
from tests.benchmarks.terrain_rays import rays_over
from tests.benchmarks.timing import median_seconds, print_table

_SIDE = 256  # cells of a tile, on both axes

Asked = HeightMap | Ground


def main(*, smoke: bool = False) -> None:
    samples = np.asarray(wide_land().heights)
    land = HeightMap(samples, border="open")
    size = _SIDE + 1
    tiles = [
        HeightMap(samples[row : row + size, column : column + size], origin=(column, 0, row))
        for row in range(0, samples.shape[0] - 1, _SIDE)
        for column in range(0, samples.shape[1] - 1, _SIDE)
    ]
    on: dict[str, Asked] = {"tiles": Ground(tiles), "one": land}
    _many(on, 2_000 if smoke else 100_000, 3 if smoke else 9)
    _single(on, 200 if smoke else 2_000, 3 if smoke else 9)
    for side in (64,) if smoke else (64, 512):
        _changes(side)
    endless.main(smoke=smoke)


def _many(on: dict[str, Asked], count: int, rounds: int) -> None:
    land, rng = on["one"], np.random.default_rng(1)
    assert isinstance(land, HeightMap)
    balls = np.column_stack([near_surface(land, rng, count, 0.5), np.full(count, 0.5)])
    rays, motions = rays_over(land, count), rng.normal(size=(count, 3))
    x, z = balls[:, 0].copy(), balls[:, 2].copy()
    _compare(
        f"{count:,} questions, one thread",
        {
            "heights": lambda on: on.height_at(x, z, threads=1),
            "contacts of balls": lambda on: on.contacts(balls, threads=1),
            "  the deepest": lambda on: on.contacts(balls, keep="deepest", threads=1),
            "  counted": lambda on: on.contact_counts(balls, threads=1),
            "rays": lambda on: on.raycast_many(*rays, threads=1),
            "sweeps of balls": lambda on: on.sweep_many(balls, motions, threads=1),
            "closest points": lambda on: on.closest_points(balls[:, :3], threads=1),
        },
        on,
        rounds,
        count,
    )


def _single(on: dict[str, Asked], count: int, rounds: int) -> None:
    land, rng = on["one"], np.random.default_rng(2)
    assert isinstance(land, HeightMap)
    centers = near_surface(land, rng, count, 0.5).tolist()
    balls = [Sphere(center, 0.5) for center in centers]
    rays = [Ray(c, d) for c, d in zip(centers, rng.normal(size=(count, 3)), strict=True)]

    def walk(ground: Asked) -> None:
        mover = CharacterMovement(ground, SphereCollider(0.5), position=(510, 80, 500))
        for k in range(count):  # around where four tiles meet
            mover.velocity = (6 * np.cos(k / 80), mover.velocity.y, 6 * np.sin(k / 80))
            mover.update(1 / 60)

    _compare(
        "One question at a time",
        {
            "a height": lambda on: [on.height_at(x, z) for x, _, z in centers],
            "contacts of a ball": lambda on: [on.contacts(ball) for ball in balls],
            "a ray": lambda on: [on.raycast(ray) for ray in rays],
            "a sweep": lambda on: [on.sweep(ball, (0, -2, 0)) for ball in balls],
            "a frame of a walk": walk,
        },
        on,
        rounds,
        count,
    )


def _compare(
    title: str,
    questions: dict[str, Callable[[Asked], object]],
    on: dict[str, Asked],
    rounds: int,
    count: int,
) -> None:
    calls: dict[str, Callable[[], object]] = {
        f"{name}, {which}": partial(ask, ground)
        for name, ask in questions.items()
        for which, ground in on.items()
    }
    times = median_seconds(calls, rounds)
    rows = []
    for name in questions:
        tiles, one = (times[f"{name}, {which}"] / count * 1e6 for which in on)
        rows.append((name, f"{tiles:7.3f} us, {tiles / one:.2f} times as long as on the one map"))
    print_table(f"16 tiles. {title}", rows)


def _changes(side: int) -> None:
    """Print what it takes to add and to remove a tile beside a hundred others."""
    level = np.zeros((side + 1, side + 1), dtype=np.float32)
    tiles = [HeightMap(level, origin=(side * (k % 10), 0, side * (k // 10))) for k in range(100)]
    ground, tile = Ground(tiles), HeightMap(level, origin=(10 * side, 0, 4 * side))
    adding, removing = [], []
    for _ in range(30):
        begun = time.perf_counter()
        key = ground.add(tile)
        added = time.perf_counter()
        ground.height_at(1.0, 1.0)
        asked = time.perf_counter()
        ground.remove(key)
        adding.append(added - begun)
        removing.append(time.perf_counter() - asked)
    rows = [
        ("add", f"{median(adding) * 1e3:5.2f} ms"),
        ("remove", f"{median(removing) * 1e3:5.2f} ms"),
    ]
    print_table(f"A tile of {side + 1} x {side + 1} samples beside 100 like it, median", rows)

"""Rays, sweeps and heights on a map: one at a time and many, small and large maps, a peer."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import (
    OBB,
    Boxes,
    Capsule,
    Capsules,
    HeightMap,
    Ray,
    Sphere,
)
from tests.benchmarks.timing import median_seconds, print_table

Floats = NDArray[np.float64]


def land_like(samples: int) -> NDArray[np.float32]:
    """Return noise like land: slopes of all lengths, steeper where they are short."""
    rng = np.random.default_rng(1)
    heights = np.zeros((samples, samples), dtype=np.float32)
    step = 256
    while step >= 1:
        coarse = rng.normal(size=(samples // step + 2, samples // step + 2)) * step * 0.12
        place = np.arange(samples) / step
        low = place.astype(int)
        share = (place - low).astype(np.float32)
        rows = coarse[low] * (1 - share)[:, np.newaxis] + coarse[low + 1] * share[:, np.newaxis]
        heights += (rows[:, low] * (1 - share) + rows[:, low + 1] * share).astype(np.float32)
        step //= 4
    return heights


def rays_over(land: HeightMap, count: int) -> tuple[Floats, Floats]:
    """Return rays from 1 to 30 m above the ground, down by 1 to 40 degrees."""
    rng = np.random.default_rng(2)
    rows, columns = land.cell_count
    origins = np.column_stack(
        [rng.uniform(0, columns, count), rng.uniform(1, 30, count), rng.uniform(0, rows, count)]
    )
    origins[:, 1] += land.height_at(origins[:, 0], origins[:, 2])
    turn, down = rng.uniform(0, 2 * np.pi, count), rng.uniform(0.02, 0.7, count)
    along = np.cos(down)
    directions = np.column_stack([along * np.cos(turn), -np.sin(down), along * np.sin(turn)])
    return origins, directions


def queries(land: HeightMap, count: int) -> dict[str, Callable[[], object]]:
    """Return queries of ``count`` rays or bodies, or ten times as many places."""
    rng = np.random.default_rng(3)
    motions = rng.normal(size=(count, 3))
    motions *= 2.0 / np.linalg.norm(motions, axis=1, keepdims=True)
    origins, directions = rays_over(land, count)
    near = origins.copy()
    near[:, 1] = land.height_at(near[:, 0], near[:, 2]) + rng.uniform(0.4, 1.5, count)
    spheres = np.column_stack([near, np.full(count, 0.5)])
    capsules = np.column_stack([near, np.add(near, (0.0, 1.0, 0.0)), np.full(count, 0.4)])
    halves, turns = np.array([(0.4, 0.9, 0.4)]), np.eye(3)[np.newaxis]
    down = np.array([(0.0, -1.0, 0.0)])
    x, z = np.tile(near[:, 0], 10), np.tile(near[:, 2], 10)
    return {
        "oblique rays, to 300 m": lambda: land.raycast_many(origins, directions, 300.0, threads=1),
        "oblique rays, any length": lambda: land.raycast_many(origins, directions, threads=1),
        "upright rays": lambda: land.raycast_many(origins, down, threads=1),
        "sphere sweeps of 2 m": lambda: land.sweep_many(spheres, motions, threads=1),
        "capsule sweeps of 2 m": lambda: land.sweep_many(Capsules(capsules), motions, threads=1),
        "box sweeps of 2 m": lambda: land.sweep_many(
            Boxes(near, halves, turns), motions, threads=1
        ),
        "heights": lambda: land.height_at(x, z, threads=1),
        "normals": lambda: land.normal_at(x, z, threads=1),
    }


def many(scale: int) -> None:
    count = 100_000 // scale
    numbers = np.random.default_rng(4).normal(size=100_000)
    reference = "reference: a sort of 100,000 floats"
    for samples in (1025, 8193) if scale == 1 else (257,):
        heights = land_like(samples)
        start = time.perf_counter()
        land = HeightMap(heights, copy=False)
        built = time.perf_counter() - start
        times = median_seconds(queries(land, count) | {reference: lambda: np.sort(numbers)}, 5)
        rows = []
        for name, seconds in times.items():
            each = count * 10 if name in {"heights", "normals"} else count
            each = len(numbers) if name == reference else each
            rows.append(
                (name, f"{1e9 * seconds / each:8.1f} ns each {each / seconds / 1e6:8.2f} M/s")
            )
        rows.append(("map made, blocks included", f"{1e3 * built:8.1f} ms"))
        print_table(f"Many, one thread, {samples} x {samples}, checks of the input included", rows)


def one(scale: int) -> None:
    land = HeightMap(land_like(257))
    height = land.height_at(100.5, 100.25)
    down = Ray((100.5, height + 9, 100.25), (0, -1, 0))
    oblique = Ray((100.5, height + 9, 100.25), (1, -0.4, 0.3))
    ball = Sphere((100, height + 2, 100), 0.5)
    capsule = Capsule((100, height + 2, 100), (100, height + 3, 100), 0.4)
    box = OBB((100, height + 3, 100), (0.4, 0.9, 0.4), glm.quat(glm.vec3(0.1, 0.2, 0.3)))
    motion = (1.0, -2.0, 0.5)
    repeats = 1000 // scale
    calls: dict[str, Callable[[], object]] = {
        "height_at": lambda: [land.height_at(100.5, 100.25) for _ in range(repeats)],
        "straight-down ray": lambda: [land.raycast(down) for _ in range(repeats)],
        "oblique ray": lambda: [land.raycast(oblique) for _ in range(repeats)],
        "sweep of a ball": lambda: [land.sweep(ball, motion) for _ in range(repeats)],
        "sweep of a capsule": lambda: [land.sweep(capsule, motion) for _ in range(repeats)],
        "sweep of a box": lambda: [land.sweep(box, motion) for _ in range(repeats)],
    }
    calls |= _rapier(land, repeats)
    times = median_seconds(calls, 9)
    rows = [(name, f"{1e6 * seconds / repeats:6.2f} us") for name, seconds in times.items()]
    if not any(name.startswith("rapier3d") for name in calls):
        rows.append(("rapier3d", "not run"))
    print_table("One call from Python, 257 x 257", rows)


def _rapier(land: HeightMap, repeats: int) -> dict[str, Callable[[], object]]:
    """Return the same calls of the peer; none if it is not there."""
    try:
        import rapier3d as rapier  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return {}
    rows, columns = land.cell_count
    world = rapier.PhysicsWorld()
    builder = rapier.Collider.heightfield(land.heights, (columns, 1.0, rows))
    collider = builder.translation((columns / 2, 0.0, rows / 2)).build()
    world.add_collider(collider)
    world.step()
    world.update_query_pipeline()
    pipeline, height = world.query_pipeline, land.height_at(100.5, 100.25)
    start = (100.5, height + 9, 100.25)
    down = rapier.Ray(start, (0.0, -1.0, 0.0))
    oblique = rapier.Ray(start, tuple(Ray(start, (1, -0.4, 0.3)).direction64))

    def cast(ray: Any) -> list[Any]:
        return [pipeline.cast_ray_and_get_normal(ray, 1e6, True) for _ in range(repeats)]

    return {
        "rapier3d: straight-down ray": lambda: cast(down),
        "rapier3d: oblique ray": lambda: cast(oblique),
    }


def main(*, smoke: bool = False) -> None:
    scale = 20 if smoke else 1
    one(scale)
    many(scale)


if __name__ == "__main__":
    main()

"""Contacts of many shapes with a height map of 1025 x 1025 samples, asked in random order."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demo.scenery.scenes import load_land
from terrain_physics import (
    Boxes,
    Capsules,
    ContactBuffer,
    HeightMap,
    Sphere,
)
from tests.benchmarks.timing import median_seconds, print_table


def wide_land() -> HeightMap:
    """Return our land and its mirror images: 1025 x 1025 samples, cells of 1 m."""
    land = load_land()
    samples = np.asarray(land.heights)
    samples = np.concatenate([samples, samples[-2::-1]], axis=0)
    samples = np.concatenate([samples, samples[:, -2::-1]], axis=1)
    return HeightMap(samples)


def near_surface(
    land: HeightMap, rng: np.random.Generator, count: int, reach: Any
) -> NDArray[np.float64]:
    """Return points no farther above or below the surface than ``reach``."""
    rows, columns = land.cell_count
    x, z = rng.uniform(4, columns - 4, count), rng.uniform(4, rows - 4, count)
    return np.column_stack([x, land.height_at(x, z) + rng.uniform(-1, 1, count) * reach, z])


def random_rotations(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    turns, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    turns[:, :, 0] *= np.sign(np.linalg.det(turns))[:, None]
    return turns


def main(*, smoke: bool = False) -> None:
    land, rng = wide_land(), np.random.default_rng(1)
    count = 2_000 if smoke else 100_000
    radii = rng.uniform(0.2, 3.0, count)
    balls = np.column_stack([near_surface(land, rng, count, 0.5), np.full(count, 0.5)])
    mixed = np.column_stack([near_surface(land, rng, count, radii), radii])
    axis = near_surface(land, rng, count, 0.5)
    capsules = np.column_stack([axis, axis + rng.uniform(-0.5, 0.5, (count, 3)), radii * 0.2])
    centers, half = near_surface(land, rng, count, 0.6), [(0.4, 0.9, 0.4)]
    turns = random_rotations(rng, count)

    def boxes(threads: int) -> object:
        return land.contacts(Boxes(centers, half, turns), threads=threads)

    def counted(threads: int) -> object:
        return land.contact_counts(Boxes(centers, half, turns), threads=threads)

    def upright(threads: int) -> object:
        return land.contacts(Boxes(centers, half, [np.eye(3)]), threads=threads)

    calls: dict[str, Any] = {
        "balls, radius 0.5, counted": partial(land.contact_counts, balls, threads=1),
        "balls, radius 0.5": partial(land.contacts, balls, threads=1),
        "  in a buffer": partial(land.contacts, balls, threads=1, out=ContactBuffer()),
        "  two threads": partial(land.contacts, balls, threads=2),
        "  only the deepest": partial(land.contacts, balls, keep="deepest", threads=1),
        "balls, radius 0.2 to 3": partial(land.contacts, mixed, threads=1),
        "  in a buffer ": partial(land.contacts, mixed, threads=1, out=ContactBuffer()),
        "  two threads ": partial(land.contacts, mixed, threads=2),
        "boxes 0.8 x 1.8 x 0.8, turned": partial(boxes, 1),
        "  two threads  ": partial(boxes, 2),
        "  counted ": partial(counted, 1),
        "  not turned": partial(upright, 1),
        "capsules, up to 0.6 thick": partial(land.contacts, Capsules(capsules), threads=1),
        "for comparison: fill 72 bytes for each contact of balls 0.5": partial(
            fill, 9 * len(land.contacts(balls))
        ),
    }
    times = median_seconds(calls, 3 if smoke else 7)
    rows = [
        (
            name,
            f"{1e9 * seconds / count:7.0f} ns each, {count / seconds / 1e6:5.2f} M/s",
        )
        for name, seconds in times.items()
    ]
    found = [len(land.contacts(balls)), len(land.contacts(mixed))]
    found.append(len(land.contacts(Boxes(centers, half, turns))))
    rows.append(("contacts of each", ", ".join(f"{number / count:.1f}" for number in found)))
    print_table(f"Contacts with a 1025 x 1025 map, all of each, {count:,} shapes", rows)

    ball = Sphere(balls[0, :3], 0.5)
    times = median_seconds({"one": lambda: [land.contacts(ball) for _ in range(1000)]}, 20)
    print_table("A single ball", [("its contacts", f"{1e3 * times['one']:6.2f} us")])


def fill(count: int) -> None:
    """Write so many new float64: what memory alone costs."""
    np.empty(count).fill(1.0)

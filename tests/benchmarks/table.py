"""A group as a table: many that come and go at once, columns of the report, scans of the ground."""

import statistics
import time

import numpy as np

from terrain_physics import CapsuleCollider, CharacterGroup, HeightMap
from tests.benchmarks.timing import median_seconds, print_table

FRAME = 1 / 60
WALKER = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))

# 1.6 m along, 1 m across, each 0.1 m.
GRID = [(x, z) for z in np.linspace(-0.8, 0.8, 17) for x in np.linspace(-0.5, 0.5, 11)]

STATE = (
    "grounded", "states", "ground_normals", "materials", "parts", "air_time", "landing_speed",
    "positions", "velocities",
)  # fmt: skip
EVENTS = ("just_landed", "just_left", "just_hit", "blocked", "material_changed")


def _hills() -> HeightMap:
    x, z = np.meshgrid(np.arange(1025), np.arange(1025))
    rng = np.random.default_rng(1)
    heights = 2.0 * np.sin(x / 7) + 1.5 * np.cos(z / 9) + rng.normal(0.0, 0.05, (1025, 1025))
    return HeightMap(heights, materials=rng.integers(0, 4, (1024, 1024)))


def _places(count: int, land: HeightMap) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    x, z = np.random.default_rng(2).uniform(10, 1000, (2, count))
    return np.column_stack([x, land.height_at(x, z) + 0.3, z])


def _group(land: HeightMap, count: int) -> CharacterGroup:
    group = CharacterGroup(land, WALKER, threads=1)
    group.add_many(range(count), _places(count, land))
    return group


def coming_and_going(land: HeightMap, count: int) -> None:
    places, speeds = _places(count, land), np.linspace(0, 2, count)
    group = _group(land, count)

    def one_by_one() -> None:
        single = CharacterGroup(land, WALKER)
        for key, place in enumerate(places[: count // 20]):
            single.add(key, place)

    times = median_seconds(
        {
            "add, one by one": one_by_one,
            "add_many": lambda: _group(land, count),
            "add_many, and remove_many all": lambda: _group(land, count).remove_many(range(count)),
            "reset": lambda: group.reset(places),
            "set_rules of a number": lambda: group.set_rules(gravity_scale=speeds),
            "walk": lambda: group.walk(speeds, 0),
        },
        5,
    )
    times["add, one by one"] *= 20
    print_table(
        f"{count:,} characters at once, 1 thread",
        [(name, f"{1e3 * seconds:8.1f} ms") for name, seconds in times.items()],
    )


def columns(land: HeightMap, count: int) -> None:
    group = _group(land, count)
    angles = np.random.default_rng(3).uniform(0, 2 * np.pi, count)
    for _ in range(60):
        group.walk(4 * np.cos(angles), 4 * np.sin(angles))
        group.update(FRAME)
    times = median_seconds(
        {f"group.{name}": lambda name=name: getattr(group, name) for name in STATE},  # type: ignore[misc]
        101,
    )
    events: dict[str, list[float]] = {name: [] for name in EVENTS}
    for _ in range(31):
        result = group.update(FRAME)  # makes each of them once
        for name, taken in events.items():
            start = time.perf_counter()
            getattr(result, name)
            taken.append(time.perf_counter() - start)
    times |= {f"result.{name}": statistics.median(taken) for name, taken in events.items()}
    print_table(
        f"Columns of {count:,} walkers",
        [(name, f"{1e6 * seconds:6.1f} us") for name, seconds in times.items()],
    )


def scans(land: HeightMap, count: int) -> None:
    group = _group(land, count)
    yaw = np.random.default_rng(4).uniform(-3, 3, count)
    rays = [(x, 0, z) for x, z in GRID[::9]]
    times = median_seconds(
        {
            f"height_scan of {len(GRID)}": lambda: group.height_scan(GRID, yaw),
            "height_scan of 81": lambda: group.height_scan(GRID[:81], yaw),
            f"raycast of {len(rays)}": lambda: group.raycast(rays, [(0, -1, 0.5)], yaw=yaw),
        },
        11,
    )
    print_table(
        f"Around {count:,} characters, 1 thread",
        [(name, f"{1e6 * seconds / count:6.2f} us each") for name, seconds in times.items()],
    )


def main(*, smoke: bool = False) -> None:
    land = _hills()
    coming_and_going(land, 2_000 if smoke else 100_000)
    columns(land, 500 if smoke else 5_000)
    scans(land, 100 if smoke else 1_000)


if __name__ == "__main__":
    main()

"""A village of 400 meshes against the same merged into one; parts that are added and removed."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
from pyglm import glm

from terrain_physics import CharacterMovement, Ground, HeightMap, Ray, Sphere, SphereCollider
from terrain_physics import TriangleMesh as Mesh
from tests.benchmarks.timing import median_seconds, print_table

_WIDE = 400.0  # meters of the village, on both axes


def house(x: float, z: float, turn: float) -> Mesh:
    """Return walls with a flight of stairs before them, and a roof: 60 faces."""
    roof = glm.translate(glm.vec3(0, 4.5, 0)) * glm.rotate(0.8, glm.vec3(0, 0, 1))
    stairs = glm.translate(glm.vec3(-1, 0, 4))
    parts = [
        Mesh.box((8, 4, 6)).transformed(glm.translate(glm.vec3(0, 2, 0))),
        Mesh.box((5, 0.2, 6)).transformed(roof),
        Mesh.stairs(2, 0.2, 0.3, 4).transformed(stairs),
    ]
    return Mesh.merged(parts).transformed(
        glm.translate(glm.vec3(x, 0, z)) * glm.rotate(turn, glm.vec3(0, 1, 0))
    )


def village(rng: np.random.Generator) -> list[Mesh]:
    """Return 400 houses in rows."""
    places = np.stack(np.meshgrid(np.arange(20), np.arange(20)), axis=-1).reshape(-1, 2) * 20 + 10
    return [house(x, z, turn) for (x, z), turn in zip(places, rng.uniform(0, 6, 400), strict=True)]


def main(*, smoke: bool = False) -> None:
    rng = np.random.default_rng(1)
    houses, land = village(rng), HeightMap(np.zeros((201, 201)), cell_size=2)
    grounds = {
        "400 parts": Ground([land, *houses]),
        "merged": Ground([land, Mesh.merged(houses)]),
    }
    _batches(grounds, rng, 1_000 if smoke else 100_000, 3 if smoke else 9)
    _single(grounds, rng, 200 if smoke else 5_000, 3 if smoke else 9)
    for count in (1, 200 if smoke else 10_000):
        _changes(count)


def _batches(grounds: dict[str, Ground], rng: np.random.Generator, count: int, rounds: int) -> None:
    centers = rng.uniform((0, 0, 0), (_WIDE, 6, _WIDE), (count, 3))
    balls = np.column_stack([centers, np.full(count, 0.5)])
    directions, motions = rng.normal(size=(count, 3)), 2 * rng.normal(size=(count, 3))
    down = np.array([[0.0, -1.0, 0.0]])
    x, z = centers[:, 0].copy(), centers[:, 2].copy()
    questions: dict[str, Callable[[Ground], object]] = {
        "contacts of balls": lambda on: on.contacts(balls, threads=1),
        "  counted": lambda on: on.contact_counts(balls, threads=1),
        "rays": lambda on: on.raycast_many(centers, directions, 300.0, threads=1),
        "rays down": lambda on: on.raycast_many(centers, down, threads=1),
        "sweeps of balls": lambda on: on.sweep_many(balls, motions, threads=1),
        "heights": lambda on: on.height_at(x, z, threads=1),
        "closest points": lambda on: on.closest_points(centers, threads=1),
    }
    _compare(f"{count:,} questions, one thread", questions, grounds, rounds, count)


def _single(grounds: dict[str, Ground], rng: np.random.Generator, count: int, rounds: int) -> None:
    centers = rng.uniform((0, 0, 0), (_WIDE, 6, _WIDE), (count, 3)).tolist()
    balls = [Sphere(center, 0.5) for center in centers]
    rays = [Ray(c, d) for c, d in zip(centers, rng.normal(size=(count, 3)), strict=True)]
    walkers = {
        name: CharacterMovement(ground, SphereCollider(0.4), position=(5, 0.5, 5), step_offset=0.4)
        for name, ground in grounds.items()
    }

    def walk(on: Ground) -> None:
        mover = next(w for w in walkers.values() if w.ground is on)
        for k in range(count):
            mover.velocity = (3 * np.cos(k / 400), mover.velocity.y, 3 * np.sin(k / 300))
            mover.update(1 / 60)

    questions: dict[str, Callable[[Ground], object]] = {
        "contacts of a ball": lambda on: [on.contacts(ball) for ball in balls],
        "a ray": lambda on: [on.raycast(ray, 300.0) for ray in rays],
        "a sweep": lambda on: [on.sweep(ball, (0, -2, 0)) for ball in balls],
        "a height": lambda on: [on.height_at(x, z) for x, _, z in centers],
        "a closest point": lambda on: [on.closest_point(center) for center in centers],
        "a frame of a walk": walk,
    }
    _compare("One question at a time", questions, grounds, rounds, count)


def _compare(
    title: str,
    questions: dict[str, Callable[[Ground], object]],
    grounds: dict[str, Ground],
    rounds: int,
    count: int,
) -> None:
    times = median_seconds(
        {
            f"{name}, {which}": partial(ask, ground)
            for name, ask in questions.items()
            for which, ground in grounds.items()
        },
        rounds,
    )
    rows = []
    for name in questions:
        many, one = (times[f"{name}, {which}"] / count * 1e6 for which in grounds)
        rows.append((name, f"{many:7.3f} us, {many / one:.2f} times as long as merged"))
    print_table(f"400 houses on a map. {title}", rows)


def _changes(count: int) -> None:
    """Print what it takes to add and to remove a part beside so many others."""
    crates = [Mesh.box((1, 1, 1)).transformed(glm.translate(glm.vec3(*place)))
              for place in np.random.default_rng(2).uniform(0, 1000, (count + 200, 3))]  # fmt: skip
    ground = Ground(crates[:count])
    ground.height_at(0.0, 0.0)
    adding, removing, measuring, keeping = [], [], [], []
    for crate in crates[count:]:
        begun = time.perf_counter()
        key = ground.add(crate)
        added = time.perf_counter()
        ground.height_at(500.0, 500.0)
        asked = time.perf_counter()
        ground.remove(key)
        removed = time.perf_counter()
        assert ground.bounds
        measured = time.perf_counter()
        state = ground.state()
        keeping.append(time.perf_counter() - measured)
        del state
        adding.append(added - begun)
        removing.append(removed - asked)
        measuring.append(measured - removed)
    rows = [
        ("add", f"{median(adding) * 1e6:6.1f} us"),
        ("remove", f"{median(removing) * 1e6:6.1f} us"),
        ("bounds", f"{median(measuring) * 1e6:6.1f} us"),
        ("state", f"{median(keeping) * 1e6:6.1f} us"),
    ]
    print_table(f"A mesh beside {count:,} others, median", rows)

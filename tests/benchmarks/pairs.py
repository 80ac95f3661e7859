"""Costs of one pair of shapes: in arrays, and one by one."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

import terrain_physics
from terrain_physics import AABB, OBB, Capsule, Sphere, Triangle, intersect
from tests.benchmarks.timing import median_seconds, print_table

Rows = list[NDArray[np.float64]]


def _rotations(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    rotations, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    rotations[:, :, 0] *= np.sign(np.linalg.det(rotations))[:, None]
    return np.asarray(rotations)


def _random(rng: np.random.Generator, count: int) -> dict[str, Callable[[], Rows]]:
    """Return what makes shapes of about a meter in a space of two: half of the pairs touch."""

    def places() -> NDArray[np.float64]:
        return rng.uniform(-1, 1, (count, 3))

    def sizes(columns: int) -> NDArray[np.float64]:
        return rng.uniform(0.2, 0.8, (count, columns))

    def corners() -> Rows:
        middle, half = places(), sizes(3)
        return [middle - half, middle + half]

    return {
        "sphere": lambda: [np.hstack([places(), sizes(1)])],
        "capsule": lambda: [np.hstack([places(), places(), sizes(1)])],
        "aabb": corners,
        "obb": lambda: [places(), sizes(3), _rotations(rng, count)],
        "triangle": lambda: [np.stack([places(), places(), places()], axis=1)],
    }


PAIRS = (
    "sphere_sphere", "aabb_aabb", "aabb_sphere", "obb_sphere", "obb_obb", "capsule_sphere",
    "capsule_capsule", "capsule_aabb", "capsule_obb", "sphere_triangle", "obb_triangle",
    "capsule_triangle",
)  # fmt: skip


def in_arrays(scale: int) -> None:
    count = 200_000 // scale
    shapes = _random(np.random.default_rng(1), count)
    calls: dict[str, Callable[[], object]] = {}
    touching = {}
    for pair in PAIRS:
        first, second = pair.split("_")
        run = getattr(terrain_physics.rows, f"intersect_{pair}")
        call = partial(run, *shapes[first](), *shapes[second]())
        calls[pair] = call
        touching[pair] = 1 - np.isnan(call()[:, 0]).mean()
    times = median_seconds(calls, 5)
    rows = [
        (pair, f"{1e9 * seconds / count:6.0f} ns a pair, {touching[pair]:4.0%} touch")
        for pair, seconds in times.items()
    ]
    print_table(f"Pairs as arrays, {count:,} random pairs, checks of the input included", rows)


def one_by_one(scale: int) -> None:
    turn = glm.quat(glm.vec3(0.3, 0.4, 0))
    shapes = {
        "sphere": (Sphere((0.5, 0.75, 0.5), 0.5), Sphere((0.25, 0, 0.25), 0.5)),
        "capsule": (Capsule((0, 0.25, 0), (1, 1, 1), 0.5), Capsule((1, 0, 0), (0, 0.5, 1), 0.5)),
        "aabb": (AABB((0, 0.25, 0), (1, 1, 1)), AABB((0, 0, 0), (1, 0.5, 1))),
        "obb": (OBB((0, 0.75, 0), (1, 1, 1)), OBB((0.25, 0, 0), (1, 0.5, 1), turn)),
        "triangle": (Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0)),) * 2,
    }
    repeats = 1000 // scale
    calls: dict[str, Callable[[], object]] = {}
    for pair in PAIRS:
        first, second = pair.split("_")
        function = getattr(terrain_physics, f"intersect_{pair}")
        one, other = shapes[first][0], shapes[second][1]
        calls[pair] = partial(_repeat, repeats, function, one, other)
    calls["intersect, any pair"] = partial(
        _repeat, repeats, intersect, shapes["sphere"][0], shapes["triangle"][0]
    )
    times = median_seconds(calls, 10)
    rows = [(name, f"{1e6 * seconds / repeats:6.2f} us") for name, seconds in times.items()]
    print_table("One pair, shapes in, vec3 out", rows)


def _repeat(count: int, function: Callable[..., object], *shapes: object) -> None:
    for _ in range(count):
        function(*shapes)


def beside_coal(scale: int) -> None:
    """Box against box, as one call from Python each, beside the collision library coal."""
    try:
        coal: Any = import_module("coal")
    except ImportError:
        print("\nBox against box beside coal: not run, coal is not installed")
        return
    count = 2000 // scale
    rng = np.random.default_rng(1)
    centers, halves = rng.uniform(-1, 1, (2, count, 3)), rng.uniform(0.2, 0.8, (2, count, 3))
    rotations = [_rotations(rng, count), _rotations(rng, count)]
    ours = [
        [OBB(*box) for box in zip(*group, strict=True)]
        for group in zip(centers, halves, rotations, strict=True)
    ]
    theirs = [
        [(coal.Box(2 * h), coal.Transform3s(r, c)) for c, h, r in zip(*group, strict=True)]
        for group in zip(centers, halves, rotations, strict=True)
    ]
    request = coal.CollisionRequest()

    def run_ours() -> int:
        return sum(
            terrain_physics.intersect_obb_obb(one, other) is not None
            for one, other in zip(*ours, strict=True)
        )

    def run_theirs() -> int:
        hits = 0
        for (box, place), (other, other_place) in zip(*theirs, strict=True):
            result = coal.CollisionResult()
            hits += bool(coal.collide(box, place, other, other_place, request, result))
        return hits

    if abs(run_ours() - run_theirs()) > count // 500:
        raise AssertionError("coal finds other contacts")
    times = median_seconds({"terrain_physics": run_ours, "coal": run_theirs}, 10)
    rows = [(name, f"{1e6 * seconds / count:6.2f} us") for name, seconds in times.items()]
    print_table("Box against box, one call from Python for each pair", rows)


def main(*, smoke: bool = False) -> None:
    scale = 20 if smoke else 1
    in_arrays(scale)
    one_by_one(scale)
    beside_coal(scale)

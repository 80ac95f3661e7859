"""Costs in a game loop: one character, pair functions, heights, triangles."""

from collections.abc import Callable
from functools import partial

import numpy as np
from pyglm import glm

import terrain_physics as tp
from demo.scenery.scenes import load_land, reference
from terrain_physics import (
    AABB,
    OBB,
    BoxCollider,
    CharacterMovement,
    Sphere,
    SphereCollider,
    Triangle,
    intersect_obb_triangle,
    intersect_sphere_triangle,
)
from terrain_physics.character.colliders import Collider
from tests.benchmarks.timing import median_seconds, print_table

FRAME = 1 / 60


def _walk(mover: CharacterMovement, frames: int) -> None:
    for frame in range(frames):
        mover.velocity.x = 2.0 if frame // 60 % 2 else -2.0
        mover.update(FRAME)


def characters(scale: int) -> None:
    land = load_land()
    place = (40, land.height_at(40, 40) + 1, 40)
    colliders: dict[str, Collider] = {
        "ball of radius 0.5, walking": SphereCollider(0.5),
        "ball of radius 1, walking": SphereCollider(1.0),
        "box 0.8 x 1.8 x 0.8, walking": BoxCollider((0.4, 0.9, 0.4)),
    }
    frames = 2000 // scale
    calls: dict[str, Callable[[], object]] = {}
    for name, collider in colliders.items():
        mover = CharacterMovement(land, collider, position=place)
        calls[name] = partial(_walk, mover, frames)
    resting = CharacterMovement(land, SphereCollider(0.5), position=place)
    _walk(resting, 10)
    for _ in range(120):
        resting.update(FRAME)

    def rest() -> None:
        for _ in range(frames):
            resting.update(FRAME)

    calls["at rest"] = rest
    times = median_seconds(calls, 5)
    rows = [(name, f"{1e6 * seconds / frames:6.1f} us") for name, seconds in times.items()]
    print_table("One update, called from Python", rows)

    def drop() -> None:
        scene = reference(land)
        for _ in range(120 // scale):
            for mover in scene:
                mover.update(FRAME)

    seconds = median_seconds({"drop": drop}, 3)["drop"]
    print_table(
        "Reference scene, 125 bodies, the first 2 s",
        [("a frame", f"{1e3 * seconds / (120 // scale):.2f} ms")],
    )


def pairs(scale: int) -> None:
    rng = np.random.default_rng(1)
    count = 200_000 // scale
    triangles = rng.uniform(-1, 1, (count, 3, 3))
    spheres = np.column_stack([rng.uniform(-1, 1, (count, 3)), rng.uniform(0.2, 0.8, count)])
    half_extents = rng.uniform(0.2, 0.8, (count, 3))
    rotations, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    rotations[:, :, 0] *= np.sign(np.linalg.det(rotations))[:, None]
    times = median_seconds(
        {
            "sphere-triangle": lambda: tp.rows.intersect_sphere_triangle(spheres, triangles),
            "OBB-triangle, 13 axes": lambda: tp.rows.intersect_obb_triangle(
                spheres[:, :3], half_extents, rotations, triangles
            ),
        },
        5,
    )
    rows = [(name, f"{1e9 * seconds / count:6.0f} ns a pair") for name, seconds in times.items()]
    print_table(f"Pairs as arrays, {count:,} random pairs, checks of the input included", rows)

    sphere, triangle = Sphere((1, 0.75, 1), 1), Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    box = OBB((1, 0.75, 1), (1, 1, 1), glm.quat(glm.vec3(0.3, 0.4, 0)))
    times = median_seconds(
        {
            "sphere-triangle": lambda: [
                intersect_sphere_triangle(sphere, triangle) for _ in range(1000)
            ],
            "OBB-triangle": lambda: [intersect_obb_triangle(box, triangle) for _ in range(1000)],
        },
        20,
    )
    rows = [(name, f"{1e3 * seconds:6.2f} us") for name, seconds in times.items()]
    print_table("One pair, shapes in, vec3 out", rows)


def queries(scale: int) -> None:
    land = load_land()
    rng = np.random.default_rng(1)
    count = 1_000_000 // scale
    xs, zs = rng.uniform(0, 512, (2, count))
    times = median_seconds(
        {
            "heights, an array": lambda: land.height_at(xs, zs),
            "normals, an array": lambda: land.normal_at(xs, zs),
        },
        5,
    )
    rows = [(name, f"{1e9 * seconds / count:6.1f} ns each") for name, seconds in times.items()]
    box = AABB((100, 0, 100), (102, 80, 102))
    times = median_seconds(
        {
            "one height": lambda: [land.height_at(100.5, 100.5) for _ in range(1000)],
            "whether one point is in it": lambda: [
                land.contains((100.5, 9.0, 100.5)) for _ in range(1000)
            ],
            "its signed distance": lambda: [
                land.signed_distance((100.5, 9.0, 100.5)) for _ in range(1000)
            ],
            "triangles within 2 m": lambda: [land.triangles_in(box) for _ in range(1000)],
        },
        10,
    )
    rows += [(name, f"{1e3 * seconds:6.2f} us") for name, seconds in times.items()]
    print_table("Queries of a 513 x 513 map", rows)


def main(*, smoke: bool = False) -> None:
    scale = 20 if smoke else 1
    characters(scale)
    pairs(scale)
    queries(scale)

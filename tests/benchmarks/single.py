"""Single questions as a game asks them from Python, and batches of one."""

from collections.abc import Callable

import numpy as np

from terrain_physics import (
    OBB,
    Capsule,
    Ground,
    HeightMap,
    Ray,
    Sphere,
    Triangle,
    TriangleMesh,
    intersect_obb_triangle,
    intersect_sphere_triangle,
)
from tests.benchmarks.timing import median_seconds, print_table

_CALLS = 1000


def main(*, smoke: bool = False) -> None:
    side, repeats = (129, 1) if smoke else (1025, 9)
    z, x = np.mgrid[0:side, 0:side]
    land = HeightMap(20 * np.sin(x / 40) * np.cos(z / 37) + 8 * np.sin(x / 13 + z / 17))
    at_x, at_z = 0.5 * side + 0.3, 0.4 * side + 0.7
    y = land.height_at(at_x, at_z)
    ball, box = Sphere((at_x, y + 0.3, at_z), 0.5), OBB((at_x, y + 0.3, at_z), (0.5, 0.5, 0.5))
    capsule = Capsule((at_x, y + 0.3, at_z), (at_x, y + 1.3, at_z), 0.5)
    ground = Ground([land, TriangleMesh.box((4.0, 1.0, 4.0))])
    down, slanted = Ray((at_x, y + 50, at_z), (0, -1, 0)), Ray((at_x, y + 50, at_z), (0.5, -1, 0.8))
    floor, resting = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0)), Sphere((1, 0.75, 1), 1)
    crate = OBB((1, 0.75, 1), (1, 1, 1))
    one = np.array([(at_x, y + 0.3, at_z, 0.5)])
    place, way = one[:, :3].copy(), np.array([(0.0, -1.0, 0.0)])
    xs, zs = np.array([at_x]), np.array([at_z])
    start, along = (at_x, y + 50, at_z), (0.0, -1.0, 0.0)
    calls: dict[str, Callable[[], object]] = {
        "height_at": lambda: land.height_at(at_x, at_z),
        "Ray(...)": lambda: Ray(start, along),
        "raycast down": lambda: land.raycast(down),
        "raycast slanted": lambda: land.raycast(slanted, 300.0),
        "contacts of a ball": lambda: land.contacts(ball),
        "contacts of a box": lambda: land.contacts(box),
        "contacts of a capsule": lambda: land.contacts(capsule),
        "deepest contact of a ball": lambda: land.contacts(ball, keep="deepest"),
        "contacts of a ball, two parts": lambda: ground.contacts(ball),
        "sweep of a ball, 2 m": lambda: land.sweep(ball, (2.0, 0.0, 0.0)),
        "intersect_sphere_triangle": lambda: intersect_sphere_triangle(resting, floor),
        "intersect_obb_triangle": lambda: intersect_obb_triangle(crate, floor),
        "height_at, an array of one": lambda: land.height_at(xs, zs),
        "contacts, a row": lambda: land.contacts(one),
        "contact_counts, a row": lambda: land.contact_counts(one),
        "raycast_many, a row": lambda: land.raycast_many(place, way),
        "closest_points, a row": lambda: land.closest_points(place),
    }
    repeated: dict[str, Callable[[], object]] = {name: _often(call) for name, call in calls.items()}
    seconds = median_seconds(repeated, repeats)
    rows = [(name, f"{1e6 * s / _CALLS:6.2f} us") for name, s in seconds.items()]
    print_table(f"One call from Python, hills of {side} x {side} samples", rows)


def _often(call: Callable[[], object]) -> Callable[[], None]:
    def calls() -> None:
        for _ in range(_CALLS):
            call()

    return calls

"""Rays, closest points and predicates: what one of a batch costs, on one thread."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

import terrain_physics as tp
from terrain_physics import (
    Ray,
    Sphere,
    Triangle,
    point_in_triangle_2d,
    raycast_sphere,
    raycast_triangle,
)
from tests.benchmarks.timing import median_seconds, print_table

Floats = NDArray[np.float64]


def _moeller_trumbore(origins: Floats, directions: Floats, triangles: Floats) -> Floats:
    """Return distances by NumPy, the usual way: quick to write, and not watertight."""
    a, ab, ac = (
        triangles[:, 0],
        triangles[:, 1] - triangles[:, 0],
        triangles[:, 2] - triangles[:, 0],
    )
    across = np.cross(directions, ac)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1.0 / (ab * across).sum(axis=1)
        apart = origins - a
        u = (apart * across).sum(axis=1) * inverse
        around = np.cross(apart, ab)
        v = (directions * around).sum(axis=1) * inverse
        t = (ac * around).sum(axis=1) * inverse
        hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t >= 0.0)
    return np.where(hit, t, np.nan)


def _numpy_in_triangle(points: Floats, a: Floats, b: Floats, c: Floats) -> NDArray[np.bool_]:
    """Tell the same by three rounded cross products."""
    pa, pb, pc = a - points, b - points, c - points
    crosses = np.stack(
        [p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0] for p, q in ((pa, pb), (pb, pc), (pc, pa))]
    )
    return np.asarray((crosses >= 0.0).all(axis=0) | (crosses <= 0.0).all(axis=0))


def _peers_of_one_triangle(points: Floats, corners: Floats) -> dict[str, Callable[[], Any] | None]:
    """Return other libraries that tell which of many points are in one triangle; None: missing."""
    calls: dict[str, Callable[[], Any] | None] = {
        "shapely contains_xy": None,
        "matplotlib Path": None,
    }
    try:
        shapely = import_module("shapely")
        polygon = shapely.Polygon(corners)
        shapely.prepare(polygon)
        calls["shapely contains_xy"] = lambda: shapely.contains_xy(
            polygon, points[:, 0], points[:, 1]
        )
    except ImportError:
        pass
    try:
        from matplotlib.path import Path

        path = Path(corners)
        calls["matplotlib Path"] = lambda: path.contains_points(points)
    except ImportError:
        pass
    return calls


def _embree(origins: Floats, directions: Floats, triangle: Floats) -> Callable[[], Any] | None:
    """Return Embree, float32, asked for many rays at one triangle; None where it is missing."""
    try:
        meshes = import_module("embreex.mesh_construction")
        scene = import_module("embreex.rtcore_scene").EmbreeScene()
    except ImportError:
        return None
    meshes.TriangleMesh(scene, triangle.astype(np.float32)[np.newaxis])
    starts, ways = origins.astype(np.float32), directions.astype(np.float32)
    return lambda: scene.run(starts, ways, query="DISTANCE")


def _table(title: str, calls: dict[str, Callable[[], Any] | None], count: int) -> None:
    times = median_seconds({name: call for name, call in calls.items() if call is not None}, 5)
    rows = [
        (name, f"{1e9 * times[name] / count:8.1f} ns each" if name in times else "not run")
        for name in calls
    ]
    print_table(title, rows)


def rays(scale: int) -> None:
    rng = np.random.default_rng(1)
    count = 500_000 // scale
    origins = rng.normal(size=(count, 3)) * 3
    directions = rng.uniform(-1, 1, (count, 3)) - origins
    corners = rng.uniform(-1, 1, (count, 3, 3))
    spheres = np.c_[rng.uniform(-1, 1, (count, 3)), rng.uniform(0.2, 0.8, count)]
    sizes = rng.uniform(0.2, 0.8, (count, 3))
    turns, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    turns[:, :, 0] *= np.sign(np.linalg.det(turns))[:, None]
    capsules = np.c_[corners.reshape(count, 9)[:, :6], spheres[:, 3]]
    ask: Any = partial
    _table(
        f"Rays as arrays, {count:,} rays each at a shape of its own, checks of the input included",
        {
            "triangle": ask(tp.rows.raycast_triangle, origins, directions, corners),
            "triangle, NumPy, not watertight": ask(_moeller_trumbore, origins, directions, corners),
            "sphere": ask(tp.rows.raycast_sphere, origins, directions, spheres),
            "AABB": ask(
                tp.rows.raycast_aabb, origins, directions, spheres[:, :3], spheres[:, :3] + sizes
            ),
            "OBB": ask(tp.rows.raycast_obb, origins, directions, spheres[:, :3], sizes, turns),
            "capsule": ask(tp.rows.raycast_capsule, origins, directions, capsules),
        },
        count,
    )
    _table(
        "The same rays, all at one triangle",
        {
            "triangle": ask(tp.rows.raycast_triangle, origins, directions, corners[:1]),
            "Embree (float32, scene of one triangle)": _embree(origins, directions, corners[0]),
        },
        count,
    )
    ray, ball = Ray((0, 5, 0), (0, -1, 0)), Sphere((0, 0, 0), 1)
    floor = Triangle((-1, 0, -1), (0, 0, 1), (1, 0, -1))
    _table(
        "One ray, shapes in, a float out",
        {
            "triangle": lambda: [raycast_triangle(ray, floor) for _ in range(1000)],
            "sphere": lambda: [raycast_sphere(ray, ball) for _ in range(1000)],
        },
        1000,
    )


def predicates(scale: int) -> None:
    rng = np.random.default_rng(2)
    count = 2_000_000 // scale
    points = rng.uniform(-1, 1, (count, 2))
    a, b, c = rng.uniform(-1, 1, (3, count, 2))
    one = np.array([(-0.9, -0.8), (0.9, -0.7), (0.1, 0.9)])
    edge = one[0] + rng.uniform(0, 1, (count, 1)) * (one[1] - one[0])
    ask: Any = partial
    _table(
        f"Points in one triangle of the plane, {count:,} points",
        {
            "exact": ask(tp.rows.point_in_triangle_2d, points, *one),
            "exact, all points rounded onto an edge": ask(tp.rows.point_in_triangle_2d, edge, *one),
            "NumPy, rounded": ask(_numpy_in_triangle, points, *one),
            **_peers_of_one_triangle(points, one),
        },
        count,
    )
    _table(
        f"Points in triangles of the plane, {count:,} pairs",
        {
            "exact": ask(tp.rows.point_in_triangle_2d, points, a, b, c),
            "NumPy, rounded": ask(_numpy_in_triangle, points, a, b, c),
        },
        count,
    )
    a, b, c = one.tolist()
    _table(
        "One point",
        {"exact": lambda: [point_in_triangle_2d((0.0, 0.0), a, b, c) for _ in range(1000)]},
        1000,
    )
    count = 500_000 // scale
    corners = rng.uniform(-1, 1, (count, 3, 3))
    spheres = np.c_[rng.uniform(-1, 1, (count, 3)), rng.uniform(0.2, 0.8, count)]
    _table(
        f"Spheres, points and triangles, {count:,} random pairs",
        {
            "surface touches": ask(tp.rows.surface_touches_triangle, spheres, corners),
            "closest point": ask(tp.rows.closest_point_on_triangle, spheres[:, :3], corners),
        },
        count,
    )


def main(*, smoke: bool = False) -> None:
    scale = 100 if smoke else 1
    rays(scale)
    predicates(scale)

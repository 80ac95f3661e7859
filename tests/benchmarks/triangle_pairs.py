"""Triangles against triangles: pairs as arrays, and one pair beside CGAL and Coal."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

import terrain_physics as tp
from terrain_physics.geometry.intersect_triangles import (
    crossing_segment,
    intersect_triangle_triangle,
)
from terrain_physics.geometry.shapes import Triangle
from tests.benchmarks.timing import median_seconds, print_table

Rows = NDArray[np.float64]


def _pairs(count: int) -> dict[str, tuple[Rows, Rows]]:
    rng = np.random.default_rng(1)
    first, second = rng.uniform(-1, 1, (2, count, 3, 3))
    one_edge = second.copy()
    one_edge[:, :2] = first[:, :2]
    level, other = first.copy(), second.copy()
    level[:, :, 1] = other[:, :, 1] = 0.3
    slope, beside = np.round(level * 1024.0) / 1024.0, np.round(other * 1024.0) / 1024.0
    for rows in (slope, beside):
        rows[:, :, 1] = rows[:, :, 0] + rows[:, :, 2]
    grid = rng.integers(-2, 3, (2, count, 3, 3)).astype(np.float64)
    return {
        "random": (first, second),
        "apart by the plane of one": (first, second + np.array([0.0, 5.0, 0.0])),
        "shared edge": (first, one_edge),
        "corners on a grid of 5 x 5 x 5": (grid[0], grid[1]),
        "one level plane": (level, other),
        "one sloping plane": (slope, beside),
    }


def arrays(scale: int) -> None:
    count = 200_000 // scale
    rows = []
    for name, (first, second) in _pairs(count).items():
        times = median_seconds(
            {
                "touch": partial(tp.rows.intersect_triangle_triangle, first, second),
                "cross": partial(tp.rows.crossing_segment, first, second),
            },
            5,
        )
        touch, cross = (1e9 * seconds / count for seconds in times.values())
        share = tp.rows.intersect_triangle_triangle(first, second).mean()
        rows.append((name, f"{touch:6.0f} ns {cross:6.0f} ns   {100 * share:3.0f}% touch"))
    print_table(f"Do {count:,} pairs touch; where; checks of the input included", rows)


def _cgal(first: Rows, second: Rows) -> Callable[[], int] | None:
    """Return CGAL's exact test of all pairs, called from Python one by one."""
    try:
        cgal = import_module("CGAL.CGAL_Kernel")
    except ImportError:
        return None

    def triangle(corners: Rows) -> Any:
        return cgal.Triangle_3(*(cgal.Point_3(*corner) for corner in corners.tolist()))

    pairs = [(triangle(a), triangle(b)) for a, b in zip(first, second, strict=True)]
    return lambda: sum(cgal.do_intersect(a, b) for a, b in pairs)


def _coal(first: Rows, second: Rows) -> Callable[[], int] | None:
    """Return Coal's collision test of all pairs, called one by one; it iterates to a tolerance."""
    try:
        coal: Any = import_module("coal")
    except ImportError:
        return None

    place, request = coal.Transform3s(), coal.CollisionRequest()
    pairs = [(coal.TriangleP(*a), coal.TriangleP(*b)) for a, b in zip(first, second, strict=True)]

    def count() -> int:
        touching = 0
        for a, b in pairs:
            result = coal.CollisionResult()
            touching += coal.collide(a, place, b, place, request, result) > 0
        return touching

    return count


def one_by_one(scale: int) -> None:
    count = 2000 // scale
    first, second = _pairs(count)["random"]
    pairs = [(Triangle(*a), Triangle(*b)) for a, b in zip(first, second, strict=True)]
    peers = {
        "CGAL 6, from Python": _cgal(first, second),
        "Coal, from Python": _coal(first, second),
    }
    calls: dict[str, Callable[[], object]] = {
        "whether they touch": lambda: sum(intersect_triangle_triangle(a, b) for a, b in pairs),
        "the segment": lambda: [crossing_segment(a, b) for a, b in pairs],
    }
    calls |= {name: call for name, call in peers.items() if call is not None}
    times = median_seconds(calls, 10)
    rows = [(name, f"{1e6 * seconds / count:6.2f} us") for name, seconds in times.items()]
    rows += [(name, "not run") for name, call in peers.items() if call is None]
    print_table("One random pair, shapes in", rows)


def main(*, smoke: bool = False) -> None:
    scale = 20 if smoke else 1
    arrays(scale)
    one_by_one(scale)

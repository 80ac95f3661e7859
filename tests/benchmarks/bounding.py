"""Time the smallest enclosing sphere: a million points, a million small sets, and other libraries.

Peers are libraries of PyPI: ``cyminiball``, compiled C++, and ``miniball``, plain NumPy.
"""

import math
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import terrain_physics as tp
from terrain_physics import smallest_enclosing_sphere
from tests.benchmarks.timing import median_seconds, print_table

Array = NDArray[np.float64]


def clouds(count: int) -> dict[str, Array]:
    rng = np.random.default_rng(1)
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    places = rng.uniform(-1, 1, (20, 3))[rng.integers(0, 20, count)]
    return {
        "in a ball": directions * rng.uniform(size=(count, 1)) ** (1 / 3),
        "on a sphere": directions,
        "on a sphere 1000 km away": directions + 1e6,
        "in a cube": rng.uniform(-1, 1, (count, 3)),
        "clusters": places + 0.01 * rng.normal(size=(count, 3)),
        "one point, repeated": np.full((count, 3), 0.1),
    }


class Peer(NamedTuple):
    """A library's function of points that returns the center and the squared radius."""

    name: str
    function: str
    most: int


# miniball takes 20 s for 10,000 points, and more than 8 GB for a million.
PEERS = (Peer("cyminiball", "compute", 1_000_000), Peer("miniball", "get_bounding_ball", 1000))


def radius_of(peer: Peer, points: Array) -> float:
    function = getattr(import_module(peer.name), peer.function)
    return math.sqrt(function(points)[1])


def compared(points: Array) -> str:
    """Return the times of ours and of the peers, and by how much their radii are off."""
    radius = smallest_enclosing_sphere(points).radius
    calls: dict[str, Callable[[], object]] = {"ours": partial(smallest_enclosing_sphere, points)}
    notes = []
    for peer in PEERS:
        if len(points) > peer.most:
            continue
        try:
            got = radius_of(peer, points)
        except ImportError:
            notes.append(f"{peer.name} not run")
            continue
        calls[peer.name] = partial(radius_of, peer, points)
        if abs(got - radius) > 1e-12 * radius:
            notes.append(f"radius of {peer.name} off by {got / radius - 1:+.1e}")
    times = median_seconds(calls, 3)
    return "; ".join([f"{name} {1e3 * time:8.2f} ms" for name, time in times.items()] + notes)


def large_sets(scale: int) -> None:
    for count in (1000, 1_000_000 // scale):
        rows = [(name, compared(points)) for name, points in clouds(count).items()]
        print_table(f"Smallest sphere of {count:,} points", rows)


def small_sets(scale: int) -> None:
    rng = np.random.default_rng(2)
    count = 1_000_000 // scale
    sets: dict[str, Array] = {
        f"{size} points": np.ascontiguousarray(rng.uniform(-1, 1, (count, size, 3)))
        for size in (1, 2, 3, 4)
    }
    sets["4 points, nearly in a plane"] = sets["4 points"] * [1.0, 1.0, 1e-9]
    sets |= {f"{size} points": rng.uniform(-1, 1, (count // 20, size, 3)) for size in (8, 100)}
    calls: dict[str, Callable[[], object]] = {
        name: partial(tp.rows.smallest_enclosing_sphere, points) for name, points in sets.items()
    }
    rows = [
        (name, f"{1e9 * seconds / len(sets[name]):8.0f} ns a set")
        for name, seconds in median_seconds(calls, 3).items()
    ]
    print_table("Small sets as one array, checks of the input included", rows)

    triangle = [(0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (2.0, 3.0, 1.0)]
    repeats = 1000
    seconds = median_seconds(
        {"one": lambda: [smallest_enclosing_sphere(triangle) for _ in range(repeats)]}, 5
    )["one"]
    print_table(
        "One triangle, a list in, a Sphere out", [("a call", f"{1e6 * seconds / repeats:.2f} us")]
    )


def main(*, smoke: bool = False) -> None:
    scale = 100 if smoke else 1
    large_sets(scale)
    small_sets(scale)

"""The octree against SciPy's cKDTree, which knows points and one distance for all.

Where radii differ, cKDTree has to be asked for the largest distance at which two balls may touch,
and the pairs it finds are sorted out. Building is included on both sides; the octree's pairs are
sorted, cKDTree's are not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import Octree
from tests.benchmarks.timing import median_seconds, print_table

try:
    from scipy.spatial import cKDTree
except ImportError:
    cKDTree = None  # noqa: N816 its name

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

NEIGHBORS = 10


def _ours(centers: Array, radii: Array) -> Pairs:
    return Octree(centers, radii).overlapping_pairs()


def _scipy(centers: Array, radii: Array) -> Pairs:
    pairs: Pairs = cKDTree(centers).query_pairs(2.0 * radii.max(), output_type="ndarray")
    if radii.min() < radii.max():
        first, second = pairs.T
        reach = radii[first] + radii[second]
        pairs = pairs[((centers[first] - centers[second]) ** 2).sum(axis=1) <= reach * reach]
    return pairs


def _compare(name: str, ours: Callable[[], Any], peer: Callable[[], Any] | None) -> None:
    calls = {"octree": ours}
    if peer is not None:
        calls["cKDTree"] = peer
    times = median_seconds(calls, 7)
    rows = [(who, f"{1e3 * seconds:8.1f} ms") for who, seconds in times.items()]
    if peer is None:
        rows.append(("cKDTree", "not run"))
    else:
        rows.append(("ratio", f"{times['cKDTree'] / times['octree']:8.1f}"))
    print_table(name, rows)


def _scenes(count: int) -> dict[str, tuple[Array, Array]]:
    """Return centers and radii: in a cube, as small and large together, on a line, on a plane."""
    rng = np.random.default_rng(1)
    cube = rng.uniform(0.0, 1.0, (count, 3))
    radius = 0.5 * (NEIGHBORS / (count * 4 / 3 * np.pi)) ** (1 / 3)
    mixed = 10.0 ** rng.uniform(-2.0, 0.0, count)
    first, second = mixed, rng.permutation(mixed)
    mixed *= (NEIGHBORS / (count * 4 / 3 * np.pi * ((first + second) ** 3).mean())) ** (1 / 3)
    line = cube * (0.0, 1.0, 0.0)
    plane = cube * (0.0, 1.0, 1.0)
    return {
        "in a cube, of equal size": (cube, np.full(count, radius)),
        "in a cube, a hundredfold apart in size": (cube, mixed),
        "on a line along x = 0, of equal size": (line, np.full(count, NEIGHBORS / count / 4)),
        "on the plane x = 0, of equal size": (
            plane,
            np.full(count, 0.5 * (NEIGHBORS / (count * np.pi)) ** 0.5),
        ),
    }


def pairs(count: int) -> None:
    for name, (centers, radii) in _scenes(count).items():
        octree = Octree(centers, radii)
        found, tests = len(octree.overlapping_pairs()), octree.count_pair_tests()
        if cKDTree is not None and len(_scipy(centers, radii)) != found:
            raise SystemExit(f"{name}: the numbers of pairs differ")
        _compare(
            f"{count:,} balls {name}: {found:,} pairs, {tests / count:.0f} tests a ball",
            lambda c=centers, r=radii: _ours(c, r),  # type: ignore[misc]
            None if cKDTree is None else lambda c=centers, r=radii: _scipy(c, r),  # type: ignore[misc]
        )


def moves(count: int) -> None:
    """A hundredth moves, and the pairs are asked for again."""
    centers, radii = _scenes(count)["in a cube, of equal size"]
    rng = np.random.default_rng(2)
    octree = Octree(centers, radii)
    balls = np.column_stack([centers, radii])

    def step() -> NDArray[np.int64]:
        movers = rng.choice(count, count // 100, replace=False)
        balls[movers, :3] += rng.normal(0.0, radii[0], (len(movers), 3))
        return movers

    def ours() -> None:
        movers = step()
        octree.move_many(movers, balls[movers])
        octree.overlapping_pairs()

    def peer() -> None:
        step()
        _scipy(np.ascontiguousarray(balls[:, :3]), radii)

    name = f"{count // 100:,} of {count:,} balls move, and the pairs are asked for again"
    _compare(name, ours, None if cKDTree is None else peer)


def single_calls(count: int) -> None:
    from terrain_physics import Ray, Sphere

    centers, radii = _scenes(count)["in a cube, of equal size"]
    octree = Octree(centers, radii)
    sphere, ray = Sphere((0.5, 0.5, 0.5), radii[0]), Ray((0, 0.4, 0.5), (1, 0.1, 0.05))
    ball = Sphere((0.2, 0.2, 0.2), radii[0])
    rng = np.random.default_rng(3)
    spheres = np.column_stack([rng.uniform(0, 1, (1000, 3)), np.full(1000, radii[0])])
    origins, directions = rng.uniform(0, 1, (1000, 3)), rng.normal(size=(1000, 3))

    def each_moved() -> None:
        for _ in range(1000):
            octree.move(7, ball)
            octree.query_sphere(sphere)

    times = median_seconds(
        {
            "what a ball touches": lambda: [octree.query_sphere(sphere) for _ in range(1000)],
            "what a ray meets first": lambda: [octree.raycast(ray) for _ in range(1000)],
            "what 1000 balls touch, each": lambda: octree.query_spheres_many(spheres),
            "what 1000 rays meet, each": lambda: octree.raycast_many(origins, directions),
            "a move, and what a ball touches": each_moved,
        },
        5,
    )
    rows = [(name, f"{1e3 * seconds:7.2f} us") for name, seconds in times.items()]
    print_table(f"One question to an octree of {count:,} balls", rows)


def main(*, smoke: bool = False) -> None:
    count = 5_000 if smoke else 100_000
    pairs(count)
    moves(count)
    single_calls(count)


if __name__ == "__main__":
    main()

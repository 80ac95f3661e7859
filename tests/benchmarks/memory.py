"""Memory that calls of many take beyond what they are given and what they return, at its peak.

Each kind of ground is asked in a process of its own, on one thread. The system tells the greatest
memory of a process since it was last told to forget; arrays that kernels make are in it too. What
a call copies of its input to check it counts as beyond.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import Boxes, Capsules, Contacts, Ground, HeightMap, TriangleMesh
from terrain_physics.surface.shape_rows import CheckedShapes, kind_and_rows
from tests.benchmarks.terrain_limit import hills
from tests.benchmarks.timing import print_table

ROOT = Path(__file__).parents[2]
GOAL = 0.3
RESULT = 100_000_000  # bytes, of each call
STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")

Surface = HeightMap | TriangleMesh | Ground
Floats = NDArray[np.float64]


def ground_of(kind: str) -> Surface:
    """Return a map, the same as a mesh, or a ground of the two, one on the other."""
    land = hills(257)
    if kind == "HeightMap":
        return land
    arrays = land.to_mesh()
    mesh = TriangleMesh(arrays.vertices, arrays.indices.reshape(-1, 3))
    if kind == "TriangleMesh":
        return mesh
    return Ground(
        [
            land,
            TriangleMesh(np.add(arrays.vertices, (0.0, 0.1, 0.0)), arrays.indices.reshape(-1, 3)),
        ]
    )


class Shapes:
    """Arguments of calls: arrays of as many rows as asked for."""

    def __init__(self, ground: Surface) -> None:
        self._ground = ground
        self._rng = np.random.default_rng(1)

    def xs(self, count: int) -> Floats:
        return self._rng.uniform(4.0, 252.0, count)

    def points(self, count: int) -> Floats:
        x, z = self.xs(count), self.xs(count)
        points = np.column_stack([x, np.empty(count), z])
        for some in np.array_split(points, count // 100_000 + 1):
            some[:, 1] = self._ground.height_at(some[:, 0], some[:, 2], threads=1) + 0.2
        return points

    def balls(self, count: int) -> Floats:
        return np.column_stack([self.points(count), np.full(count, 0.5)])

    def capsules(self, count: int) -> Floats:
        points = self.points(count)
        return np.column_stack([points, np.add(points, (0.0, 0.5, 0.3)), np.full(count, 0.4)])

    def turns(self, count: int) -> Floats:
        angles = self._rng.uniform(0.0, 6.0, count)
        turns = np.zeros((count, 3, 3))
        turns[:, 1, 1] = 1.0
        turns[:, 0, 0] = turns[:, 2, 2] = np.cos(angles)
        turns[:, 0, 2], turns[:, 2, 0] = np.sin(angles), -np.sin(angles)
        return turns


HALF, AWAY = np.array([(0.4, 0.9, 0.4)]), np.array([(1.0, -0.5, 0.3)])

Ask = Callable[[Surface, Shapes, int], partial[Any]]


def _heights(g: Surface, s: Shapes, n: int) -> partial[Any]:
    x, z = s.xs(n), s.xs(n)
    return partial(g.height_at, x, z, threads=1)


def _normals(g: Surface, s: Shapes, n: int) -> partial[Any]:
    x, z = s.xs(n), s.xs(n)
    return partial(g.normal_at, x, z, threads=1)


def _boxed(g: Surface, s: Shapes, n: int) -> partial[Any]:
    points = s.points(n)
    lowers, uppers = points - 2.0, points + 2.0
    return partial(g.triangles_in_many, lowers, uppers)


def _rays(g: Surface, s: Shapes, n: int) -> partial[Any]:
    above = np.add(s.points(n), (0.0, 2.0, 0.0))
    ways = np.repeat(AWAY, n, axis=0)
    return partial(g.raycast_many, above, ways, threads=1)


def _rays_down(g: Surface, s: Shapes, n: int) -> partial[Any]:
    above, down = np.add(s.points(n), (0.0, 2.0, 0.0)), np.array([(0.0, -1.0, 0.0)])
    return partial(g.raycast_many, above, down, threads=1)


def _contacts(g: Surface, s: Shapes, n: int) -> partial[Any]:
    balls = s.balls(n)
    return partial(g.contacts, balls, threads=1)


def _deepest(g: Surface, s: Shapes, n: int) -> partial[Any]:
    balls = s.balls(n)
    return partial(g.contacts, balls, keep="deepest", threads=1)


def _counts(g: Surface, s: Shapes, n: int) -> partial[Any]:
    balls = s.balls(n)
    return partial(g.contact_counts, balls, threads=1)


def _capsules(g: Surface, s: Shapes, n: int) -> partial[Any]:
    capsules = s.capsules(n)
    return partial(g.contacts, Capsules(capsules), threads=1)


def _boxes(g: Surface, s: Shapes, n: int) -> partial[Any]:
    points, turns = s.points(n), s.turns(n)
    return partial(g.contacts, Boxes(points, HALF, turns), threads=1)


def _sweeps(g: Surface, s: Shapes, n: int) -> partial[Any]:
    balls = s.balls(n)
    return partial(g.sweep_many, balls, AWAY, threads=1)


def _box_sweeps(g: Surface, s: Shapes, n: int) -> partial[Any]:
    points, turns = s.points(n), s.turns(n)
    return partial(g.sweep_many, Boxes(points, HALF, turns), AWAY, threads=1)


def _closest(g: Surface, s: Shapes, n: int) -> partial[Any]:
    points = np.add(s.points(n), (0.0, 0.5, 0.0))
    return partial(g.closest_points, points, threads=1)


ASKED: dict[str, tuple[Ask, int]] = {
    "height_at": (_heights, 8),
    "normal_at": (_normals, 24),
    "triangles_in_many": (_boxed, 500),
    "raycast_many": (_rays, 65),
    "raycast_many, down": (_rays_down, 65),
    "contacts of balls": (_contacts, 400),
    "contacts of balls, deepest": (_deepest, 88),
    "contact_counts of balls": (_counts, 8),
    "contacts of capsules": (_capsules, 500),
    "contacts of boxes": (_boxes, 500),
    "sweep_many of balls": (_sweeps, 73),
    "sweep_many of boxes": (_box_sweeps, 73),
    "closest_points": (_closest, 41),
}
"""Questions, and roughly the bytes of their answers for each row."""


def bytes_of(result: Any) -> int:
    """Return the size of an answer's arrays."""
    if isinstance(result, np.ndarray):
        return result.nbytes
    if isinstance(result, Contacts):
        kept = (result.query, result.triangle, result.penetration, result.normal, result.point)
        return sum(values.nbytes for values in kept) + len(result) * (
            result.material.strides != (0,)
        )
    return sum(values.nbytes for values in result)


def _input_bytes(values: Any) -> int:
    """Return the size of an argument: an array, or rows of shapes."""
    rows = kind_and_rows(values)[1] if isinstance(values, CheckedShapes) else values
    return int(rows.nbytes)


def _kilobytes(name: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1])


def measure(kind: str, result_size: int) -> None:
    """Print for each call: name, bytes of the result, of the input, and beyond both at the peak."""
    ground = ground_of(kind)
    shapes = Shapes(ground)
    for name, (ask, each) in ASKED.items():
        ask(ground, shapes, 100)()  # kernels are loaded
        call = ask(ground, shapes, max(result_size // each, 100))
        FORGET.write_text("5")
        before = _kilobytes("VmRSS")
        size = bytes_of(result := call())
        beyond = 1024 * (_kilobytes("VmHWM") - before) - size
        given = sum(map(_input_bytes, call.args))
        print(f"{name}\t{size}\t{given}\t{beyond}", flush=True)
        del result, call


def main(*, smoke: bool = False) -> None:
    title = f"Memory at the peak beyond input and result; wanted: under {GOAL:.0%} of the result"
    if not FORGET.exists():
        print_table(title, [("all calls", "not run: needs Linux")])
        return
    size = RESULT // 1000 if smoke else RESULT
    # What is freed goes back to the system at once, so that it is not there for the next call.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "100000", "MALLOC_TRIM_THRESHOLD_": "0"}
    for kind in ("HeightMap", "TriangleMesh", "Ground"):
        command = [sys.executable, "-m", "tests.benchmarks.memory", kind, str(size)]
        finished = subprocess.run(
            command, check=True, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        )
        rows = []
        for line in finished.stdout.splitlines():
            name, *sizes = line.split("\t")
            result, given, beyond = map(int, sizes)
            missed = "" if beyond < GOAL * result else "   missed"
            shares = f"{beyond / result:7.1%}; but for a copy of the input "
            shares += f"{(beyond - given) / result:7.1%}{missed}"
            rows.append((name, f"{result / 1e6:6.1f} MB {shares}"))
        print_table(f"{kind}. {title}", rows)


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2]))

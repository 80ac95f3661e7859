"""A ground of four tiles and a mesh, against the one map and the mesh asked by themselves."""

from collections.abc import Callable
from functools import partial

import numpy as np

from terrain_physics import Ground, HeightMap, Ray, Sphere, TriangleMesh
from tests.benchmarks.terrain import near_surface, wide_land
from tests.benchmarks.terrain_rays import rays_over
from tests.benchmarks.timing import median_seconds, print_table
from tests.helpers.meshes import grid

Asked = HeightMap | TriangleMesh | Ground


def tiles_of(land: HeightMap) -> list[HeightMap]:
    """Return a map cut in four."""
    rows, columns = (count // 2 for count in land.cell_count)
    return [
        HeightMap(land.heights[row : row + rows + 1, column : column + columns + 1], origin=place)
        for row in (0, rows)
        for column in (0, columns)
        for place in [(column, 0, row)]
    ]


def main(*, smoke: bool = False) -> None:
    land, rng = wide_land(), np.random.default_rng(1)
    count = 2_000 if smoke else 100_000
    vertices, faces = grid(rng.uniform(0, 2, (101, 401)))
    mesh = TriangleMesh(np.add(vertices, (300, land.height_at(500.0, 500.0), 450)), faces)
    ground = Ground([*tiles_of(land), mesh])
    balls = np.column_stack([near_surface(land, rng, count, 0.5), np.full(count, 0.5)])
    rays = rays_over(land, count)
    motions = rng.normal(size=(count, 3))
    x, z = np.tile(balls[:, 0], 10), np.tile(balls[:, 2], 10)
    questions: dict[str, Callable[[Asked], object]] = {
        "contacts of balls": lambda on: on.contacts(balls, threads=1),
        "  the deepest": lambda on: on.contacts(balls, keep="deepest", threads=1),
        "  counted": lambda on: on.contact_counts(balls, threads=1),
        "rays": lambda on: on.raycast_many(*rays, threads=1),
        "sweeps of balls": lambda on: on.sweep_many(balls, motions, threads=1),
        "heights": lambda on: on.height_at(x, z),
    }
    calls: dict[str, Callable[[], object]] = {}
    for name, ask in questions.items():
        calls[name] = partial(ask, ground)
        calls[f"{name}, alone"] = partial(_ask_both, ask, land, mesh)
    times = median_seconds(calls, 3 if smoke else 9)
    rows = []
    for name in questions:
        size = len(x) if name == "heights" else count
        seconds, alone = times[name], times[f"{name}, alone"]
        rows.append((name, f"{size / seconds / 1e6:6.2f} M/s, {seconds / alone:.2f} times as long"))
    title = f"A ground of four tiles and a mesh, {count:,} questions, one thread"
    print_table(f"{title}; against the one map and the mesh by themselves", rows)

    ball, ray, way = Sphere(balls[0, :3], 0.5), Ray(rays[0][0], rays[1][0]), (0.0, -2.0, 0.0)
    singles: dict[str, Callable[[], object]] = {
        "contacts of a ball": lambda: [ground.contacts(ball) for _ in range(1000)],
        "a ray": lambda: [ground.raycast(ray) for _ in range(1000)],
        "a sweep": lambda: [ground.sweep(ball, way) for _ in range(1000)],
        "a height": lambda: [ground.height_at(500.5, 400.5) for _ in range(1000)],
    }
    rows = [(name, f"{1e3 * s:6.2f} us") for name, s in median_seconds(singles, 9).items()]
    print_table("One at a time, from Python", rows)


def _ask_both(ask: Callable[[Asked], object], land: HeightMap, mesh: TriangleMesh) -> None:
    ask(land)
    ask(mesh)

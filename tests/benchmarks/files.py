"""A map as an OBJ file, and its numbers as text by Python itself: the same bytes."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from terrain_physics import HeightMap
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics.surface.obj_files import write_obj
from tests.benchmarks.timing import median_seconds, print_table


def main(*, smoke: bool = False) -> None:
    side, repeats = (33, 1) if smoke else (1201, 5)
    rng = np.random.default_rng(1)
    z, x = np.mgrid[0:side, 0:side]
    heights = 40 * np.sin(x / 70) + 30 * np.cos(z / 50) + rng.normal(0, 0.4, (side, side))
    land = HeightMap(heights, cell_size=30)
    arrays = land.to_mesh()
    vertices, normals = arrays.vertices.astype(float), arrays.normals.astype(float)
    faces = arrays.indices.reshape(-1, 3).astype(np.int64)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        calls: dict[str, Callable[[], object]] = {
            "save_obj": lambda: land.save_obj(folder / "land.obj"),
            "its text by kernels": lambda: write_obj(folder / "a.obj", vertices, faces, normals),
            "the same by %r and %d": lambda: _by_python(folder / "b.obj", vertices, faces, normals),
        }
        seconds = median_seconds(calls, repeats)
        same = (folder / "a.obj").read_bytes() == (folder / "b.obj").read_bytes()
        size = (folder / "land.obj").stat().st_size
    rows = [(name, f"{value:6.2f} s") for name, value in seconds.items()]
    rows.append(("the bytes", "equal" if same else "NOT EQUAL"))
    print_table(
        f"A map of {side} x {side} samples as OBJ, {size / 1e6:.0f} MB, {repeats} runs", rows
    )


def _by_python(path: Path, vertices: Floats, faces: Int64s, normals: Floats) -> None:
    with path.open("w", encoding="ascii") as file:
        for line, values in (("v %r %r %r\n", vertices), ("vn %r %r %r\n", normals)):
            for rows in np.array_split(values + 0.0, -(-len(values) // 32768)):
                file.write(line * len(rows) % tuple(rows.ravel().tolist()))
        for some in np.array_split(faces + 1, -(-len(faces) // 32768)):
            numbers = tuple(np.repeat(some, 2, axis=1).ravel().tolist())
            file.write("f %d//%d %d//%d %d//%d\n" * len(some) % numbers)

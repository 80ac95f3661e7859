"""Queries of a map beside a library of hand-written C++ that answers only these: how far to go.

It is compiled here for the processor at hand, with vectors of 16 floats, and used nowhere else. Its
float32 leaves to double only what float32 cannot tell; it writes into arrays that are kept. Ours
checks its input, makes new arrays, and takes any map. Both on one thread, timed by what the thread
took of a processor, in turn.
"""

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demo.making.land import octaves
from terrain_physics import Boxes, HeightMap
from tests.benchmarks.terrain import near_surface, random_rotations
from tests.benchmarks.terrain_rays import rays_over
from tests.benchmarks.timing import median_seconds, print_table

SOURCE = Path(__file__).with_suffix(".cpp")
FLAGS = (
    "-O3", "-march=native", "-mprefer-vector-width=512", "-fno-math-errno", "-fno-trapping-math",
    "-fopenmp-simd", "-std=c++17", "-shared", "-fPIC",
)  # fmt: skip
FARTHEST, WAY = 300.0, 2.0
HALF = np.array([(0.4, 0.9, 0.4)])

_WRITTEN_AT_ONCE = 16  # contacts, needed or not

Floats = NDArray[np.float64]


def hills(side: int) -> HeightMap:
    """Return a land of smooth octaves, from -38 to 33 m; it ends at its border."""
    z, x = np.mgrid[0:side, 0:side] / 200.0
    heights = octaves(x, z, np.random.default_rng(1), 5)
    low, high = heights.min(), heights.max()
    return HeightMap(-38.0 + 71.0 * (heights - low) / (high - low), border="open")


class Queries(NamedTuple):
    """Questions: balls of one radius and of many, boxes, rays, motions of the balls."""

    balls: Floats
    mixed: Floats
    centers: Floats
    turns: Floats
    origins: Floats
    directions: Floats
    motions: Floats


def queries_on(land: HeightMap, count: int) -> Queries:
    """Return so many of each."""
    rng = np.random.default_rng(2)
    radii = rng.uniform(0.2, 3.0, count)
    balls = np.column_stack([near_surface(land, rng, count, 0.5), np.full(count, 0.5)])
    mixed = np.column_stack([near_surface(land, rng, count, radii), radii])
    centers, turns = near_surface(land, rng, count, 0.6), random_rotations(rng, count)
    origins, directions = rays_over(land, count)
    motions = rng.normal(size=(count, 3))
    motions *= WAY / np.linalg.norm(motions, axis=1, keepdims=True)
    return Queries(balls, mixed, centers, np.ascontiguousarray(turns), origins, directions, motions)


def library_in(folder: Path) -> ctypes.CDLL | None:
    """Compile the library into a folder and load it; None where g++ is missing or fails."""
    compiler, file = shutil.which("g++"), folder / "terrain_limit.so"
    if compiler is None:
        return None
    command = [compiler, *FLAGS, str(SOURCE), "-o", str(file)]
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        return None
    library = ctypes.CDLL(str(file))
    library.land_new.restype = ctypes.c_void_p
    library.limit_balls_in_float.restype = library.limit_balls_in_double.restype = ctypes.c_long
    return library


class Limit:
    """The library with a land, and arrays for its answers."""

    def __init__(self, library: ctypes.CDLL, land: HeightMap, count: int, most: int) -> None:
        heights = np.ascontiguousarray(land.heights)
        self._library = library
        self._land = ctypes.c_void_p(library.land_new(_passed(heights), len(heights)))
        # Columns that are a power of two apart would share a few lines of the caches.
        self._room = (most + _WRITTEN_AT_ONCE + 1023) // 1024 * 1024 + 80
        self.counts, self.heights = np.empty(count, np.int64), np.empty(count)
        self.hits, self.triangles = np.empty((7, count)), np.empty(count, np.int64)
        self.contacts: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {
            "float": (np.empty((2, self._room), np.int32), np.empty((9, self._room), np.float32)),
            "double": (np.empty((2, self._room), np.int64), np.empty((9, self._room))),
        }

    def close(self) -> None:
        self._library.land_delete(self._land)

    def _call(self, name: str, *values: Any) -> int:
        function = getattr(self._library, name)
        found: int = function(self._land, *(_passed(value) for value in values))
        return found

    def count(self, balls: Floats) -> None:
        self._call("limit_balls_counted", balls, len(balls), self.counts)

    def find(self, balls: Floats, kind: str) -> int:
        """Write contacts of a kind, ``"float"`` or ``"double"``; return how many."""
        name = f"limit_balls_in_{kind}"
        return self._call(name, balls, len(balls), self._room, *self.contacts[kind])

    def count_boxes(self, centers: Floats, turns: Floats) -> None:
        self._call("limit_boxes_counted", centers, HALF, turns, len(centers), self.counts)

    def look_up(self, xs: Floats, zs: Floats) -> None:
        self._call("limit_heights", xs, zs, len(xs), self.heights)

    def cast_down(self, origins: Floats) -> None:
        self._call("limit_rays_down", origins, len(origins), self.hits, self.triangles)

    def cast(self, origins: Floats, directions: Floats) -> None:
        self._call(
            "limit_rays", origins, directions, FARTHEST, len(origins), self.hits, self.triangles
        )


def _passed(value: Any) -> Any:
    """Return a value as C takes it."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_long(value)


class Question(NamedTuple):
    """A row of the table: what is asked of both, and whether the last answers of both agree."""

    name: str
    ours: Callable[[], Any]
    limit: Callable[[], Any] | None = None
    agrees: Callable[[Any], bool] = lambda _: True


def questions(land: HeightMap, limit: Limit, asked: Queries) -> list[Question]:
    balls, mixed, centers, turns, origins, directions, motions = asked
    xs, zs = origins[:, 0].copy(), origins[:, 2].copy()
    down = np.array([(0.0, -1.0, 0.0)])

    def counts_agree(counts: Any) -> bool:
        return np.array_equal(counts, limit.counts)

    def contacts_agree(kind: str, found: Any) -> bool:
        ints, floats = limit.contacts[kind]
        moves = floats[:3, : len(found)].astype(np.float64)
        return bool(
            np.array_equal(ints[0, : len(found)], found.query)
            and np.array_equal(ints[1, : len(found)], found.triangle)
            and np.isclose(np.sqrt((moves**2).sum(axis=0)).sum(), found.depth.sum(), rtol=1e-6)
        )

    def hits_agree(hits: Any) -> bool:
        close = np.allclose(limit.hits[0], hits.distance, rtol=0, atol=1e-9, equal_nan=True)
        return bool(close and np.mean(limit.triangles == hits.triangle) > 0.9999)

    def contacts(name: str, rows: Floats, kind: str) -> Question:
        ask = partial(land.contacts, rows, threads=1)
        return Question(name, ask, partial(limit.find, rows, kind), partial(contacts_agree, kind))

    boxes, boxes_counted = (centers, HALF, turns), partial(limit.count_boxes, centers, turns)
    return [
        Question(
            "balls, radius 0.5, counted",
            partial(land.contact_counts, balls, threads=1),
            partial(limit.count, balls),
            counts_agree,
        ),
        contacts("balls, radius 0.5, contacts; theirs 44 bytes each", balls, "float"),
        contacts("  theirs 88 bytes each, as ours", balls, "double"),
        contacts("balls, radius 0.2 to 3, contacts; theirs 44 bytes each", mixed, "float"),
        contacts("  theirs 88 bytes each, as ours ", mixed, "double"),
        Question(
            "turned boxes, contacts; theirs counted",
            partial(land.contacts, Boxes(*boxes), threads=1),
            boxes_counted,
            lambda found: len(found) == limit.counts.sum(),
        ),
        Question(
            "turned boxes, counted",
            partial(land.contact_counts, Boxes(*boxes), threads=1),
            boxes_counted,
            counts_agree,
        ),
        Question(
            "rays straight down; theirs heights only",
            partial(land.raycast_many, origins, down, threads=1),
            partial(limit.look_up, xs, zs),
            lambda hits: np.allclose(limit.heights, hits.point[:, 1], rtol=0, atol=1e-9),
        ),
        Question(
            "rays straight down",
            partial(land.raycast_many, origins, down, threads=1),
            partial(limit.cast_down, origins),
            hits_agree,
        ),
        Question(
            f"rays aslant, to {FARTHEST:.0f} m",
            partial(land.raycast_many, origins, directions, FARTHEST, threads=1),
            partial(limit.cast, origins, directions),
            hits_agree,
        ),
        Question(
            f"ball sweeps of {WAY:.0f} m", partial(land.sweep_many, balls, motions, threads=1)
        ),
        Question(
            "heights",
            partial(land.height_at, xs, zs, threads=1),
            partial(limit.look_up, xs, zs),
            lambda heights: np.allclose(limit.heights, heights, rtol=0, atol=1e-9),
        ),
    ]


def row_of(question: Question, count: int, repeats: int) -> tuple[str, str]:
    """Return a row of the table; RuntimeError if the answers differ."""
    calls: dict[str, Callable[[], object]] = {"ours": question.ours}
    if question.limit is None:
        ours = median_seconds(calls, repeats, time.thread_time)["ours"]
        return question.name, f"{count / ours / 1e6:7.2f} M/s         -"
    calls["limit"] = question.limit
    ours, limit = median_seconds(calls, repeats, time.thread_time).values()
    if not question.agrees(question.ours()):
        raise RuntimeError(f"{question.name.strip()}: the answers differ")
    return question.name, (
        f"{count / ours / 1e6:7.2f} M/s {count / limit / 1e6:9.2f} M/s   {ours / limit:5.2f}"
    )


def main(*, smoke: bool = False) -> None:
    side, count, repeats = (129, 1000, 1) if smoke else (1025, 100_000, 7)
    title = f"A map of {side} x {side} samples, {count:,} questions: ours, C++ by hand, C++ : ours"
    with tempfile.TemporaryDirectory() as folder:
        library = library_in(Path(folder))
        if library is None:
            print_table(title, [("all questions", "not run: needs g++")])
            return
        land = hills(side)
        asked = queries_on(land, count)
        most = int(land.contact_counts(asked.mixed).sum())
        limit = Limit(library, land, count, most)
        try:
            rows = [row_of(question, count, repeats) for question in questions(land, limit, asked)]
        finally:
            limit.close()
    print_table(title, rows)


if __name__ == "__main__":
    main()

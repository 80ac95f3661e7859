"""A land of 32,768 x 32,768 cells in tiles: opened, walked through, edited, and asked.

Times are those of this processor's work on the calling thread, where nothing else is said. The walk
has a process of its own: ``python -m tests.benchmarks.endless PATH KILOMETERS``.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from terrain_physics import (
    AABB,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    GeneratedTiles,
    HeightMap,
    Ray,
    Sphere,
    Tile,
    TiledGround,
)
from terrain_physics.heightmap.survey import survey
from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.lattice.tile import LatticeShape, LoadedTile
from tests.benchmarks.timing import median_seconds, print_table
from tests.helpers.lattices import TilesInMemory, ground_of

ROOT = Path(__file__).parents[2]
SIDE, TILES = 256, 128
BODY = CapsuleCollider(0.4, 1.8, offset=(0.0, 0.9, 0.0))
SPEED, RATE, RADIUS = 60.0, 60, 600.0
FRAMES_A_KILOMETER = round(1000.0 * RATE / SPEED)
STATUS = Path("/proc/self/smaps_rollup")

Asked = HeightMap | TiledGround


def main(*, smoke: bool = False) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "land.tiles"
        begun = time.perf_counter()
        TiledGround.make(
            path, made, tile=SIDE, size=(TILES, TILES), dtype="int16", height_scale=0.1
        )
        seconds = time.perf_counter() - begun
        print_table(
            f"{TILES * SIDE:,} x {TILES * SIDE:,} cells in {TILES * TILES:,} tiles",
            [
                ("make", f"{seconds:5.1f} s, {path.stat().st_size / 1e6:.1f} MB"),
                ("open", _opening(path, 5 if smoke else 51)),
            ],
        )
        _walk(path, 2 if smoke else 100)
        _players(path, 300 if smoke else 3000)
        _edits(path, 100 if smoke else 10_000)
        _questions(path, 200 if smoke else 2000)
    _caves(4 if smoke else 17)
    _changes((100, 400) if smoke else (100, 1000, 10_000))


def made(row: int, column: int) -> NDArray[np.float64]:
    """Return hills that are level at the border of their tile; there are 16 kinds of tiles."""
    kind = (row * 5 + column * 3) % 16
    along = np.linspace(0.0, np.pi, SIDE + 1)
    z, x = along[:, np.newaxis], along
    level = np.sin(z) * np.sin(x)
    return 25.0 * level * (1.0 + np.sin((3 + kind % 4) * x) * np.cos((2 + kind // 4) * z))


def _opening(path: Path, count: int) -> str:
    times = []
    for _ in range(count):
        begun = time.process_time()
        land = TiledGround.open(path)
        times.append(time.process_time() - begun)
        land.close()
    return f"{median(times) * 1e3:5.2f} ms, at most {max(times) * 1e3:.2f}"


# The walk


def _walk(path: Path, kilometers: int) -> None:
    command = [sys.executable, "-m", "tests.benchmarks.endless", str(path), str(kilometers)]
    subprocess.run(command, cwd=ROOT, check=True)


def walk(path: Path, kilometers: int) -> None:
    """Walk forth and back over the land; print times of frames and the memory."""
    land = TiledGround.open(path)
    hero = CharacterMovement(land, BODY, position=(1000.0, 5.0, 1000.0))
    frames = kilometers * FRAMES_A_KILOMETER
    times, updates = np.empty(frames), np.empty(frames)
    memory, below, ahead, heading = [], 0, 0, 1.0
    walked, before = 0.0, 1000.0
    begun = time.perf_counter()
    for frame in range(frames):
        if frame % FRAMES_A_KILOMETER == 0:
            memory.append(anonymous())
        start = time.thread_time()
        land.keep_near([hero], RADIUS)
        ahead += land.load_some()
        mid = time.thread_time()
        x = hero.position.x
        heading = 1.0 if x < 1000.0 else -1.0 if x > 31_000.0 else heading
        hero.walk(heading * SPEED, 0.02 * SPEED)
        hero.update(1.0 / RATE)
        times[frame], updates[frame] = mid - start, time.thread_time() - mid
        at = hero.position64
        walked, before = walked + abs(at[0] - before), at[0]
        below += at[1] < land.height_at(at[0], at[2]) - 1e-3
    seconds = time.perf_counter() - begun
    rows = [
        ("keep_near, load_some", percentiles(times)),
        ("update", percentiles(updates)),
        ("waits, frames below the land", f"{land.waits}, {below}"),
        ("tiles that came ahead, and are loaded", f"{ahead}, {len(land.loaded)}"),
    ]
    if memory:
        first, last = memory[1 if len(memory) > 1 else 0], anonymous()
        rows.append(
            (
                "anonymous memory: open, after 1 km, end, most",
                f"{memory[0]:.0f}, {first:.0f}, {last:.0f}, {max(*memory, last):.0f} MB",
            )
        )
    land.close()
    length = f"{walked / 1000.0:.1f} km at {SPEED:.0f} m/s"
    print_table(f"A walk of {length}, {frames:,} frames in {seconds:.1f} s", rows)


def anonymous() -> float:
    """Return the memory of this process that is no file's, in MB; NaN where none is told."""
    if not STATUS.exists():
        return float("nan")
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("Anonymous:"))
    return int(line.split()[1]) / 1e3


def percentiles(times: Iterable[float]) -> str:
    """Return the median and the worst of times in seconds."""
    p50, p99, p999, most = np.percentile(np.array(list(times)) * 1e3, (50, 99, 99.9, 100))
    return f"p50 {p50:6.3f}, p99 {p99:6.3f}, p99.9 {p999:6.3f}, most {most:.3f} ms"


def _players(path: Path, frames: int) -> None:
    """Print what 64 players in 64 places take."""
    land = TiledGround.open(path)
    group = CharacterGroup(land, BODY)
    places = 2000.0 + 4000.0 * np.stack(np.divmod(np.arange(64), 8), axis=1)
    group.add_many(range(64), np.insert(places, 1, 3.0, axis=1))
    angles = np.arange(64) * 0.4
    loading, updating = [], []
    before = anonymous()
    for _ in range(frames):
        start = time.thread_time()
        land.keep_near([group], 300.0)
        land.load_some()
        mid = time.thread_time()
        group.walk(8.0 * np.cos(angles), 8.0 * np.sin(angles))
        group.update(1.0 / RATE)
        loading.append(mid - start)
        updating.append(time.thread_time() - mid)
    rows = [
        ("keep_near, load_some", percentiles(loading)),
        ("update", percentiles(updating)),
        ("tiles loaded", f"{len(land.loaded)}, {anonymous() - before:.0f} MB more"),
    ]
    land.close()
    print_table(f"64 players in 64 places, {frames} frames", rows)


# Edits


def _edits(path: Path, count: int) -> None:
    """Print what edits over many tiles take: to make, to write, and to open again."""
    file = path.with_suffix(".edits")
    land = TiledGround.open(path, edits=file)
    tiles = min(1000, count)
    columns, rows = np.arange(tiles) % 40, np.arange(tiles) // 40
    for row in range(int(rows.max()) + 1):
        land.load_now(AABB((1, 0, row * SIDE + 1), (40 * SIDE - 1, 0, row * SIDE + SIDE - 1)))
    store: Any = land._supply.tiles.edits  # only what writes is of interest
    add, writing, records = store.add, [0.0], list[Any]()

    def timed(*record: Any) -> None:
        records.append(record)
        start = time.thread_time()
        add(*record)
        writing[0] += time.thread_time() - start

    store.add = timed
    start = time.thread_time()
    for k in range(count):
        x = SIDE * columns[k % tiles] + 20.0 + 20.0 * (k // tiles)
        land.carve((x, SIDE * rows[k % tiles] + 100.0), 4.0, 0.5)
    carving = time.thread_time() - start
    start = time.process_time()
    land.compact()
    compacting = time.process_time() - start
    land.sync()
    size = file.stat().st_size
    land.close()
    start = time.process_time()
    TiledGround.open(path, edits=file).close()
    opening = time.process_time() - start
    with TiledGround.open(path, edits=file.with_name("again.edits")) as land:
        add = cast("Any", land)._supply.tiles.edits.add
        start = time.thread_time()
        for record in records:
            add(*record)
        in_a_row = time.thread_time() - start
    rows_told = [
        ("carve", f"{carving * 1e6 / count:6.1f} us each"),
        ("of it, written to the file", f"{writing[0] * 1e3:6.1f} ms in all"),
        ("written in a row", f"{in_a_row * 1e3:6.1f} ms in all"),
        ("compact", f"{compacting * 1e3:6.1f} ms, {size / 1e6:.1f} MB"),
        ("open again", f"{opening * 1e3:6.1f} ms"),
    ]
    print_table(f"{count:,} edits over {tiles:,} tiles", rows_told)


# Questions


def _questions(path: Path, count: int) -> None:
    """Print what questions take on tiles that are loaded, and on one map of the same samples."""
    tiles, width = 8, 8 * SIDE
    samples = np.empty((width + 1, width + 1), dtype=np.float32)
    for row in range(tiles):
        for column in range(tiles):
            part = np.s_[row * SIDE : (row + 1) * SIDE + 1, column * SIDE : (column + 1) * SIDE + 1]
            samples[part] = np.rint(made(row, column))
    one = HeightMap(samples, height_scale=0.1, border="open")
    land = TiledGround.open(path)
    land.load_now(AABB((0, 0, 0), (width, 1, width)))
    rng = np.random.default_rng(3)
    x, z = rng.uniform(20.0, width - 20.0, (2, count))
    y = one.height_at(x, z) + 0.3
    centers = np.column_stack([x, y, z])
    balls = [Sphere(center, 0.5) for center in centers.tolist()]
    directions = rng.normal(size=(count, 3))
    rays = [Ray(c, d) for c, d in zip(centers.tolist(), directions.tolist(), strict=True)]

    def walk_on(ground: Asked) -> None:
        mover = CharacterMovement(ground, BODY, position=(500.0, 20.0, 500.0))
        for k in range(count):
            mover.walk(6.0 * np.cos(k / 80), 6.0 * np.sin(k / 80))
            mover.update(1.0 / RATE)

    asks: dict[str, Callable[[Asked], object]] = {
        "a height": lambda on: [
            on.height_at(float(a), float(b)) for a, b in zip(x, z, strict=True)
        ],
        "contacts of a ball": lambda on: [on.contacts(ball) for ball in balls],
        "a ray": lambda on: [on.raycast(ray, 100.0) for ray in rays],
        "a frame of a walk": walk_on,
        "one of many heights": lambda on: on.height_at(x, z, threads=1),
        "one of many rays": lambda on: on.raycast_many(
            centers, directions, max_distance=100.0, threads=1
        ),
    }
    calls: dict[str, Callable[[], object]] = {
        f"{name}, {which}": partial(ask, ground)
        for name, ask in asks.items()
        for which, ground in (("tiles", land), ("one", one))
    }
    times = median_seconds(calls, 9, time.thread_time)
    rows = []
    for name in asks:
        tiled, whole = (times[f"{name}, {which}"] / count * 1e6 for which in ("tiles", "one"))
        rows.append((name, f"{tiled:8.3f} us, {tiled / whole:.2f} times as long as on one map"))
    print_table("Questions on loaded tiles", rows)
    land.close()


# Tiles that come and go


def _caves(across: int) -> None:
    """Print what a hero's update and a ray take just after a tile with holes has come."""
    rows = []
    for count in (0, 5, 65):
        land = TiledGround.open(
            GeneratedTiles(
                partial(_with_holes, count=count),
                size=(2 * across, 2 * across), tile=SIDE, heights=(-60.0, 60.0), name="caves",
            )
        )  # fmt: skip
        width = float(across * SIDE)
        land.load_now(AABB((SIDE + 1, 0, SIDE + 1), (width, 0, width)))
        hero = CharacterMovement(land, BODY, position=(1.5 * SIDE, 20.0, 1.5 * SIDE))
        updates, rays = [], []
        for k in range(1, across):
            x, z = float((across + k) * SIDE + 9), float(3 * SIDE + 9)
            land.load_now(AABB((x, 0, z), (x + 9, 0, z + 9)))
            start = time.thread_time()
            hero.update(1.0 / RATE)
            mid = time.thread_time()
            land.raycast(Ray(hero.position64, (0.3, -1.0, 0.2)), 300.0)
            updates.append(mid - start)
            rays.append(time.thread_time() - mid)
        land.close()
        told = f"update {median(updates) * 1e3:6.3f} ms, ray {median(rays) * 1e3:6.3f} ms"
        rows.append((f"{count} holes in each tile", told))
    print_table(f"One more tile beside {across - 1} x {across - 1}", rows)


def _with_holes(row: int, column: int, count: int) -> Tile:
    """Return hills with so many holes of a cell."""
    holes = np.zeros((SIDE, SIDE), np.bool_)
    rng = np.random.default_rng([row, column])
    holes[rng.integers(SIDE, size=count), rng.integers(SIDE, size=count)] = True
    return Tile(made(row, column), holes=holes)


def _changes(counts: tuple[int, ...]) -> None:
    """Print what it takes to put a tile among others, and to take it out."""
    rows = []
    for count in counts:
        for name, numbers, lines in _shapes(count):
            told = _put_and_take(numbers, lines, min(10_000, 20 * count))
            rows.append((f"{count:,} tiles, {name}", told))
    print_table("A tile of 65 x 65 samples that comes and goes, with the first question", rows)


def _shapes(count: int) -> Iterable[tuple[str, NDArray[np.int64], int]]:
    """Return which tiles are loaded, by shape, on a lattice of so many lines and columns."""
    side = int(np.ceil(np.sqrt(count)))
    index = np.arange(count)
    yield "a square", index // side * (side + 2) + index % side, side + 2
    lines = 2 * side + 2
    yield "a checkerboard", _on_board(count, lines), lines


def _on_board(count: int, lines: int) -> NDArray[np.int64]:
    """Return tiles of which no two have a common side, from the first row on."""
    row, column = np.divmod(np.arange(lines * lines), lines)
    return np.asarray(np.flatnonzero((row + column) % 2 == 0)[:count])


def _put_and_take(numbers: NDArray[np.int64], lines: int, changes: int) -> str:
    """Take tiles of some that are loaded, at random, and put each in again."""
    shape = LatticeShape(64, lines, lines, (0.0, 0.0, 0.0), (1.0, 1.0), 1.0, np.inf, 0, False, None)
    terrain = LatticeMap(shape, np.ones((lines, lines), np.bool_))
    terrain.source = TilesInMemory(terrain, np.zeros((1, 1), np.float32))
    level = np.zeros((65, 65), dtype=np.float32)  # one for all: nobody writes to it
    blocks = survey(level).blocks
    tiles = [LoadedTile(int(number), level, None, None, blocks) for number in numbers]
    terrain.put(tiles)
    ground = ground_of(terrain)
    adding, removing = np.empty((2, changes))
    for k, index in enumerate(np.random.default_rng(4).integers(len(tiles), size=changes)):
        tile = tiles[index]
        z, x = (64.0 * along + 30.0 for along in divmod(tile.number, lines))
        start = time.thread_time()
        terrain.take([tile.number])
        ground.height_at(x, z)
        mid = time.thread_time()
        terrain.put([tile])
        ground.height_at(x, z)
        adding[k], removing[k] = time.thread_time() - mid, mid - start
    return f"put: {percentiles(adding)}; take: {percentiles(removing)}"


if __name__ == "__main__":
    walk(Path(sys.argv[1]), int(sys.argv[2]))

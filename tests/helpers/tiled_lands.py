"""Land in tiles of which a test knows all samples, and the same land as one height map."""

import hashlib
import threading
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import Ground, HeightMap, TiledGround
from terrain_physics._kernels.heightmap import grid
from terrain_physics.heightmap.survey import survey
from terrain_physics.lattice.tile import LatticeShape, LoadedTile
from terrain_physics.tiles.loading.supply import _STAY
from tests.helpers import forks

SIDE = 64


class TilesOfArrays:
    """Tiles of samples in memory, in place of a file; it knows what was read.

    Attributes
    ----------
    reads : list of int
        The tiles in the order in which they were read.
    failing : dict of int to Exception
        What reading a tile raises.
    gate : threading.Event
        Reading waits until it is set; at first it is.
    """

    path = None

    def __init__(
        self,
        samples: NDArray[Any],
        exists: NDArray[np.bool_] | None = None,
        *,
        thickness: float = np.inf,
        marks: NDArray[np.bool_] | None = None,
        names: tuple[str, ...] | None = None,
        origin: tuple[float, float, float] = (0.0, 0.0, 0.0),
        first: tuple[int, int] = (0, 0),
    ) -> None:
        rows, columns = ((size - 1) // SIDE for size in samples.shape)
        self.samples, self.first = np.asarray(samples, np.float32), first
        self.exists = np.ones((rows, columns), np.bool_) if exists is None else exists
        self.marks = np.zeros((rows * SIDE, columns * SIDE), np.bool_) if marks is None else marks
        self.shape = LatticeShape(
            SIDE, rows, columns, origin, (1.0, 1.0), 1.0, thickness, grid.DIAGONAL_AC,
            marks is not None, names,
        )  # fmt: skip
        self.reads: list[int] = []
        self.failing: dict[int, Exception] = {}
        self._open_gate()

    def _open_gate(self) -> None:
        self.gate = threading.Event()
        self.gate.set()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "gate"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open_gate()

    @property
    def digest(self) -> str:
        parts = self.samples, self.exists, self.marks
        return hashlib.blake2b(b"".join(p.tobytes() for p in parts), digest_size=16).hexdigest()

    @property
    def ranges(self) -> NDArray[np.float32]:
        found = np.full((self.exists.size, 2), np.nan, np.float32)
        for number in np.flatnonzero(self.exists).tolist():
            found[number] = self._tile(number).blocks[-2:]
        return found

    def read(self, number: int) -> LoadedTile:
        self.gate.wait()
        self.reads.append(number)
        if number in self.failing:
            raise self.failing[number]
        return self._tile(number)

    def _tile(self, number: int) -> LoadedTile:
        row, column = divmod(number, self.shape.columns)
        row, column = row * SIDE, column * SIDE
        heights = self.samples[row : row + SIDE + 1, column : column + SIDE + 1].copy()
        cells = None
        if self.shape.has_cells:
            marks = self.marks[row : row + SIDE, column : column + SIDE]
            cells = marks * np.uint8(grid.CELL_HOLE)
        return LoadedTile(number, heights, cells, None, survey(heights).blocks)

    def close(self) -> None:
        pass

    def one_map(self) -> Ground:
        """Return the same land as one height map."""
        known = np.zeros(self.samples.shape, np.bool_)
        for row, column in np.argwhere(self.exists) * SIDE:
            known[row : row + SIDE + 1, column : column + SIDE + 1] = True
        absent = np.repeat(np.repeat(~self.exists, SIDE, axis=0), SIDE, axis=1)
        names = self.shape.material_names
        terrain = HeightMap(
            np.where(known, self.samples, np.nan), origin=self.shape.origin, border="open",
            holes=self.marks | absent, thickness=self.shape.thickness,
            materials=None if names is None else 0, material_names=names,
        )  # fmt: skip
        return Ground([terrain])


def waves(rows: int, columns: int, seed: int = 0) -> NDArray[np.float32]:
    """Return samples of so many tiles, smooth and a little rough."""
    z, x = np.mgrid[: rows * SIDE + 1, : columns * SIDE + 1]
    rng = np.random.default_rng(seed)
    a, b, c = rng.uniform(5, 20, 3)
    hills = 6 * np.sin(x / a) * np.cos(z / b) + 3 * np.sin((x + z) / c)
    return np.asarray(hills + rng.normal(0, 0.1, x.shape), np.float32)


def level(rows: int, columns: int) -> NDArray[np.float32]:
    """Return samples of so many tiles, all 0."""
    return np.zeros((rows * SIDE + 1, columns * SIDE + 1), np.float32)


def forget_needs(land: TiledGround) -> None:
    """Let what updates, questions and edits have needed be as far as all else."""
    for _ in range(_STAY + 1):
        land.keep_near([], radius=1)


def settle(land: TiledGround, frames: int = 1) -> None:
    """Let the thread read all that is wanted, and put it into the land."""
    for _ in range(frames):
        land.load_some(ms=1000, max_bytes=1 << 40)
        end = time.monotonic() + forks.HANG
        while land.is_loading:
            assert time.monotonic() < end
            time.sleep(0.0005)
            land.load_some(ms=1000, max_bytes=1 << 40)


def answers(ground: Ground, seed: int, size: float) -> list[NDArray[Any]]:
    """Return answers to questions of many kinds over land of a size."""
    rng = np.random.default_rng(seed)
    xs, zs = rng.uniform(-10, size + 10, (2, 200))
    heights = ground.height_at(xs, zs)
    origins = np.column_stack([xs, rng.uniform(-30, 40, 200), zs])
    rays = ground.raycast_many(origins, rng.normal(size=(200, 3)))
    near = np.nan_to_num(np.column_stack([xs, heights, zs])) + rng.normal(size=(200, 3))
    balls = np.column_stack([near, rng.uniform(0.2, 3, 200)])
    sweeps, contacts = ground.sweep_many(balls, rng.normal(0, 20, (200, 3))), ground.contacts(balls)
    closest = ground.closest_points(near)
    return [
        heights, ground.normal_at(xs, zs), *rays, *sweeps, contacts.triangle, contacts.depth,
        closest.triangle, closest.distance, ground.contains(near), ground.signed_distance(near),
    ]  # fmt: skip


def assert_alike(one: Ground, other: Ground, seed: int, size: float) -> None:
    for here, there in zip(answers(one, seed, size), answers(other, seed, size), strict=True):
        np.testing.assert_array_equal(here, there)

"""A land of tiles with 64 players, on and on: each case is ten seconds of the same game.

So `python -m tests.fuzz tiles_soak --cases 720 --seconds 36000` plays two hours. Memory, handles
and threads are compared with the most of the first `SETTLED` cases, where the system tells it.
"""

import ctypes
import functools
import gc
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import terrain_physics as tp
from tests.fuzz.soak import Held, held_by

FRAMES, RATE = 600, 60
EVERY = 60
"""Frames from one edit, state, compaction and so on to the next."""
MEASURED, SETTLED = 10, 100
"""Cases from one measurement of what is held to the next, and before it is compared."""
GROWTH = 1.02
_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
"""What lets the C library give free memory back; without it, tiles that went count."""
SIDE, TILES = 64, 200
RADIUS = 120.0
PLAYERS = 64
MOST_TILES = PLAYERS * 40
"""Tiles within one and a half times the radius of the players, with room for those asked for."""
DUG = tuple((150.0 + 260.0 * (k % 45), 200.0 + 270.0 * (k // 45)) for k in range(300))
"""Where people dig: the same places over and over, so that edits do not grow without end."""


def tile(row: int, column: int) -> NDArray[np.float64]:
    """Return hills; a height follows from its place."""
    z, x = np.mgrid[: SIDE + 1, : SIDE + 1]
    x, z = x + column * SIDE, z + row * SIDE
    return np.asarray(6.0 * np.sin(x / 37.0) * np.cos(z / 29.0) + np.sin(x / 5.0 + z / 7.0))


@functools.cache
def game() -> "Game":
    """Return the game that all cases of a process play."""
    return Game()


def case(seed: int) -> None:
    """Play ten seconds."""
    game().play(np.random.default_rng(seed))


def brief_case(seed: int) -> None:
    """Play two seconds."""
    game().play(np.random.default_rng(seed), frames=2 * EVERY)


class Game:
    """Players all over the land, who walk, dig, go back and are put elsewhere."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="terrain_physics_tiles_")
        self.edits = Path(self.folder.name) / "game.edits"
        self.land = self.open()
        self.group = tp.CharacterGroup(
            self.land, tp.CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), collide=True
        )
        rng = np.random.default_rng(0)
        places = rng.uniform(200.0, SIDE * TILES - 200.0, (PLAYERS, 3))
        places[:, 1] = 12.0
        self.group.add_many(range(PLAYERS), places)
        self.known: dict[tuple[float, float], float] = {}  # heights of places that were dug
        for place in DUG:  # all at first: what is kept of edits takes the same room from then on
            self.dig_at(*place)
        self.waited = self.played = 0
        self.most = Held(0, 0, 0)

    def open(self) -> tp.TiledGround:
        tiles = tp.GeneratedTiles(
            tile, size=(TILES, TILES), tile=SIDE, heights=(-8.0, 8.0), name="soak"
        )
        return tp.TiledGround.open(tiles, missing="wait", edits=self.edits)

    def play(self, rng: np.random.Generator, frames: int = FRAMES) -> None:
        chores = self.dig, self.go_back, self.put_elsewhere, self.ask, self.compact, self.reopen
        for frame in range(frames):
            if frame % EVERY == 0:
                self.steer(rng)
                chores[rng.integers(len(chores))](rng)
            self.land.keep_near([self.group], RADIUS)
            self.land.load_some()
            result = self.group.update(1 / RATE)
            self.waited += int(np.count_nonzero(result.waiting))
        self.check(rng)
        self.played += 1

    def check(self, rng: np.random.Generator) -> None:
        """Nobody is below the land, and nothing grows."""
        places = self.group.positions
        assert np.isfinite(places).all()
        ground = self.land.height_at(places[:, 0], places[:, 2])
        there = ~np.isnan(ground)
        assert (places[there, 1] > ground[there] - 0.01).all()
        assert (places[:, 1] > -9.0).all()
        assert len(self.land.loaded) < MOST_TILES
        assert threading.active_count() < 20
        if self.played % MEASURED == 0:
            self.measure(rng)

    def measure(self, rng: np.random.Generator) -> None:
        """What the process holds does not grow, once all tiles are let go."""
        self.reopen(rng)  # hundreds of tiles, or a thousand
        gc.collect()
        if _TRIM is not None:
            _TRIM(0)
        now = held_by()
        if self.played < SETTLED:
            self.most = Held(*map(max, self.most, now))
        else:
            assert now.memory <= GROWTH * self.most.memory, (self.played, self.most, now)
            assert now.handles <= self.most.handles, (self.played, self.most, now)
            assert now.threads <= self.most.threads, (self.played, self.most, now)

    def steer(self, rng: np.random.Generator) -> None:
        """Let all wander, and come back from the border of the land."""
        places, far = self.group.positions, 0.5 * SIDE * TILES
        home = np.where(np.abs(places[:, ::2] - far) > far - 100.0, far - places[:, ::2], 0.0)
        speeds = rng.uniform(-12.0, 12.0, (PLAYERS, 2)) + 0.1 * home
        self.group.walk(speeds[:, 0], speeds[:, 1])

    def dig(self, rng: np.random.Generator) -> None:
        self.dig_at(*DUG[rng.integers(len(DUG))])

    def dig_at(self, x: float, z: float) -> None:
        self.land.load_now(tp.AABB((x - 8, 0, z - 8), (x + 8, 0, z + 8)))
        if self.known.get((x, z), 0.0) < -6.0:
            self.land.raise_((x, z), 5.0, 6.0)
        else:
            self.land.carve((x, z), 5.0, 0.7)
        self.known[x, z] = float(self.land.height_at(x, z))

    def go_back(self, _rng: np.random.Generator) -> None:
        """What is restored goes on in the same way, wherever its tiles are loaded."""
        world = self.land.state(), self.group.state()
        self.land.load_now(tp.AABB((0, 0, 0), (1, 0, 1)))
        for _ in range(3):
            self.group.update(1 / RATE)
        self.land.restore(world[0])
        self.group.restore(world[1])

    def put_elsewhere(self, rng: np.random.Generator) -> None:
        key = int(rng.integers(PLAYERS))
        x, z = rng.uniform(200.0, SIDE * TILES - 200.0, 2)
        self.group[key].teleport((x, 12.0, z))

    def ask(self, rng: np.random.Generator) -> None:
        """What was dug is there again, whether its tile was loaded or not."""
        for x, z in [DUG[index] for index in rng.integers(len(DUG), size=3)]:
            self.land.load_now(tp.AABB((x, 0, z), (x, 0, z)))
            assert float(self.land.height_at(x, z)) == self.known[x, z]
        origins = np.column_stack([self.group.positions[:, 0], np.full(PLAYERS, 40.0)])
        origins = np.insert(origins, 2, self.group.positions[:, 2], axis=1)
        self.land.raycast_many(origins, [(0.4, -1.0, 0.1)], max_distance=400.0)

    def compact(self, _rng: np.random.Generator) -> None:
        self.land.compact()
        assert self.edits.stat().st_size < 10_000_000

    def reopen(self, _rng: np.random.Generator) -> None:
        """Close the land and open it again, with its edits."""
        self.land.sync()
        before: Any = self.land.edited
        self.land.close()
        self.land = self.group.ground = self.open()
        assert self.land.edited == before

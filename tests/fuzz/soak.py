"""A game that goes on and on: each case is a minute of the same one, and memory stays flat.

So `python -m tests.fuzz soak --cases 480 --seconds 36000` plays eight hours. Memory is compared
with what it was after `SETTLED` cases, where the system tells it.
"""

import functools
import gc
import pickle
import re
import tempfile
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import terrain_physics as tp
from tests.helpers.grounds import everything, one_by_one, questions
from tests.helpers.meshes import bumpy_sphere

FRAMES = 3600
"""Of 1/60 s: a minute."""
EVERY = 60
"""Frames from one edit, refit, save and so on to the next."""
SETTLED = 30
"""Minutes until all pools and caches are filled."""
GROWTH = 1.01
KEYS = tuple(range(8))


class Held(NamedTuple):
    """The resources that a process holds."""

    memory: int  # bytes; 0 where the system does not tell
    handles: int
    threads: int


def held_by(process: int | str = "self") -> Held:
    """Return what a process holds now."""
    place = Path(f"/proc/{process}")
    if not place.exists():
        return Held(0, 0, 0)
    status = (place / "status").read_text()
    memory, threads = (re.search(rf"{name}:\s*(\d+)", status) for name in ("VmRSS", "Threads"))
    assert memory is not None
    assert threads is not None
    return Held(1024 * int(memory[1]), len(list((place / "fd").iterdir())), int(threads[1]))


@functools.cache
def game() -> "Game":
    """Return the game that all cases of a process play."""
    return Game()


def case(seed: int) -> None:
    """Play a minute."""
    game().play(np.random.default_rng(seed))


class Game:
    """Two maps, a mesh, a group and a hero."""

    def __init__(self) -> None:
        self.rows = np.random.default_rng(1).uniform(0, 1.5, (40, 79)).astype(np.float32)
        self.maps = [
            tp.HeightMap(self.rows[:, :40]),
            tp.HeightMap(self.rows[:, 39:], origin=(39, 0, 0)),
        ]
        vertices, faces = bumpy_sphere(8)
        self.rock = 3.0 * vertices + (30, 1, 20)
        self.mesh = tp.TriangleMesh(self.rock, faces)
        self.ground = tp.Ground([*self.maps, self.mesh])
        self.hero = tp.CharacterMovement(
            self.ground, tp.CapsuleCollider(0.4, 1.8), position=(20, 3, 20)
        )
        self.group = tp.CharacterGroup(self.ground, tp.SphereCollider(0.4), threads=2)
        for key in KEYS:
            self.group.add(key, (5.0 + 8 * key, 4, 15))
        self.folder = tempfile.TemporaryDirectory(prefix="terrain_physics_soak_")
        self.asked = questions((0, -1, 0), (78, 4, 39), 30)
        self.minutes = 0
        self.settled: Held | None = None

    def play(self, rng: np.random.Generator) -> None:
        chores = (
            self.edit, self.refit, self.go_back, self.come_and_go, self.ask, self.pickle,
            self.files, self.record, self.make_anew,
        )  # fmt: skip
        for frame in range(FRAMES):
            if frame % EVERY == 0:
                self.steer(rng)
                chores[rng.integers(len(chores))](rng)
            self.group.update(1 / 60)
            self.hero.update(1 / 60)
        assert np.isfinite([*self.group.positions.flat, *self.hero.position64]).all()
        self.minutes += 1
        gc.collect()
        now = held_by()
        if self.settled is None and self.minutes == SETTLED:
            self.settled = now
        if self.settled is not None:
            assert now.memory <= GROWTH * self.settled.memory, (self.minutes, self.settled, now)
            assert now.handles <= self.settled.handles, (self.minutes, self.settled, now)
            assert now.threads <= self.settled.threads, (self.minutes, self.settled, now)
        assert threading.active_count() < 20

    def steer(self, rng: np.random.Generator) -> None:
        """Let all wander, and come back from outside."""
        places = self.group.positions
        home = np.where((places < 2) | (places > (76, 9, 37)), (39, 3, 19) - places, 0.0)
        velocities = rng.uniform(-4, 4, places.shape) + home
        velocities[:, 1] = rng.choice((0.0, 3.0))
        self.group.velocities = velocities
        self.hero.velocity = rng.uniform(-4, 4, 3)
        x, _, z = self.hero.position64
        if not (2 < x < 76 and 2 < z < 37):
            self.hero.position = (20, 5, 20)

    def edit(self, rng: np.random.Generator) -> None:
        place = rng.uniform((0, 0, 0), (78, 1, 39))
        self.ground.raise_(place, 3.0, 0.5)
        self.ground.carve(place, 3.0, 0.5)
        land = self.maps[rng.integers(2)]
        row, column = rng.integers(1, 36, 2).tolist()
        before = land[row : row + 2, column : column + 2]
        land[row : row + 2, column : column + 2] = before + 0.2
        land.holes[row, column] = True
        land.materials[row, column] = int(rng.integers(256))
        land.holes[row, column] = False
        land[row : row + 2, column : column + 2] = before

    def refit(self, rng: np.random.Generator) -> None:
        self.mesh.refit(self.rock + rng.uniform(-0.1, 0.1, self.rock.shape))

    def go_back(self, _rng: np.random.Generator) -> None:
        states = self.group.state(), self.hero.state()
        self.group.update(0.1)
        self.group.restore(pickle.loads(pickle.dumps(states[0])))
        self.hero.restore(pickle.loads(pickle.dumps(states[1])))

    def come_and_go(self, rng: np.random.Generator) -> None:
        key = int(rng.choice(KEYS))
        self.group.remove(key)
        self.group.add(key, rng.uniform((5, 3, 5), (70, 4, 30)))
        self.hero.resize(tp.CapsuleCollider(0.4, rng.choice((1.0, 1.8))))

    def ask(self, _rng: np.random.Generator) -> None:
        everything(self.ground, self.asked, 2)
        one_by_one(self.ground, self.asked, 10)

    def pickle(self, _rng: np.random.Generator) -> None:
        again: Any = pickle.loads(pickle.dumps((self.ground, self.group, self.hero)))
        again[1].update(1 / 60)

    def files(self, _rng: np.random.Generator) -> None:
        for suffix in (".npy", ".png", ".r16"):
            path = Path(self.folder.name) / f"land{suffix}"
            tp.HeightMap(self.rows[:, :40] * 1000).save(path)
            assert tp.HeightMap.load(path).sample_count == (40, 40)
        self.maps[0].save_obj(Path(self.folder.name) / "land.obj")

    def record(self, _rng: np.random.Generator) -> None:
        recording = tp.Recording(self.group)
        for _ in range(10):
            recording.update(1 / 60)
        recording.save(Path(self.folder.name) / "recording")
        assert len(tp.Recording.load(Path(self.folder.name) / "recording")) == 10

    def make_anew(self, rng: np.random.Generator) -> None:
        """Go on on a ground of other parts."""
        self.ground = tp.Ground([*self.maps, self.mesh])
        self.hero.ground = self.group.ground = self.ground
        tree = tp.Octree(rng.uniform(0, 9, (200, 3)), rng.uniform(0, 1, 200))
        tree.move_many([3, 4], [(1, 1, 1, 1), (2, 2, 2, 1)])
        tree.overlapping_pairs()
        tp.count_touching(rng.uniform(0, 9, (50, 9)), rng.uniform(0, 5, (50, 4)))

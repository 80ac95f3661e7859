"""Threads that ask, edit, save and move characters on one ground, and write to arrays being read.

Nothing may crash, hang or be refused that is right alone; what is read is of one moment.
"""

import contextlib
import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import terrain_physics as tp
from tests.helpers import drawn_grounds
from tests.helpers.draws import Draws
from tests.helpers.grounds import everything, one_by_one, questions

THREADS, ROUNDS = 4, 12
SOON = 900.0
"""Seconds that no thread takes."""

_MAKERS: tuple[drawn_grounds.Maker, ...] = (
    drawn_grounds.plain, drawn_grounds.cells, drawn_grounds.floor, drawn_grounds.tiles,
    drawn_grounds.islands, drawn_grounds.bridge,
)  # fmt: skip


def case(seed: int) -> None:
    """Let a few threads do what they like at once."""
    draws = Draws(seed)
    ground = draws.one_of(_MAKERS)(draws)
    errors: list[BaseException] = []
    over = threading.Event()

    def live(number: int) -> None:
        own = Draws(1000 * seed + number)
        world = _World(own, ground)
        try:
            for _ in range(ROUNDS):
                own.one_of(world.operations)()
        except BaseException as error:  # told by the main thread
            errors.append(error)

    threads = [threading.Thread(target=live, args=(n,), daemon=True) for n in range(THREADS)]
    scribbler = threading.Thread(target=_scribble, args=(seed, over, errors), daemon=True)
    for thread in (*threads, scribbler):
        thread.start()
    for thread in threads:
        thread.join(SOON)
    over.set()
    scribbler.join(SOON)
    assert not any(thread.is_alive() for thread in (*threads, scribbler)), "threads hang"
    if errors:
        raise errors[0]


class _World:
    """The work of one thread: with the ground that all share, and characters of its own."""

    def __init__(self, draws: Draws, ground: Any) -> None:
        self.draws, self.ground = draws, ground
        low, high = drawn_grounds.box_of(ground)
        self.asked = questions(low, high, 40, draws.below(1000))
        self.mover = tp.CharacterMovement(ground, tp.SphereCollider(0.4), position=high)
        self.group = tp.CharacterGroup(ground, tp.CapsuleCollider(0.3, 1.8), threads=2)
        for key in range(5):
            self.group.add(key, draws.uniform(low, high, 3))
        self.operations: tuple[Callable[[], Any], ...] = (
            self.ask, self.edit, self.edit, self.edit_all, self.update, self.save, self.copy,
        )  # fmt: skip

    def ask(self) -> None:
        everything(self.ground, self.asked, self.draws.one_of((1, 2)))
        one_by_one(self.ground, self.asked, 5)

    def edit(self) -> None:
        # A mesh is edited as a whole: what was read in between is written back.
        drawn_grounds.edit(self.draws, self.ground)

    def edit_all(self) -> None:
        """Make a map level at once; nobody may see it half done."""
        for part in getattr(self.ground, "parts", [self.ground]):
            if isinstance(part, tp.HeightMap):
                part.materials = np.full(part.cell_count, self.draws.below(256))
                part[:] = part[:]

    def update(self) -> None:
        for _ in range(5):
            self.mover.velocity = self.draws.uniform(-3.0, 3.0, 3)
            self.mover.update(1 / 60)
            self.group.update(1 / 60)
        assert np.isfinite(self.group.positions).all()

    def save(self) -> None:
        again = pickle.loads(pickle.dumps(self.ground))
        drawn_grounds.edit(self.draws, again)
        assert type(again) is type(self.ground)

    def copy(self) -> None:
        drawn_grounds.edit(self.draws, copy.deepcopy(self.ground))


def _scribble(seed: int, over: threading.Event, errors: list[BaseException]) -> None:
    """Make things of arrays that another thread writes to: right, or refused."""
    rng = np.random.default_rng(seed)
    vertices = rng.uniform(0, 5, (60, 3))
    faces = rng.integers(0, 60, (200, 3))
    heights = rng.uniform(0, 1, (30, 30))
    balls = rng.uniform(0.1, 2, (300, 4))
    wild = (-1, 60, 2**31 - 1, 2**62, 3, 4, 5, 6)
    land = tp.HeightMap(rng.uniform(0, 1, (12, 12)))

    def write() -> None:
        own = np.random.default_rng(seed + 1)
        while not over.is_set():
            faces[own.integers(200), own.integers(3)] = wild[own.integers(8)]
            vertices[own.integers(60), 0] = own.choice((np.nan, 1.0, 2.0, 1e300))
            heights[own.integers(30), 3] = own.choice((np.nan, np.inf, 1.0, 2.0))
            balls[own.integers(300), 3] = own.choice((-1.0, np.nan, 1e9, 0.5, 0.5, 0.5))

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    makers: tuple[Callable[[], Any], ...] = (
        lambda: tp.TriangleMesh(vertices, faces).raycast_many([(1, 9, 1)], [(0.1, -1, 0)]),
        lambda: tp.HeightMap(heights).contacts([(3, 0, 3, 2)]),
        lambda: land.contacts(balls),
        lambda: tp.Octree(balls[:, :3], balls[:, 3]).overlapping_pairs(),
        lambda: tp.count_touching(vertices[:57].reshape(-1, 9), balls),
    )
    try:
        while not over.is_set():
            with contextlib.suppress(ValueError):
                makers[rng.integers(len(makers))]()
            faces[:] = rng.integers(0, 60, (200, 3))
            vertices[:] = heights[:] = balls[:] = 1.0 + rng.random()
            vertices += rng.uniform(0, 1, vertices.shape)
    except BaseException as error:  # told by the main thread
        errors.append(error)
    finally:
        over.set()
        writer.join(SOON)

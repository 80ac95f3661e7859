"""After `warm_up` a game compiles nothing in the middle of a frame."""

import gc
import os
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

from terrain_physics import warmup
from terrain_physics._kernels._jit import HAS_NUMBA
from tests.helpers import forks

ROOT = Path(__file__).parents[2]

GAME = """
import sys
import numpy as np
from terrain_physics import *
from terrain_physics import warm_up

def compiled():
    modules = [sys.modules[name] for name in sorted(sys.modules) if "._kernels." in name]
    kernels = [kernel for module in modules for kernel in vars(module).values()]
    return {
        f"{kernel.__module__}.{kernel.__name__}": len(kernel.signatures)
        for kernel in kernels
        if hasattr(kernel, "signatures")
    }

warm_up()
before = compiled()
land = HeightMap(np.zeros((9, 9)))
tile = HeightMap(np.zeros((9, 9)), origin=(8, 0, 0))
roof = TriangleMesh([(0, 3, 0), (0, 3, 4), (4, 3, 0)], [(0, 1, 2)])
ball, capsule = Sphere((1, 0.3, 1), 0.5), Capsule((1, 0.3, 1), (1, 2, 1), 0.5)
box, body = OBB((1, 0.3, 1), (0.5, 0.5, 0.5)), CapsuleCollider(0.4, 1.8)
for ground in (land, roof, Ground([land, roof]), Ground([land, tile])):
    for shape in (ball, capsule, box):
        ground.contacts(shape)
        ground.contacts([shape], keep="deepest")
        ground.contact_counts([shape, shape])
        ground.touches(shape), ground.touches([shape, shape])
        ground.sweep(shape, (0, -1, 0))
        ground.sweep_many([shape, shape], [(0, -1, 0)])
    ground.raycast(Ray((1, 9, 1), (0, -1, 0)))
    ground.raycast_many([(1, 9, 1)], [(0, -1, 0)])
    ground.closest_point((1, 9, 1)), ground.closest_points([(1, 9, 1), (2, 1, 2)])
    ground.contains((1, 9, 1)), ground.signed_distance([(1, 9, 1), (2, 1, 2)])
    ground.triangles_in(AABB((0, 0, 0), (1, 4, 1)))
    ground.triangles_in_many([(0, 0, 0)], [(1, 4, 1)])
    ground.height_at(1.0, 1.0), ground.height_at([1.0], [1.0]), ground.normal_at(1.0, 1.0)
    mover = CharacterMovement(ground, body, position=(2, 0.9, 2))
    for frame in range(3):
        mover.velocity.x = 3
        mover.update(1 / 60)
    mover.constraint_planes(), mover.ground_report(), mover.resize(body)
    mover.material_rules = {0: {"speed": 0.5}}
    mover.update(1 / 60)
    group = CharacterGroup(ground, body)
    group.add("ada", (2, 0.9, 2), material_rules={0: {"friction": 0.5}})
    result = group.update(1 / 60)
    group.states, group.materials, group.parts, result.material_changed, group.hits()
    group.height_scan([(0, 1)]), group.raycast([(0, 1, 0)], [(0, -1, 0)])
    crowd = CharacterGroup(ground, body, collide=True)
    crowd.add_many("ab", [(2, 0.9, 2), (2.5, 0.9, 2)])
    for frame in range(3):
        crowd.walk([1, 0], 2)
        crowd.update(1 / 60)
both = Ground([land, roof])
both.set_layers(1, 2)
for height in range(1100):
    both.move(1, (0, 1 + height / 9, 0))
both.raycast(Ray((1, 9, 1), (0, -1, 0)), mask=2), both.closest_points([(1, 9, 1)], mask=4)
land.carve((2, 2), 1.5, 1)
for surface in (land, Ground([land]), Ground([land, tile])):
    surface.flatten((2, 2), 1.5)
    surface.smooth((2, 2), 1.5)
    surface.paint((2, 2), 1.5, 1)
land.materials.at(2.0, 2.0), land.holes.at([2.0], 2.0)
land.holes[1, 1] = True
land[0:2, 0:2] += 1.0
land.to_mesh()
made = GeneratedTiles(
    lambda *_: np.zeros((65, 65)), size=(3, 3), tile=64, heights=(-9, 9), name="level"
)
for missing in ("load", "wait"):
    wide = TiledGround.open(made, missing=missing)
    heroes = CharacterGroup(wide, body, collide=True)
    heroes.add_many("ab", [(64, 0.9, 64), (100, 0.9, 64.5)])
    heroes.update(1 / 60)
    wide.load_now(AABB((0, 0, 0), (150, 1, 150)))
    for frame in range(3):
        wide.keep_near([heroes], 40), wide.load_some(), heroes.walk(3, 1), heroes.update(1 / 60)
    for shape in (ball, capsule, box):
        wide.contacts(shape), wide.contacts([shape, shape]), wide.sweep(shape, (0, -1, 90))
    wide.raycast(Ray((1, 9, 1), (1, -0.1, 1))), wide.height_at([1.0], [1.0])
    wide.raycast_many([(1, 9, 1)], [(0, -1, 0)]), wide.closest_points([(1, 9, 1)])
    wide.carve((64, 64), 4, 1), wide.paint((64, 64), 4, 1), wide.set_holes(3, 3, [[True]])
    wide.restore(wide.state()), wide.ready(AABB((0, 0, 0), (1, 1, 1))), wide.close()
roof.refit(roof.vertices)
after = compiled()
print(sorted(name for name, count in after.items() if count > before.get(name, 0)))
"""


@pytest.mark.skipif(not HAS_NUMBA, reason="nothing is compiled without numba")
def test_a_game_compiles_nothing_after_it() -> None:
    assert forks.printed("-c", GAME).strip() == "[]"


class Helper:
    """A stand-in for a process that compiles."""

    started: ClassVar[list[tuple[int, int]]] = []
    giving_way: ClassVar[list[bool]] = []
    stdout = ("height map\t0\t2\n", "mesh\t1\t2\n", "done\t2\t2\n")

    def __init__(
        self, number: int, processes: int, names: list[str], *, gives_way: bool = False
    ) -> None:
        assert set(names) <= set(warmup._JOBS)
        self.started.append((number, processes))
        self.giving_way.append(gives_way)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.started.append((-1, -1))


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the jobs and the processes; return the names of jobs done."""
    done: list[str] = []
    names = ("height map", "mesh")
    monkeypatch.setattr(warmup, "_JOBS", {name: partial(done.append, name) for name in names})
    monkeypatch.setattr(warmup, "_start", Helper)
    monkeypatch.setattr(warmup, "_can_be_helped", lambda: True)
    monkeypatch.setattr(Helper, "started", [])
    monkeypatch.setattr(Helper, "giving_way", [])
    return done


def test_several_processes_begin_at_several_places(jobs: list[str]) -> None:
    told: list[tuple[str, int, int]] = []
    warmup.warm_up(lambda *job: told.append(job), processes=2)
    assert told == [("height map", 0, 2), ("mesh", 1, 2), ("done", 2, 2)]
    assert Helper.started == [(1, 2), (-1, -1)]
    assert Helper.giving_way == [False]
    warmup.run_jobs(number=1, processes=2)
    assert jobs == ["height map", "mesh", "mesh", "height map"]


def test_in_the_background_another_process_compiles_and_the_thread_loads(jobs: list[str]) -> None:
    told: list[tuple[str, int, int]] = []
    thread = warmup.warm_up(lambda *job: told.append(job), background=True)
    assert thread is not None
    thread.join()
    assert told == [("height map", 0, 2), ("mesh", 1, 2), ("done", 2, 2)]
    assert Helper.started == [(0, 1), (-1, -1)]
    assert Helper.giving_way == [True]
    assert jobs == ["height map", "mesh"]


def test_a_game_names_the_jobs_that_it_needs_first(jobs: list[str]) -> None:
    told: list[tuple[str, int, int]] = []
    warmup.warm_up(lambda *job: told.append(job), only=["mesh"])
    assert jobs == ["mesh"]
    assert told == [("mesh", 0, 1), ("done", 1, 1)]
    thread = warmup.warm_up(background=True, only=("mesh", "height map"))
    assert thread is not None
    thread.join()
    assert jobs == ["mesh", "mesh", "height map"]


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ([], "only must name a job, got none"),
        (["mesh", "walls"], "only must be of height map, mesh, got 'walls'"),
        ("wall", "only must be of height map, mesh, got 'wall'"),
    ],
)
def test_an_unknown_job_is_refused(jobs: list[str], only: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        warmup.warm_up(only=only)
    assert not jobs


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="priorities are asked as on Unix")
@pytest.mark.parametrize(("gives_way", "nicer_by"), [(False, 0), (True, 10)])
def test_what_compiles_behind_a_game_lets_frames_come_first(gives_way: bool, nicer_by: int) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with warmup._start(0, 1, ["height map", "mesh"], gives_way=gives_way) as helper:
        try:
            assert helper.stdout is not None
            assert helper.stdout.readline() == "height map\t0\t2\n"
            assert os.getpriority(os.PRIO_PROCESS, helper.pid) == min(own + nicer_by, 19)
        finally:
            helper.kill()


def test_in_the_background_of_a_frozen_game_the_thread_compiles(
    jobs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warmup, "_can_be_helped", lambda: False)
    thread = warmup.warm_up(background=True)
    assert thread is not None
    thread.join()
    assert not Helper.started
    assert jobs == ["height map", "mesh"]


def test_garbage_is_collected_rarely_while_the_jobs_are_done_and_as_before_afterwards(
    jobs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warmup, "_JOBS", {"height map": lambda: seen.append(gc.get_threshold())})
    usual = gc.get_threshold()
    seen: list[tuple[int, int, int]] = []
    try:
        for before, meanwhile in ((700, 10_000), (50_000, 50_000), (0, 0)):
            gc.set_threshold(before, 7, 8)
            warmup.warm_up()
            assert seen[-1] == (meanwhile, 7, 8)
            assert gc.get_threshold() == (before, 7, 8)
    finally:
        gc.set_threshold(*usual)

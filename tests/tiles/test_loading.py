"""Tests of loading tiles: which, in what order, within what budget, and on what threads."""

import gc
import os
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    AABB,
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    HeightMap,
    SphereCollider,
    TiledGround,
    TriangleMesh,
)
from terrain_physics.lattice.tile import LoadedTile
from terrain_physics.tiles.loading import loader as loading
from terrain_physics.tiles.loading import supply as supplying
from terrain_physics.tiles.loading.edited_tiles import ReadTile
from terrain_physics.tiles.loading.loader import TileLoader
from terrain_physics.tiles.loading.wanted import Nearness, WantedPlaces
from tests.helpers import forks
from tests.helpers.tiled_lands import SIDE, TilesOfArrays, forget_needs, level, settle, waves

EVERYWHERE = AABB((-1e6, 0, -1e6), (1e6, 0, 1e6))
FLAT = HeightMap([[0, 0], [0, 0]], cell_size=1000)


def opened(tiles: TilesOfArrays, missing: Any = "wait") -> TiledGround:
    return TiledGround.open(tiles, missing=missing)


def until(true: Any) -> None:
    """Wait until a function returns True."""
    end = time.monotonic() + forks.HANG
    while not true():
        assert time.monotonic() < end
        time.sleep(0.0005)


# What is near


class Walker:
    """What has a position and a velocity, and nothing else."""

    def __init__(self, position: Any, velocity: Any = None) -> None:
        self.position = position
        if velocity is not None:
            self.velocity = velocity


def nearness(rows: int, columns: int, origin: Any = (0.0, 0.0, 0.0)) -> Nearness:
    tiles = TilesOfArrays(level(rows, columns), origin=origin)
    return Nearness(tiles.shape)


@pytest.mark.parametrize("count", [1, 7, 300])
def test_tiles_near_to_positions_are_found(count: int) -> None:
    rng = np.random.default_rng(count)
    near = nearness(9, 7, (-100.0, 0.0, 50.0))
    for _ in range(10):
        points = rng.uniform(-300, 800, (count, 3))
        if count == 300:
            points = rng.choice(points[:3], 300) + rng.normal(0, 5, (300, 3))
        radius, missing = float(rng.uniform(1, 200)), rng.random(63) < 0.7
        unload = radius * float(rng.uniform(1, 2))
        wanted, kept = near.look(
            WantedPlaces(points, near.width), radius, unload, missing.view(np.uint8)
        )
        corners = np.array([divmod(n, 7)[::-1] for n in range(63)]) * SIDE + (-100.0, 50.0)
        flat = points[:, np.newaxis, ::2]
        gaps = np.maximum(np.maximum(corners - flat, flat - corners - SIDE), 0.0)
        far = np.hypot(gaps[..., 0], gaps[..., 1]).min(axis=0)
        # Many are taken together: then more may be wanted, by less than a tile, and nothing less.
        more = 0.0 if count < 65 else SIDE
        assert set(np.flatnonzero((far <= radius) & missing)) <= set(wanted.tolist())
        assert set(wanted.tolist()) <= set(np.flatnonzero((far <= radius + more) & missing))
        assert set(np.flatnonzero(far <= unload)) <= set(np.flatnonzero(kept))
        assert set(np.flatnonzero(kept)) <= set(np.flatnonzero(far <= unload + more))
        assert len(set(wanted.tolist())) == len(wanted)


def test_tiles_that_are_reached_first_come_first() -> None:
    near, all_ = nearness(1, 11), np.ones(11, np.uint8)
    middle = (5.5 * SIDE, 0.0, 30.0)
    wanted = near.look(WantedPlaces(Walker(middle), near.width), 200.0, 200.0, all_)[0]
    assert wanted[0] == 5
    assert [sorted(pair) for pair in wanted[1:].reshape(-1, 2).tolist()] == [[4, 6], [3, 7], [2, 8]]
    fast = Walker(middle, glm.vec3(60, 0, 0))
    wanted = near.look(WantedPlaces([fast], near.width), 200.0, 200.0, all_)[0]
    assert wanted.tolist() == [5, 6, 7, 8, 4, 3, 2]
    # Another one who stands there: what is near to it is not far.
    both = WantedPlaces([fast, Walker((2.5 * SIDE, 0, 9))], near.width)
    assert near.look(both, 10.0, 10.0, all_)[0].tolist() == [2, 5]


@pytest.mark.kernels
@pytest.mark.parametrize("count", [1, 7, 40])
def test_tiles_come_in_the_order_in_which_any_place_reaches_them(count: int) -> None:
    rng = np.random.default_rng(count)
    near, missing = nearness(9, 7, (-100.0, 0.0, 50.0)), rng.random(63) < 0.7
    starts = np.array([divmod(n, 7)[::-1] for n in range(63)]) * SIDE + (-100.0, 50.0)
    for _ in range(10):
        points, speeds = rng.uniform(-200, 600, (2, count, 3)) * (1.0, 1.0, 0.1)
        walkers = [Walker(*own) for own in zip(points.tolist(), speeds.tolist(), strict=True)]
        places, radius = WantedPlaces(walkers, near.width), float(rng.uniform(50, 400))
        wanted = near.look(places, radius, radius, missing.view(np.uint8))[0]
        flat = points[:, np.newaxis, ::2]
        ways = np.clip(flat, starts, starts + SIDE) - flat
        lengths = np.linalg.norm(ways, axis=2)
        along = (ways * speeds[:, np.newaxis, ::2]).sum(axis=2) / np.maximum(lengths, 1e-9)
        times = np.where(lengths <= radius, lengths / np.maximum(along, 2.0), np.inf).min(axis=0)
        assert set(wanted.tolist()) == set(np.flatnonzero((times < np.inf) & missing))
        assert (np.diff(times[wanted]) >= -1e-9).all()


def test_places_of_many_kinds() -> None:
    hero = CharacterMovement(FLAT, SphereCollider(0.5), position=(1, 5, 2))
    hero.velocity = glm.vec3(3, 0, 4)
    group = CharacterGroup(FLAT, SphereCollider(0.5))
    group.add_many(["a", "b"], [(5, 5, 6), (7, 5, 8)])
    group.set_velocities([(1, 0, 1), (2, 0, 2)])
    given = [hero, group, (9, 0, 10), glm.dvec3(11, 0, 12), [[13, 0, 14], [15, 0, 16]]]
    given += [Walker((17, 0, 18)), group["a"], np.array([19, 0, 20]), [hero, [hero]]]
    places = WantedPlaces(given, 64.0)
    expected = [(1, 2), (5, 6), (7, 8), (9, 10), (11, 12), (13, 14), (15, 16), (17, 18), (5, 6)]
    expected += [(19, 20), (1, 2), (1, 2)]
    assert places.least.tolist() == [list(map(float, each)) for each in expected]
    speeds = [(0, 0)] * 12
    speeds[0] = speeds[10] = speeds[11] = (3, 4)
    speeds[1] = speeds[8] = (1, 1)
    speeds[2] = (2, 2)
    assert places.velocities().tolist() == [list(map(float, each)) for each in speeds]
    assert WantedPlaces(hero, 64.0).least.tolist() == [[1.0, 2.0]]
    assert WantedPlaces([], 64.0).least.shape == (0, 2)


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (3, "places must be positions, characters, groups or a sequence of them, got 3"),
        ("hero", "places must be positions, .* got 'hero'"),
        ([(0, 0, 0), None], r"places\[1\] must be positions, .* got None"),
        ((0, 1), r"places must have shape \(3,\) or \(n, 3\)"),
        ([(0, 0, float("nan"))], r"places\[0\] must be finite"),
        (np.zeros((2, 2)), "places must have shape"),
        ([Walker((0, 0, float("inf")))], r"places: position.*must be finite"),
        ([Walker((0, 0, 0), (1, 2))], "places: velocity must be"),
        ([(1e39, 0, 0)], r"places\[0\] must be"),
    ],
)
def test_wrong_places_are_refused(places: Any, message: str) -> None:
    land = opened(TilesOfArrays(level(1, 1)))
    with pytest.raises((TypeError, ValueError), match=message):
        land.keep_near(places, radius=10)


def test_wrong_distances_are_refused() -> None:
    land = opened(TilesOfArrays(level(1, 1)))
    with pytest.raises(ValueError, match="radius must be finite and > 0, got 0"):
        land.keep_near((0, 0, 0), radius=0)
    with pytest.raises(ValueError, match=r"unload must be at least radius, 5.0, got 4"):
        land.keep_near((0, 0, 0), radius=5, unload=4)
    hero = CharacterMovement(land, CapsuleCollider(0.5, 6, offset=(0, 3, 0)), position=(9, 9, 9))
    with pytest.raises(ValueError, match="radius must not be smaller than a body, 6 m of Caps"):
        land.keep_near([hero], radius=5.9)
    group = CharacterGroup(land, BoxCollider((3, 4, 12)))
    group.add("a", (9, 9, 9))
    with pytest.raises(ValueError, match="radius must not be smaller than a body, 13 m"):
        land.keep_near(group, radius=12)
    land.keep_near([hero, group], radius=13)
    giant = CharacterMovement(land, SphereCollider(17), position=(9, 9, 9))
    with pytest.raises(ValueError, match="radius must not be smaller than a body, 17 m"):
        land.keep_near([giant, group], radius=13)
    for wrong in ({"ms": -1}, {"max_bytes": 0}, {"ms": float("nan")}):
        with pytest.raises(ValueError, match="must be"):
            land.load_some(**wrong)


# The thread


def tile(number: int) -> ReadTile:
    heights, blocks = np.zeros((2, 2), np.float32), np.zeros(2, np.float32)
    return ReadTile(LoadedTile(number, heights, None, None, blocks), 0)


class Reads:
    """A reader whose tiles come one by one, as they are let through."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.failing: set[int] = set()
        self.gate = threading.Semaphore(0)
        self.ended = threading.Event()

    def __call__(self, number: int) -> ReadTile:
        self.gate.acquire()
        self.done.append(number)
        if number in self.failing:
            raise ValueError(f"tile {number}")
        return tile(number)

    def let(self, count: int) -> None:
        """Let so many through, and wait until they are done."""
        goal = len(self.done) + count
        self.gate.release(count)
        until(lambda: len(self.done) >= goal)


def loader(most: int = 100) -> tuple[TileLoader, Reads]:
    reads = Reads()
    return TileLoader(reads, reads.ended.set, most), reads


def taken(loader: TileLoader, count: int) -> list[int]:
    found, end = list[int](), time.monotonic() + forks.HANG
    while len(found) < count:
        assert time.monotonic() < end
        ready = loader.take()
        if ready is not None:
            found.append(ready.tile.number)
    return found


def test_loader_reads_in_the_latest_order() -> None:
    own, reads = loader()
    own.want([1, 2, 3, 4])
    reads.let(1)
    until(lambda: own._reading == 2)
    own.want([4, 3, 9])  # 1 was ready, and 2 is being read: nobody wants them any more
    reads.let(4)
    assert reads.done == [1, 2, 4, 3, 9]
    assert taken(own, 3) == [4, 3, 9]
    assert own.take() is None
    until(lambda: not own.is_busy)
    own.close(wait=True)
    assert reads.ended.is_set()


def test_loader_reads_urgent_tiles_first_and_keeps_them() -> None:
    own, reads = loader()
    own.want([1, 2, 3])
    until(lambda: own._reading == 1)
    own.urge([7, 8])
    own.want([2])
    reads.let(4)
    assert reads.done == [1, 7, 8, 2]
    assert taken(own, 3) == [7, 8, 2]
    own.close(wait=True)


def test_loader_keeps_few_ready() -> None:
    own, reads = loader(most=2)
    own.want(range(10))
    reads.gate.release(100)
    until(lambda: len(reads.done) == 2)
    time.sleep(0.01)
    assert reads.done == [0, 1]
    own.urge([50])  # all the same
    until(lambda: reads.done == [0, 1, 50])
    assert taken(own, 2) == [50, 0]
    until(lambda: reads.done == [0, 1, 50, 2])
    assert taken(own, 9) == list(range(1, 10))
    own.close(wait=True)


def test_tile_that_is_ready_is_taken_by_its_number() -> None:
    own, reads = loader()
    own.want([1, 2])
    reads.let(2)
    until(lambda: len(own._ready) == 2)
    assert own.take_this(3) is None
    found = own.take_this(2)
    assert found is not None
    assert found.tile.number == 2
    assert taken(own, 1) == [1]
    own.close(wait=True)


def test_error_is_told_once_and_the_tile_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    own, reads = loader()
    reads.failing = {1}
    reads.gate.release(100)
    monkeypatch.setattr(loading, "RETRY_SECONDS", 1e9)
    for _ in range(3):
        own.want([1, 2])
        own.urge([1])
        until(lambda: not own.is_busy or own.take() is not None)
    until(lambda: not own.is_busy or own.take() is not None)
    assert reads.done.count(1) == 1  # it is not tried yet
    assert str(own.error()) == "tile 1"
    own._failed[1] = 0.0  # as if the time had passed
    own.want([1])
    until(lambda: not own.is_busy)
    assert reads.done.count(1) == 2
    assert own.error() is None
    reads.failing = set()
    own._failed[1] = 0.0
    own.want([1])
    assert taken(own, 1) == [1]
    reads.failing = {1}  # again: it is told again
    own.want([1])
    until(lambda: not own.is_busy)
    assert str(own.error()) == "tile 1"
    own.close(wait=True)


def test_closed_loader_reads_no_more() -> None:
    own, reads = loader()
    own.close()
    own.close()
    assert reads.ended.is_set()
    own.want([1])
    own.urge([2])
    assert own._thread is None


@pytest.mark.parametrize("wait", [True, False])
def test_what_ends_is_called_once_and_its_error_is_told_to_who_waits(wait: bool) -> None:
    reads, calls = Reads(), list[str]()

    def end() -> None:
        calls.append(threading.current_thread().name)
        if wait:
            raise OSError("disk full")

    own = TileLoader(reads, end, 10)
    own.want([1])
    until(lambda: own._reading == 1)
    thread = own._thread
    assert thread is not None
    reads.gate.release()
    if wait:
        with pytest.raises(OSError, match="disk full"):
            own.close(wait=True)
    else:
        own.close()
        thread.join(60)
    assert not thread.is_alive()
    own.close(wait=True)
    assert calls == [threading.current_thread().name if wait else thread.name]


# Ground that loads


def test_tiles_come_within_the_budget_and_one_at_least() -> None:
    tiles = TilesOfArrays(waves(4, 4))
    land = opened(tiles)
    land.keep_near((130, 0, 130), radius=1000)
    until(lambda: len(tiles.reads) == 16 and not land._supply._loader._reading)
    until(lambda: len(land._supply._loader._ready) == 16)
    assert land.load_some(ms=0) == 1
    assert land.load_some(ms=1000, max_bytes=1) == 1
    size = supplying._size_of(land._supply.land.loaded[tiles.reads[0]])
    assert land.load_some(ms=1000, max_bytes=3 * size) == 3
    assert land.load_some(ms=1000, max_bytes=1 << 40) == 11
    assert land.load_some() == 0
    assert len(land.loaded) == 16
    assert land.ready(EVERYWHERE)


def test_no_tile_is_begun_that_would_end_behind_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tiles = TilesOfArrays(waves(4, 4))
    land = opened(tiles)
    supply, clock, seconds = land._supply, Clock(), [0.3] * 8 + [0.42, 0.1, 0.1, 0.1]
    put = supplying.TileSupply._put

    def put_for_long(self: Any, *arguments: Any) -> int:
        clock.now += seconds.pop(0)
        return put(self, *arguments)

    monkeypatch.setattr(supplying, "time", clock)
    monkeypatch.setattr(supplying.TileSupply, "_put", put_for_long)
    land.keep_near((130, 0, 130), radius=1000)
    until(lambda: len(supply._loader._ready) == 16)
    assert land.load_some(ms=1000) == 3
    assert land.load_some(ms=100) == 1  # one at least
    assert land.load_some(ms=1300) == 4
    assert land.load_some(ms=1000) == 3  # 0.62 s, and 0.42 s for one more


class Clock:
    """A clock that a test moves on."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


def test_far_tiles_go_and_near_ones_stay() -> None:
    land = opened(TilesOfArrays(level(1, 8)))
    for x in (30.0, 300.0):
        land.keep_near((x, 0, 30), radius=70, unload=180)
        settle(land)
    # From 230 to 370 m they are near; the one that ends at 128 m is not far enough to go.
    assert land.loaded == {(0, column) for column in (1, 3, 4, 5)}
    land.keep_near((300, 0, 30), radius=70)  # 1.5 times
    settle(land)
    assert land.loaded == {(0, column) for column in (3, 4, 5)}
    land.keep_near([], radius=70)
    settle(land)
    assert land.loaded == frozenset()


def test_tiles_that_others_need_stay_for_a_while() -> None:
    land = opened(TilesOfArrays(level(1, 8)), "load")
    land.load_now(AABB((450, 0, 1), (460, 0, 2)))
    land.carve((330, 30), radius=3, depth=1)
    for frame in range(supplying._STAY + 1):
        land.keep_near((30, 0, 30), radius=20)
        settle(land)
        if frame < supplying._STAY:
            assert land.loaded == {(0, 0), (0, 5), (0, 7)}, frame
    assert land.loaded == {(0, 0)}
    assert land.height_at(20, 20) == 0.0


def test_fetched_tiles_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supplying, "_MOST_FETCHED", 3 * supplying._CELL_BYTES * SIDE * SIDE)
    land = opened(TilesOfArrays(level(1, 10)), "load")
    supply = land._supply
    land.load_now(AABB((1, 0, 1), (2, 0, 2)))
    for number in range(1, 10):
        supply.fetch([number])
    assert land.loaded == {(0, 0), (0, 7), (0, 8), (0, 9)}
    supply.fetch([1, 2, 3, 4, 5])  # never those of this call
    assert land.loaded == {(0, column) for column in range(6)}
    land.keep_near((64 * 4.5, 0, 9), radius=80)  # who is near keeps them
    settle(land)
    supply.fetch([6, 7, 8, 9])
    assert {(0, 3), (0, 4), (0, 5)} <= land.loaded


def test_questions_of_updates_are_answered_by_policy() -> None:
    tiles = TilesOfArrays(level(1, 4))
    boxes = np.array([[10.0, 10, 20, 20], [100, 10, 150, 20], [-50, 0, -40, 9]])
    land = opened(tiles, "load")
    streaming = land._supply
    assert streaming.bring(boxes) is None
    assert tiles.reads == [0, 1, 2]
    assert streaming.reached(boxes) is None
    waiting = opened(TilesOfArrays(level(1, 4)))
    streaming = waiting._supply
    reached = streaming.reached(boxes)
    assert reached is not None
    assert reached.tolist() == [True, True, False]
    marks = streaming.bring(boxes)
    assert marks is not None
    assert marks.tolist() == [True, True, False]
    settle(waiting)  # it has asked for them
    assert waiting.loaded == {(0, 0), (0, 1), (0, 2)}
    assert streaming.bring(boxes) is None
    streaming.count_waits(5)
    assert waiting.waits == 5


def test_box_of_one_is_seen_as_one_of_many() -> None:
    rng = np.random.default_rng(9)
    land = opened(TilesOfArrays(level(4, 4), rng.random((4, 4)) < 0.8, origin=(-70.0, 0.0, 33.0)))
    supply, quick = land._supply, 0
    supply.load(
        np.flatnonzero(rng.random(16) < 0.7 * land._supply.land.exists.reshape(-1)).tolist()
    )
    for _ in range(500):
        least = rng.uniform(-80, 260, 2) - (70.0, -33.0)
        if rng.random() < 0.5:  # at a border, or a rounding beside
            least = np.round(least / SIDE) * SIDE + (-70.0, 33.0)
            least += rng.choice([0.0, 1e-13, -1e-13, 1e-6], 2)
        size = rng.choice([0.0, 1e-13, 1.0, 64.0], 2)
        box = np.array([[*least, *(least + size)]])
        marks = supply.bring(box)
        is_there = not supply.land.missing_in(box)[0][0]
        assert (marks is None) == is_there
        quick += supply._is_there(tuple(box[0].tolist()))
    assert quick > 50


def test_update_on_tiles_that_are_there_brings_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError

    land = opened(TilesOfArrays(level(2, 2)))
    land.load_now(EVERYWHERE)
    monkeypatch.setattr(supplying.TileSupply, "bring", refuse)
    hero = CharacterMovement(land, SphereCollider(0.5), position=(30, 0.5, 30))
    for _ in range(30):  # 60 m, over the place where four tiles meet
        hero.walk(90, 90)
        hero.update(1 / 45)
    assert hero.position.x > 80
    assert hero.position.z > 80
    assert hero.grounded


@pytest.mark.parametrize("missing", ["load", "wait"])
def test_tile_stays_while_an_update_is_interrupted(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    land = opened(TilesOfArrays(level(1, 3)), missing)
    supply = land._supply
    land.load_now(EVERYWHERE)
    hero = CharacterMovement(land, SphereCollider(0.5), position=(30, 0.5, 30))
    has, found = supplying.TileSupply.has, []

    def has_and_is_interrupted(self: Any, box: Any) -> bool:
        found.append(has(self, box))
        for number in range(3):  # as `load_some` in a signal handler may do
            supply._take(number)
        return found[-1]

    monkeypatch.setattr(supplying.TileSupply, "has", has_and_is_interrupted)
    hero.walk(3, 0)
    result = hero.update(1 / 60)
    assert found == [True]
    assert land.loaded == {(0, 0)}
    assert result.grounded
    assert hero.position.x > 30
    supply._take(0)
    assert land.loaded == frozenset()


# Callbacks


def test_boxes_of_tiles_are_found_for_callbacks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(supplying.TileSupply, "_box_of", refuse)
    land = opened(TilesOfArrays(level(1, 2)), "load")
    land.load_now(EVERYWHERE)
    land.keep_near([], radius=1)
    forget_needs(land)
    settle(land)
    assert land.loaded == frozenset()
    land.on_load = print
    with pytest.raises(AssertionError):
        land.load_now(EVERYWHERE)


def test_callbacks_tell_of_tiles_that_come_and_go() -> None:
    tiles = TilesOfArrays(waves(1, 3), first=(10, 20))
    land, told = opened(tiles, "load"), list[Any]()
    land.on_load = lambda row, column, box: told.append(("load", row, column, box))
    land.on_unload = lambda row, column, box: told.append(("unload", row, column, box))
    land._supply.fetch([1])
    assert told == []
    land.load_some()
    land.load_now(AABB((1, 0, 1), (2, 0, 2)))
    assert [each[:3] for each in told] == [("load", 10, 21), ("load", 10, 20)]
    own = tiles.samples[:, SIDE : 2 * SIDE + 1]
    box = told[0][3]
    assert (box.lower64, box.upper64) == (
        (64.0, float(own.min()), 0.0), (128.0, float(own.max()), 64.0)
    )  # fmt: skip
    told.clear()
    forget_needs(land)
    land.keep_near([], radius=1)
    land.load_some(ms=100)
    assert sorted(each[:3] for each in told) == [("unload", 10, 20), ("unload", 10, 21)]
    with pytest.raises(TypeError, match="on_load must be callable or None, got 3"):
        land.on_load = 3  # type: ignore[assignment]
    land.on_load = land.on_unload = None
    land.load_now(EVERYWHERE)


def test_callbacks_may_change_the_ground_and_load() -> None:
    land = opened(TilesOfArrays(level(3, 3)), "load")
    trees: dict[Any, int] = {}
    depth = [0, 0]

    def plant(row: int, column: int, box: AABB) -> None:
        depth[0] += 1
        depth[1] = max(depth)
        x, _, z = (np.add(box.lower64, box.upper64) / 2).tolist()
        trees[row, column] = land.add(TriangleMesh.box((1, 8, 1)), transform=(x, 0, z))
        land.carve((x + 9, z), radius=3, depth=1)
        land.keep_near([(row * SIDE, 0, column * SIDE), (x, 0, z)], radius=90)
        land.load_some(ms=100)
        land.load_now(EVERYWHERE)
        depth[0] -= 1

    land.on_load = plant
    land.on_unload = lambda row, column, _: land.remove(trees.pop((row, column)))
    land.load_now(AABB((1, 0, 1), (2, 0, 2)))
    assert depth == [0, 1]  # none within another
    assert (len(trees), len(land.parts)) == (9, 9)
    assert (land.height_at(32, 32), land.height_at(41, 32)) == (4.0, -1.0)
    land.on_load = None
    forget_needs(land)
    land.keep_near([], radius=1)
    settle(land)
    assert (len(trees), len(land.parts)) == (0, 0)


def test_callback_that_raises_keeps_none_from_being_told() -> None:
    land, told = opened(TilesOfArrays(level(1, 3)), "load"), list[int]()

    def note(_row: int, column: int, _box: AABB) -> None:
        told.append(column)
        if column == 1:
            raise KeyError("no such forest")

    land.on_load = note
    with pytest.raises(KeyError, match="no such forest"):
        land.load_now(EVERYWHERE)
    assert (told, len(land.loaded)) == ([0, 1], 3)
    land.load_some()
    assert told == [0, 1, 2]


def test_error_of_the_thread_is_told_by_load_some_once() -> None:
    tiles = TilesOfArrays(level(1, 3))
    tiles.failing[1] = OSError("bad sector")
    land = opened(tiles)
    land.keep_near((90, 0, 30), radius=1000)
    until(lambda: not land._supply._loader._reading and len(tiles.reads) == 3)
    with pytest.raises(OSError, match=r"tile \(0, 1\) cannot be read: bad sector"):
        settle(land)
    for _ in range(3):
        land.keep_near((90, 0, 30), radius=1000)
        settle(land)
    assert land.loaded == {(0, 0), (0, 2)}  # all others are there
    tiles.failing.clear()
    land._supply._loader._failed[1] = 0.0  # as a second later
    land.keep_near((90, 0, 30), radius=1000)
    settle(land)
    assert len(land.loaded) == 3


def test_edit_while_a_tile_is_read_is_in_it() -> None:
    tiles = TilesOfArrays(level(1, 2))
    land = opened(tiles)
    land.load_now(AABB((1, 0, 1), (2, 0, 2)))
    land.keep_near((70, 0, 30), radius=1000)
    until(lambda: len(land._supply._loader._ready) == 1)  # read, and not put yet
    land.set_heights(10, SIDE, [[5.0]])  # on the border that both have
    assert land.load_some() == 1
    assert land.height_at(SIDE + 0.25, 10) == 3.75
    assert land.tile(0, 1).heights[10, 0] == 5.0  # type: ignore[union-attr, index]


def test_edits_that_were_merged_while_a_tile_waited_are_in_it() -> None:
    land = opened(TilesOfArrays(level(1, 2)))
    land.load_now(AABB((1, 0, 1), (2, 0, 2)))
    for height in (1.0, 2.0, 3.0):
        land.set_heights(10, SIDE, [[height]])
    land.keep_near((70, 0, 30), radius=1000)
    until(lambda: len(land._supply._loader._ready) == 1)
    land.compact()  # three edits become one
    for row, height in ((10, 4.0), (12, 5.0)):
        land.set_heights(row, SIDE, [[height]])
    assert land.load_some() == 1
    found = land.tile(0, 1)
    assert found is not None
    assert np.asarray(found.heights)[[10, 12], 0].tolist() == [4.0, 5.0]


# Ends


def test_thread_ends_with_the_ground() -> None:
    land = opened(TilesOfArrays(level(2, 2)))
    land.keep_near((30, 0, 30), radius=1000)
    settle(land)
    thread = land._supply._loader._thread
    assert thread is not None
    assert thread.daemon
    there = weakref.ref(land)
    del land
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()
    assert there() is None


def test_character_keeps_the_loader_of_its_ground() -> None:
    land = opened(TilesOfArrays(level(2, 2)))
    hero = CharacterMovement(land, SphereCollider(0.5), position=(30, 0.5, 30))
    supply = weakref.ref(land._supply)
    del land
    gc.collect()
    assert supply() is not None
    del hero
    gc.collect()
    assert supply() is None


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_forked_child_loads_with_a_thread_of_its_own() -> None:
    tiles = TilesOfArrays(level(2, 2))
    land = opened(tiles)
    land.keep_near((30, 0, 30), radius=1)
    settle(land)
    tiles.gate.clear()
    land.keep_near((100, 0, 100), radius=1)
    until(lambda: land._supply._loader._reading is not None)
    child = os.fork()
    if child == 0:
        try:
            tiles.gate.set()
            land.keep_near((100, 0, 100), radius=1000)
            settle(land)
            land.close()
            os._exit(0 if len(land.loaded) == 4 else 1)
        finally:
            os._exit(2)
    tiles.gate.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    settle(land)
    assert (1, 1) in land.loaded


def test_interpreter_ends_while_a_tile_is_read() -> None:
    code = (
        "import time\n"
        "from tests.helpers.tiled_lands import TilesOfArrays, level\n"
        "from terrain_physics import TiledGround\n"
        "tiles = TilesOfArrays(level(2, 2))\n"
        "tiles.gate.clear()\n"
        "land = TiledGround.open(tiles)\n"
        "land.keep_near((30, 0, 30), radius=1000)\n"
        "while land._supply._loader._reading is None: time.sleep(0.001)\n"
    )
    done = forks.run("-c", code, own=True)
    assert (done.returncode, done.stderr) == (0, "")

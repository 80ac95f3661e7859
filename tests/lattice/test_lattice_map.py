"""Tests of a lattice of tiles: its answers are those of one map of the same samples."""

import contextlib
import sys
from typing import Any

import numpy as np
import pytest

from terrain_physics import CapsuleCollider, CharacterGroup, HeightMap
from terrain_physics._kernels.heightmap.missing import MISSING_TILE
from terrain_physics._locks import lasting
from terrain_physics.heightmap.framed import Edited
from terrain_physics.lattice import blocks, table
from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.lattice.tile import LoadedTile
from tests.helpers.examples import rest_is_full
from tests.helpers.lattices import ground_of, lattice, one_map
from tests.helpers.tiled_lands import SIDE, answers, assert_alike


def land(seed: int, rows: int = 3, columns: int = 3) -> np.ndarray:
    z, x = np.mgrid[: rows * SIDE + 1, : columns * SIDE + 1]
    rng = np.random.default_rng(seed)
    a, b, c = rng.uniform(5, 20, 3)
    waves = 6 * np.sin(x / a) * np.cos(z / b) + 3 * np.sin((x + z) / c)
    return np.asarray(waves + rng.normal(0, 0.1, x.shape), np.float32)


@pytest.mark.parametrize("thickness", [np.inf, 2.0, 0.5])
@pytest.mark.parametrize("seed", rest_is_full(range(4), 2))
def test_answers_are_those_of_one_map_whatever_came_and_went(
    seed: int, thickness: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "_FIRST_ROOM", 1)
    rng = np.random.default_rng(seed)
    samples = land(seed)
    if seed % 2:
        samples[rng.random(samples.shape) < 0.001] = np.nan
    exists = rng.random((3, 3)) < (1.0 if seed == 0 else 0.8)
    exists[1, 1] = True
    marks = rng.random((3 * SIDE, 3 * SIDE)) < 0.001 if seed >= 2 else None
    terrain, source = lattice(samples, SIDE, exists, thickness, marks, origin=(3.0, 1.0, -7.0))
    ground = ground_of(terrain)
    numbers = np.flatnonzero(exists).tolist()
    for _ in range(3):
        source.fetch(rng.permutation(numbers).tolist()[:5])
        ground.height_at(10, 10)
        terrain.take(rng.permutation(numbers).tolist()[:4])
        answers(ground, seed, 3 * SIDE)
    source.fetch(rng.permutation(numbers).tolist())
    assert_alike(ground, one_map(source), seed, 3 * SIDE)


@pytest.mark.parametrize("seed", rest_is_full(range(3), 2))
def test_edits_over_borders_are_those_of_one_map(seed: int) -> None:
    rng = np.random.default_rng(seed)
    terrain, source = lattice(land(seed, 2, 2), SIDE)
    ground, numbers = ground_of(terrain), [0, 1, 2, 3]
    source.fetch(numbers)
    other = one_map(source)
    for _ in range(12):
        center, radius = rng.uniform(0, 2 * SIDE, 2).tolist(), rng.uniform(2, 20)
        if rng.random() < 0.5:
            terrain.take(rng.permutation(numbers).tolist()[: rng.integers(1, 5)])
        what = rng.integers(4)
        for each in (ground, other):
            if what == 0:
                each.carve(center, radius, depth=2)
            elif what == 1:
                each.smooth(center, radius)
            elif what == 2:
                each.paint(center, radius, material=3)
            else:
                source.fetch(numbers)
                each.flatten(center, radius, flat=1)
    source.fetch(numbers)
    assert_alike(ground, other, seed, 2 * SIDE)
    (terrain_of_one,) = other.parts.values()
    assert isinstance(terrain_of_one, HeightMap)
    np.testing.assert_array_equal(source.samples, terrain_of_one.heights)


def test_states_hold_edits_and_not_what_is_loaded() -> None:
    terrain, source = lattice(land(7, 2, 2), SIDE)
    ground = ground_of(terrain)
    source.fetch([0, 1, 2, 3])
    states = [(ground.state(), source.samples.copy())]
    rng = np.random.default_rng(7)
    for k in range(12):
        ground.carve(rng.uniform(0, 2 * SIDE, 2).tolist(), radius=9, depth=1)
        terrain.take([k % 4])
        states.append((ground.state(), source.samples.copy()))
    for k in rng.permutation(len(states)).tolist() * 2:
        terrain.take(rng.permutation(4).tolist()[:2])
        ground.restore(states[k][0])
        np.testing.assert_array_equal(source.samples, states[k][1])
    source.fetch([0, 1, 2, 3])
    assert_alike(ground, one_map(source), 7, 2 * SIDE)


def test_no_side_stands_where_a_tile_is_missing() -> None:
    exists = np.array([[True, True, False]])
    level = np.zeros((SIDE + 1, 3 * SIDE + 1), np.float32)
    terrain, source = lattice(level, SIDE, exists, thickness=2.0)
    ground = ground_of(terrain)
    source.fetch([1])
    from_missing, from_absent = (SIDE - 5.0, -1.0, 30.0), (2 * SIDE + 5.0, -1.0, 30.0)
    ways = [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)]
    hits = ground.raycast_many([from_missing, from_absent], ways)
    np.testing.assert_array_equal(hits.distance, [np.nan, 5.0])
    assert hits.triangle[1] >= 2 * SIDE * 3 * SIDE  # a side
    source.fetch([0])
    hits = ground.raycast_many([(-5.0, -1.0, 30.0), from_absent], ways)
    np.testing.assert_array_equal(hits.distance, [5.0, 5.0])
    terrain.take([1])
    hits = ground.raycast_many([(-5.0, -1.0, 30.0), from_absent], ways)
    np.testing.assert_array_equal(hits.distance, [5.0, np.nan])


@pytest.mark.parametrize("what", ["holes", "heights"])
def test_the_ground_ends_at_the_first_hole_that_an_edit_makes(what: Edited) -> None:
    terrain, source = lattice(np.zeros((SIDE + 1, 2 * SIDE + 1), np.float32), SIDE, thickness=2.0)
    ground = ground_of(terrain)
    source.fetch([0, 1])
    ways = [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)]
    within = [(SIDE - 2.0, -1.0, 25.0)] * 2  # the hole comes up to the other tile
    assert np.isnan(ground.raycast_many(within, ways, max_distance=9.0).distance).all()
    terrain.edit("materials", np.s_[20:30, SIDE - 5 : SIDE], np.ones((10, 5), np.uint8))
    assert np.isnan(ground.raycast_many(within, ways, max_distance=9.0).distance).all()
    if what == "holes":
        terrain.edit("holes", np.s_[20:30, SIDE - 5 : SIDE], np.ones((10, 5), np.uint8))
    else:  # a cell is a hole if one of its samples is
        terrain.edit("heights", np.s_[21:30, SIDE - 4 : SIDE], np.full((9, 4), np.nan, np.float32))
    hits = ground.raycast_many(within, ways, max_distance=9.0)
    np.testing.assert_array_equal(hits.distance, [2.0, 3.0])


def test_loading_is_no_change() -> None:
    terrain, source = lattice(land(5, 2, 2), SIDE)
    ground = ground_of(terrain)
    before = ground.state()
    for number in range(4):
        source.fetch([number])
    terrain.take([2])
    assert ground.version == 0
    assert ground.state() is before
    assert len(terrain.changes.rows) == 0
    assert terrain.revision == 5


def test_missing_tiles_touch_at_their_borders() -> None:
    terrain, source = lattice(land(5, 3, 3), SIDE, origin=(-10.0, 0.0, 4.0))
    source.fetch([4])
    boxes = np.array([
        (60.0, 70.0, 110.0, 120.0), (54.0, 70.0, 60.0, 80.0), (54.0, 68.0, 54.0, 68.0),
        (-99.0, 0.0, -10.1, 999.0), (np.nan, 0.0, 1.0, 1.0), (-np.inf, -np.inf, np.inf, np.inf),
    ])  # fmt: skip
    marks, wanted = terrain.missing_in(boxes)
    assert marks.tolist() == [False, True, True, False, False, True]
    assert wanted == [0, 1, 2, 3, 5, 6, 7, 8]
    assert terrain.missing_in(boxes[1:2])[1] == [3]
    assert terrain.missing_in(boxes[2:3])[1] == [0, 1, 3]


def test_long_queries_keep_what_they_began_with() -> None:
    terrain, source = lattice(land(6, 2, 2), SIDE)
    ground, other = ground_of(terrain), None
    source.fetch([0, 1, 2])
    other = one_map(source)
    with lasting(terrain.begin_reading) as (views, _):
        heights, table = views[0], views[3]
        kept = [tile.heights.copy() for tile in terrain.loaded.values()]
        arrays = [tile.heights for tile in terrain.loaded.values()]
        ground.carve((SIDE, SIDE), radius=20, depth=5)
        terrain.take([1])
        source.fetch([3])
        assert terrain.views[0] is not heights
        assert terrain.views[3] is not table
        for old, now in zip(kept, arrays, strict=True):
            np.testing.assert_array_equal(old, now)
    other.carve((SIDE, SIDE), radius=20, depth=5)
    source.fetch([1])
    assert_alike(ground, other, 6, 2 * SIDE)
    # Blocks that were widened for long queries are tight again.
    for level in terrain._blocks._levels:
        assert level[:, :, 0].min() == source.samples.min()
        assert level[:, :, 1].max() == source.samples.max()


def test_the_first_thousand_tiles_move_no_table() -> None:
    samples = np.zeros((20 * SIDE + 1, 52 * SIDE + 1), np.float32)
    terrain, source = lattice(samples, SIDE)
    first = terrain._table.values
    source.fetch(range(1000))
    assert terrain._table.values is first
    source.fetch(range(1000, 1040))
    assert terrain._table.values is not first
    assert_alike(ground_of(terrain), one_map(source), 5, 20 * SIDE)


@pytest.mark.skipif(not blocks._CAN_GIVE_BACK, reason="the system takes no memory back")
def test_memory_of_blocks_is_given_back_with_the_last_tile_of_a_row() -> None:
    terrain, source = lattice(land(4, 2, 65), SIDE)  # the blocks of a row of tiles take eight pages
    ground = ground_of(terrain)
    source.fetch(range(2 * 65))
    lowest = terrain._blocks._levels[0]
    assert lowest.any(axis=2).all()
    terrain.take(range(64))
    assert np.isinf(lowest[0, 0]).all()
    terrain.take([64])
    assert not lowest[1].any()
    source.fetch(range(65))
    assert_alike(ground, one_map(source), 4, 2 * SIDE)


@pytest.mark.parametrize("threads", [1, 4])
def test_walkers_go_as_on_one_map(threads: int) -> None:
    terrain, source = lattice(land(8), SIDE)
    ground = ground_of(terrain)
    source.fetch(np.random.default_rng(8).permutation(9).tolist())
    groups = []
    for each in (ground, one_map(source)):
        group = CharacterGroup(each, CapsuleCollider(0.4, 1.8), threads=threads, collide=True)
        places = np.random.default_rng(9).uniform(40, 150, (60, 3))
        places[:, 1] = each.height_at(places[:, 0], places[:, 2]) + 1.5
        group.add_many(range(60), places)
        groups.append(group)
    for frame in range(90):
        for group in groups:
            group.walk(5, 3 if frame % 30 < 20 else -9)
            group.update(1 / 60)
    assert groups[0].state_hash() == groups[1].state_hash()


def test_the_number_of_a_missing_tile_is_no_tile() -> None:
    assert MISSING_TILE < -1


@pytest.mark.parametrize("at", [1, 2, 4])
@pytest.mark.parametrize("name", ["_show_tile", "_settle", "_write", "survey", "_put_blocks"])
def test_an_interrupt_leaves_no_tile_half_there(
    name: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    terrain, source = lattice(land(11, 2, 2), SIDE)
    ground = ground_of(terrain)
    source.fetch([0, 1])
    owner = LoadedTile if name == "survey" else LatticeMap
    proper, calls = getattr(owner, name), []

    def interrupted(self: Any, *given: Any) -> Any:
        calls.append(name)
        if len(calls) == at:
            raise KeyboardInterrupt
        found = proper(self, *given)
        if len(calls) == at + 1:
            raise KeyboardInterrupt
        return found

    def carve() -> None:
        ground.carve((SIDE, SIDE), radius=9, depth=2)

    monkeypatch.setattr(owner, name, interrupted)
    for step in (lambda: source.fetch([2, 3]), lambda: terrain.take([0]), carve, carve, carve):
        with contextlib.suppress(KeyboardInterrupt):
            step()
    assert calls
    monkeypatch.undo()
    source.fetch([0, 1, 2, 3])
    assert_alike(ground, one_map(source), 11, 2 * SIDE)


@pytest.mark.parametrize("what", rest_is_full(["holes", "heights"]))
def test_an_edit_that_is_interrupted_anywhere_is_made_or_not(what: Edited) -> None:
    """Interrupted at a line of what it calls, as by Ctrl-C, it leaves the land that is kept."""
    line, was_interrupted = 1, True
    while was_interrupted:
        terrain, source = lattice(land(11, 2, 2), SIDE, thickness=2.0)
        ground, left = ground_of(terrain), line
        source.fetch([0, 1, 2])

        def interrupt(frame: Any, event: str, _: object) -> Any:
            nonlocal left
            code = frame.f_code
            if "/lattice/" in code.co_filename and code.co_name != "_make":
                left -= event == "line"
                if left == 0:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return interrupt

        known, was_interrupted = sys.gettrace(), False
        sys.settrace(interrupt)
        try:
            if what == "holes":
                terrain.edit(what, np.s_[20:30, SIDE - 5 : SIDE + 3], np.ones((10, 8), np.uint8))
            else:
                ground.raise_((SIDE - 9, SIDE - 20), 9, 6.0)
        except KeyboardInterrupt:
            was_interrupted = True
        finally:
            sys.settrace(known)
        source.fetch([3])
        assert_alike(ground, one_map(source), line, 2 * SIDE)
        line += 6
    assert line > 200


@pytest.mark.parametrize("kind", ["carve", "paint", "restore"])
def test_a_tile_that_goes_just_before_an_edit_is_brought_again(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terrain, source = lattice(land(12, 2, 2), SIDE)
    ground, left = ground_of(terrain), [3]
    source.fetch([0, 1, 2, 3])
    other, before = one_map(source), ground.state()
    for each in (ground, other):
        each.carve((SIDE, SIDE), radius=9, depth=2)
        each.paint((SIDE, SIDE), radius=5, material=2)
    proper = LatticeMap.editing

    def late(self: LatticeMap, edit: Any) -> Any:  # another thread comes first
        if left:
            number = left.pop()
            self.take([number])
        return proper(self, edit)

    monkeypatch.setattr(LatticeMap, "editing", late)
    if kind == "restore":
        ground.restore(before)
        other = one_map(lattice(land(12, 2, 2), SIDE)[1])
    else:
        for each in (ground, other):
            arguments = {"depth": 1.0} if kind == "carve" else {"material": 3}
            getattr(each, kind)((SIDE, SIDE), 7, **arguments)
    assert not left
    monkeypatch.undo()
    source.fetch([0, 1, 2, 3])
    assert_alike(ground, other, 12, 2 * SIDE)

"""Tests of a ground of tiles: its facts, its parts, its edits, and that it is one map."""

import copy
import pickle
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    AABB,
    Ground,
    HeightMap,
    Ray,
    Tile,
    TiledGround,
    TriangleMesh,
)
from terrain_physics.heightmap.solid import patch_grid
from terrain_physics.tiles import tiled_ground
from tests.helpers.tiled_lands import (
    SIDE,
    TilesOfArrays,
    answers,
    assert_alike,
    forget_needs,
    level,
    settle,
    waves,
)

EVERYWHERE = AABB((-1e6, 0, -1e6), (1e6, 0, 1e6))


def opened(tiles: TilesOfArrays, missing: Any = "load") -> TiledGround:
    return TiledGround.open(tiles, missing=missing)


def edit(ground: Ground, rng: np.random.Generator, size: float) -> None:
    """Make an edit that depends on the state of the generator alone."""
    center, radius = rng.uniform(0, size, 2).tolist(), float(rng.uniform(1, 20))
    if rng.random() < 0.4:  # over the corner of four tiles
        center = [SIDE + float(rng.uniform(-3, 3)), SIDE + float(rng.uniform(-3, 3))]
    what = rng.integers(5)
    if what == 0:
        ground.carve(center, radius, depth=2)
    elif what == 1:
        ground.raise_(center, radius, height=1)
    elif what == 2:
        ground.smooth(center, radius)
    elif what == 3:
        ground.paint(center, radius, material="ice")
    else:
        ground.flatten(center, radius, height=1.5, flat=radius / 2)


# One map


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_one_map_whatever_comes_and_goes(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patch_grid, "PATCH_CELLS", 50)  # not those of tiles
    rng = np.random.default_rng(seed)
    samples, exists = waves(3, 3, seed), rng.random((3, 3)) < 0.85
    exists[1, 1] = True
    marks = rng.random((3 * SIDE, 3 * SIDE)) < 0.001 if seed % 2 else None
    thickness = (np.inf, 2.0)[seed // 2]
    names = ("grass", "rock", "ice")
    tiles = TilesOfArrays(samples, exists, thickness=thickness, marks=marks, names=names)
    land, other, size = opened(tiles), tiles.one_map(), 3.0 * SIDE
    for turn in range(6):
        land.keep_near(rng.uniform(0, size, (2, 3)), radius=float(rng.uniform(5, 90)), unload=95)
        if turn % 2:
            settle(land)
        for _ in range(3):
            before = rng.bit_generator.state
            edit(land, rng, size)
            rng.bit_generator.state = before
            edit(other, rng, size)
        land.load_now(EVERYWHERE)
        assert_alike(land, other, turn, size)
        forget_needs(land)
    assert land.material_names == other.material_names


def test_the_only_tile_is_a_map() -> None:
    tiles = TilesOfArrays(waves(1, 1))
    land = opened(tiles)
    land.load_now(EVERYWHERE)
    assert_alike(land, tiles.one_map(), 1, SIDE)


# Facts


def test_facts_of_land() -> None:
    exists = np.array([[True, True, False], [False, True, True]])
    tiles = TilesOfArrays(
        waves(2, 3), exists, origin=(10.0, 2.0, -5.0), first=(-4, 7), thickness=3.0
    )
    land = opened(tiles, "wait")
    assert tiles.reads == []
    assert repr(land) == "<TiledGround: 4 tiles, 0 loaded, 0 meshes>"
    assert (land.tile_size, land.tile_count, land.path) == (SIDE, 4, None)
    assert land.cell_count == (2 * SIDE, 3 * SIDE)
    assert land.sample_count == (2 * SIDE + 1, 3 * SIDE + 1)
    assert (land.origin, land.cell_size) == ((10.0, 2.0, -5.0), (1.0, 1.0))
    assert (land.height_scale, land.thickness, land.missing) == (1.0, 3.0, "wait")
    assert (land.waits, land.loaded, land.edited) == (0, frozenset(), frozenset())
    assert (land.parts, land.part_names, land.version) == ({}, {}, 0)
    land.load_now(AABB((11, 0, -4), (12, 0, -3)))
    assert land.loaded == {(-4, 7)}
    assert tiles.reads == [0]
    land.load_now(EVERYWHERE)
    assert land.loaded == {(-4, 7), (-4, 8), (-3, 8), (-3, 9)}
    assert not land.is_loading


def test_bounds_are_those_of_one_map() -> None:
    tiles = TilesOfArrays(waves(2, 2), thickness=2.0, origin=(1.0, 2.0, 3.0))
    land, other = opened(tiles), tiles.one_map()
    assert land.bounds == other.bounds
    assert tiles.reads == []
    for ground in (land, other):
        ground.raise_((70, 70), radius=5, height=100)
        ground.add(TriangleMesh.box((2, 2, 2)), transform=(0, -300, 0))
    assert land.bounds == other.bounds


def test_bounds_follow_edits_that_are_in_a_file(tmp_path: Path) -> None:
    path, edits = tmp_path / "land.tiles", tmp_path / "save.edits"
    TiledGround.make(path, level(2, 2), tile=SIDE, height_scale=-2.0)
    rng = np.random.default_rng(4)
    with TiledGround.open(path, edits=edits) as land:
        assert land.bounds == AABB((0, 0, 0), (2 * SIDE, 0, 2 * SIDE))
        for _ in range(30):
            row, column = rng.integers(0, 2 * SIDE - 9, 2).tolist()
            land.set_heights(row, column, rng.normal(size=rng.integers(1, 9, 2)))
        land.set_heights(SIDE, SIDE, [[50.0]])  # the corner of four tiles
    with TiledGround.open(path, edits=edits) as again:
        whole, places = again.bounds, list(product((0, 1), (0, 1)))
        boxes = [again.tile_bounds(*place) for place in places]
        assert again.loaded == frozenset()
        again.load_now(EVERYWHERE)
        for place, box in zip(places, boxes, strict=True):
            tile = again.tile(*place)
            assert tile is not None
            levels = -2.0 * np.asarray(tile.heights, np.float64)
            # They may be wider: by what was there once.
            assert -100.0 == box.lower64[1] == levels.min() == whole.lower64[1]
            assert levels.max() <= box.upper64[1] <= whole.upper64[1] < 20.0


def test_tiles_of_land_are_told() -> None:
    tiles = TilesOfArrays(waves(2, 2), marks=np.zeros((2 * SIDE, 2 * SIDE), np.bool_))
    land = opened(tiles)
    own = land.tile_bounds(1, 0)
    assert own.lower64[0::2] == (0.0, SIDE)
    assert own.upper64[0::2] == (SIDE, 2.0 * SIDE)
    assert own.lower64[1] == tiles.samples[SIDE:, : SIDE + 1].min()
    assert land.tile(1, 0) is None
    land.set_holes(SIDE, 3, [[True, False]])
    land.set_materials(2 * SIDE - 1, 5, [[7]])
    land.set_heights(SIDE, 3, [[50]])
    found = land.tile(1, 0)
    assert isinstance(found, Tile)
    heights, holes, diagonals, materials = map(np.asarray, found)
    assert heights[0, 3] == 50.0
    assert (np.argwhere(holes).tolist(), np.argwhere(diagonals).tolist()) == ([[0, 3]], [])
    assert materials[-1, 5] == 7
    assert np.count_nonzero(materials) == 1
    heights[:] = 9.0  # a copy
    assert land.height_at(10, 70) != 9.0
    assert land.edited == {(0, 0), (1, 0)}
    assert land.tile_bounds(1, 0).upper64[1] == 50.0


def test_unknown_tiles_are_refused() -> None:
    land = opened(TilesOfArrays(level(2, 2), np.array([[True, False], [True, True]])))
    with pytest.raises(ValueError, match=r"row and column must be those of a tile, got \(0, 1\)"):
        land.tile(0, 1)
    with pytest.raises(ValueError, match=r"row must be .* 0 to 1, got 2"):
        land.tile_bounds(2, 0)
    with pytest.raises(TypeError, match="aabb must be an AABB, got 3"):
        land.ready(3)  # type: ignore[arg-type]


def test_ready_tells_what_is_loaded() -> None:
    land = opened(TilesOfArrays(level(2, 2), np.array([[True, False], [True, True]])))
    box = AABB((10, 500, 10), (20, 501, 20))
    assert not land.ready(box)
    land.load_now(box)
    assert land.ready(box)
    assert land.ready(AABB((SIDE + 1, 0, 10), (SIDE + 2, 0, 20)))  # there is none
    assert not land.ready(AABB((10, 0, 10), (20, 0, SIDE)))  # it touches the next one
    assert land.ready(AABB((-20, 0, 10), (-10, 0, 20)))


# Parts


def test_meshes_are_parts_and_maps_are_refused() -> None:
    tiles = TilesOfArrays(level(1, 2))
    land, other = opened(tiles), tiles.one_map()
    for ground in (land, other):
        assert ground.add(TriangleMesh.box((4, 4, 4)), transform=(30, 0, 30), name="crate") == 1
    land.load_now(EVERYWHERE)
    assert list(land.parts) == [1]
    hit = land.raycast(Ray((30, 9, 30), (0, -1, 0)))
    assert hit is not None
    assert (hit.distance, hit.part_name, land.part_of(hit.triangle)[0]) == (7.0, "crate", 1)
    assert land.part_of(5) == (0, 5)
    assert_alike(land, other, 3, SIDE)
    with pytest.raises(TypeError, match=r"part must be a TriangleMesh on a TiledGround, .*to_mesh"):
        land.add(HeightMap([[0, 0], [0, 0]]))
    land.remove("crate")
    assert land.height_at(30, 30) == 0.0
    assert land.part_of(5) == (0, 5)
    with pytest.raises(ValueError, match="triangle must be of a part that is there"):
        land.part_of(1 << 40)


def test_tiles_are_no_part_to_be_moved() -> None:
    land = opened(TilesOfArrays(level(1, 1)))
    calls: list[Any] = [
        lambda: land.move(0, (1, 2, 3)),
        lambda: land.move_many([0], [(1, 2, 3)]),
        lambda: land.replace(0, TriangleMesh.box((1, 1, 1))),
        lambda: land.set_surface_velocity(0, (1, 0, 0)),
        lambda: land.set_one_way(0, (0, 1, 0)),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="key must be that of a TriangleMesh, got 0 of the t"):
            call()
    with pytest.raises(ValueError, match="key must be that of a mesh, got 0 of the tiles"):
        land.remove(0)
    with pytest.raises(KeyError, match="key must be that of a part, got 1"):
        land.remove(1)
    np.testing.assert_array_equal(land.transform(0), np.eye(4))


def test_layers_of_tiles() -> None:
    land = opened(TilesOfArrays(level(1, 1)))
    land.load_now(EVERYWHERE)
    land.add(TriangleMesh.box((4, 4, 4)), transform=(30, -5, 30), layers=2)
    land.set_layers(0, 4)
    assert land.layers_of(0) == 4
    assert land.height_at(30, 30) == 0.0
    assert land.height_at(30, 30, mask=2) == -3.0


def test_it_is_opened_not_made() -> None:
    with pytest.raises(TypeError, match=r"TiledGround must be opened: TiledGround.open\(path\)"):
        TiledGround([[0, 0], [0, 0]])
    with pytest.raises(TypeError, match="source must be a path or GeneratedTiles, got 3"):
        TiledGround.open(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="missing must be one of 'load', 'wait', got 'skip'"):
        opened(TilesOfArrays(level(1, 1)), "skip")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        TiledGround.open("nowhere.tiles")


# Edits


def test_rectangles_are_set_as_of_one_map() -> None:
    rng = np.random.default_rng(3)
    exists = np.array([[True, True], [True, False]])
    tiles = TilesOfArrays(waves(2, 2), exists, names=("grass", "rock", "ice"))
    land, other = opened(tiles), tiles.one_map()
    terrain = other.parts[0]
    assert isinstance(terrain, HeightMap)
    absent = np.repeat(np.repeat(~exists, SIDE, axis=0), SIDE, axis=1)
    for _ in range(20):
        row, column = rng.integers(0, 2 * SIDE - 20, 2).tolist()
        rows, columns = rng.integers(1, 20, 2).tolist()
        heights = rng.normal(size=(rows, columns))
        heights[rng.random(heights.shape) < 0.05] = np.nan
        land.set_heights(row, column, heights)
        there = ~np.isnan(terrain.heights[row : row + rows, column : column + columns])
        there |= ~absent[row : row + rows, column : column + columns]
        own = terrain.heights[row : row + rows, column : column + columns].copy()
        terrain[row : row + rows, column : column + columns] = np.where(there, heights, own)
        marks = rng.random((rows, columns)) < 0.1
        land.set_holes(row, column, marks)
        here = absent[row : row + rows, column : column + columns]
        terrain.holes[row : row + rows, column : column + columns] = marks | here
        names = rng.choice(["grass", "rock", "ice"], (rows, columns))
        land.set_materials(row, column, names)
        terrain.materials[row : row + rows, column : column + columns] = names
        if rng.random() < 0.4:
            land._supply.land.take(rng.permutation(4).tolist()[:2])
    land.load_now(EVERYWHERE)
    assert_alike(land, other, 8, 2 * SIDE)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("set_heights(0, 0, [1, 2])", r"heights must have shape \(rows, columns\), .*got \(2,\)"),
        ("set_heights(-1, 0, [[1]])", r"row must be .*0 to 64, got -1"),
        ("set_heights(0, 'a', [[1]])", r"column must be a whole number, got 'a'"),
        ("set_heights(64, 64, [[1, 2]])", r"heights must lie on the map of 65 x 65, got shape"),
        ("set_heights(0, 0, [[float('inf')]])", "heights must be finite"),
        ("set_heights(0, 0, [[0, -3.4e38]])", r"heights must be below 1e\+38 m .* at \[0, 1\]"),
        ("raise_((9, 9), 3, 1e38)", r"heights must be below 1e\+38 m"),
        ("set_heights(0, 0, [['a']])", "heights must hold real numbers"),
        ("set_heights(0, 0, [[]])", r"heights must have shape .*at least \(1, 1\)"),
        ("set_holes(64, 0, [[True]])", "row must be .*0 to 63, got 64"),
        ("set_holes(0, 0, [[1]])", "holes must be bool"),
        ("set_materials(0, 0, [[256]])", "materials must be from 0 to 255, got 256"),
        ("set_materials(0, 0, [['ice']])", "materials must be numbers where there are no mat"),
    ],
)
def test_wrong_rectangles_are_refused(call: str, message: str) -> None:
    land = opened(TilesOfArrays(level(1, 1)))
    with pytest.raises((TypeError, ValueError), match=message):
        eval(f"land.{call}", {"land": land})  # noqa: S307 a call of the list above
    assert (land.version, land.edited) == (0, frozenset())


def test_edits_that_need_missing_tiles_are_refused_where_they_would_wait() -> None:
    tiles = TilesOfArrays(level(2, 2), first=(5, 5))
    land = opened(tiles, "wait")
    land.load_now(AABB((1, 0, 1), (2, 0, 2)))
    message = (
        r"tiles must be loaded where missing is 'wait', got .*\(5, 6\) and 2 more; call "
        r"load_now\(aabb\) first, or wait until ready\(aabb\)"
    )
    calls: list[Any] = [
        lambda: land.carve((SIDE, SIDE), radius=4, depth=1),
        lambda: land.paint((SIDE, SIDE), radius=4, material=1),
        lambda: land.smooth((SIDE - 4, SIDE - 4), radius=4),
        lambda: land.set_heights(SIDE - 1, SIDE - 1, np.ones((3, 3))),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()
    assert (land.version, tiles.reads, land.edited) == (0, [0], frozenset())
    land.carve((20, 20), radius=9, depth=1)
    assert land.height_at(20, 20) == -1.0


def test_brush_over_too_much_land_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = TilesOfArrays(level(1, 1))
    land = opened(tiles)
    monkeypatch.setattr(tiled_ground, "_MOST_SAMPLES", 1000)
    with pytest.raises(ValueError, match="radius must reach at most 1000 samples, got 50 m"):
        land.carve((30, 30), radius=50, depth=1)
    assert tiles.reads == []
    land.carve((30, 30), radius=10, depth=1)
    assert land.height_at(30, 30) == -1.0


def test_edit_that_cannot_be_kept_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    land = opened(TilesOfArrays(waves(2, 2)))
    land.load_now(EVERYWHERE)
    before, state = answers(land, 1, 2 * SIDE), land.state()

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(land._supply.tiles.edits, "add", full)
    calls: list[Any] = [
        lambda: land.carve((SIDE, SIDE), radius=9, depth=1),
        lambda: land.paint((SIDE, SIDE), radius=9, material=1),
        lambda: land.set_heights(60, 60, np.ones((9, 9))),
        lambda: land.set_holes(60, 60, np.ones((9, 9), np.bool_)),
    ]
    for call in calls:
        with pytest.raises(OSError, match="no space left"):
            call()
    for here, there in zip(answers(land, 1, 2 * SIDE), before, strict=True):
        np.testing.assert_array_equal(here, there)
    assert (land.version, land.edited) == (0, frozenset())
    assert land.state() is state
    monkeypatch.undo()
    land.carve((SIDE, SIDE), radius=9, depth=1)
    assert len(land.edited) == 4


def test_states_put_edits_back_whatever_is_loaded() -> None:
    land = opened(TilesOfArrays(waves(2, 2)), "wait")
    land.load_now(EVERYWHERE)
    first, before = land.state(), answers(land, 1, 2 * SIDE)
    land.carve((SIDE, SIDE), radius=9, depth=3)
    second, after = land.state(), answers(land, 1, 2 * SIDE)
    for number in (0, 3):
        land._supply._take(number)
    land.restore(first)
    land.load_now(EVERYWHERE)
    for here, there in zip(answers(land, 1, 2 * SIDE), before, strict=True):
        np.testing.assert_array_equal(here, there)
    for number in (1, 2):
        land._supply._take(number)
    land.restore(second)
    land.load_now(EVERYWHERE)
    for here, there in zip(answers(land, 1, 2 * SIDE), after, strict=True):
        np.testing.assert_array_equal(here, there)


# Files, copies and pickles


def test_edits_are_there_again_when_it_is_opened(tmp_path: Path) -> None:
    path, edits = tmp_path / "land.tiles", tmp_path / "save.edits"
    TiledGround.make(path, waves(2, 2), tile=SIDE)
    with TiledGround.open(path, edits=edits) as land:
        assert land.path == str(path)
        for at in ((SIDE, SIDE), (20, 30), (100, 64)) * 4:
            land.carve(at, radius=9, depth=3)
            land.paint(at, radius=5, material=3)
        expected = answers(land, 1, 2 * SIDE)
        land.sync()
    content = edits.read_bytes()
    for _ in range(2):
        with TiledGround.open(path, edits=edits) as land:
            assert land.edited == {(0, 0), (0, 1), (1, 0), (1, 1)}
            land.load_now(EVERYWHERE)
            for here, there in zip(answers(land, 1, 2 * SIDE), expected, strict=True):
                np.testing.assert_array_equal(here, there)
            land.compact()
    assert len(edits.read_bytes()) < len(content)
    TiledGround.make(path, level(1, 1), tile=SIDE)
    with pytest.raises(ValueError, match=r"save\.edits"):
        TiledGround.open(path, edits=edits)


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_copies_have_edits_and_meshes_of_their_own(way: str) -> None:
    land = opened(TilesOfArrays(waves(2, 2)))
    land.on_load = lambda *_: None
    land.carve((SIDE, SIDE), radius=9, depth=3)
    land.add(TriangleMesh.box((4, 4, 4)), transform=(30, 0, 30), name="crate")
    land.set_layers(0, 3)
    copied = copy.deepcopy(land) if way == "deepcopy" else pickle.loads(pickle.dumps(land))
    assert (len(copied.loaded), copied.version, copied.on_load) == (0, land.version, None)
    assert (copied.part_names, copied.layers_of(0)) == ({1: "crate"}, 3)
    for ground in (land, copied):
        ground.load_now(EVERYWHERE)
    assert_alike(copied, land, 4, 2 * SIDE)
    copied.carve((20, 20), radius=9, depth=3)
    assert copied.height_at(20, 20) < land.height_at(20, 20) - 2.9
    assert (1, 1) in land.edited
    land.remove("crate")
    assert list(copied.parts) == [1]


def test_pickle_of_other_tiles_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "land.tiles"
    TiledGround.make(path, waves(1, 1), tile=SIDE)
    with TiledGround.open(path, missing="wait") as land:
        content = pickle.dumps(land)
    with pickle.loads(content) as again:
        assert (again.missing, again.path) == ("wait", str(path))
    TiledGround.make(path, level(1, 1), tile=SIDE)
    with pytest.raises(
        ValueError, match=r"must be the one of then, looked at .*land\.tiles: digest"
    ):
        pickle.loads(content)


def test_closed_land_answers_and_reads_no_more() -> None:
    tiles = TilesOfArrays(level(1, 2))
    with opened(tiles) as land:
        land.load_now(AABB((1, 0, 1), (2, 0, 2)))
    land.close()  # again
    assert land.height_at(5, 5) == 0.0
    land.keep_near([(100, 0, 5)], radius=5)
    assert land.load_some() == 0
    message = "TiledGround must be open to read tiles, got a closed one"
    with pytest.raises(ValueError, match=message):
        land.load_now(EVERYWHERE)
    with pytest.raises(ValueError, match="TiledGround must be open"):
        land.carve((20, 20), radius=5, depth=1)
    assert land.height_at(20, 20) == 0.0


def test_closed_land_with_a_file_of_edits_answers(tmp_path: Path) -> None:
    path, edits = tmp_path / "land.tiles", tmp_path / "save.edits"
    TiledGround.make(path, level(1, 1), tile=SIDE)
    with TiledGround.open(path, edits=edits) as land:
        land.carve((20, 20), radius=5, depth=1)
        expected = answers(land, 1, SIDE)
    with TiledGround.open(path, edits=edits) as again:
        again.load_now(EVERYWHERE)
    for own in (land, again):
        assert own.bounds == AABB((0, -1, 0), (SIDE, 0, SIDE))
        for here, there in zip(answers(own, 1, SIDE), expected, strict=True):
            np.testing.assert_array_equal(here, there)


def test_failed_tile_is_told_by_name() -> None:
    tiles = TilesOfArrays(level(1, 2), first=(3, 4))
    land = opened(tiles)
    tiles.failing[1] = OSError("bad sector")
    with pytest.raises(OSError, match=r"tile \(3, 5\) cannot be read: bad sector"):
        land.load_now(EVERYWHERE)
    tiles.failing[1] = ZeroDivisionError("in the source")
    with pytest.raises(RuntimeError, match=r"tile \(3, 5\) cannot be read: ZeroDivisionError"):
        land.load_now(EVERYWHERE)
    tiles.failing[1] = ValueError("no such seed")
    with pytest.raises(ValueError, match=r"tile \(3, 5\) cannot be read: no such seed"):
        land.load_now(EVERYWHERE)
    tiles.failing[1] = ValueError("tile (3, 5): damaged")
    with pytest.raises(ValueError, match=r"^tile \(3, 5\): damaged$"):
        land.load_now(EVERYWHERE)
    assert land.loaded == {(3, 4)}
    tiles.failing.clear()
    land.load_now(EVERYWHERE)
    assert len(land.loaded) == 2


def test_edits_that_cannot_be_saved_are_told_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "land.tiles"
    TiledGround.make(path, level(1, 1), tile=SIDE)
    land = TiledGround.open(path, edits=tmp_path / "save.edits")
    land.keep_near((30, 0, 30), radius=10)
    settle(land)  # there is a thread
    land.carve((30, 30), radius=5, depth=1)

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(land._supply.tiles.edits, "close", full)
    with pytest.raises(OSError, match="no space left on device"):
        land.close()
    monkeypatch.undo()
    land._supply.tiles.edits.close()
    with pytest.raises(ValueError, match="closed"):
        land._supply.tiles.stored.read(0)

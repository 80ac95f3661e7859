"""Sides in patches: how they are cut decides no answer, and an edit makes few of them anew."""

import copy
import signal
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import (
    OBB,
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    Ray,
    Sphere,
    SphereCollider,
)
from terrain_physics.heightmap.solid import patch_grid, sides
from terrain_physics.heightmap.tiled import TiledMap
from terrain_physics.surface.surface import queries_of
from tests.helpers.examples import rest_is_full
from tests.helpers.grounds import Questions, bits, everything, one_by_one

Floats = NDArray[np.float64]
ROWS, COLUMNS = 11, 7
ONE_PATCH = 10**6
COUNT = 40


def drawn_map(draw: np.random.Generator, origin: Floats) -> HeightMap:
    """Return a map with holes, one of them long."""
    holes = draw.random((ROWS, COLUMNS)) < draw.choice([0.0, 0.1, 0.3])
    holes[draw.integers(4) : draw.integers(5, ROWS), draw.integers(COLUMNS)] = True
    samples = draw.uniform(-0.4, 0.4, (ROWS + 1, COLUMNS + 1)) * draw.choice([0.0, 1.0])
    return HeightMap(
        samples,
        origin=origin.tolist(),
        holes=holes,
        border=str(draw.choice(["open", "extend"])),
        thickness=(None, 0.4, 3.0)[draw.integers(3)],
        diagonal=str(draw.choice(["a-c", "b-d", "alternating"])),
    )


def drawn_ground(draw: np.random.Generator) -> Any:
    """Return a map, or a ground of two that cover some of each other's sides."""
    origin = np.round(draw.choice([0.0, 1e4]) * draw.uniform(-1.0, 1.0, 3))
    land = drawn_map(draw, origin)
    if draw.integers(2):
        return land
    step = np.array([COLUMNS, draw.choice([0.0, 1.5]), 0.0])
    return Ground([land, drawn_map(draw, origin + step)])


def drawn_questions(draw: np.random.Generator, ground: Any) -> Questions:
    """Return places, ways and shapes, many of them along the sides of cells."""
    low = np.array(ground.bounds.lower if isinstance(ground, HeightMap) else (0, 0, 0))
    low = np.where(np.isfinite(low), low, 0.0)
    places = low + draw.uniform(-2.0, 13.0, (COUNT, 3)) * (1.0, 0.3, 1.0)
    ways = draw.normal(size=(COUNT, 3))
    ways[::2] *= (0.0, 0.0, 1.0)  # along the walls of a column of cells
    ways[::2, 2] = np.where(ways[::2, 2] < 0.0, -9.0, 9.0)
    radii = draw.uniform(0.1, 0.8, COUNT)
    # The walls are at whole numbers of meters: some shapes are in them by a hair.
    aside = np.round(places[:, 0]) + radii - draw.choice([0.0, 1e-9, 1e-3], COUNT)
    places[::2, 0] = aside[::2]
    turns, _ = np.linalg.qr(draw.normal(size=(COUNT, 3, 3)))
    turns[:, :, 0] *= np.linalg.det(turns)[:, np.newaxis]
    turns[::2] = np.eye(3)
    ends = places + np.array([0.0, 0.9, 0.2])
    return Questions(
        places[:, 0], places[:, 2], np.column_stack([places, radii]),
        np.column_stack([places, ends, radii]), places,
        np.column_stack([radii, np.full((COUNT, 2), (0.5, 0.3))]), turns, ways, ways,
    )  # fmt: skip


def answers(ground: Any, asked: Questions) -> list[Any]:
    """Return all that a ground answers, of many at once and one by one."""
    found = [bits(answer) for answer in everything(ground, asked).values()]
    return [
        *found,
        repr(one_by_one(ground, asked, 10)),
        bits(ground.signed_distance(asked.centers)),
    ]


def walks(ground: Any, places: Floats) -> list[tuple[float, ...]]:
    """Return where bodies are that fall and walk among the sides, frame by frame."""
    found = []
    for place in places:
        hero = CharacterMovement(ground, CapsuleCollider(0.3, 0.9), position=place.tolist())
        for frame in range(20):
            hero.walk(3.0 if frame < 10 else 0.5, -4.0)
            hero.update(1 / 30)
            found.append(tuple(hero.position64))
    return found


def in_patches(monkeypatch: pytest.MonkeyPatch, cells: int, ground: Any) -> Any:
    """Return a copy of a ground whose sides are in patches of so many cells from now on."""
    monkeypatch.setattr(patch_grid, "PATCH_CELLS", cells)
    return copy.deepcopy(ground)


@pytest.mark.parametrize("seed", rest_is_full([4, 0, 1, 2, 3, *range(5, 80)], 4))
def test_patches_decide_no_answer(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(seed)
    ground = drawn_ground(draw)
    asked = drawn_questions(draw, ground)
    whole = in_patches(monkeypatch, ONE_PATCH, ground)
    wanted, walked = answers(whole, asked), walks(whole, asked.centers[:6])
    for cells in (2, 3):
        cut = in_patches(monkeypatch, cells, ground)
        assert answers(cut, asked) == wanted
        assert walks(cut, asked.centers[:6]) == walked


@pytest.mark.parametrize("seed", rest_is_full(range(60), 3))
def test_edits_make_patches_anew(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(seed)
    ground = in_patches(monkeypatch, 2, drawn_ground(draw))
    maps = [ground] if isinstance(ground, HeightMap) else list(ground.parts.values())
    asked = drawn_questions(draw, ground)
    for _ in range(6):
        land, (row, column) = maps[draw.integers(len(maps))], draw.integers((ROWS, COLUMNS))
        kind = draw.integers(4)
        if kind == 0:
            land.holes[row : row + 3, column] = bool(draw.integers(2))
        elif kind == 1:
            land[row : row + 2, column] = float(draw.choice([np.nan, 0.0, 1.0]))
        elif kind == 2:
            land.thickness = float(draw.choice([0.5, 3.0, np.inf]))
        else:
            x, _, z = land.origin64
            land.carve((x + column, z + row), 1.5, 0.3)
        shown = answers(ground, asked)
        assert shown == answers(in_patches(monkeypatch, ONE_PATCH, ground), asked)
        monkeypatch.setattr(patch_grid, "PATCH_CELLS", 2)


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="has no such signal")
@pytest.mark.parametrize("change", ["thickness", "a hole", "a height"])
def test_who_asks_while_united_maps_follow_an_edit_keeps_nothing_old(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lands = [
        HeightMap(np.zeros((9, 9)), thickness=1.0, origin=(x, 0, 0), border="open") for x in (0, 8)
    ]
    ground, ray = Ground(lands), Ray((4.3, -5.0, 4.2), (0.0, 1.0, 0.0))

    def asked(land: Ground) -> Any:
        hit = land.raycast(ray)
        beside = land.raycast(Ray((5.5, -0.1, 4.2), (-1.0, 0.0, 0.0)))
        return hit and hit.distance, beside and beside.distance, land.contacts(ball).depth.tolist()

    ball, before, show = Sphere((4.3, -0.9, 4.2), 0.4), [], TiledMap._show
    signals = signal.signal(signal.SIGALRM, lambda *_: before.append(asked(ground)))

    def interrupted(self: TiledMap, numbers: Any) -> None:
        monkeypatch.undo()
        signal.raise_signal(signal.SIGALRM)
        show(self, numbers)

    assert asked(ground)[0] == 4.0
    monkeypatch.setattr(TiledMap, "_show", interrupted)
    try:
        if change == "thickness":
            lands[0].thickness = 0.25
        elif change == "a hole":
            lands[0].holes[4, 4] = True
        else:
            lands[0][4, 4] = 2.0
        now = asked(ground)  # which follows the edit first
    finally:
        signal.signal(signal.SIGALRM, signals)
    assert before
    assert now == asked(ground) == asked(Ground([copy.deepcopy(land) for land in lands]))


def of_a_late_hole(land: HeightMap) -> list[Any]:
    """Return what stops below a hole of a map, asked one by one."""
    ball, (x, y, z) = Sphere((40.5, -2.0, 40.8), 0.4), (40.5, -2.0, 40.5)
    sweep, ray = (
        land.sweep(Sphere((x, y, z), 0.2), (0, 0, 2)),
        land.raycast(Ray((x, y, z), (0, 0, 1))),
    )
    hero = CharacterMovement(land, SphereCollider(0.3), position=(x, y, z), gravity=0)
    for _ in range(30):
        hero.velocity = (0, 0, 2)
        hero.update(1 / 30)
    assert sweep is not None
    assert ray is not None
    hits = [
        land.contacts(ball).triangle.tolist(),
        land.contacts([(*ball.center, 0.4)] * 3).triangle.tolist(),
    ]
    return [
        *hits,
        sweep.fraction,
        ray.distance,
        land.closest_point((x, y, z)).distance,
        hero.position64,
    ]


def test_a_hole_made_later_has_sides_too() -> None:
    late, early = (HeightMap(np.zeros((65, 65)), border="open") for _ in range(2))
    late.holes[8, 8] = early.holes[8, 8] = early.holes[40, 40] = True
    assert len(late.contacts(Sphere((8.5, -2.0, 8.9), 0.4)))  # there are sides
    late.holes[40, 40] = True
    assert of_a_late_hole(late) == of_a_late_hole(early)


def test_a_neighbor_that_comes_later_covers_a_side() -> None:
    land, far = (HeightMap(np.zeros((9, 9)), origin=(x, 0, 0), border="open") for x in (0, 99))
    ball, ray = Sphere((8.2, -0.5, 4.5), 0.3), Ray((9.0, -0.5, 4.5), (-1, 0, 0))
    ground = Ground([land, far])
    for _ in range(2):
        assert len(ground.contacts(ball)) == 1
        hit = ground.raycast(ray)
        assert hit is not None
        assert hit.distance == 1.0
        coarse = HeightMap(np.zeros((5, 5)), cell_size=2, origin=(8, 0, 0), border="open")
        key = ground.add(coarse)  # no part of a union: it has other cells
        assert len(ground.contacts(ball)) == 0
        assert ground.raycast(ray) is None
        ground.remove(key)


def patches_of(land: HeightMap) -> tuple[Any, ...]:
    queries: Any = queries_of(land)
    with queries.lock:
        mesh = queries.source.sides.now()
        return tuple(mesh.patches[number] for number in sorted(mesh.patches))


def test_only_the_patches_of_an_edit_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patch_grid, "PATCH_CELLS", 8)
    land = HeightMap(np.zeros((41, 41)))
    land.holes[1::2, 3] = True
    before = patches_of(land)
    assert len(before) == 5

    def made_anew() -> list[int]:
        nonlocal before
        known, before = before, patches_of(land)
        return [k for k in range(5) if before[k] is not known[k]]

    land.holes[19, 5] = True  # in the middle of a patch
    assert made_anew() == [2]
    land.holes[17, 5] = True  # its first row: the patch above has other ghosts
    assert made_anew() == [1, 2]
    land.holes[22, 5] = True  # its last row
    assert made_anew() == [2, 3]
    land[30, 30] = 1.0  # no edge is there
    assert made_anew() == []
    land.holes[14:26] = False
    assert len(patches_of(land)) == 4


def test_each_patch_looks_at_its_own_edits_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patch_grid, "PATCH_CELLS", 8)
    land = HeightMap(np.zeros((81, 9)))
    land.holes[4::8, 3] = True
    assert len(patches_of(land)) == 10
    is_within, asked = sides._is_within, list[Any]()

    def told(edges: Any, areas: Any) -> Any:
        asked.append((edges[:, 0] // 8, [(own.row_start, own.row_stop) for own in areas]))
        return is_within(edges, areas)

    monkeypatch.setattr(sides, "_is_within", told)
    for row in (10, 11, 31, 60):
        land[row, 6] = 1.0
    assert len(patches_of(land)) == 10
    known = {int(patches[0]): sorted(rows) for patches, rows in asked}
    assert known == {1: [(8, 12), (9, 13)], 3: [(29, 32)], 4: [(32, 33)], 7: [(58, 62)]}


def test_a_wall_over_several_patches_is_smooth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patch_grid, "PATCH_CELLS", 2)
    land = HeightMap(np.zeros((9, 5)), thickness=3.0, border="open")
    for hair in (0.0, 1e-12, 1e-9):
        for shape in (
            Sphere((-0.5 + hair, -1.5, 1.0), 0.5),
            OBB((-0.5 + hair, -1.5, 1.0), (0.5, 0.5, 0.5)),
        ):
            assert land.sweep(shape, (0.0, 0.0, 6.0)) is None
            assert land.sweep(shape, (0.5, 0.0, 6.0)) is not None  # into it


class Interruption:
    """Interrupts at one of the lines that are run of some files, as Ctrl-C may."""

    def __init__(self, line: int, files: tuple[str, ...]) -> None:
        self.left, self.files = line, files

    def __call__(self, frame: Any, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.endswith(self.files):
            return None
        self.left -= event == "line"
        if self.left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return self

    def is_in(self, ground: Any) -> bool:
        """Let a ground look for its sides; tell whether that was interrupted."""
        known = sys.gettrace()
        sys.settrace(self)
        try:
            stops_in(ground, 12.5)
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(known)
        return False


def stops_in(ground: Any, z: float) -> tuple[bool, bool]:
    """Tell whether the wall of a hole up to x = 21 stops a ray, and a body that walks."""
    hit = ground.raycast(Ray((20.5, -0.5, z), (1, 0, 0)), 2.0)
    hero = CharacterMovement(ground, SphereCollider(0.2), position=(20.5, -0.5, z))
    for _ in range(6):
        hero.walk(6.0, 0.0)
        hero.update(1 / 30)
    return hit is not None, hero.position.x < 20.9


@pytest.mark.parametrize("is_alone", rest_is_full([True, False]))
def test_interrupted_anywhere_sides_are_there(
    is_alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patch_grid, "PATCH_CELLS", 16)
    lines, was_interrupted = 0, True
    while was_interrupted:
        land = HeightMap(np.zeros((41, 41)), thickness=9.0)
        land.holes[32, 18:21] = True
        ground = land if is_alone else Ground([land])
        for is_hole in (True, False) * 4:
            land.holes[8, 18:21] = is_hole
            assert ground.raycast(Ray((20.5, -0.5, 8.5), (1, 0, 0))) is not None or not is_hole
        assert stops_in(ground, 32.5) == (True, True)
        land.holes[12, 18:21] = True
        lines += 1
        files = "solid/solid_map.py", "solid/sides.py", "ground/parts.py"
        was_interrupted = Interruption(lines, files).is_in(ground)
        assert stops_in(ground, 12.5) == stops_in(ground, 32.5) == (True, True), lines
    assert lines > 40

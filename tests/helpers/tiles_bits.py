"""Land in tiles: which tiles are needed, in which order, and edits of the land."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import terrain_physics as tp
from tests.helpers import draws as drawn
from tests.helpers.digest import named
from tests.helpers.draws import Draws
from tests.helpers.tiled_lands import SIDE, TilesOfArrays, forget_needs, settle

Groups = dict[str, Callable[[], Iterator[Any]]]

MISSING: tuple[Literal["load", "wait"], ...] = ("load", "wait")
FRAME = 1 / 60
ROWS, COLUMNS = 3, 4
ABSENT = (0, 3)
NAMES = ("grass", "rock", "ice")
BODY = tp.CapsuleCollider(0.4, 1.8, offset=(0.0, 0.9, 0.0))
EVERYWHERE = tp.AABB((-1e6, 0.0, -1e6), (1e6, 0.0, 1e6))
_LOW, _HIGH = np.array((-9.0, -4.0, -9.0)), np.array((COLUMNS * SIDE + 9.0, 9.0, ROWS * SIDE + 9.0))


def _samples(draws: Draws) -> NDArray[np.float32]:
    """Return roofs of several slopes, a little rough."""
    z, x = np.mgrid[: ROWS * SIDE + 1, : COLUMNS * SIDE + 1]
    hills = np.abs(x % 40 - 20.0) / 4.0 + np.abs(z % 28 - 14.0) / 8.0
    return np.asarray(hills + draws.uniform(0.0, 0.2, *x.shape), np.float32)


def _tiles(seed: int) -> TilesOfArrays:
    """Return tiles of which one is not there; some have holes and thickness."""
    draws = Draws(60_000 + seed)
    exists = np.ones((ROWS, COLUMNS), np.bool_)
    exists[ABSENT] = False
    marks = draws.uniform(0.0, 1.0, ROWS * SIDE, COLUMNS * SIDE) < 0.002
    return TilesOfArrays(
        _samples(draws), exists, thickness=(np.inf, 2.0)[seed % 2],
        marks=marks if seed % 2 else None, names=NAMES,
    )  # fmt: skip


def _questions(land: tp.TiledGround, draws: Draws, count: int) -> Iterator[Any]:
    """Ask something of each kind."""
    points = draws.mixed(_LOW, _HIGH, count, 3)
    yield land.height_at(points[:, 0], points[:, 2]), land.normal_at(*points[:, [0, 2]].T)
    starts, ways = drawn.rays(draws, _LOW, _HIGH, count).arrays
    hits = land.raycast_many(starts, ways, 120.0)
    yield hits, hits.unknown
    (balls,) = drawn.spheres(draws, _LOW, _HIGH, count).arrays
    sweeps = land.sweep_many(balls, draws.uniform(-90.0, 90.0, count, 3))
    yield sweeps, sweeps.unknown, land.contacts(balls), land.contact_counts(balls)
    yield named(land.closest_points(points), "point", "distance", "triangle")
    yield land.contains(points), land.signed_distance(points)


def _few_questions(land: tp.TiledGround, draws: Draws) -> Iterator[Any]:
    return _questions(land, draws, 3)


def _single_questions(land: tp.TiledGround, draws: Draws) -> Iterator[Any]:
    """Ask about one thing at a time."""
    (x, y, z), size = draws.mixed(_LOW, _HIGH, 1, 3)[0].tolist(), draws.uniform(0.0, 30.0, 3)
    ray = drawn.rays(draws, _LOW, _HIGH, 1).one(0)
    yield land.height_at(x, z), land.raycast(ray), land.raycast(ray, 20.0)
    ball = tp.Sphere((x, y, z), 1.25)
    yield land.sweep(ball, draws.uniform(-60.0, 60.0, 3)), land.contacts(ball)
    yield land.triangles_in(tp.AABB((x, y, z), np.add((x, y, z), size)))
    yield named(land.closest_point((x, y, z)), "point", "distance", "triangle")


def _needs_of_questions() -> Iterator[Any]:
    """Give which tiles questions read, where nothing is loaded before each of them."""
    for seed in range(2):
        tiles, draws = _tiles(seed), Draws(61_000 + seed)
        with tp.TiledGround.open(tiles) as land:
            land.add(tp.TriangleMesh.box((4.0, 30.0, 4.0)), transform=(90.0, 0.0, 100.0))
            for _ in range(7):
                for ask in (_single_questions, _few_questions):
                    for answer in ask(land, draws):
                        yield answer, list(tiles.reads)
                        tiles.reads.clear()
                    _forget(land)
            yield list(_questions(land, draws, 100)), list(tiles.reads)


def _forget(land: tp.TiledGround) -> None:
    """Let all tiles go."""
    forget_needs(land)
    settle(land)


def _there(land: tp.TiledGround) -> tuple[Any, ...]:
    """Return which tiles are in memory and which are edited, and how often somebody waited."""
    return sorted(land.loaded), sorted(land.edited), land.waits


def _read(tiles: TilesOfArrays, missing: str) -> list[int]:
    """Return which tiles were read, in order; where a thread is in a hurry, by their numbers."""
    return tiles.reads.copy() if missing == "load" else sorted({*tiles.reads})


def _needs_of_walkers() -> Iterator[Any]:
    """Give how a crowd waits for tiles, which are loaded near to it ahead of it."""
    for seed, missing in enumerate(MISSING):
        tiles, draws = _tiles(seed), Draws(62_000 + seed)
        with tp.TiledGround.open(tiles, missing=missing) as land:
            crowd = tp.CharacterGroup(land, BODY, collide=True, seed=seed, threads=1)
            for key in range(12):
                x, _, z = draws.uniform(_LOW, _HIGH, 3).tolist()
                crowd.add(key, (x, 7.0, z))
            crowd.add("between", (SIDE, 7.0, SIDE + 0.2))
            ways = draws.uniform(-50.0, 50.0, 2, len(crowd))
            for frame in range(60):
                crowd.walk(*ways)
                result = crowd.update(FRAME)
                yield result, result.waiting, crowd.positions, _there(land)
                if frame % 8 == 7:
                    land.keep_near([crowd, (100.0, 0.0, 100.0)], radius=2.0, unload=9.0)
                    settle(land)
                    yield _read(tiles, missing), _there(land)
            _forget(land)
            land.keep_near([crowd], radius=90.0, unload=95.0)
            settle(land)
            yield _read(tiles, missing), _there(land)
            forget_needs(land)
            land.keep_near([(20.0, 0.0, 20.0)], radius=3.0, unload=SIDE)
            settle(land)
            yield _read(tiles, missing), _there(land)
            yield list(_questions(land, draws, 60)), _there(land)


def _edit(land: tp.TiledGround, draws: Draws) -> None:
    """Edit a land at a place that is drawn, often where four tiles meet."""
    place = draws.uniform((0.0, 0.0), (COLUMNS * SIDE - 1.0, ROWS * SIDE - 1.0), 2)
    if draws.chance(0.5):
        place = SIDE * np.array((draws.whole(1, 3), draws.whole(1, 3))) + draws.uniform(-3, 3, 2)
    what, radius = draws.below(9), draws.uniform(1.0, 12.0)
    column, row = place.astype(int).tolist()
    shape = draws.whole(1, 9), draws.whole(1, 9)
    if what < 2:
        land.carve(place, radius, depth=1.5)
    elif what == 2:
        land.raise_(place, radius, height=1.0)
    elif what == 3:
        land.smooth(place, radius)
    elif what == 4:
        land.flatten(place, radius, height=1.5, flat=0.5 * radius)
    elif what == 5:
        land.paint(place, radius, NAMES[draws.below(3)])
    else:
        _set(land, draws, what, _inside((row, column), shape))


def _inside(corner: tuple[int, int], shape: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return row, column and shape of a rectangle of cells, as far as there are any."""
    (row, column), (rows, columns) = corner, shape
    return row, column, min(rows, ROWS * SIDE - row), min(columns, COLUMNS * SIDE - column)


def _set(land: tp.TiledGround, draws: Draws, what: int, place: tuple[int, int, int, int]) -> None:
    """Set heights, holes or materials of a rectangle."""
    row, column, *shape = place
    values = draws.uniform(0.0, 4.0, *shape)
    if what == 6:
        land.set_heights(row, column, np.where(values < 0.25, np.nan, values))
    elif what == 7:
        land.set_holes(row, column, values < 1.0)
    else:
        land.set_materials(row, column, np.floor(0.75 * values).astype(np.uint8))


def _everything(land: tp.TiledGround) -> Iterator[Any]:
    """Give all samples and cells of a land, and the boxes of its tiles."""
    yield land.bounds
    for row in range(ROWS):
        for column in range(COLUMNS):
            if (row, column) != ABSENT:
                tile = land.tile(row, column)
                yield land.tile_bounds(row, column)
                yield (
                    None
                    if tile is None
                    else [None if own is None else np.asarray(own) for own in tile]
                )


def _edited(land: tp.TiledGround, draws: Draws, turns: int) -> Iterator[Any]:
    """Edit a land some times; its tiles come and go meanwhile."""
    for turn in range(turns):
        for _ in range(3):
            _edit(land, draws)
        yield _there(land), list(_questions(land, draws, 40))
        if turn % 3 == 1:
            _forget(land)


def _edits() -> Iterator[Any]:
    """Edit a land whose tiles come and go, go back to states, and open its edits again."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(2):
            tiles, draws = _tiles(seed), Draws(63_000 + seed)
            file = Path(folder) / f"{seed}.edits"
            with tp.TiledGround.open(tiles, edits=file) as land:
                yield from _edited(land, draws, 4)
                state = land.state()
                yield from _edited(land, draws, 5)
                yield list(_everything(land))
                land.restore(state)
                land.load_now(EVERYWHERE)
                yield list(_everything(land)), _there(land)
                _edit(land, draws)
            with tp.TiledGround.open(tiles, edits=file) as again:
                yield again.bounds, list(_there(again))
                again.compact()
                again.load_now(EVERYWHERE)
                yield list(_everything(again)), list(_questions(again, draws, 40))


GROUPS: Groups = {
    "tiles that questions need": _needs_of_questions,
    "tiles that walkers need": _needs_of_walkers,
    "edits of tiles": _edits,
}

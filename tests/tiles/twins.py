"""A world on a land of tiles, and its twin on one height map of the same samples."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TiledGround,
    TriangleMesh,
    World,
)
from terrain_physics.heightmap.framed import KINDS
from terrain_physics.tiles.saving.values import LandValues
from tests.helpers.draws import Draws

FRAME = 1 / 60
SIDE, ROWS, COLUMNS = 64, 3, 4
SIZE = ROWS * SIDE + 1, COLUMNS * SIDE + 1
ABSENT = (0, 3)
LIFT = 1
NAMES = ["grass", "rock", "snow"]
BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))


def samples() -> NDArray[np.float32]:
    """Return hills; NaN where the land has no tile."""
    x, z = np.meshgrid(np.arange(SIZE[1]) / 9.0, np.arange(SIZE[0]) / 7.0)
    found = ((x % 2.0) * (z % 3.0) - 0.2 * x).astype(np.float32)
    found[: SIDE * (ABSENT[0] + 1), ABSENT[1] * SIDE + 1 :] = np.nan
    return found


def _tile(row: int, column: int) -> Any:
    place = slice(row * SIDE, (row + 1) * SIDE + 1), slice(column * SIDE, (column + 1) * SIDE + 1)
    return None if (row, column) == ABSENT else samples()[place]


def tiles_in(folder: Path) -> Path:
    """Return the file of tiles in a folder, made if it is not there."""
    path = folder / "alps.tiles"
    if not path.exists():
        TiledGround.make(path, _tile, tile=SIDE, size=(ROWS, COLUMNS), material_names=NAMES)
    return path


def one_map(land: TiledGround) -> Ground:
    """Return the same land as it was made, as one height map in a ground."""
    thickness, names = land.thickness, NAMES
    return Ground([HeightMap(samples(), border="open", thickness=thickness, material_names=names)])


def world_on(ground: Ground) -> World:
    """Return a world with a lift, a hero at a corner of four tiles, a crowd and loners."""
    world = World(ground)
    ground.add(TriangleMesh.box((4, 0.5, 4)), transform=(70, 6, 60), name="lift")
    places = (63, 7, 65), (100, 6, 64), (70, 7, 60)
    for number, place in enumerate(places):
        world.add(f"hero{number}", CharacterMovement(ground, BODY, position=place, seed=number))
    crowd = CharacterGroup(ground, BODY, collide=True, heads="stand", seed=3, threads=1)
    for key in range(5):
        crowd.add(key, (126 + 0.5 * key, 8, 127 + 0.3 * (key % 2)))
    world.add("crowd", crowd)
    loners = CharacterGroup(ground, SphereCollider(0.5), seed=4, threads=1)
    for key in range(3):
        loners.add(key, (10 + 90 * key, 6, 150))
    world.add("loners", loners)
    return world


def play(world: World, frame: int, update: Callable[[float], Any] | None = None) -> Any:
    """Do what a game does in one frame; ``update``: of a recording of the world."""
    ground, time = world.ground, frame / 60
    if isinstance(ground, Ground) and LIFT in ground.parts:
        ground.move(LIFT, (70, 6 + time % 1.0, 60), FRAME)
    for number, key in enumerate(["hero0", "hero1", "hero2"]):
        if key in world:
            hero: Any = world[key]
            hero.walk(6 * np.cos(time + 2 * number), 6 * np.sin(time + number))
    crowd: Any = world["crowd"]
    crowd.walk(4 * np.cos(0.3 * time), 4 * np.sin(0.3 * time))
    loners: Any = world["loners"]
    loners.walk(7, 1)
    return (update or world.update)(FRAME)


def edit(ground: Any, draws: Draws) -> None:
    """Edit the land at a place that is drawn, in one way of several; equal draws, equal edits."""
    what, (x, z) = draws.below(8), draws.uniform(0, (256, 192), 2).tolist()
    row, column = int(z) - int(z) % 3, int(x)
    rows, columns = min(2 + draws.below(70), SIZE[0] - 1 - row), min(9, SIZE[1] - 1 - column)
    if what < 2:
        ground.carve((x, z), radius=9, depth=0.7)
    elif what == 2:
        ground.raise_((x, z), radius=12, height=0.5)
    elif what == 3:
        ground.smooth((x, z), radius=8)
    elif what == 4:
        ground.paint((x, z), 7, NAMES[draws.below(3)])
    elif what == 5:
        place = slice(row, row + rows), slice(column, column + columns)
        new = draws.uniform(-2, 2, rows, columns).astype(np.float32)
        new[np.isnan(samples()[place])] = np.nan  # no land comes where there is no tile
        put(ground, "heights", place, new)
    else:
        place = slice(row, row + rows), slice(column, column + columns)
        kind = "holes" if what == 6 else "materials"
        new = draws.uniform(0, 1, rows, columns)
        put(ground, kind, place, new < 0.3 if kind == "holes" else (3 * new).astype(np.uint8))


def put(ground: Any, kind: str, place: Any, values: NDArray[Any]) -> None:
    """Set values of a rectangle, on a land of tiles or on one map."""
    if isinstance(ground, TiledGround):
        getattr(ground, f"set_{kind}")(place[0].start, place[1].start, values)
    elif kind == "heights":
        ground.parts[0][place] = values
    else:
        getattr(ground.parts[0], kind)[place] = values


def drop(land: Any, draws: Draws | None = None) -> None:
    """Let tiles go: all of them, or about half."""
    for number in list(land._land.loaded):
        if draws is None or draws.below(2):
            land._supply._take(number)


def values_of(ground: Any) -> dict[str, NDArray[Any]]:
    """Return all heights, holes and materials where there are tiles; what is loaded stays so."""
    there = ~np.isnan(samples())
    cells = there[:-1, :-1] & there[1:, 1:]
    if isinstance(ground, TiledGround):
        values, whole = LandValues(ground._supply), ground._land.cell_count
        found = {
            kind: values.of(kind, tuple(slice(0, n + (kind == "heights")) for n in whole))  # type: ignore[arg-type]
            for kind in KINDS
        }
    else:
        terrain: Any = ground.parts[0]
        found = {
            "heights": terrain[:], "holes": terrain.holes[:], "materials": terrain.materials[:],
        }  # fmt: skip
    return {kind: found[kind][there if kind == "heights" else cells] for kind in KINDS}


def refuse_different(one: World, other: World) -> None:
    """Assert that two worlds are equal: all characters, and all of the land."""
    assert one.hashes() == other.hashes()
    mine, theirs = values_of(one.ground), values_of(other.ground)
    for kind in KINDS:
        assert np.array_equal(mine[kind], theirs[kind], equal_nan=kind == "heights"), kind

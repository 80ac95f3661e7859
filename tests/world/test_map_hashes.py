"""The hash of a world holds what its maps hold, by their values and whatever their history."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    AABB,
    CharacterMovement,
    Ground,
    HeightMap,
    Mismatch,
    Rewind,
    TiledGround,
    TriangleMesh,
    World,
    WorldState,
)
from terrain_physics._kernels.math.mixed_words import put_square_hash
from terrain_physics.world.ground import map_hashes
from tests.tiles.twins import BODY, SIZE, drop, put, samples, tiles_in

PLACE = 50, 100  # row and column
EDITS = {
    "heights": lambda ground: put(ground, "heights", _at(2, 3), np.full((2, 3), 4.5)),
    "holes": lambda ground: put(ground, "holes", _at(1, 2), np.array([[True, False]])),
    "materials": lambda ground: put(ground, "materials", _at(1, 1), np.array([[2]], np.uint8)),
}
KINDS = "map", "ground", "tiles"


def _at(rows: int, columns: int) -> Any:
    return slice(PLACE[0], PLACE[0] + rows), slice(PLACE[1], PLACE[1] + columns)


class Maker:
    """Makes grounds of one kind that are equal."""

    def __init__(self, kind: str, path: Path) -> None:
        self.kind, self._path, self._open = kind, path, list[TiledGround]()

    def ground(self) -> Any:
        if self.kind == "tiles":
            self._open.append(TiledGround.open(self._path))
            return self._open[-1]
        names = ["grass", "rock", "snow"]
        land = HeightMap(samples(), border="open", thickness=3.0, material_names=names)
        return land if self.kind == "map" else Ground([land, TriangleMesh.box((2, 1, 2))])

    def world(self, do: Callable[[Any], None] = lambda _: None) -> World:
        """Return a world on a ground that was edited before."""
        ground = self.ground()
        do(ground)
        return self.on(ground)

    def on(self, ground: Any) -> World:
        world = World(ground)
        world.add("hero", CharacterMovement(ground, BODY, position=(10, 8, 10)))
        return world

    def close(self) -> None:
        for land in self._open:
            land.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Any:
    made = tmp_path_factory.mktemp("tiles")
    tiles_in(made)
    return made


@pytest.fixture(params=KINDS)
def make(request: Any, folder: Any) -> Iterator[Maker]:
    maker = Maker(request.param, tiles_in(folder))
    yield maker
    maker.close()


def edit(ground: Any, kind: str) -> None:
    """Edit a ground; a map by itself is the part of key 0."""
    EDITS[kind](SimpleNamespace(parts={0: ground}) if isinstance(ground, HeightMap) else ground)


def carve(world: World, x: float, z: float, radius: float) -> None:
    """Dig into the ground of a world."""
    ground: Any = world.ground
    ground.carve((x, z), radius=radius, depth=0.5)


def differ(mine: World, theirs: World) -> Mismatch:
    """Return where two worlds differ, as they find themselves, or one from a state."""
    rewinds = [Rewind(mine), Rewind(theirs)]
    for rewind in rewinds:
        rewind.save(0)
    found = rewinds[0].compare(0, rewinds[1])
    assert found is not None
    assert rewinds[0].compare(0, theirs.state()) == found
    return found


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_is_in_the_hash_and_one_taken_back_is_none(kind: str, make: Maker) -> None:
    here, there = make.world(), make.world()
    before, state = here.state_hash(), here.state()
    edit(here.ground, kind)
    assert here.hashes() == there.hashes()
    assert here.state_hash() != before == there.state_hash()
    edited = here.state()
    here.restore(state)
    assert here.state_hash() == before
    here.restore(edited)
    dug = make.world(lambda ground: edit(ground, kind))
    assert here.state_hash() == dug.state_hash() != before


@pytest.mark.parametrize("kind", EDITS)
def test_the_sample_is_named(kind: str, make: Maker) -> None:
    here, there = make.world(), make.world()
    edit(there.ground, kind)
    found = differ(here, there)
    values = {"heights": (float(samples()[PLACE]), 4.5), "holes": (0, 1), "materials": (0, 2)}[kind]
    assert found[:3] == (0, None, kind)
    assert (found.mine, found.theirs) == ((0, *PLACE, values[0]), (0, *PLACE, values[1]))


def test_hashes_of_the_ground_name_what_differs_and_its_part(make: Maker) -> None:
    here, there = make.world(), make.world()
    rewinds = [Rewind(here), Rewind(there)]
    for rewind in rewinds:
        rewind.save(0)
    assert rewinds[0].compare(0, rewinds[1].ground_hashes(0)) is None
    edit(there.ground, "heights")
    rewinds[1].save(1)
    rewinds[0].save(1)
    sent = json.loads(json.dumps(rewinds[1].ground_hashes(1)))
    for theirs in (sent, rewinds[1].ground_hashes(1)):
        found = rewinds[0].compare(1, theirs)
        assert found is not None
        assert found[:3] == (1, None, "heights")
        assert (found.mine[0], found.theirs[0]) == (0, 0)
        assert found.mine[1] != found.theirs[1]
    assert rewinds[0].compare(1, rewinds[1].hashes(1)) is None  # of characters alone
    assert rewinds[1].compare(0, rewinds[0].ground_hashes(0)) is None  # of then, from now


def test_a_frame_has_the_hash_that_the_world_had(make: Maker) -> None:
    world = make.world()
    rewind, known = Rewind(world), []
    for frame in range(6):
        known.append(world.state_hash())
        rewind.save(frame)
        edit(world.ground, [*EDITS][frame % 3])
        carve(world, 100 + 9 * frame, 60, 5)
    other = make.world()  # which never asked
    late = Rewind(other)
    for frame in range(6):
        late.save(frame)
        edit(other.ground, [*EDITS][frame % 3])
        carve(other, 100 + 9 * frame, 60, 5)
    assert len(set(known)) == 6
    for frame in (4, 0, 5, 2, 1, 3):
        assert rewind.state_hash(frame) == late.state_hash(frame) == known[frame]
    late.restore(3)
    assert other.state_hash() == known[3]


def test_a_world_that_was_loaded_or_sent_has_the_same_hash(make: Maker, tmp_path: Path) -> None:
    here, there = make.world(), make.world()
    for kind in EDITS:
        edit(here.ground, kind)
    carve(here, 63, 65, 9)  # at a corner of tiles
    there.restore(WorldState.from_bytes(here.state().to_bytes(), there))
    assert there.state_hash() == here.state_hash()
    here.save(tmp_path / "game.world")
    loaded = World.load(tmp_path / "game.world")
    assert loaded.state_hash() == here.state_hash()
    if make.kind == "tiles":
        loaded.ground.close()  # type: ignore[union-attr]


def test_which_tiles_are_loaded_plays_no_part(folder: Path) -> None:
    maker = Maker("tiles", tiles_in(folder))
    here, there = maker.world(), maker.world()
    for world in (here, there):
        carve(world, 63, 65, 9)
    here.ground.load_now(AABB((0, 0, 0), (SIZE[1], 0, SIZE[0])))  # type: ignore[union-attr]
    drop(there.ground)
    assert here.state_hash() == there.state_hash()
    state = there.state()
    carve(there, 190, 20, 12)  # beside land without a tile
    carve(here, 190, 20, 12)
    drop(there.ground)
    assert here.state_hash() == there.state_hash()
    rewind = Rewind(there)
    rewind.save(0)
    there.restore(state)
    assert rewind.state_hash(0) == here.state_hash() != there.state_hash()
    maker.close()


def test_thickness_and_sizes_count() -> None:
    def world(size: int = 9, thickness: float = 2.0) -> World:
        return World(HeightMap(np.zeros((size, size)), thickness=thickness))

    assert world().state_hash() == world().state_hash()
    found = differ(world(), world(thickness=3.0))
    assert found[:5] == (0, None, "thickness", (0, 2.0, False), (0, 3.0, False))
    found = differ(world(), world(size=11))
    assert (found.column, found.mine[0]) == ("heights", 0)
    assert found.mine[1] != found.theirs[1]  # hashes: they have no samples in common


def test_values_count_and_not_their_bits() -> None:
    """Zeros of two signs and NaNs of two kinds are equal; holes that were closed are none."""
    other = np.zeros((40, 40), np.float32)
    other[3, 3] = np.nan
    plain = other.copy()
    other[0, 0] = -0.0
    other[3, 3] = np.uint32(0xFFC00001).view(np.float32)
    maps = [HeightMap(own, thickness=2.0) for own in (plain, other)]
    maps[1].holes[5, 5] = True
    maps[1].holes[5, 5] = False
    maps[1].materials[5, 5] = 1
    maps[1].materials[5, 5] = 0
    assert World(maps[0]).state_hash() == World(maps[1]).state_hash()


def test_a_square_is_read_again_only_after_an_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    land = HeightMap(np.zeros((129, 129)))
    world, read = World(land), list[Any]()
    world.state_hash()
    values = type(land._storage).values

    def counted(self: Any, what: Any, place: Any) -> Any:
        read.append(place)
        return values(self, what, place)

    monkeypatch.setattr(type(land._storage), "values", counted)
    world.state_hash()
    assert not read
    with land._storage.lock:
        land.carve((80, 80), radius=3, depth=1)
    read.clear()  # what undo keeps
    world.state_hash()
    assert read == [(slice(64, 96), slice(64, 96))]


def test_an_interrupted_hash_is_found_at_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    world, other = (World(HeightMap(np.zeros((65, 65)))) for _ in range(2))
    for own in (world, other):
        own.state_hash()
        carve(own, 30, 30, 5)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(world.ground._storage), "values", interrupt)  # type: ignore[union-attr]
        with pytest.raises(KeyboardInterrupt):
            world.state_hash()
    assert world.state_hash() == other.state_hash()


def test_many_edits_between_two_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_hashes, "_MOST_EDITS", 8)
    world, other = (World(HeightMap(np.zeros((65, 65)))) for _ in range(2))
    world.state_hash()
    for own in (world, other):
        for k in range(60):
            own.ground[k, 7] = k  # type: ignore[index]
    assert world.state_hash() == other.state_hash()


@pytest.mark.parametrize("bits", [0, 1, 0x7F800000, 0x80000001, 0xFF800000])
def test_each_value_and_place_has_a_hash_of_its_own(bits: int) -> None:
    def hash_of(words: list[int], row: int = 0, column: int = 0) -> int:
        out = np.zeros(1, np.uint64)
        with np.errstate(over="ignore"):
            put_square_hash(np.array(words, np.uint32), row, column, out)
        return int(out[0])

    known = [hash_of([bits]), hash_of([bits, bits]), hash_of([bits], 1), hash_of([bits], 0, 1)]
    known += [hash_of([bits, 5]), hash_of([5, bits]), hash_of([bits ^ 2])]
    assert len(set(known)) == len(known)


@pytest.mark.parametrize(
    "theirs", [[("hights", 0, 1)], [("heights", 0, "1")], [("heights", 0.5, 1)], [("heights",)]]
)
def test_damaged_hashes_of_a_ground(theirs: Any) -> None:
    rewind = Rewind(World(HeightMap(np.zeros((9, 9)))))
    rewind.save(0)
    with pytest.raises(TypeError, match="theirs must be a Rewind, a WorldState, or what"):
        rewind.compare(0, theirs)

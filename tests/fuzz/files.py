"""Damaged files load or are refused by name, in little memory: maps, recordings, grounds, tiles."""

import functools
import random
import tempfile
import tracemalloc
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np

import terrain_physics as tp
from terrain_physics.tiles.format import INDEX, TileLayout, hash_of
from tests.heightmap.test_files_damaged import SEEDS, mutated, outcome, with_true_checksums
from tests.helpers.tile_files import joined, parts_of

MOST_MEMORY = 8_000_000
"""Bytes that nothing takes: the files have a few KB."""


@functools.cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that goes with the process."""
    return tempfile.TemporaryDirectory(prefix="terrain_physics_fuzz_")


def case(seed: int) -> None:
    """Damage one file and read it."""
    chance = random.Random(seed)  # noqa: S311
    _read_undamaged()
    tracemalloc.start()
    try:
        kind = chance.random()
        if kind < 0.2:
            _recording(chance)
        elif kind < 0.4:
            _ground(chance)
        elif kind < 0.6:
            _tiles(chance)
        else:
            _heights(chance)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_MEMORY, peak


@functools.cache
def _read_undamaged() -> None:
    """Import and compile what the cases use, which is not what is measured."""
    for name, content in SEEDS.values():
        path = Path(folder().name) / name
        path.write_bytes(content)
        assert outcome(path) == "loaded"
    path.write_bytes(_archive(_members(), 8))
    _replay(path)
    path.write_bytes(_archive(_ground_members(), 8))
    _ask(tp.Ground.load(path))
    _ask_tiles(_written(*_tiled_land()))


def _heights(chance: random.Random) -> None:
    name, content = SEEDS[chance.choice(list(SEEDS))]
    path = Path(folder().name) / name
    damaged = mutated(content, chance)
    if path.suffix == ".png" and chance.random() < 0.8:
        damaged = with_true_checksums(damaged)
    path.write_bytes(damaged)
    assert outcome(path) in {"loaded", "refused"}


def _scene() -> tp.CharacterGroup:
    """Return what is recorded: a ground that changes, and characters on it."""
    land = tp.HeightMap(np.random.default_rng(0).uniform(0, 1, (9, 9)))
    ground = tp.Ground([land, tp.TriangleMesh.box((2, 0.5, 2))])
    return tp.CharacterGroup(ground, tp.SphereCollider(0.4))


@functools.cache
def _members() -> dict[str, bytes]:
    """Return the parts of a recording's archive."""
    group = _scene()
    ground = group.ground
    assert isinstance(ground, tp.Ground)
    recording = tp.Recording(group)
    group.add("ada", (4, 3, 4))
    for frame in range(12):
        if frame == 5:
            group.add(7, (2, 3, 2), collider=tp.BoxCollider((0.3, 0.4, 0.5)))
            group.remove("ada")
            ground.add(tp.TriangleMesh.box((2, 1, 2)))
            ground.carve((4, 4), 2, 1)
            ground.paint((4, 4), 2, 1)
        ground.move(1, ((4, 0.1 * frame, 4), np.eye(3)), 1 / 60)
        group.velocities = [(1.0, 0.0, 0.5)]
        recording.update(1 / 60)
    path = Path(folder().name) / "whole"
    recording.save(path)
    return _members_in(path)


@functools.cache
def _ground_members() -> dict[str, bytes]:
    """Return the parts of a saved ground's archive."""
    rng = np.random.default_rng(0)
    land = tp.HeightMap(
        rng.uniform(0, 1, (9, 9)),
        holes=rng.random((8, 8)) < 0.1,
        diagonal=rng.random((8, 8)) < 0.5,
        materials=rng.integers(0, 2, (8, 8)),
        material_names=["grass", "rock"],
    )
    path = Path(folder().name) / "whole"
    tp.Ground([land, tp.TriangleMesh.stairs(2, 0.2, 0.3, 3)]).save(path)
    return _members_in(path)


def _members_in(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _recording(chance: random.Random) -> None:
    """Damage an archive, or what it holds, and replay what can be read."""
    _replay(_damaged_archive(_members(), chance))


def _ground(chance: random.Random) -> None:
    """Damage an archive, or what it holds, and ask what can be read."""
    path = _damaged_archive(_ground_members(), chance)
    try:
        ground = tp.Ground.load(path)
    except ValueError as error:
        if str(path) not in str(error):
            raise
        return
    _ask(ground)


def _ask(ground: tp.Ground) -> None:
    ground.contacts(tp.Sphere((1, 0, 1), 2))


@functools.cache
def _tiled_land() -> tuple[bytes, bytes]:
    """Return a file of tiles, and edits of its land."""
    rng = np.random.default_rng(0)
    tiles, edits = Path(folder().name) / "land.tiles", Path(folder().name) / "land.edits"
    tp.TiledGround.make(
        tiles,
        rng.uniform(0, 1, (130, 129)),
        tile=64,
        holes=rng.random((129, 128)) < 0.1,
        materials=rng.integers(0, 2, (129, 128)),
        material_names=["grass", "rock"],
        diagonal="shortest",
    )
    with tp.TiledGround.open(tiles, edits=edits) as land:
        land.carve((60, 60), 4, 1)
        land.paint((20, 70), 3, "rock")
        land.compact()
        land.raise_((64, 64), 3, 1)
    return tiles.read_bytes(), edits.read_bytes()


def _tiles(chance: random.Random) -> None:
    """Damage a file of tiles, what its checksums are of, or edits, and ask what can be read."""
    tiles, edits = _tiled_land()
    kind = chance.random()
    if kind < 0.3:
        tiles = mutated(tiles, chance)
    elif kind < 0.7:
        tiles = _tiles_with_true_checksums(tiles, chance)
    else:
        edits = mutated(edits, chance)
    path = _written(tiles, edits)
    try:
        _ask_tiles(path)
    except ValueError as error:
        if str(path) not in str(error):
            raise


def _tiles_with_true_checksums(tiles: bytes, chance: random.Random) -> bytes:
    """Return a file of which the index or the tiles are others, with checksums that are right."""
    header, content, index = parts_of(tiles)
    if chance.random() < 0.5:
        damaged = mutated(index.tobytes(), chance)
        count = min(len(damaged) // INDEX.itemsize, header.shape.rows * header.shape.columns)
        index = np.frombuffer(damaged, INDEX, count).copy()
        return joined(header._replace(tile_count=count), content, index)
    damaged = mutated(content, chance)[: len(content)].ljust(len(content), b"\0")
    start = header.index_at - len(content)
    for row in index:
        layout = TileLayout(header.shape.side, header.heights, int(row["holds"]))
        at = int(row["offset"]) - start
        row["hash"] = np.void(hash_of(damaged[at : at + layout.size]))
    return joined(header, damaged, index)


def _written(tiles: bytes, edits: bytes) -> Path:
    """Write both files; return the name that both begin with."""
    path = Path(folder().name) / "damaged"
    path.with_suffix(".tiles").write_bytes(tiles)
    path.with_suffix(".edits").write_bytes(edits)
    return path


def _ask_tiles(path: Path) -> None:
    files = path.with_suffix(".tiles"), path.with_suffix(".edits")
    with tp.TiledGround.open(files[0], edits=files[1]) as land:
        land.contacts(tp.Sphere((64, 0, 64), 8))
        land.raycast(tp.Ray((1, 50, 1), (1, -0.6, 1)))
        land.height_at([1.0, 100.0], [90.0, 3.0])


def _damaged_archive(members: dict[str, bytes], chance: random.Random) -> Path:
    """Write an archive that is damaged, or what it holds."""
    is_inside = chance.random() < 0.7
    if is_inside:
        name = chance.choice(list(members))
        members = members | {name: mutated(members[name], chance)}
    content = _archive(members, chance.choice((0, 8)))
    path = Path(folder().name) / "damaged"
    path.write_bytes(content if is_inside else mutated(content, chance))
    return path


def _archive(members: dict[str, bytes], compression: int) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content, 0 if name == "ground.json" else compression)
    return buffer.getvalue()


def _replay(path: Path) -> None:
    try:
        recording = tp.Recording.load(path)
    except ValueError as error:
        if str(path) not in str(error):
            raise
        return
    try:
        tp.replay(recording, _scene)
    except ValueError as error:
        if " must " not in str(error):
            raise

"""Damaged files: maps, recordings and grounds load or are refused by name, in little memory."""

import functools
import random
import tempfile
import tracemalloc
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np

import terrain_physics as tp
from tests.heightmap.test_files_damaged import SEEDS, mutated, outcome, with_true_checksums

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
        if kind < 0.25:
            _recording(chance)
        elif kind < 0.5:
            _ground(chance)
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

"""A ground, a map or a mesh in a file, and back: the same to the last bit, or refused by name."""

import io
import json
import random
import struct
import threading
import tracemalloc
import zipfile
from typing import Any

import numpy as np
import pytest

from terrain_physics import Ground, HeightMap, Sphere, TriangleMesh
from terrain_physics.heightmap.saved import saved_map
from terrain_physics.surface import ground_files
from tests.heightmap.test_files_damaged import mutated
from tests.helpers import drawn_grounds
from tests.helpers.damaged_saves import check_archive, how_many
from tests.helpers.draws import Draws
from tests.helpers.examples import rest_is_full

MAKERS = (*drawn_grounds.MAPS, *drawn_grounds.MESHES, *drawn_grounds.GROUNDS)


def saved_and_loaded(ground, folder):
    path = folder / "level.ground"
    ground.save(path)
    return type(ground).load(path)


def assert_same(one, other):
    """Compare all that two grounds hold."""
    assert type(one) is type(other)
    assert one.version == other.version
    assert one.material_names == other.material_names
    if isinstance(one, Ground):
        assert list(one.parts) == list(other.parts)
        for key, part in one.parts.items():
            assert_same(part, other.parts[key])
    elif isinstance(one, TriangleMesh):
        assert one.vertices.tobytes() == other.vertices.tobytes()
        for name in ("faces", "materials"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
        assert np.array_equal(*(mesh.__getstate__()[3] for mesh in (one, other)))  # of the tree
    else:
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
        for name in ("holes", "materials"):
            assert np.array_equal(getattr(one, name)[:], getattr(other, name)[:])
        for name in ("cell_size", "height_scale", "thickness", "border"):
            assert getattr(one, name) == getattr(other, name), name
        assert tuple(one.origin64) == tuple(other.origin64)
        assert np.array_equal(one.to_mesh().indices, other.to_mesh().indices)


@pytest.mark.parametrize("seed", rest_is_full(range(4), 2))
@pytest.mark.parametrize("make", MAKERS)
def test_what_is_loaded_is_what_was_saved(make, seed, tmp_path):
    draws = Draws(seed)
    ground = make(draws)
    for _ in range(seed):
        drawn_grounds.edit(draws, ground)
    again = saved_and_loaded(ground, tmp_path)
    assert_same(ground, again)
    low, high = drawn_grounds.box_of(ground)
    rng = np.random.default_rng(seed)
    shapes = [Sphere(center, 0.5) for center in rng.uniform(low, high, (20, 3))]
    for name in ("query", "triangle", "penetration", "normal", "point", "material"):
        answers = [getattr(one.contacts(shapes), name).tobytes() for one in (ground, again)]
        assert answers[0] == answers[1], name


@pytest.mark.parametrize("diagonal", ["a-c", "b-d", "alternating", "shortest", None])
@pytest.mark.parametrize("thickness", [None, 3.5, np.inf])
@pytest.mark.parametrize("has_holes", [False, True])
def test_edits_go_on_alike(diagonal, thickness, has_holes, tmp_path):
    rng = np.random.default_rng(3)
    land = HeightMap(
        rng.uniform(0, 2, (9, 7)),
        cell_size=(0.1, 0.3),
        height_scale=-1.7,
        origin=(1e6 + 0.1, 2, -3),
        border="open",
        diagonal=rng.random((8, 6)) < 0.5 if diagonal is None else diagonal,
        thickness=thickness,
        holes=rng.random((8, 6)) < 0.2 if has_holes else None,
        materials=rng.integers(0, 3, (8, 6)),
        material_names=["grass", "rock", "mud"],
    )
    again = saved_and_loaded(land, tmp_path)
    assert_same(land, again)
    for one in (land, again):
        one[2:4, 1:5] += 3.0  # the shorter diagonals change
        one.materials[0, 0] = "mud"
        one.holes[5, 5] = True  # the first hole may end the solid depth
    assert_same(land, again)


def test_keys_are_those_of_the_parts_that_were_left(tmp_path):
    meshes = [TriangleMesh([(0, 0, 0), (0, 0, 1), (1, 0, 0)], [(0, 1, 2)]) for _ in range(4)]
    ground = Ground(meshes[:3])
    ground.remove(1)
    ground.remove(2)
    again = saved_and_loaded(ground, tmp_path)
    assert_same(ground, again)
    assert again.add(meshes[3]) == 3


def test_an_edit_not_yet_followed_is_saved(tmp_path):
    tiles = [HeightMap([[0] * 5] * 5, origin=(x, 0, 0)) for x in (0, 4)]
    ground = Ground(tiles)
    tiles[0][2, 4] = -1.0
    again = saved_and_loaded(ground, tmp_path)
    assert again.parts[1].height_at(4, 2) == -1.0


GROUND = Ground([HeightMap([[0, 1], [0, 0]], materials=3), TriangleMesh.box((1, 2, 3))])


def content_of(ground, folder):
    path = folder / "whole.ground"
    ground.save(path)
    return path.read_bytes()


def with_members(content, change):
    """Return an archive whose members, by name, were changed."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            packing = zipfile.ZIP_STORED if name == "ground.json" else None
            archive.writestr(name, member, packing)
    return buffer.getvalue()


def refusal(content, folder, kind=Ground):
    path = folder / "bad.ground"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r".") as caught:
            kind.load(path)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value).removeprefix(f"{path}: ")


def npy(values):
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


def header_with(**entries):
    def change(members):
        header = json.loads(members["ground.json"])
        members["ground.json"] = json.dumps(header | entries).encode()

    return change


def header_without(name):
    def change(members):
        header = json.loads(members["ground.json"])
        del header[name]
        members["ground.json"] = json.dumps(header).encode()

    return change


def part_with(number, **entries):
    def change(members):
        header = json.loads(members["ground.json"])
        header["parts"][number] |= entries
        members["ground.json"] = json.dumps(header).encode()

    return change


def member(name, values):
    return lambda members: members.update({name: npy(values)})


DAMAGED = {
    "no header": lambda members: members.pop("ground.json"),
    "no JSON": lambda members: members.update({"ground.json": b"\xff"}),
    "a list": lambda members: members.update({"ground.json": b"[]"}),
    "another format": header_with(format="else"),
    "one part more": header_with(parts=[]),
    "a key twice": header_with(keys=[0, 0]),
    "keys that descend": header_with(keys=[1, 0]),
    "a key beyond": header_with(keys=[0, 2]),
    "one key": header_with(keys=[0]),
    "keys of text": header_with(keys=["0", "1"]),
    "layers beyond": header_with(layers=[1, 1 << 32]),
    "one layer": header_with(layers=[1]),
    "layers of text": header_with(layers="11"),
    "no keys": header_with(keys=None),
    "too many keys": header_with(next_key=1 << 24),
    "changes below zero": header_with(changes=-1),
    "another kind": part_with(0, kind="cave"),
    "no border": part_with(0, border="none"),
    "no cell": part_with(0, cell_size=[0, 1]),
    "endless": part_with(0, height_scale=1e999),
    "names": part_with(0, material_names=["a"]),
    "version": part_with(0, version=-1),
    "version of text": part_with(1, version="1"),
    "heights of another type": member("0.heights.npy", np.zeros((2, 2))),
    "heights of another form": member("0.heights.npy", np.zeros(4, np.float32)),
    "one height": member("0.heights.npy", np.zeros((1, 1), np.float32)),
    "columns first": member("0.heights.npy", np.asfortranarray(np.zeros((3, 2), np.float32))),
    "materials of another form": member("0.materials.npy", np.zeros(4, np.uint8)),
    "face beyond": member("1.faces.npy", np.full((12, 3), 8, np.int32)),
    "order of faces": member("1.order.npy", np.zeros(12, np.int32)),
    "no faces": lambda members: members.pop("1.faces.npy"),
    "another array": member("1.else.npy", np.zeros(3)),
    "another part": member("2.faces.npy", np.zeros((1, 3), np.int32)),
    "a form below zero": lambda members: members.update(
        {"0.heights.npy": npy(np.zeros((2, 2), np.float32)).replace(b"(2, 2)", b"(-2,2)")}
    ),
    "a part below": member("-1.faces.npy", np.zeros((1, 3), np.int32)),
    "a folder": member("0/heights.npy", np.zeros((2, 2), np.float32)),
    **{
        f"without {name}": header_without(name)
        for name in (
            "format", "version", "kind", "parts", "keys", "layers", "next_key", "changes",
            "transforms",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_refused_by_name(name, tmp_path):
    content = with_members(content_of(GROUND, tmp_path), DAMAGED[name])
    assert refusal(content, tmp_path) == "file must be a saved ground, undamaged"


def map_with_all():
    cells = np.arange(4).reshape(2, 2)
    marks = {"holes": cells == 3, "diagonal": cells == 1, "materials": cells % 2}
    return HeightMap(np.arange(9).reshape(3, 3) % 2, material_names=["grass", "rock"], **marks)


def ground_with_all():
    box = TriangleMesh.box((1, 0.5, 1))
    ground = Ground([HeightMap([[0, 0], [0, 0]]), box], names=[None, "lift"])
    ground.add(box, transform=np.diag((2.0, 2, 2, 1)))
    ground.move("lift", (0.5, 1, 0.5), 1 / 60)
    ground.set_surface_velocity("lift", (1, 0, 0))
    ground.set_one_way(2, (0, 1, 0))
    return ground


@how_many
@pytest.mark.parametrize(
    "make", [map_with_all, lambda: TriangleMesh.box((1, 1, 1)), ground_with_all],
    ids=["map", "mesh", "ground"],
)  # fmt: skip
def test_a_file_damaged_in_any_place_is_refused_by_name(make, how, tmp_path):
    ground = make()
    ground.save(tmp_path / "damaged.ground")
    check_archive(tmp_path / "damaged.ground", type(ground).load, how())


def with_bytes_between(content, place):
    """Return the archive with bytes before a member or the directory, which knows of them."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        places = [*(each.header_offset for each in archive.infolist()), archive.start_dir]
    second, start = places[place], places[-1]
    data = bytearray(content[:second] + b"more" + content[second:])
    entry = start + 4
    while data[entry : entry + 4] == b"PK\1\2":
        (offset,) = struct.unpack_from("<I", data, entry + 42)
        struct.pack_into("<I", data, entry + 42, offset + 4 * (offset >= second))
        entry += 46 + sum(struct.unpack_from("<HHH", data, entry + 28))
    struct.pack_into("<I", data, entry + 16, start + 4)
    return bytes(data)


@pytest.mark.parametrize("kind", [Ground, HeightMap, TriangleMesh])
def test_bytes_beside_the_archive_are_refused(tmp_path, kind):
    ground = GROUND if kind is Ground else GROUND.parts[0 if kind is HeightMap else 1]
    content = content_of(ground, tmp_path)
    commented = io.BytesIO(content)
    with zipfile.ZipFile(commented, "a") as archive:
        archive.comment = b"more"
    beside = {
        "after": content + b"\0",
        "a comment": commented.getvalue(),
        "before": b"\0" + content,
        "between": with_bytes_between(content, 1),
        "before the directory": with_bytes_between(content, -1),
        "twice": content + content,
    }
    for name, changed in beside.items():
        with zipfile.ZipFile(io.BytesIO(changed)) as archive:
            assert archive.testzip() is None, name  # Python takes it
        assert refusal(changed, tmp_path, kind) == "file must be a saved ground, undamaged", name
    path = tmp_path / "again.ground"
    path.write_bytes(with_members(content, len))
    assert type(kind.load(path)) is kind


def test_an_array_has_no_bytes_after_its_end(tmp_path):
    content = with_members(
        content_of(GROUND, tmp_path),
        lambda members: members.update({"1.order.npy": members["1.order.npy"] + b"\0"}),
    )
    assert refusal(content, tmp_path) == "file must be a saved ground, undamaged"


def test_files_cut_and_flipped_are_loaded_or_refused(tmp_path):
    content, path = content_of(GROUND, tmp_path), tmp_path / "damaged.ground"
    for seed in range(300):
        path.write_bytes(mutated(content, random.Random(seed)))  # noqa: S311
        try:
            Ground.load(path)
        except ValueError as error:
            assert str(path) in str(error)  # noqa: PT017 it may be loaded as well


def test_pickles_are_not_read(tmp_path):
    values = npy(np.zeros(3)).replace(b"'<f8'", b"'|O' ")
    content = with_members(
        content_of(GROUND, tmp_path), lambda members: members.update({"1.order.npy": values})
    )
    assert refusal(content, tmp_path) == "file must be a saved ground, undamaged"


def test_another_kind_is_named(tmp_path):
    land = content_of(GROUND.parts[0], tmp_path)
    mesh = content_of(GROUND.parts[1], tmp_path)
    wrong = "file must hold a {}, got a '{}': {}.load loads it"
    assert refusal(land, tmp_path) == wrong.format("ground", "height map", "HeightMap")
    assert refusal(mesh, tmp_path, HeightMap) == wrong.format("height map", "mesh", "TriangleMesh")
    assert refusal(land, tmp_path, TriangleMesh) == wrong.format("mesh", "height map", "HeightMap")


def test_a_later_version_is_named(tmp_path):
    later = with_members(content_of(GROUND, tmp_path), header_with(version=2))
    assert "file must be of version 1, got 2: another version" in refusal(later, tmp_path)


def test_large_files_are_refused_before_they_are_read(tmp_path, monkeypatch):
    large = member("0.heights.npy", np.zeros((1500, 1500), np.float32))
    content = with_members(content_of(GROUND, tmp_path), large)
    assert len(content) < 100_000
    monkeypatch.setattr(ground_files, "MOST_BYTES", 1_000_000)
    assert "must have at most 1000000 bytes" in refusal(content, tmp_path)
    land = HeightMap(np.zeros((600, 600), np.float32))
    with pytest.raises(ValueError, match=r"land\.ground: .* at most 1000000 bytes"):
        land.save(tmp_path / "land.ground")
    assert not (tmp_path / "land.ground").exists()


def test_a_header_of_many_objects_takes_no_memory(tmp_path):
    many = with_members(content_of(GROUND, tmp_path), header_with(parts=[{}] * 10_000))
    assert refusal(many, tmp_path) == "file must be a saved ground, undamaged"
    with zipfile.ZipFile(tmp_path / "packed.ground", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ground.json", json.dumps({"parts": [{}] * 1_000_000}))
    packed = (tmp_path / "packed.ground").read_bytes()
    assert len(packed) < 10_000
    assert refusal(packed, tmp_path) == "file must be a saved ground, undamaged"


def test_a_member_that_claims_to_be_small_is_not_unpacked(tmp_path):
    large = np.zeros((2000, 2000), np.float32)
    content = with_members(content_of(GROUND, tmp_path), member("0.heights.npy", large))
    size = len(npy(large))
    lie = content.replace(struct.pack("<I", size), struct.pack("<I", 1000))
    assert lie != content
    assert refusal(lie, tmp_path) == "file must be a saved ground, undamaged"


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "level.ground"
    GROUND.save(path)
    before = path.read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ground_files, "write_array", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Ground([HeightMap([[5, 5], [5, 5]])]).save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["level.ground"]


@pytest.mark.parametrize(
    "option",
    [
        {"cell_size": 2},
        {"origin": (1, 0, 0)},
        {"holes": [[True]]},
        {"flip": "rows"},
    ],
)
def test_a_map_with_all_it_holds_takes_no_options(option, tmp_path):
    path = tmp_path / "LAND.GROUND"
    HeightMap([[0, 0], [0, 0]]).save(path)
    (name,) = option
    with pytest.raises(ValueError, match=f"{name} must be left out"):
        HeightMap.load(path, **option)
    with pytest.raises(ValueError, match="flip must be left out"):
        HeightMap([[0, 0], [0, 0]]).save(path, flip="rows")
    assert HeightMap.load(path, border="extend").border == "extend"


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        Ground.load(tmp_path / "nothing.ground")
    number: Any = 3
    with pytest.raises(TypeError, match=r"path must be a str or os\.PathLike, got 3"):
        Ground.load(number)
    with pytest.raises(ValueError, match="must be a regular file"):
        TriangleMesh.load(tmp_path)


@pytest.mark.alone
def test_a_ground_is_saved_as_it_is_at_one_moment(tmp_path, monkeypatch):
    tiles = [HeightMap([[0] * 5] * 5, origin=(x, 0, 0)) for x in (0, 4)]
    level = Ground(tiles)
    edits: list[threading.Thread] = []

    def edited_meanwhile(storage):
        edit = threading.Thread(target=level.raise_, args=((4, 2), 2, 1))
        edit.start()
        edit.join(0.1)
        edits.append(edit)
        return saved_map(storage)

    monkeypatch.setattr("terrain_physics.ground.saved.saved_map", edited_meanwhile)
    again = saved_and_loaded(level, tmp_path)
    for edit in edits:
        edit.join()
    assert level.height_at(4, 2) == 2.0
    assert [part.height_at(4, 2) for part in again.parts.values()] == [0.0, 0.0]


def test_equal_grounds_are_equal_files(tmp_path, monkeypatch):
    first = content_of(GROUND, tmp_path)
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert content_of(GROUND, tmp_path) == first


class Named(TriangleMesh):
    """A mesh that has more to pickle, and to begin with."""

    def __init__(self, name, mesh):
        super().__init__(mesh.vertices, mesh.faces)
        self.name = name

    def __getstate__(self):
        return self.name, super().__getstate__()


def test_classes_of_the_game_are_loaded(tmp_path):
    path = tmp_path / "crate.ground"
    Named("crate", TriangleMesh.box((1, 1, 1))).save(path)
    assert type(Named.load(path)) is Named
    assert len(Named.load(path)) == 12


def test_a_ground_has_no_more_parts_than_are_loaded(tmp_path, monkeypatch):
    meshes = [TriangleMesh([(0, 0, 0), (0, 0, 1), (1, 0, 0)], [(0, 1, 2)]) for _ in range(3)]
    content = content_of(Ground(meshes), tmp_path)
    monkeypatch.setattr(ground_files, "MOST_PARTS", 2)
    assert refusal(content, tmp_path) == "a saved ground must have at most 2 parts, got 3"
    with pytest.raises(ValueError, match="must have at most 2 parts, got 3"):
        Ground(meshes).save(tmp_path / "level.ground")


def test_what_is_saved_can_be_loaded_up_to_the_limit(tmp_path, monkeypatch):
    land = HeightMap(np.zeros((4, 4)))
    monkeypatch.setattr(ground_files, "MOST_BYTES", 64)
    assert_same(land, saved_and_loaded(land, tmp_path))

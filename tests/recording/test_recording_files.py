"""Files of recordings: bounded before anything is unpacked, and written whole or not at all."""

import io
import os
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from terrain_physics import CharacterGroup, CharacterMovement, HeightMap, SphereCollider, World
from terrain_physics.recording import file as recording_file
from terrain_physics.recording.recording import Recording, replay
from tests.helpers.calls import calls_of
from tests.helpers.damaged_saves import check_archive, how_many
from tests.helpers.pairwise import each_once


def make_group():
    group = CharacterGroup(HeightMap(np.zeros((4, 4))), SphereCollider(0.5))
    for key in range(3):
        group.add(key, (1 + key, 2, 1))
    return group


@pytest.fixture(scope="module")
def recorded():
    recording = Recording(make_group())
    for _ in range(20):
        recording.update(1 / 60)
    return recording


def parts_of(recorded, path):
    recorded.save(path)
    with np.load(path) as archive:
        return dict(archive)


def packed(parts, compression=zipfile.ZIP_DEFLATED):
    """Return an archive, whose members are given as arrays or as bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in parts:
            if isinstance(content, np.ndarray):
                inner = io.BytesIO()
                np.lib.format.write_array(inner, content)
                archive.writestr(f"{name}.npy", inner.getvalue())
            else:
                archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


def refusal(path, content):
    """Return (message, peak of memory) of a file that is refused."""
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="recording") as caught:
            Recording.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(path) in str(caught.value)
    return str(caught.value), peak


_BOMB = bytes(10_000_000)


@pytest.mark.parametrize(
    ("name", "compression"),
    each_once(
        ("bits", "header", "else"), (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    ),
)
def test_a_bomb_is_refused_before_it_is_unpacked(
    recorded, tmp_path, monkeypatch, compression, name
):
    monkeypatch.setattr(recording_file, "MOST_BYTES", 1_000_000)
    monkeypatch.setattr(recording_file, "MOST_HEADER_BYTES", 1_000_000)
    parts = parts_of(recorded, tmp_path / "walk") | {name: _BOMB}
    content = packed(parts.items(), compression)
    assert len(content) < 100_000
    message, peak = refusal(tmp_path / "bomb", content)
    assert peak < 2_000_000
    if name != "else":
        assert "a recording must have at most 1000000 bytes" in message


def test_a_bomb_that_claims_to_be_small_is_not_unpacked_either(recorded, tmp_path):
    parts = parts_of(recorded, tmp_path / "walk") | {"bits": _BOMB}
    content = packed(parts.items())
    lie = content.replace(struct.pack("<I", len(_BOMB)), struct.pack("<I", 1000))
    assert lie != content
    assert refusal(tmp_path / "bomb", lie)[1] < 2_000_000


def test_a_part_that_claims_to_be_longer_than_the_file_takes_no_memory(recorded, tmp_path):
    content = packed(parts_of(recorded, tmp_path / "walk").items())
    at = content.rindex(b"bits.npy") - 46  # its record in the directory at the end
    assert content[at : at + 4] == b"PK\x01\x02"
    sizes = struct.pack("<II", 250_000_000, 250_000_000)
    lie = content[: at + 20] + sizes + content[at + 28 :]
    assert refusal(tmp_path / "lie", lie)[1] < 2_000_000


def test_an_array_that_claims_to_be_long_takes_no_memory(recorded, tmp_path):
    parts = parts_of(recorded, tmp_path / "walk")
    inner = io.BytesIO()
    head = {"descr": "<u8", "fortran_order": False, "shape": (100_000_000,)}
    np.lib.format.write_array_header_1_0(inner, head)
    parts["bits"] = inner.getvalue()
    assert refusal(tmp_path / "bomb", packed(parts.items()))[1] < 2_000_000


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda parts: [*parts, ("more", np.zeros(1))], id="one more"),
        pytest.param(lambda parts: parts[:-1], id="one missing"),
        pytest.param(lambda parts: [*parts, parts[-1]], id="one twice"),
        pytest.param(lambda parts: [*parts[:-1], ("hashes", np.zeros(63))], id="floats"),
        pytest.param(lambda parts: [*parts[:-1], ("hashes", b"")], id="empty"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_other_members_are_refused(recorded, tmp_path, change):
    parts = change([*parts_of(recorded, tmp_path / "walk").items()])
    message, _ = refusal(tmp_path / "other", packed(parts))
    assert message.endswith("file must be a recording, undamaged")


@how_many
def test_a_file_damaged_in_any_place_is_refused_by_name(how, tmp_path):
    ground = HeightMap(np.zeros((3, 3)))
    world = World(ground)
    world.add("hero", CharacterMovement(ground, SphereCollider(0.4), position=(1, 2, 1)))
    recording = Recording(world)
    for _ in range(6):  # a second each: there is a snapshot after five
        ground.carve((1, 1), 1, 0.1)
        recording.update(1.0)
    recording.save(tmp_path / "damaged.npz")
    check_archive(tmp_path / "damaged.npz", Recording.load, how())


@pytest.mark.parametrize("count", [20_000, pytest.param(100_000, marks=pytest.mark.full)])
def test_a_long_recording_of_little_is_loaded_with_few_calls(count, recorded, tmp_path):
    """The most that a small file may hold: frames in which nothing happens."""
    frame = '{"left": [], "bodies": []}'
    parts = parts_of(recorded, tmp_path / "walk")
    header = bytes(parts["header"]).decode()
    header = header[: header.index('"frames"')]
    header += f'"frames": [{", ".join([frame] * count)}], "added": [], "snapshots": []}}'
    parts["header"] = np.frombuffer(header.encode(), np.uint8)
    parts["delta_times"] = np.zeros(count)
    parts["counts"] = parts["event_counts"] = np.zeros(count, np.int64)
    for name in ("rows", "places", "bits"):
        parts[name] = parts[name][:0]
    parts["hashes"] = np.zeros(3 + 3 * count, np.uint64)
    path = tmp_path / "long"
    path.write_bytes(packed(parts.items()))
    loaded = list[Recording]()
    calls = calls_of(lambda: loaded.append(Recording.load(path)))
    assert len(loaded[0]) == count
    assert calls < 20 * count


def test_more_than_can_be_loaded_is_not_saved(recorded, tmp_path, monkeypatch):
    path = tmp_path / "walk"
    path.write_text("something else")
    monkeypatch.setattr(recording_file, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"walk: a recording must have at most 1000 bytes unpac"):
        recorded.save(path)
    assert path.read_text() == "something else"


def test_an_interrupted_save_leaves_the_old_file(recorded, tmp_path, monkeypatch):
    path = tmp_path / "walk"
    recorded.save(path)
    before = path.read_bytes()

    def interrupted(file, **_):
        file.write(b"half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        recorded.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    assert replay(Recording.load(path), make_group) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_file_is_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match=r"pipe: must be a regular file, got p"):
        Recording.load(pipe)


@pytest.mark.parametrize("version", [(0, 0), (1, 1), (2, 0), (9, 0)])
def test_arrays_of_another_format_are_refused(recorded, tmp_path, version):
    parts = parts_of(recorded, tmp_path / "walk")
    for name, values in parts.items():
        inner = io.BytesIO()
        np.lib.format.write_array(inner, values)
        content = inner.getvalue()
        other = content[:6] + bytes(version) + content[8:]
        message, _ = refusal(tmp_path / "other", packed((parts | {name: other}).items()))
        assert "file must be a recording, undamaged" in message

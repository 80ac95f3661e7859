"""Clips of recordings: bodies and ground as a replay finds them, or why there is none."""

import math
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Recording,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics.recording import journal, sampling
from terrain_physics.recording import recording as recordings
from terrain_physics.recording.playback import played
from terrain_physics.recording.sampling import quaternions, sampled
from terrain_physics.viewer import page
from tests.oracles.clip import clip_of

FRAME = 1 / 60


def clip_from(recording, make_scene=None):
    make = make_scene or recording.make_scene
    return sampled(lambda: played(recording._start, recording._frames, make), "title")


def turned(quaternion, vector):
    x, y, z, w = quaternion
    return np.array(glm.dquat(w, x, y, z) * glm.dvec3(vector))


def make_level():
    ground = Ground([HeightMap(np.zeros((9, 9))), TriangleMesh.box((2, 1, 2))])
    ground.move(1, ((6, 0.5, 6), np.eye(3)))
    return ground


@pytest.fixture(scope="module")
def told():
    """Return a recording of 2 s, and where each body was in each frame."""
    ground = make_level()
    group = CharacterGroup(ground, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)))
    group.add("walker", (1, 0, 4), slope_limit=0.5)
    group.add("box", (4, 0.4, 2), collider=BoxCollider((0.3, 0.4, 0.5)))
    group.add(7, (6, 1.5, 6), collider=SphereCollider(0.5))
    recording, places = Recording(group), []
    for frame in range(120):
        group["walker"].velocity.x = 2
        if frame == 20:
            group["box"].rotation = glm.quat(glm.vec3(0.1, 0.7, 0.2))
        if frame == 30:
            ground.parts[0].carve((2, 6), radius=2, depth=1)
            ground.parts[0].holes[0, 0] = True
        if frame == 50:
            group[7].position = (2, 5, 2)
        if frame == 60:
            key = ground.add(TriangleMesh.box((1, 1, 1)), layers=0)
        if frame == 70:
            group.add("late", (3, 2, 3))
        if frame == 90:
            ground.remove(key)
            group.remove("box")
        angle = frame / 100
        turn = glm.mat3_cast(glm.quat(glm.vec3(0, angle, 0)))
        ground.move(1, ((6, 0.5, 6), turn), FRAME)
        recording.update(FRAME)
        places.append({name: np.array(group[name].position64) for name in group})
    return recording, places


def test_bodies_are_where_the_game_had_them(told):
    recording, places = told
    bodies = clip_from(recording).bodies
    clip = clip_from(recording)
    assert clip.times == pytest.approx([k / 20 for k in range(41)])
    assert bodies.names == ["walker", "box", "7", "late"]
    assert bodies.shapes == [
        ("capsule", (0.4, pytest.approx(0.5), 0.4)),
        ("box", (0.3, 0.4, 0.5)),
        ("ball", (0.5, 0.5, 0.5)),
    ]
    for sample in range(1, 41):
        there = places[3 * sample - 1]
        for number, name in enumerate(("walker", "box", 7, "late")):
            assert (bodies.shape[sample, number] >= 0) == (name in there)
            if name in there:
                offset = (0, 0.9, 0) if name in {"walker", "late"} else (0, 0, 0)
                assert bodies.center[sample, number] == pytest.approx(there[name] + offset)
    assert bodies.state[40].tolist() == [3, 0, 3, 3]
    assert bodies.touch[40, 0, 3:] == pytest.approx([0, 1, 0])
    assert bodies.touch[40, 0, :3] == pytest.approx(bodies.center[40, 0] - (0, 0.9, 0), abs=1e-4)
    assert np.argwhere(bodies.is_put).tolist() == [[17, 2]]  # written before frame 51


def test_bodies_are_turned_as_the_game_turned_them(told):
    recording, _ = told
    rotation = clip_from(recording).bodies.rotation
    assert rotation[3, 1].tolist() == [0, 0, 0, 1]
    expected = glm.quat(glm.vec3(0.1, 0.7, 0.2)) * glm.vec3(1, 2, 3)
    assert turned(rotation[9, 1], (1, 2, 3)) == pytest.approx(tuple(expected), abs=1e-6)


def test_parts_come_go_move_and_are_edited(told):
    recording, _ = told
    land, lift, door = clip_from(recording).parts
    assert (land.kind, land.cell, lift.kind, door.kind) == ("map", (1.0, 1.0), "mesh", "mesh")
    assert (land.around, lift.around) == ((9, 9), (0, 0))
    assert len(land.position) == len(lift.position) == 41
    assert (door.first, len(door.position), any(door.is_solid)) == (21, 10, False)
    assert [edit.first for edit in land.edits] == [11]
    assert [surface.first for surface in land.surfaces] == [0, 11]
    faces = [len(surface.faces) for surface in land.surfaces]
    assert faces == [128, 126]
    (edit,) = land.edits
    dug = HeightMap(np.zeros((9, 9)))
    dug.carve((2, 6), radius=2, depth=1)
    assert edit.vertices[:, 1] == pytest.approx(dug[:].ravel()[edit.rows])
    corner = lift.vertices[0]
    x, z = 6 + corner[0], 6 + corner[2]
    assert lift.position[0] + turned(lift.rotation[0], corner) == pytest.approx(
        [x, corner[1] + 0.5, z]
    )
    angle = glm.quat(glm.vec3(0, 1.19, 0))
    expected = glm.vec3(6, 0.5, 6) + angle * glm.vec3(*corner)
    found = lift.position[40] + turned(lift.rotation[40], corner)
    assert found == pytest.approx(tuple(expected), abs=1e-5)


def test_what_is_in_the_way_is_shown():
    ground = Ground([HeightMap(np.zeros((9, 9))), TriangleMesh.box((1, 4, 8))])
    ground.move(1, ((6, 2, 4), np.eye(3)))
    hero = CharacterMovement(ground, SphereCollider(0.5), position=(4, 0.5, 4))
    scenes: list[Any] = [hero, {"hero": hero}]
    for scene in scenes:
        hero.teleport((4.5, 0.5, 4))
        recording = Recording(scene)
        for _ in range(60):
            hero.velocity.x = 3
            recording.update(FRAME)
        blocked = clip_from(recording).bodies.blocked
        sample, body, *point = blocked[-1].tolist()
        assert (sample, body) == (20, 0)
        assert point == pytest.approx([5.5, 0.5, 4, -1, 0, 0], abs=1e-4)


def test_materials_are_those_of_the_cells():
    land = HeightMap(np.zeros((4, 4)), materials=np.arange(9).reshape(3, 3))
    land.holes[0, 1] = True
    hero = CharacterMovement(land, SphereCollider(0.5), position=(2.5, 1, 2.5))
    (part,) = clip_from(Recording(hero)).parts
    assert part.surfaces[0].materials.tolist() == [k for k in range(9) if k != 1 for _ in range(2)]
    assert part.material_names is None


def test_names_of_materials_are_those_of_the_part():
    land = HeightMap(np.zeros((4, 4)), material_names=["grass", "mud"])
    plank = TriangleMesh.box((1, 1, 1), materials="wood", material_names=["iron", "wood"])
    recording = Recording(
        CharacterMovement(Ground([land, plank]), SphereCollider(0.5), position=(2, 2, 2))
    )
    recording.update(FRAME)
    names = [part.material_names for part in clip_from(recording).parts]
    assert names == [("grass", "mud"), ("iron", "wood")]


def test_rotations_become_quaternions_whichever_part_is_largest():
    rng = np.random.default_rng(3)
    given = rng.normal(size=(200, 4))
    given[:4] = np.eye(4)
    given /= np.linalg.norm(given, axis=1, keepdims=True)
    matrices = np.array([np.array(glm.mat3_cast(glm.dquat(w, x, y, z))) for x, y, z, w in given])
    found = quaternions(matrices)
    assert (found[:, 3] >= 0).all()
    assert np.abs(np.abs((found * given).sum(axis=1)) - 1).max() < 1e-12


def test_few_frames_are_shown_each(tmp_path):
    hero = CharacterMovement(HeightMap(np.zeros((2, 2))), SphereCollider(0.5), position=(0, 9, 0))
    recording = Recording(hero)
    assert clip_from(recording).times == [0]
    for _ in range(5):
        recording.update(0.13)
    recording.update(0.01)
    assert clip_from(recording).times == pytest.approx([0, 0.13, 0.26, 0.39, 0.52, 0.65, 0.66])
    empty = Recording(CharacterGroup(hero.ground))
    empty.update(FRAME)
    empty.save_html(tmp_path / "empty.html")
    assert clip_of((tmp_path / "empty.html").read_text(encoding="utf-8"))[0]["names"] == []


def test_a_large_map_is_shown_around_the_bodies(monkeypatch):
    heights = np.random.default_rng(1).uniform(0, 0.3, (60, 80))
    materials = np.arange(59 * 79).reshape(59, 79) % 7
    land = HeightMap(heights, cell_size=(2, 1), origin=(100, 0, -50), materials=materials)
    ground = Ground([land, TriangleMesh.box((1, 1, 1))])
    hero = CharacterMovement(ground, SphereCollider(0.5), position=(160, 1, -20))
    recording = Recording(hero)
    for frame in range(60):
        hero.velocity.x = 10
        if frame == 30:
            land.carve((161, -20), radius=3, depth=1)
        recording.update(FRAME)
    whole, _ = clip_from(recording).parts
    monkeypatch.setattr(sampling, "MOST_TRIANGLES", 3000)
    monkeypatch.setattr(sampling, "MARGIN", 5)
    part, box = clip_from(recording).parts
    assert (whole.is_cut, part.is_cut, box.is_cut) == (False, True, False)
    assert (whole.around, part.around) == ((60, 80), (0, 0))
    last = math.ceil((hero.position64[0] - 100) / 2) + 5
    rows, columns = slice(25, 36), slice(25, last + 1)
    assert part.position[0].tolist() == whole.position[0].tolist()
    expected = whole.vertices.reshape(60, 80, 3)[rows, columns].reshape(-1, 3)
    assert part.vertices == pytest.approx(expected)
    cells = materials[25:35, 25:last].repeat(2)
    assert np.array_equal(part.surfaces[0].materials, cells)
    (edit,), (of_whole,) = part.edits, whole.edits
    assert edit.vertices == pytest.approx(of_whole.vertices)
    monkeypatch.setattr(sampling, "MOST_TRIANGLES", 100)
    with pytest.raises(ValueError, match=r"a page must show at most 100 triangles"):
        clip_from(recording)


@pytest.mark.parametrize(
    ("low", "high", "region"),
    [
        ((0, 0), (3, 4), (0, 6, 0, 5)),
        ((7, 8), (90, 90), (6, 10, 5, 20)),
        ((-90, -90), (-80, -80), (0, 1, 0, 1)),
        ((80, 80), (90, 90), (9, 10, 19, 20)),
        ((math.inf, math.inf), (-math.inf, -math.inf), (9, 10, 19, 20)),
    ],
)
def test_regions_are_within_their_map(monkeypatch, low, high, region):
    monkeypatch.setattr(sampling, "MARGIN", 2)
    land = HeightMap(np.zeros((11, 21)))
    paths = sampling._BodyPaths(np.array(low, float), np.array(high, float), set())
    assert sampling._region_near(land, paths) == region


def test_edits_of_a_region_are_those_of_the_whole():
    rng = np.random.default_rng(5)
    heights, materials = rng.uniform(0, 1, (30, 40)), np.zeros((29, 39), dtype=np.uint8)
    land = HeightMap(heights, diagonal="shortest", materials=materials)
    hero = CharacterMovement(land, SphereCollider(0.5), position=(20, 2, 20))
    recording = Recording(hero)
    seen = [land.to_mesh()]
    for frame in range(24):
        if frame % 2:
            land.carve(rng.uniform(2, 28, 2), radius=2.5, depth=0.3)
            land.carve(rng.uniform(2, 28, 2), radius=1.5, depth=1e-4)
        if frame == 10:
            land.holes[3, 4:6] = True
        if frame == 16:
            land.materials[7, 9] = 3
        recording.update(1 / 20)
        seen.append(land.to_mesh())
    (part,) = clip_from(recording).parts
    vertices = part.vertices.copy()
    edits, surfaces = iter(part.edits), iter(part.surfaces)
    edit, surface, following = next(edits), next(surfaces), next(surfaces)
    for sample, expected in enumerate(seen):
        if edit is not None and edit.first == sample:
            vertices[edit.rows] = edit.vertices
            edit = next(edits, None)
        if following is not None and following.first == sample:
            surface, following = following, next(surfaces, None)
        assert np.array_equal(vertices, expected.vertices)
        assert np.array_equal(surface.faces.ravel(), expected.indices)
    assert (edit, following) == (None, None)
    assert set(surface.materials.tolist()) == {0, 3}
    some = [edit.first for edit in part.edits]
    assert len(some) > len({surface.first for surface in part.surfaces} & {*some})


def test_only_what_was_edited_is_looked_at(monkeypatch):
    land = HeightMap(np.zeros((40, 40)))
    hero = CharacterMovement(land, SphereCollider(0.5), position=(20, 2, 20))
    recording = Recording(hero)
    for _ in range(5):
        land.carve((5, 5), radius=2, depth=0.1)
        recording.update(1 / 20)
    sizes = []
    whole = HeightMap.to_mesh

    def noted(self, region=None, **given):
        found = whole(self, region, **given)
        sizes.append(len(found.vertices))
        return found

    monkeypatch.setattr(HeightMap, "to_mesh", noted)
    (part,) = clip_from(recording).parts
    assert len(part.edits) == 5
    assert sizes[0] == 1600
    assert len(sizes) == 6
    assert max(sizes[1:]) <= 49


def test_a_map_that_edits_make_too_large_is_shown_around_the_bodies(monkeypatch):
    land = HeightMap(np.zeros((40, 40)))
    hero = CharacterMovement(land, SphereCollider(0.5), position=(20, 2, 20))
    recording = Recording(hero)
    for _ in range(5):
        land.carve((20, 20), radius=2, depth=0.1)
        recording.update(1 / 20)
    monkeypatch.setattr(sampling, "MARGIN", 3)
    monkeypatch.setattr(sampling, "MOST_TRIANGLES", 2 * 39**2)
    (part,) = clip_from(recording).parts
    assert part.is_cut
    assert len(part.edits) == 5


def test_no_way_leads_to_who_left_and_came_again():
    group = CharacterGroup(HeightMap(np.zeros((9, 9))), SphereCollider(0.5))
    group.add("a", (2, 0.5, 2))
    recording = Recording(group)
    for frame in range(12):
        if frame == 6:
            group.remove("a")
        if frame == 7:
            group.add("a", (7, 0.5, 7))
        recording.update(FRAME)
    bodies = clip_from(recording).bodies
    assert (bodies.shape >= 0).all()
    assert bodies.is_put[:, 0].tolist() == [False, False, False, True, False]


def test_shapes_are_those_that_are_shown():
    hero = CharacterMovement(HeightMap(np.zeros((3, 3))), SphereCollider(0.5), position=(1, 2, 1))
    recording = Recording(hero)
    for frame in range(6):
        assert hero.resize(SphereCollider(0.25 if frame == 3 else 0.5))
        recording.update(FRAME)
    assert clip_from(recording).bodies.shapes == [("ball", (0.5, 0.5, 0.5))]


# Pages


def small():
    hero = CharacterMovement(HeightMap(np.zeros((2, 2))), SphereCollider(0.5), position=(0, 2, 0))
    recording = Recording(hero)
    for _ in range(30):
        recording.update(FRAME)
    return recording


def test_pages_are_the_same_each_time_saved_or_not(tmp_path):
    recording, first, again = small(), tmp_path / "a.html", tmp_path / "b.html"
    recording.save(tmp_path / "saved")
    recording.save_html(first, title="fall")
    Recording.load(tmp_path / "saved").save_html(again, title="fall")
    assert first.read_bytes() == again.read_bytes()
    assert clip_of(first.read_text(encoding="utf-8"))[0]["title"] == "fall"


def test_titles_that_are_no_text_are_shown_with_marks(tmp_path):
    file = tmp_path / "page.html"
    small().save_html(file, title="a\udcffb")  # as the system gives names that are no UTF-8
    assert clip_of(file.read_text(encoding="utf-8"))[0]["title"] == "a?b"


def test_nobody_on_nothing_is_saved_and_shown(tmp_path):
    recording = Recording({})
    recording.update(FRAME)
    recording.save(tmp_path / "saved")
    saved = Recording.load(tmp_path / "saved")
    assert saved.make_scene() == {}
    saved.save_html(tmp_path / "page.html")
    header, _ = clip_of((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert (header["names"], header["parts"]) == ([], [])


def test_a_replay_that_goes_another_way_is_not_shown(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("as before")
    recording = small()

    def other():
        hero = recording.make_scene()
        hero.velocity.x = 1
        return hero

    with pytest.raises(ValueError, match=r"recorded, got another state of 0 after frame 0"):
        recording.save_html(file, other)
    with pytest.raises(TypeError, match="title must be"):
        recording.save_html(file, title=3)
    assert file.read_text(encoding="utf-8") == "as before"
    assert list(tmp_path.iterdir()) == [file]


def test_bounds_hold(monkeypatch, tmp_path):
    recording = small()
    monkeypatch.setattr(sampling, "MOST_BODY_SAMPLES", 5)
    with pytest.raises(ValueError, match="at most 5 bodies times moments, 20 a second, got 1 bod"):
        recording.save_html(tmp_path / "page.html")
    monkeypatch.undo()
    monkeypatch.setattr(sampling, "MOST_PART_SAMPLES", 5)
    with pytest.raises(ValueError, match=r"at most 5 parts of the ground times .* 1 parts"):
        recording.save_html(tmp_path / "page.html")
    monkeypatch.undo()
    monkeypatch.setattr(sampling, "MOST_TRIANGLES", 1)
    with pytest.raises(ValueError, match=r"a page must show at most 1 triangles of .* got 2"):
        recording.save_html(tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_a_notebook_shows_a_frame_or_why_not(monkeypatch):
    recording = small()
    assert repr(recording) == "<Recording: 30 frames, 0.50 s>"
    assert recording._repr_html_().startswith('<iframe sandbox="allow-scripts" ')
    monkeypatch.setattr(recordings, "_MOST_SHOWN_UPDATES", 20)
    shown = recording._repr_html_()
    assert "0.50 s&gt; has 30 updates of characters, and 20 are replayed in a notebook" in shown
    monkeypatch.undo()
    monkeypatch.setattr(page, "MOST_FRAMED_BYTES", 1000)
    assert "a page in a notebook must have at most 1000 bytes, got" in recording._repr_html_()
    monkeypatch.undo()
    monkeypatch.setattr(journal, "MOST_SAVED_BYTES", 3)
    assert (
        "recording must hold its scene, got one of a ground above 64 MiB" in small()._repr_html_()
    )

"""One mesh at several places of a ground: answers are those of meshes made there."""

import copy
import math
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Ray,
    Recording,
    SphereCollider,
    TriangleMesh,
    replay,
)
from tests.helpers.examples import rest_is_full
from tests.helpers.grounds import bits, everything, one_by_one, questions
from tests.helpers.meshes import MESHES
from tests.helpers.threads import together

FLAT = TriangleMesh([(-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1)], [(0, 2, 1), (0, 3, 2)])
FLAT_TOO = TriangleMesh(FLAT.vertices, FLAT.faces)
BLOCK = TriangleMesh.box((4, 2, 3), solid=True)
SOLIDS = {"torus": True, "inside out": True, "skin": False, "box": True, "flat": False}


def drawn_mesh(rng):
    """Return a mesh of a drawn size, maybe far from its own origin."""
    kind = list(SOLIDS)[rng.integers(len(SOLIDS))]
    vertices, faces = map(np.asarray, MESHES["torus"])
    if kind == "inside out":
        faces = faces[:, ::-1]
    elif kind in {"box", "flat"}:
        mesh = BLOCK if kind == "box" else FLAT
        vertices, faces = mesh.vertices, mesh.faces
    size = 10.0 ** rng.choice([-6, -2, 0, 0, 0, 3])
    shift = size * rng.choice([0, 0, 1, 100]) * rng.normal(size=3)
    return TriangleMesh(vertices * size + shift, faces, solid=SOLIDS[kind], materials=3)


def drawn_rotation(rng):
    """Return a rotation, often a simple one."""
    way = rng.integers(4)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    if way == 0:
        turn = np.eye(3)[rng.permutation(3)]
    elif way == 1:
        angle = rng.uniform(0, 7)
        turn[:] = glm.mat3_cast(glm.angleAxis(angle, (0, 1, 0)))
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    return turn


def taken_over(turn):
    """Return the rotation that a ground makes of a matrix."""
    probe = Ground(FLAT)
    probe.move(0, ((0, 0, 0), turn))
    return probe.transform(0)[:3, :3]


def drawn_places(rng, count):
    """Return positions, rotations and scales, near each other or not."""
    far = rng.choice([1, 50, 1e3, 1e6])
    return [
        (rng.normal(size=3) * far, drawn_rotation(rng), float(rng.choice([1, 1, 0.01, 0.37, 30])))
        for _ in range(count)
    ]


def made(mesh, place):
    """Return a mesh with its vertices at a place."""
    position, turn, scale = place[0], taken_over(place[1]), place[2]
    x, y, z = (mesh.vertices[:, [axis]] * scale for axis in range(3))
    vertices = x * turn[:, 0] + y * turn[:, 1] + z * turn[:, 2] + position
    return TriangleMesh(
        vertices, mesh.faces, solid=mesh.solid, materials=mesh.materials,
        material_names=mesh.material_names,
    )  # fmt: skip


def questions_around(box, rng, count):
    """Return questions around a box, as large as it."""
    lower, upper = np.array(box.lower64), np.array(box.upper64)
    size = float((upper - lower).max())
    asked = questions(lower - 0.6 * size, upper + 0.6 * size, count, int(rng.integers(1 << 30)))
    share = size / 5
    centers, radii = asked.centers, asked.balls[:, 3:] * share
    ends = centers + rng.normal(size=centers.shape) * share
    return asked._replace(
        balls=np.hstack([centers, radii]),
        capsules=np.hstack([centers, ends, 0.4 * radii]),
        halves=asked.halves * share,
        motions=asked.motions * share,
    )


def assert_alike(one, other, asked):
    """Check that two grounds answer alike, to the last bit."""
    expected = everything(other, asked, 1)
    for name, answer in everything(one, asked, 1).items():
        assert bits(answer) == bits(expected[name]), name
    assert list(map(repr, one_by_one(one, asked, 3))) == list(
        map(repr, one_by_one(other, asked, 3))
    )
    corners = [part.vertices[:9] for part in other.parts.values() if isinstance(part, TriangleMesh)]
    points = np.concatenate([asked.centers, *corners])
    assert bits(one.contains(points)) == bits(other.contains(points))
    assert bits(one.signed_distance(points)) == bits(other.signed_distance(points))
    assert one.bounds == other.bounds


@pytest.mark.parametrize("seed", rest_is_full(range(400), 12))
def test_answers_are_those_of_meshes_made_at_the_places(seed):
    rng = np.random.default_rng(seed)
    meshes = [drawn_mesh(rng) for _ in range(2)]
    ground = Ground(meshes)
    places = drawn_places(rng, 3)
    owners = [meshes[rng.integers(2)] for _ in places]
    for mesh, place in zip(owners, places, strict=True):
        ground.add(mesh, transform=place)
    if rng.random() < 0.4:
        mesh = meshes[0]
        mesh.refit(mesh.vertices * 1.1)
    if rng.random() < 0.5:
        position, turn, _ = drawn_places(rng, 1)[0]
        ground.move(2, (position, turn))
        places[0] = position, turn, places[0][2]
    ground.remove(0)
    ground.remove(1)
    there = Ground([FLAT, FLAT_TOO])
    for mesh, place in zip(owners, places, strict=True):
        there.add(made(mesh, place))
    there.remove(0)
    there.remove(1)
    asked = questions_around(there.parts[int(rng.integers(2, 5))].bounds, rng, 20)
    assert_alike(ground, there, asked)


def test_a_mesh_at_many_places_is_one_mesh():
    crate = TriangleMesh.box((1, 1, 1))
    ground = Ground([HeightMap(np.zeros((9, 9))), crate])
    keys = [ground.add(crate, transform=(x, 0.5, 4), name=f"crate {x}") for x in (2, 4, 6)]
    keys.append(ground.add(crate))
    assert keys == [2, 3, 4, 5]
    assert all(ground.parts[key] is crate for key in (1, *keys))
    hit = ground.raycast(Ray((4, 5, 4), (0, -1, 0)))
    assert hit is not None
    assert (ground.part_of(hit.triangle)[0], hit.part_name) == (3, "crate 4")
    ground.set_layers("crate 4", 2)
    assert ground.height_at([2, 4, 6], 4, mask=1).tolist() == [1, 0, 1]
    ground.move("crate 6", (7, 0.5, 4))
    ground.remove("crate 2")
    assert ground.height_at([2, 4, 6, 7], 4).tolist() == [0, 1, 0, 1]
    version = ground.version
    crate.refit(crate.vertices * (1, 3, 1))
    assert ground.height_at([0, 4, 7], 4 * np.array([0, 1, 1])).tolist() == [1.5, 2, 2]
    assert ground.version > version
    owners, _ = ground.part_of(ground.triangles_in(ground.bounds).ids)
    assert [(owners == key).sum() for key in (1, *keys)] == [12, 0, 12, 12, 12]


def test_scales_are_those_given_at_first():
    rng = np.random.default_rng(2)
    turn = drawn_rotation(rng)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = 2.5 * turn, (1, 2, 3)
    ground = Ground(HeightMap(np.zeros((3, 3))))
    key = ground.add(BLOCK, transform=matrix)
    np.testing.assert_allclose(ground.transform(key), matrix, rtol=0, atol=1e-15)
    small = ground.add(BLOCK, transform=glm.scale(glm.vec3(0.5)))
    assert ground.transform(small).tolist() == np.diag([0.5, 0.5, 0.5, 1]).tolist()
    assert ground.transform(ground.add(BLOCK, transform=np.eye(4))).tolist() == np.eye(4).tolist()
    ground.move(small, (1, 1, 1))
    ground.move(small, ((1, 20, 3), glm.quat()))
    assert ground.height_at(1, 3) == 20.5
    ground.move(small, ground.transform(small))
    ground.move(small, ((3, 2, 3), turn, 0.5), 1 / 60)
    ground.move(key, matrix)
    before = ground.transform(small), ground.version
    for transform, got in (
        (np.eye(4), "1"),
        (glm.mat4(), "1"),
        (((0, 0, 0), turn, 2), "2"),
        (np.diag([0.6, 0.6, 0.6, 1]), "0.6"),
    ):
        with pytest.raises(ValueError, match=rf"must keep the scale 0\.5 .* got {got}"):
            ground.move(small, transform)
    assert (ground.transform(small) == before[0]).all()
    assert ground.version == before[1]


@pytest.mark.parametrize(
    ("transform", "error", "message"),
    [
        (np.diag([2.0, 2.0, 3.0, 1.0]), ValueError, "axes of lengths 2, 2, 3"),
        (np.diag([2.0, -2.0, 2.0, 1.0]), ValueError, "transform must not mirror"),
        (np.diag([1e9, 1e9, 1e9, 1.0]), ValueError, "the scale of transform must be from 1e-06"),
        (np.diag([0.0, 0.0, 0.0, 1.0]), ValueError, "the scale of transform must be from 1e-06"),
        (((0, 0, 0), np.eye(3), 0), ValueError, r"transform\[2\] must be from 1e-06"),
        (((0, 0, 0), np.eye(3), -1), ValueError, r"transform\[2\] must be from 1e-06"),
        (((0, 0, 0), np.eye(3), math.nan), ValueError, r"transform\[2\] must be"),
        (((0, 0, 0), np.eye(3), "2"), TypeError, r"transform\[2\] must be"),
        (((0, 0, math.inf), np.eye(3), 2), ValueError, r"transform\[0\].z must be finite"),
        (np.full((4, 4), math.nan), ValueError, "transform must be finite"),
        (7, TypeError, "transform must be a 4 x 4 matrix"),
    ],
)
def test_bad_places_change_nothing(transform, error, message):
    ground = Ground([HeightMap(np.zeros((3, 3))), BLOCK])
    version = ground.version
    with pytest.raises(error, match=message):
        ground.add(BLOCK, transform=transform)
    assert (ground.version, len(ground.parts)) == (version, 2)
    assert ground.add(BLOCK) == 2


def test_maps_are_there_once_and_have_no_transform():
    land = HeightMap(np.zeros((3, 3)))
    ground = Ground([land, BLOCK])
    with pytest.raises(ValueError, match="part must not be in the ground already, got that of k"):
        ground.add(land)
    with pytest.raises(TypeError, match="transform must be left out for a HeightMap"):
        ground.add(HeightMap(np.zeros((3, 3))), transform=(0, 0, 0))
    with pytest.raises(ValueError, match=r"parts\[1\] must be another part"):
        Ground([BLOCK, BLOCK])


def village(rng, count=5):
    """Return a ground with a few meshes at several places, some of them moved."""
    house = TriangleMesh(*MESHES["torus"], materials=2, material_names=["a", "b", "c"])
    ground = Ground([HeightMap(np.zeros((21, 21))), BLOCK])
    for place in drawn_places(rng, count):
        position, turn, scale = place
        ground.add(house, transform=(position % 20, turn, min(scale, 1)), layers=3)
        ground.add(BLOCK, transform=(position[::-1] % 20, turn, min(scale, 2)))
    ground.remove(3)
    ground.move(4, ((4, 5, 6), drawn_rotation(rng)), 1 / 60)
    ground.move(5, (8, 1, 8))
    return ground


def copies_of(ground, path):
    ground.save(path)
    return copy.copy(ground), pickle.loads(pickle.dumps(ground)), Ground.load(path)


def test_copies_and_files_hold_each_mesh_once(tmp_path):
    rng = np.random.default_rng(4)
    ground = village(rng)
    asked = questions((-2, -2, -2), (22, 9, 22), 20, 1)
    for other in copies_of(ground, tmp_path / "village.ground"):
        assert other.version == ground.version
        assert len({id(part) for part in other.parts.values()}) == 3
        assert_alike(other, ground, asked)
        assert [other.transform(key).tolist() for key in other.parts] == [
            ground.transform(key).tolist() for key in ground.parts
        ]
        with pytest.raises(ValueError, match="must keep the scale"):
            other.move(2, ((0, 0, 0), np.eye(3), 7))
    many = Ground(TriangleMesh(*MESHES["torus"]))
    many.save(tmp_path / "one.ground")
    for x in range(30):
        many.add(many.parts[0], transform=(x, 0, 0))
    many.save(tmp_path / "many.ground")
    sizes = [(tmp_path / f"{name}.ground").stat().st_size for name in ("one", "many")]
    assert sizes[1] < sizes[0] + 5_000


def test_a_mesh_takes_the_place_of_another_one():
    whole, broken = TriangleMesh.box((2, 4, 2)), TriangleMesh.box((3, 1, 3), materials=1)
    ground = Ground([HeightMap(np.zeros((21, 21))), whole])
    ground.remove(1)
    keys = [
        ground.add(whole, transform=((x, 2 * s, 10), np.eye(3), s), name=name, layers=3)
        for x, s, name in ((5, 1, "a"), (12, 2, "b"))
    ]
    ground.move("b", (12, 4, 10), 1 / 60)
    ground.set_surface_velocity("b", (0, 0, 1))
    hero = CharacterMovement(ground, SphereCollider(0.5), position=(5, 4.5, 10))
    for _ in range(60):
        hero.update(1 / 60)
    assert hero.position.y == 4.5
    ground.replace("a", broken)
    ground.replace("b", broken)
    assert [ground.parts[key] for key in keys] == [broken, broken]
    assert ground.part_names == {2: "a", 3: "b"}
    assert ground.layers_of("b") == 3
    assert ground.transform("b").tolist() == [
        [2, 0, 0, 12],
        [0, 2, 0, 4],
        [0, 0, 2, 10],
        [0, 0, 0, 1],
    ]
    hit = ground.raycast(Ray((14.5, 9, 10), (0, -1, 0)))
    assert hit is not None
    assert (hit.point.y, hit.material, hit.part_name) == (5, 1, "b")
    belt = CharacterMovement(ground, SphereCollider(0.5), position=(12, 5.5, 10))
    for _ in range(60):
        hero.update(1 / 60), belt.update(1 / 60)
    assert hero.position.y == 3
    assert belt.world_velocity.z == 1
    whole.refit(whole.vertices * 9)
    assert ground.height_at([5, 12], 10).tolist() == [2.5, 5]
    broken.refit(broken.vertices * 2)
    assert ground.height_at([5, 12], 10).tolist() == [3, 6]
    wrong: list[tuple[Any, Any, type[Exception]]] = [
        (0, broken, TypeError),
        ("a", ground.parts[0], TypeError),
        (9, broken, KeyError),
    ]
    for key, mesh, error in wrong:
        with pytest.raises(error):
            ground.replace(key, mesh)


def test_materials_of_a_replaced_mesh_are_named_as_after_loading(tmp_path):
    named = [
        TriangleMesh.box((1, 1, 1), materials=1, material_names=own)
        for own in (["x", "a"], ["x", "b"], ["x", "c"])
    ]
    ground = Ground(named[:2])
    ground.replace(0, named[2])
    ground.save(tmp_path / "named.ground")
    assert ground.material_names == Ground.load(tmp_path / "named.ground").material_names
    assert ground.closest_point((9, 9, 9)).material_name == "c"


def walkers(ground, seed):
    crowd = CharacterGroup(ground, CapsuleCollider(0.3, 1.4, offset=(0, 0.7, 0)), seed=seed)
    rng = np.random.default_rng(seed)
    crowd.add_many(range(12), rng.uniform((2, 0, 2), (18, 6, 18), (12, 3)))
    return crowd


@pytest.mark.parametrize("seed", rest_is_full(range(12), 2))
def test_characters_walk_as_on_meshes_made_there(seed):
    rng = np.random.default_rng(seed)
    land = HeightMap(rng.normal(0, 0.1, (21, 21)))
    stairs, block = TriangleMesh.stairs(3, 0.2, 0.4, 9), TriangleMesh.box((3, 1, 2), solid=True)
    one, other = Ground(land), Ground(HeightMap(land.heights))
    for k in range(8):
        angle, scale = rng.uniform(0, 7), float(rng.choice([1, 0.8, 1.7]))
        turn = np.array(glm.mat3_cast(glm.angleAxis(angle, (0, 1, 0))))
        place = rng.uniform((3, -0.2, 3), (17, 0.3, 17)), turn, scale
        mesh = (stairs, block)[k % 2]
        one.add(mesh, transform=place)
        other.add(made(mesh, place))
    crowds = [walkers(ground, seed) for ground in (one, other)]
    steps = rng.uniform(-3, 3, (4, 12, 2))
    for frame in range(60):
        for crowd in crowds:
            velocity = crowd.velocities.copy()
            velocity[:, [0, 2]] = steps[frame // 15]
            crowd.velocities = velocity
            crowd.update(1 / 60)
    assert crowds[0].state_hash() == crowds[1].state_hash()


def test_groups_are_updated_while_others_move_and_add():
    rng = np.random.default_rng(1)
    ground = village(rng)
    crowds = [walkers(ground, seed) for seed in range(2)]
    asked = questions((-2, -2, -2), (22, 9, 22), 60, 1)

    def change():
        ground.move(2, (rng.uniform(0, 20, 3), drawn_rotation(rng)))
        key = ground.add(BLOCK, transform=(rng.uniform(0, 20, 3), np.eye(3), 0.5))
        ground.replace(key, FLAT)
        ground.remove(key)

    def ask():
        ground.raycast_many(asked.centers, asked.directions)
        ground.sweep_many(asked.balls, asked.motions)

    together(change, ask, *(partial(crowd.update, 1 / 60) for crowd in crowds))
    assert len(ground.parts) == 11


def test_a_state_holds_what_was_added_and_replaced():
    rng = np.random.default_rng(7)
    ground = village(rng)
    asked = questions((-2, -2, -2), (22, 9, 22), 15, 1)
    grounds = [(ground.state(), copy.copy(ground))]
    for step in range(4):
        key = ground.add(BLOCK, transform=(rng.uniform(0, 20, 3), drawn_rotation(rng), 1 + step))
        ground.replace(2 if step % 2 else key, TriangleMesh.box((1, 2, 3)))
        ground.move(4, rng.uniform(0, 20, 3))
        grounds.append((ground.state(), copy.copy(ground)))
    for k in (0, 3, 1, 4, 2):
        state, there = grounds[k]
        ground.restore(state)
        assert [*ground.parts] == [*there.parts]
        assert all(ground.parts[key] is part for key, part in there.parts.items())
        assert_alike(ground, there, asked)
        with pytest.raises(ValueError, match="must keep the scale"):
            ground.move(max(ground.parts), ((0, 0, 0), np.eye(3), 77))


def test_recordings_hold_a_mesh_once(tmp_path):
    land, crate = HeightMap(np.zeros((21, 21))), TriangleMesh(*MESHES["torus"])
    ground = Ground([land, crate])
    crowd = walkers(ground, 3)
    recording = Recording(crowd)
    for frame in range(30):
        place = (frame % 20, 1, 5), np.eye(3), 1 + frame % 3
        ground.add(crate, transform=place)
        if frame == 20:
            crate.refit(crate.vertices * 1.2)
        if frame == 22:
            ground.replace(3, BLOCK)
            ground.replace(4, BLOCK)
        if frame in (9, 25):
            ground.remove(1 if frame == 9 else 5)
        recording.update(1 / 60)
    recording.save(tmp_path / "crates")
    loaded = Recording.load(tmp_path / "crates")
    assert replay(loaded, loaded.make_scene) is None
    kinds = [event.kind for frame in recording._frames for event in frame.events]
    assert (kinds.count("added"), kinds.count("vertices"), kinds.count("replaced")) == (30, 1, 2)
    sizes = [
        len(event.content) for frame in recording._frames for event in frame.events
        if event.kind == "added"
    ]  # fmt: skip
    assert sum(sizes) == 0

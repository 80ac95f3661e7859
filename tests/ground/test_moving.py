"""Meshes of a ground that are put somewhere else: answers are those of meshes made there."""

import math
from functools import partial

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from tests.helpers.calls import calls_of
from tests.helpers.examples import rest_is_full, times
from tests.helpers.grounds import (
    assert_as_made_there,
    bits,
    everything,
    questions,
    refitted_or_copied,
)
from tests.helpers.meshes import MESHES


def drawn_pose(rng):
    """Return a position and a matrix (3, 3), and in how many ways they are given."""
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    return rng.uniform((0, -1, 0), (40, 3, 24)), turn


@pytest.mark.parametrize("seed", rest_is_full(range(4)))
def test_answers_are_those_of_meshes_made_there(seed):
    rng = np.random.default_rng(seed)
    asked = questions((-4, -3, -4), (44, 6, 28), 150, seed)
    land = HeightMap(rng.normal(0, 0.3, (25, 41)))
    torus = TriangleMesh(*MESHES["torus"], materials=3)
    meshes = [TriangleMesh.box((4, 2, 3)), torus, TriangleMesh.stairs(2, 0.2, 0.3, 6)]
    ground = Ground([land, *meshes])
    for _ in range(6):
        key = int(rng.integers(1, 4))
        position, turn = drawn_pose(rng)
        ground.move(key, (position, turn))
        ground = refitted_or_copied(ground, key, rng)
        assert_as_made_there(ground, asked)


def test_a_matrix_and_its_parts_are_one_transform():
    turn = glm.angleAxis(0.7, glm.normalize(glm.vec3(1, 2, 3)))
    ground = Ground([TriangleMesh.box((1, 2, 3)), TriangleMesh.box((1, 1, 1))])
    assert np.array_equal(ground.transform(0), np.eye(4))
    ground.move(0, ((1, 2, 3), turn))
    first = ground.transform(0)
    np.testing.assert_allclose(first[:3, :3], np.array(glm.mat3_cast(turn)), atol=1e-6)
    assert first[:, 3].tolist() == [1, 2, 3, 1]
    ground.move(0, first)
    np.testing.assert_allclose(ground.transform(0), first, rtol=0, atol=1e-15)
    ground.move(0, glm.translate(glm.vec3(1, 2, 3)) * glm.mat4_cast(turn))
    np.testing.assert_allclose(ground.transform(0), first, rtol=0, atol=1e-6)
    assert np.array_equal(ground.transform(1), np.eye(4))


def test_a_transform_takes_the_place_of_the_one_before():
    ground = Ground([TriangleMesh.box((2, 2, 2)), TriangleMesh.box((1, 1, 1))])
    count = times(10_000)
    for turns in range(1, count + 1):
        angle = turns * 0.01
        ground.move(
            0, ((5 * math.cos(angle), 0, 5 * math.sin(angle)), glm.angleAxis(angle, (0, 1, 0)))
        )
    ground.move(0, np.eye(4))
    assert ground.height_at(0.9, 0.9) == 1.0
    assert ground.version == count + 1


def test_a_teleport_leaves_who_stood_there():
    lift = TriangleMesh.box((4, 0.5, 4))
    ground = Ground([HeightMap(np.zeros((21, 21))), lift])
    ground.move(1, ((10, 3, 10), glm.quat()))
    mover = CharacterMovement(ground, SphereCollider(0.5), position=(10, 3.75, 10))
    group = CharacterGroup(ground, SphereCollider(0.5))
    group.add("on", (10, 3.75, 10))
    group.add("far", (2, 0.5, 2))
    for _ in range(30):
        mover.update(1 / 60), group.update(1 / 60)
    assert ground.part_of(mover.ground_report().triangle)[0] == 1
    ground.move(1, ((14.5, 3, 10), glm.quat()))
    results = mover.update(1 / 60), group.update(1 / 60)
    assert [results[0].grounded, *results[1].grounded] == [False, False, True]
    for _ in range(90):
        mover.update(1 / 60), group.update(1 / 60)
    assert mover.position == glm.vec3(10, 0.5, 10) == group["on"].position


def test_a_moved_mesh_is_saved(tmp_path):
    rng = np.random.default_rng(3)
    ground = Ground([TriangleMesh(*MESHES["torus"]), TriangleMesh.box((1, 1, 1))])
    ground.remove(ground.add(TriangleMesh.box((2, 2, 2))))
    ground.move(1, drawn_pose(rng))
    ground.save(tmp_path / "level.ground")
    again = Ground.load(tmp_path / "level.ground")
    assert again.version == ground.version
    asked = questions((-4, -3, -4), (44, 6, 28), 60, 1)
    for key in (0, 1):
        assert np.array_equal(again.transform(key), ground.transform(key))
    expected = everything(ground, asked)
    for name, answer in everything(again, asked).items():
        assert bits(answer) == bits(expected[name]), name


@pytest.mark.parametrize("position", [(1, 2, 3), [1, 2, 3], np.arange(1, 4), glm.vec3(1, 2, 3)])
@pytest.mark.parametrize("seconds", [None, 1 / 60])
def test_a_position_alone_keeps_the_rotation(position, seconds):
    one, other = (Ground(TriangleMesh(*MESHES["torus"])) for _ in range(2))
    for ground in (one, other):
        assert np.array_equal(ground.transform(0), np.eye(4))
    one.move(0, position, seconds)
    other.move(0, ((1, 2, 3), np.eye(3)), seconds)
    assert np.array_equal(one.transform(0), other.transform(0))
    rng = np.random.default_rng(5)
    turned = drawn_pose(rng)
    for ground in (one, other):
        ground.move(0, turned)
    one.move(0, position, seconds)
    other.move(0, ((1, 2, 3), other.transform(0)[:3, :3]), seconds)
    assert np.array_equal(one.transform(0)[:3, 3], (1, 2, 3))
    np.testing.assert_allclose(one.transform(0), other.transform(0), atol=1e-15)


def test_bounds_are_those_of_all_parts_where_they_are():
    rng = np.random.default_rng(6)
    land = HeightMap(rng.random((4, 6)), cell_size=(2, 3), origin=(-40, 5, 7), height_scale=-2)
    mesh = TriangleMesh(*MESHES["torus"])
    ground = Ground([land, mesh])
    for _ in range(3):
        matrix = ground.transform(1)
        places = mesh.vertices @ matrix[:3, :3].T + matrix[:3, 3]
        points = np.concatenate([land.to_mesh().vertices, places])
        np.testing.assert_allclose(ground.bounds.lower64, points.min(axis=0), atol=1e-5)
        np.testing.assert_allclose(ground.bounds.upper64, points.max(axis=0), atol=1e-5)
        ground.move(1, drawn_pose(rng))
    ground.remove(1)
    assert ground.bounds == land.bounds


def test_bounds_of_many_parts_take_no_more_calls_and_are_those_of_each():
    calls = []
    for count in (3, 60):
        ground, box = Ground([TriangleMesh.box((2, 2, 2))]), TriangleMesh.box((1, 2, 3))
        own = TriangleMesh.box((1, 1, 1))
        for k in range(count):
            ground.add(box, transform=(k, 2 * k, -k))
        ground.add(own)
        before = ground.state()
        for change in (
            partial(ground.move, 0, (300, 0, 0)),
            partial(own.refit, own.vertices * 600),
            partial(ground.move, 2, (0, -800, 0), 0.1),
            partial(ground.remove, 2),
            partial(ground.restore, before),
        ):
            change()
            corners = [ground._held.box_of_mesh(key) for key in ground.parts]
            assert ground.bounds.lower64 == tuple(np.min([low for low, _ in corners], axis=0))
            assert ground.bounds.upper64 == tuple(np.max([high for _, high in corners], axis=0))
        calls.append(calls_of(partial(getattr, ground, "bounds")))
    assert calls[0] == calls[1]


@pytest.mark.parametrize("count", [1, 50])
def test_moves_take_few_calls(count):
    box = TriangleMesh.box((1, 1, 1))
    ground = Ground([HeightMap(np.zeros((9, 9)))])
    keys = [ground.add(box) for _ in range(count)]
    places = np.arange(3.0 * count).reshape(count, 3)
    ground.move_many(keys, places, 0.1)
    assert calls_of(partial(ground.move_many, keys, places, 0.1)) <= 130
    assert calls_of(partial(ground.move, keys[0], (1.0, 2.0, 3.0), 0.1)) <= 95


SHEARED, MIRRORED = np.eye(4), np.diag([1.0, -1.0, 1.0, 1.0])
SHEARED[0, 1] = 0.5


@pytest.mark.parametrize(
    ("key", "transform", "error", "message"),
    [
        (1, 2 * np.eye(4), ValueError, "transform"),
        (1, SHEARED, ValueError, "transform must be orthonormal"),
        (1, MIRRORED, ValueError, "transform must not mirror"),
        (1, np.full((4, 4), np.nan), ValueError, "transform must be finite"),
        (1, np.eye(3), ValueError, "transform must be a 4 x 4 matrix"),
        (
            1,
            (1, 2, 3, 4),
            ValueError,
            r"transform must be .*\(position, rotation\) or a position, got",
        ),
        (1, (1, math.nan, 3), ValueError, r"transform\.y must be finite"),
        (1, (1, 1e200, 3), ValueError, "transform must be"),
        (1, ((0, 0, 0), (1, 0, 0, 0)), ValueError, r"make glm\.quat\(w, x, y, z\)"),
        (1, ((0, 0), glm.quat()), ValueError, r"transform\[0\] must be three numbers"),
        (1, ((0, 0, math.inf), glm.quat()), ValueError, r"transform\[0\].z must be finite"),
        (1, ((0, 0, 0), (1, 2, 3)), ValueError, r"transform\[1\] must be a quaternion"),
        (1, ((0, 0, 1e200), glm.quat()), ValueError, "transform must be"),
        (1, None, TypeError, "transform must be a 4 x 4 matrix"),
        (0, np.eye(4), TypeError, "key must be that of a TriangleMesh, got 0 of a HeightMap"),
        (7, np.eye(4), KeyError, "key must be that of a part, got 7"),
    ],
)
def test_bad_transforms_change_nothing(key, transform, error, message):
    ground = Ground([HeightMap(np.zeros((3, 3))), TriangleMesh.box((1, 1, 1))])
    ground.move(1, ((1, 2, 1), glm.quat()))
    before, version = ground.transform(1), ground.version
    with pytest.raises(error, match=message):
        ground.move(key, transform)
    assert np.array_equal(ground.transform(1), before)
    assert ground.version == version
    assert ground.height_at(1, 1) == 2.5

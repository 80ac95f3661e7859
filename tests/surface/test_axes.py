"""Axes of other engines: the same ground, whichever way it is written down."""

import math
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import Axes, HeightMap, Ray, TriangleMesh
from terrain_physics.surface.axes import frame_of

# The engine's axes x, y and z, as directions here: right, up, and towards or away from who looks.
AXES = {
    "y-up": np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    "z-up": np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)]),
    "y-up-left": np.array([(1, 0, 0), (0, 1, 0), (0, 0, -1)]),
}
LAND = HeightMap(
    np.random.default_rng(4).uniform(0, 3, (6, 8)), origin=(-3, 1, 2), cell_size=(0.5, 1.25)
)


@pytest.mark.parametrize("axes", AXES)
def test_points_and_turns_are_converted_exactly(axes):
    frame, directions = frame_of(axes), AXES[axes]
    rng = np.random.default_rng(5)
    rows, matrix = rng.normal(size=(20, 3)), rng.normal(size=(3, 3))
    ours = rows @ directions
    np.testing.assert_array_equal(frame.to_ours.rows(rows), ours)
    np.testing.assert_array_equal(frame.from_ours.rows(ours), rows)
    for row, our in zip(rows.tolist(), ours.tolist(), strict=True):
        assert frame.to_ours.point(tuple(row)) == tuple(our)
        assert frame.from_ours.point(tuple(our)) == tuple(row)
    turned = frame.to_ours.linear(matrix)
    np.testing.assert_array_equal(frame.from_ours.linear(turned), matrix)
    np.testing.assert_allclose((rows @ matrix.T) @ directions, ours @ turned.T, atol=1e-12)
    assert directions[frame.up].tolist() == [0, 1, 0]


@pytest.mark.parametrize("axes", AXES)
def test_a_map_goes_out_and_comes_in_as_the_same_ground(axes):
    arrays, own = LAND.to_mesh(axes=axes), LAND.to_mesh()
    assert arrays.vertices.dtype == arrays.normals.dtype == np.float32
    assert arrays.vertices.flags.c_contiguous
    assert arrays.normals.flags.c_contiguous
    np.testing.assert_array_equal(arrays.vertices @ AXES[axes], own.vertices)
    np.testing.assert_array_equal(arrays.normals @ AXES[axes], own.normals)
    np.testing.assert_array_equal(arrays.indices, own.indices)

    faces = arrays.indices.reshape(-1, 3)
    foreign = SimpleNamespace(vertices=arrays.vertices, faces=faces)
    mesh = TriangleMesh(arrays.vertices, faces, axes=axes)
    refitted = TriangleMesh(np.zeros_like(arrays.vertices), faces)
    refitted.refit(arrays.vertices, axes=axes)
    for same in (mesh, refitted, TriangleMesh.from_trimesh(foreign, axes=axes)):
        np.testing.assert_array_equal(same.vertices, own.vertices.astype(np.float64))
        assert not same.vertices.flags.writeable
        hit = same.raycast(Ray((-1.1, 9, 4.2), (0, -1, 0)))
        assert hit is not None
        assert hit.normal.y > 0  # the front is still above
        assert hit.point.y == pytest.approx(LAND.height_at(-1.1, 4.2), abs=1e-6)


def test_arrays_relative_to_a_point_of_the_map():
    arrays = LAND.to_mesh(relative_to=(-3, 0, 2), axes="z-up")
    assert arrays.vertices[0, :2].tolist() == [0, 0]
    assert (arrays.vertices[:, 1] <= 0).all()  # rows go along +Z, which is -y there
    assert not np.signbit(arrays.vertices[arrays.vertices == 0]).any()


def test_holes_stay_holes():
    heights = np.zeros((4, 4))
    heights[1, 1] = np.nan
    arrays = HeightMap(heights, border="open").to_mesh(axes="z-up")
    assert np.isfinite(arrays.vertices).all()
    assert len(arrays.indices) == 3 * 2 * 5


@pytest.mark.parametrize("axes", ["Y-up", "z-up-left", "", None, 3])
def test_other_axes_are_refused(axes):
    message = "axes must be one of 'y-up', 'z-up', 'y-up-left', got"
    box = TriangleMesh.box((1, 1, 1))
    for ask in (
        lambda: LAND.to_mesh(axes=axes),
        lambda: TriangleMesh(box.vertices, box.faces, axes=axes),
        lambda: TriangleMesh.from_trimesh(box, axes=axes),
        lambda: box.refit(box.vertices, axes=axes),
    ):
        with pytest.raises(ValueError, match=message):
            ask()


AXES_NAMES = ["y-up", "z-up", "y-up-left"]


@pytest.mark.parametrize("name", AXES_NAMES)
def test_a_game_converts_points_rows_and_matrices(name):
    axes: Any = Axes(name)
    directions = AXES[name]
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(20, 3)).astype(np.float32).astype(np.float64)
    ours = axes.from_game(rows)
    np.testing.assert_array_equal(ours, rows @ directions)
    np.testing.assert_array_equal(axes.to_game(ours), rows)
    for row, our in zip(rows.tolist(), ours.tolist(), strict=True):
        for value in (row, tuple(row), glm.vec3(row), glm.dvec3(row), SimpleNamespace(**_xyz(row))):
            assert axes.from_game(value) == glm.vec3(our)
        assert axes.to_game(glm.vec3(our)) == glm.vec3(row)
    turn = glm.mat3_cast(glm.normalize(glm.quat(1, 2, 3, 4)))
    pose = glm.translate(glm.mat4(1), glm.vec3(1, 2, 3)) * glm.mat4(turn)
    for row in rows.tolist():
        there = axes.from_game(turn * glm.vec3(row))
        assert glm.distance(axes.from_game(turn) * axes.from_game(row), there) < 1e-5
        x, y, z = row
        moved = axes.from_game(glm.vec3(pose * glm.vec4(x, y, z, 1)))
        x, y, z = axes.from_game(row)
        place = axes.from_game(pose) * glm.vec4(x, y, z, 1)
        assert glm.distance(glm.vec3(place), moved) < 1e-5
    assert axes.to_game(axes.from_game(pose)) == pose
    assert axes.to_game(axes.from_game(turn)) == turn
    array = np.array(pose.to_list()).T
    np.testing.assert_array_equal(axes.from_game(array), np.array(axes.from_game(pose).to_list()).T)


def _xyz(row):
    return dict(zip("xyz", row, strict=True))


def test_three_rows_are_rows_and_not_a_matrix():
    rows = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(Axes("z-up").to_game(rows), rows @ AXES["z-up"].T)
    assert Axes("z-up").to_game(np.zeros((0, 3))).shape == (0, 3)


REFUSED: tuple[Any, ...] = (
    3, "ab", (1, 2), (1, 2, np.nan), np.eye(5), [[1, 2]], None, [(1, 2, 3), (4, 5)], [],
    np.full((4, 4), np.nan), glm.mat4(math.inf), glm.mat3x4(1), glm.mat2(1), [["1"] * 4] * 4,
)  # fmt: skip


@pytest.mark.parametrize("name", AXES_NAMES)
def test_rows_are_those_of_who_asks(name):
    rows = np.ones((2, 3))
    turned = Axes(name).to_game(rows)
    turned[:] = 7.0
    assert (rows == 1.0).all()


@pytest.mark.parametrize("value", REFUSED)
def test_what_has_no_axes_is_refused(value):
    for ask in (Axes("z-up").to_game, Axes("y-up-left").from_game):
        with pytest.raises((TypeError, ValueError), match="value"):
            ask(value)
    with pytest.raises(ValueError, match="name must be one of 'y-up', 'z-up', 'y-up-left', got"):
        Axes(value)


@pytest.mark.parametrize("name", AXES_NAMES)
def test_they_stand_for_their_name(name):
    axes = Axes(name)
    for own, named in zip(LAND.to_mesh(axes=axes), LAND.to_mesh(axes=name), strict=True):
        np.testing.assert_array_equal(own, named)
    assert axes == Axes(name) == pickle.loads(pickle.dumps(axes)) != name
    assert {axes: 1}[Axes(name)] == 1
    assert repr(axes) == f"Axes({name!r})"


@pytest.mark.parametrize("axes", AXES)
def test_a_mesh_goes_out_as_a_map_does(axes):
    arrays = LAND.to_mesh()
    mesh = TriangleMesh(arrays.vertices, arrays.indices.reshape(-1, 3))
    own = TriangleMesh(LAND.to_mesh().vertices, mesh.faces)
    for found, wanted in zip(mesh.to_mesh(axes=axes), LAND.to_mesh(axes=axes), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    flat = own.to_mesh(axes=axes, flat=True, relative_to=(1, 2, 3))
    assert flat.indices.tolist() == list(range(3 * len(own)))
    corners = own.vertices[own.faces.ravel()] - (1, 2, 3)
    np.testing.assert_allclose(flat.vertices @ AXES[axes], corners, atol=1e-6)
    np.testing.assert_allclose(flat.normals @ AXES[axes], np.repeat(own.normals, 3, 0), atol=1e-6)


def test_faces_keep_their_front_and_share_what_they_share():
    crate = TriangleMesh.box((2, 2, 2))
    round_ones, flat = crate.to_mesh(), crate.to_mesh(flat=True)
    assert (len(round_ones.vertices), len(flat.vertices)) == (8, 36)
    np.testing.assert_array_equal(round_ones.indices.reshape(-1, 3), crate.faces)
    a, b, c = flat.vertices.reshape(-1, 3, 3).transpose(1, 0, 2)
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), flat.normals[::3]) > 0).all()
    with pytest.raises(ValueError, match="axes must be one of"):
        crate.to_mesh(axes="up")  # type: ignore[arg-type]

"""Meshes moved, merged, and taken over from other libraries."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from terrain_physics import Ray, TriangleMesh
from tests.helpers.extras import library
from tests.helpers.meshes import MESHES

TURN = glm.rotate(glm.dmat4(), 0.7, glm.normalize(glm.dvec3(1, 2, 3)))
PLACED: Any = glm.scale(
    glm.translate(glm.dmat4(), glm.dvec3(5, -6, 7)) * TURN, glm.dvec3(1, 2, 0.5)
)
BOX = TriangleMesh.box((1, 2, 3))


def by_rows(matrix):
    """Return a matrix of PyGLM in the mathematical layout."""
    return np.array([list(column) for column in matrix], dtype=np.float64).T


def volume(mesh):
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    return np.sum(a * np.cross(b, c)) / 6


entries = st.lists(st.floats(-1, 1), min_size=12, max_size=12)
scales = st.lists(st.sampled_from((-4.0, 4.0)), min_size=3, max_size=3)


@given(entries, scales)
def test_vertices_are_those_of_float64_matrices(values, diagonal):
    matrix = np.vstack([np.reshape(values, (3, 4)), [0, 0, 0, 1]])
    matrix[:3, :3] += np.diag(diagonal)  # which decides what it mirrors, and that it is invertible
    size = np.linalg.det(matrix[:3, :3])
    moved = BOX.transformed(matrix)
    expected = np.column_stack([BOX.vertices, np.ones(8)]) @ matrix.T
    np.testing.assert_allclose(moved.vertices, expected[:, :3], rtol=0, atol=1e-14)
    assert volume(moved) == pytest.approx(6 * abs(size), rel=1e-9)
    flipped = BOX.faces[:, [0, 2, 1]]
    np.testing.assert_array_equal(moved.faces, BOX.faces if size > 0 else flipped)


@pytest.mark.parametrize(
    "given",
    [
        PLACED,
        by_rows(PLACED),
        by_rows(PLACED).tolist(),
        np.asfortranarray(by_rows(PLACED)),
        [glm.dvec4(column) for column in PLACED],
    ],
    ids=["dmat4", "array", "lists", "Fortran order", "columns"],
)
def test_a_matrix_may_be_given_in_many_ways(given):
    moved, expected = BOX.transformed(given), BOX.transformed(by_rows(PLACED))
    np.testing.assert_array_equal(moved.vertices, expected.vertices)
    places = [list((PLACED * glm.dvec4(x, y, z, 1)).xyz) for x, y, z in BOX.vertices.tolist()]
    np.testing.assert_allclose(moved.vertices, places, rtol=1e-14)


def test_a_matrix_of_float32_is_taken_as_it_is():
    single = glm.mat4(PLACED)
    moved = BOX.transformed(single)
    np.testing.assert_array_equal(moved.vertices, BOX.transformed(by_rows(single)).vertices)
    np.testing.assert_allclose(moved.vertices, BOX.transformed(PLACED).vertices, atol=1e-5)


def test_a_translation_and_nothing_else():
    mesh = TriangleMesh(*MESHES["torus"])
    moved = mesh.transformed(glm.translate(glm.vec3(8, -4, 2)))
    np.testing.assert_array_equal(moved.vertices, np.add(mesh.vertices, (8, -4, 2)))
    np.testing.assert_array_equal(moved.faces, mesh.faces)
    same = mesh.transformed(np.eye(4, dtype=int))
    np.testing.assert_array_equal(same.vertices, mesh.vertices)


def test_the_mesh_itself_stays():
    mesh = TriangleMesh.box((1, 2, 3))
    before = mesh.vertices.copy(), mesh.faces.copy()
    matrix = np.diag([-1.0, 1, 1, 1])
    moved = mesh.transformed(matrix)
    for one, two in zip((mesh.vertices, mesh.faces), before, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not moved.vertices.flags.writeable
    assert moved.version == 0
    assert matrix.tolist() == np.diag([-1, 1, 1, 1]).tolist()


@pytest.mark.parametrize(
    "mirror", [(-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1), (-1e-9, 2, 3)]
)
def test_mirrored_fronts_stay_outside(mirror):
    mirrored = BOX.transformed(np.diag([*mirror, 1.0]))
    assert volume(mirrored) == pytest.approx(6 * abs(np.prod(mirror)))
    assert (mirrored.neighbors.across >= 0).all()
    np.testing.assert_allclose(mirrored.normals, BOX.normals * np.sign(mirror), atol=1e-15)


def test_faces_keep_their_ids():
    turned = BOX.transformed(PLACED)
    matrix = by_rows(PLACED)
    for index, middle in enumerate(BOX.vertices[BOX.faces].mean(axis=1)):
        normal = turned.normals[index]
        hit = turned.raycast(Ray(matrix[:3, :3] @ middle + matrix[:3, 3] + 0.1 * normal, -normal))
        assert hit is not None
        assert hit.triangle == index


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (np.eye(3), ValueError, r"matrix must be a 4 x 4 matrix, got shape \(3, 3\)"),
        (glm.mat3(), ValueError, r"matrix must be a 4 x 4 matrix, got shape \(3, 3\)"),
        (
            (1, 2, 3),
            ValueError,
            r"got shape \(3,\); of a place make glm\.translate\(glm\.vec3\(x, y, z\)\)",
        ),
        ("turn", TypeError, "matrix must be a 4 x 4 matrix, got 'turn'"),
        (None, TypeError, "matrix must be a 4 x 4 matrix, got None"),
        (np.diag([1, 1, math.nan, 1]), ValueError, r"matrix must be finite, got nan at \[2, 2\]"),
        (
            np.diag([1.0, 1, 1, 2]),
            ValueError,
            r"matrix must be affine, got last row \[0.0, .* 2.0\]",
        ),
        (PLACED[0], ValueError, r"matrix must be a 4 x 4 matrix, got shape \(4,\)"),
        (by_rows(PLACED).T, ValueError, "matrix must be affine, got last row"),
        (np.diag([1, 0, 1, 1]), ValueError, r"matrix must be invertible, got \[\[1.0, 0.0, 0.0\]"),
        (np.diag([0.0, 0, 0, 1]), ValueError, "matrix must be invertible"),
        (
            [(1, 2, 3, 0), (4, 5, 6, 0), (7, 8, 9, 0), (0, 0, 0, 1)],
            ValueError,
            "matrix must be invertible",
        ),
        (np.diag([1e300, 1, 1, 1]), ValueError, r"matrix must be below 1e\+38"),
        (np.diag([1e37, 1e37, 1e37, 1]), ValueError, r"vertices must be below 1e\+38 m"),
    ],
)
def test_bad_matrices(matrix, error, message):
    with pytest.raises(error, match=message):
        TriangleMesh.box((30, 30, 30)).transformed(matrix)


def test_merged_faces_count_on():
    parts = [BOX, TriangleMesh(*MESHES["flat"]), TriangleMesh.ramp(2, 1, 4)]
    merged = TriangleMesh.merged(parts)
    assert len(merged) == sum(map(len, parts))
    np.testing.assert_array_equal(merged.vertices, np.vstack([part.vertices for part in parts]))
    corners = np.concatenate([part.vertices[part.faces] for part in parts])
    np.testing.assert_array_equal(merged.vertices[merged.faces], corners)
    assert merged.faces.dtype == np.int32


def test_a_hit_on_a_merged_mesh_names_the_face_of_its_part():
    other = TriangleMesh.box((1, 1, 1), transform=glm.translate(glm.vec3(9, 0, 0)))
    merged = TriangleMesh.merged(iter([BOX, other]))
    ray = Ray((9.1, 5, 0.2), (0, -1, 0))
    one, two = merged.raycast(ray), other.raycast(ray)
    assert one is not None
    assert two is not None
    assert one.triangle == two.triangle + len(BOX)


def test_one_mesh_merged_is_a_copy():
    merged = TriangleMesh.merged([BOX])
    assert merged is not BOX
    np.testing.assert_array_equal(merged.faces, BOX.faces)


@pytest.mark.parametrize(
    ("meshes", "error", "message"),
    [
        ([], ValueError, "meshes must hold at least one TriangleMesh, got none"),
        (BOX, TypeError, "meshes must be a sequence of TriangleMesh, got <TriangleMesh: 12 faces"),
        (None, TypeError, "meshes must be a sequence of TriangleMesh, got None"),
        ([BOX, "box"], TypeError, r"meshes\[1\] must be a TriangleMesh, got 'box'"),
        ("box", TypeError, r"meshes\[0\] must be a TriangleMesh, got 'b'"),
    ],
)
def test_bad_meshes_to_merge(meshes, error, message):
    with pytest.raises(error, match=message):
        TriangleMesh.merged(meshes)


@pytest.mark.parametrize("kind", [list, np.array, lambda values: np.array(values, order="F")])
def test_any_object_with_vertices_and_faces(kind):
    vertices, faces = kind(BOX.vertices.tolist()), kind(BOX.faces.tolist())
    mesh = TriangleMesh.from_trimesh(SimpleNamespace(vertices=vertices, faces=faces))
    np.testing.assert_array_equal(mesh.vertices, BOX.vertices)
    np.testing.assert_array_equal(mesh.faces, BOX.faces)
    vertices[0] = (9, 9, 9)
    np.testing.assert_array_equal(mesh.vertices, BOX.vertices)


@pytest.mark.parametrize(
    "other", [SimpleNamespace(vertices=[]), SimpleNamespace(faces=[]), "level.glb", None]
)
def test_what_has_no_faces_is_refused(other):
    with pytest.raises(TypeError, match=r"mesh must have vertices and faces.*scene.to_mesh\(\)"):
        TriangleMesh.from_trimesh(other)


def test_the_arrays_of_another_mesh_are_checked():
    with pytest.raises(ValueError, match=r"faces\[0\] must hold vertices from 0 to 7"):
        TriangleMesh.from_trimesh(SimpleNamespace(vertices=BOX.vertices, faces=[(0, 1, 8)]))


def test_meshes_of_trimesh():
    trimesh = library("trimesh", "data")
    theirs = trimesh.creation.box(extents=(1, 2, 3))
    mesh = TriangleMesh.from_trimesh(theirs)
    np.testing.assert_array_equal(mesh.vertices, theirs.vertices)
    np.testing.assert_array_equal(mesh.faces, theirs.faces)
    assert volume(mesh) == pytest.approx(6)
    scene = trimesh.Scene([theirs])
    with pytest.raises(TypeError, match=r"scene.to_mesh\(\) makes .* got <trimesh.Scene"):
        TriangleMesh.from_trimesh(scene)
    assert len(TriangleMesh.from_trimesh(scene.to_mesh())) == 12


def test_solids_are_those_of_trimesh():
    """A cylinder of theirs has its axis along +Z, and middles in its ends."""
    trimesh = library("trimesh", "data")
    upright = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    theirs = trimesh.creation.cylinder(radius=0.7, height=3, sections=12, transform=upright)
    ours = TriangleMesh.cylinder(radius=0.7, height=3, sections=12)
    assert volume(ours) == pytest.approx(theirs.volume)
    np.testing.assert_allclose(theirs.bounds, [ours.bounds.lower64, ours.bounds.upper64])
    box = trimesh.creation.box(extents=(1, 2, 3))
    assert sorted(map(tuple, box.vertices)) == sorted(map(tuple, BOX.vertices))

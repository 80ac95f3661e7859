"""Pairs of touching triangles of two meshes, or of one: against all pairs in exact arithmetic."""

import numpy as np
import pytest

from terrain_physics import TriangleMesh
from terrain_physics._kernels.mesh import intersections as mesh_pairs
from tests.helpers import meshes as mesh_cases
from tests.oracles import mesh as oracle_mesh

pytestmark = pytest.mark.kernels


def pairs_of(first, second):
    return TriangleMesh(*first).intersecting_pairs(TriangleMesh(*second))


def expected_of(first, second):
    return oracle_mesh.touching_pairs(first[0][first[1]], second[0][second[1]])


@pytest.mark.parametrize("shift", [(0.9, 0.1, 0.2), (0.013, 0.007, -0.011), (0.31, 0.0, 0.02)])
def test_bumpy_spheres(shift):
    first = mesh_cases.bumpy_sphere(6)
    second = mesh_cases.bumpy_sphere(7, seed=2, center=shift)
    found = pairs_of(first, second)
    np.testing.assert_array_equal(found, expected_of(first, second))
    assert len(found) > 20


@pytest.mark.parametrize("seed", range(4))
def test_ties_on_a_lattice(seed):
    """Touching corners, edges through corners, faces in one plane: decided exactly."""
    rng = np.random.default_rng(seed)
    first, second = mesh_cases.lattice(rng, 70), mesh_cases.lattice(rng, 50)
    found = pairs_of(first, second)
    np.testing.assert_array_equal(found, expected_of(first, second))
    assert len(found) > 100


@pytest.mark.parametrize(("one", "two"), [(1, 400), (400, 1), (3, 20), (300, 17)])
def test_trees_of_any_heights(one, two):
    rng = np.random.default_rng(one)
    first, second = mesh_cases.soup(rng, one), mesh_cases.soup(rng, two, 0.6)
    np.testing.assert_array_equal(pairs_of(first, second), expected_of(first, second))
    np.testing.assert_array_equal(
        pairs_of(second, first),
        np.array(sorted(map(tuple, expected_of(second, first)))).reshape(-1, 2),
    )


@pytest.mark.parametrize("factor", [1e-9, 1e-3, 1e4, 1e30])
def test_meshes_of_other_sizes(factor):
    """The same picture at any size; and a small mesh within a huge one."""
    first = mesh_cases.bumpy_sphere(5)
    second = mesh_cases.bumpy_sphere(4, seed=1, center=(0.7, 0.3, 0))
    scaled = [(vertices * factor, faces) for vertices, faces in (first, second)]
    found = pairs_of(*scaled)
    np.testing.assert_array_equal(found, expected_of(first, second))
    wall = (np.array([[0, -1, -1], [0, 3, -1], [0, -1, 3]]) * factor, np.array([[0, 1, 2]]))
    crossing = first[0][first[1]][:, :, 0]
    through = np.flatnonzero((crossing.min(axis=1) <= 0) & (crossing.max(axis=1) >= 0))
    if factor >= 10:
        assert pairs_of(first, wall)[:, 0].tolist() == through.tolist()
        assert pairs_of(wall, first)[:, 1].tolist() == through.tolist()


def test_apart():
    first = mesh_cases.bumpy_sphere(5)
    assert pairs_of(first, mesh_cases.bumpy_sphere(5, center=(9, 0, 0))).shape == (0, 2)
    assert pairs_of(first, (first[0] * 0.01, first[1])).shape == (0, 2)  # one inside the other


def test_a_mesh_and_itself():
    case = mesh_cases.torus(7, 5)
    found = pairs_of(case, case)
    corners = case[1]
    shared = np.array([[bool(set(a) & set(b)) for b in corners] for a in corners])
    np.testing.assert_array_equal(found, np.argwhere(shared))


def test_more_pairs_than_there_is_room_for(monkeypatch):
    rng = np.random.default_rng(3)
    first, second = mesh_cases.soup(rng, 60, 2.0), mesh_cases.soup(rng, 60, 2.0)
    monkeypatch.setattr(mesh_pairs, "_ROOM", 256)
    found = pairs_of(first, second)
    np.testing.assert_array_equal(found, expected_of(first, second))
    assert len(found) > 500


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_any_number_of_threads(threads):
    first = TriangleMesh(*mesh_cases.bumpy_sphere(9))
    second = TriangleMesh(*mesh_cases.bumpy_sphere(9, seed=1, center=(0.5, 0.2, 0)))
    expected = first.intersecting_pairs(second, threads=1)
    np.testing.assert_array_equal(first.intersecting_pairs(second, threads=threads), expected)
    tangled = TriangleMesh(*mesh_cases.torus(20, 9, radius=0.2))
    crossed = tangled.self_intersections(threads=1)
    np.testing.assert_array_equal(tangled.self_intersections(threads=threads), crossed)
    assert len(crossed) > 10


@pytest.mark.parametrize("case", [mesh_cases.bumpy_sphere(7), mesh_cases.torus(11, 6)])
def test_sound_meshes_meet_nowhere(case):
    assert TriangleMesh(*case).self_intersections().shape == (0, 2)


@pytest.mark.parametrize("seed", range(3))
def test_a_tangle_on_a_lattice(seed):
    vertices, faces = mesh_cases.lattice(np.random.default_rng(seed), 45, 3)
    found = TriangleMesh(vertices, faces).self_intersections()
    np.testing.assert_array_equal(found, oracle_mesh.self_pairs(vertices, faces))
    common = [len(set(faces[i]) & set(faces[j])) for i, j in found]
    assert set(common) >= {0, 1}


@pytest.mark.parametrize(
    ("faces", "meet"),
    [
        ([(0, 1, 2), (0, 1, 3)], False),  # side by side in one plane
        ([(0, 1, 2), (0, 1, 4)], True),  # folded onto each other
        ([(0, 1, 2), (0, 1, 5)], False),  # at an angle
        ([(0, 1, 2), (2, 1, 0)], True),  # the same, turned round
        ([(0, 1, 2), (0, 0, 1)], False),  # a side, a corner
        ([(0, 1, 2), (1, 1, 1)], False),
        ([(0, 1, 2), (0, 4, 4)], True),  # from a corner into the face
        ([(0, 1, 2), (0, 3, 3)], False),
        ([(0, 1, 2), (0, 3, 5)], False),  # only a corner
        ([(0, 1, 2), (6, 3, 5)], False),  # the same corner by another number
        ([(0, 1, 2), (0, 4, 5)], True),
        ([(0, 0, 1), (0, 1, 1)], True),  # one segment twice
        ([(0, 1, 2), (0, 1, 7)], False),  # without area, along the common side
    ],
)
def test_common_vertices(faces, meet):
    vertices = [
        (0, 0, 0), (4, 0, 0), (0, 4, 0), (1, -4, 0), (1, 1, 0), (1, -1, 3), (0, 0, 0), (2, 0, 0)
    ]  # fmt: skip
    mesh = TriangleMesh(vertices, faces)
    assert mesh.self_intersections().tolist() == ([[0, 1]] if meet else [])


def test_bad_input():
    mesh = TriangleMesh(*mesh_cases.torus(5, 4))
    with pytest.raises(TypeError, match="other must be a TriangleMesh"):
        mesh.intersecting_pairs(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads must be None or an integer >= 1, got 0"):
        mesh.intersecting_pairs(mesh, threads=0)
    assert len(mesh.intersecting_pairs(mesh, threads=np.int64(2))) > 0  # type: ignore[arg-type]

"""`TriangleMesh`: what it takes, shows and keeps; triangles in a box; neighbors; moved vertices."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import AABB, Ray, TriangleMesh
from terrain_physics._kernels.ground.rays import ray_hit
from terrain_physics._kernels.mesh import adjacency as mesh_neighbors
from terrain_physics._kernels.mesh.tree import LANES
from tests.helpers import meshes as mesh_cases
from tests.helpers.examples import examples
from tests.helpers.meshes import MESHES
from tests.oracles import mesh as oracle_mesh

SQUARE = [(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0)]
HALVES = [(0, 1, 2), (0, 2, 3)]


@pytest.fixture(params=MESHES)
def case(request):
    return MESHES[request.param]


def box_near(rng, corners):
    """Return a box around a corner or between two, of which faces lie just on the border."""
    places = corners.reshape(-1, 3)
    one, two = places[rng.integers(len(places), size=2)]
    size = float(np.ptp(places, axis=0).max())
    if rng.random() < 0.5:
        two = one + rng.choice([0.0, 0.1, 0.4]) * size * rng.uniform(-1, 1, 3)
    return np.minimum(one, two), np.maximum(one, two)


@pytest.mark.kernels
def test_triangles_in_a_box(case):
    vertices, faces = case
    mesh, corners = TriangleMesh(vertices, faces), vertices[faces]
    rng = np.random.default_rng(3)
    for _ in range(12):
        lower, upper = box_near(rng, corners)
        found = mesh.triangles_in(AABB(lower, upper), margin=0)
        expected = np.flatnonzero(oracle_mesh.boxes_meet(corners, lower, upper))
        assert found.ids.tolist() == expected.tolist()
        np.testing.assert_array_equal(found.vertices, corners[expected])
        np.testing.assert_array_equal(found.normals, mesh.normals[expected])


@pytest.mark.kernels
def test_boxes_hold_more_than_there_is_room_for_at_first():
    mesh = TriangleMesh(*MESHES["torus"])
    offsets, ids = mesh.triangles_in_many([(-9.0, -9.0, -9.0)] * 3, [(9.0, 9.0, 9.0)])
    assert np.diff(offsets).tolist() == 3 * [len(mesh)]
    assert ids.tolist() == 3 * list(range(len(mesh)))


def test_the_margin_widens_the_box():
    mesh = TriangleMesh(SQUARE, HALVES)
    above = AABB((0, 0.25, 0), (1, 1, 1))
    assert mesh.triangles_in(above).ids.tolist() == []
    assert mesh.triangles_in(above, margin=0.25).ids.tolist() == [0, 1]
    assert mesh.triangles_in(AABB((-1e300, 0, 0), (1e300, 0, 0)), margin=0).ids.tolist() == [0, 1]


@pytest.mark.kernels
def test_boxes_hold_what_is_in_them(case):
    """Every triangle lies in the box of its lane, and every node in the box of its own."""
    mesh = TriangleMesh(*case)._storage.arrays
    corners = (mesh.corners.reshape(-1, 3, 3) - mesh.frame[:3]) * mesh.frame[3]
    assert np.abs(corners).max() <= 1.0
    for node, child in enumerate(mesh.children.tolist()):
        for lane in range(LANES):
            lower, upper = mesh.boxes[node, :3, lane], mesh.boxes[node, 3:, lane]
            if (lower > upper).any():
                assert (lower == np.inf).all()
            elif child < 0:
                assert (lower < corners[~child + lane]).all()
                assert (upper > corners[~child + lane]).all()
            else:
                assert (lower <= mesh.boxes[child + lane, :3].min(axis=1)).all()
                assert (upper >= mesh.boxes[child + lane, 3:].max(axis=1)).all()
    assert sorted(mesh.order.tolist()) == list(range(len(mesh.faces)))


def test_what_it_shows():
    mesh = TriangleMesh(SQUARE, HALVES)
    assert len(mesh) == 2
    assert repr(mesh) == "<TriangleMesh: 2 faces, 4 vertices>"
    assert mesh.bounds == AABB((0, 0, 0), (1, 0, 1))
    np.testing.assert_array_equal(mesh.normals, [(0, 1, 0), (0, 1, 0)])
    np.testing.assert_array_equal(mesh.vertices, SQUARE)
    np.testing.assert_array_equal(mesh.faces, HALVES)
    for values in (mesh.vertices, mesh.faces, mesh.normals, *mesh.neighbors):
        assert not values.flags.writeable


def test_unused_vertices_do_not_count():
    mesh = TriangleMesh([*SQUARE, (9, 9, 9)], HALVES)
    assert mesh.bounds == AABB((0, 0, 0), (1, 0, 1))


def test_bounding_sphere():
    pytest.importorskip("terrain_physics.geometry.enclosing_sphere")
    sphere = TriangleMesh([*SQUARE, (9, 9, 9)], HALVES).bounding_sphere
    assert sphere.center64 == pytest.approx((0.5, 0, 0.5))
    assert sphere.radius == pytest.approx(0.5**0.5)


def test_it_keeps_copies():
    vertices, faces = np.array(SQUARE, float), np.array(HALVES, np.int32)
    mesh = TriangleMesh(vertices, faces)
    vertices += 5
    faces[:] = 0
    np.testing.assert_array_equal(mesh.vertices, SQUARE)
    assert mesh.height_at(0.5, 0.5) == 0.0


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint64, np.int64])
def test_any_integers(kind):
    assert TriangleMesh(SQUARE, np.array(HALVES, kind)).faces.dtype == np.int32


@pytest.mark.parametrize(
    ("vertices", "faces", "error", "message"),
    [
        (SQUARE, [(0, 1, 2), (0, 2, 4)], ValueError, r"faces\[1\] .* from 0 to 3, got \[0, 2, 4\]"),
        (SQUARE, [(0, -1, 2)], ValueError, r"faces\[0\] must hold vertices"),
        (SQUARE, np.array([(2**63, 1, 2)], np.uint64), ValueError, r"faces\[0\] must hold"),
        (SQUARE, [(0, 1)], ValueError, r"faces must have shape \(n, 3\), n >= 1, got \(1, 2\)"),
        (SQUARE, [], ValueError, r"faces must have shape"),
        (SQUARE, [(0, 1, 2), (0, 1)], ValueError, "faces must be an array of integers"),
        (SQUARE, [(0.0, 1.0, 2.0)], TypeError, "faces must hold integers, got dtype float64"),
        (SQUARE, [(True, False, True)], TypeError, "faces must hold integers"),
        (
            SQUARE,
            np.ma.array([(0, 1, 2)], mask=[[False, False, True]]),
            ValueError,
            r"faces .* at \[0, 2\]",
        ),
        (
            [(0, 0, 0), (0, np.nan, 0), (1, 0, 0)],
            HALVES,
            ValueError,
            r"vertices .* nan at \[1, 1\]",
        ),
        (
            [(0, 0, 0), (0, 2e38, 0), (1, 0, 0)],
            HALVES,
            ValueError,
            r"vertices must be below 1e\+38",
        ),
        ([(0, 0), (1, 1)], HALVES, ValueError, r"vertices must have shape \(n, 3\)"),
        ([("a", "b", "c")], HALVES, TypeError, "vertices must hold real numbers"),
    ],
)
def test_bad_meshes(vertices, faces, error, message):
    with pytest.raises(error, match=message):
        TriangleMesh(vertices, faces)


def test_a_mesh_of_more_triangles_than_a_query_gives(monkeypatch):
    for name, most in (
        ("surface.MOST_RESULTS", 1),
        ("answers.triangles.MOST_RESULTS", 1),
        ("answers.triangles._FEW", 1.0),
    ):
        monkeypatch.setattr(f"terrain_physics.surface.{name}", most)
    with pytest.raises(ValueError, match="aabb must hold at most 1 triangles, got AABB"):
        TriangleMesh(SQUARE, HALVES).triangles_in(AABB((0, 0, 0), (1, 1, 1)))


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda mesh: pickle.loads(pickle.dumps(mesh))]
)
def test_copies_answer_the_same_with_the_same_code(copied):
    mesh = TriangleMesh(*MESHES["torus"])
    mesh.refit(mesh.vertices * 2)
    expected = mesh.raycast(Ray((9, 0.1, 0.2), (-1, 0, 0)))
    compiled = len(getattr(ray_hit, "signatures", ()))
    other = copied(mesh)
    assert other.raycast(Ray((9, 0.1, 0.2), (-1, 0, 0))) == expected
    assert len(getattr(ray_hit, "signatures", ())) == compiled
    assert other.version == 1
    np.testing.assert_array_equal(other.faces, mesh.faces)


@pytest.mark.kernels
def test_refit_is_a_new_mesh():
    vertices, faces = mesh_cases.with_flat_faces(MESHES["sphere"])
    moved = vertices * (1, 3, 0.5) + np.sin(5 * vertices[:, ::-1]) + (40, 0, 0)
    mesh, other = TriangleMesh(vertices, faces), TriangleMesh(moved, faces)
    before = mesh.normals
    assert mesh.version == 0
    mesh.refit(moved)
    assert mesh.version == 1
    assert not np.array_equal(before, mesh.normals)
    rng = np.random.default_rng(5)
    points = np.array([40, 0, 0]) + rng.uniform(-4, 4, (40, 3))
    for one, two in zip(mesh.closest_points(points), other.closest_points(points), strict=True):
        np.testing.assert_array_equal(one, two)
    hits = mesh.raycast_many(points, moved[:40] - points)
    others = other.raycast_many(points, moved[:40] - points)
    assert (hits.triangle >= 0).any()
    for name in hits._fields:
        np.testing.assert_array_equal(getattr(hits, name), getattr(others, name))
    np.testing.assert_array_equal(mesh.self_intersections(), other.self_intersections())
    assert mesh.bounds == other.bounds


def test_refit_refuses_other_vertices_and_keeps_its_own():
    mesh = TriangleMesh(SQUARE, HALVES)
    with pytest.raises(ValueError, match="vertices must have 4 rows as before, got 3"):
        mesh.refit(SQUARE[:3])
    with pytest.raises(ValueError, match="vertices must be finite"):
        mesh.refit([*SQUARE[:3], (0, 0, np.inf)])
    assert mesh.version == 0
    np.testing.assert_array_equal(mesh.vertices, SQUARE)


def neighbors_one_by_one(vertices, faces):
    """Return welded, across and rings of every vertex, from dictionaries."""
    lowest: dict[tuple[float, ...], int] = {}
    welded = [lowest.setdefault(tuple(place + 0.0), k) for k, place in enumerate(vertices)]
    sides: dict[frozenset[int], list[int]] = {}
    rings: list[set[int]] = [set() for _ in vertices]
    for number, face in enumerate(faces):
        corners = [welded[k] for k in face]
        for k in range(3):
            one, two = corners[k], corners[(k + 1) % 3]
            if one != two:
                rings[one].add(two)
                rings[two].add(one)
            if len(set(corners)) == 3:
                sides.setdefault(frozenset((one, two)), []).append(number)
    across = np.full((len(faces), 3), -1)
    for number, face in enumerate(faces):
        corners = [welded[k] for k in face]
        if len(set(corners)) == 3:
            for k in range(3):
                there = sides[frozenset((corners[k], corners[(k + 1) % 3]))]
                others = [other for other in there if other != number]
                across[number, k] = -2 if len(others) > 1 else (others or [-1])[0]
    return welded, across.tolist(), [sorted(ring) for ring in rings]


def check_neighbors(vertices, faces):
    found = TriangleMesh(vertices, faces).neighbors
    welded, across, rings = neighbors_one_by_one(np.asarray(vertices), np.asarray(faces))
    assert found.welded.tolist() == welded
    assert found.across.tolist() == across
    parts = np.split(found.ring, found.ring_offsets[1:-1])
    assert [part.tolist() for part in parts] == rings
    for values in found:
        assert values.dtype == np.int32


def test_neighbors(case):
    check_neighbors(*case)


@given(seed=st.integers(0, 1000), corners=st.integers(3, 12), count=st.integers(1, 40))
@examples(60)
def test_neighbors_of_any_faces(seed, corners, count):
    """Faces with a corner twice, crowded edges, vertices at one position, and -0."""
    rng = np.random.default_rng(seed)
    vertices = rng.integers(-1, 2, (corners, 3)) * rng.choice([-0.0, 1.0], (corners, 1))
    check_neighbors(vertices, rng.integers(corners, size=(count, 3)))


def test_closed_meshes_have_no_border():
    for name in ("sphere", "torus"):
        across = TriangleMesh(*MESHES[name]).neighbors.across
        assert across.min() >= 0


def test_welding_survives_keys_that_collide(monkeypatch):
    vertices, _ = MESHES["grid"]
    vertices = np.vstack([vertices, vertices[::-1]])
    expected = mesh_neighbors.weld(vertices)
    monkeypatch.setattr(mesh_neighbors, "_place_keys", lambda places: np.zeros(len(places)))
    assert mesh_neighbors.weld(vertices).tolist() == expected.tolist()

"""No ray slips through a mesh between two triangles, at an edge or at a corner."""

import os

import numpy as np
import pytest
from numpy.typing import NDArray

import terrain_physics as tp
from tests.helpers.strategies import Array, rotation_from
from tests.oracles.plane import in_triangle

pytestmark = pytest.mark.kernels

Faces = NDArray[np.int64]
COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
RAYS = 100_000 if COMPILED else 400


def nearest(origins: Array, directions: Array, vertices: Array, faces: Faces) -> Array:
    """Return the distance to the nearest face of a mesh, NaN where all are missed."""
    best = np.full(len(origins), np.nan)
    for face in faces:
        found = tp.rows.raycast_triangle(origins, directions, vertices[face][None])
        best = np.fmin(best, found)
    return best


def ball(rng: np.random.Generator) -> tuple[Array, Faces]:
    """Return a closed mesh around the origin: an octahedron, divided, its corners moved."""
    vertices = [np.array(v, dtype=float) for v in np.r_[np.eye(3), -np.eye(3)]]
    faces = [
        (x, y, z) if (x < 3) ^ (y < 4) ^ (z < 5) else (x, z, y)
        for x in (0, 3)
        for y in (1, 4)
        for z in (2, 5)
    ]
    middles: dict[tuple[int, int], int] = {}

    def middle(i: int, j: int) -> int:
        if (key := (min(i, j), max(i, j))) not in middles:
            middles[key] = len(vertices)
            vertices.append((vertices[i] + vertices[j]) / np.linalg.norm(vertices[i] + vertices[j]))
        return middles[key]

    divided = []
    for a, b, c in faces:
        ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
        divided += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    factors = rng.uniform(0.5, 1.5, (len(vertices), 1))
    return np.array(vertices) * factors, np.array(divided)


def cube() -> tuple[Array, Faces]:
    """Return the cube from -1 to 1, each side of eight triangles: many in one plane."""
    vertices: list[tuple[float, ...]] = []
    faces = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            start = len(vertices)
            vertices += [tuple(np.roll([side, u, v], axis)) for u in (-1, 0, 1) for v in (-1, 0, 1)]
            for i in (0, 1, 3, 4):
                a, b, c, d = (start + k for k in (i, i + 1, i + 4, i + 3))
                faces += [(a, b, c), (a, c, d)]
    return np.array(vertices), np.array(faces)


def aims(rng: np.random.Generator, vertices: Array, faces: Faces, count: int) -> Array:
    """Return points of a mesh: corners, and on edges, some in the middle."""
    face = faces[rng.integers(len(faces), size=count)]
    turn = rng.integers(3, size=count)
    rows = np.arange(count)
    first, second = vertices[face[rows, turn]], vertices[face[rows, (turn + 1) % 3]]
    share = rng.choice([0.0, 0.0, 0.5, 0.25, np.nan], size=count)
    share = np.where(np.isnan(share), rng.uniform(0, 1, count), share)[:, None]
    return np.asarray(first + share * (second - first))


@pytest.mark.parametrize("shape", ["ball", "cube"])
@pytest.mark.parametrize(
    ("size", "stretch", "far"),
    [(1.0, 1.0, 0.0), (1e-3, 1.0, 10.0), (100.0, 1.0, 1e6), (1.0, 1e5, 0.0), (1e30, 1.0, 0.0)],
)
def test_no_ray_leaves_a_closed_mesh(shape, size, stretch, far):
    """From inside, aimed at corners and edges, along the axes and leaning, turned and not."""
    rng = np.random.default_rng(5)
    vertices, faces = ball(rng) if shape == "ball" else cube()
    for turn in (np.eye(3), rotation_from(rng.normal(size=4))):
        place = far * rng.uniform(-1, 1, 3)
        mesh = (vertices * (size, size * stretch, size)) @ turn.T + place
        middle = np.round(rng.uniform(-1, 1, (RAYS // 20, 3)) * 8) / 64  # some on one axis
        origins = (middle * (size, size * stretch, size)) @ turn.T + place
        directions = aims(rng, mesh, faces, len(origins)) - origins
        found = nearest(origins, directions, mesh, faces)
        assert not np.isnan(found).any()
        # Aimed at a point of the mesh, it ends there, or before it where the mesh is not convex.
        lengths = np.linalg.norm(directions, axis=1)
        reach = np.abs(mesh - place).max()
        assert (found <= lengths + 1e-9 * reach + 1e-9 * far).all()


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("lean", ["none", "axis", "any"])
def test_no_ray_passes_a_grid(lean, far):
    """Downwards through rough ground, exactly at its corners and edges."""
    rng = np.random.default_rng(6)
    side = 9
    x, z = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    heights = rng.choice([0.0, 0.0, 0.5, 1.0, np.nan], size=x.shape)
    heights = np.where(np.isnan(heights), rng.uniform(0, 1, x.shape), heights)
    vertices = np.stack([x, heights, z], axis=-1).reshape(-1, 3) * (1.0, 1.0, 1.3)
    corners = np.arange(side * side).reshape(side, side)
    d, a = corners[:-1, :-1].ravel(), corners[1:, :-1].ravel()
    c, b = corners[:-1, 1:].ravel(), corners[1:, 1:].ravel()
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    on_border = np.isin(faces, np.r_[corners[[0, -1]].ravel(), corners[:, [0, -1]].ravel()])
    inner = faces[~on_border.any(axis=1)]
    targets = aims(rng, vertices, inner, RAYS // 10)
    back = np.zeros_like(targets)
    back[:, 1] = rng.choice([1.0, 8.0, 64.0], size=len(targets))
    if lean != "none":
        leaning = rng.uniform(-0.3, 0.3, (len(targets), 2)) * back[:, 1:2] / 16
        back[:, 0], back[:, 2] = leaning[:, 0], leaning[:, 1] if lean == "any" else 0.0
    place = far * rng.uniform(-1, 1, 3)
    origins, mesh = targets + back + place, vertices + place
    found = nearest(origins, -back, mesh, faces)
    assert not np.isnan(found).any()


def test_no_ray_passes_a_fan():
    """At the corner that many thin triangles share, from all around and from far away."""
    rng = np.random.default_rng(7)
    count = 40
    for turn in (np.eye(3), rotation_from(rng.normal(size=4))):
        angles = np.sort(rng.uniform(0, 2 * np.pi, count))
        angles[1::7] = angles[:-1:7] + 1e-9  # slivers
        rim = np.stack([np.cos(angles), rng.uniform(-0.2, 0.2, count), np.sin(angles)], axis=1)
        vertices = np.r_[[[0.1, 0.3, -0.2]], rim * rng.uniform(1, 3, (count, 1))] @ turn.T
        faces = np.array([(0, i + 1, (i + 1) % count + 1) for i in range(count)])
        aside = rng.uniform(-0.3, 0.3, (RAYS // 40, 2))
        aside[: len(aside) // 4] = 0.0
        back = np.c_[aside[:, 0], np.ones(len(aside)), aside[:, 1]] @ turn.T
        back *= rng.choice([1e-3, 1.0, 1e6], size=(len(back), 1))
        found = nearest(vertices[0] + back, -back, vertices, faces)
        lengths = np.linalg.norm(back, axis=1)
        np.testing.assert_allclose(found, lengths, rtol=1e-9, atol=1e-9)


def test_both_sides_of_an_edge_agree():
    """Turning a triangle's corners round changes nothing but the last bits of a distance."""
    rng = np.random.default_rng(8)
    count = RAYS // 4
    corners = rng.integers(-2, 3, (count, 3, 3)).astype(float)
    origins = rng.integers(-3, 4, (count, 3)).astype(float)
    weights = rng.integers(0, 3, (count, 3)).astype(float)
    target = np.einsum("nk,nkd->nd", weights, corners)
    directions = target - origins * weights.sum(axis=1, keepdims=True)
    directions[~directions.any(axis=1)] = (0, 1, 0)
    found = tp.rows.raycast_triangle(origins, directions, corners)
    assert np.isfinite(found).sum() > count // 4
    for order in ([1, 2, 0], [0, 2, 1]):
        other = tp.rows.raycast_triangle(origins, directions, corners[:, order])
        np.testing.assert_array_equal(np.isnan(other), np.isnan(found))
        # A ray in the triangle's plane, but for rounding, hits anywhere between the borders.
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        facing = (across * directions).sum(axis=1) != 0.0
        np.testing.assert_allclose(other[facing], found[facing], rtol=1e-14, atol=1e-14)


def test_along_an_axis_hits_are_exact():
    """Where nothing is sheared, a ray hits just the triangles that hold its point of the plane."""
    rng = np.random.default_rng(12)
    count = RAYS // 50
    slopes = rng.uniform(1, 2, (count, 1))
    x = rng.uniform(-1, 1, (count, 3)) + rng.choice([0.0, 0.3], (count, 1))
    corners = np.stack([x, x * slopes, rng.uniform(1, 3, x.shape)], axis=2)  # thin as rounding is
    wide = rng.integers(count, size=count // 2)
    corners[wide, 0, 0] = rng.integers(-2, 3, len(wide)) / 2
    corners[wide, 1, :2] = 0.0
    for axis in range(3):
        turned = np.roll(corners, axis + 1, axis=2)
        found = tp.rows.raycast_triangle([(0, 0, 0)], [np.eye(3)[axis]], turned)
        expected = [in_triangle((0.0, 0.0), *plane) for plane in corners[:, :, :2].tolist()]
        assert (~np.isnan(found)).tolist() == expected
    assert 0.2 < np.mean(expected) < 0.9


def test_seen_edge_on_a_hit_stays_on_the_triangle():
    """Rays in a triangle's plane, but for rounding: no hit before its corners or past them."""
    rng = np.random.default_rng(11)
    count = RAYS // 2
    directions, aside = rng.normal(size=(2, count, 3))
    weights = rng.uniform(-1, 1, (count, 3, 1)) * 10.0 ** rng.integers(-16, 1, (count, 1, 1))
    along = rng.uniform(1, 3, (count, 3, 1))
    corners = along * directions[:, None] + weights * aside[:, None]
    found = tp.rows.raycast_triangle([(0, 0, 0)], directions, corners)
    units = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    places = np.einsum("nkd,nd->nk", corners, units)
    hit = ~np.isnan(found)
    assert 0.1 < hit.mean() < 0.9
    # A corner aside is a little nearer along the ray than along the axis on which it runs most.
    slack = 2 * np.abs(weights).max(axis=(1, 2)) * np.linalg.norm(aside, axis=1) + 1e-14
    near, far = places.min(axis=1) - 1e-12, places.max(axis=1) + 1e-12
    assert (found[hit] >= (near - slack)[hit]).all()
    assert (found[hit] <= (far + slack)[hit]).all()

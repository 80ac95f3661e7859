"""Answers of maps and meshes are those of each of their triangles asked alone, to the bit."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import (
    AABB,
    OBB,
    Boxes,
    Capsule,
    Capsules,
    HeightMap,
    Sphere,
    TriangleMesh,
    rows,
)
from terrain_physics._kernels.mesh.parts import Skin
from terrain_physics._kernels.mesh.sweeps import touch_of_skin
from terrain_physics._kernels.surface.shapes import NO_TURN, box_body, capsule_body, sphere_body
from terrain_physics._kernels.surface.sweep import split_motion, travel
from tests.helpers.meshes import MESHES, lattice
from tests.helpers.surfaces import own_triangles, surface_contacts
from tests.oracles.deepest import deepest_rows, is_in_map

Floats = NDArray[np.float64]

DRAW = np.random.default_rng(8)
LAND = DRAW.uniform(0, 2, (12, 14)).astype(np.float32)
HOLED = np.where(DRAW.random(LAND.shape) < 0.1, np.nan, LAND)

MAPS = {
    "plain": lambda: HeightMap(LAND),
    "open, far": lambda: HeightMap(
        LAND, border="open", diagonal="shortest", cell_size=(0.7, 1.3), origin=(1e6, -3e3, -1e6)
    ),
    "holes": lambda: HeightMap(
        HOLED, diagonal="alternating", holes=DRAW.random((11, 13)) < 0.1, height_scale=-0.5
    ),
    "level": lambda: HeightMap(np.zeros((8, 5)), diagonal=DRAW.random((7, 4)) < 0.5),
    "steps": lambda: HeightMap(np.round(LAND), diagonal="b-d"),
    "cliffs": lambda: HeightMap(LAND * 500, cell_size=0.5),
    "huge map": lambda: HeightMap(LAND, cell_size=1e5, height_scale=1e5),
    "tiny map": lambda: HeightMap(LAND, cell_size=1e-9, height_scale=1e-9),
    "one cell": lambda: HeightMap(LAND[:2, :2], border="open"),
}
ALL_MESHES = MESHES | {"lattice": lattice(np.random.default_rng(5), 120)}


class Case(NamedTuple):
    """A surface, and how large what is asked of it is."""

    ground: Any
    corners: Floats
    """Of triangles: of a map those within its borders."""
    size: float

    def near(self, lower: Floats, upper: Floats) -> tuple[Any, Floats]:
        """Return (ids, corners) of all triangles that a box may touch."""
        if isinstance(self.ground, TriangleMesh):
            return np.arange(len(self.corners)), self.corners
        aside = 0.5 * min(self.ground.cell_size)
        found = self.ground.triangles_in(AABB(lower - aside, upper + aside), margin=0.0)
        return found.ids, found.vertices

    def contacts(self, shapes: Any) -> Any:
        if isinstance(self.ground, TriangleMesh):
            return self.ground.contacts(shapes)
        return surface_contacts(self.ground, shapes)

    def places(self, draw: np.random.Generator, count: int) -> Floats:
        """Return places on vertices, edges and faces, and near them, or beside a map."""
        weights = draw.dirichlet((1, 1, 1), count)
        weights[::3], weights[1::3] = (1, 0, 0), (0.5, 0.5, 0)
        corners = self.corners[draw.integers(len(self.corners), size=count)]
        found: Floats = (corners * weights[:, :, np.newaxis]).sum(axis=1)
        found[1::2] += self.size * draw.normal(size=found[1::2].shape)
        found[::5, 1] += np.round(self.size)
        return found


def case_of(name: str) -> Case:
    if name in ALL_MESHES:
        vertices, faces = ALL_MESHES[name]
        size = 0.1 * float(np.ptp(vertices, axis=0).max())
        return Case(TriangleMesh(vertices, faces), vertices[faces], size)
    land = MAPS[name]()
    return Case(land, own_triangles(land).vertices, min(land.cell_size))


class Asked(NamedTuple):
    """Shapes, their middles and how far they reach, each alone, and their pushes."""

    many: Any
    middles: Floats
    reach: Floats
    alone: list[Any]
    pushes: Callable[[int, Floats, bool], Floats]
    """Out of each of some triangles, of one side or two; NaN where the shape does not touch."""


def balls(case: Case, draw: np.random.Generator) -> Asked:
    places, radii = case.places(draw, 24), draw.uniform(0.0, 2.5, 24) * case.size
    radii[:2], radii[2] = 0.0, 18 * case.size
    radii[3::3] = np.round(2.0 * radii[3::3] / case.size) / 2.0 * case.size
    shapes = np.column_stack([places, radii])
    return Asked(
        shapes, places, np.tile(radii[:, np.newaxis], 3),
        [Sphere(row[:3], row[3]) for row in shapes],
        lambda k, corners, both: rows.intersect_sphere_triangle(
            shapes[k : k + 1], corners, two_sided=both
        ),
    )  # fmt: skip


def capsules(case: Case, draw: np.random.Generator) -> Asked:
    starts = case.places(draw, 16)
    ends = starts + draw.uniform(-2.0, 2.0, (16, 3)) * case.size
    ends[0] = starts[0]
    shapes = np.column_stack([starts, ends, draw.uniform(0.0, 0.8, 16) * case.size])
    reach = 0.5 * np.abs(ends - starts) + shapes[:, 6:]
    return Asked(
        Capsules(shapes), 0.5 * starts + 0.5 * ends, reach,
        [Capsule(row[:3], row[3:6], row[6]) for row in shapes],
        lambda k, corners, both: rows.intersect_capsule_triangle(
            shapes[k : k + 1], corners, two_sided=both
        ),
    )  # fmt: skip


def _of_boxes(centers: Floats, halves: Floats, turns: Floats) -> Asked:
    pairs = zip(centers, halves, turns, strict=True)
    return Asked(
        Boxes(centers, halves, turns), centers, (np.abs(turns) @ halves[:, :, None])[:, :, 0],
        [OBB(*row) for row in pairs],
        lambda k, corners, both: rows.intersect_obb_triangle(
            centers[k : k + 1], halves[k : k + 1], turns[k : k + 1], corners, two_sided=both
        ),
    )  # fmt: skip


def turns_of(draw: np.random.Generator, count: int) -> Floats:
    turns, _ = np.linalg.qr(draw.normal(size=(count, 3, 3)))
    turns[:, :, 0] *= np.linalg.det(turns)[:, np.newaxis]
    turns[::4] = np.eye(3)
    return np.asarray(turns)


def boxes(case: Case, draw: np.random.Generator) -> Asked:
    halves = draw.uniform(0.0, 1.2, (16, 3)) * case.size
    return _of_boxes(case.places(draw, 16), halves, turns_of(draw, 16))


def boxes_whose_faces_all_but_tie(case: Case, draw: np.random.Generator) -> Asked:
    """Distances in float32 must not say which face is nearest where float64 says another one."""
    count = 40
    halves = draw.uniform(0.2, 1.2, (count, 1)) * case.size
    halves = halves * 10.0 ** -draw.choice([0, 0, 1, 3, 6], (count, 3))
    # Rotations by all but nothing, up to a thousandth, of axes along the map's or askew.
    x, y, z = (draw.normal(size=(count, 3)) * 10.0 ** -draw.integers(3, 16, (count, 1))).T
    none, one = np.zeros(count), np.ones(count)
    across = np.array([[none, -z, y], [z, none, -x], [-y, x, none]]).transpose(2, 0, 1)
    turns, _ = np.linalg.qr(np.eye(3) + across)
    turns *= np.sign(np.einsum("kii->ki", turns))[:, None, :]
    yaw = draw.choice([0.0, np.pi / 4, np.pi / 2, 0.3], count)
    cosine, sine = np.cos(yaw), np.sin(yaw)
    level = np.array([[cosine, none, sine], [none, one, none], [-sine, none, cosine]])
    return _of_boxes(case.places(draw, count), halves, level.transpose(2, 0, 1) @ turns)


def boxes_that_barely_touch(case: Case, draw: np.random.Generator) -> Asked:
    """A distance of all but nothing has no digits in float32, and in float64 it ties."""
    count = 80
    halves = np.tile(draw.uniform(0.5, 3.0, (count, 1)) * case.size, (1, 3))
    turns, each = turns_of(draw, count), np.arange(count)
    within = draw.uniform(-1.0, 1.0, (count, 3)) * halves
    axis, side = draw.integers(0, 3, count), draw.choice([-1, 1], count)
    depth = halves.max(axis=1) * 10.0 ** -draw.integers(4, 18, count)
    within[each, axis] = side * (halves[each, axis] - depth)
    corners = case.corners[draw.integers(len(case.corners), size=count), 0]
    return _of_boxes(corners - np.einsum("kij,kj->ki", turns, within), halves, turns)


SHAPES = {
    make.__name__.replace("_", " "): make
    for make in (
        balls, capsules, boxes, boxes_whose_faces_all_but_tie, boxes_that_barely_touch,
    )
}  # fmt: skip
FIELDS = ("query", "triangle", "penetration", "normal", "point")


def assert_same(some: Any, others: Any, which: Any, fields: tuple[str, ...] = FIELDS) -> None:
    for name in fields:
        assert getattr(some, name).tobytes() == getattr(others, name)[which].tobytes(), name


@pytest.mark.kernels
@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("name", [*MAPS, *ALL_MESHES])
def test_contacts(name: str, shapes: str) -> None:
    case = case_of(name)
    asked = SHAPES[shapes](case, np.random.default_rng(2))
    found, both = case.contacts(asked.many), isinstance(case.ground, TriangleMesh)
    wanted: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for k, (middle, reach) in enumerate(zip(asked.middles, asked.reach, strict=True)):
        ids, corners = case.near(middle - reach, middle + reach)
        moves = asked.pushes(k, corners, both) if len(corners) else np.empty((0, 3))
        touching = ~np.isnan(moves[:, 0])
        for column, part in zip(wanted, (ids * 0 + k, ids, moves), strict=True):
            column.append(part[touching])
    queries, triangles, moves = map(np.concatenate, wanted)
    assert found.query.tolist() == queries.tolist()
    assert found.triangle.tolist() == triangles.tolist()
    assert found.penetration.tobytes() == (moves + 0.0).tobytes()
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(
        found.normal * found.depth[:, None], moves, atol=1e-12 * found.depth.max(initial=0.0)
    )
    assert_deepest_and_alone(case, asked)


def assert_deepest_and_alone(case: Case, asked: Asked) -> None:
    """Check the deepest of all contacts, their number, and those of some shapes alone."""
    every, (x, y, z) = case.ground.contacts(asked.many), asked.middles.T.copy()
    deepest, is_in = case.ground.contacts(asked.many, keep="deepest"), np.zeros(len(x), np.bool_)
    if isinstance(case.ground, HeightMap):
        is_in = is_in_map(case.ground.height_at(x, z), case.ground.thickness, y)
    rises = every.normal[:, 1]
    assert_same(deepest, every, deepest_rows(every.query, every.depth, rises, is_in))
    counts = np.bincount(every.query, minlength=len(x))
    assert case.ground.contact_counts(asked.many).tolist() == counts.tolist()
    for k in range(0, len(x), 5):
        alone = case.ground.contacts(asked.alone[k])
        if not isinstance(asked.many, Boxes):  # whose rotations are made orthonormal once more
            assert_same(alone, every, every.query == k, FIELDS[1:])
        assert alone.triangle.tolist() == every.triangle[every.query == k].tolist()


@pytest.mark.kernels
def test_contacts_of_large_and_far_shapes() -> None:
    land = HeightMap(np.random.default_rng(1).uniform(0, 3, (40, 70)))
    mesh = TriangleMesh(*MESHES["sphere"])
    on_land = [(1e12, 1.0, -3e11, 2.0), (30.0, 1.0, 20.0, 20.0), (1e9, 1.0, 20.0, 1.5)]
    on_mesh = [
        (0, 0, 1e6, 1e6), (0, 1e12, 0, 1e12), (1e15, 0, 0, 2.0), (1e30, 0, 0, 2e30),
        (0, 0, 0, 1e-30),
    ]  # fmt: skip
    for ground, shapes in ((land, on_land), (mesh, on_mesh)):
        case, found = Case(ground, mesh.vertices[mesh.faces], 1.0), ground.contacts(shapes)
        for k, row in enumerate(np.array(shapes, float)):
            ids, corners = case.near(row[:3] - row[3], row[:3] + row[3])
            moves = rows.intersect_sphere_triangle(row[None], corners, two_sided=ground is mesh)
            touching, own = ~np.isnan(moves[:, 0]), found.query == k
            assert found.triangle[own].tolist() == ids[touching].tolist()
            assert found.penetration[own].tobytes() == moves[touching].tobytes()
        seen = set(found.query.tolist())
        assert seen == ({0, 1, 2} if ground is land else {0, 1, 3})


# Rays, closest points and sweeps of meshes


def rays_at(case: Case, count: int) -> tuple[Floats, Floats]:
    """Return rays at faces, edges and vertices from near and far, along axes, and anywhere."""
    draw = np.random.default_rng(7)
    size = 10.0 * case.size
    aims = case.corners[draw.integers(len(case.corners), size=count)]
    weights = draw.dirichlet((1, 1, 1), count)
    weights[::4], weights[1::4] = (1, 0, 0), (0.5, 0, 0.5)
    aims = (aims * weights[:, :, None]).sum(axis=1)
    ways = draw.normal(size=(count, 3)) * draw.choice([0.3, 2.0, 50.0], (count, 1))
    ways[::5] = 3.0 * np.eye(3)[draw.integers(3, size=len(ways[::5]))]
    origins = aims - size * ways
    ways[::7] = draw.normal(size=ways[::7].shape)
    return origins, ways / np.linalg.norm(ways, axis=1, keepdims=True)


def assert_least(found: Any, alone: list[Any]) -> None:
    """Check that of the distances of all faces the least counts, and name one that has it."""
    each = np.nan_to_num(np.array(alone), nan=np.inf)
    best = each.min(axis=0)
    np.testing.assert_array_equal(np.nan_to_num(found.distance, nan=np.inf), best)
    np.testing.assert_array_equal(each[found.triangle, np.arange(len(best))], best)
    np.testing.assert_array_equal(found.triangle < 0, np.isinf(best))


@pytest.mark.parametrize("name", ALL_MESHES)
def test_rays_and_closest_points(name: str) -> None:
    case = case_of(name)
    origins, ways = rays_at(case, 40)
    faces = [TriangleMesh(corners, [(0, 1, 2)]) for corners in case.corners]
    hits = case.ground.raycast_many(origins, ways)
    alone = [face.raycast_many(origins, ways).distance for face in faces]
    assert_least(hits, alone)
    first = np.nan_to_num(np.array(alone), nan=np.inf).argmin(axis=0)
    np.testing.assert_array_equal(hits.triangle, np.where(hits.triangle < 0, -1, first))
    assert (hits.triangle >= 0).sum() > 10
    missed = hits.triangle < 0
    assert np.isnan(hits.point[missed]).all()
    assert np.isnan(hits.normal[missed]).all()
    normals = case.ground.normals[hits.triangle[~missed]]
    np.testing.assert_array_equal(hits.normal[~missed], normals)
    places = np.concatenate([origins, case.places(np.random.default_rng(3), 40)])
    found = case.ground.closest_points(places)
    assert_least(found, [face.closest_points(places).distance for face in faces])


def test_closest_points_of_long_and_tiny_triangles() -> None:
    """Leaving out triangles by their middles leaves out none that is nearest."""
    draw = np.random.default_rng(12)
    corners = draw.normal(size=(150, 3, 3)) * 10.0 ** draw.integers(-6, 1, (150, 1, 1))
    corners += draw.normal(size=(150, 1, 3)) * draw.choice([0.01, 1.0], (150, 1, 1))
    corners[::9, 2] = corners[::9, 0]  # segments
    mesh = TriangleMesh(corners.reshape(-1, 3), np.arange(450).reshape(-1, 3))
    places = draw.normal(size=(60, 3)) * draw.choice([0.01, 1.0, 30.0, 1e5], (60, 1))
    alone = [TriangleMesh(three, [(0, 1, 2)]).closest_points(places).distance for three in corners]
    assert_least(mesh.closest_points(places), alone)


def bodies_of(case: Case) -> Any:
    """Return shapes, their centers and bodies, and motions: at faces, and some from a face."""
    draw, size = np.random.default_rng(4), 10.0 * case.size
    targets = case.corners[draw.integers(len(case.corners), size=15)].mean(axis=1)
    starts = targets + size * draw.choice([0.3, 1.0, 30.0], (15, 1)) * draw.normal(size=(15, 3))
    starts[::4] = targets[::4]
    motions = (targets - starts) * draw.choice([0.7, 1.0, 3.0], (15, 1))
    motions[::4] = size * np.eye(3)[np.arange(4) % 3]
    motions[1::5, 1] = 0.0
    turns = turns_of(draw, 15)
    for k, (center, motion) in enumerate(zip(starts, motions, strict=True)):
        radius, half = size * draw.choice([0.0, 0.02, 0.1, 0.5]), size * draw.uniform(0.01, 0.2, 3)
        if k % 3 == 0:
            yield Sphere(center, radius), center, sphere_body(radius), motion
        elif k % 3 == 1:
            shape = Capsule(center - half, center + half, radius)
            a, b = np.array(shape.a64), np.array(shape.b64)
            axis = tuple((0.5 * b - 0.5 * a).tolist())
            body = capsule_body(radius, axis, (0.0, 0.0, 0.0), NO_TURN)
            yield shape, 0.5 * a + 0.5 * b, body, motion
        else:
            box = OBB(center, half, turns[k])
            yield box, center, box_body(box.half_extents64, box.rotation64), motion


@pytest.mark.kernels
@pytest.mark.parametrize("name", ALL_MESHES)
def test_sweeps(name: str) -> None:
    case = case_of(name)
    mesh, scratch, touched = case.ground, np.empty((53, 4)), 0
    skin = Skin(0, mesh.vertices, mesh.faces, mesh.neighbors)
    for shape, center, body, motion in bodies_of(case):
        length, direction = split_motion(tuple(motion.tolist()))
        best: Any = (math.inf, -1, (0.0, 0.0, 0.0))
        for face, corners in enumerate(case.corners - center):
            a, b, c = map(tuple, corners.tolist())
            along, normal = travel(body, direction, length, a, b, c, True, scratch)
            if along < math.inf:
                along, normal = touch_of_skin(skin, face, direction, a, b, c, along, normal)
            if along < best[0]:
                best = along, face, normal
        hits = mesh.sweep_many([shape], [motion])
        assert hits.triangle[0] == best[1]
        if best[1] < 0:
            assert np.isnan([hits.distance[0], *hits.normal[0], *hits.point[0]]).all()
            continue
        touched += 1
        assert hits.distance[0] == best[0]
        assert hits.normal[0].tolist() == [x + 0.0 for x in best[2]]
        assert hits.fraction[0] == pytest.approx(best[0] / length, rel=1e-12)
    assert touched >= 4

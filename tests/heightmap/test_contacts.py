"""Contacts with a height map: against an oracle in NumPy, the results as objects, bad input."""

import copy
import math
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from terrain_physics import (
    AABB,
    OBB,
    Boxes,
    Capsule,
    Capsules,
    Ground,
    HeightMap,
    Sphere,
)
from terrain_physics._kernels.heightmap.one_shape import MOST_HALVES
from terrain_physics.surface.results import Contact, Contacts
from tests.helpers.examples import examples
from tests.helpers.grounds import cut, rough
from tests.helpers.heightmaps import MapCase, both, coordinates, maps
from tests.helpers.surfaces import surface_contacts
from tests.oracles import box_hulls as oracle_bulk
from tests.oracles.heightmap_contacts import distance_of_segment, pushes_of_ball

pytestmark = pytest.mark.kernels

FLAT = HeightMap(np.zeros((4, 5)), border="open")
ROUGH = np.random.default_rng(3).uniform(0, 1.5, (6, 7)).astype(np.float32)


@st.composite
def cases(draw):
    """Return a map without cliffs, where rounding is far below the tolerance, and a point near."""
    case = draw(maps(exact=True))
    x, z = draw(coordinates(case, 0)), draw(coordinates(case, 2))
    height = case.land.height_at(x, z)
    y = case.land.origin64[1] if math.isnan(height) else height
    return case, np.array([x, y, z])


def triangles_of(case: MapCase) -> tuple[np.ndarray, np.ndarray]:
    """Return (ids, corners) of the oracle's triangles, in order."""
    pieces = [piece for cell in case.oracle.cells(case.window) for piece in cell]
    corners = np.array([(p.a, p.b, p.c) for p in pieces]).reshape(-1, 3, 3)
    return np.array([p.id for p in pieces], dtype=np.int64), corners


def tolerance(case, center, radius):
    size = radius + max(case.oracle.cell_size) + np.abs(case.oracle.height_scale)
    return 1e-9 * (size + 100) + 16 * float(np.spacing(np.abs(center).max() + size))


def same_triangles(found, ids, distances, limit, slack):
    """Assert that all triangles clearly nearer than a limit are found, and none clearly beyond."""
    sure = sorted(ids[distances < limit - slack].tolist())
    maybe = sorted(ids[distances <= limit + slack].tolist())
    got = sorted(found.triangle.tolist())
    assert len(sure) <= len(got) <= len(maybe)
    assert not set(sure) - set(got)
    assert not set(got) - set(maybe)


@examples(60)
@given(cases(), st.sampled_from([0.0, 0.3, 1.0, 2.5]), st.floats(-1, 1))
def test_balls_touch_what_the_oracle_says(drawn, size, above):
    case, center = drawn
    radius = size * min(case.oracle.cell_size)
    center[1] += above * radius
    found = surface_contacts(case.land, [(*center, radius)])
    ids, corners = triangles_of(case)
    if len(ids) == 0:
        assert len(found) == 0
        return
    distances, _, _ = pushes_of_ball(center, radius, corners)
    same_triangles(found, ids, distances, radius, tolerance(case, center, radius))


@examples(60)
@given(st.integers(0, 10**6), st.floats(0.2, 2.0))
def test_pushes_of_balls_are_those_of_the_oracle(seed, radius):
    rng = np.random.default_rng(seed)
    case = both(ROUGH, diagonal="shortest", border="open")
    center = rng.uniform((0, 0, 0), (6, 1.5, 5))
    found = surface_contacts(case.land, [(*center, radius)])
    ids, corners = triangles_of(case)
    distances, pushes, feet = pushes_of_ball(center, radius, corners)
    same_triangles(found, ids, distances, radius, 1e-9)
    places = [ids.tolist().index(triangle) for triangle in found.triangle.tolist()]
    assert places == sorted(places)
    np.testing.assert_allclose(found.penetration, pushes[places], atol=1e-9)
    np.testing.assert_allclose(found.point, feet[places], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(found.normal * found.depth[:, None], found.penetration, atol=1e-12)


@examples(15)
@given(st.integers(0, 10**6))
def test_capsules_touch_what_the_oracle_says(seed):
    rng = np.random.default_rng(seed)
    case = both(ROUGH, diagonal="alternating", border="open")
    start = rng.uniform((0, 0, 0), (6, 2, 5))
    end, radius = start + rng.uniform(-1, 1, 3), rng.uniform(0.1, 0.6)
    found = surface_contacts(case.land, Capsules([(*start, *end, radius)]))
    ids, corners = triangles_of(case)
    distances = distance_of_segment(start, end, corners)
    same_triangles(found, ids, distances, radius, 1e-7)
    for point, triangle in zip(found.point, found.triangle.tolist(), strict=True):
        own = corners[ids == triangle]
        on_it, _, _ = pushes_of_ball(point, 1.0, own)
        off_axis = np.linalg.norm(np.cross(point - start, end - start)) / np.linalg.norm(
            end - start
        )
        assert on_it[0] < 1e-9
        assert off_axis <= distances[ids == triangle][0] + 1e-7 or off_axis <= radius + 1e-7


def depths_of(centers, half, turn, corners):
    count = len(corners)
    return oracle_bulk.depths(
        centers, np.tile(half, (count, 1)), np.tile(turn, (count, 1, 1)), corners
    )


@examples(15)
@given(st.integers(0, 10**6))
def test_boxes_touch_what_the_oracle_says(seed):
    rng = np.random.default_rng(seed)
    case = both(ROUGH, diagonal="b-d", border="open")
    center, half = rng.uniform((0, 0, 0), (6, 2, 5)), rng.uniform(0.1, 0.9, 3)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn[:, 0] *= np.linalg.det(turn)
    found = surface_contacts(case.land, Boxes([center], [half], [turn]))
    ids, corners = triangles_of(case)
    near = np.linalg.norm(corners - center, axis=2).min(axis=1) < 3
    ids, corners = ids[near], corners[near]
    count = len(ids)
    depths = depths_of(np.tile(center, (count, 1)), half, turn, corners)
    same_triangles(found, ids, -depths, 0.0, 1e-9)
    places = [ids.tolist().index(triangle) for triangle in found.triangle.tolist()]
    # One-sided pushes are no shorter than the shortest of all; and they do part the shapes.
    assert (found.depth >= depths[places] - 1e-9).all()
    moved = depths_of(center + found.penetration, half, turn, corners[places])
    assert (np.abs(moved) < 1e-7).all()
    feet = [pushes_of_ball(center, 1.0, corners[place : place + 1])[2][0] for place in places]
    np.testing.assert_allclose(found.point, np.reshape(feet, (-1, 3)), atol=1e-9)


def test_touching_is_contact_with_a_direction():
    found = FLAT.contacts([(0.25, 1.0, 0.25, 1.0)])
    assert found.triangle.tolist() == [1]
    assert found.depth.tolist() == [0.0]
    assert found.normal.tolist() == [[0.0, 1.0, 0.0]]
    assert found.point.tolist() == [[0.25, 0.0, 0.25]]
    box = FLAT.contacts(AABB((0.1, 0.0, 0.1), (0.2, 1.0, 0.2)))
    assert (box.triangle.tolist(), box.depth.tolist()) == ([1], [0.0])
    assert box.normal.tolist() == [[0.0, 1.0, 0.0]]
    capsule = FLAT.contacts(Capsule((0.2, 0.5, 0.2), (0.2, 1.5, 0.2), 0.5))
    assert (capsule.triangle.tolist(), capsule.depth.tolist()) == ([1], [0.0])
    assert capsule.normal.tolist() == [[0.0, 1.0, 0.0]]
    assert len(FLAT.contacts(Sphere((0.25, math.nextafter(1.0, 2.0), 0.25), 1.0))) == 0


@pytest.mark.parametrize("radius", [0.0, 0.5])
def test_a_center_on_the_ground_leaves_upwards(radius):
    found = FLAT.contacts(Sphere((1.0, 0.0, 1.0), radius))
    assert len(found) == 6
    np.testing.assert_allclose(found.penetration, np.tile((0.0, radius, 0.0), (6, 1)))
    np.testing.assert_allclose(found.normal, np.tile((0.0, 1.0, 0.0), (6, 1)))


def test_a_point_may_touch_a_capsule_s_axis():
    found = FLAT.contacts(Capsule((0.2, 0.0, 0.2), (0.2, 1.0, 0.2), 0.0))
    assert found.normal.tolist() == [[0.0, 1.0, 0.0]]


def test_no_zero_is_negative():
    rng = np.random.default_rng(5)
    spheres = np.round(rng.uniform((0, -1, 0, 0), (4, 1, 3, 2), (50, 4)) * 2) / 2
    for found in (FLAT.contacts(spheres), FLAT.contacts(spheres, keep="deepest")):
        for values in (found.penetration, found.normal, found.point):
            assert not (np.signbit(values) & (values == 0.0)).any()


def test_deepest_is_the_first_of_the_deepest():
    every = FLAT.contacts([(1.0, 0.2, 1.0, 0.5), (9.0, 0.0, 9.0, 0.5), (2.0, -1.0, 2.0, 2.0)])
    deepest = FLAT.contacts(
        [(1.0, 0.2, 1.0, 0.5), (9.0, 0.0, 9.0, 0.5), (2.0, -1.0, 2.0, 2.0)], keep="deepest"
    )
    assert deepest.query.tolist() == [0, 2]
    for query, triangle, depth in zip(deepest.query, deepest.triangle, deepest.depth, strict=True):
        own = every.query == query
        assert depth == every.depth[own].max()
        assert triangle == every.triangle[own][every.depth[own].argmax()]


@pytest.mark.parametrize("border", ["extend", "open"])
@pytest.mark.parametrize("has_materials", [False, True])
def test_a_ball_alone_is_as_one_of_two(border, has_materials):
    rng = np.random.default_rng(6)
    materials = rng.integers(0, 5, (19, 14)).astype(np.uint8) if has_materials else None
    land = HeightMap(rng.normal(0, 1, (20, 15)), materials=materials, border=border)
    for _ in range(300):
        row = (*rng.uniform((-1.5, -2, -1.5), (16, 2, 21)), rng.choice([0.0, 0.4, 2.0, 9.0]))
        two = land.contacts([row, row])
        for alone in (land.contacts([row]), land.contacts(Sphere(row[:3], row[3]))):
            count = len(alone)
            assert len(two) == 2 * count
            for name in ("query", "triangle", "material", "penetration", "normal", "point"):
                first, other = getattr(alone, name), getattr(two, name)[:count]
                assert first.dtype == other.dtype
                np.testing.assert_array_equal(first, other, err_msg=name)
        assert land.contact_counts([row]).tolist() == [count]


def test_materials_are_those_of_the_cells():
    land = HeightMap(np.zeros((3, 3)), materials=[[1, 2], [3, 4]])
    for shapes in ([(0.5, 0.0, 1.5, 0.1)], Sphere((0.5, 0.0, 1.5), 0.1)):
        assert land.contacts(shapes).material.tolist() == [3, 3]
    outside = land.contacts([(5.5, 0.0, 0.5, 0.1)])
    assert (outside.triangle.tolist(), outside.material.tolist()) == ([-1, -1], [2, 2])
    assert land.contacts([(0.5, 0.0, 1.5, 0.1)], keep="deepest").material.tolist() == [3]
    assert FLAT.contacts(Sphere((1, 0, 1), 1)).material.tolist() == [0] * 14
    assert land.contacts(np.empty((0, 4))).material.tolist() == []


def test_results_are_values():
    found = FLAT.contacts([(0.25, 0.5, 0.25, 0.6), (1.25, 0.5, 0.25, 0.6)])
    assert repr(found) == f"<Contacts: {len(found)}>"
    first = next(iter(found))
    assert isinstance(first, Contact)
    sunk, up, below = glm.vec3(0, 0.6 - 0.5, 0), glm.vec3(0, 1, 0), glm.vec3(0.25, 0, 0.25)
    assert tuple(first) == (0, 1, sunk, up, below, 0, None, None)
    assert first.depth == pytest.approx(0.1)
    assert [one.triangle for one in found] == found.triangle.tolist()
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert isinstance(twin, Contacts)
        assert twin.penetration.tolist() == found.penetration.tolist()
        assert twin.triangle.tolist() == found.triangle.tolist()
        assert not twin.point.flags.writeable
    for name in ("query", "triangle", "penetration", "normal", "point", "depth", "material"):
        values = getattr(found, name)
        assert len(values) == len(found)
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0
        with pytest.raises(AttributeError):
            setattr(found, name, values)


def test_shapes_may_be_objects_or_rows():
    ball, capsule = Sphere((1, 0.2, 1), 0.5), Capsule((1, 0.2, 1), (2, 0.4, 1), 0.5)
    turn = glm.quat(glm.vec3(0.3, 0.2, 0.1))
    box, upright = OBB((1, 0.2, 1), (0.5, 0.4, 0.3), turn), AABB((1, -1, 1), (2, 1, 3))
    pairs: list[tuple[Any, Contacts]] = [
        (ball, FLAT.contacts([(1, 0.2, 1, 0.5)])),
        (capsule, FLAT.contacts(Capsules([(1, 0.2, 1, 2, 0.4, 1, 0.5)]))),
        (
            box,
            FLAT.contacts(
                Boxes([box.center64], [box.half_extents64], np.reshape(box.rotation64, (1, 3, 3)))
            ),
        ),
        (upright, FLAT.contacts(Boxes([(1.5, 0, 2)], [(0.5, 1, 1)], [np.eye(3)]))),
    ]
    for shape, rows in pairs:
        assert len(rows) > 0
        for one in (FLAT.contacts(shape), FLAT.contacts([shape]), FLAT.contacts((shape,))):
            # To rounding: the rows' rotations are made orthonormal once more.
            np.testing.assert_allclose(one.penetration, rows.penetration, rtol=0, atol=1e-14)
            assert one.triangle.tolist() == rows.triangle.tolist()
        twice = FLAT.contacts([shape, shape])
        assert twice.query.tolist() == [0] * len(rows) + [1] * len(rows)
        assert FLAT.contact_counts([shape, shape]).tolist() == [len(rows)] * 2
    assert FLAT.contact_counts([(1, 9, 1, 0.5), (1, 0.2, 1, 0.5)]).tolist() == [0, 6]
    assert FLAT.contact_counts(np.empty((0, 4))).tolist() == []
    ends = [(1, 0.2, 1, 2, 0.4, 1, 0.5), (1, 9, 1, 2, 9, 1, 0.5)]
    assert FLAT.contact_counts(Capsules(ends)).tolist() == [len(FLAT.contacts(Capsules(ends))), 0]
    boxes = [(1.5, 0, 2), (1.5, 9, 2)], [(0.5, 1, 1)], [np.eye(3)]
    assert FLAT.contact_counts(Boxes(*boxes)).tolist() == [len(FLAT.contacts(Boxes(*boxes))), 0]
    assert FLAT.contact_counts(Boxes(*boxes), mask=2).tolist() == [0, 0]
    assert len(FLAT.contacts(np.empty((0, 4)))) == len(FLAT.contacts([(1, 9, 1, 0.5)])) == 0


def test_bad_input_is_named():
    ball: Any = Sphere((0, 0, 0), 1)
    with pytest.raises(TypeError, match=r"one kind, got Sphere and, at \[1\], AABB"):
        FLAT.contacts([ball, AABB((0, 0, 0), (1, 1, 1))])
    with pytest.raises(TypeError, match=r"one kind, got Sphere and, at \[2\], 7"):
        FLAT.contacts([ball, ball, 7])
    with pytest.raises(ValueError, match=r"keep must be one of 'all', 'deepest', got 'first'"):
        FLAT.contacts(ball, keep="first")
    with pytest.raises(ValueError, match=r"radius must be >= 0, got -1.0 in shapes\[1\]"):
        FLAT.contacts([(0, 0, 0, 1), (0, 0, 0, -1)])
    with pytest.raises(ValueError, match=r"shapes must have shape \(n, 4\), got \(1, 3\)"):
        FLAT.contacts([(0, 0, 0)])
    with pytest.raises(ValueError, match=r"rows must have shape \(n, 7\)"):
        FLAT.contacts(Capsules([(0, 0, 0, 1)]))
    with pytest.raises(ValueError, match=r"radius must be >= 0, got -2.0 in rows\[0\]"):
        FLAT.contacts(Capsules([(0, 0, 0, 1, 1, 1, -2)]))
    with pytest.raises(ValueError, match="half extent must be >= 0"):
        FLAT.contacts(Boxes([(0, 0, 0)], [(1, -1, 1)], [np.eye(3)]))
    with pytest.raises(ValueError, match="same number of rows or one"):
        FLAT.contacts(Boxes(np.zeros((2, 3)), np.ones((3, 3)), [np.eye(3)]))
    with pytest.raises(ValueError, match=r"rows must have shape \(n, 7\)"):
        FLAT.contact_counts(Capsules([(0, 0, 0, 1)]))
    with pytest.raises(ValueError, match="half extent must be >= 0"):
        FLAT.contact_counts(Boxes([(0, 0, 0)], [(1, -1, 1)], [np.eye(3)]))
    with pytest.raises(ValueError, match="rows must be below 1e\\+38 m"):
        FLAT.contact_counts(Capsules([(0, 0, 0, 1, 1e38, 1, 2)]))
    with pytest.raises(ValueError, match="must be finite"):
        FLAT.contacts([(0, math.nan, 0, 1)])
    with pytest.raises(ValueError, match="threads must be None or an integer >= 1"):
        FLAT.contacts([(0, 0, 0, 1)], threads=0)


def test_shapes_over_too_many_cells_are_refused():
    land = HeightMap(np.zeros((3, 3)))
    shapes = [(0, 0, 0, 1), (0, 0, 0, 5001)]
    for keep in ("all", "deepest"):
        with pytest.raises(ValueError, match="at most 100 million cells, got shape 1"):
            land.contacts(shapes, keep=keep)
    with pytest.raises(ValueError, match="at most 100 million cells, got shape 0"):
        land.contacts(Sphere((0, 0, 0), 1e37))
    with pytest.raises(ValueError, match="at most 100 million cells, got shape 1"):
        land.contact_counts(shapes)
    # Not where there is nothing.
    edge = HeightMap(np.zeros((3, 3)), border="open")
    assert len(surface_contacts(edge, shapes)) == 12
    beside = [8, 10, 16, 20]  # the sides in whose plane the centers are
    assert edge.contacts(shapes).triangle[[4, 5, 6, 7, 16, 17, 18, 19]].tolist() == 2 * beside
    assert len(land.contacts([(0, 1e6, 0, 9e5)])) == 0


@pytest.mark.alone
def test_a_long_query_sees_the_map_as_it_was():
    land = HeightMap(np.zeros((40, 40)))
    spheres = np.column_stack([*np.random.default_rng(1).uniform(0, 39, (2, 300)), np.zeros(300)])
    spheres = np.insert(spheres, 1, 0.1, axis=1)
    spheres[:, 3] = 0.5
    before = land.contacts(spheres)
    stop = threading.Event()

    def edit():
        while not stop.is_set():
            land[:] = 100.0
            land[:] = 0.0

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        counts = {len(land.contacts(spheres, threads=2)) for _ in range(5)}
    finally:
        stop.set()
        editor.join()
    assert counts <= {0, len(before)}


def _land(**options: Any) -> HeightMap:
    heights = rough()
    heights[3, 7] = np.nan
    return HeightMap(heights, holes=np.arange(960).reshape(24, 40) % 37 == 0, **options)


LANDS: dict[str, Any] = {
    "open": lambda: _land(border="open"),
    "extended, of materials": lambda: _land(
        border="extend", materials=np.arange(960).reshape(24, 40) % 7
    ),
    "small cells, far away": lambda: _land(
        diagonal="alternating", cell_size=(0.3, 0.7), origin=(1e5, 40.0, -3e6), border="extend"
    ),
    "tiles": lambda: Ground(cut(rough(), (0, 10, 24), (0, 13, 40), cell_size=0.5).tiles),
}


@pytest.mark.parametrize("name", LANDS)
@pytest.mark.parametrize("keep", ["all", "deepest"])
def test_one_shape_is_answered_as_in_a_batch(name, keep):
    """One alone goes another way: shapes of few cells, of many, too far away, and exact touches."""
    land = LANDS[name]()
    x, y, z = getattr(land, "origin64", (0.0, 0.0, 0.0))
    cell = 0.5 if isinstance(land, Ground) else min(land.cell_size)
    rng = np.random.default_rng(7)
    count, seen = 60, set()
    xs, zs = x + cell * rng.uniform(-4, 44, count), z + cell * rng.uniform(-4, 28, count)
    ys = np.nan_to_num(land.height_at(xs, zs), nan=y) + rng.normal(0, 0.4, count)
    places = np.stack([xs, ys, zs], axis=1)
    sizes = cell * 10 ** rng.uniform(-1.5, 1.1, count)
    places[0], sizes[0] = (x + 3 * cell, land.height_at(x + 3 * cell, z) + 1.0, z), 1.0
    turns, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    turns[:, :, 0] *= np.linalg.det(turns)[:, None]
    ends = places + sizes[:, None] * rng.normal(size=(count, 3))
    halves = sizes[:, None] * rng.uniform(0.1, 1.0, (count, 3))
    shapes: dict[str, list[Any]] = {
        "ball": [Sphere(*row) for row in zip(places, sizes, strict=True)],
        "capsule": [Capsule(*row) for row in zip(places, ends, 0.3 * sizes, strict=True)],
        "box": [OBB(*row) for row in zip(places, halves, turns, strict=True)],
        "upright box": [AABB(c - h, c + h) for c, h in zip(places, halves, strict=True)],
    }
    for kind, those in shapes.items():
        many = land.contacts(those, keep=keep)
        for i, shape in enumerate(those):
            here, alone = many.query == i, land.contacts(shape, keep=keep)
            assert not alone.query.any()
            for field in ("triangle", "penetration", "normal", "point", "depth", "material"):
                expected = getattr(many, field)[here]
                assert getattr(alone, field).tobytes() == expected.tobytes(), (kind, i, field)
            seen.add((kind, min(len(alone), 2), len(alone) > MOST_HALVES))
    assert seen >= {(kind, n, False) for kind in shapes for n in (0, 1 if keep == "deepest" else 2)}
    assert keep == "deepest" or (("ball", 2, True) in seen and ("box", 2, True) in seen)

"""Contacts with a map's surface are those of the pair functions with every triangle, to the bit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import terrain_physics as tp
from terrain_physics import (
    AABB,
    Capsule,
    HeightMap,
    Sphere,
    Triangle,
)
from terrain_physics._kernels.geometry.capsule_triangle import capsule_triangle
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import corner_places
from terrain_physics._kernels.heightmap.grid import half_corners
from terrain_physics.surface import contacts
from terrain_physics.surface.contact_buffer import ContactRoom
from tests.helpers.examples import examples
from tests.helpers.heightmaps import boxes, coordinates, maps
from tests.helpers.surfaces import surface_contacts, surface_of
from tests.oracles.deepest import deepest_rows, is_in_map

pytestmark = pytest.mark.kernels

RNG = np.random.default_rng(8)
LAND = RNG.uniform(0, 2, (12, 14)).astype(np.float32)
HOLED = np.where(RNG.random(LAND.shape) < 0.1, np.nan, LAND)

MAPS = {
    "plain": lambda: HeightMap(LAND),
    "open, far": lambda: HeightMap(
        LAND, border="open", diagonal="shortest", cell_size=(0.7, 1.3), origin=(1e6, -3e3, -1e6)
    ),
    "holes": lambda: HeightMap(
        HOLED, diagonal="alternating", holes=RNG.random((11, 13)) < 0.1, height_scale=-0.5
    ),
    "level": lambda: HeightMap(np.zeros((8, 5)), diagonal=RNG.random((7, 4)) < 0.5),
    "steps": lambda: HeightMap(np.round(LAND), diagonal="b-d"),
    "cliffs": lambda: HeightMap(LAND * 500, cell_size=0.5),
    "huge": lambda: HeightMap(LAND, cell_size=1e5, height_scale=1e5),
    "tiny": lambda: HeightMap(LAND, cell_size=1e-9, height_scale=1e-9),
    "one cell": lambda: HeightMap(LAND[:2, :2], border="open"),
}


def places(land, rng, count, reach):
    """Return points near the surface, on and beside the map; some on samples and lines."""
    size_x, size_z = land.cell_size
    rows, columns = land.cell_count
    x, z = rng.uniform(-3, columns + 3, count), rng.uniform(-3, rows + 3, count)
    x[::3], z[::4] = np.round(x[::3] * 2) / 2, np.round(z[::4] * 2) / 2
    x, z = land.origin64[0] + x * size_x, land.origin64[2] + z * size_z
    y = land.height_at(x, z)
    y = np.where(np.isnan(y), land.origin64[1], y) + rng.uniform(-1, 1, count) * reach
    y[::7] = land.origin64[1]
    return np.column_stack([x, y, z])


def brute(land, lowers, uppers, pushes):
    """Return (queries, ids, penetrations) by the pair function with all triangles around."""
    slack = 0.5 * min(land.cell_size)
    found = []
    for i, (lower, upper) in enumerate(zip(lowers, uppers, strict=True)):
        near = land.triangles_in(AABB(lower - slack, upper + slack), margin=0)
        if len(near):
            moves = pushes(i, near.vertices)
            touching = ~np.isnan(moves[:, 0])
            found.append((np.full(touching.sum(), i), near.ids[touching], moves[touching]))
    if not found:
        return np.empty(0, int), np.empty(0, int), np.empty((0, 3))
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))


def assert_same(contacts, expected):
    queries, ids, moves = expected
    assert contacts.query.tolist() == queries.tolist()
    assert contacts.triangle.tolist() == ids.tolist()
    assert contacts.penetration.tobytes() == moves.tobytes()
    np.testing.assert_allclose(np.linalg.norm(contacts.normal, axis=1), 1.0, atol=1e-12)


def deepest_of(land, contacts, centers):
    """Return where the deepest contact of each query is."""
    surface = land.height_at(centers[:, 0], centers[:, 2])
    inside = is_in_map(surface, land.thickness, centers[:, 1])
    return deepest_rows(contacts.query, contacts.depth, contacts.normal[:, 1], inside)


def balls_of(land, seed, count):
    rng = np.random.default_rng(seed)
    radii = rng.uniform(0, 2.5, count) * min(land.cell_size)
    radii[:2] = 0.0
    radii[2] = 18 * min(land.cell_size)
    centers = places(land, rng, count, radii)
    return np.column_stack([centers, radii])


@pytest.mark.parametrize("kind", MAPS)
def test_balls(kind):
    land = MAPS[kind]()
    balls = balls_of(land, 1, 40)
    centers, radii = balls[:, :3], balls[:, 3:]
    expected = brute(
        land,
        centers - radii,
        centers + radii,
        lambda i, corners: tp.rows.intersect_sphere_triangle(balls[i : i + 1], corners),
    )
    alone, every = surface_contacts(land, balls), land.contacts(balls)
    assert_same(alone, expected)
    counts = surface_of(land).contact_counts(balls)
    assert counts.tolist() == np.bincount(expected[0], minlength=40).tolist()
    deepest, kept = land.contacts(balls, keep="deepest"), deepest_of(land, every, centers)
    for name in ("query", "triangle", "penetration", "normal", "point"):
        assert getattr(deepest, name).tobytes() == getattr(every, name)[kept].tobytes()
    for i in range(0, 40, 4):
        alone, own = land.contacts(Sphere(centers[i], radii[i, 0])), every.query == i
        for name in ("triangle", "penetration", "normal", "point"):
            assert getattr(alone, name).tobytes() == getattr(every, name)[own].tobytes()


def boxes_of(land, seed, count):
    rng = np.random.default_rng(seed)
    half = rng.uniform(0, 1.2, (count, 3)) * min(land.cell_size)
    turns, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    turns[:, :, 0] *= np.linalg.det(turns)[:, None]
    turns[::4] = np.eye(3)
    return places(land, rng, count, half[:, 1]), half, np.round(turns, 14)


@pytest.mark.parametrize("kind", MAPS)
def test_boxes(kind):
    land = MAPS[kind]()
    centers, half, turns = boxes_of(land, 2, 24)
    reach = (np.abs(turns) @ half[:, :, None])[:, :, 0]
    expected = brute(
        land,
        centers - reach,
        centers + reach,
        lambda i, corners: tp.rows.intersect_obb_triangle(
            centers[i : i + 1], half[i : i + 1], turns[i : i + 1], corners
        ),
    )
    assert_same(surface_contacts(land, tp.Boxes(centers, half, turns)), expected)
    every = land.contacts(tp.Boxes(centers, half, turns))
    deepest = land.contacts(tp.Boxes(centers, half, turns), keep="deepest")
    kept = deepest_of(land, every, centers)
    assert deepest.triangle.tolist() == every.triangle[kept].tolist()
    assert deepest.penetration.tobytes() == every.penetration[kept].tobytes()


def small_turns(rng, count):
    """Return rotations by all but nothing, up to a thousandth, of axes along the map's or askew."""
    around = rng.normal(size=(count, 3)) * 10.0 ** -rng.integers(3, 16, (count, 1))
    x, y, z = around.T
    none = np.zeros(count)
    cross = np.array([[none, -z, y], [z, none, -x], [-y, x, none]]).transpose(2, 0, 1)
    turns, _ = np.linalg.qr(np.eye(3) + cross)
    turns *= np.sign(np.einsum("kii->ki", turns))[:, None, :]
    yaw = rng.choice([0.0, np.pi / 4, np.pi / 2, 0.3], count)
    cosine, sine, one = np.cos(yaw), np.sin(yaw), np.ones(count)
    turned = np.array([[cosine, none, sine], [none, one, none], [-sine, none, cosine]])
    return turned.transpose(2, 0, 1) @ turns


@pytest.mark.parametrize("kind", MAPS)
def test_boxes_whose_faces_all_but_tie(kind):
    """Distances in float32 must not say which face is nearest where float64 says another one."""
    land = MAPS[kind]()
    rng = np.random.default_rng(12)
    count = 60
    half = rng.uniform(0.2, 1.2, (count, 1)) * min(land.cell_size)
    half = half * 10.0 ** -rng.choice([0, 0, 1, 3, 6], (count, 3))
    turns = small_turns(rng, count)
    centers = places(land, rng, count, half[:, 1])
    reach = (np.abs(turns) @ half[:, :, None])[:, :, 0]
    expected = brute(
        land,
        centers - reach,
        centers + reach,
        lambda i, corners: tp.rows.intersect_obb_triangle(
            centers[i : i + 1], half[i : i + 1], turns[i : i + 1], corners
        ),
    )
    assert_same(surface_contacts(land, tp.Boxes(centers, half, turns)), expected)


def barely_touching(land, rng, half, turns):
    """Return centers of boxes one side of which is all but at a sample of the map."""
    rows, columns = (int(size) for size in land.cell_count)
    row, column = rng.integers(0, rows + 1, len(half)), rng.integers(0, columns + 1, len(half))
    x, z = land.origin64[0] + column * land.cell_size[0], land.origin64[2] + row * land.cell_size[1]
    heights = land.height_at(x, z)
    samples = np.column_stack([x, np.where(np.isnan(heights), land.origin64[1], heights), z])
    within = rng.uniform(-1, 1, half.shape) * half
    side = rng.integers(0, 3, len(half)), rng.choice([-1, 1], len(half))
    depth = half.max(axis=1) * 10.0 ** -rng.integers(4, 18, len(half))
    each = np.arange(len(half))
    within[each, side[0]] = side[1] * (half[each, side[0]] - depth)
    return samples - np.einsum("kij,kj->ki", turns, within)


@pytest.mark.parametrize("kind", MAPS)
def test_boxes_that_barely_touch(kind):
    """A distance of all but nothing has no digits in float32, and in float64 it ties."""
    land = MAPS[kind]()
    rng = np.random.default_rng(13)
    count = 200
    half = np.tile(rng.uniform(0.5, 3, (count, 1)) * min(land.cell_size), (1, 3))
    turns, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    turns[:, :, 0] *= np.linalg.det(turns)[:, None]
    centers = barely_touching(land, rng, half, turns)
    reach = (np.abs(turns) @ half[:, :, None])[:, :, 0]
    expected = brute(
        land,
        centers - reach,
        centers + reach,
        lambda i, corners: tp.rows.intersect_obb_triangle(
            centers[i : i + 1], half[i : i + 1], turns[i : i + 1], corners
        ),
    )
    assert_same(surface_contacts(land, tp.Boxes(centers, half, turns)), expected)


@pytest.mark.parametrize("kind", MAPS)
def test_capsules(kind):
    land = MAPS[kind]()
    rng = np.random.default_rng(3)
    size = min(land.cell_size)
    starts = places(land, rng, 16, size)
    ends = starts + rng.uniform(-1, 1, (16, 3)) * 2 * size
    ends[0] = starts[0]
    radii = rng.uniform(0, 0.8, (16, 1)) * size

    def pushes(i, corners):
        rows = []
        for triangle in corners:
            shape = Capsule(starts[i], ends[i], radii[i, 0])
            t = Triangle(*triangle)
            touching, move = capsule_triangle(
                shape.a64, shape.b64, shape.radius, t.a64, t.b64, t.c64, False
            )
            rows.append(move if touching else (np.nan,) * 3)
        return np.array(rows) + 0.0

    lower, upper = np.minimum(starts, ends) - radii, np.maximum(starts, ends) + radii
    found = surface_contacts(land, tp.Capsules(np.column_stack([starts, ends, radii])))
    assert_same(found, brute(land, lower, upper, pushes))


def test_threads_and_chunks_do_not_matter(monkeypatch):
    monkeypatch.setattr(contacts, "_PART", 50)
    land = MAPS["holes"]()
    balls = np.tile(balls_of(land, 4, 30)[3:], (11, 1))
    one, two = land.contacts(balls, threads=1), land.contacts(balls, threads=3)
    for name in ("query", "triangle", "penetration", "normal", "point"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    monkeypatch.setattr(contacts, "_PART", 10**6)
    once = land.contacts(balls)
    assert one.penetration.tobytes() == once.penetration.tobytes()
    assert len(one) == 11 * len(land.contacts(balls[:27]))
    a, b = (land.contacts(balls, threads=n, keep="deepest") for n in (1, 3))
    assert a.triangle.tolist() == b.triangle.tolist()


@pytest.mark.parametrize("order", [1, -1])
def test_parts_may_have_many_more_contacts_than_those_before(monkeypatch, order):
    land = MAPS["plain"]()
    balls = balls_of(land, 5, 40)
    balls = balls[np.argsort(order * balls[:, 3])]
    once = land.contacts(balls)
    monkeypatch.setattr(contacts, "_PART", 3)
    for threads in (1, 3):
        parts = land.contacts(balls, threads=threads)
        for name in ("query", "triangle", "penetration", "normal", "point"):
            assert getattr(parts, name).tobytes() == getattr(once, name).tobytes()


def test_a_part_that_is_refused_keeps_none_waiting(monkeypatch):
    monkeypatch.setattr(contacts, "_PART", 2)
    balls = np.tile([[3.0, 1.0, 3.0, 0.5]], (40, 1))
    balls[[11, 30], 3] = 1e5
    with pytest.raises(ValueError, match="at most 100 million cells, got shape 11"):
        MAPS["plain"]().contacts(balls, threads=3)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_parts_behind_too_many_contacts_wait_for_none(monkeypatch, threads):
    monkeypatch.setattr(contacts, "_PART", 2)
    monkeypatch.setattr("terrain_physics._support.threads._SHORTEST_TASK", 1)
    balls = np.tile([[3.0, 1.0, 3.0, 1.5]], (60, 1))
    land = MAPS["plain"]()
    count = len(land.contacts(balls))
    for most in (0, 1, count // 3, count - 1):
        with pytest.raises(ValueError, match=f"max_results = {most}, got more"):
            land.contacts(balls, threads=threads, max_results=most)
    assert len(land.contacts(balls, threads=threads, max_results=count)) == count


def test_none_waits_for_a_part_that_is_never_begun():
    rows = contacts._ShapeRows(4, 9, ContactRoom())
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(rows.take, 2, 4, 4, 0)
        rows.give_up()
        with pytest.raises(contacts._GivenUpError):
            second.result(10)


def test_large_and_far_shapes():
    land = HeightMap(np.random.default_rng(1).uniform(0, 3, (40, 70)))
    far = [(1e12, 1.0, -3e11, 2.0), (30.0, 1.0, 20.0, 20.0), (1e9, 1.0, 20.0, 1.5)]
    centers, radii = np.array(far)[:, :3], np.array(far)[:, 3:]
    expected = brute(
        land,
        centers - radii,
        centers + radii,
        lambda i, corners: tp.rows.intersect_sphere_triangle(np.array(far)[i : i + 1], corners),
    )
    assert_same(land.contacts(far), expected)
    assert set(expected[0].tolist()) == {0, 1, 2}


@examples(60)
@given(maps(exact=True), st.data())
def test_ties_on_exact_maps(case, data):
    x, z = data.draw(coordinates(case, 0)), data.draw(coordinates(case, 2))
    radius = data.draw(st.sampled_from([0.0, 0.25, 0.5, 1.0]))
    y = case.land.origin64[1] + data.draw(st.integers(-8, 8)) / 4
    ball = np.array([[x, y, z, radius]])
    expected = brute(
        case.land,
        ball[:, :3] - radius,
        ball[:, :3] + radius,
        lambda _, corners: tp.rows.intersect_sphere_triangle(ball, corners),
    )
    assert_same(surface_contacts(case.land, ball), expected)


@examples(60)
@given(maps(), st.data())
def test_triangles_in_many_is_triangles_in(case, data):
    drawn = [data.draw(boxes(case)) for _ in range(3)]
    margin = data.draw(st.sampled_from([0.0, 0.1, 0.5]))
    offsets, ids = case.land.triangles_in_many(
        [box.lower64 for box in drawn], [box.upper64 for box in drawn], margin=margin
    )
    for i, box in enumerate(drawn):
        own = case.land.triangles_in(box, margin=margin)
        assert ids[offsets[i] : offsets[i + 1]].tolist() == own.ids.tolist()
    assert offsets[-1] == len(ids)


def test_triangles_in_many_refuses_bad_input():
    land = MAPS["plain"]()
    with pytest.raises(ValueError, match=r"lowers must be <= uppers, got 1\.0 > 0\.0 in row 1"):
        land.triangles_in_many([(0, 0, 0), (0, 1, 0)], [(1, 1, 1), (1, 0, 1)])
    with pytest.raises(ValueError, match="at most 100 million cells, got box 0"):
        land.triangles_in_many([(0, 0, 0)], [(1e5, 1, 1e5)])
    offsets, ids = land.triangles_in_many(np.empty((0, 3)), np.empty((0, 3)))
    assert (offsets.tolist(), ids.tolist()) == ([0], [])
    one, _ = land.triangles_in_many([(0, 0, 0)], [(1, 9, 1), (2, 9, 2)])
    assert len(one) == 3


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("flipped", [0, 1])
def test_corners_without_branches(flipped, half):
    assert corner_places(flipped, half) == half_corners(bool(flipped), half)

"""Questions to land in tiles of which some are missing: one map of the same samples answers."""

import gc
import threading

import numpy as np
import pytest

from terrain_physics import (
    AABB,
    OBB,
    Boxes,
    Capsule,
    Capsules,
    CharacterGroup,
    Ray,
    Sphere,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics.tiles.questions.tiled_queries import TiledQueries
from tests.helpers.digest import digest
from tests.helpers.examples import rest_is_full, times
from tests.helpers.lattices import one_map
from tests.helpers.tiled_grounds import tiled_ground

SIDE = 64
COUNT = 40


class Case:
    """Land on 3 x 4 tiles, some of them absent, some loaded, and what is asked about it."""

    def __init__(self, seed, missing="load"):
        self.rng = rng = np.random.default_rng(seed)
        size = 3 * SIDE + 1, 4 * SIDE + 1
        rough, steep = rng.choice([0.3, 4.0]), rng.choice([0.05, 0.3])
        z, x = np.meshgrid(*map(np.arange, size), indexing="ij")
        samples = rng.uniform(0, rough, size) + steep * (x + 30 * np.sin(z / 20))
        marks = rng.random((3 * SIDE, 4 * SIDE)) < 0.002 if seed % 2 else None
        self.exists = rng.random((3, 4)) < 0.8
        self.exists[1, 1] = True
        self.ground, self.supply = tiled_ground(
            samples.astype(np.float32), SIDE, missing, exists=self.exists, marks=marks,
            thickness=float(rng.choice([np.inf, 3.0])), origin=(-70.0, 5.0, 33.0),
        )  # fmt: skip
        self.land, self.oracle = self.supply.land, one_map(self.supply)
        if seed % 3 == 0:
            for ground in (self.ground, self.oracle):
                roof = TriangleMesh.box((60, 1, 60), solid=True)
                ground.add(roof, transform=(40.0, 20.0, 100.0))

    def load_some(self):
        """Let random tiles come and go."""
        numbers = self.rng.permutation(np.flatnonzero(self.exists))
        self.land.take(list(self.land.loaded))
        self.supply.fetch(numbers[: self.rng.integers(0, len(numbers))].tolist())

    def places(self, far=6.0):
        """Return random places on the land and a little beside it, some on borders of tiles."""
        rng = self.rng
        x, z = rng.uniform(-80, 196, COUNT), rng.uniform(23, 235, COUNT)
        on = rng.random(COUNT) < 0.2
        x[on] = -70.0 + SIDE * rng.integers(0, 5, on.sum())
        z[on] = np.where(rng.random(on.sum()) < 0.5, 33.0 + SIDE * rng.integers(0, 4), z[on])
        levels = np.nan_to_num(self.oracle.height_at(x, z), nan=8.0)
        return np.column_stack([x, levels + rng.uniform(-1.5, far, COUNT), z])

    def motions(self):
        rng = self.rng
        far = rng.choice([2.0, 30.0, 200.0], (COUNT, 1))
        ways = rng.normal(size=(COUNT, 3)) * (1.0, 0.2, 1.0) * far
        ways[rng.random(COUNT) < 0.3] = (0.0, -9.0, 0.0)
        return ways


def boxes_of(rng, places):
    turns = np.linalg.qr(rng.normal(size=(len(places), 3, 3)))[0]
    turns *= np.sign(np.linalg.det(turns))[:, None, None]
    return Boxes(places, rng.uniform(0.2, 3, (len(places), 3)), turns)


def capsules_of(rng, places):
    ends = places + rng.normal(size=places.shape)
    return Capsules(np.column_stack([places, ends, rng.uniform(0.2, 2, len(places))]))


def spheres_of(rng, places):
    return np.column_stack([places, rng.uniform(0.1, 3, len(places))])


def rays(case):
    places, ways = case.places(30), case.motions()
    longest = case.rng.choice([5.0, 100.0, np.inf], COUNT)
    return lambda ground: ground.raycast_many(places, ways, longest)


def one_ray(case):
    (place, *_), (way, *_) = case.places(30), case.motions()
    longest = float(case.rng.choice([5.0, 100.0, np.inf]))
    return lambda ground: ground.raycast(Ray(place, way), longest)


def heights(case):
    x, _, z = case.places().T
    return lambda ground: (ground.height_at(x, z), ground.normal_at(x, z))


def one_height(case):
    (x, _, z), *_ = case.places()
    return lambda ground: (ground.height_at(x, z), ground.normal_at(x, z))


def one_normal(case):
    (x, _, z), *_ = case.places()
    return lambda ground: ground.normal_at(x, z)


def triangles(case):
    place, size = case.places()[0], case.rng.uniform(0, 40, 3)
    return lambda ground: ground.triangles_in(AABB(place - size, place + size))


def triangles_many(case):
    places, size = case.places()[:9], case.rng.uniform(0, 20, 3)
    return lambda ground: ground.triangles_in_many(places - size, places + size)


def sweeps(make):
    def question(case):
        places = case.places(20)
        shapes, ways = make(case.rng, places), case.motions()
        return lambda ground: ground.sweep_many(shapes, ways)

    return question


def one_sweep(case):
    place, way = case.places(9)[0], case.motions()[0]
    shape = [
        Sphere(place, 1.2), Capsule(place, np.add(place, (0.5, 1, 0)), 0.5), OBB(place, (1, 2, 0.5))
    ][case.rng.integers(3)]  # fmt: skip
    return lambda ground: ground.sweep(shape, way)


def contacts(make):
    def question(case):
        shapes = make(case.rng, case.places(2))
        return lambda ground: (
            ground.contacts(shapes),
            ground.contacts(shapes, keep="deepest"),
            ground.contact_counts(shapes),
            ground.touches(shapes),
        )

    return question


def one_contact(case):
    place = case.places(1)[0]
    ball = Sphere(place, 2.0)
    return lambda ground: (ground.contacts(ball), np.array(ground.touches(ball)))


def closest(case):
    places = case.places(40)
    return lambda ground: ground.closest_points(places)


def one_closest(case):
    place = case.places(40)[0]
    return lambda ground: ground.closest_point(place)


def inside(case):
    places = case.places(3)
    return lambda ground: (ground.contains(places), ground.signed_distance(places))


QUESTIONS = {
    "rays": rays, "one ray": one_ray, "heights": heights, "one height": one_height,
    "one normal": one_normal,
    "triangles": triangles, "triangles_many": triangles_many, "one sweep": one_sweep,
    **{f"sweeps of {make.__name__}": sweeps(make) for make in (spheres_of, capsules_of, boxes_of)},
    **{f"contacts of {make.__name__}": contacts(make) for make in (spheres_of, boxes_of)},
    "one contact": one_contact, "closest": closest, "one closest": one_closest, "inside": inside,
}  # fmt: skip


@pytest.mark.parametrize("seed", rest_is_full(range(30), 6))
def test_answers_are_those_of_one_map(seed):
    case = Case(seed)
    for name, question in QUESTIONS.items():
        for _ in range(3 if name.startswith("one") else 1):
            ask = question(case)
            case.load_some()
            assert digest(ask(case.ground)) == digest(ask(case.oracle)), name


def assert_told(case, hits, starts, ways, most, extents):
    """Assert that hits are unknown where paths come to missing tiles first, and only there."""
    missing = [n for n in np.flatnonzero(case.exists).tolist() if n not in case.land.loaded]
    lower, upper = case.supply.tile_bounds.corners(np.array(missing, np.int64))
    parts = hits.fraction if hasattr(hits, "fraction") else hits.distance
    for k in range(len(starts)):
        exactly, widened = (
            min(
                entry_to(
                    starts[k], ways[k], most[k], low - extents[k] - wide, high + extents[k] + wide
                )
                for low, high in zip(lower, upper, strict=True)
            )
            for wide in (0.0, 1e-9)
        )
        if hits.unknown[k]:
            assert widened - 1e-12 <= parts[k] <= exactly + 1e-12
            assert parts[k] <= most[k]
        elif exactly < np.inf:
            assert parts[k] <= exactly + 1e-9


def entry_to(start, way, most, lower, upper):
    """Return where a path comes to a box; infinite if it does not."""
    begin, end = 0.0, most
    for at, rate, low, high in zip(start, way, lower, upper, strict=True):
        if rate == 0.0:
            end = end if low <= at <= high else -1.0
        else:
            one, other = sorted(((low - at) / rate, (high - at) / rate))
            begin, end = max(begin, one), min(end, other)
    return begin if begin <= end else np.inf


def rows_alike(one, other, rows):
    return digest([values[rows] for values in one]) == digest([values[rows] for values in other])


@pytest.mark.parametrize("seed", rest_is_full(range(20), 4))
def test_what_waits_is_known_or_told_as_unknown(seed):
    case = Case(seed, "wait")
    unknown = 0
    for _ in range(3):
        case.load_some()
        before = dict(case.land.loaded)
        places, ways = case.places(30), case.motions()
        hits, expected = (
            ground.raycast_many(places, ways, 100.0) for ground in (case.ground, case.oracle)
        )
        units = ways / np.sqrt((ways**2).sum(axis=1))[:, None]
        most = np.full(COUNT, 100.0)
        assert_told(case, hits, places, units, most, np.zeros((COUNT, 3)))
        assert rows_alike(hits, expected, ~hits.unknown)
        unknown += hits.unknown.sum()
        shapes = spheres_of(case.rng, places)
        touches, expected = (
            ground.sweep_many(shapes, ways) for ground in (case.ground, case.oracle)
        )
        extents = np.repeat(shapes[:, 3:], 3, axis=1)
        assert_told(case, touches, places, ways, np.ones(COUNT), extents)
        assert rows_alike(touches, expected, ~touches.unknown)
        assert case.land.loaded == before
    assert unknown > 0


@pytest.mark.parametrize("seed", range(3))
def test_one_that_is_unknown_is_as_many_are(seed):
    case = Case(seed, "wait")
    case.load_some()
    places, ways = case.places(30), case.motions()
    hits = case.ground.raycast_many(places, ways, 100.0)
    shapes = spheres_of(case.rng, places)
    touches = case.ground.sweep_many(shapes, ways)
    assert hits.unknown.any()
    assert touches.unknown.any()
    for k in range(COUNT):
        one = case.ground.raycast(Ray(places[k], ways[k]), 100.0)
        same(one, hits, k, ("distance", "point", "normal", "triangle", "material", "unknown"))
        touch = case.ground.sweep(Sphere(places[k], shapes[k, 3]), ways[k])
        same(touch, touches, k, ("fraction", "distance", "normal", "point", "triangle", "unknown"))


def same(one, many, k, names):
    if one is None:
        assert np.isnan(many.distance[k])
        return
    for name in names:
        values = np.asarray(getattr(many, name)[k])
        values = values.astype(np.float32) if values.ndim else values
        assert np.array_equal(np.asarray(getattr(one, name)), values), name


def test_an_unknown_hit_has_no_triangle_and_no_names():
    ground, supply = tiled_ground(np.ones((SIDE + 1, SIDE + 1), np.float32), SIDE, "wait")
    ground.add(TriangleMesh.box((1, 1, 1), material_names=["wood"]), name="crate")
    hit = ground.raycast(Ray((10, 9, 10), (0, -1, 0)))
    assert (hit.unknown, hit.triangle, hit.part, hit.material) == (True, -1, -1, 0)
    assert hit.distance == pytest.approx(8)
    assert (hit.point, hit.normal) == ((10, 1, 10), (0, 0, 0))
    assert hit.material_name is hit.part_name is None
    touch = ground.sweep(Sphere((10, 9, 10), 1), (0, -14, 0))
    assert (touch.unknown, touch.triangle) == (True, -1)
    assert (touch.fraction, touch.distance) == (pytest.approx(0.5), pytest.approx(7))
    assert (touch.point, touch.normal) == ((10, 1, 10), (0, 0, 0))
    assert np.isnan(ground.height_at(10, 10))
    assert not ground.contains((10, 0, 10))
    supply.fetch([0])
    hit = ground.raycast(Ray((10, 9, 10), (0, -1, 0)))
    assert (hit.unknown, hit.distance, hit.part) == (False, 8, 0)


ROW = np.linspace(0, 63, 64 * 8 + 1, dtype=np.float32)
"""Heights along x of a slope over 8 tiles."""


ALONG = Ray((0, 3, 30), (512, 63, 0))
"""Along the slope, in the boxes of all tiles."""


def slope(missing="load", **options):
    return tiled_ground(np.tile(ROW, (SIDE + 1, 1)), SIDE, missing, **options)


def test_a_ray_reads_tiles_in_order_and_no_farther_than_its_hit():
    ground, supply = slope()
    level = Ray((-5, 20.0, 30), (1, 0, 0))
    assert ground.raycast(level).point.x == pytest.approx(20 * 512 / 63)
    assert supply.fetched == [2]  # it is over the boxes of the first two
    ground, supply = slope()
    assert ground.raycast(ALONG) is None
    assert supply.fetched == [*range(8)]
    ground, supply = slope()
    both = ([(0, 3, 30), (600, 20.0, 30)], [ALONG.direction, (-1, 0, 0)])
    assert ground.raycast_many(*both).distance.tolist()[1] == 88  # a side of the last one
    assert supply.fetched == [0, 7, *range(1, 7)]


def test_a_mesh_in_the_way_needs_no_tile():
    for missing in ("load", "wait"):
        ground, supply = slope(missing)
        ground.add(TriangleMesh.box((2, 60, 60)), transform=(50.0, 20.0, 30.0))
        ray, ball = Ray((-5, 20, 30), (1, 0, 0)), Sphere((-5, 20, 30), 1)
        assert ground.raycast(ray).distance == 54
        assert ground.sweep(ball, (500, 0, 0)).distance == 53
        assert ground.raycast_many([ray.origin], [ray.direction]).distance.tolist() == [54]
        assert supply.fetched == []


def test_a_mask_without_the_land_needs_no_tile():
    for missing in ("load", "wait"):
        ground, supply = slope(missing)
        ground.add(TriangleMesh.box((2, 2, 2)), layers=2, transform=(9.0, 90.0, 9.0))
        down = Ray((9, 99, 9), (0, -1, 0))
        assert ground.raycast(down, mask=2).distance == 8
        assert ground.raycast(Ray((100, 99, 9), (0, -1, 0)), mask=2) is None
        assert ground.raycast_many([(100, 99, 9)], [(0, -1, 0)], mask=2).unknown.tolist() == [False]
        assert np.isnan(ground.height_at(100, 9, mask=2))
        assert ground.closest_point((100, 0, 9), mask=2).distance > 90
        assert len(ground.contacts(Sphere((9, 91, 9), 1), mask=2))
        assert supply.fetched == []


def test_a_question_with_a_mask_leaves_nothing_to_collect():
    """What it was asked by is gone at once; other threads may leave what they like."""
    ground, _ = slope("load")
    down = Ray((9, 99, 9), (0, -1, 0))
    found = ground.raycast(down, mask=1)
    gc.collect()
    gc.disable()
    try:
        kept = sum(type(own) is TiledQueries for own in gc.get_objects())
        for _ in range(9):
            assert ground.raycast(down, mask=1) == found
        assert kept == sum(type(own) is TiledQueries for own in gc.get_objects())
    finally:
        gc.enable()


def test_closest_points_read_only_what_may_be_nearer():
    ground, supply = slope()
    assert ground.closest_point((120, 40, 30)).distance < 26
    assert supply.fetched == [2, 1]  # the nearest box first
    assert ground.closest_points([(120, 40, 30), (500, 90, 30)]).triangle[1] > 0
    assert supply.fetched == [2, 1, 7]


def test_edits_widen_the_box_of_a_tile():
    ground, supply = slope("wait")
    level = Ray((10, 40, 30), (1, 0, 0))
    assert not ground.raycast(level, 60.0)
    supply.fetch([1])
    supply.land.edit("heights", np.s_[20:30, 100:110], np.full((10, 10), 70, np.float32))
    supply.land.take([1])
    hit = ground.raycast(level, 60.0)
    assert hit.unknown
    assert hit.distance == pytest.approx(54)
    assert not ground.raycast(Ray((10, 40, 30), (0, 0, 1)), 20.0)


def test_many_rows_are_answered_in_slices_of_bounded_memory():
    ground, supply = slope()
    tiles = ground._queries._tiles
    tiles.most, loaded = 2, []
    fetch = supply.fetch

    def bounded(numbers):
        supply.land.take(sorted({*supply.land.loaded} - {*numbers}))
        fetch(numbers)
        loaded.append(len(supply.land.loaded))

    supply.fetch = bounded
    oracle = one_map(supply)
    x = np.linspace(1, 511, 200)
    assert digest(ground.height_at(x, 30.0)) == digest(oracle.height_at(x, 30.0))
    down = np.column_stack([x, np.full(200, 99.0), np.full(200, 30.0)])
    asked = [g.raycast_many(down, [(0, -1, 0)]) for g in (ground, oracle)]
    assert digest(asked[0]) == digest(asked[1])
    assert max(loaded) == 2
    assert len(loaded) >= 8


def test_what_needs_too_many_tiles_at_once_is_refused():
    ground, supply = slope()
    ground._queries._tiles.most = 4
    with pytest.raises(ValueError, match=r"aabb must reach at most 4 tiles at once .* got 8: ask"):
        ground.triangles_in(AABB((0, 0, 0), (512, 1, 1)))
    with pytest.raises(ValueError, match="shapes must reach at most 4 tiles"):
        ground.contacts(Sphere((256, 0, 30), 200))
    with pytest.raises(ValueError, match="origins must reach at most 4 tiles"):
        ground.raycast_many([ALONG.origin], [ALONG.direction])
    supply.land.take(list(supply.land.loaded))
    with pytest.raises(ValueError, match=r"ray must reach at most 4 tiles at once .* got 5"):
        ground.raycast(ALONG)
    assert len(supply.land.loaded) == 4
    supply.fetch(range(8))
    assert len(ground.triangles_in(AABB((0, 0, 0), (512, 1, 1)))) > 0


@pytest.mark.parametrize("missing", ["load", "wait"])
def test_reports_of_triangles_of_missing_tiles(missing):
    ground, supply = slope(missing)
    supply.materials[:] = 3
    queries, triangle = ground._queries, 2 * (8 * SIDE * 5 + 3 * SIDE + 7)
    found = triangle, 3, True
    assert queries.triangle_at(0, triangle, (0.0, 0.0, 0.0)) == (
        found if missing == "load" else (triangle, 0, False)
    )
    supply.fetch([3])
    assert queries.triangle_at(0, triangle, (0.0, 0.0, 0.0)) == found
    side = 2 * 8 * SIDE * SIDE + 6 * (5 * SIDE) + 2
    assert queries.triangle_at(0, side, (0.0, 0.0, 0.0))[::2] == (side, missing == "load")


@pytest.mark.parametrize("seed", rest_is_full(range(2)))
def test_answers_while_tiles_come_and_go(seed):
    case = Case(seed)
    asked = [(name, question(case)) for name, question in QUESTIONS.items()]
    expected = [digest(ask(case.oracle)) for _, ask in asked]
    tiles, rng, over = (
        np.flatnonzero(case.exists).tolist(),
        np.random.default_rng(seed),
        list[bool](),
    )

    def churn():
        while not over:
            case.land.take(rng.permutation(tiles)[:2].tolist())
            case.supply.fetch([int(rng.choice(tiles))])

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(times(6)):
            for (name, ask), known in zip(asked, expected, strict=True):
                assert digest(ask(case.ground)) == known, name
    finally:
        over.append(True)
        thread.join()


def test_a_question_is_of_one_moment_though_the_land_is_edited_while_tiles_are_read():
    ground, supply = slope()
    fetch, edits = supply.fetch, [5]

    def edited(numbers):
        fetch(numbers)
        if edits:
            heights = np.full((65, 65), edits.pop(), np.float32)
            supply.land.edit("heights", np.s_[0:65, 0:65], heights)

    supply.fetch = edited
    x, z = np.array([10.0, 100.0, 200.0]), np.full(3, 30.0)
    level = ground.height_at(x, z)
    assert level[0] == 5
    assert digest(level) == digest(one_map(supply).height_at(x, z))


def test_sensors_of_characters_tell_what_is_unknown():
    ground, supply = slope("wait")
    supply.fetch([0, 1])
    group = CharacterGroup(ground, SphereCollider(0.5))
    group.add_many("ab", [(90, 20, 30), (120, 20, 30)])
    hits = group.raycast([(0, 0, 0)], [(0, -1, 0), (1, 0, 0)], max_distance=30)
    assert hits.unknown.tolist() == [[False, False], [False, True]]
    assert hits.columns()["unknown"].tolist() == [False, False, False, True]
    assert hits.triangle[1, 1] == -1
    assert np.isnan(group.height_scan([(0, 0), (30, 0)])[:, 1]).tolist() == [False, True]

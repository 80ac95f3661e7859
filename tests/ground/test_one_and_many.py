"""A question about one is that about many, whatever form it is asked in, to the last bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    AABB,
    OBB,
    Boxes,
    Capsule,
    Capsules,
    ContactBuffer,
    Ground,
    HeightMap,
    Ray,
    Sphere,
    Spheres,
    TiledGround,
    TriangleMesh,
)
from terrain_physics._kernels.heightmap.heights import CHUNK
from tests.helpers.grounds import Questions, bits, cut, everything, questions, rough
from tests.helpers.meshes import grid
from tests.helpers.threads import cut_finely
from tests.helpers.tiled_lands import SIDE, TilesOfArrays

CELLS = np.arange(24 * 40).reshape(24, 40)
NAMES = ["grass", "mud", "rock"]


def land(**options: Any) -> HeightMap:
    heights = rough()
    heights[:4] = 0.0
    heights[3, 7] = np.nan
    return HeightMap(heights, holes=CELLS % 37 == 5, **options)


def bumpy(seed: int, place: Any, **options: Any) -> TriangleMesh:
    vertices, faces = grid(rough(14, 18, seed), 1.3)
    return TriangleMesh(vertices + place, faces, **options)


def map_and_meshes() -> Ground:
    parts: list[HeightMap | TriangleMesh] = [
        bumpy(1, (4, 0.5, 3), materials=2, material_names=NAMES),
        land(materials=CELLS % 3, material_names=NAMES, border="open"),
        TriangleMesh.box((4, 3, 4), position=(20, 0, 11)), bumpy(2, (9, 0, 4)),
    ]  # fmt: skip
    return Ground(parts, layers=[1, 2, 3, 5])


def tiles() -> TiledGround:
    samples = np.zeros((SIDE + 1, 2 * SIDE + 1), np.float32)
    samples[:25, SIDE - 20 : SIDE + 21] = rough()
    return TiledGround.open(TilesOfArrays(samples, thickness=3.0, origin=(20.0 - SIDE, 0, 0)))


GROUNDS: dict[str, Callable[[], Any]] = {
    "painted map": lambda: land(border="open", thickness=2.0, materials=CELLS % 7),
    "endless map": lambda: land(diagonal="shortest"),
    "level map": lambda: HeightMap(np.zeros((25, 41)), diagonal="alternating"),
    "mesh": lambda: bumpy(1, (4, 0.5, 3), materials=1),
    "solid mesh": lambda: TriangleMesh.sphere(9.0, subdivisions=3, position=(20, 0, 12)),
    "united maps": lambda: Ground(cut(rough(), (0, 11, 24), (0, 17, 40), reverse=True).tiles),
    "map and meshes": map_and_meshes,
    "tiles": tiles,
}


@pytest.fixture(params=GROUNDS)
def ground(request: pytest.FixtureRequest) -> Any:
    return GROUNDS[request.param]()


def asked_of(count: int, seed: int = 5) -> Questions:
    """Return questions, some at whole numbers, some large, and some at no distance."""
    asked = questions((-4, -3, -4), (44, 3, 28), count, seed)
    for rows in (asked.centers, asked.balls):
        rows[::4, :3] = np.round(2.0 * rows[::4, :3]) / 2.0
    asked.balls[1::9, 3], asked.balls[2::9, 3] = 9.0, 0.0
    asked.directions[::6] = (0.0, -1.0, 0.0)
    return asked


def assert_row(one: Any, many: Any, k: int) -> None:
    """Check that one answer is a row of many, in float32 where it is a vec3."""
    if one is None:
        assert np.isnan(many.distance[k])
        return
    for name in (*many._fields, "part", "material_name", "part_name"):
        row, value = getattr(many, name)[k], getattr(one, name)
        if isinstance(value, glm.vec3):
            np.testing.assert_array_equal(np.asarray(value), row.astype(np.float32))
            assert not np.signbit(row[row == 0.0]).any()
        else:
            assert value == row or np.isnan(row), name


def test_rays(ground: Any) -> None:
    asked = asked_of(1100)  # chunks of vertical rays, mixed ones and the rest of one
    ways = asked.directions
    ways[:600] = (0.0, -1.0, 0.0)
    ways[300:400, 1], ways[500::9] = 3.0, asked.motions[500::9]
    free = ground.raycast_many(asked.centers, ways).distance
    limits = np.nan_to_num(free, nan=7.0)
    limits[1::5] = np.nextafter(limits[1::5], 0.0)
    limits[2::5] *= np.linspace(0.0, 2.0, 220)
    limits[3::5], limits[4::5] = 0.0, np.inf
    found, is_other = ground.raycast_many(asked.centers, ways, limits).distance, free != limits
    expected = np.where(free < limits, free, np.nan)
    np.testing.assert_array_equal(found[is_other], expected[is_other])
    for longest in (limits, np.full(1100, np.inf)):
        hits = ground.raycast_many(asked.centers, ways, longest)
        for k in range(0, 1100, 3):
            assert_row(ground.raycast(Ray(asked.centers[k], ways[k]), longest[k]), hits, k)
    assert 50 < (hits.triangle >= 0).sum()
    down, down_each = [(0.0, -2.0, 0.0)], np.tile((0.0, -2.0, 0.0), (1100, 1))
    shared = ground.raycast_many(asked.centers, down)
    assert bits(shared) == bits(ground.raycast_many(asked.centers, down_each))
    from_one = ground.raycast_many(asked.centers[:1], down, limits)
    reached = np.where(shared.distance[0] <= limits, shared.distance[0], np.nan)
    np.testing.assert_array_equal(from_one.distance, reached)


def test_ways_to_give_a_ray(ground: Any) -> None:
    asked = asked_of(40)
    for place, way in zip(asked.centers, asked.directions, strict=True):
        ray, origin, direction = Ray(place, way), tuple(place.tolist()), glm.dvec3(way)
        for limits in ((), (2.5,)):
            hit = ground.raycast(ray, *limits)
            named: Any = {"max_distance": limits[0]} if limits else {}
            assert ground.raycast(origin, direction, *limits) == hit
            assert ground.raycast(origin=place, direction=direction, **named) == hit
            assert ground.raycast(ray=ray, **named) == hit
            masked = ground.raycast(ray, mask=2, **named)
            assert ground.raycast(place, direction, mask=2, **named) == masked


def shapes_of(asked: Questions) -> dict[str, tuple[Any, list[Any]]]:
    """Return many shapes as rows, and each by itself."""
    balls, capsules = asked.balls, asked.capsules
    boxes = list(zip(asked.centers, asked.halves, asked.turns, strict=True))
    level = [AABB(center - half, center + half) for center, half, _ in boxes]
    return {
        "balls": (balls, [Sphere(row[:3], row[3]) for row in balls]),
        "capsules": (Capsules(capsules), [Capsule(r[:3], r[3:6], r[6]) for r in capsules]),
        "boxes": (
            Boxes(asked.centers, asked.halves, asked.turns),
            [OBB(center, half, turn) for center, half, turn in boxes],
        ),
        "level boxes": (Boxes(asked.centers, asked.halves), level),
    }


KINDS = tuple(shapes_of(asked_of(1)))
FIELDS = ("triangle", "penetration", "normal", "point", "depth", "material", "part")


@pytest.mark.parametrize("kind", KINDS)
def test_contacts(ground: Any, kind: str) -> None:
    rows, shapes = shapes_of(asked_of(60))[kind]
    buffer = ContactBuffer(3)
    for options in ({}, {"mask": 2}):
        for keep in ("all", "deepest"):
            many = ground.contacts(shapes, keep=keep, **options)
            for k, shape in enumerate(shapes):
                alone, own = ground.contacts(shape, keep=keep, **options), many.query == k
                assert not alone.query.any()
                for name in FIELDS:
                    values = getattr(many, name)[own]
                    assert getattr(alone, name).tobytes() == values.tobytes(), (k, name)
            in_buffer = ground.contacts(shapes, keep=keep, out=buffer, **options)
            assert bits(in_buffer) == bits(many)
            found = ground.contacts(rows, keep=keep, **options)
            # To rounding: rotations of rows are made orthonormal once more.
            assert found.triangle.tolist() == many.triangle.tolist()
            np.testing.assert_allclose(found.penetration, many.penetration, rtol=0, atol=1e-13)
        touching = np.isin(range(60), many.query).tolist()
        assert ground.touches(shapes, **options).tolist() == touching
        assert ground.touches(rows, threads=2, **options).tolist() == touching
        assert [ground.touches(one, **options) for one in shapes] == touching
        numbers = [len(ground.contacts(one, **options)) for one in shapes]
        assert ground.contact_counts(shapes, **options).tolist() == numbers
        assert ground.contact_counts(rows, **options).tolist() == numbers


@pytest.mark.parametrize("kind", KINDS)
def test_sweeps(ground: Any, kind: str) -> None:
    asked = asked_of(60)
    rows, shapes = shapes_of(asked)[kind]
    many = ground.sweep_many(shapes, asked.motions)
    for k, shape in enumerate(shapes):
        assert_row(ground.sweep(shape, asked.motions[k]), many, k)
    assert (many.triangle >= 0).any()
    found = ground.sweep_many(rows, asked.motions)
    assert (found.triangle == many.triangle).mean() > 0.95
    np.testing.assert_allclose(found.fraction, many.fraction, rtol=0, atol=1e-12)
    twice = ground.sweep_many(shapes[:1] * 2, asked.motions[:1])
    each = ground.sweep_many(shapes[:1] * 2, asked.motions[[0, 0]])
    assert bits(twice) == bits(each)
    for k, shape in enumerate(shapes[:20]):
        hit, (x, y, z) = ground.sweep(shape, (0, -5, 0)), asked.motions[k]
        assert ground.sweep(shape, (0, -0.125, 0), max_distance=5) == hit
        assert ground.sweep(shape, direction=glm.vec3(0, -2, 0), max_distance=5.0) == hit
        masked = ground.sweep(shape, (0, -5, 0), mask=2)
        assert ground.sweep(shape, (0, -1, 0), max_distance=5, mask=2) == masked
        assert ground.sweep(shape, (x, y, z), max_distance=0) is None
        assert ground.sweep(shape, (0, 0, 0)) is None


def test_forms_of_balls_and_level_boxes(ground: Any) -> None:
    asked = asked_of(30)
    rows, balls = shapes_of(asked)["balls"]
    contacts, sweeps = ground.contacts(rows), ground.sweep_many(rows, asked.motions)
    for form in (Spheres(rows), rows.tolist(), balls, tuple(balls)):
        assert bits(ground.contacts(form)) == bits(contacts)
        assert bits(ground.sweep_many(form, asked.motions)) == bits(sweeps)
    for level, half in zip(shapes_of(asked)["level boxes"][1], asked.halves, strict=True):
        turned = OBB(0.5 * (np.add(level.lower64, level.upper64)), half)
        one, other = ground.contacts(level), ground.contacts(turned)
        np.testing.assert_allclose(one.penetration, other.penetration, rtol=0, atol=1e-12)
        assert one.triangle.tolist() == other.triangle.tolist()


def test_closest_points_heights_and_what_is_inside(ground: Any) -> None:
    asked = asked_of(CHUNK + 77)
    places, (x, _, z) = asked.centers, asked.centers.T.copy()
    found, inside = ground.closest_points(places), ground.contains(places)
    distances = ground.signed_distance(places)
    heights, normals = ground.height_at(x, z), ground.normal_at(x, z)
    for k, place in enumerate(places):
        one = tuple(place.tolist())
        assert ground.contains(glm.dvec3(place)) == ground.contains(one) == inside[k]
        assert ground.signed_distance(one) == distances[k]
        height, normal = ground.height_at(float(x[k]), z[k]), ground.normal_at(x[k], float(z[k]))
        np.testing.assert_array_equal(height, heights[k])
        np.testing.assert_array_equal(normal, glm.vec3(normals[k]))
        if k % 5 == 0:
            assert_row(ground.closest_point(place), found, k)
            assert ground.contains(one, mask=2) == ground.contains([one], mask=2)[0]
    assert np.isfinite(heights).any()
    assert ground.height_at(x[:3, None], z[:4]).shape == (3, 4)
    assert ground.normal_at(x[:3, None], z[:4]).shape == (3, 4, 3)
    for ask in (ground.height_at, ground.normal_at):
        np.testing.assert_array_equal(ask(x, z, threads=1), ask(x, z, threads=3))


def test_triangles_in_boxes(ground: Any) -> None:
    asked = asked_of(30)
    low, high = asked.centers - 2.0 * asked.halves, asked.centers + 2.0 * asked.halves
    for margin in (0.0, 0.5):
        offsets, ids = ground.triangles_in_many(low, high, margin=margin)
        for k in range(30):
            own = ground.triangles_in(AABB(low[k], high[k]), margin=margin)
            assert ids[offsets[k] : offsets[k + 1]].tolist() == own.ids.tolist()
        assert offsets[-1] == len(ids) > 20


@pytest.mark.parametrize("kind", ["painted map", "solid mesh", "united maps", "map and meshes"])
def test_the_number_of_threads_changes_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ground, asked = GROUNDS[kind](), asked_of(300)
    cut_finely(monkeypatch, 7)
    one, three = everything(ground, asked, 1), everything(ground, asked, 3)
    for name, answer in one.items():
        assert bits(answer) == bits(three[name]), name

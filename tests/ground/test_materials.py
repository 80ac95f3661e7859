"""A ground of several parts has one table of materials: equal names are one, others never mix."""

import copy

import numpy as np
import pytest

from terrain_physics import (
    OBB,
    Capsule,
    CapsuleCollider,
    CharacterGroup,
    Ground,
    HeightMap,
    Ray,
    Sphere,
    TriangleMesh,
)
from tests.helpers.characters import FRAME
from tests.helpers.examples import rest_is_full

NAMES = [None, ("grass", "wood", "mud"), ("wood", "grass"), ("ice", "mud", "tar", "wood")]


def random_map(rng, names, *, origin, holes=None):
    count = 4 if names is None else len(names)
    return HeightMap(
        np.zeros((5, 5)),
        origin=origin,
        materials=rng.integers(0, count, (4, 4)),
        material_names=names,
        holes=holes,
    )


def random_mesh(rng, names):
    """Return slabs of two triangles, a little above and below the maps."""
    count = 4 if names is None else len(names)
    low = rng.uniform((0, -0.05, 0), (7, 0.05, 7), (12, 3))
    corners = low[:, None] + np.array([(0, 0, 0), (0, 0, 1.2), (1.2, 0, 0), (1.2, 0, 1.2)])
    faces = [face for k in range(0, 48, 4) for face in ((k, k + 1, k + 2), (k + 1, k + 3, k + 2))]
    return TriangleMesh(
        corners.reshape(-1, 3),
        faces,
        materials=rng.integers(0, count, 24),
        material_names=names,
    )


def random_ground(seed):
    """Return two maps that are united, one that is not, and two meshes, named or not."""
    rng = np.random.default_rng(seed)
    names = [NAMES[k] for k in rng.integers(0, len(NAMES), 5)]
    parts = [
        random_map(rng, names[0], origin=(0, 0, 0)),
        random_mesh(rng, names[1]),
        random_map(rng, names[2], origin=(4, 0, 0)),
        random_map(rng, names[3], origin=(0.3, 0.02, 4.1)),
        random_mesh(rng, names[4]),
    ]
    return Ground(parts)


def named(ground, triangle):
    """Return the name of a triangle's material by its own part, or its number if it has none."""
    part, own = ground.part_of(int(triangle))
    found = ground.parts[part]
    if isinstance(found, HeightMap):
        count = 2 * found.cell_count[0] * found.cell_count[1]
        cell = own // 2 if own < count else (own - count) // 6  # behind triangles are sides
        number = int(found.materials[divmod(cell, found.cell_count[1])])
    else:
        number = int(found.materials[own])
    return number if found.material_names is None else found.material_names[number]


def told(ground, material):
    """Return the same by an answer of the ground."""
    names = ground.material_names or ()
    return names[material] if material < len(names) else int(material) - len(names)


def assert_told(ground, answer):
    triangles, materials = np.atleast_1d(answer.triangle), np.atleast_1d(answer.material)
    assert len(triangles)
    for triangle, material in zip(triangles, materials, strict=True):
        assert told(ground, material) == named(ground, triangle)


@pytest.mark.parametrize("seed", rest_is_full(range(12), 4))
def test_every_answer_tells_the_material_of_its_triangle(seed):
    ground, rng = random_ground(seed), np.random.default_rng(seed)
    places = rng.uniform((0.5, 0, 0.5), (7, 0, 7.5), (20, 3))
    above = np.add(places, (0, 2, 0))
    shapes = [
        lambda x, y, z: Sphere((x, y, z), 0.6),
        lambda x, y, z: Capsule((x, y, z), (x, y + 1, z), 0.5),
        lambda x, y, z: OBB((x, y, z), (0.5, 0.4, 0.6)),
    ]
    hits = ground.raycast_many(above, [(0, -1, 0)])
    is_hit = np.isfinite(hits.distance)
    assert_told(ground, hits._replace(**{k: v[is_hit] for k, v in hits._asdict().items()}))
    assert not hits.material[~is_hit].any()
    assert_told(ground, ground.closest_points(above))
    for point in above:
        hit = ground.raycast(Ray(point, (0.01, -1, 0.02)))
        if hit is not None:
            assert_told(ground, hit)
        assert_told(ground, ground.closest_point(point))
    for shape in shapes:
        low, high = [shape(*place) for place in places], [shape(*place) for place in above]
        assert_told(ground, ground.contacts(low))
        assert_told(ground, ground.contacts(low, keep="deepest"))
        swept = ground.sweep_many(high, [(0, -4, 0)])
        is_met = np.isfinite(swept.distance)
        assert_told(ground, swept._replace(**{k: v[is_met] for k, v in swept._asdict().items()}))
        assert not swept.material[~is_met].any()
        for one, other in zip(low, high, strict=True):
            touched, met = ground.contacts(one), ground.sweep(other, (0, -4, 0))
            if len(touched):
                assert_told(ground, touched)
            if met is not None:
                assert_told(ground, met)


@pytest.mark.parametrize("seed", rest_is_full(range(12), 4))
def test_characters_tell_the_material_of_their_triangle(seed):
    ground, rng = random_ground(seed), np.random.default_rng(seed)
    group = CharacterGroup(ground, CapsuleCollider(0.3, 1.8))
    for key in range(20):
        group.add(key, rng.uniform((0.5, 1, 0.5), (7, 1.2, 7)))
    group.velocities = rng.uniform(-3, 3, (20, 3)) * (1, 0, 1)
    for _ in range(30):
        group.update(FRAME)
        hits = group.hits()
        for triangle, material in zip(hits.triangle, hits.material, strict=True):
            if triangle >= 0:
                assert told(ground, material) == named(ground, triangle)
    reports = [group[key].ground_report() for key in range(20)]
    standing = [report for report in reports if report is not None and report.triangle >= 0]
    assert standing
    for report in standing:
        assert told(ground, report.material) == named(ground, report.triangle)


def test_names_come_in_the_order_of_the_parts():
    rng = np.random.default_rng(0)
    parts = [random_mesh(rng, names) for names in NAMES]
    ground = Ground(parts)
    assert ground.material_names == ("grass", "wood", "mud", "ice", "tar")
    assert copy.deepcopy(ground).material_names == ground.material_names


def test_numbers_stay_where_no_part_has_names():
    rng = np.random.default_rng(0)
    mesh = random_mesh(rng, None)
    lands = [random_map(rng, None, origin=(x, 0, 0)) for x in (40, 50)]
    ground = Ground([mesh, *lands])
    assert ground.material_names is None
    touched = ground.contacts(Sphere(mesh.vertices[0], 0.1))
    assert touched.material.tolist() == mesh.materials[touched.triangle].tolist()


def material_below(ground, along):
    hit = ground.raycast(Ray((along, 9, along), (0, -1, 0)))
    assert hit is not None
    return hit.material


def test_a_bridge_without_a_name_is_not_grass():
    land = HeightMap([[0, 0], [0, 0]], material_names=["grass"])
    bridge = TriangleMesh([(0, 1, 0), (0, 1, 1), (1, 1, 0)], [(0, 1, 2)])
    ground = Ground([land, bridge])
    assert material_below(ground, 0.2) == 1
    assert material_below(ground, 0.9) == 0


def test_numbers_without_names_end_at_255():
    land = HeightMap([[0, 0], [0, 0]], material_names=["grass", "rock"])
    mesh = TriangleMesh([(0, 1, 0), (0, 1, 1), (1, 1, 0)], [(0, 1, 2)], materials=254)
    assert material_below(Ground([land, mesh]), 0.2) == 255


def test_more_names_than_numbers_are_refused():
    flat = [[0, 0], [0, 0]]
    maps = [
        HeightMap(flat, origin=(9 * k, 0, 0), material_names=[f"{k} {n}" for n in range(129)])
        for k in range(2)
    ]
    with pytest.raises(ValueError, match="at most 256 material_names together, got 258"):
        Ground(maps)


def test_numbers_to_paint_with_are_those_of_the_answers():
    maps = [
        HeightMap([[0] * 3] * 3, origin=(9 * k, 0, 0), material_names=own)
        for k, own in enumerate([("grass", "wood"), ("wood", "mud"), None])
    ]
    ground = Ground(maps)
    assert ground.material_names == ("grass", "wood", "mud")
    for k, number in enumerate((1, 1, 10)):  # wood, wood, and 7 of the map without names
        ground.paint((9 * k + 1, 1), 1, number)
    assert [part.materials[0, 0] for part in maps] == [1, 0, 7]
    hits = ground.raycast_many([(9 * k + 0.6, 9, 0.6) for k in range(3)], [(0, -1, 0)])
    assert hits.material.tolist() == [1, 1, 10]


@pytest.mark.parametrize(
    ("number", "error", "message"),
    [
        (0, ValueError, "material must be one of 'wood', 'mud', got 'grass'"),
        (3, ValueError, "material must be below 3 on maps with material_names, got 3"),
        (256, ValueError, "material must be from 0 to 255, got 256"),
        (1.5, TypeError, "material must be a whole number, got 1.5"),
    ],
)
def test_a_material_that_a_map_has_not_is_refused(number, error, message):
    maps = [
        HeightMap([[0] * 3] * 3, origin=(9 * k, 0, 0), material_names=own)
        for k, own in enumerate([("grass", "wood"), ("wood", "mud")])
    ]
    ground = Ground(maps)
    with pytest.raises(error, match=message):
        ground.paint((10, 1), 1, number)
    assert not any(part.version for part in maps)


def test_no_number_is_a_name_and_none():
    land = HeightMap([[0, 0], [0, 0]], material_names=[str(number) for number in range(256)])
    mesh = TriangleMesh([(0, 1, 0), (0, 1, 1), (1, 1, 0)], [(0, 1, 2)])
    assert len(Ground([land]).material_names or ()) == 256
    with pytest.raises(ValueError, match="at most 255 material_names together beside parts"):
        Ground([land, mesh])

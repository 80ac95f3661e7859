"""Results as columns of a table: one name, one array of one axis, as many rows everywhere."""

import numpy as np
import pytest

from terrain_physics import (
    AABB,
    CharacterGroup,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)

HEIGHTS = np.random.default_rng(2).uniform(0, 2, (7, 8))
POINT = ("point_x", "point_y", "point_z")
NORMAL = ("normal_x", "normal_y", "normal_z")
NAMES = ("material_name", "part_name")


def land():
    return HeightMap(HEIGHTS, border="open", materials=np.arange(42).reshape(6, 7))


def rays():
    return land().raycast_many([(1, 9, 1), (99, 9, 99), (3.3, 9, 2)], [(0, -1, 0)])


def group():
    crowd = CharacterGroup(land(), SphereCollider(0.3))
    crowd.add_many(["a", "b", "c"], [(2, 2.5, 2), (3, 9, 4), (4, 2.5, 1)])
    for _ in range(40):
        crowd.walk(3, 1)
        result = crowd.update(1 / 60)
    return crowd, result


RESULTS = {
    "RayHits": (rays, ("distance", *POINT, *NORMAL, "triangle", "material", *NAMES, "unknown")),
    "SweepHits": (
        lambda: land().sweep_many([(1, 9, 1, 1), (2, 9, 2, 0.5)], [(0, -9, 0)]),
        ("fraction", "distance", *NORMAL, *POINT, "triangle", "material", *NAMES, "unknown"),
    ),
    "ClosestPoints": (
        lambda: land().closest_points([(1, 9, 1), (2, 2, 2)]),
        (*POINT, "distance", "triangle", "material", *NAMES),
    ),
    "Contacts": (
        lambda: land().contacts([(2, 1, 2, 1), (4, 1, 4, 1)]),
        (
            "query", "triangle", "penetration_x", "penetration_y", "penetration_z", *NORMAL,
            *POINT, "depth", "material", *NAMES,
        ),
    ),
    "Contacts without materials": (
        lambda: TriangleMesh.box((1, 1, 1)).contacts([(0, 0, 0, 1)]),
        (
            "query", "triangle", "penetration_x", "penetration_y", "penetration_z", *NORMAL,
            *POINT, "depth", "material", *NAMES,
        ),
    ),
    "Triangles": (
        lambda: land().triangles_in(AABB((1, 0, 1), (3, 2, 3))),
        (
            *(f"{corner}_{axis}" for corner in "abc" for axis in "xyz"),
            "normals_x", "normals_y", "normals_z", "ids",
        ),
    ),
    "MoveHits": (
        lambda: group()[1].blocked_by,
        ("character", "triangle", *POINT, *NORMAL, "speed", "other", "material", "reason", *NAMES),
    ),
    "GroupResult": (
        lambda: group()[1],
        (
            "grounded", "ground_normals_x", "ground_normals_y", "ground_normals_z", "contacts",
            "penetrations", "converged", "limited_by", "rounds", "lifted", "blocked",
            "just_landed", "just_left", "just_hit", "material_changed", "turns", "squeezed",
            "squeezed_by", "waiting",
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_names_and_values(name):
    make, names = RESULTS[name]
    result = make()
    columns = result.columns()
    assert tuple(columns) == names
    (count,) = {len(values) for values in columns.values()}
    assert count > 0
    for column, values in columns.items():
        assert values.ndim == 1
        stem, _, axis = column.rpartition("_")
        if axis in {"x", "y", "z"}:
            where = "xyz".index(axis)
            source = (
                result.vertices[:, "abc".index(stem)] if stem in "abc" else getattr(result, stem)
            )
            expected = source[:, where]
        else:
            expected = getattr(result, column)
        np.testing.assert_array_equal(values, expected)
        assert values.dtype == expected.dtype


def test_every_result_of_many_has_columns():
    import terrain_physics

    many = {name for name, _, _ in (key.partition(" ") for key in RESULTS)}
    plural = {
        name
        for name in terrain_physics.__all__
        if hasattr(getattr(terrain_physics, name), "columns")
    }
    assert plural == many


def test_rays_of_a_group_come_character_by_character():
    crowd, _ = group()
    hits = crowd.raycast([(0, 1, 0), (0.1, 1, 0)], [(0, -1, 0)])
    columns = hits.columns()
    np.testing.assert_array_equal(columns["distance"], hits.distance.ravel())
    np.testing.assert_array_equal(columns["point_y"], hits.point[..., 1].ravel())
    assert len(columns["triangle"]) == 6


def test_no_rows():
    for result in (land().raycast_many([], []), land().contacts([(1, 99, 1, 1)])):
        assert {len(values) for values in result.columns().values()} == {0}

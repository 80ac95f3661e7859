"""A ground of maps and meshes answers what its parts do, asked one after the other."""

import math
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    AABB,
    OBB,
    Capsule,
    Ground,
    HeightMap,
    Ray,
    Sphere,
    TriangleMesh,
)
from tests.helpers.grounds import everything, questions, rough
from tests.helpers.meshes import grid

DOWN = (0.0, -1.0, 0.0)


def bumpy_mesh(seed: int, offset: Any = (0, 0, 0)) -> TriangleMesh:
    vertices, faces = grid(rough(14, 18, seed), 1.3)
    return TriangleMesh(vertices + offset, faces)


def materials(seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, 9, (24, 40))


BIG = HeightMap(rough(), materials=materials(1))
# No side of a map is covered by another one: parts answer alone as they do in the ground.
GROUNDS: dict[str, list[Any]] = {
    "map, mesh": [BIG, bumpy_mesh(1, (4, 0.5, 3))],
    "mesh, thick map, mesh": [
        bumpy_mesh(1),
        HeightMap(rough(), border="open", thickness=1.0),
        bumpy_mesh(2, (9, 0, 4)),
    ],
    "equal meshes": [bumpy_mesh(1), bumpy_mesh(1), bumpy_mesh(5)],
    "one map": [BIG],
}


def named(ids: Any, part: int) -> Any:
    return np.where(ids < 0, -1, ids + (part << 40))


@pytest.mark.parametrize("name", GROUNDS)
def test_answers_are_those_of_the_parts_to_the_bit(name: str) -> None:
    parts, asked = GROUNDS[name], questions((-4, -3, -4), (44, 3, 28), 300, 5)
    found = everything(Ground(parts), asked)
    alone = [everything(part, asked) for part in parts]
    for question in (
        "rays",
        "short rays",
        "ball sweeps",
        "capsule sweeps",
        "box sweeps",
        "closest",
    ):
        answers = [each[question] for each in alone]
        distances = np.nan_to_num([each.distance for each in answers], nan=np.inf)
        first, rows = distances.argmin(axis=0), np.arange(300)
        for field in found[question]._fields:
            columns = [getattr(each, field) for each in answers]
            if field == "triangle":
                columns = [named(ids, part) for part, ids in enumerate(columns)]
            expected = np.array(columns)[first, rows]
            np.testing.assert_array_equal(getattr(found[question], field), expected)
    for question in ("balls, all", "capsules, all", "boxes, all"):
        answers = [each[question] for each in alone]
        order = np.argsort(np.concatenate([each.query for each in answers]), kind="stable")
        ids = [named(each.triangle, part) for part, each in enumerate(answers)]
        assert found[question].triangle.tolist() == np.concatenate(ids)[order].tolist()
        for field in ("query", "penetration", "normal", "point", "material"):
            column = np.concatenate([getattr(each, field) for each in answers])[order]
            np.testing.assert_array_equal(getattr(found[question], field), column)
    for question in ("counts", "counts of capsules", "counts of boxes"):
        np.testing.assert_array_equal(found[question], sum(each[question] for each in alone))
    assert len(found["balls, all"]) > 100


def bridge_over_valley() -> Ground:
    x = np.mgrid[0:21.0, 0:41.0][1]
    valley = HeightMap(
        np.maximum(-8.0, -0.5 * (20 - np.abs(x - 20))), materials=(0 * x[1:, 1:] + 3).astype(int)
    )
    bridge = TriangleMesh([(0, 0, 8), (0, 0, 12), (40, 0, 8), (40, 0, 12)], [(0, 1, 2), (1, 3, 2)])
    return Ground([valley, bridge])


def test_a_bridge_over_a_valley():
    ground = bridge_over_valley()
    above = ground.raycast(Ray((20, 5, 10), DOWN))
    below = ground.raycast(Ray((20, -1, 10), DOWN))
    up = ground.raycast(Ray((20, -4, 10), (0, 1, 0)))
    assert above is not None
    assert below is not None
    assert up is not None
    assert (above.distance, ground.part_of(above.triangle)[0], above.material) == (5, 1, 0)
    assert (below.distance, ground.part_of(below.triangle)[0], below.material) == (7, 0, 3)
    assert (up.distance, ground.part_of(up.triangle)[0]) == (4, 1)
    assert ground.height_at(20.0, 10.0) == 0
    assert ground.height_at(20.0, 14.0) == -8
    under = ground.contacts(Sphere((20, -7.5, 10), 1))
    assert set(ground.part_of(under.triangle)[0]) == {0}
    over = ground.contacts(Sphere((20, 0.5, 10), 1))
    assert set(ground.part_of(over.triangle)[0]) == {1}
    tall = ground.contacts([Capsule((20, -8, 10), (20, 0, 10), 0.5)], keep="all")
    assert set(ground.part_of(tall.triangle)[0]) == {0, 1}
    falls = ground.sweep_many([(20, 3, 10, 1), (20, -2, 10, 1), (20, 3, 15, 1)], [(0, -20, 0)])
    assert falls.distance.tolist() == [2, 5, 10]
    assert ground.part_of(falls.triangle)[0].tolist() == [1, 0, 0]
    assert ground.contact_counts([(20, -4, 10, 1)]).tolist() == [0]


def test_a_cave_mouth_is_a_hole_in_a_map_and_a_mesh_below():
    holes = np.zeros((20, 20), dtype=bool)
    holes[8:12, 8:12] = True
    land = HeightMap(np.zeros((21, 21)), holes=holes)
    floor = TriangleMesh(
        [(8, -4, 8), (8, -4, 12), (18, -4, 8), (18, -4, 12)], [(0, 1, 2), (1, 3, 2)]
    )
    ground = Ground([land, floor])
    assert ground.height_at([4.0, 10.0], 10).tolist() == [0, -4]
    assert ground.raycast_many([(10, 5, 10), (4, 5, 10)], [DOWN]).distance.tolist() == [9, 5]
    assert ground.sweep_many([(10, 5, 10, 1)], [(0, -20, 0)]).distance.tolist() == [8]
    # In the cave, under solid ground.
    box = OBB((16, -3.5, 10), (0.4, 0.6, 0.4), glm.mat3())
    assert set(ground.part_of(ground.contacts(box).triangle)[0]) == {1}
    assert ground.part_of(ground.triangles_in(AABB((16, -4, 10), (16, -4, 10))).ids)[
        0
    ].tolist() == [1, 1]


@pytest.mark.parametrize("name", GROUNDS)
def test_part_of_every_id(name: str) -> None:
    parts = GROUNDS[name]
    ground = Ground(parts)
    # Of triangles, and of the sides of cells behind them.
    sizes = [
        len(part) if isinstance(part, TriangleMesh) else 8 * math.prod(part.cell_count)
        for part in parts
    ]
    ids = np.concatenate([np.arange(size) + (k << 40) for k, size in enumerate(sizes)])
    part, own = ground.part_of(ids)
    assert np.array_equal(part, np.repeat(np.arange(len(parts)), sizes))
    assert np.array_equal(own, np.concatenate([np.arange(size) for size in sizes]))
    assert ground.part_of(int(ids[-1])) == (len(parts) - 1, sizes[-1] - 1)
    assert ground.part_of(-1) == (-1, -1)
    beyond = int(ids[-1]) + 1
    with pytest.raises(
        ValueError, match=f"triangle must be from .* to {ids[-1]} in .*, got {beyond}"
    ):
        ground.part_of([0, beyond])
    for bad in (-2, len(parts) << 40):
        with pytest.raises(ValueError, match=f"of a part that is there, got {bad} of"):
            ground.part_of(bad)
    with pytest.raises(TypeError, match=r"triangle must be an integer, got 0\.5"):
        ground.part_of(0.5)


def test_a_single_map_goes_on_outside_with_the_id_of_no_triangle():
    ground = Ground([bumpy_mesh(1), BIG])
    hit = ground.raycast(Ray((-20, 30, -20), DOWN))
    alone = BIG.raycast(Ray((-20, 30, -20), DOWN))
    assert hit is not None
    assert hit == alone
    assert (hit.triangle, hit.material) == (-1, materials(1)[0, 0])
    found = ground.contacts([(-20, ground.height_at(-20.0, -20.0), -20, 1)])
    assert len(found) >= 2
    assert (found.triangle == -1).all()
    assert (found.material == materials(1)[0, 0]).all()


def test_what_is_edited_or_moved_shows_in_the_next_answer():
    land = HeightMap(np.zeros((21, 21)), border="open")
    mesh = TriangleMesh([(4, 2, 4), (4, 2, 9), (9, 2, 4)], [(0, 1, 2)])
    other = HeightMap(land.heights - 9)
    for parts in ((land, mesh), (land, other, mesh)):
        ground = Ground(parts)
        ball = [(5, 5, 5, 0.5)]
        before = ground.version
        assert ground.height_at([5], 5) == [2]
        mesh.refit(np.add(mesh.vertices, (0, 1, 0)))
        assert ground.height_at([5], 5) == [3]
        assert ground.sweep_many(ball, [(0, -9, 0)]).distance == pytest.approx(1.5)
        land[3:8, 3:8] = 4
        assert ground.height_at([5], 5) == [4]
        assert ground.raycast_many([(5, 9, 5)], [DOWN]).distance == [5]
        assert (ground.part_of(ground.contacts([(5, 4.2, 5, 0.5)]).triangle)[0] == 0).all()
        land[3:8, 3:8] = 0
        mesh.refit(np.subtract(mesh.vertices, (0, 1, 0)))
        assert ground.version == before + 4

"""A ground of maps and meshes answers what its parts do, asked one after the other."""

import math
import pickle
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
    Ground,
    HeightMap,
    Ray,
    Sphere,
    TriangleMesh,
)
from terrain_physics.surface.surface import queries_of
from tests.helpers.grounds import bits, everything, one_by_one, questions, rough
from tests.helpers.meshes import grid
from tests.oracles.deepest import deepest_rows, is_in_map

DOWN = (0.0, -1.0, 0.0)


def bumpy_mesh(seed: int, offset: Any = (0, 0, 0)) -> TriangleMesh:
    vertices, faces = grid(rough(14, 18, seed), 1.3)
    return TriangleMesh(vertices + offset, faces)


def materials(seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, 9, (24, 40))


def small_map(**options: Any) -> HeightMap:
    return HeightMap(rough(9, 12, 7), cell_size=2, origin=(5, 1, 2), **options)


BIG = HeightMap(rough(), materials=materials(1))
OPEN = HeightMap(rough(), materials=materials(1), border="open")
FLAT = HeightMap(np.zeros((25, 41)), border="open", diagonal="alternating")
# What a ground is made of, and what its parts alone would say.
GROUNDS: dict[str, list[HeightMap | TriangleMesh]] = {
    "map, mesh": [BIG, bumpy_mesh(1, (4, 0.5, 3))],
    "mesh, map": [bumpy_mesh(1, (4, 0.5, 3)), BIG],
    "mesh, open map, mesh": [bumpy_mesh(1), OPEN, bumpy_mesh(2, (9, 0, 4))],
    "maps that overlap, meshes": [
        OPEN,
        bumpy_mesh(3, (1, 1, 1)),
        small_map(border="open"),
        bumpy_mesh(4),
        FLAT,
    ],
    "meshes": [bumpy_mesh(1), bumpy_mesh(1), bumpy_mesh(5)],
    "one mesh": [bumpy_mesh(1)],
    "one map": [BIG],
    "level, many ties": [FLAT, TriangleMesh(*grid(np.zeros((20, 30)))), HeightMap(FLAT.heights)],
}


def count_of(part: HeightMap | TriangleMesh) -> int:
    return len(part) if isinstance(part, TriangleMesh) else 2 * math.prod(part.cell_count)


def id_count(part: HeightMap | TriangleMesh) -> int:
    """Return how many ids there are: of triangles, and of the sides of cells behind them."""
    sides = 0 if isinstance(part, TriangleMesh) else 6 * math.prod(part.cell_count)
    return count_of(part) + sides


def first_ids(parts: list[Any]) -> list[int]:
    return [k << 40 for k in range(len(parts))]


def shifted(ids: Any, first: int) -> Any:
    return np.where(ids < 0, -1, ids + first)


def open_parts(parts: list[Any]) -> list[Any]:
    """Return the parts as they are in a ground: of several maps each ends at its border.

    There it has no sides where another map goes on.
    """
    if sum(isinstance(part, HeightMap) for part in parts) < 2:
        return parts
    found = [
        HeightMap(
            part.heights,
            cell_size=part.cell_size,
            origin=part.origin64,
            border="open",
            diagonal="alternating" if part is FLAT else "a-c",
            materials=np.asarray(part.materials),
        )
        if isinstance(part, HeightMap)
        else part
        for part in parts
    ]
    maps: list[Any] = [queries_of(part).source for part in found if isinstance(part, HeightMap)]
    for own in maps:
        own.sides.others = [other.storage for other in maps if other is not own]
    return found


def inside(parts: list[Any], question: str, asked: Any) -> Any:
    """Tell which shapes of a question have their middles in a map."""
    ends = asked.capsules[:, :3], asked.capsules[:, 3:6]
    middles = {
        "balls": asked.balls[:, :3],
        "rows": asked.balls[:, :3],
        "boxes": asked.centers,
        "capsules": 0.5 * ends[0] + 0.5 * ends[1],
        "shapes": 0.5 * ends[0] + 0.5 * ends[1],
    }
    x, y, z = middles[question.split(",", maxsplit=1)[0]].T.copy()
    maps = [part for part in open_parts(parts) if isinstance(part, HeightMap)]
    found = [is_in_map(part.height_at(x, z), part.thickness, y) for part in maps]
    return np.any([np.zeros(len(y), np.bool_), *found], axis=0)


def joined_contacts(parts: list[Any], answers: list[Any], led_out: Any = None) -> Any:
    """Return all contacts, or the deepest, given which shapes are in a map."""
    rows = []
    for k, (first, answer) in enumerate(zip(first_ids(parts), answers, strict=True)):
        ids = shifted(answer.triangle, first)
        for i, query in enumerate(answer.query.tolist()):
            rows.append((query, k, i, ids[i], answer, answer.depth[i]))
    rows.sort(key=lambda row: row[:3])
    if led_out is not None:
        rises = np.array([row[4].normal[row[2], 1] for row in rows])
        queries, depths = np.array([(row[0], row[5]) for row in rows]).reshape(-1, 2).T
        rows = [rows[k] for k in deepest_rows(queries.astype(int), depths, rises, led_out)]
    return bits(
        (
            np.array([row[0] for row in rows], np.int64),
            np.array([row[3] for row in rows], np.int64),
            *(
                np.array([getattr(row[4], name)[row[2]] for row in rows]).reshape(-1, 3)
                for name in ("penetration", "normal", "point")
            ),
            np.array([row[4].material[row[2]] for row in rows], np.uint8),
        )
    )


def joined_hits(parts: list[Any], answers: list[Any]) -> Any:
    result = [values.copy() for values in list(answers[0])]
    for row in range(len(answers[0].distance)):
        near = [
            (answer.distance[row], k)
            for k, answer in enumerate(answers)
            if not np.isnan(answer.distance[row])
        ]
        if near:
            answer = answers[min(near)[1]]
            answer = answer._replace(
                triangle=shifted(answer.triangle, first_ids(parts)[min(near)[1]])
            )
            for values, new in zip(result, answer, strict=True):
                values[row] = new[row]
    return bits(type(answers[0])(*result))


def joined(name: str, parts: list[Any], answers: list[Any]) -> Any:
    first = first_ids(parts)
    if hasattr(answers[0], "penetration"):
        return joined_contacts(parts, answers)
    if hasattr(answers[0], "distance"):
        return joined_hits(parts, answers)
    if name == "counts that touch":
        return bits(np.any(answers, axis=0))
    if name == "offsets" or name.startswith("counts"):
        return bits(sum(answers))
    if name == "lists":
        lists = [
            np.concatenate(
                [
                    shifted(ids[queries == q], f)
                    for f, (queries, ids) in zip(first, answers, strict=True)
                ]
            )
            for q in range(300)
        ]
        queries = np.repeat(np.arange(300), [len(ids) for ids in lists])
        return bits((queries, np.concatenate(lists)))
    assert name == "box"
    return bits(
        (
            np.concatenate([answer.vertices for answer in answers]),
            np.concatenate([answer.normals for answer in answers]),
            np.concatenate([shifted(a.ids, f) for a, f in zip(answers, first, strict=True)]),
        )
    )


def asked_of(name: str) -> Any:
    height = 0.6 if name == "level, many ties" else 3.0
    asked = questions((-4, -height, -4), (44, height, 28), 300, 5)
    if name == "level, many ties":
        asked.balls[::2, 1] = 0.25
        asked.directions[::2] = DOWN
        asked.motions[::2, ::2] = 0.0
    return asked


@pytest.mark.parametrize("name", GROUNDS)
def test_every_answer_is_put_together_from_the_parts(name):
    parts = GROUNDS[name]
    ground, asked = Ground(parts), asked_of(name)
    found = everything(ground, asked)
    alone = [everything(part, asked) for part in open_parts(parts)]
    for question, answer in found.items():
        if question.endswith("deepest"):
            every = [answers[question.replace("deepest", "all")] for answers in alone]
            expected = joined_contacts(parts, every, inside(parts, question, asked))
        elif question in {"heights", "normals"}:
            continue
        else:
            expected = joined(question, parts, [answers[question] for answers in alone])
        assert bits(answer) == expected, question
    assert len(found["balls, all"]) > 100
    assert np.isfinite(found["ball sweeps"].fraction).sum() > 50
    for hits in (found["rays"], found["capsule sweeps"]):
        seen = np.unique(ground.part_of(hits.triangle)[0])
        assert len(seen[seen >= 0]) >= min(len(parts), 2) or name in {"meshes", "level, many ties"}


@pytest.mark.parametrize("name", GROUNDS)
def test_heights_and_normals_are_those_of_the_highest_part(name):
    parts, asked = open_parts(GROUNDS[name]), asked_of(name)
    ground = Ground(GROUNDS[name])
    heights, normals = ground.height_at(asked.x, asked.z), ground.normal_at(asked.x, asked.z)
    assert np.array_equal(heights, ground.height_at(asked.x, asked.z), equal_nan=True)
    assert np.array_equal(normals, ground.normal_at(asked.x, asked.z), equal_nan=True)
    for k, (x, z) in enumerate(zip(asked.x, asked.z, strict=True)):
        levels = [np.asarray(part.height_at([x], z))[0] for part in parts]
        if np.isnan(levels).all():
            assert np.isnan(heights[k])
            assert np.isnan(normals[k]).all()
            continue
        part = parts[int(np.nanargmax(levels))]
        assert heights[k] == np.nanmax(levels)
        assert np.array_equal(normals[k], np.asarray(part.normal_at([x], z))[0])
        assert ground.height_at(float(x), float(z)) == heights[k]
        assert ground.normal_at(float(x), float(z)) == glm.vec3(normals[k])


@pytest.mark.parametrize("name", GROUNDS)
def test_single_questions_are_rows_of_many(name):
    ground, asked = Ground(GROUNDS[name]), asked_of(name)
    answers = iter(one_by_one(ground, asked, 60))
    rays = ground.raycast_many(asked.centers, asked.directions)
    short = ground.raycast_many(asked.centers, asked.directions, 2.0)
    sweeps: list[Any] = [
        ground.sweep_many(asked.balls, asked.motions),
        ground.sweep_many(Capsules(asked.capsules), asked.motions),
        ground.sweep_many(Boxes(asked.centers, asked.halves, asked.turns), asked.motions),
    ]
    nearest = ground.closest_points(asked.centers)
    contacts = [
        ground.contacts(asked.balls),
        ground.contacts(Capsules(asked.capsules)),
        ground.contacts(Boxes(asked.centers, asked.halves, asked.turns)),
    ]
    for k in range(60):
        for many in (rays, short, *sweeps):
            one = next(answers)
            assert (one is None) == np.isnan(many.distance[k])
            if one is not None:
                assert (one.distance, one.triangle) == (many.distance[k], many.triangle[k])
                assert (one.normal, one.point) == (
                    glm.vec3(many.normal[k]),
                    glm.vec3(many.point[k]),
                )
                assert one.material == many.material[k]
        for found in contacts:
            one, rows = next(answers), found.query == k
            assert np.array_equal(one.triangle, found.triangle[rows])
            assert np.allclose(one.penetration, found.penetration[rows], rtol=0, atol=1e-6)
            assert np.array_equal(one.material, found.material[rows])
        next(answers), next(answers)
        one = next(answers)
        assert (one.distance, one.triangle) == (nearest.distance[k], nearest.triangle[k])


@pytest.mark.parametrize("keep", ["all", "deepest"])
@pytest.mark.parametrize("name", GROUNDS)
def test_one_ball_is_a_row_of_many(name, keep):
    ground, asked = Ground(GROUNDS[name]), asked_of(name)
    many = ground.contacts(asked.balls[:60], keep=keep)
    for k, ball in enumerate(asked.balls[:60]):
        one, rows = ground.contacts(Sphere(ball[:3], ball[3]), keep=keep), many.query == k
        for field in ("triangle", "penetration", "normal", "point", "material"):
            np.testing.assert_array_equal(getattr(one, field), getattr(many, field)[rows])


def test_the_number_of_threads_changes_nothing():
    ground = Ground(GROUNDS["maps that overlap, meshes"])
    asked = questions((-4, -3, -4), (44, 3, 28), 1500)
    one, three = everything(ground, asked, 1), everything(ground, asked, 3)
    for name, answer in one.items():
        assert bits(answer) == bits(three[name]), name


def test_of_answers_equally_good_that_of_the_lower_id():
    flat: list[HeightMap | TriangleMesh] = [
        HeightMap(np.zeros((5, 5))),
        TriangleMesh([(0, 0, 0), (0, 0, 4), (4, 0, 0), (4, 0, 4)], [(0, 1, 2), (1, 3, 2)]),
        HeightMap(np.zeros((5, 5))),
    ]
    for order in ((0, 1), (1, 0), (2, 0, 1), (1, 2, 0)):
        ground = Ground([flat[k] for k in order])
        size = count_of(flat[order[0]])
        ray = ground.raycast(Ray((1.5, 3, 1.25), DOWN))
        rays = ground.raycast_many([(1.5, 3, 1.25)], [DOWN])
        sweep = ground.sweep(Sphere((1.5, 3, 1.25), 1), (0, -9, 0))
        sweeps = ground.sweep_many([(1.5, 3, 1.25, 1)], [(0, -9, 0)])
        deepest = ground.contacts([(1.5, 0.5, 1.25, 1)], keep="deepest")
        assert ray is not None
        assert sweep is not None
        ids = [ray.triangle, rays.triangle[0], sweep.triangle, sweeps.triangle[0]]
        assert len({*ids, *deepest.triangle.tolist()}) == 1
        assert ids[0] < size


def test_a_mesh_between_maps_that_are_one():
    flat = np.zeros((5, 5))
    floor = TriangleMesh([(0, 0, 0), (0, 0, 4), (8, 0, 0), (8, 0, 4)], [(0, 1, 2), (1, 3, 2)])
    ground = Ground([HeightMap(flat), floor, HeightMap(flat, origin=(4, 0, 0))])
    places = np.array([(1.5, 3.0, 1.25), (6.5, 3.0, 1.25)])  # all exact
    balls = np.column_stack([places, [1, 1]])
    hits = ground.raycast_many(places, [DOWN])
    sweeps = ground.sweep_many(balls, [(0, -9, 0)])
    deepest = ground.contacts(np.subtract(balls, (0, 2.5, 0, 0)), keep="deepest")
    for triangles in (hits.triangle, sweeps.triangle, deepest.triangle):
        assert ground.part_of(triangles)[0].tolist() == [0, 1]
    every = ground.part_of(ground.contacts([(4, 0.5, 1.25, 1)]).triangle)[0]
    assert set(every) == {0, 1, 2}
    assert (np.diff(every) >= 0).all()


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
def test_part_of_every_id(name):
    parts = GROUNDS[name]
    ground = Ground(parts)
    sizes = [id_count(part) for part in parts]
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


def test_a_copy_answers_the_same():
    ground, asked = Ground(GROUNDS["maps that overlap, meshes"]), asked_of("")
    copy = pickle.loads(pickle.dumps(ground))
    found, again = everything(ground, asked), everything(copy, asked)
    for name, answer in found.items():
        assert bits(answer) == bits(again[name]), name


@pytest.mark.parametrize("name", ["map, mesh", "meshes", "maps that overlap, meshes"])
def test_no_questions_no_answers(name):
    ground = Ground(GROUNDS[name])
    none = np.zeros((0, 3))
    assert len(ground.contacts(np.zeros((0, 4)))) == 0
    assert len(ground.contacts(np.zeros((0, 4)), keep="deepest")) == 0
    assert len(ground.contacts([(0, 99, 0, 1)], keep="deepest")) == 0
    assert len(ground.contact_counts(np.zeros((0, 4)))) == 0
    assert len(ground.raycast_many(none, none).distance) == 0
    assert len(ground.sweep_many(np.zeros((0, 4)), none).distance) == 0
    assert len(ground.sweep_many([], none).distance) == 0
    assert ground.height_at([], []).shape == (0,)
    assert ground.normal_at([], []).shape == (0, 3)
    offsets, ids = ground.triangles_in_many(none, none)
    assert (offsets.tolist(), ids.tolist()) == ([0], [])
    assert len(ground.triangles_in(AABB((0, 90, 0), (1, 91, 1)))) == 0


@pytest.mark.parametrize("name", ["map, mesh", "meshes", "maps that overlap, meshes"])
def test_bad_input(name):
    ground = Ground(GROUNDS[name])
    with pytest.raises(ValueError, match="keep must be one of 'all', 'deepest', got 'some'"):
        ground.contacts([(0, 0, 0, 1)], keep="some")
    with pytest.raises(ValueError, match=r"radius must be|negative"):
        ground.contacts([(0, 0, 0, -1)])
    with pytest.raises(TypeError, match="ray must be a Ray"):
        ground.raycast(3)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="max_distance must be"):
        ground.raycast_many([(0, 0, 0)], [DOWN], -1)
    with pytest.raises(ValueError, match="must not be zero, got"):
        ground.raycast_many([(0, 0, 0)], [(0, 0, 0)])
    with pytest.raises(TypeError, match="shape must be a Sphere, Capsule, OBB or AABB"):
        ground.sweep(3, (0, 0, 0))  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="x must be finite"):
        ground.height_at([np.nan], 0)
    with pytest.raises(ValueError, match="x must be finite"):
        ground.height_at(math.nan, 0.0)
    with pytest.raises(ValueError, match="must have shapes that fit"):
        ground.normal_at([0, 1], [0, 1, 2])
    with pytest.raises(TypeError, match="aabb must be an AABB"):
        ground.triangles_in(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="lowers must be <= uppers"):
        ground.triangles_in_many([(1, 0, 0)], [(0, 0, 0)])
    for ask in (ground.height_at, ground.normal_at):
        with pytest.raises(ValueError, match="threads must be None or an integer >= 1, got 0"):
            ask([0], 0, threads=0)

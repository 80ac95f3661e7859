"""Height maps are solid from every side: where sides are, what they are named, what they follow.

`tests/ground/test_questions.py` asks them, against all faces of the solid.
"""

import copy
import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import Boxes, Capsule, Capsules, Ground, HeightMap, Ray, Sphere, Spheres
from terrain_physics._kernels.mesh.facing import is_own_touch
from terrain_physics._kernels.mesh.parts import (
    INSIDE_OUT,
    LAYERS,
    MESH,
    OWNER,
    SIDE,
    SKIN,
    ids_at,
)
from terrain_physics._kernels.tolerances import UPPER_EDGE_RISE
from terrain_physics.heightmap.solid.sides import Sides
from terrain_physics.surface.surface import queries_of
from tests.helpers.examples import rest_is_full
from tests.helpers.solid_grounds import Case
from tests.oracles.map_solids import closest, faces_of, travel
from tests.oracles.winding import winding_numbers

Floats = NDArray[np.float64]


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_tiles_decides_nothing_but_keys(seed: int) -> None:
    draw = np.random.default_rng(seed)
    tiles = [
        HeightMap(
            draw.uniform(-0.2, 0.2, (4, 4)) + level, origin=(3 * (k % 2), 0, 3 * (k // 2)),
            holes=draw.random((3, 3)) < 0.1 * seed, thickness=(None, 1.0, 3.0)[seed],
        )
        for k, level in enumerate([0.0, 2.0, 0.0, -1.0])
    ]  # fmt: skip
    places = draw.uniform(-1.0, 7.0, (120, 3)) * (1.0, 0.5, 1.0)
    ways, balls = draw.normal(size=(120, 3)), np.column_stack([places, np.full(120, 0.6)])
    answers = []
    for order in itertools.permutations(range(4)):
        ground = Ground([tiles[k] for k in order])
        hits, contacts = ground.raycast_many(places, ways), ground.contacts(balls)
        found = [hits.distance, hits.normal]
        for asked, ids in ((np.arange(120), hits.triangle), (contacts.query, contacts.triangle)):
            part, own = ground.part_of(ids)
            tile = np.where(part >= 0, np.array(order)[part], -1)
            rank = np.lexsort((own, tile, asked))
            found += [tile[rank], own[rank]]
        answers.append([*found, contacts.penetration[rank]])
    for answer in answers[1:]:
        for one, other in zip(answers[0], answer, strict=True):
            np.testing.assert_array_equal(one, other)
    assert (answers[0][3] >= 18).any()  # some hit sides


def sides_of(ids: NDArray[np.int64], cells: int) -> list[int]:
    """Return which side of its cell each id is: 0 to 3, 4 and 5 of the underside; -1: a surface."""
    return [-1 if own < 2 * cells else (own - 2 * cells) % 6 for own in ids.tolist()]


def test_ids_of_sides_are_behind_those_of_the_cells() -> None:
    land = HeightMap(np.zeros((3, 4)), border="open", thickness=2.0)
    places = [(-1, -1, 0.5), (4, -1, 0.5), (1.5, -1, -1), (1.5, -1, 3), (2.2, -5, 1.1), (2, 5, 1)]
    ways = [(1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0)]
    hits = land.raycast_many(places, ways)
    assert sides_of(hits.triangle, 6) == [0, 1, 2, 3, 5, -1]
    assert (hits.triangle[:5] - 12).tolist() == [0 * 6, 2 * 6 + 1, 1 * 6 + 2, 4 * 6 + 3, 5 * 6 + 5]
    ground = Ground([HeightMap(np.zeros((2, 2)), origin=(50, 0, 0)), land])
    assert ground.part_of((1 << 40) + 47) == (1, 47)
    with pytest.raises(ValueError, match="triangle must be from"):
        ground.part_of((1 << 40) + 48)


def answers(ground: Any, rays: tuple[Floats, Floats]) -> tuple[Any, ...]:
    """Return what a ground answers to rays and balls that begin where the rays do."""
    hits = ground.raycast_many(*rays)
    balls = np.column_stack([rays[0], np.full(len(rays[0]), 0.7)])
    contacts = ground.contacts(balls)
    return *hits, contacts.query, contacts.triangle, contacts.penetration


def edit(ground: Ground, draw: np.random.Generator, spare: HeightMap) -> None:
    """Change a ground of maps in one of the ways of a game."""
    key = int(draw.choice(list(ground.parts)))
    land: Any = ground.parts[key]
    kind = draw.integers(7)
    place = draw.uniform(-0.5, 8.5, 2)
    if kind == 0:
        ground.carve(place, float(draw.uniform(0.5, 3.0)), float(draw.uniform(0.2, 2.0)))
    elif kind == 1:
        row, column = draw.integers(0, 4, 2)
        land.holes[row, column] = bool(draw.integers(2))
    elif kind == 2:
        land.thickness = float(draw.choice([0.5, 3.0, np.inf]))
    elif kind == 3:
        land[:] = land[:] + float(draw.choice([0.0, 0.5, -2.0]))
    elif kind == 4 and len(ground.parts) > 2:
        ground.remove(key)
    elif kind == 5:
        ground.set_layers(key, int(draw.integers(1, 4)))
    elif len(ground.parts) < 5:
        ground.add(spare)


FIRST = 7, 14, 0, 1, 2  # in the first two, the thickness of a map beside changes


@pytest.mark.parametrize("seed", rest_is_full([*FIRST, *({*range(60)} - {*FIRST})], len(FIRST)))
def test_sides_follow_all_that_changes(seed: int) -> None:
    draw = np.random.default_rng(seed)
    places = [(0, 0, 0), (4, 0, 0), (0, 0, 4), (4, 0, 4)]
    tiles = [HeightMap(np.zeros((5, 5)), origin=place) for place in places]
    spares = [HeightMap(draw.uniform(0, 1, (5, 5)), origin=(8, 0, 4 * k)) for k in range(3)]
    ground = Ground(tiles[: draw.integers(1, 5)])
    rays = (
        draw.uniform(-1.0, 9.0, (120, 3)) * (1.0, 0.5, 1.0) - (0.0, 3.0, 0.0),
        draw.normal(size=(120, 3)),
    )
    for _ in range(12):
        edit(
            ground, draw, spares.pop() if spares else HeightMap(np.zeros((5, 5)), origin=(0, 9, 0))
        )
        shown = answers(ground, rays)
        keys = list(ground.parts)
        fresh = Ground([copy.deepcopy(ground.parts[key]) for key in keys])
        for number, key in enumerate(keys):
            fresh.set_layers(number, ground.layers_of(key))
        wanted = list(answers(fresh, rays))
        for k in (3, 6):  # ids
            part, own = fresh.part_of(wanted[k])
            named = (np.array(keys)[part] << 40) + own
            wanted[k] = np.where(part >= 0, named, -1)
        for one, other in zip(shown, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
        for_characters = [(keys[own], *rest) for own, *rest in table_of(fresh)]
        assert sorted(table_of(ground)) == sorted(for_characters)


def table_of(ground: Ground) -> list[Any]:
    """Return number, layers and count of triangles of the sides that characters are handed."""
    with queries_of(ground).lock:
        rows = queries_of(ground).ground_arrays.sides
        return [
            (int(r[OWNER]), int(r[LAYERS]), len(ids_at(rows, k)) // 2)
            for k, r in enumerate(rows[: int(rows[0, 0])])
            if k > 0 and r[MESH]
        ]


def test_saved_grounds_and_copies_have_the_same_sides(tmp_path: Path) -> None:
    case = Case("maps around a corner", 2)
    rays = case.places_outside(200), case.directions(200)
    wanted = answers(case.ground, rays)
    case.ground.save(tmp_path / "a.ground")
    for other in (
        Ground.load(tmp_path / "a.ground"),
        pickle.loads(pickle.dumps(case.ground)),
        copy.deepcopy(case.ground),
    ):
        for one, own in zip(wanted, answers(other, rays), strict=True):
            np.testing.assert_array_equal(one, own)


def test_maps_on_other_layers_do_not_go_on() -> None:
    tiles = [HeightMap(np.zeros((3, 3)), origin=(2 * k, 0, 0)) for k in range(2)]
    ground = Ground(tiles)
    ground.set_layers(1, 2)
    down, across = Ray((1, 1, 1), (0, -1, 0)), Ray((3, -1, 1), (-1, 0, 0))
    assert ground.raycast(across) is not None  # a side of the first, inside the second
    assert ground.raycast(across, mask=2) is None
    assert ground.raycast(down, mask=1) is not None
    ground.set_layers(1, 1)
    assert ground.raycast(across) is None


def test_a_side_that_several_maps_cover_up_to_one_point_is_whole() -> None:
    z, x = np.mgrid[:33, 32:65]
    waves = HeightMap(2 * np.sin(x / 9) * np.cos(z / 7), origin=(32, 0, 0))
    flats = [HeightMap(np.zeros((size, size))) for size in (101, 61)]
    table, higher = HeightMap(np.full((41, 41), 1.0)), HeightMap(np.full((65, 65), 0.5))
    ground = Ground([table, waves, *flats, higher])
    for at in (7 * np.pi / 2, 5.0):  # the waves cross the flats there, and are under them
        hit = ground.raycast(Ray((45, 0.75, at), (-1, 0, 0)))
        assert hit is not None
        assert hit.distance == 5.0
        assert ground.raycast(Ray((45, 0.25, at), (-1, 0, 0)), 5.5) is None


def test_the_first_hole_makes_sides_and_an_underside() -> None:
    land = HeightMap(np.zeros((5, 5)))
    up, aside = Ray((0.5, -5, 0.5), (0, 1, 0)), Ray((1.5, -1, 1.5), (1, 0, 0))
    assert land.raycast(up).distance == 5.0  # type: ignore[union-attr] # the surface from below
    assert land.raycast(aside) is None
    land.holes[1, 1] = True
    assert land.raycast(up).distance == 3.0  # type: ignore[union-attr]
    assert land.raycast(aside).distance == 0.5  # type: ignore[union-attr]


def test_both_walls_of_a_strip_outside_of_an_endless_map_are_touched() -> None:
    holes = np.zeros((4, 4), dtype=bool)
    holes[0, 2] = True
    land = HeightMap(np.zeros((5, 5)), holes=holes)
    ball = Sphere((2.5, -0.8, -3.0), 0.6)
    contacts = land.contacts(ball)
    assert contacts.triangle.tolist() == [-1, -1]
    assert sorted(contacts.normal[:, 0].tolist()) == [-1.0, 1.0]
    assert land.contact_counts([ball]).tolist() == [2]


def test_an_underside_above_a_surface_is_seen_through_a_hole() -> None:
    heights = np.interp(range(5), [0, 2, 3, 4], [0, 0, 20, 0]) * np.ones((5, 1))
    holes = np.zeros((4, 4), dtype=bool)
    holes[:, 2] = True
    land = HeightMap(heights, holes=holes, thickness=6.0, border="open")
    faces = faces_of(land, "a-c")
    for x in (0.5, 1.9, 2.1, 2.5):
        for y in (1.0, 5.0, 10.0):
            place = np.array([x, y, 2.3])
            found = land.closest_point(place)
            assert found.distance == pytest.approx(closest(faces, place)[0], abs=1e-7)
            hit = land.sweep(Sphere(place, 0.2), (5.0, 0.0, 0.0))
            wanted = travel(faces, 0.2, place, np.array([5.0, 0.0, 0.0]))
            assert (1.0 if hit is None else hit.fraction) == pytest.approx(wanted, abs=2e-6)


def test_the_deepest_contact_counts_as_one() -> None:
    land = HeightMap(np.zeros((9, 9)), border="open", thickness=2.0)
    ball = Sphere((4, -0.5, -0.5), 1.5)
    assert len(land.contacts([ball], keep="deepest", max_results=1)) == 1
    with pytest.raises(ValueError, match="max_results"):
        land.contacts([ball], max_results=3)


@pytest.mark.kernels
def test_a_touch_of_a_side_that_rises_is_one_of_the_surface() -> None:
    level, above = UPPER_EDGE_RISE, np.nextafter(UPPER_EDGE_RISE, 1.0)
    for rise, is_own in ((-1.0, True), (0.0, True), (level, True), (above, False), (1.0, False)):
        normal = (float(np.sqrt(1.0 - rise * rise)), rise, 0.0)
        assert is_own_touch(SIDE, normal) == is_own
        assert is_own_touch(SKIN, normal)
        assert is_own_touch(INSIDE_OUT, normal)


@pytest.mark.parametrize(
    ("y", "touched", "nearest"),
    [
        (-1.0, {"side"}, "side"),
        (0.0, {"surface", "side"}, "surface"),  # level with the edge, which both have
        (0.3, {"surface"}, "surface"),
        (-2.3, {"side", "underside"}, "side"),
    ],
)
def test_a_touch_of_an_upper_edge_counts_once(y: float, touched: set[str], nearest: str) -> None:
    land = HeightMap(np.zeros((5, 5)), border="open", thickness=2.0)
    center = (-0.3, y, 1.5)
    hit = land.sweep(Sphere((-3.0, y, 1.5), 0.5), (9.0, 0.0, 0.0))
    assert hit is not None
    ids = [*land.contacts(Sphere(center, 0.5)).triangle, land.closest_point(center).triangle]
    names = {-1: "surface", 4: "underside", 5: "underside"}
    *found, closest_one, first = [
        names.get(side, "side") for side in sides_of(np.array([*ids, hit.triangle]), 16)
    ]
    assert (set(found), found.count("side")) == (touched, "side" in touched)
    assert (closest_one, first) == (nearest, nearest)


def test_a_second_hole_has_sides_too() -> None:
    land = HeightMap(np.zeros((9, 9)))
    for cell in (1, 5):
        land.holes[cell, cell] = True
        for way in ((1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1)):
            hit = land.raycast(Ray((cell + 0.5, -1, cell + 0.5), way))
            assert hit is not None
            assert (hit.distance, tuple(hit.normal)) == (0.5, tuple(-k + 0.0 for k in way))


def test_who_is_inside_sees_neither_sides_nor_underside() -> None:
    land = HeightMap(np.zeros((5, 5)), border="open", thickness=3.0)
    inside = (2.0, -1.0, 2.0)
    for way in ((1, 0, 0), (-1, 0.1, 0), (0, 0, 1), (0, 0, -1), (0.1, -1, 0)):
        assert land.raycast(Ray(inside, way)) is None
        assert land.sweep(Sphere(inside, 0.3), np.multiply(way, 9.0)) is None
    assert land.closest_point((0.2, -1, 2)).distance == 1.0  # the surface
    (push,) = land.contacts(Sphere((0.2, -1, 2), 1.1), keep="deepest").penetration
    assert push[1] > 0.0


COUNT, SAMPLES = 150, 40


def shapes_and_places(draw: np.random.Generator, centers: Floats) -> list[tuple[Any, Floats]]:
    """Return balls, boxes and capsules around centers, and places (n, m, 3) deep in each."""
    count = len(centers)
    sizes, axes = draw.uniform(0.05, 0.8, (count, 3)), 0.4 * draw.normal(size=(count, 3))
    turns, _ = np.linalg.qr(draw.normal(size=(count, 3, 3)))
    turns[:, :, 0] *= np.sign(np.linalg.det(turns))[:, np.newaxis]
    corners = np.clip(draw.uniform(-1.2, 1.2, (count, SAMPLES, 3)), -1.0, 1.0)
    in_balls = corners / np.sqrt(np.maximum((corners * corners).sum(axis=2), 1.0))[..., np.newaxis]
    deep, middles = (sizes - 1e-3)[:, np.newaxis], centers[:, np.newaxis]
    balls = in_balls * deep[..., :1]
    along = draw.uniform(-1.0, 1.0, (count, SAMPLES, 1)) * axes[:, np.newaxis]
    radii = sizes[:, :1]
    return [
        (Spheres(np.hstack([centers, radii])), middles + balls),
        (Boxes(centers, sizes, turns), middles + (corners * deep) @ turns.swapaxes(1, 2)),
        (Capsules(np.hstack([centers - axes, centers + axes, radii])), middles + along + balls),
    ]


@pytest.mark.parametrize("seed", rest_is_full(range(60), 4))
def test_who_overlaps_a_cell_has_a_contact(seed: int) -> None:
    """Also a box that leans over a corner: a side leads it up, and its center is behind the top."""
    draw, diagonal = np.random.default_rng(seed), ("a-c", "b-d")[seed % 2]
    land = HeightMap(
        draw.uniform(-1.0, 1.0, (2, 2)) * (0.0, 0.2, 1.0)[seed % 3], border="open",
        thickness=(0.5, 2.0, None)[seed // 2 % 3], diagonal=diagonal,
    )  # fmt: skip
    faces = faces_of(land, diagonal)
    centers = draw.uniform((-0.4, -1.2, -0.4), (1.4, 1.0, 1.4), (COUNT, 3))
    is_outside = winding_numbers(faces, centers) < 0.5
    for shapes, places in shapes_and_places(draw, centers):
        is_in = winding_numbers(faces, places.reshape(-1, 3)).reshape(COUNT, SAMPLES) > 0.5
        overlapping, touching = is_outside & is_in.any(axis=1), land.touches(shapes)
        assert overlapping.sum() > 20
        assert touching[overlapping].all()
        every, deepest = land.contacts(shapes), land.contacts(shapes, keep="deepest")
        for found in (np.unique(every.query), deepest.query):
            np.testing.assert_array_equal(found, np.flatnonzero(touching))
        assert len(set(zip(every.query, every.triangle, strict=True))) == len(every)


LEANING = [
    ([[0.9, 0.8], [0.0, -0.5]], (1.1, -0.71, -0.13), (0.68, 1.44, -0.04), 0.27),
    ([[-0.1, 0.4], [-0.8, -0.8]], (0.39, 0.13, -0.04), (0.55, -0.6, -0.17), 0.33),
    ([[0.1, -0.7], [-0.7, -1.0]], (0.0, -0.18, 0.47), (-0.01, -0.55, 0.48), 0.22),
    ([[-0.2, -0.6], [0.6, -0.7]], (-0.15, -1.09, 0.29), (0.02, 0.13, 0.13), 0.18),
]


@pytest.mark.parametrize(("heights", "start", "end", "radius"), LEANING)
def test_a_capsule_beside_a_side_leans_over_its_edge(
    heights: list[list[float]], start: Any, end: Any, radius: float
) -> None:
    """Its way out rises a little, and its middle is behind the surface."""
    land = HeightMap(heights, border="open", thickness=2.0)
    capsule = Capsule(start, end, radius)
    assert land.touches(capsule)
    (push,), (contact,) = land.contacts(capsule, keep="deepest").penetration, land.contacts(capsule)
    assert push[1] > 0.0
    assert contact.triangle >= 2  # a side


def test_materials_of_sides_are_those_of_their_cells() -> None:
    draw = np.random.default_rng(7)
    tiles = [
        HeightMap(
            np.zeros((4, 4)), border="open", origin=(3 * k, 0, 0), thickness=1.0,
            materials=draw.integers(0, 3, (3, 3)), material_names=["grass", "rock", "ice"],
        )
        for k in range(2)
    ]  # fmt: skip
    ground = Ground(tiles)
    for land in (tiles[0], ground):
        for z in (0.5, 1.5, 2.5):
            for ray in (Ray((-1, -0.5, z), (1, 0, 0)), Ray((0.5, -5, z), (0, 1, 0))):
                hit = land.raycast(ray)
                assert hit is not None
                assert hit.material == tiles[0].materials[int(z), 0]
                many = land.raycast_many([ray.origin64], [ray.direction64])
                assert many.material[0] == hit.material
        ball = Sphere((-0.2, -0.5, 1.5), 0.4)
        assert set(land.contacts(ball).material[:1]) <= set(tiles[0].materials[:, 0].tolist())


def test_heights_and_normals_of_a_map_by_itself_find_no_sides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    land = HeightMap([[0, 2, 4], [0, 2, 4], [0, 2, 4]], holes=[[True, False], [False, False]])

    def find(_: Any) -> None:
        raise AssertionError("sides have no heights")

    monkeypatch.setattr(Sides, "now", find)
    assert land.height_at([1.5, 0.5], [0.5, 1.5]).tolist() == [3.0, 1.0]
    assert land.normal_at([1.5], [0.5])[0, 1] > 0.0
    with pytest.raises(AssertionError, match="sides have no heights"):
        land.raycast_many([(1.5, 9, 0.5)], [(0, -1, 0)])

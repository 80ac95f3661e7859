"""Height maps are solid from every side: rays, sweeps, contacts and closest points meet sides.

The oracle is the solid as closed boxes of cells, see `tests.oracles.map_solids`.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import Ground, HeightMap, Ray, Sphere
from tests.oracles.map_solids import closest, faces_of, is_inside, ray_hits, travel

Floats = NDArray[np.float64]


class Case:
    """Maps side by side, drawn from a seed: cliffs of 0.2 to 5 m, holes, thicknesses."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.draw = draw
        cell = float(draw.choice([0.5, 1.0, 3.0]))
        origin = np.round(draw.choice([0.0, 1.0, 1e4]) * draw.uniform(-1.0, 1.0, 3))
        thickness = draw.choice([None, 0.3, 2.0, 5.0])
        count = int(draw.integers(1, 4))
        self.lands, faces = [], []
        for k in range(count):
            samples = draw.uniform(-0.3, 0.3, (5, 5)) + (draw.uniform(-5.0, 5.0) if k else 0.0)
            holes = draw.random((4, 4)) < draw.choice([0.0, 0.3])
            place = origin + (4 * cell * (k % 2), 0.0, 4 * cell * (k // 2))
            diagonal = str(draw.choice(["a-c", "b-d", "alternating"]))
            land = HeightMap(
                samples, cell_size=cell, origin=place.tolist(), holes=holes, border="open",
                thickness=thickness, diagonal=diagonal,
            )  # fmt: skip
            self.lands.append(land)
            faces.append(faces_of(land, diagonal))
        self.ground: Any = Ground(self.lands) if count > 1 else self.lands[0]
        self.faces = np.concatenate(faces)
        self.middle = origin + (2.0 * cell * min(count, 2), 0.0, 2.0 * cell * (1 + (count > 2)))
        self.size = 4.0 * cell
        self.height = 8.0

    def outside(self, radius: float = 0.0) -> Floats:
        """Return a place beside, above, below or between the maps, but not in them."""
        while True:
            reach = np.array([1.3 * self.size, self.height, 1.3 * self.size])
            place = np.asarray(self.middle + self.draw.uniform(-1.0, 1.0, 3) * reach)
            far = radius == 0.0 or closest(self.faces, place)[0] > radius
            if far and not is_inside(self.lands, place):
                return place

    def direction(self) -> Floats:
        way = self.draw.normal(size=3)
        return np.asarray(way / np.sqrt(way @ way))


SEEDS = range(24)


@pytest.mark.parametrize("seed", SEEDS)
def test_rays_from_outside_enter_where_the_solid_begins(seed: int) -> None:
    case = Case(seed)
    origins = np.array([case.outside() for _ in range(40)])
    ways = np.array([case.direction() for _ in range(40)])
    hits = case.ground.raycast_many(origins, ways)
    for k in range(40):
        wanted = ray_hits(case.faces, origins[k], ways[k])
        assert hits.distance[k] == pytest.approx(wanted, rel=1e-9, abs=1e-7) or (
            np.isnan(hits.distance[k]) and wanted == np.inf
        )
        one = case.ground.raycast(Ray(origins[k], ways[k]))
        assert (one is None) == bool(np.isnan(hits.distance[k]))
        if one is not None:
            assert (one.distance, one.triangle) == (hits.distance[k], hits.triangle[k])
            assert np.dot(hits.normal[k], ways[k]) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_closest_points_and_contacts_are_those_of_the_solid(seed: int) -> None:
    case = Case(seed)
    places = np.array([case.outside() for _ in range(30)])
    found = case.ground.closest_points(places)
    balls = np.column_stack([places, case.draw.uniform(0.1, 3.0, 30)])
    contacts = case.ground.contacts(balls, keep="deepest")
    every = case.ground.contacts(balls)
    counts = case.ground.contact_counts(balls)
    for k in range(30):
        distance, _ = closest(case.faces, places[k])
        assert found.distance[k] == pytest.approx(distance, rel=1e-9, abs=1e-7)
        one = case.ground.closest_point(places[k])
        assert (one.distance, one.triangle) == (found.distance[k], found.triangle[k])
        own = contacts.depth[contacts.query == k]
        if abs(balls[k, 3] - distance) > 1e-6:
            assert len(own) == int(balls[k, 3] > distance)
        if len(own):
            assert own[0] == pytest.approx(balls[k, 3] - distance, abs=1e-6)
        assert counts[k] == (every.query == k).sum()
        alone = case.ground.contacts(Sphere(places[k], balls[k, 3]))
        np.testing.assert_array_equal(alone.triangle, every.triangle[every.query == k])
        np.testing.assert_array_equal(alone.penetration, every.penetration[every.query == k])


@pytest.mark.parametrize("seed", SEEDS)
def test_sweeps_from_outside_stop_where_they_touch_the_solid(seed: int) -> None:
    case = Case(seed)
    for _ in range(8):
        radius = float(case.draw.uniform(0.05, 0.6))
        start = case.outside(radius)
        motion = case.direction() * case.draw.uniform(1.0, 12.0)
        hit = case.ground.sweep(Sphere(start, radius), motion)
        wanted = travel(case.faces, radius, start, motion)
        own = 1.0 if hit is None else hit.fraction
        assert own == pytest.approx(wanted, abs=2e-6)
        many = case.ground.sweep_many([Sphere(start, radius)] * 2, [motion] * 2)
        if hit is not None:
            assert many.triangle.tolist() == [hit.triangle] * 2


def test_the_order_of_tiles_decides_nothing_but_keys() -> None:
    draw = np.random.default_rng(5)
    levels = [0.0, 2.0, 0.0, -1.0]
    tiles = [
        HeightMap(draw.uniform(-0.2, 0.2, (4, 4)) + level, origin=(3 * (k % 2), 0, 3 * (k // 2)))
        for k, level in enumerate(levels)
    ]
    rays = draw.uniform(-1.0, 7.0, (200, 3)) * (1.0, 0.5, 1.0)
    ways = draw.normal(size=(200, 3))
    answers = []
    for order in itertools.permutations(range(4)):
        ground = Ground([tiles[k] for k in order])
        hits = ground.raycast_many(rays, ways)
        part, own = ground.part_of(hits.triangle)
        tile = np.where(part >= 0, np.array(order)[part], -1)
        answers.append((hits.distance, hits.normal, own, tile))
    for answer in answers[1:]:
        for one, other in zip(answers[0], answer, strict=True):
            np.testing.assert_array_equal(one, other)
    assert (answers[0][2] >= 18).any()  # some hit sides

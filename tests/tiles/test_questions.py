"""Questions to land in tiles of which some are missing: one map of the same samples answers."""

import numpy as np
import pytest

from terrain_physics import AABB, OBB, Boxes, Capsule, Capsules, Ray, Sphere, TriangleMesh
from tests.helpers.digest import digest
from tests.helpers.examples import rest_is_full
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
        self.supply.fetch(numbers[: self.rng.integers(0, len(numbers) + 1)].tolist())

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
        )

    return question


def one_contact(case):
    place = case.places(1)[0]
    return lambda ground: ground.contacts(Sphere(place, 2.0))


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

"""Walked edges: each as a character walks it by itself, on all kinds of ground."""

import math
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
    Walkability,
)
from terrain_physics._kernels.walkability.layout import PlaceArrays
from terrain_physics._kernels.walkability.walkers import _course
from terrain_physics.surface.surface import queries_of
from terrain_physics.walkability import walkers
from terrain_physics.walkability.still_ground import reading_still
from tests.helpers.examples import rest_is_full
from tests.oracles.walked_edges import STEPS, Walks

CAPSULE = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
RULES: dict[str, Any] = {"slope_limit": math.radians(45), "step_offset": 0.35}
AREA = (1, 1), (5, 5)


def walked(paths: Walkability) -> set[int]:
    """Hold that walkers decide all edges as a character walks them; return their kinds."""
    assert paths.update() == 0
    walks, places = Walks(paths), paths._places
    starts = np.repeat(np.arange(len(places)), 8)
    directions = np.tile(np.arange(8), len(places))
    with reading_still(queries_of(paths.ground)) as ground:
        known = starts, directions, ground, paths._walker
        kinds, levels = walkers.walk(places, *known, threads=1)
    shape = places.levels, places.rows, places.columns
    for k, (start, direction) in enumerate(zip(starts, directions, strict=True)):
        place = np.unravel_index(start, shape)
        found = walks.kind((int(place[0]), int(place[1]), int(place[2])), STEPS[direction])
        assert (kinds[k], levels[k]) == found, (place, direction)
    return set(kinds.tolist())


def rough(seed: int = 3, rise: float = 0.2, **options: Any) -> HeightMap:
    """Return rough land."""
    rng = np.random.default_rng(seed)
    return HeightMap(rng.normal(0, rise, (7, 7)).cumsum(axis=0), **options)


def plate(x0: float, z0: float, x1: float, z1: float, y: float, slope: float = 0.0) -> TriangleMesh:
    """Return a rectangle that faces up, and rises along +X by a slope."""
    high = y + slope * (x1 - x0)
    corners = [(x0, y, z0), (x0, y, z1), (x1, high, z0), (x1, high, z1)]
    return TriangleMesh(corners, [(0, 1, 2), (1, 3, 2)])


def stairs(riser: float) -> Ground:
    """Return stairs along +X of steps half a meter deep."""
    parts = [plate(0.5 * k, 0, 0.5 * k + 0.5, 6, k * riser) for k in range(12)]
    walls = [
        TriangleMesh(
            [(x, y, 0), (x, y, 6), (x, y + riser, 0), (x, y + riser, 6)], [(0, 1, 2), (1, 3, 2)]
        )
        for x, y in [(0.5 * k, (k - 1) * riser) for k in range(1, 12)]
    ]
    return Ground([*parts, *walls])


def terrace(height: float, **options: Any) -> HeightMap:
    """Return a level floor with a steep bank up to another one."""
    heights = np.zeros((7, 13))
    heights[:, 8:] = height
    return HeightMap(heights, cell_size=(0.5, 1), **options)


def holed() -> HeightMap:
    """Return rough land with holes."""
    terrain = rough(rise=0.1, thickness=1.0)
    terrain.holes[2, 2:4] = True
    return terrain


def with_ways() -> Ground:
    """Return a floor, a one-way plate that may be climbed through, and a conveyor."""
    ground = Ground([HeightMap(np.zeros((7, 7))), plate(0, 0, 3, 6, 0.2), plate(3, 0, 6, 6, 0.05)])
    ground.set_one_way(1, (0, 1, 0))
    ground.set_surface_velocity(2, (0.5, 0, 1.0))
    return ground


def kerb_behind_a_kerb() -> Ground:
    """Return a low kerb, and one that is too high, whose edge a body could rest on."""
    low = TriangleMesh.box((2, 0.225, 1.8), position=(3, 0.1125, 4.255))
    high = TriangleMesh.box((3.2, 0.387, 0.9), position=(3.7, 0.1935, 1.28))
    return Ground([HeightMap(np.zeros((7, 7))), low, high])


def muddy() -> HeightMap:
    """Return rough land with mud."""
    terrain = rough(rise=0.1, material_names=["grass", "mud"])
    terrain.materials[2:4] = 1
    return terrain


CASES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "rough land": (rough, CAPSULE, {}),
    "slow": (rough, CAPSULE, {"speed": 0.7}),
    "fast": (rough, CAPSULE, {"speed": 11.0}),
    "half meters": (rough, CAPSULE, {"spacing": 0.5, "area": ((2, 2), (4, 4))}),
    "ball": (rough, SphereCollider(0.5, offset=(0, 0.5, 0)), {}),
    "box": (lambda: rough(rise=0.05), BoxCollider((0.4, 0.9, 0.3), offset=(0.1, 0.9, 0)), {}),
    "aside": (rough, CapsuleCollider(0.3, 1.6, offset=(0.2, 0.8, -0.1)), {}),
    "terrace": (lambda: terrace(1.2), CAPSULE, {}),
    "deep": (lambda: terrace(2.5), CAPSULE, {"max_drop": 2.4}),
    "ledge": (lambda: Ground([HeightMap(np.zeros((7, 7))), plate(0, 0, 6, 3.4, 1.2)]), CAPSULE, {}),
    "stairs": (lambda: stairs(0.25), CAPSULE, {}),
    "too high": (lambda: stairs(0.45), CAPSULE, {}),
    "kerbs": (kerb_behind_a_kerb, CAPSULE, {}),
    "holes": (holed, CAPSULE, {}),
    "bridge": (lambda: Ground([rough(), plate(0, 2, 6, 4, 2.2)]), CAPSULE, {}),
    "ways": (with_ways, CAPSULE, {}),
    "mask": (lambda: Ground([rough(), plate(0, 0, 6, 6, 1)], layers=[1, 2]), CAPSULE, {"mask": 1}),
    "mud": (muddy, CAPSULE, {"material_rules": {"mud": {"speed": 0.2, "friction": 0.5}}}),
    "simultaneous": (rough, CAPSULE, {"resolver": "simultaneous", "slope_speed": "surface"}),
    "ramp": (lambda: Ground([plate(0, 0, 6, 6, 0, math.tan(math.radians(45)))]), CAPSULE, {}),
    "floating": (rough, CAPSULE, {"gravity_scale": 0.0}),
}


class TestAsACharacterWalks:
    @pytest.mark.parametrize("name", rest_is_full(CASES, first=4))
    def test_on(self, name: str) -> None:
        make, body, options = CASES[name]
        own: dict[str, Any] = {"area": AREA, "threads": 1} | RULES | options
        walked(Walkability(make(), body, **own))

    def test_all_kinds_come_up(self) -> None:
        assert walked(Walkability(terrace(1.2), CAPSULE, area=AREA, **RULES)) >= {0, 1, 3}
        assert walked(Walkability(stairs(0.25), CAPSULE, area=AREA, **RULES)) >= {0, 2}


def test_who_stands_in_front_of_a_riser_has_not_climbed_it() -> None:
    """The edge of the kerb is a step above, and near enough on the level."""
    paths = Walkability(kerb_behind_a_kerb(), CAPSULE, area=AREA, **RULES)
    paths.update()
    start, end = paths.positions[0, 2, 2], paths.positions[0, 1, 2]  # of the area from (1, 1)
    assert start[1] == 0
    assert start[2] != 3  # beside the grid, at the foot of the low kerb
    assert 0.25 < end[1] < RULES["step_offset"]
    hero = CharacterMovement(paths.ground, CAPSULE, position=start, rules=paths.rules)
    for _ in range(60):
        hero.walk(0, -3)
        hero.update(1 / 60)
    assert hero.position.y == 0
    assert abs(hero.position.z - end[2]) < 0.25
    assert not paths.edges[0, 2, 2, 6:].any()


class TestBatches:
    def test_an_edge_does_not_depend_on_the_others(self) -> None:
        paths = Walkability(rough(), CAPSULE, **RULES)
        paths.update()
        starts, directions = np.repeat(np.arange(49), 8), np.tile(np.arange(8), 49)
        order = np.random.default_rng(1).permutation(len(starts))
        with reading_still(queries_of(paths.ground)) as ground:
            how = ground, paths._walker
            kinds, _ = walkers.walk(paths._places, starts, directions, *how, threads=1)
            for some, threads in ((order, 4), (order[:3], 1), (order[:0], 1)):
                edges = starts[some], directions[some]
                found, _ = walkers.walk(paths._places, *edges, *how, threads=threads)
                assert (found == kinds[some]).all()


def test_an_edge_between_two_places_that_are_one_has_no_direction() -> None:
    """Both bodies rest on the same post, which stands halfway between the points of the grid."""
    asides = np.array([(0.1, 0.0), (-0.1, 0.0)], np.float32)
    empty = np.zeros(2, np.uint16)
    frame = 0.0, 0.0, float(np.float32(0.1)) * 2.0
    places = PlaceArrays(np.zeros(2, np.float32), empty, empty, asides, 1, 1, 2, *frame)
    east = next(d for d in range(8) if (STEPS[d][0], STEPS[d][1]) in {(0, 1), (1, 0)})
    course = _course(places, 0, east)
    assert (course.ahead_x, course.ahead_z, course.length) == (0.0, 0.0, 0.0)

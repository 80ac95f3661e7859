"""The reference scene frame by frame, and small sizes of the rows of `tests.behaviour`."""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import terrain_physics as tp
from demo.scenery.scenes import load_land, reference
from tests.behaviour import crowds, fuzz, hard, lands, places, rough, slopes, stairs, walks
from tests.behaviour.drive import COLLIDERS, RESOLVERS
from tests.behaviour.test_stairs import BODIES
from tests.helpers.draws import Draws

Groups = dict[str, Callable[[], Iterator[Any]]]

FRAMES = 200
PAIRS = list(itertools.product(COLLIDERS, RESOLVERS))


def _reference(steepness: float, **rules: Any) -> Iterator[Any]:
    """Give every frame of the scene; boxes are turned by fractions, without a sine."""
    draws = Draws(1)
    movers = reference(load_land(steepness), drop_from=12.0 * steepness, **rules)
    for mover in movers:
        if isinstance(mover.collider, tp.BoxCollider):
            mover.rotation = draws.turn()
    for frame in range(FRAMES):
        for mover in movers:
            yield mover.update(1 / 60), mover.position64, mover.velocity
            if frame % 8 == 7:
                report = mover.ground_report()
                yield mover.state_hash(), report.state, report.normal, report.point
                yield report.triangle, report.material, report.air_time, report.landing_speed
    for mover in movers:
        yield mover.state_hash(), mover.constraint_planes()


def _walks() -> Iterator[Any]:
    floors = [make(0) for make in (lands.triangulated, lands.scattered)]
    for pair in PAIRS:
        yield walks.flat_walk(*pair, count=4, seconds=1.0)
        for surface, angles in itertools.product((False, True), ((walks.EXACT, 0.25), (0.3, 0.0))):
            yield walks.tilted_walk(*pair, angles, surface=surface, count=4, seconds=1.0)
        for floor in floors:
            yield walks.mesh_walk(floor, *pair, count=4, seconds=1.0)
    for shape, distance in itertools.product(COLLIDERS, (0.0, 1e4, 1e6)):
        path = walks.path_from(distance, shape, seconds=4.0)
        yield path, walks.noise(path)


def _slopes() -> Iterator[Any]:
    for shape, resolver in PAIRS:
        for degrees in (5, 20, 30, 44, 45):
            yield slopes.idle(shape, degrees, resolver, seconds=1.0, friction=20.0)
        for degrees in (46, 50, 60, 80):
            yield slopes.idle(shape, degrees, resolver)
        for degrees, off, zigzag in itertools.product((46, 60, 80), (0, 30), (False, True)):
            yield slopes.push_uphill(shape, degrees, off, zigzag, resolver)
        for degrees, off in ((46, 30), (60, 0), (80, 60)):
            yield slopes.climb(shape, degrees, off, degrees == 60, resolver, seconds=2.0)


def _stairs() -> Iterator[Any]:
    for rise in (0.1, 0.3, 0.31):
        ground = lands.stairs_mesh(rise, 0.3)
        for (collider, stand), degrees in itertools.product(BODIES.values(), (0, 35)):
            for rate in stairs.RATES:
                yield stairs.climb(ground, collider, stand, 0.3, rate, degrees, count=4)
    for rise, (collider, stand) in itertools.product((0.3, 0.31), BODIES.values()):
        yield stairs.climb(lands.stairs_map(rise, 0.3, 3), collider, stand, 0.3, 30, 35, count=3)
    for collider, stand in BODIES.values():
        yield stairs.beside_wall(collider, stand, 0.25, 60)


def _hard() -> Iterator[Any]:
    grounds = (hard.rough_map(0.6), lands.triangulated(3, rough=1.5))
    for k, (body, resolver) in enumerate(itertools.product(hard.ALL.values(), RESOLVERS)):
        for ground in grounds:
            yield hard.on_ground(body, ground, resolver, turned=k % 2 == 0, count=1, frames=24)
        yield hard.thrown_at_sheet(body, resolver, count=3)
    for nook, shape in itertools.product(hard.nooks().values(), ("sphere", "box")):
        yield hard.wedged(nook, hard.ALL[shape], "shuffled", count=1, frames=80)


def _rough() -> Iterator[Any]:
    for k, pair in enumerate(PAIRS):
        for speed, level in ((0.0, k < 3), (50.0, False), (1000.0, False)):
            yield rough.drop(*pair, speed, 2, level=level, every=30)
        yield rough.wander(*pair, (1.0, 3.0)[k % 2], 3, 2.0, every=10)


def _places() -> Iterator[Any]:
    for (ground, at), (shape, resolver) in itertools.product(places.nooks().values(), PAIRS):
        yield places.rest_in(ground, shape, at, resolver)
    for below, shape, walking in itertools.product((0.3, 10.0), COLLIDERS, (False, True)):
        yield places.rescue(shape, below, walking, 2)
    for (shape, resolver), x, y in itertools.product(PAIRS, (-1, 0, 1), (-1, 0, 1)):
        yield places.thrown(shape, (x + 0.13, y - 0.07, 0.21 - x * y), resolver=resolver)
    for pair in PAIRS:
        yield places.jump_below(2.2, *pair), places.saved_runs_agree(*pair, frames=200, save_at=100)


def _crowds() -> Iterator[Any]:
    yield list(crowds.differing(12, 2).items())


def _fuzz() -> Iterator[Any]:
    for seed in range(150):
        yield fuzz.random_scene(seed)


ROWS: Groups = {
    "walks": _walks,
    "slopes": _slopes,
    "stairs": _stairs,
    "hard": _hard,
    "rough": _rough,
    "places": _places,
    "crowds": _crowds,
    "fuzz": _fuzz,
}


def _moves(row: str) -> Iterator[Any]:
    """Give the result and the position of each update that a row makes."""
    fuzz.compile_kernels()  # once per process, and no part of a row
    moved: list[Any] = []
    update, update_all = tp.CharacterMovement.update, tp.CharacterGroup.update

    def seen(mover: tp.CharacterMovement, delta_time: float) -> tp.MoveResult:
        result = update(mover, delta_time)
        moved.append((result, mover.position64))
        return result

    def all_seen(group: tp.CharacterGroup, delta_time: float) -> tp.GroupResult:
        result = update_all(group, delta_time)
        moved.append((result, np.array(group.positions)))
        return result

    with (
        patch.object(tp.CharacterMovement, "update", seen),
        patch.object(tp.CharacterGroup, "update", all_seen),
    ):
        for _ in ROWS[row]():
            yield from moved
            moved.clear()


def rounding() -> Iterator[Any]:
    """Give what the rows make their scenes of, and machines and versions of NumPy may round."""
    angles = np.linspace(-7.0, 7.0, 999)
    yield np.sin(angles), np.cos(angles), np.tan(angles), np.exp(angles), 10.0**angles
    for function in (math.sin, math.cos, math.tan, math.atan):
        yield [function(angle) for angle in angles.tolist()]
    rng = np.random.default_rng(1)
    yield rng.normal(size=999), rng.uniform(-1, 1, 99), rng.permutation(99), rng.choice(99, 9)
    yield np.linalg.qr(rng.normal(size=(9, 3, 3)))[0]


GROUPS: Groups = {
    "reference": partial(_reference, 1.0),
    "reference, steep, sum": partial(_reference, 3.0, ground_rule="sum"),
    "reference, sum, simultaneous": partial(
        _reference, 1.0, ground_rule="sum", resolver="simultaneous", slope_speed="surface"
    ),
}
GROUPS |= {f"behaviour {row}": partial(_moves, row) for row in ROWS}

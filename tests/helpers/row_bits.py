"""The rows of `tests.behaviour` in small sizes: every update that they make.

Their scenes have the same bits on every machine, see `tests.helpers.portable`. What they measure is
no part of a hash: the bounds of `tests.behaviour` judge that.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import terrain_physics as tp
from tests.behaviour import (
    blocks,
    cliffs,
    crowds,
    doors,
    flights,
    fuzz,
    gullies,
    hard,
    lands,
    levels,
    mesh_levels,
    one_ways,
    places,
    rides,
    rough,
    slopes,
    stairs,
    stops,
    throngs,
    walks,
    writes,
)
from tests.behaviour.drive import COLLIDERS, RESOLVERS
from tests.behaviour.rides import Pace
from tests.behaviour.test_doors import MIXED
from tests.behaviour.test_flights import CASES
from tests.behaviour.test_rides import BELTS, RIDDEN, roundabout
from tests.behaviour.test_stairs import BODIES

Groups = dict[str, Callable[[], Iterator[Any]]]

PAIRS = list(itertools.product(COLLIDERS, RESOLVERS))


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
    for seed in range(4):
        yield places.into_side(seed)
        yield cliffs.among(seed)


def _crowds() -> Iterator[Any]:
    yield list(crowds.differing(12, 2).items())


def _fuzz() -> Iterator[Any]:
    for seed in range(150):
        yield fuzz.random_scene(seed)


def _doors() -> Iterator[Any]:
    for body, pace in zip(COLLIDERS, MIXED * 2, strict=False):
        yield doors.slam(body, pace, 4.0, wall=False, walking=-2.0)
        yield doors.slam(body, pace, 10.0, walking=3.0), doors.slam(body, pace, 30.0, hop=True)
        yield doors.swing(body, pace, 6.0), doors.crush(body, pace, 4.0, walking=0.5)
        yield doors.cabin(body, pace, (3, 0, 1), 2.0), doors.into_wall(body, pace, 6.0)
        yield doors.against_ceiling(body, pace, 2.0), doors.doorway(body, pace, 2.0)


def _rides() -> Iterator[Any]:
    bodies, paces = itertools.cycle(COLLIDERS), itertools.cycle(MIXED)
    for motion in rides.MOTIONS.values():
        for _ in COLLIDERS:
            case = motion, next(bodies), next(paces)
            yield rides.idle(*case, seconds=0.4), rides.walk(*case, seconds=0.6)
        for way in BELTS:
            yield rides.belt(next(bodies), next(paces), way, motion, 0.3)
    for way in RIDDEN:
        yield rides.jump(way, next(bodies), next(paces))
    for slows, rules in itertools.product((9.0, 60.0, 1e9), ({}, {"snap_distance": 0.0})):
        yield rides.stop(next(bodies), next(paces), 6.0, slows, **rules)
    for leave in ("velocity", "up", "none"):
        yield rides.stop("capsule", Pace(60, 60), 5.0, 1e9, leave=leave)
    yield [rides.turns(body, roundabout, 3) for body in COLLIDERS]


def _gullies() -> Iterator[Any]:
    for seed in range(24):
        yield gullies.press(gullies.gully_case(seed))
    for body, floor, kind in itertools.product(COLLIDERS, (0.0, 10.0), ("map", "mesh")):
        yield gullies.press(
            gullies.Gully(body, 56.0, 56.0, floor, kind, 0.0, 3.0, 30.0, 30, "simultaneous")
        )


def _one_ways() -> Iterator[Any]:
    paces = itertools.cycle((Pace(20, 20), Pace(60, 60), Pace(30, 60), Pace(120, 30)))
    for body in COLLIDERS:
        for slope, rising in itertools.product((0.0, 20.0, -40.0), (None, 1.0, -0.5)):
            yield one_ways.jump_up(body, next(paces), slope=slope, rising=rising)
        yield [one_ways.walk_through(body, Pace(20, 20), speed) for speed in (-3.0, 3.0)]
        yield one_ways.fall_through(body)


def _flights() -> Iterator[Any]:
    for play, _ in CASES.values():
        for seed in range(12):
            yield play(seed)
    yield [flights.jump_of(body, 1.25, 30) for body in BODIES], flights.jump_too_slow_for_a_slope()


def _throngs() -> Iterator[Any]:
    yield throngs.chase(24, 2.0), throngs.ring(12, 3.0), throngs.streams(16, 3.0)
    yield throngs.doorway(20, 5.0, frame=1 / 20), throngs.corridor(16, 4.0)


def _levels() -> Iterator[Any]:
    for seed in range(8):
        yield levels.ledge(levels.ledge_case(seed)), levels.corner(seed)
        yield [levels.walk_stairs(levels.stair_case(seed), up=up) for up in (True, False)]
    for kind, seed in itertools.product(levels.FALSE_STEPS, range(4)):
        yield levels.false_step(kind, seed)


def _mesh_levels() -> Iterator[Any]:
    for seed in range(8):
        yield mesh_levels.walk(mesh_levels.walk_case(seed, 2))


def _blocks() -> Iterator[Any]:
    for seed in range(5):
        yield blocks.slide(seed), blocks.beside_parapet(seed), blocks.build(seed)


def _stops() -> Iterator[Any]:
    for reason, seed in itertools.product(stops.REASONS, range(6)):
        yield stops.stop(stops.stop_case(reason, seed))


def _writes() -> Iterator[Any]:
    for seed in range(8):
        yield writes.nudged(writes.write_case(seed, far=False))
        yield writes.put_up(writes.write_case(seed, far=True))


ROWS: Groups = {
    "walks": _walks,
    "slopes": _slopes,
    "stairs": _stairs,
    "hard": _hard,
    "rough": _rough,
    "places": _places,
    "levels": _levels,
    "mesh levels": _mesh_levels,
    "blocks": _blocks,
    "gullies": _gullies,
    "flights": _flights,
    "writes": _writes,
    "stops": _stops,
    "rides": _rides,
    "doors": _doors,
    "one ways": _one_ways,
    "crowds": _crowds,
    "throngs": _throngs,
    "fuzz": _fuzz,
}


def _moves(row: str) -> Iterator[Any]:
    """Give what each update that a row makes did, and the position after it."""
    fuzz.compile_kernels()  # once per process, and no part of a row
    moved: list[Any] = []
    update, update_all = tp.CharacterMovement.update, tp.CharacterGroup.update

    def seen(mover: tp.CharacterMovement, delta_time: float) -> tp.MoveResult:
        result = update(mover, delta_time)
        moved.append((result, result.squeezed, result.blocked_by, mover.position64))
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


GROUPS: Groups = {f"behaviour {row}": partial(_moves, row) for row in ROWS}

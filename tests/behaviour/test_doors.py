"""Doors, crushers and cabins: no body ends behind them or in a wall, and squeezes are told."""

import math

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from tests.behaviour import doors
from tests.behaviour.drive import COLLIDERS, RESOLVERS
from tests.behaviour.rides import PACES, Pace
from tests.helpers.pairwise import each_once

IN_WALL, DEPTH = 1e-4, 1e-3  # meters
SPEEDS = (0.5, 4.0, 30.0)
MIXED = (Pace(20, 20), Pace(144, 144), Pace(30, 60), Pace(120, 30))


def is_safe(found):
    return (
        found.wrong == 0
        and found.depth <= IN_WALL
        and found.off <= DEPTH
        and found.lifted <= IN_WALL
        and found.is_free
    )


@pytest.mark.parametrize(
    ("body", "speed", "pace", "walking"), each_once(COLLIDERS, SPEEDS[1:], MIXED, (0.0, -2.0))
)
def test_a_door_pushes_into_the_open(body, speed, pace, walking):
    assert is_safe(doors.slam(body, pace, speed, wall=False, walking=walking))


@pytest.mark.parametrize(
    ("body", "speed", "pace", "walking"), each_once(COLLIDERS, SPEEDS[1:], MIXED, (0.0, 3.0))
)
def test_a_door_squeezes_against_a_wall(body, speed, pace, walking):
    found = doors.slam(body, pace, speed, walking=walking)
    assert is_safe(found)
    assert speed > 4.0 or found.most > 0.2


@pytest.mark.parametrize("body", COLLIDERS)
def test_a_door_of_more_triangles_than_there_is_memory_for(body):
    found = doors.slam(body, MIXED[0], 2.0, door=doors.fine_door(0.05))
    assert is_safe(found)
    assert found.most == doors.slam(body, MIXED[0], 2.0, door=doors.fine_door(4.0)).most > 0.2


@pytest.mark.parametrize(("body", "spin", "pace"), each_once(COLLIDERS, (1.0, 6.0, 20.0), MIXED))
def test_a_swinging_door_sweeps(body, spin, pace):
    assert is_safe(doors.swing(body, pace, spin))


@pytest.mark.parametrize(("body", "speed", "pace"), each_once(COLLIDERS, (0.5, 4.0, 20.0), MIXED))
def test_a_crusher_yields_to_the_floor(body, speed, pace):
    found = doors.crush(body, pace, speed)
    assert is_safe(found)
    assert speed > 4.0 or found.most > 0.3


@pytest.mark.parametrize(
    ("body", "way", "walking", "pace"),
    each_once(COLLIDERS, ((0, 3, 0), (3, 0, 1)), (0.0, 2.0), MIXED),
)
def test_a_cabin_keeps_who_is_in_it(body, way, walking, pace):
    assert is_safe(doors.cabin(body, pace, way, walking))


@pytest.mark.parametrize(("body", "speed", "pace"), each_once(COLLIDERS, (1.0, 6.0), MIXED))
def test_a_wall_holds_back_who_is_carried_at_it(body, speed, pace):
    assert is_safe(doors.into_wall(body, pace, speed))


@pytest.mark.parametrize(("body", "speed", "pace"), each_once(COLLIDERS, (0.5, 1.0), MIXED))
def test_a_lift_yields_to_a_ceiling_over_its_rider(body, speed, pace):
    found = doors.against_ceiling(body, pace, speed)
    assert is_safe(found)
    assert found.most > 0.4


@pytest.mark.long
@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("body", COLLIDERS)
def test_all_doors(body, pace):
    for speed in SPEEDS:
        for walking in (-2.0, 0.0, 3.0):
            assert is_safe(doors.slam(body, pace, speed, walking=walking))
            assert is_safe(doors.crush(body, pace, speed, walking=walking))
    for spin in (1.0, 6.0, 20.0):
        assert is_safe(doors.swing(body, pace, spin))
    for speed in (1.0, 6.0):
        assert is_safe(doors.into_wall(body, pace, speed))
    for way in ((0, 3, 0), (3, 0, 1)):
        for walking in (0.0, 2.0):
            assert is_safe(doors.cabin(body, pace, way, walking))


@pytest.mark.parametrize(("body", "speed", "pace"), each_once(COLLIDERS, (4.0, 10.0, 30.0), MIXED))
def test_a_door_squeezes_who_is_in_the_air(body, speed, pace):
    assert is_safe(doors.slam(body, pace, speed, hop=True))


@pytest.mark.full
@pytest.mark.parametrize(("body", "pace"), each_once(COLLIDERS, (*MIXED, Pace(60, 60))))
def test_a_cabin_keeps_who_is_thrown_about_in_it(body, pace):
    far = 4 if body == "box" else 5
    assert is_safe(doors.cabin(body, pace, (far, 2, far), 2.0))


@pytest.mark.parametrize(("body", "pace"), each_once(COLLIDERS, MIXED))
def test_a_lift_throws_nobody_into_a_ceiling(body, pace):
    assert is_safe(doors.against_ceiling(body, pace, 4.0))


@pytest.mark.parametrize(
    ("body", "heave", "pace"), each_once(COLLIDERS, (0.0, 2.0), (Pace(60, 60), Pace(30, 60)))
)
def test_the_door_of_a_cabin_yields_to_the_cabin(body, heave, pace):
    assert is_safe(doors.doorway(body, pace, heave))


def is_let_go(found):
    return found.inside <= IN_WALL and found.off <= DEPTH and found.hung == 0 and found.walked > 0.9


def failing(seeds):
    """Return the seeds of vises that do not yield, or do not let go, with what came of them."""
    found = {seed: doors.press(doors.vise_case(seed)) for seed in seeds}
    return {seed: pressed for seed, pressed in found.items() if not is_let_go(pressed)}


@pytest.mark.parametrize("leaves", doors.LEAVES)
@pytest.mark.parametrize("body", COLLIDERS)
def test_a_lift_goes_on_through_a_ceiling_and_its_rider_stays_below(body, leaves):
    found = doors.press(doors.lift_on(body, leaves))
    assert is_let_go(found)
    assert found.most > 2.0


@pytest.mark.parametrize("count", [4, pytest.param(100, marks=pytest.mark.full)])
def test_parts_that_go_on_and_on_yield_and_let_go(count):
    assert not failing(range(count))


@pytest.mark.long
def test_all_parts_that_go_on_and_on():
    assert not failing(range(2000))


@pytest.mark.parametrize(("body", "resolver"), each_once(COLLIDERS, RESOLVERS))
def test_who_is_jammed_below_a_ceiling_falls_when_its_block_is_gone(body, resolver):
    height, grounded = doors.jammed(body, resolver)
    assert height == pytest.approx(0.0, abs=1e-6)
    assert grounded


def passed(tall):
    """Let a wall pass a hero that a box of that height holds back.

    Returns (deepest squeeze told after that, how far it walks back in 1 s, its longest way in a
    frame as it walks on past the end of the box).
    """
    land = HeightMap(np.zeros((2, 2)), cell_size=60.0, origin=(-30, 0, -30))
    box = TriangleMesh.box((1, tall, 4), position=(2.5, 0.5 * tall, 0))
    ground = Ground([land, box])
    press = ground.add(TriangleMesh.box((1, 3, 20)), transform=(-1, 1.5, 0))
    hero = CharacterMovement(ground, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)))
    told = longest = 0.0
    for frame in range(300):
        x = -1 + frame / 15
        ground.move(press, (x, 1.5, 0), 1 / 60)
        result = hero.update(1 / 60)
        if x > 2.6:
            told = max([told, *(one.depth for one in result.squeezed)])
    for _ in range(60):
        hero.walk(-1, 0)
        hero.update(1 / 60)
    walked = 1.6 - hero.position64[0]
    for _ in range(180):
        before = np.array(hero.position64)
        hero.walk(0, 2)
        hero.update(1 / 60)
        longest = max(longest, float(np.linalg.norm(np.array(hero.position64) - before)))
    return told, walked, longest


@pytest.mark.parametrize("tall", [1.0, 3.0])
def test_who_a_wall_has_passed_is_free(tall):
    told, walked, longest = passed(tall)
    assert told == 0.0
    assert walked == pytest.approx(1.0, abs=0.01)
    assert longest < 0.04


@pytest.mark.parametrize("body", COLLIDERS)
def test_who_a_lift_has_passed_falls(body):
    """It is below a ceiling that the lift has gone through, and stays there as the ceiling goes."""
    height, told, longest = doors.left_behind(body)
    assert height == pytest.approx(0.0, abs=1e-6)
    assert told == 0.0
    assert longest < 1e-6


def untold(stops):
    """Return the frames in which a body is farther in a door than is told.

    It flies ahead of the door, a little faster, until a wall or another body stops it.
    """
    ground = Ground([HeightMap(np.zeros((2, 2)), cell_size=40.0), TriangleMesh.box((0.1, 4, 4))])
    group = CharacterGroup(ground, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), collide=True)
    group.add("flies", (19.5, 1.5, 20.0))
    if stops == "wall":
        ground.add(TriangleMesh.box((1, 8, 8)), transform=(18.4, 4, 20))
    else:
        tall = CapsuleCollider(0.4, 3.6, offset=(0, 1.8, 0))
        group.add("stands", (18.5, 0.0, 20.0), collider=tall, mass=np.inf)
    ground.move(1, (20.0, 2, 20))
    found = []
    for frame in range(20):
        face = 20.0 - 0.05 * (frame + 1) - 0.05
        ground.move(1, (face + 0.05, 2, 20), 1 / 60)
        group.set_velocities([(-3.1, group["flies"].velocity.y, 0.0)], keys=["flies"])
        told = group.update(1 / 60).squeezed[0]
        if group.positions[0, 0] + 0.4 - face > told + DEPTH:
            found.append(frame)
    return found


@pytest.mark.parametrize("stops", ["wall", "another"])
def test_who_outruns_a_door_in_the_air_is_not_in_it_untold_when_stopped(stops):
    assert untold(stops) == []


def turned_aside(pushed):
    """Return how much farther in a door that goes away a body in the air gets than it tells.

    Alone it would keep off the door: another one pushes it there, or stands in its way.
    """
    ground = Ground([HeightMap(np.zeros((2, 2)), cell_size=40.0), TriangleMesh.box((0.1, 4, 4))])
    group = CharacterGroup(ground, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), collide=True)
    group.add("flies", (20.0, 1.5, 20.0))
    tall, place = CapsuleCollider(0.4, 3.6, offset=(0, 1.8, 0)), (19.6, 0.0, 20.75)
    own, side, most = (0.0, 4.0), 1.0, 0.0
    if pushed:
        own, side, place = (3.0, 0.0), -1.0, (20.85, 0.0, 20.0)
    group.add("other", place, collider=tall, mass=1e9 if pushed else np.inf)
    for frame in range(30):
        face = 20.0 + side * (0.45 + frame / 60)
        ground.move(1, (face + 0.05 * side, 2, 20), 1 / 60 if frame > 0 else None)
        velocity = (own[0], group["flies"].velocity.y, own[1])
        group.set_velocities([velocity], keys=["flies"])
        if pushed:
            group.walk(-3.0, 0.0, keys=["other"])
        told = group.update(1 / 60).squeezed[0]
        most = max(most, 0.4 - side * (face - group.positions[0, 0]) - told)
    return most


@pytest.mark.parametrize("pushed", [True, False])
def test_nobody_is_untold_in_a_door_into_which_others_turn_its_flight(pushed):
    assert turned_aside(pushed) <= DEPTH


def passed_between(rate, speed, thick, gap, other, flies):
    """Return which of two bodies a wall that comes along x has passed: one stands beyond the other.

    ``other`` is where that stands, beside a body in the air or on the ground that flies at (x, z).
    """
    wall = TriangleMesh.box((thick, 8, 12))
    ground = Ground([HeightMap(np.zeros((2, 2)), cell_size=80.0), wall])
    group = CharacterGroup(ground, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), collide=True)
    group.add("flies", (40.0, 1.0, 40.0), mass=80.0)
    tall = CapsuleCollider(0.4, 3.6, offset=(0, 1.8, 0))
    group.add("other", (40.0 + other[0], 0.0, 40.0 + other[1]), collider=tall, mass=800.0)
    back, found = 39.5 - gap - thick, set()
    ground.move(1, (back + 0.5 * thick, 2, 40))
    group.update(1 / rate)
    for _ in range(math.ceil((gap + 3.0) * rate / speed)):
        back += speed / rate
        ground.move(1, (back + 0.5 * thick, 2, 40), 1 / rate)
        group.set_velocities([(flies[0], group["flies"].velocity.y, flies[1])], keys=["flies"])
        group.walk(-3.0, 0.0, keys=["other"])
        group.update(1 / rate)
        found |= set(np.flatnonzero(group.positions[:, 0] < back).tolist())
    return found


@pytest.mark.parametrize(("rate", "speed"), [(60, 66.0), (20, 20.0), (30, 90.0)])
@pytest.mark.parametrize("thick", [0.02, 0.2])
def test_no_fast_wall_passes_who_is_between_it_and_another(rate, speed, thick):
    for gap in (0.0, 0.4, 0.9):
        for other in ((0.9, 0.0), (0.8, 0.4), (1.2, -0.3)):
            assert passed_between(rate, speed, thick, gap, other, (0.0, 0.0)) == set()
            assert passed_between(rate, speed, thick, gap, other, (speed, 0.5)) == set()


def pushed_into_a_sweep(late):
    """Return the place of a body, from the edge of a wall, that is pushed to where it sweeps by.

    The wall goes 2 m along -z in an update, and is at the body after ``late`` of it.
    """
    ground = Ground([HeightMap(np.zeros((2, 2)), cell_size=80.0), TriangleMesh.box((12, 8, 0.1))])
    group = CharacterGroup(ground, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), collide=True)
    group.add("flies", (42.6, 1.0, 40.0), mass=80.0)
    tall = CapsuleCollider(0.4, 3.6, offset=(0, 1.8, 0))
    group.add("other", (43.4, 0.0, 40.0), collider=tall, mass=1e9)
    ground.move(1, (36, 2, 40 + 2 * late))
    group.update(1 / 20)
    ground.move(1, (36, 2, 38 + 2 * late), 1 / 20)
    group.walk(-14.0, 0.0, keys=["other"])
    group.update(1 / 20)
    return group.positions[0] - (42.0, 2.0, 38 + 2 * late)


@pytest.mark.parametrize("late", [0.5, 0.8, 0.9])
def test_no_wall_passes_who_is_pushed_into_its_way_in_the_air(late):
    x, _, z = pushed_into_a_sweep(late)
    assert x >= 0.4 - DEPTH or z < 0.0


def wedged(slope, walking):
    """Return how deep in a wall a body gets that walks up a slope from it, below a slab.

    The slab comes down and presses it down the slope.
    """
    x = np.tile(np.arange(-5.0, 6.0), (11, 1))
    wall = TriangleMesh.box((2, 8, 8), position=(-1.4, 0, 0))
    slab = TriangleMesh.box((2, 2, 2))
    ground = Ground([HeightMap(slope * x, origin=(-5, 0, -5)), slab, wall])
    ball = SphereCollider(0.4, offset=(0, 0.4, 0))
    mover, deepest = CharacterMovement(ground, ball, position=(0.0, 0.05, 0.0)), 0.0
    ground.move(1, (0, 2.1, 0))
    for frame in range(20):
        ground.move(1, (0, 2.05 - 0.05 * frame, 0), 1 / 60)
        mover.walk(walking, 0)
        mover.update(1 / 60)
        deepest = max(deepest, -mover.position64[0])
    return deepest


@pytest.mark.parametrize(("slope", "walking"), [(0.1, 1.0), (0.15, 3.0), (0.3, 3.0)])
def test_a_slab_presses_nobody_down_a_slope_into_a_wall(slope, walking):
    assert wedged(slope, walking) <= IN_WALL


def closed_in(first, second, start, radius, rate):
    """Let two walls close on a body that is made in both, in the air before a wall of a mesh.

    Returns how far its middle stays before the face of that wall.
    """
    land = HeightMap(np.zeros((2, 2)), cell_size=60.0, origin=(-30, 0, -30))
    ground = Ground([land, TriangleMesh.box((3, 20, 40), position=(-8.5, 5, 0))])
    a = ground.add(TriangleMesh.box((1, 4, 13)), transform=(first, 2, 0))
    b = ground.add(TriangleMesh.box((1, 4, 13)), transform=(second, 2, 0))
    collider = CapsuleCollider(radius, 1.8, offset=(0, 0.9, 0))
    hero = CharacterMovement(ground, collider, position=(start, 0.3248, 0.3))
    nearest = math.inf
    for frame in range(30):
        ground.move(a, (first + 0.008 * frame, 2, 0), 1 / rate)
        ground.move(b, (second - 0.025 * frame, 2, 0), 1 / rate)
        hero.update(1 / rate)
        nearest = min(nearest, hero.position64[0] + 7.0)
    return nearest


@pytest.mark.parametrize(
    ("first", "second", "start", "radius", "rate"),
    [
        (-5.562, -6.0252, -6.4134, 0.5, 30),
        (-5.6, -6.0, -6.4, 0.5, 30),
        (-5.55, -6.05, -6.42, 0.5, 30),
        (-5.5, -6.0, -6.45, 0.4, 144),
    ],
)
def test_nobody_is_pushed_through_the_front_of_another_mesh(first, second, start, radius, rate):
    assert closed_in(first, second, start, radius, rate) > 0.0

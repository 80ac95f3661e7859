"""Rides on lifts, turntables, ships and conveyors: what holds on still ground holds there."""

import math

import pytest

from tests.behaviour import rides
from tests.behaviour.drive import COLLIDERS
from tests.helpers.pairwise import each_once
from tests.oracles.motion import pose, turn

EXACT = 1e-9  # meters
LANDING = 1e-3
RIDDEN = ((3, 0, 0), (0, 2, 0), (0, -2, 0), (4, 1.5, -2), (-10, 0, 0))
BELTS = ((2.0, 0.0, 0.0), (0.0, 0.0, -7.5))
GENTLE = (9.0, 9.8)  # m/s^2
ALIKE = rides.ALIKE
SOME = [*ALIKE[:3:2], *(pytest.param(pace, marks=pytest.mark.full) for pace in ALIKE[1::2])]


def stays(found):
    return found.drift < EXACT and found.in_air == 0


def is_carried(found):
    return found.astray < EXACT and found.in_air == 0


def lands_alike(found):
    return found.apart < LANDING and found.late <= 1


@pytest.mark.parametrize(
    ("motion", "body", "pace"), each_once(rides.MOTIONS, COLLIDERS, rides.PACES)
)
def test_who_stands_stays_where_it_is_on_the_part(motion, body, pace):
    seconds = 60.0 / pace.updates + 0.5
    assert stays(rides.idle(rides.MOTIONS[motion], body, pace, seconds))


@pytest.mark.parametrize(
    ("pace", "motion", "body"), each_once(rides.PACES, reversed(rides.MOTIONS), COLLIDERS)
)
def test_who_walks_is_carried_and_then_walks(pace, motion, body):
    seconds = 60.0 / pace.updates + 0.5
    assert is_carried(rides.walk(rides.MOTIONS[motion], body, pace, seconds))


@pytest.mark.parametrize(("way", "body", "pace"), each_once(RIDDEN, COLLIDERS, ALIKE[:3]))
def test_a_jump_is_that_on_still_ground(way, body, pace):
    assert lands_alike(rides.jump(way, body, pace))


@pytest.mark.full
@pytest.mark.parametrize("way", RIDDEN[:3])
def test_a_jump_between_moves_is_that_on_still_ground(way):
    assert lands_alike(rides.jump(way, "capsule", rides.Pace(120, 30)))


@pytest.mark.parametrize(
    ("way", "motion", "pace"),
    each_once(
        BELTS,
        ("lift", "shuttle", "turntable", "ship"),
        (rides.Pace(20, 20), rides.Pace(144, 144), rides.Pace(120, 30)),
    ),
)
def test_a_conveyor_carries_by_velocity_times_time(way, motion, pace):
    assert rides.belt("box", pace, way, rides.MOTIONS[motion], 0.6) < EXACT


@pytest.mark.parametrize(
    ("deceleration", "pace", "snaps"), each_once(GENTLE, ALIKE[:4], (False, True))
)
def test_nobody_leaves_a_lift_that_slows_down_gently(deceleration, pace, snaps):
    rules = {} if snaps else {"snap_distance": 0.0}
    assert rides.stop("capsule", pace, 6.0, deceleration, **rules).in_air == 0


@pytest.mark.parametrize("pace", SOME)
def test_a_lift_that_stops_at_once_throws_by_its_speed(pace):
    speed = 5.0
    found = rides.stop("capsule", pace, speed, 1e9)
    assert found.rise == pytest.approx(speed**2 / (2 * rides.GRAVITY), abs=speed / pace.updates)
    assert found.in_air == pytest.approx(2 * speed / rides.GRAVITY * pace.updates, abs=2)
    assert rides.stop("capsule", pace, speed, 1e9, leave="none").in_air == 0
    assert rides.stop("capsule", pace, 1.0, 1e9).in_air == 0  # lower than it snaps


def trip(t):
    return pose((0.3 * t, rides.HIGH + 0.01 * math.sin(t), 0.1), turn((0, 1, 0), 0.4 * t))


def roundabout(t):
    return pose((0.7, rides.HIGH, -0.2), turn((0, 1, 0), t))


@pytest.mark.parametrize(("motion", "body"), each_once((trip, roundabout), COLLIDERS))
def test_turns_do_not_add_up(motion, body):
    assert rides.turns(body, motion, 40) == 0.0


@pytest.mark.long
@pytest.mark.parametrize("motion", [trip, roundabout])
def test_10_000_turns_do_not_add_up(motion):
    assert rides.turns("capsule", motion, 10_000) == 0.0


@pytest.mark.long
@pytest.mark.parametrize("pace", rides.PACES)
def test_all_rides(pace):
    for body in COLLIDERS:
        for motion in rides.MOTIONS.values():
            assert stays(rides.idle(motion, body, pace, 20.0))
            assert is_carried(rides.walk(motion, body, pace, 20.0))
        for way in RIDDEN:
            assert pace not in ALIKE or lands_alike(rides.jump(way, body, pace))
        for belt in BELTS:
            for motion in rides.MOTIONS.values():
                assert rides.belt(body, pace, belt, motion, 0.7) < EXACT


@pytest.mark.parametrize("velocity", [8.0, -12.0])
def test_a_jump_between_slow_moves_is_that_on_still_ground(velocity):
    found = rides.jump((0.0, velocity, 0.0), "sphere", rides.Pace(30, 60))
    # Every other update the lift is ahead of the time of a body in the air, by an update: it comes
    # upon the body of which the parabola is 12 cm too low, two updates early.
    assert found.late <= 2
    assert found.apart < 2.0 / 60.0 * 1.5  # of two updates


@pytest.mark.full
@pytest.mark.parametrize("deceleration", GENTLE)
def test_nobody_leaves_a_lift_that_slows_down_gently_in_short_moves(deceleration):
    found = rides.stop("sphere", rides.Pace(120, 30), 6.0, deceleration, snap_distance=0.0)
    assert found.in_air == 0


@pytest.mark.parametrize("pace", SOME)
def test_a_lift_that_slows_down_hard_throws(pace):
    """It would rise 5 m over the lift, whatever the rate."""
    assert rides.stop("sphere", pace, 12.0, 60.0).rise > 4.0


@pytest.mark.parametrize(
    ("body", "pace", "rule"), each_once(COLLIDERS, rides.PACES[:-1], rides.KEPT)
)
def test_a_part_that_falls_faster_than_gravity_lets_go(body, pace, rule):
    """It does once the gap that free fall would have left exceeds the snap distance."""
    lag = 5.0 / min(pace)  # what the gap grows by in an update, at most
    found = rides.fall(body, pace, 40.0, 0.7, leave=rule)
    assert found.off > 0.5 * (40.0 - rides.GRAVITY) * 0.7**2 - 0.3 - lag
    assert found.below < 0.3 + lag


@pytest.mark.parametrize("rule", rides.KEPT)
@pytest.mark.parametrize("acceleration", [12.0, 15.0])
def test_a_part_that_falls_a_little_faster_lets_go_beyond_the_snap_distance(rule, acceleration):
    found = rides.fall("capsule", ALIKE[2], acceleration, 1.0, leave=rule)
    assert 0.3 <= found.below < 0.35
    assert found.in_air > 0


@pytest.mark.parametrize(
    ("body", "pace", "rule", "acceleration"),
    each_once(COLLIDERS, ALIKE, rides.KEPT, GENTLE),
)
def test_a_part_that_falls_slower_takes_its_rider_along(body, pace, rule, acceleration):
    found = rides.fall(body, pace, acceleration, 0.7, leave=rule)
    assert found.off < EXACT
    assert found.in_air == 0


STEADY = {
    "up": rides.steady((0.0, 2.0, 0.0)),
    "down": rides.steady((0.0, -2.0, 0.0)),
    "aslant": rides.steady((1.0, -1.5, 2.0)),
    "roundabout": rides.steady((0.0, 0.0, 0.0), 1.2),
    "screw": rides.steady((-1.0, 1.0, 0.5), -0.8),
}
JUMP, WALK = (1.5, 4.0, -0.8), (3.0, 0.0, 0.0)
LEAVES = each_once(rides.KEPT, STEADY, COLLIDERS, ALIKE)


@pytest.mark.parametrize(("rule", "part", "body", "pace"), LEAVES)
def test_who_jumps_off_keeps_what_the_rule_says(rule, part, body, pace):
    assert rides.leave(rule, STEADY[part], body, pace, JUMP, (1.0, 0.7)) < 1e-5


@pytest.mark.parametrize(("rule", "part", "body", "pace"), LEAVES)
def test_who_walks_off_keeps_what_the_rule_says(rule, part, body, pace):
    assert rides.leave(rule, STEADY[part], body, pace, WALK, (5.7, 0.7)) < 1e-5


@pytest.mark.parametrize(("body", "pace", "speed"), each_once(COLLIDERS, ALIKE, (4.0, 6.0)))
def test_a_lift_that_reverses_throws_by_the_rule(body, pace, speed):
    for rule in ("velocity", "up"):
        height, _ = rides.reverse(rule, body, pace, speed)
        assert height == pytest.approx(speed**2 / (2 * rides.GRAVITY), abs=speed / pace.updates)
    height, in_air = rides.reverse("none", body, pace, speed)
    assert in_air == 0
    assert height <= 1e-6

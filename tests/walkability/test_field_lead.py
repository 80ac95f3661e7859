"""A field leads members of a group: all that have a way arrive, at any frame rate and speed."""

import copy
import math
import warnings

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    Ground,
    HeightMap,
    Rewind,
    SphereCollider,
    TriangleMesh,
    World,
)
from terrain_physics._kernels.walkability import layout
from tests.helpers.hand_made_maps import HandMadeMap, flat, open_land, two_floors
from tests.helpers.pairwise import pairwise

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
FRAME = 1 / 60
Flat = tuple[float, float]


def with_door(width: float = 1.0) -> HandMadeMap:
    """Return a map of a floor with a wall along z at x = 9.5, which has a door around z = 10."""
    floor = HeightMap(np.zeros((21, 21)))
    side = 10 - width / 2
    walls = [
        TriangleMesh.box((0.4, 3, side), position=(9.5, 1.5, z)) for z in (side / 2, 20 - side / 2)
    ]

    def kind(a: Flat, b: Flat) -> int:
        through = {a[0], b[0]} == {9, 10}
        return layout.NO_EDGE if through and not a[1] == b[1] == 10 else layout.WALK

    return HandMadeMap(Ground([floor, *walls]), BODY, flat, kind, size=(21, 21))


@pytest.fixture(scope="module")
def door() -> HandMadeMap:
    return with_door()


def crowd_on(door: HandMadeMap, count: int, seed: int = 1, **options: bool) -> CharacterGroup:
    group = CharacterGroup(door.terms.ground, BODY, threads=1, **options)  # type: ignore[arg-type]
    places = np.random.default_rng(seed).uniform((1, 1), (8.5, 19), (count, 2))
    group.add_many(range(count), np.insert(places, 1, 0.0, axis=1))
    return group


@pytest.mark.parametrize(("rate", "speed"), pairwise((20, 60, 144, 360), (1.5, 3.0, 4.5)))
def test_all_arrive_as_fast_as_the_way_is_long(door: HandMadeMap, rate: int, speed: float):
    field, crowd = door.field((16, 4)), crowd_on(door, 20)
    first = field.lead(crowd, speed)
    most = 1.25 * first.max() / speed + 0.5
    for _ in range(math.ceil(most * rate)):
        left = field.lead(crowd, speed)
        crowd.update(1 / rate)
    assert (left == 0).all()
    assert np.hypot(*(crowd.positions[:, ::2] - (16, 4)).T).max() <= 0.25 + 4.5 / 20
    assert (crowd.velocities == 0).all()


def test_what_is_left_falls_as_they_walk_straight(door: HandMadeMap):
    field, crowd = door.field((16, 10)), crowd_on(door, 30)
    before = field.lead(crowd)
    for _ in range(60):
        crowd.update(FRAME)
        left = field.lead(crowd)
        before, gain = left, before - left
        on_the_way = left > 0.3
        assert (gain[on_the_way] > -0.02).all()


def test_members_that_cross_open_ground_do_not_zigzag(door: HandMadeMap):
    field, crowd = door.field((2, 10)), crowd_on(door, 20)
    turns, last = np.zeros(20), None
    for _ in range(400):
        left = field.lead(crowd)
        v = crowd.velocities[:, ::2].copy()
        if last is not None:
            moving = (np.hypot(*v.T) > 0.1) & (np.hypot(*last.T) > 0.1) & (left > 1.5)
            cross = last[:, 0] * v[:, 1] - last[:, 1] * v[:, 0]
            turns += np.where(moving, np.abs(np.arctan2(cross, (last * v).sum(axis=1))), 0.0)
        last = v
        crowd.update(FRAME)
    assert (turns < math.radians(100)).all()  # to a corner of the way, and to the goal


def test_it_stands_still_where_there_is_no_way():
    def kind(a: Flat, b: Flat) -> int:
        return layout.NO_EDGE if min(a[0], b[0]) == 9 and max(a[0], b[0]) == 10 else layout.WALK

    floor = HeightMap(np.zeros((21, 21)))
    cut = HandMadeMap(floor, BODY, flat, kind, size=(21, 21))
    field, crowd = cut.field((16, 4)), crowd_on(cut, 10)
    crowd.walk(2, 0)
    assert np.isinf(field.lead(crowd)).all()
    assert (crowd.velocities == 0).all()
    assert np.isinf(field.distance[0, 5, 3])
    assert (field.direction[0, 5, 3] == 0).all()


def test_what_it_has(door: HandMadeMap):
    field = door.field((16, 10))
    assert field.distance.shape == (1, 21, 21)
    assert field.direction.shape == (1, 21, 21, 2)
    assert (field.distance[0, 10, 16], field.distance[0, 10, 2]) == (0.0, 14.0)
    assert field.direction[0, 10, 2].tolist() == [1.0, 0.0]
    assert field.direction[0, 10, 16].tolist() == [0.0, 0.0]
    assert repr(field) == "<Field of 441 places, 441 with a way>"
    for values in (field.distance, field.direction):
        with pytest.raises(ValueError, match="read-only"):
            values[:] = 0


@pytest.mark.parametrize("many", [30, pytest.param(60, marks=pytest.mark.full)])
def test_a_crowd_that_collides_goes_through_a_door_that_just_fits(many: int):
    narrow = with_door(1.05 * 0.8)
    field, crowd = narrow.field((18, 10)), crowd_on(narrow, many, collide=True)
    for _ in range(60 * 60):
        field.lead(crowd)
        crowd.update(FRAME)
        crowd.remove_many([key for key in crowd if crowd[key].position.x > 12])  # it has room
        if len(crowd) == 0:
            break
    assert len(crowd) == 0


def test_it_sees_only_places_and_leaves_others_alone(door: HandMadeMap):
    field, crowd = door.field((16, 4)), crowd_on(door, 10)
    crowd.walk(1, 1)
    left = field.lead(crowd, keys=[7, 2])
    assert left.shape == (2,)
    others = [k for k in range(10) if k not in {2, 7}]
    assert (crowd.velocities[others] == (1, 0, 1)).all()
    assert (crowd.velocities[[2, 7]] != (1, 0, 1)).any(axis=1).all()
    twin = crowd_on(door, 10)
    assert np.array_equal(field.lead(twin)[[7, 2]], left)
    assert np.array_equal(twin.velocities[[2, 7]], crowd.velocities[[2, 7]])


def test_restored_members_go_on_with_the_same_bits(door: HandMadeMap):
    field, world, crowd = door.field((16, 4)), World(door.terms.ground), crowd_on(door, 20)
    world.add("crowd", crowd)
    rewind = Rewind(world, 8)

    def play() -> list[str]:
        hashes = []
        for _ in range(40):
            field.lead(crowd)
            world.update(0.1)
            hashes.append(world.state_hash())
        return hashes

    play()
    kept = world.state()
    rewind.save(0)
    first = play()
    world.restore(kept)
    assert play() == first
    rewind.restore(0)
    assert play() == first


def test_it_keeps_the_map_as_it_was():
    floor = HeightMap(np.zeros((21, 21)))
    level = HandMadeMap(floor, BODY, flat, open_land, size=(21, 21))
    field, crowd = level.field((16, 4)), crowd_on(level, 10)
    before = field.lead(crowd)
    level.places.kinds[:] = 0
    level.places.heights[:] = np.nan
    assert np.array_equal(field.lead(crowd), before)
    assert np.array_equal(copy.copy(field).lead(crowd), before)


def test_who_stands_at_the_goal_may_sleep(door: HandMadeMap):
    field, group = door.field((16, 4)), CharacterGroup(door.terms.ground, BODY)
    group.add("ada", (16.1, 0, 4))
    for _ in range(5):
        assert field.lead(group).tolist() == [0.0]
        group.update(FRAME)
    asleep = group["ada"]._state().tobytes()
    field.lead(group)
    assert group["ada"]._state().tobytes() == asleep


def test_pushed_members_arrive(door: HandMadeMap):
    field, crowd = door.field((16, 4)), crowd_on(door, 10)
    rng = np.random.default_rng(3)
    for frame in range(900):
        left = field.lead(crowd)
        if frame in {30, 60, 90}:
            crowd.set_velocities(rng.uniform(-5, 5, (10, 3)))
        if frame == 120:
            places = rng.uniform((1, 1), (8, 19), (10, 2))
            crowd.set_positions(np.insert(places, 1, 1.0, axis=1))
        crowd.update(FRAME)
    assert (left == 0).all()


# Refused


def test_a_group_without_members_is_fine(door: HandMadeMap):
    empty = CharacterGroup(door.terms.ground, BODY)
    assert door.field((16, 4)).lead(empty).shape == (0,)


def test_others_are_refused_and_nothing_has_changed(door: HandMadeMap):
    field, crowd = door.field((16, 4)), crowd_on(door, 5)
    crowd.add("Bob", (4, 0, 4), step_offset=0.1)
    crowd.add("big", (4, 0, 8), collider=CapsuleCollider(0.5, 1.8, offset=(0, 0.9, 0)))
    with pytest.raises(ValueError, match=r"^'Bob': step_offset must be the map's, 0\.3, got 0\.1"):
        field.lead(crowd)
    with pytest.raises(ValueError, match=r"^'big': collider must be as large as the map's"):
        field.lead(crowd, keys=[0, "big"])
    with pytest.raises(KeyError, match="nobody"):
        field.lead(crowd, keys=["nobody"])
    for speed in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="speed must be"):
            field.lead(crowd, speed, keys=range(5))
    assert (crowd.velocities == 0).all()
    assert field.lead(crowd, keys=range(5)).shape == (5,)
    with pytest.raises(ValueError, match="ground must be the map's own"):
        field.lead(CharacterGroup(HeightMap(np.zeros((2, 2))), BODY))
    with pytest.raises(TypeError, match="crowd must be"):
        field.lead(crowd[0])  # type: ignore[arg-type]
    balls = CharacterGroup(door.terms.ground, SphereCollider(0.4))
    balls.add(1, (2, 0.4, 2))
    with pytest.raises(ValueError, match=r"^1: collider must be as large"):
        field.lead(balls)


def test_a_speed_far_from_the_maps_is_told_once(door: HandMadeMap):
    field, crowd = door.field((16, 4)), crowd_on(door, 2)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        field.lead(crowd, 1.0)
        field.lead(crowd, 9.0)
    assert [str(one.message)[:18] for one in told] == ["speed is 1 m/s, th"]


def test_places_above_each_other_have_ways_of_their_own():
    """Two floors: on each one, the members go to the goal of their own."""
    field, ground = two_floors(BODY)
    group = CharacterGroup(ground, BODY)
    group.add_many(["below", "above"], [(2, 0, 2), (2, 4, 2)])
    for _ in range(400):
        left = field.lead(group)
        group.update(FRAME)
    assert (left == 0).all()
    assert group.positions.round(0).tolist() == [[7, 0, 7], [7, 4, 2]]

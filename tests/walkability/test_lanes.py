"""Streams that a field leads round houses from both sides pass each other, and all arrive."""

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    Ground,
    HeightMap,
    TriangleMesh,
    Walkability,
)

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))


def streets(side: float, houses: list[tuple[float, float, float, float]]) -> Walkability:
    """Return the map of a square with houses: middles, and sizes, along x and z."""
    land = HeightMap([[0, 0], [0, 0]], cell_size=side)
    boxes = [TriangleMesh.box((wide, 4, long), position=(x, 2, z)) for x, z, wide, long in houses]
    paths = Walkability(Ground([land, *boxes]), BODY, area=((0, 0), (side, side)), threads=1)
    paths.update()
    return paths


def seconds_to_cross(paths, side, columns, rows, seconds, rate=20, **options):
    """Return how long two crowds take from side to side, and how many have not come."""
    x, z = (axis.ravel() for axis in np.meshgrid(columns, rows))
    left = np.column_stack([x, 0 * x, z]).astype(float)
    crowd = CharacterGroup(paths.ground, BODY, collide=True, threads=1, **options)
    crowd.add_many(range(2 * len(left)), np.vstack([left, left * (-1, 1, 1) + (side, 0, 0)]))
    fields = [
        paths.field([(end, z) for z in range(4, round(side) - 3)], nearest=True)
        for end in (side - 4, 4)
    ]
    for frame in range(seconds * rate):
        for number, field in enumerate(fields):
            keys = [key for key in crowd if int(key) // len(left) == number]
            far = field.lead(crowd, keys=keys)
            crowd.remove_many([key for key, one in zip(keys, far, strict=True) if one < 2.0])
        crowd.update(1 / rate)
        if len(crowd) == 0:
            return frame / rate, 0
    return seconds, len(crowd)


@pytest.fixture(scope="module")
def bend() -> Walkability:
    """Return the map of two houses, between which ways bend."""
    return streets(30, [(12, 10, 4, 16), (19, 21, 4, 16)])


@pytest.mark.parametrize("keep_to", ["right", pytest.param("left", marks=pytest.mark.full)])
def test_two_streams_pass_each_other_at_corners(bend, keep_to):
    _, missing = seconds_to_cross(bend, 30, range(3, 7), range(12, 17), 30, keep_to=keep_to)
    assert missing == 0


@pytest.mark.full
@pytest.mark.parametrize("rate", [20, 60])
def test_three_hundred_go_round_houses(rate):
    middles = [(x, z) for x in (18, 30, 42) for z in (12, 24, 36, 48)]
    paths = streets(60, [(x, z, 7, 7) for x, z in middles])
    _, missing = seconds_to_cross(paths, 60, range(2, 12), range(22, 37), 150, rate)
    assert missing == 0


def seconds_of_one_stream(paths, bystander):
    """Return how long a crowd takes from side to side, beside one that it does not lead."""
    starts = [(x, 0, z) for x in range(3, 7) for z in range(12, 17)]
    crowd = CharacterGroup(paths.ground, BODY, collide=True, threads=1)
    crowd.add_many(range(len(starts)), starts)
    if bystander is not None:
        crowd.add("bystander", bystander)
    field = paths.field([(26, z) for z in range(4, 27)], nearest=True)
    for frame in range(20 * 30):
        keys = [key for key in crowd if key != "bystander"]
        far = field.lead(crowd, keys=keys)
        crowd.remove_many([key for key, one in zip(keys, far, strict=True) if one < 2.0])
        crowd.update(1 / 20)
        if len(keys) == 0:
            return frame / 20
    return 30.0


def test_one_stream_beside_a_bystander_is_as_quick_as_alone(bend):
    alone = seconds_of_one_stream(bend, None)
    assert alone == seconds_of_one_stream(bend, (28, 0, 28)) < 30.0


def told(paths, position, goal, others_walk=(-3, 0, 0), **options):
    """Return the walk that a field tells one of a group, five meters before another one."""
    crowd = CharacterGroup(paths.ground, BODY, **options)
    crowd.add("one", position)
    crowd.add("other", (position[0] + 5, 0, position[2]))
    crowd["other"].velocity = others_walk
    paths.field(goal).lead(crowd, keys=["one"])
    return crowd["one"].velocity.x, crowd["one"].velocity.z


@pytest.fixture(scope="module")
def street() -> Walkability:
    """Return the map of one long house."""
    return streets(30, [(15, 10, 20, 4)])


def test_who_keeps_to_a_side_leaves_walls_on_the_other(street):
    """Walkers to positive X have positive Z on their right."""
    beyond, before = (15, 0, 13), (15, 0, 7)
    straight = told(street, beyond, (29, 13), collide=True, keep_to=None)
    assert straight == told(street, beyond, (29, 13)) == (3, 0)
    half = pytest.approx((4.5**0.5, 4.5**0.5), rel=1e-6)
    assert told(street, beyond, (29, 13), collide=True) == half
    assert told(street, before, (29, 7), collide=True) == (3, 0)
    x, z = told(street, before, (29, 7), collide=True, keep_to="left")
    assert (x, -z) == half


@pytest.mark.parametrize(
    ("others_walk", "is_against"),
    [
        ((-3, 0, 0), True),
        ((-2, 0, 1), True),
        ((-2, 0, -1), True),
        ((-0.2, 0, 0), True),
        ((0, 0, 0), False),
        ((3, 0, 0), False),
        ((1, 0, 2), False),
        ((1, 0, -2), False),
    ],
)
def test_room_is_left_to_those_who_come_against_one(street, others_walk, is_against):
    walk = told(street, (15, 0, 13), (29, 13), others_walk, collide=True)
    assert (walk != (3, 0)) == is_against


def test_the_order_of_keys_and_of_others_changes_no_walk(bend):
    starts = [(6 + x, 0, 12 + z) for x in range(8) for z in range(5)]
    walks = []
    for order in (1, -1):
        crowd = CharacterGroup(bend.ground, BODY, collide=True, threads=1)
        for key in range(len(starts))[::order]:
            crowd.add(key, starts[key])
            crowd[key].velocity = (-3 if key % 3 else 3, 0, 0)
        bend.field([(26, 15)]).lead(crowd, keys=list(range(0, len(starts), 3))[::order])
        walks.append([tuple(crowd[key].velocity) for key in range(len(starts))])
    assert walks[0] == walks[1]

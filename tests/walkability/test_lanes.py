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


def told(paths, position, goal, *, is_alone=False, **options):
    """Return the walk that a field tells one of a group, of which it leads nobody else."""
    crowd = CharacterGroup(paths.ground, BODY, **options)
    crowd.add("one", position)
    if not is_alone:
        crowd.add("other", (1, 0, 1))
    paths.field(goal).lead(crowd, keys=["one"])
    return crowd["one"].velocity.x, crowd["one"].velocity.z


def test_who_keeps_to_a_side_leaves_walls_on_the_other():
    """Walkers to positive X have positive Z on their right."""
    paths = streets(30, [(15, 10, 20, 4)])
    beyond, before = (15, 0, 13), (15, 0, 7)
    straight = told(paths, beyond, (29, 13), collide=True, keep_to=None)
    assert straight == told(paths, beyond, (29, 13)) == (3, 0)
    assert straight == told(paths, beyond, (29, 13), collide=True, is_alone=True)
    half = pytest.approx((4.5**0.5, 4.5**0.5), rel=1e-6)
    assert told(paths, beyond, (29, 13), collide=True) == half
    assert told(paths, before, (29, 7), collide=True) == (3, 0)
    x, z = told(paths, before, (29, 7), collide=True, keep_to="left")
    assert (x, -z) == half

"""Another ground under a character, a group and its members."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics.character.colliders import Collider

FRAME = 1 / 60
FLOOR = HeightMap(np.zeros((40, 40)), materials=np.full((39, 39), 3, np.uint8))
LOW = HeightMap(np.full((40, 40), -2.0))
SAME = HeightMap(np.zeros((40, 40)))
FINE = HeightMap(np.zeros((40, 40)), cell_size=0.001)
PLATE = TriangleMesh([(0, -1, 0), (0, -1, 40), (40, -1, 0), (40, -1, 40)], [(0, 1, 2), (2, 1, 3)])
BOTH = Ground([PLATE, HeightMap(np.full((9, 9), -3.0))])
BALL = SphereCollider(0.5)
BODIES: tuple[Collider, ...] = (
    BALL,
    CapsuleCollider(0.3, 1.8, offset=(0, 0.9, 0)),
    BoxCollider((0.3, 0.9, 0.3)),
)


def standing(body=BALL):
    mover = CharacterMovement(FLOOR, body, position=(5, 1, 5))
    for _ in range(60):
        mover.update(FRAME)
    assert mover.grounded
    return mover


def standing_crowd():
    group = CharacterGroup(FLOOR, BALL)
    for number, body in enumerate(BODIES):
        group.add(number, (5 + 3 * number, 1, 5), collider=body)
    for _ in range(60):
        group.update(FRAME)
    assert group.grounded.all()
    return group


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("ground", "height"), [(LOW, -2), (PLATE, -1), (BOTH, -1)])
def test_one_falls_to_the_other_ground(body, ground, height):
    mover = standing(body)
    before = mover.position64[1]
    mover.ground = ground
    assert mover.ground is ground
    assert not mover.update(FRAME).grounded
    for _ in range(120):
        mover.update(FRAME)
    assert mover.grounded
    assert mover.position64[1] - before == pytest.approx(height, abs=1e-5)


def test_a_group_falls_to_the_other_ground_as_each_alone():
    group = standing_crowd()
    movers = [standing(body) for body in BODIES]
    ada = group[0]
    before = group.positions[:, 1]
    group.ground = LOW
    assert group.ground is LOW
    assert ada.ground is group[1].ground is LOW  # one that was asked for before as well
    for mover in movers:
        mover.ground = LOW
    for _ in range(90):
        result = group.update(FRAME)
        results = [mover.update(FRAME) for mover in movers]
        assert result.grounded.tolist() == [one.grounded for one in results]
    assert result.grounded.all()
    assert group.positions[:, 1] - before == pytest.approx(-2.0, abs=1e-5)
    assert group.positions[:, 1].tolist() == [mover.position64[1] for mover in movers]


def test_the_same_place_on_another_ground_is_kept():
    mover, group = standing(), standing_crowd()
    places = mover.position64, group.positions.tolist()
    mover.ground, group.ground = SAME, SAME
    for _ in range(30):
        assert mover.update(FRAME).grounded
        assert group.update(FRAME).grounded.all()
    assert np.allclose(mover.position64, places[0], rtol=0, atol=1e-6)
    assert np.allclose(group.positions, places[1], rtol=0, atol=1e-6)


def test_a_walk_goes_on_over_the_seam():
    """A walker that is put on the next piece of land, streamed in, does not leave the ground."""
    hills = 2 * np.sin(np.arange(60) / 6)[None, :] * np.ones((30, 1))
    pieces = [HeightMap(hills), HeightMap(hills.copy())]
    mover = CharacterMovement(pieces[0], BALL, position=(3, pieces[0].height_at(3, 10) + 0.6, 10))
    for _ in range(20):
        mover.update(FRAME)
    for frame in range(300):
        mover.ground = pieces[frame % 2]
        mover.velocity.x = 5
        assert mover.update(FRAME).grounded


def test_reports_name_no_triangle_of_the_ground_before():
    for ground in (LOW, PLATE, BOTH, SAME):
        mover, group = standing(), standing_crowd()
        assert mover.ground_report().material == 3
        mover.ground = group.ground = ground
        assert (mover.ground_report().triangle, group[0].ground_report().triangle) == (-1, -1)
        assert mover.ground_report().material == 0
        assert len(mover.constraint_planes()) == (ground is SAME)
        mover.update(FRAME)
        assert mover.grounded == (ground is SAME) == (mover.ground_report().triangle >= 0)


JUNK = (None, 3, np.zeros((3, 3)), "land")


@pytest.mark.parametrize("junk", JUNK)
def test_what_is_no_ground_changes_nothing(junk):
    for updated in (standing(), standing_crowd()):
        before = updated.state()
        with pytest.raises(
            TypeError, match="ground must be a HeightMap, a TriangleMesh or a Ground"
        ):
            updated.ground = junk
        assert updated.ground is FLOOR
        assert updated.state() == before


def test_one_that_is_too_fine_changes_nothing():
    mover, group = standing(), standing_crowd()
    before = mover.state(), group.state()
    with pytest.raises(ValueError, match=r"^collider and scale must cover at most 40000 cells"):
        mover.ground = FINE
    with pytest.raises(ValueError, match=r"^0: collider and scale must cover at most 40000 cells"):
        group.ground = FINE
    with pytest.raises(ValueError, match="must cover at most 40000 cells"):
        mover.ground = Ground([PLATE, FINE])
    assert mover.ground is group.ground is FLOOR
    assert (mover.state(), group.state()) == before


def test_a_part_that_is_too_fine_is_refused_by_updates_until_it_goes():
    ground = Ground([FLOOR])
    mover, small = (CharacterMovement(ground, SphereCollider(r), position=(5, 1, 5))
                    for r in (0.5, 0.05))  # fmt: skip
    group = CharacterGroup(ground, BALL)
    group.add("ada", (5, 1, 5), collider=SphereCollider(0.05))
    group.add("bob", (5, 1, 5))
    for each in (mover, small, group):
        each.update(FRAME)
    before = mover.state(), group.state(), mover.position64
    key = ground.add(FINE)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^collider and scale must cover at most 40000 cells"):
            mover.update(FRAME)
        with pytest.raises(ValueError, match=r"^'bob': collider and scale must cover at most"):
            group.update(FRAME)
    small.update(FRAME)
    assert (mover.state(), group.state(), mover.position64) == before
    ground.remove(key)
    twins = copy.deepcopy((mover, group))
    for each in (mover, group, *twins):
        each.update(FRAME)
    assert mover.state_hash() == twins[0].state_hash()
    assert group.state_hash() == twins[1].state_hash()
    key = ground.add(FINE)
    assert mover.resize(SphereCollider(0.05))
    mover.update(FRAME)


def test_a_body_that_shrinks_with_its_owner_fits_again():
    ground, owner = Ground([FLOOR]), SimpleNamespace(position=(5.0, 1.0, 5.0), scale=1.0)
    mover = CharacterMovement(ground, BALL, owner=owner)
    ground.add(FINE)
    with pytest.raises(ValueError, match="must cover at most 40000 cells"):
        mover.update(FRAME)
    owner.scale = 0.1
    mover.update(FRAME)
    owner.scale = 1.0
    with pytest.raises(ValueError, match="must cover at most 40000 cells"):
        mover.update(FRAME)


def test_a_member_stands_where_its_group_does():
    group = standing_crowd()
    with pytest.raises(AttributeError):
        group[0].ground = LOW
    assert group.ground is FLOOR
    ada = group[0]
    group.remove(0)
    with pytest.raises(KeyError):
        _ = ada.ground


def test_an_empty_group_takes_any_ground():
    group = CharacterGroup(FLOOR, SphereCollider(0.001))
    group.ground = FINE
    group.add("ant", (0.01, 0.01, 0.01))
    assert group["ant"].ground is FINE


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("make", [lambda land: land, lambda land: Ground([land])])
def test_a_copy_of_ground_and_character_notices_an_edit_made_before(make, duplicate):
    """`python -m tests.fuzz sequences --cases 1 --seed 20019`."""
    ground = make(HeightMap(np.zeros((9, 9))))
    mover = CharacterMovement(ground, SphereCollider(0.3), position=(4, 0.3, 4))
    for _ in range(30):
        mover.update(1 / 60)
    ground.raise_((4, 0, 4), 3.0, 0.25)
    land, twin = duplicate((ground, mover))
    assert land.version == ground.version
    mover.update(1 / 60)
    twin.update(1 / 60)
    assert twin.position64[1] > 0.5
    assert twin.state_hash() == mover.state_hash()

"""A `CharacterMovement` as one of a group, which updates it."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Recording,
    SphereCollider,
    TriangleMesh,
    replay,
)

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
FRAME = 1 / 60


def _hills():
    x, z = np.meshgrid(np.arange(65), np.arange(65))
    return HeightMap(np.sin(x / 5) * np.cos(z / 7), origin=(-32, 0, -32))


def _pair(land, **options):
    hero = CharacterMovement(land, BODY, position=(0, 3, 0), seed=5, **options)
    alone = copy.deepcopy(hero)
    alone.ground = land
    group = CharacterGroup(land, BODY)
    group.add("hero", movement=hero)
    return group, hero, alone


def test_an_adopted_member_goes_as_it_would_alone_bit_for_bit():
    group, hero, alone = _pair(_hills(), material_rules={1: {"speed": 0.5}})
    for frame in range(200):
        for one in (hero, alone):
            if frame % 50 == 20:
                one.velocity.y = 4.0
            elif frame % 3:
                one.walk(3 * np.sin(frame / 30), 2)
            else:
                one.velocity.x = 1.5
            if frame == 100:
                one.position.x += 0.05
        group.update(FRAME)
        alone.update(FRAME)
        assert hero.state_hash() == alone.state_hash()
        assert hero.position == alone.position
        assert hero.velocity == alone.velocity
        assert hero.grounded == alone.grounded
        assert hero.move_result() == alone.move_result()
        assert hero.ground_report() == alone.ground_report()


def test_an_adopted_character_and_its_member_are_one():
    group, hero, _ = _pair(_hills())
    member = group["hero"]
    group.update(FRAME)
    group.walk(2, 0)
    assert hero.velocity.x == 2
    hero.velocity.x = 1
    group.update(FRAME)
    assert member.velocity.x == hero.velocity.x == 1
    group.set_positions([(5, 4, 5)])
    assert hero.position == glm.vec3(5, 4, 5)
    hero.teleport((1, 2, 3))
    assert group.positions.tolist() == [[1, 2, 3]]
    member.gravity_scale = 0.5
    assert hero.gravity_scale == 0.5
    smaller = CapsuleCollider(0.4, 1.0, offset=(0, 0.9, 0))
    assert hero.resize(smaller)
    assert member.collider == hero.collider == smaller
    hero.material_rules = {3: {"friction": 0.0}}
    assert member.material_rules == hero.material_rules
    hero.max_delta = 0.1
    assert group.max_delta == 0.1


def test_what_the_game_writes_wins_over_what_it_read():
    group, hero, _ = _pair(_hills())
    velocity = hero.velocity
    group.walk(2, 0)
    velocity += glm.vec3(0, 0, 3)
    group.update(FRAME)
    assert group.velocities[0, [0, 2]].tolist() == [2, 3]


def test_owners_are_read_and_moved():
    owner = SimpleNamespace(position=glm.vec3(1, 3, 1), rotation=glm.quat(), scale=1.0)
    land = _hills()
    hero = CharacterMovement(land, BODY, owner=owner)
    group = CharacterGroup(land, BODY)
    group.add(1, movement=hero)
    group.update(FRAME)
    assert owner.position == hero.position
    assert owner.position.y < 3
    owner.position = glm.vec3(2, 5, 2)
    owner.scale = 0.5
    group.update(FRAME)
    assert group.positions[0, [0, 2]].tolist() == [2, 2]
    owner.scale = 0.0
    before = group.state_hash()
    with pytest.raises(ValueError, match="1: "):
        group.update(FRAME)
    assert group.state_hash() == before


def test_bad_numbers_are_refused_with_the_key():
    group, hero, _ = _pair(_hills())
    before = group.state_hash()
    hero.velocity.x = float("nan")
    with pytest.raises(ValueError, match=r"'hero': velocity\.x must be finite"):
        group.update(FRAME)
    assert group.state_hash() == before


def test_rows_may_move():
    land = _hills()
    group, hero, alone = _pair(land)
    group.add_many(range(5), [(9, 3, i) for i in range(5)])
    other = CharacterMovement(land, BODY, position=(3, 3, 3))
    group.add("other", movement=other)
    for frame in range(60):
        if frame == 20:
            group.remove_many([0, 2, "hero"])
            group.add_many(range(100, 200), [(-9, 3, 0.1 * i) for i in range(100)])
        if frame < 20:
            alone.update(FRAME)
        other.walk(1, 1)
        group.update(FRAME)
    assert other.position == group["other"].position
    assert group.positions[list(group).index("other")].tolist() == list(other.position64)
    assert hero.state_hash() == alone.state_hash()
    hero.update(FRAME)
    alone.update(FRAME)
    assert hero.state_hash() == alone.state_hash()


def test_it_comes_to_the_ground_of_the_group_and_leaves_with_it():
    cellar = HeightMap(np.zeros((3, 3)), origin=(-1, -5, -1))
    land = Ground([_hills()])
    hero = CharacterMovement(cellar, BODY, position=(0, -5, 0))
    for _ in range(30):
        hero.update(FRAME)
    group = CharacterGroup(land, BODY)
    group.add("hero", movement=hero)
    assert hero.ground is land
    with pytest.raises(ValueError, match="ground must be left to the group"):
        hero.ground = cellar
    group.update(FRAME)
    group.remove("hero")
    assert hero.ground is land
    hero.ground = cellar
    assert hero.update(FRAME).seconds == FRAME


def test_restoring_the_group_restores_its_adopted_members():
    group, hero, alone = _pair(_hills())
    saved = group.state()
    for _ in range(60):
        hero.walk(3, 0)
        group.update(FRAME)
    group.restore(saved)
    assert hero.position == alone.position
    group.update(FRAME)
    alone.update(FRAME)
    assert hero.state_hash() == alone.state_hash()
    group.restore(CharacterGroup(_hills(), BODY).state())  # where it is not
    assert len(group) == 0
    hero.update(FRAME)
    alone.update(FRAME)
    assert hero.state_hash() == alone.state_hash()


def test_a_refused_update_takes_over_from_no_adopted_member():
    land = _hills()
    group, hero, _ = _pair(land)
    other = CharacterMovement(land, BODY, position=(5, 3, 5))
    group.add("other", movement=other)
    before = group.state_hash()
    hero.velocity.x, other.velocity.x = 3, float("nan")
    with pytest.raises(ValueError, match="'other': velocity"):
        group.update(FRAME)
    assert group.state_hash() == before
    other.velocity = (0, 0, 0)
    group.update(FRAME)
    assert hero.velocity.x == 3


def test_what_the_game_writes_to_adopted_members_is_recorded():
    group, hero, _ = _pair(_hills())
    recording = Recording(group)
    for frame in range(30):
        hero.velocity.x = 0.1 * frame
        if frame == 10:
            hero.position.z += 0.05
        recording.update(FRAME)
    assert replay(recording, lambda: _pair(_hills())[0]) is None


def test_owners_turn_back_where_the_group_is_restored():
    land = Ground([HeightMap(np.zeros((21, 21)), origin=(-10, 0, -10))])
    table = land.add(TriangleMesh.box((4, 0.2, 4)))
    owner = SimpleNamespace(position=glm.vec3(1, 0.3, 0), rotation=glm.quat())
    hero = CharacterMovement(land, BODY, owner=owner, turn_with_ground=True)
    group = CharacterGroup(land, BODY)
    group.add("hero", movement=hero)
    for frame in range(60):
        land.move(table, glm.rotate(0.02 * frame, glm.vec3(0, 1, 0)), FRAME)
        group.update(FRAME)
    saved, turned = group.state(), glm.quat(owner.rotation)
    assert turned.w < 0.9
    group.restore(saved)
    assert abs(glm.dot(owner.rotation, turned)) == pytest.approx(1)
    assert group.state() == saved
    for frame in range(60, 90):
        land.move(table, glm.rotate(0.02 * frame, glm.vec3(0, 1, 0)), FRAME)
        group.update(FRAME)
    group.restore(saved)
    assert abs(glm.dot(owner.rotation, turned)) == pytest.approx(1)


def test_it_keeps_its_own_longest_time():
    group, hero, _ = _pair(_hills(), max_delta=0.02)
    assert hero.max_delta == group.max_delta == 0.25
    group.remove("hero")
    assert hero.max_delta == 0.02


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))]
)
def test_copies_are_apart(copied):
    group, hero, alone = _pair(_hills())
    other, twin = copied(group), copied(hero)
    group.update(FRAME)
    alone.update(FRAME)
    twin.update(FRAME)
    assert twin.state_hash() == hero.state_hash() == alone.state_hash()
    other.walk(5, 5)
    other.update(FRAME)
    assert hero.state_hash() == alone.state_hash() != other["hero"].state_hash()


def test_what_cannot_join_is_refused():
    group, hero, _ = _pair(_hills())
    with pytest.raises(RuntimeError, match=r"update must be left to the group .* key 'hero'"):
        hero.update(FRAME)
    with pytest.raises(
        ValueError, match="'two': movement must be in no group, is in one as 'hero'"
    ):
        CharacterGroup(_hills(), BODY).add("two", movement=hero)
    free = CharacterMovement(_hills(), BODY)
    with pytest.raises(ValueError, match="key must be new"):
        group.add("hero", movement=free)
    with pytest.raises(TypeError, match="'ada': collider must be left to the movement"):
        group.add("ada", movement=free, collider=BODY)
    with pytest.raises(TypeError, match="'ada': mass must be left to the movement"):
        group.add("ada", movement=free, mass=3)
    with pytest.raises(TypeError, match="movement must be a CharacterMovement"):
        group.add("ada", movement=group["hero"])
    with pytest.raises(TypeError, match="'ada': position must be"):
        group.add("ada")
    wide = CharacterMovement(HeightMap(np.zeros((2, 2)), cell_size=100), SphereCollider(150))
    with pytest.raises(ValueError, match="'ada': collider and scale must cover"):
        group.add("ada", movement=wide)
    assert list(group) == ["hero"]
    free.update(FRAME)


def test_a_player_is_pushed_by_a_crowd():
    land = HeightMap(np.zeros((41, 41)), origin=(-20, 0, -20))
    hero = CharacterMovement(land, BODY, position=(0, 0, 0))
    group = CharacterGroup(land, BODY, collide=True)
    group.add_many(range(3), [(-2 - i, 0, 0) for i in range(3)])
    group.add("hero", movement=hero)
    for _ in range(120):
        group.walk(3, 0, keys=range(3))
        group.update(FRAME)
    assert hero.position.x > 1
    group["hero"].mass = np.inf
    assert hero.mass == np.inf

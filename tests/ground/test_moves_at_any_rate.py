"""Moves at other rates than updates, and parts that are put somewhere first or go again."""

from types import SimpleNamespace

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import CharacterMovement, Ground, HeightMap, SphereCollider, TriangleMesh

STILL = glm.quat()
BALL = SphereCollider(0.5)


def ground_with(mesh, depth=-99.0):
    land = HeightMap([[depth] * 2] * 2, cell_size=400, origin=(-200, 0, -200))
    return Ground([land, mesh])


def frames(ground, place, moves, updates, count):
    """Move part 1 along, ``moves`` times a second, and yield once for each update."""
    done = 0
    for frame in range(1, count + 1):
        while done * updates < frame * moves:
            done += 1
            ground.move(1, (place(done / moves), STILL), 1 / moves)
        yield frame


@pytest.mark.parametrize(
    ("moves", "updates", "speed"),
    [(60, 300, 3.0), (60, 360, 3.0), (30, 180, 3.0), (20, 120, 3.0), (10, 60, 3.5), (60, 240, 4.0)],
)
def test_a_steady_lift_throws_nobody(moves, updates, speed):
    ground = ground_with(TriangleMesh.box((4, 0.5, 4)))
    hero = CharacterMovement(ground, BALL, position=(0, 0.75, 0))
    for _ in range(5):
        hero.update(1 / 60)
    for _ in frames(ground, lambda t: (0, speed * t, 0), moves, updates, 2 * updates):
        assert hero.update(1 / updates).grounded
        assert hero.world_velocity.y == pytest.approx(speed, abs=1e-5)


def test_frames_of_uneven_length_throw_nobody():
    ground = ground_with(TriangleMesh.box((4, 0.5, 4)))
    hero = CharacterMovement(ground, BALL, position=(0, 0.75, 0))
    for _ in range(5):
        hero.update(1 / 60)
    for frame in range(1, 61):
        ground.move(1, ((0, frame / 20, 0), STILL), 1 / 60)
        for part in (0.002, 0.002, 1 / 60 - 0.004):
            assert hero.update(part).grounded


@pytest.mark.parametrize(
    ("moves", "updates"), [(60, 60), (60, 360), (20, 120), (20, 360), (120, 30)]
)
def test_who_is_pushed_in_the_air_gets_the_velocity_of_the_part(moves, updates):
    ground = ground_with(TriangleMesh.box((0.2, 8, 8)))
    hero = CharacterMovement(ground, BALL, position=(1.5, 0, 0))
    for _ in frames(ground, lambda t: (3 * t, 0, 0), moves, updates, updates):
        hero.update(1 / updates)
        assert hero.world_velocity.x < 3.0 + 1e-5
    assert hero.world_velocity.x == pytest.approx(3.0, abs=1e-5)
    assert 3.6 - 1e-5 <= hero.position.x < 3.6 + 3 / moves + 0.1


@pytest.mark.parametrize("moves", [120, 240, 360])
def test_many_moves_before_an_update_pass_nobody(moves):
    ground = ground_with(TriangleMesh.box((0.2, 4, 4)), depth=0.0)
    ground.move(1, ((28, 2, 0), STILL))
    hero = CharacterMovement(ground, BALL, position=(30, 0.5, 0))
    hero.update(1 / 60)
    for _ in frames(ground, lambda t: (28 + 20 * t, 2, 0), moves, 20, 8):
        hero.update(1 / 20)
    assert hero.position.x == pytest.approx(36.6, abs=1e-4)


def test_a_part_put_elsewhere_before_its_first_move_leaves_who_stood_on_it():
    ground = ground_with(TriangleMesh.box((4, 0.5, 4)))
    ground.move(1, ((20, 0, 20), STILL))
    hero = CharacterMovement(ground, BALL, position=(20, 0.75, 20))
    for _ in range(5):
        hero.update(1 / 60)
    ground.move(1, ((120, 0, 20), STILL))
    ground.move(1, ((121, 0, 20), STILL), 1 / 60)
    result = hero.update(1 / 60)
    assert not result.grounded
    assert (hero.position.x, hero.velocity.x) == (20, 0)


def test_parts_that_the_mask_does_not_meet_do_not_hide_a_door():
    parts = [TriangleMesh.box((0.2, 4, 4)) for _ in range(9)]
    land = HeightMap([[0.0] * 2] * 2, cell_size=400, origin=(-200, 0, -200))
    ground = Ground([land, *parts], layers=[1, *[2] * 8, 1])
    hero = CharacterMovement(ground, BALL, position=(30, 0.5, 0), mask=1)
    for key in range(1, 9):
        ground.move(key, ((30, 2, 0), STILL), 1 / 60)
    ground.move(9, ((28, 2, 0), STILL))
    hero.update(1 / 60)
    for frame in range(1, 6):
        ground.move(9, ((28 + frame, 2, 0), STILL), 1 / 60)
        hero.update(1 / 60)
    assert hero.position.x == pytest.approx(33.6, abs=1e-4)


def test_who_was_squeezed_by_a_part_that_is_gone_is_squeezed_no_more():
    wall = TriangleMesh.box((1, 4, 8), transform=glm.translate(glm.vec3(3, 2, 0)))
    land = HeightMap([[0.0] * 2] * 2, cell_size=40, origin=(-20, 0, -20))
    ground = Ground([land, TriangleMesh.box((0.2, 4, 4)), wall])
    hero = CharacterMovement(ground, BALL, position=(1.5, 0.5, 0))
    for frame in range(1, 31):
        ground.move(1, ((frame / 20, 2, 0), STILL), 1 / 60)
        result = hero.update(1 / 60)
    assert [squeeze.part for squeeze in result.squeezed] == [1]
    ground.remove(1)
    assert hero.update(1 / 60).squeezed == ()


@pytest.mark.parametrize("tilt", [0.0, 0.17, 0.5])
def test_the_sides_of_a_one_way_part_hold_nobody(tilt):
    ground = ground_with(TriangleMesh.box((4, 1, 4)))
    ground.set_one_way(1, (0, 2, 0))
    for yaw in np.linspace(0.1, 6.1, 13):
        turn = glm.angleAxis(yaw, glm.vec3(0, 1, 0)) * glm.angleAxis(tilt, glm.vec3(0, 0, 1))
        ground.move(1, ((0, 0, 0), turn))
        way = turn * glm.vec3(0, 0, 1)
        hero = CharacterMovement(ground, BALL, position=way * 4, gravity=0)
        for _ in range(30):
            hero.velocity = -6 * way
            hero.update(1 / 60)
        assert glm.distance(hero.position, way) < 1e-3, yaw


@pytest.mark.parametrize("kind", [list, tuple, np.array, glm.quat, glm.mat3])
def test_owners_turn_along_whatever_their_rotation_is(kind):
    rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    given = {
        list: [list(row) for row in rows],
        tuple: tuple(tuple(row) for row in rows),
        np.array: np.array(rows),
        glm.quat: glm.quat(),
        glm.mat3: glm.mat3(),
    }[kind]
    ground = ground_with(TriangleMesh.box((8, 0.5, 8)))
    owner = SimpleNamespace(position=glm.vec3(1, 0.75, 0), rotation=given)
    hero = CharacterMovement(ground, BALL, owner=owner, turn_with_ground=True)
    for frame in range(60):
        ground.move(1, ((0, 0, 0), glm.angleAxis(0.02 * frame, glm.vec3(0, 1, 0))), 1 / 60)
        hero.update(1 / 60)
    expected = np.array(glm.mat3_cast(glm.angleAxis(0.02 * 59, glm.vec3(0, 1, 0))))
    np.testing.assert_allclose(np.array(hero.rotation), expected, atol=1e-5)
    assert type(owner.rotation) is type(given)
    if kind is list:
        assert given == rows

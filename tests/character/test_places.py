"""Places that a game writes: nudges, teleports, and new beginnings."""

import math
from typing import Any

import numpy as np
import pytest
from pyglm import glm

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
from tests.behaviour import lands
from tests.helpers.characters import FLOOR, FRAME, ROUGH, at_rest, ball, run, slope
from tests.helpers.pairwise import each_once

RATES = (20, 24, 30, 50, 60, 90, 120, 144, 240, 360)
BALL = SphereCollider(0.5)
BODIES: tuple[Collider, ...] = (
    BALL,
    CapsuleCollider(0.3, 1.8),
    BoxCollider((0.3, 0.9, 0.3)),
)
STEEP = math.radians(45)


def standing(ground, x, z, body=BALL, **rules):
    """Return a character that has come to stand there."""
    reach = 0.5 if isinstance(body, SphereCollider) else 0.9
    position = (x, ground.height_at(x, z) + reach / math.cos(STEEP) + 0.05, z)
    mover = CharacterMovement(ground, body, position=position, slope_limit=STEEP, **rules)
    run(mover, 60)
    assert at_rest(mover)
    return mover


def crowd_of(mover):
    """Return a group with that character as its only one."""
    group = CharacterGroup(mover.ground)
    group.add(0, mover.position64, collider=mover.collider)
    group[0].restore(mover.state())
    return group


class TestNudges:
    @pytest.mark.parametrize("rate", RATES)
    @pytest.mark.parametrize("body", BODIES)
    def test_a_walker_downhill_keeps_the_ground(self, body, rate):
        """A correction of 1 mm in each frame, as of a network, along, across and up and down."""
        ground = slope(30.0)
        nudges = [(0.001, 0, 0), (-0.001, 0, 0), (0, 0, 0.001), (0, 0.001, 0), (0, -0.001, 0)]
        for nudge in nudges:
            mover = standing(ground, 40, 20, body)
            end = mover.position.x - 4 + nudge[0] * rate
            for _ in range(rate):
                mover.velocity.x = -4
                mover.position += glm.vec3(nudge)
                assert mover.update(1 / rate).grounded
            assert mover.position.x == pytest.approx(end, abs=1e-3)

    @pytest.mark.parametrize("rate", RATES)
    def test_who_is_carried_by_writes_keeps_the_ground(self, rate):
        """A door, an editor or a treadmill: up and down hill by positions alone."""
        hills = HeightMap(2 * np.sin(np.arange(60) / 5)[None, :] * np.ones((30, 1)))
        for body in BODIES:
            mover = standing(hills, 5, 15, body)
            for _ in range(5 * rate):
                mover.position.x += 4.0 / rate
                assert mover.update(1 / rate).grounded
            assert mover.position.x == pytest.approx(25, abs=0.05)

    @pytest.mark.parametrize(
        "rate",
        [
            20,
            60,
            *(pytest.param(rate, marks=pytest.mark.full) for rate in RATES if rate not in {20, 60}),
        ],
    )
    def test_a_lift_that_is_ground_carries(self, rate):
        corners = np.array([(0, 0, 0), (0, 0, 9), (9, 0, 0), (9, 0, 9)], dtype=float)
        for speed in (2.0, -2.0):
            lift = TriangleMesh(corners, [(0, 1, 2), (2, 1, 3)])
            mover = CharacterMovement(lift, BODIES[1], position=(4, 0.9, 4))
            run(mover, 10)
            for frame in range(1, 2 * rate):
                height = speed * frame / rate
                lift.refit(corners + np.array([0, height, 0]))
                mover.position.y = 0.9 + height
                assert mover.update(1 / rate).grounded
                assert mover.position64[1] == pytest.approx(0.9 + height, abs=2e-6)

    @pytest.mark.parametrize("body", BODIES)
    def test_into_a_wall_it_is_pushed_out_and_stands(self, body):
        heights = np.zeros((20, 80))
        heights[:, 40:] = 3.0
        ground = HeightMap(heights, cell_size=0.25)  # the wall leans a little
        mover = standing(ground, 9.0, 2.5, body)
        for _ in range(120):
            mover.position.x += 0.25
            result = mover.update(FRAME)
            assert result.converged
            assert mover.position.x < 10.0
        run(mover, 5)
        assert mover.grounded
        assert mover.position64[1] < 1.5

    @pytest.mark.parametrize("body", BODIES)
    def test_off_a_ledge_it_falls(self, body):
        heights = np.full((40, 40), 0.0)
        heights[:, :20] = 2.0
        ground = HeightMap(heights, cell_size=0.25)
        mover = standing(ground, 4.6, 5, body)
        foot = mover.position64[1]
        for _ in range(4):
            mover.position.x += 0.29
            before = mover.position64[1]
            mover.update(FRAME)
            assert before - mover.position64[1] < mover.snap_distance + 0.01
        run(mover, 60)
        assert mover.grounded
        assert foot - mover.position64[1] == pytest.approx(2.0, abs=1e-4)

    def test_one_at_rest_wakes(self):
        mover = standing(FLOOR, 10, 10)
        mover.position.y += 0.4  # beyond its snap_distance
        assert not mover.update(FRAME).grounded
        mover = standing(FLOOR, 10, 10)
        mover.position.y += 0.2
        assert mover.update(FRAME).grounded
        assert mover.position64[1] == pytest.approx(0.5, abs=1e-6)

    def test_one_in_the_air_stays_there(self):
        mover = ball(position=(10, 5, 10))
        run(mover, 10)
        speed, time = mover.velocity.y, mover.ground_report().air_time
        mover.position.y += 0.01
        mover.update(FRAME)
        assert mover.velocity.y == pytest.approx(speed - 9.81 / 60, abs=1e-6)
        assert mover.ground_report().air_time == pytest.approx(time + FRAME)

    def test_the_limit_is_a_step_or_the_radius(self):
        for rules, limit in (({}, 0.5), ({"step_offset": 0.8}, 0.5), ({"step_offset": 0.0}, 0.5)):
            for share, stands in ((0.99, True), (1.01, False)):
                mover = standing(FLOOR, 10, 10, snap_distance=1.0, **rules)
                mover.position.y += share * limit
                assert mover.update(FRAME).grounded == stands
        for body, limit in ((BODIES[1], 0.6), (BODIES[2], 0.6)):
            for share, stands in ((0.99, True), (1.01, False)):
                mover = standing(FLOOR, 10, 10, body, snap_distance=1.0, step_offset=0.6)
                mover.position.y += share * limit
                assert mover.update(FRAME).grounded == stands

    def test_a_turned_walker_keeps_the_ground(self):
        mover = standing(slope(30.0), 40, 20, BODIES[2])
        for frame in range(120):
            mover.velocity.x = -3
            mover.rotation = glm.angleAxis(0.02 * frame, glm.vec3(0, 1, 0))
            assert mover.update(FRAME).grounded

    def test_crouching_is_no_teleport(self):
        mover = standing(FLOOR, 10, 10, BODIES[1])
        for height in (0.8, 1.8):
            assert mover.resize(CapsuleCollider(0.3, height))
            assert mover.update(FRAME).grounded
            assert mover.position64[1] == pytest.approx(height / 2, abs=1e-5)


class TestTeleports:
    @pytest.mark.parametrize("rate", RATES)
    def test_a_far_write_keeps_the_velocity_and_falls_at_once(self, rate):
        mover = standing(FLOOR, 10, 10)
        mover.velocity = (2, -3, 0)
        mover.position = (20, 30, 20)
        result = mover.update(1 / rate)
        assert not result.grounded
        fall, height = -3 - 9.81 / rate, 30 - 3 / rate - 9.81 / 2 / rate**2
        assert mover.velocity.to_tuple() == pytest.approx((2, fall, 0), abs=1e-6)
        assert mover.position64 == pytest.approx((20 + 2 / rate, height, 20), abs=1e-6)
        assert mover.ground_report().air_time == pytest.approx(1 / rate)
        assert mover.ground_report().state == "airborne"

    def test_a_standing_one_falls_at_once(self):
        mover = standing(FLOOR, 10, 10)
        mover.position.y = 5
        mover.update(FRAME)
        assert mover.velocity.y == pytest.approx(-9.81 / 60, abs=1e-6)

    @pytest.mark.parametrize("body", BODIES)
    def test_teleport_to_the_very_place(self, body):
        mover = standing(FLOOR, 10, 10, body)
        place = mover.position64
        mover.teleport(place)
        assert not mover.grounded
        assert mover.ground_report().state == "airborne"
        assert mover.update(FRAME).grounded  # it lands
        assert mover.position64 == pytest.approx(place, abs=1e-5)

    def test_teleport_gives_the_velocity(self):
        mover = standing(FLOOR, 10, 10)
        mover.velocity.x = 7
        mover.position.z = 3
        mover.teleport((20, 5, 20))
        assert (mover.position64, mover.velocity) == ((20, 5, 20), glm.vec3(0))
        mover.teleport((20, 5.1, 20), velocity=(1, 2, 3))
        mover.update(FRAME)
        assert mover.velocity.to_tuple() == pytest.approx((1, 2 - 9.81 / 60, 3), abs=1e-6)

    def test_near_a_teleport_is_no_nudge_after_it(self):
        mover = standing(FLOOR, 10, 10)
        mover.teleport((10, 0.6, 10))
        mover.position.y += 0.1
        assert not mover.update(FRAME).grounded

    def test_a_climber_forgets_the_step(self):
        mover = standing(lands.stairs_mesh(0.25, 0.3), 4.3, 2.5)
        stepping = False
        for _ in range(60):
            mover.velocity.x = 1.0
            mover.update(FRAME)
            stepping = dict_of(mover)["stepping"] != 0
            if stepping:
                break
        assert stepping
        mover.position.y += 3
        mover.update(FRAME)
        assert dict_of(mover)["stepping"] == dict_of(mover)["step_foot"] == 0

    def test_bad_places_change_nothing(self):
        group = CharacterGroup(FLOOR, BALL)
        group.add(0, (10, 0.5, 10))
        group.update(FRAME)
        for one in (ball(), group[0]):
            before = one.state()
            for call in (one.teleport, one.reset):
                with pytest.raises(ValueError, match=r"position\.y must be finite"):
                    call((0, math.nan, 0))
                with pytest.raises(ValueError, match="velocity must be three numbers"):
                    call((0, 0, 0), (1, 2))
            with pytest.raises(ValueError, match="seed must be from 0"):
                one.reset((0, 0, 0), seed=-1)
            assert one.state() == before
        before = group.state()
        for call in (group.teleport, group.reset):
            with pytest.raises(ValueError, match=r"velocities must have shape \(1, 3\)"):
                call([(0, 0, 0)], [(0, 0)])
            with pytest.raises(ValueError, match=r"0: position must be finite, got"):
                call([(0, math.nan, 0)])
            with pytest.raises(KeyError, match="no character has the key 'x'"):
                call([(0, 0, 0)], keys=["x"])
        with pytest.raises(ValueError, match="seeds must be 1, one for each, got 2"):
            group.reset([(0, 0, 0)], seeds=[1, 2])
        with pytest.raises(TypeError, match="seeds must be iterable, got 5"):
            group.reset([(0, 0, 0)], seeds=5)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="keys must be iterable, got 5"):
            group.reset([(0, 0, 0)], keys=5)  # type: ignore[arg-type]
        assert group.state() == before


def dict_of(mover):
    return mover.state().to_dict()["values"]


class TestReset:
    @pytest.mark.parametrize("body", BODIES)
    @pytest.mark.parametrize("velocity", [(0, 0, 0), (3, 1, -2)])
    def test_it_goes_on_as_a_new_one(self, body, velocity):
        def go_on(mover):
            hashes = []
            for frame in range(120):
                if frame > 60:
                    mover.velocity.x = 3
                mover.update(FRAME)
                hashes.append(mover.state_hash())
            return hashes

        rules: Any = {"slope_limit": STEEP, "gravity": 12.0}
        used = CharacterMovement(ROUGH, body, position=(20, 9, 20), seed=5, **rules)
        for frame in range(200):
            used.velocity.x = 4 * math.sin(frame / 9)
            used.update(FRAME)
        used.velocity.y, used.position.x = 9, 7
        for seed in (5, 8):
            new = CharacterMovement(ROUGH, body, position=(8, 3, 8), seed=seed, **rules)
            if any(velocity):
                new.velocity = velocity
                new.state()
            used.reset((8, 3, 8), velocity, seed=None if seed == 5 else seed)
            assert used.move_result() == new.move_result()
            assert used.ground_report() == new.ground_report()
            assert go_on(used) == go_on(new)

    def test_members_begin_as_their_keys_say(self):
        group = CharacterGroup(ROUGH, BODIES[1], seed=3)
        places = [(8, 3, 8), (20, 3, 12), (30, 3, 30)]
        for key, place in zip("abc", places, strict=True):
            group.add(key, place)
        new = group.state()
        for _ in range(60):
            group.set_velocities([(3, 0, 1)] * 3)
            group.update(FRAME)
        group["b"].reset(places[1])
        group.reset([places[2], places[0]], keys=["c", "a"])
        assert group.state() == new
        group.reset(places, [(0, 0, 0), (1, 2, 3), (0, 0, 0)], seeds=[7, 8, 9])
        assert group["b"].velocity == glm.vec3(1, 2, 3)
        assert group["b"].state().random_state == 8


class TestOwners:
    def test_they_are_put_there_too(self):
        class Sprite:
            position = glm.vec3(10, 0.5, 10)

        for call in ("teleport", "reset"):
            owner = Sprite()
            mover = CharacterMovement(FLOOR, BALL, owner=owner)
            run(mover, 5)
            owner.position = glm.vec3(1, 2, 3)  # which nobody has looked at
            getattr(mover, call)((20, 5, 20))
            assert owner.position == glm.vec3(20, 5, 20)
            mover.update(FRAME)
            assert mover.position64[0] == 20

    def test_one_that_is_moved_a_little_keeps_the_ground(self):
        ground = slope(30.0)

        class Sprite:
            position = glm.vec3(standing(ground, 40, 20).position64)

        owner = Sprite()
        mover = CharacterMovement(ground, BALL, owner=owner, slope_limit=STEEP)
        run(mover, 20)
        for _ in range(60):
            owner.position = owner.position + glm.vec3(0.001, 0, 0)
            mover.velocity.x = -3
            assert mover.update(FRAME).grounded


def on_slope(ground, body, x, share):
    """Return where a body touches a slope, ``share`` of the way up from where its foot is on it."""
    is_box, radius = isinstance(body, BoxCollider), 0.5 if body is BALL else 0.3
    rise = ground.height_at(1, 20) - ground.height_at(0, 20)
    up = radius * (rise if is_box else math.hypot(1, rise) - 1)
    return (x, ground.height_at(x, 20) + (0.5 if body is BALL else 0.9) + share * up, 20)


class TestFirstUpdates:
    @pytest.mark.parametrize("rate", [20, 60, 360])
    @pytest.mark.parametrize("degrees", [10, 20, 27])
    @pytest.mark.parametrize("body", BODIES)
    def test_who_is_put_on_a_slope_walks_down_it(self, body, degrees, rate):
        """With the foot on the slope, or touching it; made there, or teleported."""
        ground = slope(degrees)
        for share, speed in ((0, 6), (1, 6), (1, 0.5)):
            mover = CharacterMovement(ground, body, position=on_slope(ground, body, 40, share))
            for x in (40, 30):
                mover.teleport(on_slope(ground, body, x, share))
                for _ in range(6):
                    mover.walk(-speed, speed)
                    result = mover.update(1 / rate)
                    assert (result.grounded, result.just_landed) == (True, False)
                if share == 1:
                    assert mover.position.x == pytest.approx(x - 6 * speed / rate, abs=1e-4)

    @pytest.mark.parametrize("body", BODIES)
    @pytest.mark.parametrize("rule", ["contact", "sum"])
    @pytest.mark.parametrize("moves", [False, True])
    def test_who_is_put_on_a_floor_has_not_landed(self, body, rule, moves):
        ground = Ground(TriangleMesh.box((20, 2, 20), position=(10, -1, 10)))
        if moves:
            ground.move(0, (0, 0, 0), FRAME)
        height = 0.5 if body is BALL else 0.9
        mover = CharacterMovement(ground, body, position=(5, height, 5), ground_rule=rule)
        for place in ((5, height, 5), (15, height, 15)):
            mover.teleport(place)
            result = mover.update(FRAME)
            assert (result.grounded, result.just_landed) == (True, False)
        mover.teleport((5, height + 0.01, 5), (0, -1, 0))
        assert mover.update(FRAME).just_landed

    def test_who_jumps_in_the_first_update_flies(self):
        mover = ball()
        mover.velocity.y = 4
        result = mover.update(FRAME)
        assert (result.grounded, result.just_left, mover.position.y > 0.5) == (False, False, True)

    def test_who_is_put_on_a_steep_slope_slides(self):
        ground = slope(60)
        mover = CharacterMovement(ground, BALL, position=on_slope(ground, BALL, 40, 1))
        assert not any(mover.update(FRAME).grounded for _ in range(10))
        assert mover.position.x < 40


@pytest.mark.parametrize(("size", "body"), each_once((0.001, 0.2, 0.45, 0.55, 3.0), BODIES))
def test_one_alone_a_member_and_arrays_are_the_same(size, body):
    rng = np.random.default_rng(4)
    alone = CharacterMovement(ROUGH, body, position=(20, 3, 20))
    run(alone, 60)
    movers = [alone, crowd_of(alone)[0], crowd_of(alone)]
    for _ in range(60):
        way, drive, kind = rng.normal(size=3), rng.uniform(-3, 3, 3), rng.integers(4)
        way *= size / np.linalg.norm(way)
        alone, member, group = movers
        place = np.array(alone.position64) + way
        if kind == 0:
            alone.position, member.position = place, place
            group.set_positions([place])
        elif kind == 1:
            alone.teleport(place, drive)
            member.teleport(place, drive)
            group.teleport([place], [drive], keys=[0])
        elif kind == 2:
            for one in (alone, member):
                one.position = place  # and back
                one.position = place - way
            group.positions = [place]
            group.positions = [place - way]
        if rng.random() < 0.3:
            drive[1] = 0
            alone.velocity, member.velocity = drive, drive
            group.set_velocities([drive])
        alone.update(FRAME)
        member._data.ground, _ = ROUGH, None
        movers[1] = updated(member)
        group.update(FRAME)
        assert alone.state_hash() == movers[1].state_hash() == group[0].state_hash()


def updated(member):
    """Return a member of another group that has lived one more frame."""
    group = CharacterGroup(ROUGH)
    group.add(0, (0, 0, 0), collider=member.collider)
    group[0].restore(member.state())
    group.update(FRAME)
    return group[0]

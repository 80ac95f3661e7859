"""States of characters: values that a game writes and saves, and bad input."""

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics._kernels.character.state import layout as columns
from tests.helpers.characters import FLOOR, FRAME, ROUGH, at_rest, ball, run, slope


class TestLiveVectors:
    def test_velocity_can_be_written_by_part(self):
        mover = ball()
        mover.update(FRAME)
        mover.velocity.x = 4
        mover.update(FRAME)
        assert mover.position64[0] == pytest.approx(10.3 + 4 / 60, abs=1e-12)
        mover.velocity += glm.vec3(0, 5, 0)
        mover.update(FRAME)
        assert mover.position.y > 0.55
        mover.velocity = (0, 0, 0)
        assert mover.velocity == glm.vec3(0)

    def test_a_held_reference_stays_live(self):
        mover = ball(position=(10, 5, 10))
        velocity, position = mover.velocity, mover.position
        mover.update(FRAME)
        assert velocity.y == pytest.approx(-9.81 / 60)
        assert position.y == mover.position.y
        velocity.z = 2
        mover.update(FRAME)
        assert position.z == pytest.approx(10 + 2 / 60)

    def test_parts_not_written_keep_their_float64(self):
        mover = ball(position=(10 + 1e-12, 5 + 1e-12, 10))
        mover.position.z = 12
        mover.velocity.x = 1
        mover.update(1e-9)
        assert mover.position64[0] == 10 + 1e-12 + 1e-9
        assert mover.position64[2] == 12

    def test_setting_the_speed_again_is_driving(self):
        mover = ball(ground_friction=6.0)
        mover.update(FRAME)
        for _ in range(5):
            mover.velocity.x = 4.0
            mover.update(FRAME)
            assert mover.velocity.x == 4.0

    def test_teleport_wakes_a_resting_body(self):
        mover = ball()
        run(mover, 10)
        mover.position.y = 3
        assert not mover.update(FRAME).grounded
        mover.position = (12, 0.5, 12)
        assert mover.update(FRAME).grounded

    def test_setting_one_vector_keeps_what_was_written_to_the_other(self):
        mover = ball()
        mover.position.y = 3
        mover.velocity = (0, 0, 0)
        mover.update(FRAME)
        assert mover.position.y == pytest.approx(3, abs=0.01)
        mover.velocity.x = 4
        mover.position = (12, 0.5, 12)
        mover.update(FRAME)
        assert mover.position.x == pytest.approx(12 + 4 / 60)

    def test_the_live_vectors_are_vec3(self):
        mover = ball()
        assert isinstance(mover.velocity, glm.vec3)
        assert repr(mover.position) == repr(glm.vec3(10.3, 0.5, 10.7))
        assert str(mover.position) == str(glm.vec3(10.3, 0.5, 10.7))
        assert glm.length(mover.position - glm.vec3(10.3, 0.5, 10.7)) == 0
        mover.velocity[0] = 2
        mover.update(FRAME)
        assert mover.position.x > 10.3


def places_in_a_corner(resolver, seeds):
    """Return where balls of some seeds are pushed to that overlap a floor and two walls."""
    x, z = 9 * math.cos(0.6), 9 * math.sin(0.6)
    corners = [(0, 0, 0), (9, 0, 0), (x, 0, z), (1, 6, 0.5), (9, 6, 0.5), (x, 6, z)]
    nook = TriangleMesh(corners, [(0, 2, 1), (0, 1, 4), (0, 4, 3), (2, 0, 3), (2, 3, 5)])
    places = []
    for seed in seeds:
        mover = CharacterMovement(
            nook, SphereCollider(0.5), position=(1.55, 0.45, 0.5), seed=seed, resolver=resolver
        )
        mover.update(FRAME)
        places.append(mover.position64)
    return places


class TestState:
    def test_same_seed_same_bits_and_other_seeds_shuffle_otherwise(self):
        hashes = []
        for seed in (1, 1):
            mover = ball(ROUGH, position=(10.3, 4, 10.7), seed=seed)
            for frame in range(240):
                mover.velocity.x = 3 if frame < 200 else 0
                mover.update(FRAME)
            hashes.append(mover.state_hash())
        assert hashes[0] == hashes[1]
        assert len(set(places_in_a_corner("shuffled", [1, 1]))) == 1
        assert len(set(places_in_a_corner("shuffled", range(8)))) > 4
        assert len(set(places_in_a_corner("simultaneous", range(8)))) == 1

    @pytest.mark.parametrize(
        "collider", [SphereCollider(0.7), BoxCollider((0.4, 0.9, 0.4), offset=(0.1, 0, 0))]
    )
    def test_restore_goes_on_with_the_same_bits(self, collider):
        def walk(mover, frames):
            for frame in frames:
                mover.velocity.x = math.copysign(3.0, math.sin(frame / 20))
                mover.velocity.z = 1.5
                mover.update(FRAME)
            return mover.state_hash(), mover.position64

        first = CharacterMovement(ROUGH, collider, position=(8, 3, 8), seed=7)
        walk(first, range(100))
        saved = pickle.loads(pickle.dumps(first.state()))
        assert saved == first.state()
        assert hash(saved) == hash(first.state())
        end = walk(first, range(100, 200))
        first.restore(saved)
        assert walk(first, range(100, 200)) == end
        other = CharacterMovement(ROUGH, collider, gravity=3, slope_limit=1, seed=99)
        other.restore(saved)
        assert other.gravity == 9.81
        assert walk(other, range(100, 200)) == end

    def test_state_is_small(self):
        assert len(pickle.dumps(ball().state())) < 1500

    def test_restore_refuses_what_does_not_fit(self):
        mover = ball()
        before = mover.state_hash()
        box = CharacterMovement(FLOOR, BoxCollider((1, 1, 1)))
        with pytest.raises(
            ValueError, match=r"same kind of collider, got BoxCollider.* for Sphere"
        ):
            mover.restore(box.state())
        with pytest.raises(TypeError, match="state must be a CharacterState"):
            mover.restore("state")
        good = mover.state()
        nothing = dataclasses.replace(good, rules=(0.0,) * len(good.rules))
        for junk, message in (
            (
                dataclasses.replace(good, values=(0.0,)),
                f"values must have shape .{len(good.values)}",
            ),
            (
                dataclasses.replace(good, values=(math.nan, *good.values[1:])),
                "values must be finite",
            ),
            (nothing, "state: max_rounds must be whole and from 1 to 1000, got 0.0"),
            (dataclasses.replace(good, linear=(1.0,)), "linear must have shape"),
            (dataclasses.replace(good, random_state=-1), "random_state must be from 0"),
        ):
            with pytest.raises(ValueError, match=message):
                mover.restore(junk)
        assert mover.state_hash() == before

    def test_rest_is_bit_identical_and_draws_nothing(self):
        mover = ball(ROUGH, position=(10.3, 4, 10.7))
        run(mover, 300)
        assert at_rest(mover)
        before = mover.state()
        result = run(mover, 600)
        assert mover.state() == before
        assert result.grounded

    @pytest.mark.parametrize(("name", "value"), [("slope_limit", 0.001), ("gravity_scale", -1.0)])
    def test_changed_rules_end_the_rest(self, name, value):
        ground = slope(20)
        mover = ball(ground, (30, ground.height_at(30, 30) + 1, 30))
        run(mover, 120)
        assert at_rest(mover)
        setattr(mover, name, value)
        assert getattr(mover, name) == value
        mover.update(FRAME)
        assert not mover.grounded

    def test_driving_is_part_of_the_state(self):
        mover = ball(ground_friction=20)
        mover.update(FRAME)
        mover.velocity = (4, 0, 0)
        saved = mover.state()
        mover.update(FRAME)
        assert mover.velocity.x == 4
        mover.restore(saved)
        mover.update(FRAME)
        assert mover.velocity.x == 4

    def test_a_generator_gives_the_seed_once(self):
        rng = np.random.default_rng(3)
        mover = ball(seed=rng)
        assert mover.state().random_state == int(
            np.random.default_rng(3).integers(0, 2**64, dtype=np.uint64)
        )

    def test_relative_position_is_exact_far_away(self):
        mover = ball(position=(1e8 + 0.25, 0.5, -1e8))
        assert mover.relative_position((1e8, 0, -1e8)) == glm.vec3(0.25, 0.5, 0)


BAD_PARAMETERS = [
    ({"position": (1, 2)}, ValueError, "position must be three numbers, got 2"),
    ({"position": (1, math.nan, 0)}, ValueError, "position.y must be finite, got nan"),
    ({"position": "abc"}, TypeError, "position must be three numbers"),
    ({"rotation": glm.mat3(2)}, ValueError, "rotation must be orthonormal"),
    ({"gravity": math.inf}, ValueError, "gravity must be finite, got inf"),
    ({"gravity": "9.81"}, TypeError, "gravity must be a finite number, got '9.81'"),
    ({"gravity_scale": math.nan}, ValueError, "gravity_scale must be finite, got nan"),
    ({"slope_limit": 2.0}, ValueError, "slope_limit must be from 0 to pi / 2 radians, got 2.0"),
    ({"slope_limit": -0.1}, ValueError, "slope_limit must be from 0 to pi / 2 radians, got -0.1"),
    ({"ground_rule": "best"}, ValueError, "ground_rule must be one of 'contact', 'sum'"),
    ({"ground_friction": -1}, ValueError, "ground_friction must be finite and >= 0, got -1.0"),
    (
        {"resolver": "magic"},
        ValueError,
        "resolver must be one of 'shuffled', 'simultaneous', got 'magic'",
    ),
    ({"max_rounds": 0}, ValueError, "max_rounds must be from 1 to 1000, got 0"),
    ({"max_rounds": 1.5}, TypeError, "max_rounds must be a whole number, got 1.5"),
    ({"mask": -1}, ValueError, "mask must be from 0 to 4294967295, got -1"),
    ({"mask": 1.0}, TypeError, "mask must be a whole number, got 1.0"),
    ({"seed": -1}, ValueError, "seed must be from 0 to"),
    ({"seed": "x"}, TypeError, "seed must be a whole number, got 'x'"),
    ({"owner": object()}, TypeError, "owner must have a position, a transform or"),
]


class TestBadInput:
    @pytest.mark.parametrize(("parameters", "error", "message"), BAD_PARAMETERS)
    def test_constructor(self, parameters, error, message):
        with pytest.raises(error, match=message):
            CharacterMovement(FLOOR, SphereCollider(0.5), **parameters)

    def test_ground_and_collider(self):
        with pytest.raises(TypeError, match="ground must be a HeightMap"):
            CharacterMovement(np.zeros((3, 3)), SphereCollider(1))  # type: ignore[arg-type]
        with pytest.raises(
            TypeError, match="collider must be a SphereCollider, a BoxCollider or a CapsuleCollider"
        ):
            CharacterMovement(FLOOR, 0.5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="collider and scale must cover at most"):
            CharacterMovement(FLOOR, SphereCollider(1e7))
        roof = TriangleMesh([(0, 9, 0), (0, 9, 4), (4, 9, 0)], [(0, 1, 2)])
        with pytest.raises(ValueError, match="collider and scale must cover at most"):
            CharacterMovement(Ground([roof, FLOOR]), SphereCollider(1e7))

    @pytest.mark.parametrize("name", ["slope_limit", "gravity_scale", "step_offset"])
    def test_rules_set_in_each_frame_do_not_lift_a_walker_off_a_slope(self, name):
        mover = ball(slope(22.0), (4, 6, 10), slope_limit=math.radians(45))
        run(mover, 60)
        for _ in range(60):
            mover.velocity.x = -1.0 if mover.ground_normal.x < 0.0 else 1.0
            setattr(mover, name, getattr(mover, name))
            assert mover.update(FRAME).grounded

    def test_edits_elsewhere_do_not_lift_a_walker_off_a_slope(self):
        land = slope(22.0)
        mover = ball(land, (4, 6, 10), slope_limit=math.radians(45))
        run(mover, 60)
        for _ in range(60):
            mover.velocity.x = -1.0
            land.carve((50, 50), 2, 0.01)
            assert mover.update(FRAME).grounded

    def test_who_stands_goes_down_with_the_ground(self):
        land = HeightMap(np.zeros((9, 9)))
        mover = ball(land, (4, 0.5, 4))
        run(mover, 5)
        for _ in range(60):
            land[:, :] -= 1 / 60
            assert mover.update(FRAME).grounded
        assert mover.position64[1] == pytest.approx(-0.5, abs=1e-5)

    def test_a_copy_goes_its_own_way(self):
        mover = ball()
        run(mover, 5)
        before = mover.state_hash()
        again = copy.copy(mover)
        again.velocity.y = 5
        again.slope_limit = 0.1
        run(again, 3)
        assert mover.state_hash() == before
        assert again.position.y > mover.position.y

    def test_the_collider_is_that_of_the_last_resize(self):
        mover = ball()
        before = mover.collider
        smaller = SphereCollider(0.5 * before.radius)
        assert mover.resize(smaller)
        assert mover.collider == smaller != before

    @pytest.mark.parametrize("name", ["gravity", "slope_limit", "ground_friction", "position"])
    def test_a_refused_value_changes_nothing(self, name):
        mover = ball()
        before = mover.state_hash()
        with pytest.raises(ValueError, match=name):
            setattr(mover, name, math.nan if name != "position" else (0, math.inf, 0))
        assert mover.state_hash() == before

    @pytest.mark.parametrize("vector", ["velocity", "position"])
    @pytest.mark.parametrize("junk", [math.nan, math.inf])
    def test_junk_written_to_a_live_vector(self, vector, junk):
        mover = ball()
        before = mover.state_hash()
        getattr(mover, vector).y = junk
        with pytest.raises(ValueError, match=rf"{vector}\.y must be finite"):
            mover.update(FRAME)
        assert mover.state_hash() == before
        getattr(mover, vector).y = 0.5
        mover.update(FRAME)


@pytest.mark.parametrize("way", [copy.deepcopy, lambda mover: pickle.loads(pickle.dumps(mover))])
def test_a_copy_goes_its_own_way_with_the_same_bits(way):
    mover = ball(ROUGH, position=(10, 3, 10))
    run(mover, 20)
    other = way(mover)
    before = mover.state_hash()
    run(other, 20)
    assert mover.state_hash() == before
    run(mover, 20)
    assert mover.state_hash() == other.state_hash()


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        (
            {"collider": None},
            TypeError,
            "collider must be a SphereCollider, a BoxCollider or a CapsuleCollider, got None",
        ),
        (
            {"kind_of_ground": 7.0},
            ValueError,
            "state: ground_kind must be whole and from 0 to 4, got 7.0",
        ),
        ({"kind_of_ground": math.nan}, ValueError, "values must be finite"),
    ],
)
def test_damaged_states_are_refused_and_change_nothing(damage, error, message):
    mover = ball(position=(10, 2, 10))
    run(mover, 3)
    before, state = mover.state_hash(), mover.state()
    if "kind_of_ground" in damage:
        values = list(state.values)
        values[columns.GROUND_KIND] = damage["kind_of_ground"]
        bad = dataclasses.replace(state, values=tuple(values))
    else:
        bad = dataclasses.replace(state, **damage)
    with pytest.raises(error, match=message):
        mover.restore(bad)
    assert mover.state_hash() == before

"""CharacterMovement as a game sees it: falling, ground, results."""

import math

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import BoxCollider, CharacterMovement, HeightMap, SphereCollider
from tests.helpers import penetration
from tests.helpers.characters import FRAME, ROUGH, at_rest, ball, run, slope


class TestFalling:
    @pytest.mark.parametrize("rule", ["contact", "sum"])
    def test_a_fall_is_a_parabola_but_by_the_sum_rule(self, rule):
        mover = ball(position=(10, 20, 10), gravity=9.0, gravity_scale=0.5, ground_rule=rule)
        run(mover, 10, 0.1)
        fallen = 4.5 * 0.1 * 0.1 * (50 if rule == "contact" else 55)  # the reference: Euler steps
        assert mover.position64[1] == pytest.approx(20 - fallen, abs=1e-12)
        assert mover.velocity.y == pytest.approx(-4.5)
        assert not mover.grounded
        assert mover.ground_normal is None

    def test_landing_stops_the_fall_and_grounds(self):
        mover = ball(position=(10, 1, 10))
        result = run(mover, 60)
        assert result.grounded
        assert result.ground_normal == glm.vec3(0, 1, 0)
        assert mover.position == glm.vec3(10, 0.5, 10)
        assert at_rest(mover)

    def test_a_fall_onto_a_walkable_slope_is_no_sideways_throw(self):
        mover = ball(slope(25), position=(20, 40, 20))
        mover.velocity.y = -100.0
        while not mover.update(FRAME).grounded:
            pass
        assert abs(mover.velocity.x) < 1e-6
        assert abs(mover.position.x - 20) < 0.5

    def test_no_gravity_floats(self):
        mover = ball(position=(10, 5, 10), gravity=0.0)
        run(mover, 30)
        assert mover.position64 == (10, 5, 10)

    def test_negative_gravity_lifts_off_even_from_rest(self):
        mover = ball()
        run(mover, 5)
        assert at_rest(mover)
        mover.gravity_scale = -1.0
        run(mover, 30)
        assert mover.position.y > 1.0

    def test_rest_height_does_not_depend_on_the_frame_rate(self):
        level = []
        for rate in (30, 60, 144):
            mover = ball(position=(10.3, 6, 10.7))
            run(mover, 4 * rate, 1 / rate)
            assert at_rest(mover)
            level.append(mover.position64)
        assert level == [(10.3, 0.5, 10.7)] * 3


class TestGround:
    @pytest.mark.parametrize("degrees", [0, 5, 20, 29.9, 30.1, 45, 60, 80])
    @pytest.mark.parametrize("collider", [SphereCollider(0.5), BoxCollider((0.5, 0.5, 0.5))])
    def test_grounded_exactly_up_to_the_slope_limit(self, degrees, collider):
        ground = slope(degrees)
        mover = CharacterMovement(
            ground,
            collider,
            position=(30, ground.height_at(30, 30) + 2.5, 30),
            slope_limit=math.radians(30),
            rotation=glm.angleAxis(math.radians(degrees), glm.vec3(0, 0, 1)),
        )
        results = [mover.update(FRAME) for _ in range(60)]
        touching = [result for result in results if result.contacts]
        assert touching
        assert all(result.grounded == (degrees < 30) for result in touching)

    @pytest.mark.parametrize("collider", [SphereCollider(0.5), BoxCollider((0.5, 0.5, 0.5))])
    def test_a_slope_of_exactly_the_limit_is_walkable(self, collider):
        ground = HeightMap(np.tile(np.arange(60) * 0.5, (60, 1)))
        limit = math.atan(0.5)
        for slope_limit, walkable in ((limit, True), (limit - 1e-8, False)):
            mover = CharacterMovement(
                ground, collider, position=(30.2, 17, 30), slope_limit=slope_limit
            )
            results = [mover.update(FRAME) for _ in range(60)]
            assert {result.grounded for result in results if result.contacts} == {walkable}

    def test_wedged_between_steep_slopes_is_grounded_and_rests(self):
        steep = math.tan(math.radians(70))
        groove = HeightMap(np.tile(np.abs(np.arange(40) - 20.0) * steep, (40, 1)))
        for collider in (SphereCollider(0.5), BoxCollider((0.3, 0.3, 0.3))):
            mover = CharacterMovement(groove, collider, position=(20.4, 5, 20.3))
            run(mover, 240)
            assert at_rest(mover)
            before = mover.position64
            run(mover, 60)
            assert mover.position64 == before

    def test_in_a_steep_gutter_it_slides_on(self):
        steep = math.tan(math.radians(70))
        x, z = np.meshgrid(np.arange(60), np.arange(60))
        gutter = HeightMap(np.abs(x - 30.0) * steep + z * math.tan(math.radians(40)))
        mover = ball(gutter, position=(30, gutter.height_at(30, 50) + 2, 50))
        result = run(mover, 120)
        assert not result.grounded
        assert mover.velocity.z < -3

    def test_rule_sum_counts_one_triangle_as_ground_up_to_60_degrees(self):
        # One triangle's normal plus +Y halves the angle; two triangles of one slope count twice.
        for degrees, grounded in ((55, True), (65, False)):
            ground = HeightMap(
                [
                    [0, math.tan(math.radians(degrees)) * 40],
                    [0, math.tan(math.radians(degrees)) * 40],
                ],
                cell_size=40,
            )
            mover = ball(ground, (12, ground.height_at(12, 12) + 0.5, 12), ground_rule="sum")
            mover.position.y += 0.5 / math.cos(math.radians(degrees)) - 0.5
            result = mover.update(FRAME)
            assert result.contacts == 1
            assert result.grounded == grounded

    def test_rule_sum_in_the_air_is_not_grounded(self):
        assert not ball(position=(10, 5, 10), ground_rule="sum").update(FRAME).grounded

    def test_both_rules_agree_on_flat_ground(self):
        for rule in ("contact", "sum"):
            mover = ball(ground_rule=rule)
            assert mover.ground_rule == rule
            assert run(mover, 3).ground_normal == glm.vec3(0, 1, 0)

    def test_steep_slopes_are_slid_down_without_friction(self):
        ground = slope(60)
        mover = ball(ground, (40, ground.height_at(40, 30) + 1.0, 30))
        run(mover, 30)
        speed, place = glm.length(mover.velocity), np.array(mover.position64)
        run(mover, 12)
        gained = glm.length(mover.velocity) - speed
        assert gained == pytest.approx(9.81 * math.sin(math.radians(60)) * 0.2, rel=1e-3)
        down = np.array(mover.position64) - place
        assert math.degrees(math.atan2(down[1], down[0])) % 180 == pytest.approx(60, abs=0.01)

    def test_friction_takes_horizontal_speed_on_the_ground_only(self):
        mover = ball(ground_friction=6.0)
        mover.update(FRAME)
        mover.velocity.x = 4.0
        mover.update(FRAME)
        assert mover.velocity.x == 4.0  # the game set it this frame
        mover.update(FRAME)
        assert mover.velocity.x == pytest.approx(3.9)
        flying = ball(position=(10, 20, 10), ground_friction=6.0)
        flying.velocity.x = 4.0
        run(flying, 10)
        assert flying.velocity.x == 4.0

    def test_holes_let_it_fall_and_their_rim_holds(self):
        heights = np.zeros((40, 40))
        heights[18:23, 18:23] = np.nan
        mover = ball(HeightMap(heights), position=(20, 1, 20))
        run(mover, 120)
        assert mover.position.y < -5
        wide = CharacterMovement(
            HeightMap(heights),
            SphereCollider(5),
            position=(20, 6, 20),
            slope_limit=math.radians(50),
        )
        run(wide, 240)
        assert at_rest(wide)
        assert wide.position.y == pytest.approx(4, abs=0.01)  # the rim is 3 m from the middle

    def test_ground_with_holes_is_a_crust(self):
        heights = np.zeros((40, 40))
        heights[30, 30] = np.nan
        ground = HeightMap(heights, thickness=1.5)
        inside = ball(ground, position=(10, -1.2, 10))
        assert run(inside, 5).converged
        assert inside.position.y == pytest.approx(0.5, abs=1e-3)
        below = ball(ground, position=(10, -3.0, 10))
        below.update(FRAME)
        assert below.position.y < -3.0

    def test_the_side_of_the_ground_is_a_wall(self):
        open_map = HeightMap(np.zeros((20, 20)), border="open")
        mover = ball(open_map, position=(18.5, 0.5, 10))
        for frame in range(400):
            mover.velocity.x = 3 if frame < 60 else (-3 if frame > 150 else 0)
            assert mover.update(FRAME).lifted == 0
        assert mover.position.y < -100
        assert mover.position.x == pytest.approx(19.5)
        heights = np.zeros((40, 40))
        heights[20, 20] = np.nan
        inside = ball(HeightMap(heights, thickness=50), position=(20, -2, 20))
        for _ in range(60):
            inside.velocity.x = 3
            assert inside.update(FRAME).lifted == 0
        assert inside.position.x == pytest.approx(20.5)
        assert inside.position.y < -5

    def test_outside_an_open_border_is_nothing(self):
        mover = ball(HeightMap(np.zeros((20, 20)), border="open"), position=(25, 1, 25))
        run(mover, 60)
        assert mover.position.y < -1
        assert run(ball(position=(1e5, 1, -1e5)), 60).grounded


class TestResult:
    def test_zero_time_does_nothing(self):
        mover = ball(position=(10, 3, 10))
        last = run(mover, 3)
        before = mover.state()
        mover.velocity.x = 3
        result = mover.update(0)
        assert result.seconds == 0.0
        assert mover.move_result() == last
        assert mover.state() == before
        mover.update(FRAME)
        assert mover.position.x > 10

    def test_before_the_first_update(self):
        mover = ball()
        assert not mover.grounded
        result = mover.update(0.0)
        assert (result.grounded, result.ground_normal, result.contacts) == (False, None, 0)
        assert (result.penetration, result.converged) == (0.0, True)
        assert (result.rounds, result.lifted) == (0, 0.0)
        assert result == mover.move_result()

    def test_when_rounds_run_out_it_is_lifted(self):
        steep = math.tan(math.radians(80))
        groove = HeightMap(np.tile(np.abs(np.arange(40) - 20.0) * steep, (40, 1)))
        mover = ball(groove, position=(20.05, 2.5, 20.3), max_rounds=1)
        result = mover.update(FRAME)
        assert result.lifted > 0
        assert result.rounds == 1
        assert result.converged
        assert result.penetration < 1e-5

    def test_a_rescue_is_news_once(self):
        mover = ball(position=(10, -3, 10))
        lifts = [mover.update(FRAME).lifted for _ in range(8)]
        assert sum(lifts) == pytest.approx(3.5, abs=0.01)
        assert max(lifts) == pytest.approx(0.5, abs=0.01)
        run(mover, 5)
        assert at_rest(mover)
        assert mover.update(FRAME).lifted == 0

    def test_the_normal_handed_out_is_a_copy(self):
        mover = ball()
        result = run(mover, 2)
        result.ground_normal.x = 9
        mover.ground_normal.x = 9
        assert mover.update(FRAME).ground_normal == glm.vec3(0, 1, 0)

    def test_repr(self):
        assert repr(ball()) == "<CharacterMovement at (10.300, 0.500, 10.700), in the air>"


def test_enormous_speeds_end_above_the_ground():
    mover = ball(ROUGH, position=(10, 50, 10))
    mover.velocity = (1e9, -1e9, 0)
    mover.update(1.0)
    x, y, z = mover.position64
    heights = ROUGH.heights
    assert penetration.ball_depth(heights, np.array([x, y, z]), 0.5) <= 1e-3

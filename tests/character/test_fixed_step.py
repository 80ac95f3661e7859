"""FixedStep: the same steps from frames of any length, and places between two of them."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from terrain_physics import CapsuleCollider, CharacterMovement, FixedStep, HeightMap

RATES = (20, 24, 30, 50, 60, 75, 90, 120, 144, 165, 240, 360)
STEPS = (30, 60, 100, 120, 128)


def done(clock, frames):
    return sum(len(clock.steps(frame)) for frame in frames)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("step_rate", STEPS)
def test_each_frame_of_a_minute_has_its_steps(rate, step_rate):
    clock, count = FixedStep(1 / step_rate), 0
    for number in range(1, 60 * rate + 1):
        count += len(clock.steps(1 / rate))
        assert count == number * step_rate // rate


@pytest.mark.parametrize("rate", [60, 144, 360])
def test_nothing_drifts_in_a_day(rate):
    frame = 1 / rate
    clock = FixedStep(1 / 120, max_steps=2**31)
    count = 0
    for _ in range(24):
        count += len(clock.steps(3600 * rate * frame))
    assert count == 24 * 3600 * 120
    sums = FixedStep(1 / 120)
    assert done(sums, [frame] * (rate * 600)) == 600 * 120
    assert sums.alpha < 1e-6


@given(
    st.lists(st.floats(0, 0.06), max_size=60),
    st.sampled_from([1 / 20, 1 / 60, 1 / 120, 1 / 360, 0.007]),
)
def test_steps_are_those_of_the_exact_sum(frames, seconds):
    clock, count = FixedStep(seconds, max_steps=1000), 0
    for frame in frames:
        count += len(clock.steps(frame))
        assert 0.0 <= clock.alpha < 1.0
        assert clock.dropped == 0.0
    exact = sum(map(Fraction, frames), Fraction(0)) / Fraction(seconds)
    assert count == math.floor(exact + Fraction(1, 10**6)) or abs(exact - round(exact)) < 2e-6
    assert clock.alpha == pytest.approx(max(float(exact - count), 0.0), abs=1e-9)


@given(st.lists(st.floats(0, 3), max_size=40), st.integers(1, 20))
def test_time_is_stepped_owed_or_dropped(frames, most):
    clock, count, dropped = FixedStep(1 / 120, max_steps=most), 0, 0.0
    for frame in frames:
        steps = clock.steps(frame)
        assert len(steps) <= most
        assert clock.dropped == 0.0 or len(steps) == most
        count += len(steps)
        dropped += clock.dropped
    total = count / 120 + dropped + clock.alpha / 120
    assert total == pytest.approx(math.fsum(frames), abs=1e-7)


def test_a_dragged_window_and_a_pause():
    clock = FixedStep(1 / 120, max_steps=5)
    assert len(clock.steps(3.0)) == 5
    assert clock.dropped == pytest.approx(3.0 - 5 / 120)
    assert len(clock.steps(1 / 60)) == 2  # nothing is made up for
    assert clock.dropped == 0.0
    assert len(clock.steps(3600.0)) == 5
    assert len(clock.steps(0.0)) == 0
    assert clock.dropped == 0.0
    assert len(clock.steps(1e308)) == 5


def test_tiny_frames_add_up():
    clock = FixedStep(1 / 120)
    assert done(clock, [1e-5] * 1000) == 1  # 10 ms
    assert clock.alpha == pytest.approx(0.2, abs=1e-9)
    assert done(clock, [0.0, 5e-324, 1e-300]) == 0
    assert clock.alpha == pytest.approx(0.2, abs=1e-9)


def test_the_place_in_time_does_not_go_back():
    rng = np.random.default_rng(3)
    clock, count, shown = FixedStep(1 / 60), 0, 0.0
    for frame in rng.uniform(0, 0.05, 2000).tolist():
        count += len(clock.steps(frame))
        now = count + clock.alpha
        assert now >= shown
        shown = now


def test_steps_are_numbered():
    clock = FixedStep(0.01)
    assert [list(clock.steps(frame)) for frame in (0.02, 0.001, 0.03)] == [[0, 1], [], [2, 3, 4]]
    clock.steps(0.005)
    clock.reset()
    assert clock.alpha == clock.dropped == 0.0
    assert list(clock.steps(0.01)) == [5]
    assert repr(clock) == "<FixedStep of 0.01 s, 6 done>"


@pytest.mark.parametrize("way", [copy.copy, lambda clock: pickle.loads(pickle.dumps(clock))])
def test_a_copy_goes_on_alike(way):
    clock = FixedStep(1 / 120, max_steps=3)
    clock.steps(0.021)
    other = way(clock)
    assert other.steps(0.017) == clock.steps(0.017)
    assert (other.alpha, other.seconds, other.max_steps) == (clock.alpha, 1 / 120, 3)


def test_places_between_two_steps():
    clock = FixedStep(0.25)
    clock.steps(0.3125)
    assert clock.alpha == 0.25
    assert clock.interpolated((0, 0, 1e9), (4, -4, 1e9)).tolist() == [1.0, -1.0, 1e9]
    assert clock.interpolated(glm.vec3(0), glm.vec3(4)).tolist() == [1.0, 1.0, 1.0]
    assert clock.interpolated(np.zeros((5, 3)), np.full((5, 3), 4.0)).tolist() == [[1.0] * 3] * 5
    assert clock.interpolated(2, 4) == 2.5
    assert clock.interpolated(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)


def play(rate, seconds=4.0):
    """Walk and jump over a ridge; return the places at every step, and all that were shown."""
    land = HeightMap(2 * np.sin(np.arange(60) / 5)[None, :] * np.ones((30, 1)))
    hero = CharacterMovement(land, CapsuleCollider(0.3, 1.8), position=(5, 9, 10))
    clock, before = FixedStep(1 / 120, max_steps=60), hero.position64
    places, shown = [], []
    for _ in range(round(seconds * rate)):
        for step in clock.steps(1 / rate):
            before = hero.position64
            hero.velocity.x = 4
            if step % 100 == 50 and hero.grounded:
                hero.velocity.y = 5
            hero.update(clock.seconds)
            places.append(hero.position64)
        shown.append((clock.alpha, clock.interpolated(before, hero.position64)))
    return places, shown


def test_a_game_goes_the_same_way_at_every_rate():
    reference, _ = play(120)
    assert len(reference) == 480
    for rate in (20, 24, 30, 50, 60, 144, 240, 360):
        places, shown = play(rate)
        assert places == reference
        for number, (alpha, place) in enumerate(shown, 1):
            last = number * 120 // rate - 1
            if last > 0:
                low, high = np.array(reference[last - 1]), np.array(reference[last])
                assert alpha == pytest.approx(number * 120 / rate - last - 1, abs=1e-6)
                assert place == pytest.approx(low + (high - low) * alpha)


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ({"seconds": 120}, ValueError, r"got 120\.0; for 120 steps a second use 1 / 120"),
            ({"seconds": 0}, ValueError, "seconds must be from 1e-06 to 1 seconds, got 0"),
            ({"seconds": -0.1}, ValueError, "seconds must be from 1e-06 to 1 seconds, got -0.1"),
            ({"seconds": math.nan}, ValueError, "seconds must be finite"),
            ({"seconds": "1/120"}, TypeError, "seconds must be a finite number"),
            ({"max_steps": 0}, ValueError, "max_steps must be from 1"),
            ({"max_steps": 2.5}, TypeError, "max_steps must be a whole number"),
        ],
    )
    def test_constructor(self, arguments, error, message):
        with pytest.raises(error, match=message):
            FixedStep(**({"seconds": 0.01} | arguments))

    @pytest.mark.parametrize("junk", [-0.01, math.nan, math.inf, "0.1", None])
    def test_frames(self, junk):
        clock = FixedStep(0.01)
        clock.steps(0.025)
        before = (clock.alpha, clock.dropped, repr(clock))
        with pytest.raises((TypeError, ValueError), match=r"frame_seconds must be .*seconds, got"):
            clock.steps(junk)
        assert (clock.alpha, clock.dropped, repr(clock)) == before

    @pytest.mark.parametrize(
        ("before", "after", "error", "message"),
        [
            ((0, 0, 0), (0, 0), ValueError, r"after must have shape \(3,\) as before, got \(2,\)"),
            ((0, 0, math.nan), (0, 0, 0), ValueError, "before must be finite"),
            ((0, 0, 0), (0, math.inf, 0), ValueError, "after must be finite"),
            ("abc", "abd", TypeError, "before must hold real numbers"),
        ],
    )
    def test_places(self, before, after, error, message):
        with pytest.raises(error, match=message):
            FixedStep(0.01).interpolated(before, after)

    def test_nothing_can_be_set(self):
        clock = FixedStep(0.01)
        for name in ("seconds", "max_steps", "alpha", "dropped"):
            with pytest.raises(AttributeError):
                setattr(clock, name, 1)

"""Rigid motions against matrices of NumPy and the functions of the system's library."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics._kernels.math.rigid import (
    Rigid,
    angle_of,
    between,
    point_velocity,
    product,
    quaternion_of,
    to_local,
    to_world,
    turn_between,
    turned,
    turned_back,
    turning,
)
from tests.helpers.examples import examples
from tests.helpers.pairwise import pairwise
from tests.oracles.motion import into, out_of, pose, turn

pytestmark = pytest.mark.kernels

ANGLES = [
    0.0, 1e-300, 1e-18, 1e-8, 0.1, 0.7, math.pi / 4, 1.5, math.pi / 2, 2.0, 3.0, math.pi - 1e-9,
    math.pi,
]  # fmt: skip
AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (-3, 2, 0.5), (1e-9, 1, 0)]


def close(found, wanted, within=4e-15):
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=within)


def rows(matrix):
    return tuple(np.asarray(matrix, dtype=np.float64).ravel().tolist())


def square(numbers):
    return np.array(numbers).reshape(3, 3)


def drawn(seed):
    rng = np.random.default_rng(seed)
    return turn(rng.normal(size=3), rng.uniform(-math.pi, math.pi)), rng.uniform(-9, 9, 3), rng


def frame_of(rotation, position):
    return Rigid(rows(rotation), rows(position))


@pytest.mark.parametrize("angle", [*ANGLES, *(-angle for angle in ANGLES)])
def test_angles_are_those_of_the_system(angle):
    for size in (1e-150, 1e-3, 1.0, 7.5, 1e150):
        sine, cosine = size * math.sin(angle), size * math.cos(angle)
        wanted = math.atan2(sine, cosine)
        assert angle_of(sine, cosine) == pytest.approx(wanted, rel=1e-15, abs=1e-300), size


@given(sine=st.floats(-1e100, 1e100), cosine=st.floats(-1e100, 1e100))
@examples(300)
def test_any_angles(sine, cosine):
    found = angle_of(sine, cosine)
    if max(abs(sine), abs(cosine)) > 1e-100:  # squares of less are lost
        assert found == pytest.approx(math.atan2(sine, cosine), rel=2e-15, abs=1e-100)
    assert abs(found) <= math.nextafter(math.pi, 4.0)


def test_the_zero_vector_has_an_angle():
    assert angle_of(0.0, 0.0) == 0.0
    assert angle_of(0.0, -1.0) == math.pi
    assert angle_of(-0.0, -1.0) == -math.pi


@pytest.mark.parametrize("seed", range(20))
def test_points_and_vectors(seed):
    rotation, position, rng = drawn(seed)
    there, frame, point = pose(position, rotation), frame_of(rotation, position), rng.normal(size=3)
    close(to_world(frame, tuple(point)), out_of(there, point))
    close(to_local(frame, tuple(point)), into(there, point))
    close(turned(frame.rotation, tuple(point)), rotation @ point)
    close(turned_back(frame.rotation, tuple(point)), rotation.T @ point)
    other = drawn(seed + 100)[0]
    close(square(product(rows(rotation), rows(other))), rotation @ other)
    led = square(turn_between(rows(rotation), rows(other)))
    close(led, other @ rotation.T)


def test_a_point_of_a_frame_that_stands_keeps_its_bits():
    frame = Rigid(rows(np.eye(3)), (0.1, -2.3, 1e6))
    assert to_local(frame, to_world(frame, (0.5, 0.25, 4.0)))[:2] == pytest.approx((0.5, 0.25))
    assert to_world(frame, (0.0, 0.0, 0.0)) == frame.position


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", ANGLES)
def test_quaternions(axis, angle):
    w, *vector = quaternion_of(rows(turn(axis, angle)))
    wanted = math.cos(angle / 2), *(math.sin(angle / 2) * np.array(axis) / np.linalg.norm(axis))
    sign = math.copysign(1.0, np.dot(wanted, (w, *vector)))
    close(np.multiply(sign, (w, *vector)), wanted, 1e-15)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("seconds", [1 / 360, 1.0])
def test_angular_velocities(axis, seconds):
    start = drawn(7)[0]
    unit = np.array(axis) / np.linalg.norm(axis)
    ends = [rows(turn(axis, angle) @ start) for angle in ANGLES]
    found = np.array([turning(rows(start), end, seconds) for end in ends])
    either = np.array(ANGLES) > math.pi - 1e-6  # either way round
    found[either] *= np.copysign(1.0, found[either] @ unit)[:, np.newaxis]
    close(found * seconds, np.multiply.outer(ANGLES, unit), 2e-15)


def test_what_does_not_turn_has_none():
    start = rows(drawn(3)[0])
    assert turning(start, start, 0.1) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("share", "axis", "angle"),
    pairwise([0.0, 0.25, 0.5, 0.9], AXES, [-3.0, -1e-7, 0.0, 0.3, 1.5, 3.1]),
)
def test_frames_on_the_way(axis, angle, share):
    rotation, position, rng = drawn(11)
    start, way = frame_of(rotation, position), rng.normal(size=3)
    end = frame_of(turn(axis, angle) @ rotation, position + way)
    found = between(start, end, share)
    close(found.position, position + share * way)
    # About the axis of the whole turn, by less than all of it, and rigid.
    back = square(found.rotation)
    close(back @ back.T, np.eye(3))
    led = np.array(turning(start.rotation, found.rotation, 1.0))
    unit = np.array(axis) / np.linalg.norm(axis)
    close(led, unit * (led @ unit), 1e-14)
    half = 0.5 * abs(angle)  # of a chord that is cut evenly, on which the quaternions are mixed
    mixed = math.atan2(share * math.sin(half), 1.0 - share + share * math.cos(half))
    assert led @ unit == pytest.approx(math.copysign(2.0 * mixed, angle), abs=1e-14)


def test_the_ends_of_a_way_are_exact():
    start, end = (frame_of(*drawn(seed)[:2]) for seed in (1, 2))
    assert between(start, end, 1.0) == end
    assert between(end, end, 0.3).rotation == end.rotation
    close(between(start, end, 0.0).rotation, start.rotation)


def test_velocities_of_points():
    rng = drawn(5)[2]
    velocity, spin, arm = rng.normal(size=(3, 3))
    found = point_velocity(tuple(velocity), tuple(spin), tuple(arm))
    close(found, velocity + np.cross(spin, arm))

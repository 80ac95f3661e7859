"""The demo's camera: matrices, pixels, rays, and where it may not be."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demo.picture import camera as cameras
from demo.picture.frame import Camera
from tests.demo.frames import hills

SIZE = (1280, 720)
LAND = hills(65)

angles = st.floats(-3.1, 3.1)
pitches = st.floats(-1.5, 1.5)
places = st.tuples(*[st.floats(-1e4, 1e4)] * 3)
views = st.builds(Camera, places, angles, pitches, st.floats(0.3, 2.0))


@given(views)
def test_axes_are_a_right_handed_frame(camera):
    right, up, ahead = cameras.basis(camera)
    np.testing.assert_allclose(np.cross(right, up), -ahead, atol=1e-12)
    np.testing.assert_allclose(
        cameras.basis(camera) @ cameras.basis(camera).T, np.eye(3), atol=1e-12
    )


def test_yaw_grows_to_the_left_and_pitch_upward():
    np.testing.assert_allclose(cameras.forward(Camera(pitch=0.0)), (0, 0, -1), atol=1e-15)
    np.testing.assert_allclose(
        cameras.forward(Camera(yaw=math.pi / 2, pitch=0.0)), (-1, 0, 0), atol=1e-15
    )
    assert cameras.forward(Camera(pitch=0.3))[1] > 0.0


@given(views, st.floats(0.0, 1280.0), st.floats(0.0, 720.0), st.floats(0.2, 500.0))
def test_a_pixels_ray_projects_to_the_pixel(camera, x, y, distance):
    origin, direction = cameras.pick_ray(camera, SIZE, (x, y))
    assert math.isclose(math.hypot(*direction), 1.0, rel_tol=1e-12)
    point = np.array(origin) + distance * np.array(direction)
    ((px, py, depth),) = cameras.project(camera, SIZE, [point])
    if depth >= cameras.NEAR:
        np.testing.assert_allclose((px, py), (x, y), atol=1e-4 * (1.0 + 1e4 / distance))


@given(views, places)
def test_matrices_agree_with_project(camera, point):
    clip = (
        cameras.projection_matrix(camera, SIZE, 1e5)
        @ cameras.view_matrix(camera)
        @ np.array([*point, 1.0])
    )
    ((px, py, depth),) = cameras.project(camera, SIZE, [point])
    assert clip[3] == pytest.approx(depth, abs=1e-6)
    if depth >= 1.0:
        x, y = clip[:2] / clip[3]
        tolerance = 1e-4 * (1.0 + abs(px) + abs(py))
        assert 640.0 * (1.0 + x) == pytest.approx(px, abs=tolerance)
        assert 360.0 * (1.0 - y) == pytest.approx(py, abs=tolerance)


def test_what_is_behind_has_no_pixel_and_a_negative_depth():
    ((px, py, depth),) = cameras.project(Camera((0, 0, 0), pitch=0.0), SIZE, [(0.0, 0.0, 5.0)])
    assert np.isnan(px)
    assert np.isnan(py)
    assert depth == -5.0


@given(places, places)
def test_looking_at_puts_the_target_in_the_middle(position, target):
    apart = math.dist(position, target)
    steep = abs(target[1] - position[1]) > 0.999 * apart
    if apart < 1.0 or steep:
        return
    camera = cameras.looking_at(position, target)
    np.testing.assert_allclose(
        cameras.project(camera, SIZE, [target])[0], (640.0, 360.0, apart), rtol=1e-6, atol=1e-3
    )


@given(views, places, st.floats(0.5, 50.0))
def test_orbit_keeps_the_target_ahead_at_the_distance(camera, target, distance):
    seen = cameras.project(cameras.orbit(camera, target, distance), SIZE, [target])[0]
    np.testing.assert_allclose(seen, (640.0, 360.0, distance), rtol=1e-6, atol=1e-3)


@given(st.floats(-20.0, 90.0), st.floats(-20.0, 90.0), st.floats(-60.0, 60.0), angles, pitches)
def test_the_camera_is_never_under_the_ground(x, z, y, yaw, pitch):
    camera = cameras.clear_of(Camera((x, y, z), yaw, pitch), LAND)
    assert camera.position[1] >= LAND.height_at(x, z) + cameras.CLEARANCE - 1e-9
    assert (camera.position[0], camera.position[2]) == (x, z)
    assert cameras.clear_of(camera, LAND) == camera
    # Nor does the near plane's middle or a corner reach into it.
    for pixel in ((640, 360), (0, 720), (1280, 720)):
        origin, direction = cameras.pick_ray(camera, SIZE, pixel)
        depth = float(np.dot(direction, cameras.forward(camera)))
        corner = np.array(origin) + np.array(direction) * (cameras.NEAR / depth)
        assert corner[1] > LAND.height_at(corner[0], corner[2])


@given(st.floats(5.0, 60.0), st.floats(5.0, 60.0), angles, pitches, st.floats(2.0, 12.0))
def test_no_ground_between_the_third_person_camera_and_its_target(x, z, yaw, pitch, distance):
    target = (x, LAND.height_at(x, z) + 1.6, z)
    camera = cameras.third_person(Camera(yaw=yaw, pitch=pitch), target, distance, LAND)
    assert math.dist(camera.position, target) <= distance + cameras.CLEARANCE + 1.0
    assert camera.position[1] >= LAND.height_at(camera.position[0], camera.position[2])
    assert (camera.yaw, camera.pitch) == (yaw, pitch)


def test_over_a_hole_and_without_land_the_camera_stays():
    camera = Camera((1.5, -3.0, 1.5))
    assert cameras.clear_of(camera, None) == camera
    nowhere = hills(9, holes=np.ones((8, 8), dtype=bool), border="open")
    assert cameras.clear_of(camera, nowhere) == camera


def test_turning_stops_short_of_straight_up_and_wraps_around():
    camera = cameras.turned(Camera(yaw=3.0), 1.0, 9.0)
    assert camera.pitch == cameras.STEEPEST_LOOK
    assert camera.yaw == pytest.approx(4.0 - 2.0 * math.pi)


@given(views, st.floats(-5, 5), st.floats(-5, 5), st.floats(-5, 5))
def test_moving_goes_as_it_looks(camera, right, up, ahead):
    moved = cameras.moved(camera, right, up, ahead)
    side, _, front = cameras.basis(camera)
    expected = np.array(camera.position) + right * side + ahead * front + [0.0, up, 0.0]
    np.testing.assert_allclose(moved.position, expected, atol=1e-9)


def test_ground_directions_are_level():
    right, ahead = cameras.ground_directions(0.7)
    assert right[1] == ahead[1] == 0.0
    np.testing.assert_allclose(np.cross(right, ahead), (0.0, 1.0, 0.0), atol=1e-12)
    camera = cameras.first_person(Camera(yaw=0.7, pitch=0.0), (1.0, 2.0, 3.0))
    np.testing.assert_allclose(cameras.forward(camera), ahead, atol=1e-12)
    assert camera.position == (1.0, 2.0, 3.0)

"""Where pictures are taken from: pure functions on `Camera`. No pygame, no state.

The view space has x to the right, y up and w forward; depths are meters along w. Pixels grow to the
right and down, and the center of the first one is (0.5, 0.5).
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from terrain_physics import HeightMap

from .frame import Camera, Floats

Point = tuple[float, float, float]

NEAR = 0.1
"""What is nearer than this is not drawn, in meters."""
STEEPEST_LOOK = math.radians(89.0)
CLEARANCE = 0.4
"""How far the camera stays above the ground, in meters: more than `NEAR` reaches at any angle."""
_PROBES = tuple((x * CLEARANCE, z * CLEARANCE) for x in (-1, 0, 1) for z in (-1, 0, 1))


def basis(camera: Camera) -> Floats:
    """Return the rows right, up and forward, (3, 3): world to view space, about the camera."""
    sin_yaw, cos_yaw = math.sin(camera.yaw), math.cos(camera.yaw)
    sin_pitch, cos_pitch = math.sin(camera.pitch), math.cos(camera.pitch)
    return np.array(
        [
            [cos_yaw, 0.0, -sin_yaw],
            [sin_yaw * sin_pitch, cos_pitch, cos_yaw * sin_pitch],
            [-sin_yaw * cos_pitch, sin_pitch, -cos_yaw * cos_pitch],
        ]
    )


def focal_length(camera: Camera, size: tuple[int, int]) -> float:
    """Return how many pixels wide one meter is at one meter's depth."""
    return 0.5 * size[1] / math.tan(0.5 * camera.field_of_view)


def view_matrix(camera: Camera) -> Floats:
    """Return the (4, 4) matrix from the world to OpenGL's eye space, which looks along -z."""
    turn = basis(camera) * [[1.0], [1.0], [-1.0]]
    matrix = np.eye(4)
    matrix[:3, :3] = turn
    matrix[:3, 3] = -turn @ np.array(camera.position)
    return matrix


def projection_matrix(camera: Camera, size: tuple[int, int], far: float) -> Floats:
    """Return the (4, 4) matrix from eye space to OpenGL's clip space."""
    scale = 1.0 / math.tan(0.5 * camera.field_of_view)
    matrix = np.zeros((4, 4))
    matrix[0, 0], matrix[1, 1] = scale * size[1] / size[0], scale
    matrix[2, 2], matrix[2, 3] = (far + NEAR) / (NEAR - far), 2.0 * far * NEAR / (NEAR - far)
    matrix[3, 2] = -1.0
    return matrix


def project(camera: Camera, size: tuple[int, int], points: Any) -> Floats:
    """Return pixel x, pixel y and depth of points, (n, 3).

    The depth is negative behind the camera; pixels are NaN for what is nearer than `NEAR`.
    """
    rows = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    seen = (rows - np.array(camera.position)) @ basis(camera).T
    focal = focal_length(camera, size)
    depth = np.where(seen[:, 2] >= NEAR, seen[:, 2], np.nan)
    return np.column_stack(
        [
            0.5 * size[0] + focal * seen[:, 0] / depth,
            0.5 * size[1] - focal * seen[:, 1] / depth,
            seen[:, 2],
        ]
    )


def pick_ray(
    camera: Camera, size: tuple[int, int], pixel: tuple[float, float]
) -> tuple[Point, Point]:
    """Return origin and unit direction of the ray through a pixel."""
    focal = focal_length(camera, size)
    seen = ((pixel[0] - 0.5 * size[0]) / focal, (0.5 * size[1] - pixel[1]) / focal, 1.0)
    direction = np.array(seen) @ basis(camera)
    direction /= np.linalg.norm(direction)
    return camera.position, _point(direction)


def forward(camera: Camera) -> Point:
    """Return the unit direction of the look."""
    return _point(basis(camera)[2])


def ground_directions(yaw: float) -> tuple[Point, Point]:
    """Return what right and forward mean to somebody walking, level."""
    sin_yaw, cos_yaw = math.sin(yaw), math.cos(yaw)
    return (cos_yaw, 0.0, -sin_yaw), (-sin_yaw, 0.0, -cos_yaw)


def turned(camera: Camera, left: float, upward: float) -> Camera:
    """Return the camera turned in place, in radians; it never looks straight up or down."""
    return replace(
        camera,
        yaw=math.remainder(camera.yaw + left, 2.0 * math.pi),
        pitch=_level(camera.pitch + upward),
    )


def looking_at(position: Point, target: Point, *, field_of_view: float = 1.05) -> Camera:
    """Return a camera at a place that has the target in the middle of its picture."""
    x, y, z = (target[i] - position[i] for i in range(3))
    yaw = math.atan2(-x, -z) if x or z else 0.0
    return Camera(position, yaw, _level(math.atan2(y, math.hypot(x, z))), field_of_view)


def first_person(camera: Camera, eye: Point) -> Camera:
    """Return the camera moved to somebody's eye."""
    return replace(camera, position=eye)


def orbit(camera: Camera, target: Point, distance: float) -> Camera:
    """Return the camera moved so that the target lies straight ahead, that far."""
    ahead = forward(camera)
    x, y, z = (target[i] - distance * ahead[i] for i in range(3))
    return replace(camera, position=(x, y, z))


def third_person(camera: Camera, target: Point, distance: float, land: HeightMap | None) -> Camera:
    """Return the camera behind the target, nearer where the ground would come between them."""
    behind = orbit(camera, target, distance)
    if land is None:
        return behind
    shares = np.linspace(0.0, 1.0, 33)
    way = np.array(target) + shares[:, np.newaxis] * (np.array(behind.position) - np.array(target))
    blocked = way[:, 1] < land.height_at(way[:, 0], way[:, 2]) + 0.5 * CLEARANCE
    blocked[:5] = False  # the target itself may lie in a ditch
    if blocked.any():
        behind = orbit(camera, target, distance * float(shares[int(blocked.argmax()) - 1]))
    return clear_of(behind, land)


def moved(camera: Camera, right: float, up: float, ahead: float) -> Camera:
    """Return the camera moved as it looks, in meters; ``up`` is the world's."""
    side, _, front = basis(camera)
    way = right * side + ahead * front
    x, y, z = camera.position
    return replace(camera, position=(x + float(way[0]), y + up + float(way[1]), z + float(way[2])))


def clear_of(camera: Camera, land: HeightMap | None) -> Camera:
    """Return the camera, raised if it was under the ground or too near above it."""
    if land is None:
        return camera
    x, y, z = camera.position
    around = land.height_at(
        np.array([x + dx for dx, _ in _PROBES]), np.array([z + dz for _, dz in _PROBES])
    )
    solid = around[~np.isnan(around)]
    if not solid.size or y >= solid.max() + CLEARANCE:
        return camera
    return replace(camera, position=(x, float(solid.max()) + CLEARANCE, z))


def _level(pitch: float) -> float:
    return min(max(pitch, -STEEPEST_LOOK), STEEPEST_LOOK)


def _point(values: Floats) -> Point:
    return float(values[0]), float(values[1]), float(values[2])

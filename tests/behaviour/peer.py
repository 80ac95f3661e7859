"""Scenarios with rapier3d's kinematic character controller, where it is installed.

A ball or capsule on a mesh of the same triangles; each frame it is moved by the wanted velocity and
by its fall, which starts anew whenever it is grounded.
"""

import importlib
import math
from contextlib import suppress
from typing import Any

import numpy as np

from tests.behaviour import lands
from tests.behaviour.drive import FRAME, SLOPE_LIMIT

rapier3d: Any = None
with suppress(ImportError):
    rapier3d = importlib.import_module("rapier3d")

GRAVITY = 9.81


class Walker:
    """One character of the peer."""

    def __init__(self, triangles, position, *, half=0.0, radius=0.5):
        vertices, faces = triangles
        self.world = rapier3d.PhysicsWorld()
        ground = rapier3d.Collider.trimesh(
            np.asarray(vertices, dtype=np.float32), np.asarray(faces, dtype=np.uint32)
        )
        self.world.colliders.insert(ground)
        self.world.step()
        self.world.update_query_pipeline()
        self.controller = rapier3d.KinematicCharacterController(
            max_slope_climb_angle=SLOPE_LIMIT,
            min_slope_slide_angle=SLOPE_LIMIT,
            autostep=rapier3d.CharacterAutostep(
                rapier3d.CharacterLength.absolute(0.3), rapier3d.CharacterLength.absolute(0.1)
            ),
            snap_to_ground=rapier3d.CharacterLength.absolute(0.3),
        )
        shapes = rapier3d.SharedShape
        self.shape = shapes.capsule_y(half, radius) if half else shapes.ball(radius)
        self.position = np.array(position, dtype=float)
        self.fall = 0.0
        self.grounded = False

    def update(self, velocity, delta_time=FRAME):
        """Move for one frame; return the step."""
        self.fall -= GRAVITY * delta_time
        way = np.array([velocity[0], self.fall, velocity[1]]) * delta_time
        moved = self.controller.move_shape(
            delta_time,
            self.world.rigid_bodies,
            self.world.colliders,
            self.world.query_pipeline,
            self.shape,
            rapier3d.Isometry3.from_translation(*self.position.tolist()),
            tuple(way.tolist()),
        )
        step = np.array([moved.translation.x, moved.translation.y, moved.translation.z])
        self.position += step
        self.grounded = moved.grounded
        if self.grounded:
            self.fall = 0.0
        return step


def plane(slope, size=100):
    """Return vertices and faces of a plane of cells of 1 m that rises along x."""
    z, x = np.mgrid[:size, :size]
    vertices = np.stack([x, slope * x, z], -1).reshape(-1, 3).astype(np.float64)
    corner = np.arange(size * size).reshape(size, size)
    a, b = corner[:-1, :-1].ravel(), corner[:-1, 1:].ravel()
    c, d = corner[1:, 1:].ravel(), corner[1:, :-1].ravel()
    return vertices, np.concatenate([np.stack([a, d, b], 1), np.stack([b, d, c], 1)])


def _on_slope(slope):
    walker = Walker(plane(slope), (50.3, slope * 50.3 + 0.6 * math.sqrt(1 + slope**2), 50.7))
    for _ in range(30):
        walker.update((0.0, 0.0))
    return walker


def walk(slope, *, count, seconds):
    """Return a line about a ball that walks over a plane in so many directions."""
    slow, side, height = math.inf, 0.0, 0.0
    frames = in_air = 0
    for k in range(count):
        walker, angle = _on_slope(slope), 2 * math.pi * k / count
        along = np.array([math.cos(angle), math.sin(angle)])
        start = walker.position.copy()
        for _ in range(round(seconds / FRAME)):
            step = walker.update(4 * along)
            slow = min(slow, math.hypot(step[0], step[2]) / FRAME / 4)
            way = walker.position - start
            side = max(side, abs(way[0] * along[1] - way[2] * along[0]))
            height = max(height, abs(way[1] - slope * way[0]))
            frames += 1
            in_air += not walker.grounded
    return f"speed >= {slow:.1%}, side {side:.1e}, height {height:.1e} m, in air {in_air}/{frames}"


def idle(degrees, seconds):
    walker = _on_slope(math.tan(math.radians(degrees)))
    start, grounded = walker.position.copy(), 0
    frames = round(seconds / FRAME)
    for _ in range(frames):
        walker.update((0.0, 0.0))
        grounded += walker.grounded
    moved = np.linalg.norm(walker.position - start)
    return f"{degrees}: {moved:.1e} m, grounded {grounded / frames:.0%}"


def climb(degrees, off, seconds):
    """Return the height gained by walking into a slope from the flat."""
    ground = lands.foot_of_slope(degrees)
    z, x = np.mgrid[:200, :200]
    heights = ground.heights[:200, :200] * np.float64(ground.height_scale)
    vertices = np.stack([x * 0.25, heights, z * 0.25], -1).reshape(-1, 3)
    walker = Walker((vertices, plane(0.0, 200)[1]), (17.0, 0.55, 25.0))
    for _ in range(30):
        walker.update((0.0, 0.0))
    level, highest = walker.position[1], 0.0
    for frame in range(round(seconds / FRAME)):
        angle = math.radians(off) * (-1 if frame // 30 % 2 else 1)
        walker.update((4 * math.cos(angle), 4 * math.sin(angle)))
        highest = max(highest, walker.position[1] - level)
    return highest


def stairs(rise, rate):
    """Return the seconds a capsule needs up and down stairs; inf if it does not get there."""
    mesh = lands.stairs_mesh(rise, 0.3)
    walker = Walker((mesh.vertices, mesh.faces), (4.0, 0.95, 0.0), half=0.6, radius=0.3)
    times = []
    for speed, end in ((2.0, lands.STAIRS_AT + 3.4), (-2.0, 4.0)):
        frames = 0
        while (walker.position[0] - end) * speed < 0.0 and frames < 8 * rate:
            walker.update((speed, 0.0), 1 / rate)
            frames += 1
        times.append(frames / rate if frames < 8 * rate else math.inf)
        if frames == 8 * rate:
            break
    return times


def rescue(below):
    """Return whether a ball whose foot is so far below a floor comes up within a second."""
    walker = Walker(plane(0.0), (50.3, 0.5 - below, 50.7))
    for _ in range(60):
        walker.update((0.0, 0.0))
    return bool(walker.position[1] > 0.49)

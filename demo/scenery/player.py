"""The figure a player steers: walks, runs, jumps, and is drawn with hands and feet."""

import math
from typing import Any

import numpy as np

from terrain_physics import CapsuleCollider, CharacterView

from ..picture import colors
from ..picture.frame import Balls, Crates, Frame, Pills
from .bodies import Body, Floats
from .inputs import Controls, Floats3

RADIUS, HEIGHT = 0.4, 1.8
BODY = CapsuleCollider(RADIUS, HEIGHT, offset=(0.0, HEIGHT / 2, 0.0))
EYES = 1.6
WALK, RUN = 4.5, 9.0
JUMP = 5.6
# In the air a wish turns the velocity this fast, in m/s^2.
AIR = 10.0
_STRIDE = 1.1  # meters for one step of a foot


class Player:
    """A character with the body `BODY`, alone or of a group, and the way it looks."""

    def __init__(self, mover: CharacterView, *, yaw: float = 0.0) -> None:
        self.body = Body(mover, BODY, colors.ORANGE, name="player", shown=False)
        self.start = mover.position64
        self.yaw = self._yaw_before = yaw
        self.walked = 0.0
        self.pace = 0.0
        self.foot_down = False  # whether a foot came down in the last step

    @property
    def eye(self) -> Floats3:
        """Where it looks from."""
        x, y, z = self.body.place
        return x, y + EYES, z

    @property
    def footsteps(self) -> int:
        """How often a foot has come down: where `fill` lowers one and lifts the other."""
        return math.floor(self.walked / _STRIDE + 0.5)

    def drive(self, controls: Controls, seconds: float) -> None:
        """Set the velocity to what is wished for."""
        mover = self.body.mover
        self._yaw_before = self.yaw
        sin, cos = math.sin(controls.yaw), math.cos(controls.yaw)
        x = controls.right * cos - controls.forward * sin
        z = -controls.right * sin - controls.forward * cos
        length = math.hypot(x, z)
        if length > 0.0:
            speed = (RUN if controls.run else WALK) / max(length, 1.0)
            x, z = x * speed, z * speed
            if mover.grounded:
                mover.velocity.x, mover.velocity.z = x, z
            else:
                most = AIR * seconds
                mover.velocity.x += min(max(x - mover.velocity.x, -most), most)
                mover.velocity.z += min(max(z - mover.velocity.z, -most), most)
            self.turn_to(x, z, seconds)
        if controls.jump and mover.grounded:
            mover.velocity.y = JUMP

    def turn_to(self, x: float, z: float, seconds: float) -> None:
        """Turn to where it walks, along x and z; one that stands stays as it is."""
        if x or z:
            turn = math.remainder(math.atan2(-x, -z) - self.yaw, math.tau)
            self.yaw += turn * min(1.0, 12.0 * seconds)

    def stepped(self, seconds: float) -> None:
        """Count the way walked; come back from below the world."""
        # Relative to what it stands on: who is carried does not walk.
        velocity = self.body.mover.velocity
        speed = math.hypot(velocity.x, velocity.z) if self.body.result.grounded else 0.0
        before = self.footsteps
        self.walked += speed * seconds
        self.foot_down = self.footsteps > before
        self.pace += (min(1.0, speed / WALK) - self.pace) * min(1.0, 10.0 * seconds)
        if self.body.place[1] < self.start[1] - 150.0:
            self.body.mover.position = self.start
            self.body.mover.velocity = (0.0, 0.0, 0.0)
            self.body.before = self.start

    def state(self) -> tuple[Any, ...]:
        """Return what is not part of its body."""
        return self.yaw, self._yaw_before, self.walked, self.pace

    def restore(self, state: tuple[Any, ...]) -> None:
        """Go back to a state."""
        self.yaw, self._yaw_before, self.walked, self.pace = state

    def fill(self, frame: Frame, alpha: float) -> None:
        """Add the figure: a capsule as the physics knows it, and what makes it a person."""
        x0, y0, z0 = self.body.before
        x1, y1, z1 = self.body.place
        place = np.array([x0 + (x1 - x0) * alpha, y0 + (y1 - y0) * alpha, z0 + (z1 - z0) * alpha])
        yaw = self._yaw_before + (self.yaw - self._yaw_before) * alpha
        sin, cos = math.sin(yaw), math.cos(yaw)
        turn = np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]])
        phase = math.pi * self.walked / _STRIDE
        swing = self.pace * math.sin(phase)
        bob = 0.05 * self.pace * abs(math.cos(phase))
        up = np.array([0.0, bob, 0.0])

        def at(*local: float) -> Floats:
            return np.asarray(place + up + turn @ np.array(local))

        ends = np.array([[0.0, RADIUS, 0.0]]), np.array([[0.0, HEIGHT - RADIUS, 0.0]])
        frame.hero = Pills(
            place + ends[0], place + ends[1], np.array([RADIUS]), colors.rows(self.body.color, 1)
        )
        frame.capsules.append(
            Pills(
                np.array([at(0, 0.62, 0)]),
                np.array([at(0, 1.02, 0)]),
                np.array([0.34]),
                colors.rows(self.body.color, 1),
            )
        )
        lift = 0.16 * self.pace
        parts = [
            (at(0, 1.5, 0), 0.3, colors.SKIN),
            (at(-0.44, 0.86 + 0.06 * swing, -0.34 * swing), 0.12, colors.SKIN),
            (at(0.44, 0.86 - 0.06 * swing, 0.34 * swing), 0.12, colors.SKIN),
            (
                place
                + turn @ np.array([-0.17, 0.15 + lift * max(0.0, math.cos(phase)), 0.4 * swing]),
                0.15,
                colors.DARK,
            ),
            (
                place
                + turn @ np.array([0.17, 0.15 + lift * max(0.0, -math.cos(phase)), -0.4 * swing]),
                0.15,
                colors.DARK,
            ),
        ]
        frame.balls.append(
            Balls(
                np.array([center for center, _, _ in parts]),
                np.array([radius for _, radius, _ in parts]),
                np.tile(turn, (len(parts), 1, 1)),
                np.array([color for _, _, color in parts], dtype=np.uint8),
            )
        )
        pieces = [
            (at(0, 1.55, -0.24), (0.2, 0.055, 0.07), colors.DARK),
            (at(0, 0.86, 0.3), (0.22, 0.26, 0.12), colors.BLUE),
        ]
        frame.boxes.append(
            Crates(
                np.array([center for center, _, _ in pieces]),
                np.array([extents for _, extents, _ in pieces]),
                np.tile(turn, (len(pieces), 1, 1)),
                np.array([color for _, _, color in pieces], dtype=np.uint8),
            )
        )

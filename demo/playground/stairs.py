"""Stairs with steps of 0.1 to 0.5 m, walked up and down."""

import math

from terrain_physics import CapsuleCollider, SphereCollider

from ..picture import colors
from ..picture.frame import Camera, Frame, Label
from ..scenery.inputs import Controls
from ..scenery.pick import AnyGround
from ..scenery.scene import Scene
from .building import (
    arena,
    block,
    drawn,
    fence,
    land_piece,
    made_of,
    solid,
    stairs,
    wedge,
)

RISES = (0.1, 0.2, 0.3, 0.4, 0.5)
TREADS = (0.4, 0.4, 0.45, 0.5, 0.5)
HEIGHT = 2.4
SPACING, WIDTH = 6.0, 3.6


class Stairs(Scene):
    name = "stairs"
    title = "Stairs of 0.1 to 0.5 m"
    task = "Walk up and down: you climb steps of up to 0.4 m without a jump."
    view_distance = 17.0

    def build(self) -> None:
        self.land = arena(self.random, size=65 if self.small else 257, flat=34.0)
        pieces = []
        for index, (rise, tread) in enumerate(zip(RISES, TREADS, strict=True)):
            count = round(HEIGHT / rise)
            color = colors.STONE if index % 2 else (226, 214, 190)
            pieces += stairs((self._x(index), 0.0, 4.0), rise, tread, count, WIDTH, color)
        ramp = [
            wedge((self._x(5), 1.2, 0.0), (1.8, 1.2, 4.0), colors.WOOD),
            block((self._x(5), 1.2, -6.0), (1.8, 1.2, 2.0), colors.WOOD),
        ]
        pieces += made_of("wood", ramp)
        self.meshes = drawn(pieces)
        soil = land_piece(self.land, 30.0, colors.GREEN)
        self._ground = solid([soil, *pieces, *fence(30.0)])
        for index in range(len(RISES)):
            for walker in range(1 if self.small else 3):
                place = (self._x(index) - 1.0 + walker, 0.05, 6.0 + 1.5 * walker)
                color = colors.PEOPLE[(2 * index + walker) % len(colors.PEOPLE)]
                collider = CapsuleCollider(0.4, 1.7, offset=(0.0, 0.85, 0.0))
                self.put(collider, place, color, name=f"{RISES[index]:.1f} m steps")
            ball = (self._x(index) + 1.2, HEIGHT + 1.0, -2.0)
            self.put(SphereCollider(0.3), ball, colors.WHITE, name="ball", ground_friction=0.3)
        self.heading = [-1.0] * len(self.bodies)
        self.player = self.enter((self._x(3) + 0.6, 0.05, 12.5))  # behind those who climb
        self.home = Camera((self._x(5) + 5.0, 6.5, 15.5), yaw=0.62, pitch=-0.26)

    @property
    def ground(self) -> AnyGround:
        return self._ground

    def drive(self) -> None:
        for index, heading in enumerate(self.heading):
            body = self.bodies[index]
            _, _, z = body.place
            if body.name == "ball":
                continue
            if abs(z + 5.0) > 13.0:
                self.heading[index] = -1.0 if z > 0.0 else 1.0
            if body.mover.grounded:
                body.mover.velocity.x = 0.0
                body.mover.velocity.z = 2.5 * heading

    def script(self) -> Controls:
        going = 1.0 if self.steps < 280 else 0.0
        yaw = 0.5
        return Controls(
            forward=going * math.cos(yaw), right=going * math.sin(yaw), yaw=yaw, pitch=-0.3
        )

    def more_state(self) -> tuple[float, ...]:
        return tuple(self.heading)

    def restore_more(self, state: tuple[float, ...]) -> None:
        self.heading = list(state)

    def decorate(self, frame: Frame, alpha: float) -> None:  # noqa: ARG002 nothing of it moves
        frame.meshes.extend(self.meshes)
        for index, rise in enumerate(RISES):
            frame.labels.append(Label(f"{rise:.1f} m", (self._x(index), 1.0, 5.0)))

    def menu(self) -> list[str]:
        return [f"steps climbed up to {self.bodies.rules.step_offset:.2f} m"]

    @staticmethod
    def _x(index: int) -> float:
        return (index - 2.5) * SPACING

"""Ramps of 10 to 80 degrees: who may stand, stands; who may not, slides."""

import math

import numpy as np

from terrain_physics import BoxCollider, CapsuleCollider, HeightMap, SphereCollider

from ..picture import colors
from ..picture.frame import Camera, Frame, Label
from ..scenery.bodies import Body
from ..scenery.inputs import Controls
from ..scenery.scene import Scene
from .building import arena

ANGLES = tuple(range(10, 90, 10))
WIDTH, GAP, TOP = 5, 2, 12.0
_STANDS, _SLIDES, _CLIMBS = colors.BLUE, colors.ORANGE, colors.WHITE


class Slopes(Scene):
    name = "slopes"
    title = "Slopes of 10 to 80 degrees"
    task = "Walk up a ramp: if it is too steep, you slide back down."
    view_distance = 26.0

    def build(self) -> None:
        self.land = self._map()
        self.angles = ANGLES[::3] if self.small else ANGLES
        self._tops: dict[str, tuple[float, float]] = {}
        for angle in self.angles:
            x = self._left(angle) + WIDTH / 2.0
            height = 0.6 * min(TOP, self._rise(angle))
            run = height / math.tan(math.radians(angle))
            self._tops[f"{angle} degrees"] = (height, run)
            for offset, collider in (
                (-1.5, SphereCollider(0.5)),
                (0.0, BoxCollider((0.45, 0.45, 0.45))),
                (1.5, CapsuleCollider(0.4, 1.7, offset=(0.0, 0.85, 0.0))),
            ):
                place = (x + offset, height + 1.6, -run)
                self.put(collider, place, _STANDS, name=f"{angle} degrees", ground_friction=4.0)
            climber = CapsuleCollider(0.4, 1.7, offset=(0.0, 0.85, 0.0))
            self.put(climber, (x, 0.1, 5.0), _CLIMBS, name="climber")
        self.player = self.enter((0.0, 0.1, 9.0))
        self.home = Camera((-6.0, 13.0, 27.0), yaw=-0.2, pitch=-0.32)

    def drive(self) -> None:
        for body in self.bodies:
            if body.name == "climber":
                if body.mover.grounded:
                    body.mover.velocity.z = -3.0
                if body.place[2] < -30.0 or body.place[1] >= TOP - 0.1:
                    body.mover.position = (body.place[0], 0.1, 5.0)
                    body.before = body.mover.position64
            elif body.name.endswith("degrees"):
                body.color = _STANDS if body.result.grounded else _SLIDES
                if body.place[2] > -0.6 and body.result.grounded and body.speed < 0.05:
                    self._put_back(body)

    def _put_back(self, body: Body) -> None:
        """Who has slid down a ramp begins again."""
        x, (height, run) = body.place[0], self._tops[body.name]
        body.mover.position = (x, height + 1.6, -run)
        body.before = body.mover.position64

    def script(self) -> Controls:
        return Controls(forward=0.6 if self.steps < 240 else 0.0, yaw=0.32, pitch=-0.3)

    def decorate(self, frame: Frame, alpha: float) -> None:  # noqa: ARG002 nothing of it moves
        for angle in self.angles:
            x = self._left(angle) + WIDTH / 2.0
            frame.labels.append(Label(f"{angle}\N{DEGREE SIGN}", (x, 0.7, 2.5)))

    def menu(self) -> list[str]:
        limit = math.degrees(self.bodies.rules.slope_limit)
        return [f"walkable up to {limit:.0f} degrees", "blue stands, orange slides, white climbs"]

    @staticmethod
    def _left(angle: int) -> float:
        return (ANGLES.index(angle) - len(ANGLES) / 2.0) * (WIDTH + GAP)

    @staticmethod
    def _rise(angle: float) -> float:
        return 20.0 * math.tan(math.radians(angle))

    def _map(self) -> HeightMap:
        """Ramps rise along -Z from z = 0 to 12 m, or as high as they get in 20 m."""
        land = arena(self.random, size=129 if self.small else 257, flat=44.0)
        heights = np.array(land.heights)
        origin = land.origin
        # Cells a quarter as long along Z, so that even the steepest ramp has whole cells.
        after = np.concatenate([heights[1:], heights[-1:]])
        share = (np.arange(4 * len(heights)) % 4 / 4.0)[:, np.newaxis]
        fine = (
            np.repeat(heights, 4, axis=0) * (1.0 - share) + np.repeat(after, 4, axis=0) * share
        )[:-3]
        z = origin.z + np.arange(len(fine)) * 0.25
        for angle in ANGLES:
            first = round(self._left(angle) - origin.x)
            rise = np.clip(-z * math.tan(math.radians(angle)), 0.0, min(TOP, self._rise(angle)))
            rise[z < -26.0] = 0.0
            fine[:, first : first + WIDTH + 1] += rise[:, np.newaxis]
        return HeightMap(fine, cell_size=(1.0, 0.25), origin=(origin.x, 0.0, origin.z))

"""A walk over rolling land with ruins on it: map and ruins are one mesh to the physics."""

import math

import numpy as np

from terrain_physics import AABB, CapsuleCollider, HeightMap, SphereCollider

from ..picture import colors
from ..picture.frame import Camera, Frame
from ..scenery.inputs import Controls, Floats3
from ..scenery.names import SCENES
from ..scenery.pick import AnyGround
from ..scenery.scene import Scene
from ..scenery.scenes import load_land, scene_class
from .building import Piece, block, drawn, fence, made_of, middle_of, solid, stairs, wedge
from .flag import Flag

MIDDLE = (290.0, 436.0)
REACH = 70.0
# The flag, from the middle: where to look, how far it is, and the hill that it is on.
FLAG_YAW, FLAG_AWAY, HILL, HILL_RADIUS = 0.3, 38.0, 4.0, 14.0
NEXT = "crowd"
_MARBLE = (226, 222, 212)


class Walk(Scene):
    name = "walk"
    title = "Walk over land and ruins"
    task = "Walk to the flag on the hill."
    takes_land = True

    def build(self) -> None:
        self.land = load_land() if self.given_land is None else self.given_land
        x, z = self.middle = MIDDLE if self.given_land is None else middle_of(self.land)
        reach = 24.0 if self.small else REACH
        reach = min(reach, 0.45 * self._extent(self.land))
        self.flag = Flag(self._hill(self.land, min(FLAG_AWAY, 0.7 * reach)))
        ruins = self._ruins(self.land)
        self.meshes = drawn(ruins)
        inside = AABB((x - reach, -1e4, z - reach), (x + reach, 1e4, z + reach))
        corners = self.land.triangles_in(inside, margin=0.0).vertices
        vertices, which = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
        soil = Piece(vertices, which.reshape(-1, 3), colors.GREEN, "grass")
        self._ground = solid([soil, *ruins, *fence(reach - 1.0, (x, z))])
        self.player = self.enter((x, self.land.height_at(x, z) + 0.2, z), yaw=0.6)
        for index in range(6):
            angle = index * math.tau / 6
            place = x + 9.0 * math.cos(angle), z + 9.0 * math.sin(angle)
            self._put_friend(index, *place)
        self.home = Camera((x + 4.0, self.land.height_at(x, z) + 4.0, z + 7.0), 0.6, -0.25)

    @property
    def ground(self) -> AnyGround:
        return self._ground

    def _put_friend(self, index: int, x: float, z: float) -> None:
        assert self.land is not None
        height = self.land.height_at(x, z)
        color = colors.PEOPLE[(index + 2) % len(colors.PEOPLE)]
        if index % 2:
            self.put(SphereCollider(0.5), (x, height + 3.0, z), color, ground_friction=2.0)
        else:
            collider = CapsuleCollider(0.4, 1.7, offset=(0.0, 0.85, 0.0))
            self.put(collider, (x, height + 0.5, z), color, name="friend")

    def _hill(self, land: HeightMap, away: float) -> Floats3:
        """Return the top of a hill ahead: one of our own, on given land the highest place."""
        x0, z0 = self.middle
        if self.given_land is None:
            x, z = x0 - away * math.sin(FLAG_YAW), z0 - away * math.cos(FLAG_YAW)
            land.raise_((x, z), HILL_RADIUS, HILL)
        else:
            yaws = FLAG_YAW + np.linspace(-0.3, 0.5, 17)
            xs, zs = x0 - away * np.sin(yaws), z0 - away * np.cos(yaws)
            best = int(np.argmax(np.nan_to_num(land.height_at(xs, zs), nan=-np.inf)))
            x, z = float(xs[best]), float(zs[best])
        return x, float(np.nan_to_num(land.height_at(x, z))), z

    def drive(self) -> None:
        self.flag.step(self._hero, self.steps)
        for index, body in enumerate(self.bodies):
            if body.name == "friend" and body.mover.grounded:
                angle = self.steps / 240.0 + index
                body.mover.velocity.x = 2.0 * math.cos(angle)
                body.mover.velocity.z = 2.0 * math.sin(angle)

    def script(self) -> Controls:
        seconds = self.steps / 120.0
        return Controls(
            forward=1.0,
            yaw=0.2 + 0.25 * math.sin(0.4 * seconds),
            pitch=-0.25,
            run=seconds % 6.0 > 3.0,
            jump=self.steps % 240 == 200,
            throw=self.steps % 180 == 90,
        )

    def more_state(self) -> int | None:
        return self.flag.reached_at

    def restore_more(self, state: int | None) -> None:
        self.flag.reached_at = state

    def more_digest(self) -> bytes:
        return b"" if self.flag.reached_at is None else self.flag.reached_at.to_bytes(8, "little")

    def news(self) -> str:
        if self.flag.reached_at is None:
            return ""
        key = (SCENES.index(NEXT) + 1) % 10
        return (
            f"You reached the flag! Next: {scene_class(NEXT).title}; press {key} or open the menu."
        )

    def decorate(self, frame: Frame, alpha: float) -> None:  # noqa: ARG002 drawn step by step
        frame.meshes.extend(self.meshes)
        self.flag.fill(frame, self.steps, self._hero)

    @property
    def _hero(self) -> Floats3:
        assert self.player is not None
        return self.player.body.place

    @staticmethod
    def _extent(land: HeightMap) -> float:
        (rows, columns), (cell_x, cell_z) = land.cell_count, land.cell_size
        return min(rows * cell_z, columns * cell_x)

    def _ruins(self, land: HeightMap) -> list[Piece]:
        x0, z0 = self.middle

        def floor(x: float, z: float) -> float:
            around = [land.height_at(x + dx, z + dz) for dx in (-2, 0, 2) for dz in (-2, 0, 2)]
            return float(np.nan_to_num(around).mean())

        pieces = []
        for index in range(8):  # a ring of columns, some broken
            angle = index * math.tau / 8 + 0.2
            x, z = x0 - 14.0 + 6.0 * math.cos(angle), z0 - 16.0 + 6.0 * math.sin(angle)
            height = (5.0, 5.0, 2.2, 5.0, 5.0, 1.0, 5.0, 3.4)[index]
            y = floor(x, z) - 1.0
            pieces += [
                block((x, y + 0.5, z), (0.9, 1.0, 0.9), colors.STONE, yaw=angle),
                block((x, y + 1.0 + height / 2, z), (0.5, height / 2, 0.5), _MARBLE, yaw=angle),
            ]
            if height == 5.0:
                top = y + 1.0 + height + 0.25
                pieces.append(block((x, top, z), (0.8, 0.25, 0.8), colors.STONE, yaw=angle))
        x, z = x0 + 10.0, z0 - 14.0
        y = floor(x, z) - 0.6
        pieces += stairs((x, y, z + 6.0), 0.3, 0.5, 8, 4.0, colors.STONE)
        x, z = x0 - 6.0, z0 + 14.0
        y = floor(x, z) - 0.8
        timber = [
            wedge((x, y + 1.2, z), (2.0, 1.2, 4.0), colors.WOOD),
            block((x, y + 1.2, z - 6.0), (2.0, 1.2, 2.0), colors.WOOD),
            block((x + 9.0, floor(x + 9.0, z), z), (1.2, 0.8, 1.2), colors.WOOD, yaw=0.4),
            block((x + 9.3, floor(x + 9.0, z) + 1.5, z), (0.8, 0.7, 0.8), colors.GOLD, yaw=1.0),
        ]
        return [*pieces, *made_of("wood", timber)]

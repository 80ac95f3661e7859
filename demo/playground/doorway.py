"""300 characters go through a door and around to it again; 60 come to rest around a post."""

import math
from typing import Any

import numpy as np

from terrain_physics import Ground

from ..picture import colors
from ..picture.frame import Camera, Frame, Label
from ..scenery.bodies import Floats
from ..scenery.inputs import STEP, Controls, strides
from ..scenery.pick import AnyGround
from .building import Piece, arena, block, drawn, solid
from .throng import Throng, scattered

# The wall stands along x; they go through it from +Z to -Z, and come back around its ends.
DOOR, DOOR_HEIGHT = 1.2, 2.2
WALL, WALL_HEIGHT, THICKNESS = 14.0, 3.2, 0.3  # WALL: from the middle to an end
COUNT, SPACING, START = 300, 1.3, (0.0, 15.0)
WATCHERS, WATCHERS_SPACING, POST = 60, 2.2, (0.0, -22.0)
HERO = (11.0, 2.5)  # beside the crowd, where nobody hides him
AROUND = WALL + 1.0  # who is farther from the middle has come around the wall
BACK = 6.0  # from the wall to where they turn to the door again
# Along z: they walk to a point in the door, from just before it straight on, and then fan out.
IN_DOOR, IN_FRONT, BEHIND = -0.05, 0.45, -1.0


class Doorway(Throng):
    name = "doorway"
    title = "A door that 300 go through"
    task = "Watch them, then go through the door with them."
    view_distance = 19.0

    def build(self) -> None:
        self.land = arena(self.random, size=97 if self.small else 257, flat=40.0)
        walls = self._walls()
        self.meshes = drawn(walls)
        self._ground = Ground([self.land, solid(walls)])
        self.walkers = 40 if self.small else COUNT
        watchers = 10 if self.small else WATCHERS
        starts = scattered(self.random, self.walkers, SPACING) + START
        around = scattered(self.random, watchers, WATCHERS_SPACING) + POST
        self.gather(np.concatenate([starts, around]), HERO)
        self.speeds = self.random.uniform(3.5, 4.5, self.walkers + watchers)
        # Where each one walks around the wall: to its left or right, and how far from it.
        self.sides = self.random.choice([-1.0, 1.0], self.walkers)
        self.lanes = self.random.uniform(0.5, 6.0, self.walkers)
        self.through = 0
        self.home = Camera((26.0, 9.5, 15.0), yaw=0.6, pitch=-0.4)

    @property
    def ground(self) -> AnyGround:
        return self._ground

    def _walls(self) -> list[Piece]:
        half, high = 0.5 * (WALL - 0.5 * DOOR), 0.5 * WALL_HEIGHT
        over, thick = 0.5 * (WALL_HEIGHT - DOOR_HEIGHT), 0.5 * THICKNESS
        x, z = POST
        return [
            block((half - WALL, high, 0.0), (half, high, thick), colors.STONE),
            block((WALL - half, high, 0.0), (half, high, thick), colors.STONE),
            block((0.0, DOOR_HEIGHT + over, 0.0), (0.5 * DOOR, over, thick), colors.WOOD),
            block((x, 1.5, z), (0.15, 1.5, 0.15), colors.WOOD),
        ]

    def lead(self) -> None:
        people = self.people
        goals = np.tile(POST, (len(people), 1))
        goals[: self.walkers] = self._goals(*people[: self.walkers].T)
        ways = goals - people
        away = np.linalg.norm(ways, axis=1)
        speeds = np.minimum(self.speeds, away / STEP) / np.maximum(away, 1e-9)
        self.group.walk(ways[:, 0] * speeds, ways[:, 1] * speeds, keys=range(len(people)))

    def _goals(self, x: Floats, z: Floats) -> Floats:
        """Return where those who go in circles want to, who are at x and z (n,)."""
        came_around = np.abs(x) > AROUND
        where = [came_around & (z > BACK), came_around, z > IN_FRONT, z > BEHIND]
        lanes = AROUND + self.lanes
        goal_x = np.select(where, [START[0], np.copysign(lanes, x), 0.0, x], self.sides * lanes)
        goal_z = np.select(where, [START[1], BACK + 1.0, IN_DOOR, z - 1.0], -BACK - self.lanes)
        return np.column_stack([goal_x, goal_z])

    def drive(self) -> None:
        super().drive()
        x, _, z = self.group.positions[:-1].T
        entered = (self.before[:-1, 2] > 0.0) & (z <= 0.0) & (np.abs(x) < 0.5 * DOOR)
        self.through += int(entered.sum())

    def script(self) -> Controls:
        """Stand in the throng for a while, then go through the door."""
        x, _, z = self.hero.place
        yaw = self.home.yaw + 0.12 * math.sin(self.steps / 300.0)
        east, south = (-x, IN_DOOR - z) if z > IN_FRONT else (0.0, -1.0)
        share = (self.steps * STEP > 10.0) / math.hypot(east, south)
        forward, right = strides(yaw, share * east, share * south)
        return Controls(forward=forward, right=right, yaw=yaw, pitch=self.home.pitch)

    def more_state(self) -> Any:
        return super().more_state(), self.through

    def restore_more(self, state: Any) -> None:
        more, self.through = state
        super().restore_more(more)

    def decorate(self, frame: Frame, alpha: float) -> None:
        super().decorate(frame, alpha)
        frame.meshes += self.meshes
        x, z = POST
        frame.labels.append(Label(f"{DOOR} m", (0.0, WALL_HEIGHT + 0.5, 0.0)))
        frame.labels.append(Label("all come here", (x, 3.4, z)))

    def menu(self) -> list[str]:
        rate = self.through / max(self.steps * STEP, 1.0)
        return [*super().menu(), f"{self.through} went through the door, {rate:.1f} a second"]

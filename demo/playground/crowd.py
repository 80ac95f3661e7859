"""2,000 characters on the land: those who see the player come running, the others stroll."""

import math

import numpy as np

from ..picture.frame import Camera
from ..scenery.inputs import STEP, STEPS_A_SECOND, Controls
from ..scenery.player import RADIUS
from ..scenery.scenes import load_land
from .building import middle_of
from .throng import Throng, scattered

COUNT = 2000
SPACING = 2.2
MIDDLE = (300.0, 422.0)
CLEARING = 3.0  # around the player at the start
SIGHT = 25.0
HASTE = 1.0  # m/s that they run faster than they stroll
STROLL, STAND = 2 * STEPS_A_SECOND, 6 * STEPS_A_SECOND  # in turn


class Crowd(Throng):
    name = "crowd"
    title = "2,000 characters chase you"
    task = "Run from them, or push through."
    takes_land = True
    view_distance = 15.0

    def build(self) -> None:
        self.land = load_land() if self.given_land is None else self.given_land
        x, z = MIDDLE if self.given_land is None else middle_of(self.land)
        count = 60 if self.small else COUNT
        places = scattered(self.random, count, SPACING)
        places *= 1.0 + CLEARING / np.linalg.norm(places, axis=1, keepdims=True)
        places += (x, z)
        self.gather(places, (x, z))
        self.headings = self.random.uniform(0.0, math.tau, count)
        self.speeds = self.random.uniform(1.0, 3.0, count)
        self.turns = self.random.uniform(-0.6, 0.6, count)
        self.phases = self.random.integers(STROLL + STAND, size=count)
        _, height, _ = self.hero.place
        self.home = Camera((x, height + 9.0, z + 16.0), yaw=0.0, pitch=-0.4)

    def lead(self) -> None:
        x, _, z = self.hero.place
        ways = (x, z) - self.people
        away = np.linalg.norm(ways, axis=1)
        comes = away < SIGHT
        walks = comes | ((self.steps + self.phases) % (STROLL + STAND) < STROLL)
        angles = self.headings + self.turns * (self.steps * STEP)
        speeds = self.speeds + HASTE * comes
        ahead = ways / np.maximum(away, RADIUS)[:, np.newaxis]
        vx = speeds * np.where(comes, ahead[:, 0], np.cos(angles))
        vz = speeds * np.where(comes, ahead[:, 1], np.sin(angles))
        self.group.walk(vx[walks], vz[walks], keys=np.flatnonzero(walks).tolist())

    def script(self) -> Controls:
        """Run in wide arcs, and jump now and then."""
        seconds = self.steps * STEP
        return Controls(
            forward=1.0,
            yaw=0.5 * math.sin(0.5 * seconds),
            pitch=self.home.pitch,
            run=seconds % 6.0 > 3.0,
            jump=self.steps % 240 == 200,
        )

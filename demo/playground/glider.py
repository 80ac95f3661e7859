"""A glider for the hero: it flies where one looks."""

import math

import numpy as np

from ..picture import colors
from ..picture.frame import Crates, Frame
from ..scenery.inputs import Controls, Floats3, looking
from ..scenery.player import Player

SPEED, SLOW = 60.0, 25.0  # m/s; while it is held back
GUST = 9.0  # m/s upward, as it opens
TURNS = 1.5  # how quickly it takes a speed, per second
LEVEL = 0.22  # radians: a look so far down keeps the height
ASIDE = 0.6  # radians
STEEPEST_DOWN, STEEPEST_UP = -0.9, 0.5  # radians

_SPAN, _CHORD, _SWEEP = 3.2, 0.75, 0.35  # meters from the middle, meters, radians
_ABOVE = 2.35  # meters above the feet


class Glider:
    """Opens and closes by a jump in the air, and closes on the ground."""

    def __init__(self) -> None:
        self.is_open = False
        self._bank = 0.0

    def drive(self, player: Player, controls: Controls, seconds: float) -> None:
        """Open, close, and set the velocity to what is wished for."""
        mover = player.body.mover
        if self.is_open and mover.grounded:
            self.is_open = False
        elif controls.jump and not mover.grounded:
            self.is_open = not self.is_open
            if self.is_open:
                mover.velocity.y = max(mover.velocity.y, GUST)
        mover.gravity_scale = 0.0 if self.is_open else 1.0
        self._bank += (0.8 * controls.right - self._bank) * min(1.0, 4.0 * seconds)
        if not self.is_open:
            return
        speed = SLOW if controls.forward < 0.0 else SPEED
        pitch = min(max(controls.pitch + LEVEL, STEEPEST_DOWN), STEEPEST_UP)
        x, y, z = looking(controls.yaw - ASIDE * controls.right, pitch)
        left = math.exp(-TURNS * seconds)
        velocity = mover.velocity
        mover.velocity = (
            speed * x + (velocity.x - speed * x) * left,
            speed * y + (velocity.y - speed * y) * left,
            speed * z + (velocity.z - speed * z) * left,
        )
        player.turn_to(mover.velocity.x, mover.velocity.z, seconds)

    def state(self) -> tuple[bool, float]:
        """Return all that changes."""
        return self.is_open, self._bank

    def restore(self, state: tuple[bool, float]) -> None:
        """Go back to a state."""
        self.is_open, self._bank = state

    def fill(self, frame: Frame, place: Floats3, yaw: float) -> None:
        """Add the wings above the hero."""
        if not self.is_open:
            return
        sin, cos = math.sin(yaw), math.cos(yaw)
        heading = np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]])
        sin, cos = math.sin(self._bank), math.cos(self._bank)
        heading = heading @ [[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]]
        centers, turns = [], []
        for side in (-1.0, 1.0):
            sin, cos = math.sin(-side * _SWEEP), math.cos(_SWEEP)
            swept = np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]])
            middle = swept @ (side * 0.5 * _SPAN, 0.0, 0.0) + np.array((0.0, _ABOVE, 0.0))
            centers.append(np.array(place) + heading @ middle)
            turns.append(heading @ swept)
        extents = np.array([[0.5 * _SPAN, 0.05, 0.5 * _CHORD]] * 2)
        wings = colors.rows(colors.RED, 2)
        frame.boxes.append(Crates(np.array(centers), extents, np.array(turns), wings))

"""A flag to walk to: a pole, and cloth in the wind that shows whether somebody was there."""

import math

import numpy as np
from numpy.typing import NDArray

from ..picture import colors
from ..picture.frame import Balls, Frame, Label, Mesh, Pills
from ..scenery.bodies import Floats
from ..scenery.inputs import STEP, Floats3

NEAR = 2.5  # meters, as far as one reaches it
HEIGHT, LENGTH, WIDTH = 8.0, 3.6, 2.1
_RADIUS = 0.09
_ACROSS, _DOWN = 9, 3  # cells of the cloth
_EVERY = 5  # steps; the cloth is moved so often


class Flag:
    """A flag on a place of the ground."""

    def __init__(self, place: Floats3) -> None:
        self.place = place
        self.reached_at: int | None = None  # a step
        self._cloth: tuple[object, Mesh] | None = None

    def step(self, hero: Floats3, steps: int) -> None:
        """Take down when the hero is there for the first time."""
        if self.reached_at is None and math.dist(hero, self.place) < NEAR:
            self.reached_at = steps

    def fill(self, frame: Frame, steps: int, hero: Floats3) -> None:
        """Add it; until it is reached, a label says how far it is."""
        x, y, z = self.place
        top = y + HEIGHT
        foot, tip = np.array([[x, y - 1.0, z]]), np.array([[x, top, z]])
        frame.capsules.append(Pills(foot, tip, np.array([_RADIUS]), colors.rows(colors.WHITE, 1)))
        knob = np.array([0.2]), np.eye(3)[np.newaxis]
        frame.balls.append(Balls(tip, *knob, colors.rows(colors.GOLD, 1)))
        frame.meshes.append(self._mesh(steps))
        if self.reached_at is None:
            away = f"flag, {math.dist(hero, self.place):.0f} m"
            frame.labels.append(Label(away, (x, top + 0.7, z)))

    def _mesh(self, steps: int) -> Mesh:
        """Return the cloth, the same one for some steps; blue once somebody was there."""
        now = (steps // _EVERY, self.reached_at is not None)
        if self._cloth is None or self._cloth[0] != now:
            color = colors.ORANGE if self.reached_at is None else colors.BLUE
            places = _waving(now[0] * _EVERY * STEP) + self.place
            self._cloth = now, Mesh(places, _FACES, color)
        return self._cloth[1]


def _waving(seconds: float) -> Floats:
    """Return the corners of the cloth about the foot of the pole."""
    columns, rows = np.linspace(0.0, 1.0, _ACROSS + 1), np.linspace(0.0, 1.0, _DOWN + 1)
    along, down = (part.ravel() for part in np.meshgrid(columns, rows))
    phase = 7.0 * along + 1.2 * down - 5.0 * seconds
    x = _RADIUS + LENGTH * along * 0.96
    y = HEIGHT - 0.15 - WIDTH * down - 0.25 * along + 0.06 * along * np.sin(phase + 1.0)
    z = 0.34 * along * np.sin(phase)
    return np.column_stack([x, y, z])


def _both_sides() -> NDArray[np.int64]:
    row, column = np.divmod(np.arange(_ACROSS * _DOWN), _ACROSS)
    a = row * (_ACROSS + 1) + column
    b, c = a + 1, a + _ACROSS + 1
    front = np.concatenate([np.column_stack([a, c, b]), np.column_stack([b, c, c + 1])])
    return np.concatenate([front, front[:, ::-1]])


_FACES = _both_sides()

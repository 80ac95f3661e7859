"""Machines: parts of a ground that move, where they are at which time, and how they are drawn."""

import math
from collections.abc import Callable

import numpy as np

from terrain_physics import Ground

from ..picture import colors
from ..picture.frame import Frame, Mesh
from ..scenery.bodies import Floats, rotation_about
from ..scenery.inputs import STEP, Floats3
from .building import Piece, block, drawn, made_of, prism, ring, solid

Pose = tuple[Floats3, Floats]  # position and rotation, as `Ground.move` takes them
Way = Callable[[float], Pose]

UPRIGHT = np.eye(3)
MOVING_LAYER = 4
_EAST, _UP, _SOUTH = np.eye(3)
_HULL = (122, 74, 50)


class Machine:
    """A part of a ground with a name, a look and a way: its pose after so many seconds."""

    def __init__(self, name: str, ground: Ground, pieces: list[Piece], way: Way) -> None:
        self.name, self.way = name, way
        self.meshes = drawn(pieces)
        self.key = ground.add(solid(pieces), layers=MOVING_LAYER)
        ground.move(self.key, way(0.0))
        self.before = ground.transform(self.key)

    def drive(self, ground: Ground, seconds: float) -> None:
        """Move to where it is after so many seconds, in one step."""
        self.before = ground.transform(self.key)
        ground.move(self.key, self.way(seconds), STEP)

    def fill(self, frame: Frame, ground: Ground, alpha: float) -> None:
        """Add it as it is ``alpha`` of a step after the last but one."""
        pose = self.before + (ground.transform(self.key) - self.before) * alpha
        for mesh in self.meshes:
            places = mesh.vertices @ pose[:3, :3].T + pose[:3, 3]
            frame.meshes.append(Mesh(places, mesh.faces, mesh.color))


# Ways


def eased(seconds: float, wait: float, travel: float) -> float:
    """Return how far somebody is who waits, goes softly, waits, and comes back: 0 to 1."""
    lap = wait + travel
    half, rest = divmod(seconds, lap)
    share = max(0.0, rest - wait) / travel
    soft = share * share * share * (share * (6.0 * share - 15.0) + 10.0)
    return 1.0 - soft if half % 2.0 else soft


def abrupt(seconds: float, travel: float) -> float:
    """Return how far somebody is who goes at one speed and turns round at once: 0 to 1."""
    half, rest = divmod(seconds, travel)
    return 1.0 - rest / travel if half % 2.0 else rest / travel


def spinning(place: Floats3, speed: float) -> Way:
    """Return the way of what turns about +Y, in rad/s."""
    return lambda seconds: (place, rotation_about(_UP, speed * seconds))


def swaying(place: Floats3) -> Way:
    """Return the way of a ship whose bow is towards +X: it rolls, pitches and heaves."""

    def way(seconds: float) -> Pose:
        x, y, z = place
        roll = rotation_about(_EAST, 0.13 * math.sin(1.1 * seconds))
        pitch = rotation_about(_SOUTH, 0.06 * math.sin(0.83 * seconds + 1.0))
        return (x, y + 0.3 * math.sin(0.7 * seconds), z), pitch @ roll

    return way


def falling(place: Floats3, wait: float, height: float, spin: float, gravity: float) -> Way:
    """Return the way of a plank that holds a little longer, then falls so far, and lies there."""
    longest = math.sqrt(2.0 * height / gravity)

    def way(seconds: float) -> Pose:
        x, y, z = place
        time = min(max(0.0, seconds - wait), longest)
        turn = rotation_about(_UP, spin * time)
        return (x, y - 0.5 * gravity * time * time, z), turn

    return way


# Looks, each about its own origin


def platform(half: Floats3, color: colors.Color) -> list[Piece]:
    """Return a floor with a rim of another color; its top is at 0."""
    x, y, z = half
    floor = block((0.0, -y, 0.0), half, color)
    rim = block((0.0, -y, 0.0), (x + 0.06, 0.6 * y, z + 0.06), colors.DARK)
    return made_of("metal", [floor, rim])


def turntable(radius: float, thickness: float) -> list[Piece]:
    """Return a disc of two colors by turns; its top is at 0."""
    low, high = ring(radius, -thickness, 24), ring(radius, 0.0, 24)
    middle = np.zeros((1, 3))
    pieces = []
    for first in range(0, 24, 3):
        part = np.arange(first, first + 4) % 24
        color = colors.WHITE if first % 2 else colors.TEAL
        bottom = np.concatenate([middle - (0.0, thickness, 0.0), low[part]])
        pieces.append(prism(bottom, np.concatenate([middle, high[part]]), color))
    return made_of("metal", pieces)


def ship() -> list[Piece]:
    """Return a ship with its bow towards +X: the origin is amidships, where the water is."""
    outline = np.array([(-5.0, 1.7), (2.4, 2.1), (5.8, 0.0), (2.4, -2.1), (-5.0, -1.7)])
    keel = outline * (0.86, 0.55)

    def level(flat: Floats, y: float) -> Floats:
        return np.insert(flat, 1, y, axis=1)

    pieces = [
        prism(level(keel, -1.5), level(outline, 0.9), _HULL),
        prism(level(outline, 0.9), level(outline, 1.0), colors.WOOD),
        block((-3.0, 2.0, 0.0), (1.2, 1.0, 1.0), colors.WHITE),
        block((-3.0, 3.08, 0.0), (1.4, 0.08, 1.2), colors.RED),
        block((1.2, 3.6, 0.0), (0.12, 2.6, 0.12), _HULL),
        block((1.2, 5.0, 0.0), (0.07, 0.07, 1.5), _HULL),
    ]
    gangway = np.array([0.6, 2.0])  # from the stern to here there is no rail
    ends = zip([gangway, *outline[1:]], np.roll(outline, -1, axis=0), strict=True)
    for (x0, z0), (x1, z1) in ends:
        middle, length = (0.5 * (x0 + x1), 1.25, 0.5 * (z0 + z1)), math.hypot(x1 - x0, z1 - z0)
        yaw = math.atan2(z0 - z1, x1 - x0)
        pieces.append(block(middle, (0.5 * length, 0.25, 0.08), _HULL, yaw=yaw))
    return made_of("wood", pieces)

"""What the games of several engines share, and no engine: a valley, its colors, who walks there."""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics import CapsuleCollider, CharacterGroup, CharacterMovement, HeightMap

from ..scenery.scenes import load_land

Colors = NDArray[np.float32]
Place = tuple[float, float, float]

SIZE = (960, 540)  # of a window or a picture, in pixels
FRAME = 1 / 60  # of a game without a window, in seconds

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))  # its position is its lowest point
SLOPE_LIMIT = math.radians(45)
SPEED, TURN, JUMP = 5.0, 2.0, 1.2  # of the hero, in m/s, rad/s and m
START = (56.0, 14.0)  # x and z of the hero, who looks along +Z
BESIDE = [(-6, 1), (-4.5, 2), (-3, 3), (3, 3), (4.5, 2), (6, 1)]  # meters from the hero to friends

SUN = np.array([0.48, 0.64, -0.6])  # the direction to it, of length 1
SHADE, LIGHT = 0.5, 0.65  # on what is turned away from the sun, and in addition on what faces it
SKY, RED, GOLD = (0.62, 0.77, 0.92), (0.89, 0.27, 0.20), (1.0, 0.78, 0.20)
GRASS, ROCK, SNOW = (0.42, 0.56, 0.27), (0.52, 0.48, 0.44), (0.93, 0.95, 0.98)


class Keys(NamedTuple):
    """What the player does: -1 to 1 twice, and whether to jump."""

    ahead: float
    turn: float
    jump: bool


def read_options(name: str, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return ``frames``, None for a game in a window, and ``picture``, a path or None."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.{name}")
    parser.add_argument("--frames", type=int, metavar="N", help="no window; walks by itself")
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help="write the last of them")
    options = parser.parse_args(arguments)
    if options.frames is not None and options.frames < 1:
        parser.error(f"--frames must be at least 1, got {options.frames}")
    if options.picture and options.frames is None:
        parser.error("--picture needs --frames")
    return options


def walk_by_itself(frame: int) -> Keys:
    """Return keys for a game that nobody plays: a wide curve, and a jump every two seconds."""
    return Keys(1.0, -0.02, frame % 120 == 30)


def load_valley() -> HeightMap:
    """Return 193 x 193 samples of our land: vertices that 16 bits can count, as raylib wants."""
    return HeightMap(load_land().heights[150:343, 20:213])


def ground_colors(land: HeightMap) -> Colors:
    """Return a color of 0 to 1 for each vertex of ``land.to_mesh()``, not lit yet."""
    arrays = land.to_mesh()
    height, upright = arrays.vertices[:, 1:2], arrays.normals[:, 1:2]
    snow = np.clip((height - 45.0) / 10.0, 0.0, 1.0)
    rock = np.clip((0.85 - upright) / 0.15, 0.0, 1.0)
    colors = (1.0 - snow) * np.array(GRASS) + snow * np.array(SNOW)
    colors = (1.0 - rock) * colors + rock * np.array(ROCK)
    blades = np.random.default_rng(1).uniform(0.88, 1.0, height.shape)
    return np.asarray(blades * colors, dtype=np.float32)


def sunlit_colors(land: HeightMap) -> Colors:
    """Return the same in sunlight, for what draws colors as they are."""
    facing = np.clip(land.to_mesh().normals @ SUN, 0.0, None)[:, np.newaxis]
    colors = np.clip(ground_colors(land) * (SHADE + LIGHT * facing), 0.0, 1.0)
    return np.asarray(colors, dtype=np.float32)


def start_of(land: HeightMap, number: int) -> Place:
    """Return where the hero (0) stands at first, or a friend (1, 2, ...)."""
    x, z = START
    if number:
        aside, ahead = BESIDE[number - 1]
        x, z = x + aside, z + ahead
    return x, land.height_at(x, z), z


def walk_beside(crowd: CharacterGroup, hero: CharacterMovement) -> None:
    """Let friends, who joined a crowd after its hero, walk to their places beside it."""
    x, _, z = hero.position64
    away = np.array([(x, z), *((x + aside, z + ahead) for aside, ahead in BESIDE)])
    away -= crowd.positions[:, [0, 2]]
    distance = np.hypot(*away.T)
    speed = np.minimum(1.2 * SPEED, 2.0 * distance) / np.maximum(distance, 0.1)
    crowd.walk(*(away.T * speed))


def report(hero: CharacterMovement, land: HeightMap, options: argparse.Namespace) -> None:
    """Say where the hero is."""
    x, y, z = hero.position
    height = y - land.height_at(x, z)
    print(f"the hero is at ({x:.1f}, {y:.1f}, {z:.1f}), {height:.2f} m above the land")
    if options.picture:
        print(f"wrote {options.picture}")

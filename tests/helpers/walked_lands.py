"""Small lands with what is hard to walk: for paths and fields that are walked to their ends."""

import math
from collections.abc import Callable

import numpy as np

from terrain_physics import CapsuleCollider, CharacterRules, Ground, HeightMap, TriangleMesh

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
RULES = CharacterRules(slope_limit=math.radians(45), step_offset=0.35)
SIDE = 24.0

_DOOR = 1.05 * 0.8


def _floor(height: float = 0.0) -> HeightMap:
    return HeightMap(np.full((25, 25), height))


def rough(seed: int) -> Ground:
    """Return slopes to 55 degrees, and terraces."""
    rng = np.random.default_rng(seed)
    z, x = np.mgrid[0:49, 0:49] * 0.5
    heights = np.zeros((49, 49))
    for octave in range(3):
        length = 14 / 2**octave
        for angle in rng.uniform(0, 2 * math.pi, 3):
            wave = 2 * math.pi * (x * math.cos(angle) + z * math.sin(angle)) / length
            heights += 0.5**octave * np.sin(wave + rng.uniform(0, 2 * math.pi))
    steepest = np.hypot(*np.gradient(heights, 0.5)).max()
    heights *= math.tan(math.radians(55)) / steepest
    level, part = np.divmod(heights, 1.2)
    terraces = 1.2 * (level + np.clip((part / 1.2 - 0.7) / 0.3, 0, 1))
    return Ground([HeightMap(np.where(x + z > 24, terraces, heights), cell_size=0.5)])


def stairs(seed: int) -> Ground:
    """Return stairs of 0.3 m between levels, beside walls."""
    rng = np.random.default_rng(seed)
    boxes = []
    for k in range(3):
        x, z, up = 4 + 8 * k, rng.uniform(4, 8), int(rng.integers(4, 8))
        for step in range(up):
            height = 0.3 * (step + 1)
            boxes.append(
                TriangleMesh.box((3, height, 0.4), position=(x, height / 2, z + 0.4 * step))
            )
        top = z + 0.4 * up + 1.3
        height = 0.3 * up
        boxes.append(TriangleMesh.box((3, height, 3), position=(x, height / 2, top)))
    return Ground([_floor(), *boxes])


def kerbs(seed: int) -> Ground:
    """Return kerbs and blocks of 0.1 to 0.6 m."""
    rng = np.random.default_rng(seed)
    boxes = []
    for _ in range(14):
        size = rng.uniform(1, 6), rng.uniform(0.1, 0.6), rng.uniform(0.2, 2)
        x, z = rng.uniform(2, 22, 2)
        boxes.append(TriangleMesh.box(size, position=(x, size[1] / 2, z)))
    return Ground([_floor(), *boxes])


def doors(seed: int) -> Ground:
    """Return rooms with doors that are 1.05 times as wide as the body."""
    rng = np.random.default_rng(seed)
    boxes = []
    for k in range(2):
        for across in (False, True):
            wall = 7.5 + 9 * k
            at = np.concatenate(
                [[-2], np.sort(rng.choice(np.arange(2, 23), 3, replace=False)), [26]]
            )
            for a, b in zip(at[:-1] + _DOOR / 2, at[1:] - _DOOR / 2, strict=True):
                size, place = (0.3, 2.5, b - a), (wall, 1.25, (a + b) / 2)
                if across:
                    size, place = size[::-1], place[::-1]
                boxes.append(TriangleMesh.box(size, position=place))
    return Ground([_floor(), *boxes])


def limits(seed: int) -> Ground:
    """Return slopes of just the limit, up and down, and of a little more."""
    rng = np.random.default_rng(seed)
    x = np.arange(0, 24.5, 0.5)
    slopes = np.tan(np.radians(rng.choice([0, 44.9, 45, 45.3, -44.9, -45, 30, -30], 24)))
    heights = np.interp(x, np.arange(25), np.concatenate([[0], np.cumsum(slopes)]))
    return Ground([HeightMap(np.tile(heights, (49, 1)), cell_size=0.5)])


def holes(seed: int) -> Ground:
    """Return a floor with holes above a second one, 1.5 m below."""
    rng = np.random.default_rng(seed)
    marks = np.zeros((24, 24), dtype=bool)
    for _ in range(14):
        row, column = rng.integers(1, 21, 2)
        marks[row : row + 2, column : column + 2] = True
    return Ground([HeightMap(np.zeros((25, 25)), holes=marks), _floor(-1.95)])


def one_way(seed: int) -> Ground:
    """Return walls, each with a wide gate that lets through in one direction."""
    rng = np.random.default_rng(seed)
    ground = Ground([_floor()])
    for k in range(3):
        wall, gate = 5.5 + 6 * k, float(rng.integers(4, 20))
        for a, b in ((-1.0, gate - 1.5), (gate + 1.5, 25.0)):
            box = TriangleMesh.box((0.3, 2.5, b - a), position=(wall, 1.25, (a + b) / 2))
            ground.add(box)
        corners = [(wall, y, gate + z) for y in (0, 2.5) for z in (-1.5, 1.5)]
        key = ground.add(TriangleMesh(corners, [(0, 1, 2), (1, 3, 2)]))
        ground.set_one_way(key, (-1.0, 0.0, 0.0) if rng.random() < 0.5 else (1.0, 0.0, 0.0))
    return ground


def bridges(seed: int) -> Ground:
    """Return a trench with bridges of 1.2 m over it."""
    rng = np.random.default_rng(seed)
    heights = np.zeros((49, 49))
    heights[:, 18:31] = -4
    boxes = [
        TriangleMesh.box((8.4, 0.4, 1.2), position=(12, -0.2, z))
        for z in rng.choice(np.arange(2, 23, 3), 3, replace=False)
    ]
    return Ground([HeightMap(heights, cell_size=0.5), *boxes])


LANDS: dict[str, Callable[[int], Ground]] = {
    land.__name__: land for land in (rough, stairs, kerbs, doors, limits, holes, one_way, bridges)
}

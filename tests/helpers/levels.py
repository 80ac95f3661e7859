"""Levels as games have them, drawn at random, and characters that are led or roam there."""

from typing import Any, NamedTuple

import numpy as np

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Path,
    TriangleMesh,
    Walkability,
)
from tests.oracles.walked_edges import STEPS

BODIES: dict[str, Any] = {
    "capsule": CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)),
    "box": BoxCollider((0.35, 0.9, 0.35), offset=(0, 0.9, 0)),
}
WIDTHS = {"capsule": 0.8, "box": 0.7}


def level(seed: int, width: float) -> Ground:
    """Return rooms with doors of 1.02 to 2 bodies, stairs, a kerb, a ramp, ledges and a mesh."""
    rng = np.random.default_rng(seed)
    heights = np.zeros((15, 15))
    heights[10:12, 9:13] = rng.uniform(0.1, 0.8)  # with ramps around it
    floor, parts = HeightMap(heights, origin=(-7, 0, -7)), list[TriangleMesh]()
    for turned in (False, True):
        room, doors = 0.5 * width * rng.uniform(1.02, 2.0), rng.integers(1, 3, 2) * [-2, 2]
        ends = [-7.0, *(x + side * room for x in doors for side in (-1, 1)), 7.0]
        for start, end in zip(ends[::2], ends[1::2], strict=True):
            size, place = (end - start, 3.0, 0.3), (0.5 * (start + end), 1.5, 0.0)
            parts.append(
                TriangleMesh.box(size[::-1], position=place[::-1])
                if turned
                else TriangleMesh.box(size, position=place)
            )
    kerb, rise, steps = rng.uniform(0.01, 0.3), rng.uniform(0.12, 0.19), int(rng.integers(3, 7))
    tread, top = rng.uniform(0.26, 0.4), rise * steps
    landing = 2 + tread * steps
    parts += [
        TriangleMesh.box((3, kerb, 3), position=(-4, 0.5 * kerb, -4)),
        TriangleMesh.stairs(2.0, rise, tread, steps, position=(2, 0, -4)),
        TriangleMesh.box((7 - landing, top, 2), position=(0.5 * (landing + 7), 0.5 * top, -4)),
    ]
    ground = Ground([floor, *parts])
    c, s = np.cos(turn := rng.uniform(0, 6.28)), np.sin(turn)
    x, z = rng.uniform(-5, 5, 2)
    frame = [[c, 0, -s, x], [0, 1, 0, rng.uniform(-0.3, 0.3)], [s, 0, c, z], [0, 0, 0, 1]]
    ground.add(TriangleMesh.box(rng.uniform(0.3, 1.5, 3)), transform=np.array(frame))
    return ground


def map_of(ground: Any, body: str, **options: Any) -> Walkability:
    """Return a map of the middle of a level."""
    paths = Walkability(ground, BODIES[body], area=((-6, -6), (6, 6)), **options)
    paths.update()
    return paths


def drawn_paths(paths: Walkability, seed: int, count: int) -> list[Path]:
    """Return the paths between pairs of places, where there are any."""
    places, rng = paths.positions[paths.standing], np.random.default_rng(seed)
    found = [paths.path(*places[rng.integers(0, len(places), 2)]) for _ in range(count)]
    return [path for path in found if path is not None]


def led(paths: Walkability, path: Path, rate: float) -> str:
    """Lead a character along a path; return what became of it in twice its time and two tries."""
    path.progress = 0.0
    hero = CharacterMovement(
        paths.ground, paths.collider, position=path.points[0], rules=paths.rules
    )
    hero.update(1 / rate)
    told = "on the way"
    for _ in range(round((2 * path.length / paths.speed + 3) * rate)):
        told = path.lead(hero)
        if told != "on the way":
            break
        hero.update(1 / rate)
    return told


class Step(NamedTuple):
    """One of a character that roams: from a place that it stands on to one beside it."""

    start: tuple[int, ...]  # level, row and column
    end: tuple[int, ...]


def roamed(paths: Walkability, seed: int, count: int, walks: int) -> list[Step]:
    """Let characters roam: walk straight ahead to a place at random beside theirs, and so on.

    Returns those of their steps that lead to where they stand on that place, and not down too deep.
    """
    rng, rate = np.random.default_rng(seed), 60
    places, steps = paths.positions[paths.standing], list[Step]()
    group = CharacterGroup(paths.ground, paths.collider, rules=paths.rules)
    group.add_many(range(count), places[rng.integers(0, len(places), count)])
    group.update(1 / rate)
    frames = round(2.5 * paths.spacing / paths.speed * rate)
    for _ in range(walks):
        starts, stands = _places_at(paths, group)
        ends = starts[:, 1:] + np.array(STEPS)[rng.integers(0, len(STEPS), count)]
        ways = (paths._places.lower_x, paths._places.lower_z) + paths.spacing * ends[:, ::-1]
        ways -= group.positions[:, [0, 2]]
        ahead = paths.speed * ways / np.hypot(*ways.T)[:, np.newaxis]
        walking, lowest = np.ones(count, np.bool_), group.positions[:, 1] - paths.max_drop
        for _ in range(frames):
            group.walk(*(ahead * walking[:, np.newaxis]).T)
            group.update(1 / rate)
            now, near = _places_at(paths, group)
            arrived = near & walking & (now[:, 1:] == ends).all(axis=1)
            walking &= ~arrived
            for k in np.flatnonzero(arrived & stands & (group.positions[:, 1] >= lowest)):
                steps.append(Step(tuple(starts[k].tolist()), tuple(now[k].tolist())))
    return steps


def _places_at(paths: Walkability, group: CharacterGroup) -> tuple[Any, Any]:
    """Return (the nearest place (n, 3) to each character, whether it stands there)."""
    places, points = paths._places, group.positions
    column = np.round((points[:, 0] - places.lower_x) / paths.spacing).astype(int)
    row = np.round((points[:, 2] - places.lower_z) / paths.spacing).astype(int)
    own_row, own_column = np.clip(row, 0, places.rows - 1), np.clip(column, 0, places.columns - 1)
    off = np.abs(paths.positions[:, own_row, own_column] - points)
    level = np.argmin(np.where(np.isnan(off[..., 1]), np.inf, off[..., 1]), axis=0)
    # In all three dimensions, as edges end: at the corner of a kerb one may be above a place that
    # is a quarter of the spacing higher, and stand on the kerb.
    own = off[level, np.arange(len(points))]
    is_near = np.linalg.norm(own, axis=1) <= 0.25 * paths.spacing
    is_inside = (row == own_row) & (column == own_column)
    return np.column_stack([level, row, column]), is_inside & is_near & group.grounded


def unreachable(paths: Walkability, steps: list[Step]) -> list[Step]:
    """Return the steps that a map calls no way."""
    points = paths.positions
    known = {start: paths.reachable(points[start]) for start in {step.start for step in steps}}
    return [step for step in steps if not known[step.start][step.end]]

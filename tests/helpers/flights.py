"""Flights of real stairs: straight, turning and spiral, of `TriangleMesh.stairs` and of boxes."""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
    Walkability,
)
from tests.helpers.draws import Draws

Point = tuple[float, float, float]

KINDS = ("mesh", "boxes", "turning", "spiral")

_WIDTH, _LANDING = 2.4, 2.4


class Flight(NamedTuple):
    """Stairs up from a floor, who is to walk there, and points that lead up."""

    ground: Ground
    way: list[Point]
    body: Any
    rules: dict[str, Any]


def drawn_flight(seed: int, kind: str, *, tread: float = 0.2) -> Flight:
    """Return stairs with treads from a length to 40 cm, somewhere and turned, with a platform."""
    draws = Draws(seed)
    frame = _turned(
        draws.uniform(-0.5, 0.5), 0.0, draws.uniform(-0.5, 0.5), draws.uniform(0.0, 2.0 * math.pi)
    )
    ground = Ground([HeightMap(np.zeros((29, 29)), origin=(-14, 0, -14))])
    rise, length, steps = (
        draws.uniform(0.1, 0.2), draws.uniform(tread, 0.4), draws.whole(5, 11)
    )  # fmt: skip
    radius = draws.uniform(0.2, 0.5)
    body = (
        CapsuleCollider(radius, 1.8, offset=(0, 0.9, 0)),
        SphereCollider(radius, offset=(0, radius, 0)),
        BoxCollider((radius, 0.9, radius), offset=(0, 0.9, 0)),
    )[draws.below(3)]
    rules = {"slope_limit": math.radians(draws.uniform(30.0, 60.0))}
    if kind == "spiral":
        way = _add_spiral(ground, frame, rise, length, steps)
    else:
        way = _add_straight(ground, frame, rise, length, steps, as_boxes=kind == "boxes")
    if kind == "turning":
        x, y, z = steps * length + _LANDING / 2, steps * rise, 0.0  # the middle of the landing
        second = frame @ _turned(x, y, z, math.pi / 2) @ _turned(_LANDING / 2, 0.0, 0.0, 0.0)
        way = [*way[:2], *_add_straight(ground, second, rise, length, steps, as_boxes=False)[1:]]
    return Flight(ground, way, body, rules)


def _turned(x: float, y: float, z: float, angle: float) -> Any:
    """Return a transform that takes +X towards +Z by an angle, and then to a point."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0, -s, x], [0, 1, 0, y], [s, 0, c, z], [0, 0, 0, 1.0]])


def _point(frame: Any, point: Point) -> Point:
    x, y, z, _ = (frame @ [*point, 1.0]).tolist()
    return x, y, z


def _add_block(ground: Ground, frame: Any, lower: Point, upper: Point) -> None:
    """Add a block between two corners."""
    size = np.subtract(upper, lower)
    x, y, z = (np.add(upper, lower) / 2).tolist()
    ground.add(TriangleMesh.box(size), transform=frame @ _turned(x, y, z, 0.0))


def _add_straight(
    ground: Ground, frame: Any, rise: float, tread: float, steps: int, *, as_boxes: bool
) -> list[Point]:
    """Add a flight up along +X from the frame's origin, and a platform; return the way up."""
    length, top, half = steps * tread, steps * rise, _WIDTH / 2
    if as_boxes:
        for k in range(steps):
            corner = (k + 1) * tread, (k + 1) * rise, half
            _add_block(ground, frame, (k * tread, 0.0, -half), corner)
    else:
        ground.add(TriangleMesh.stairs(_WIDTH, rise, tread, steps), transform=frame)
    _add_block(ground, frame, (length, 0.0, -half), (length + _LANDING, top, half))
    return [_point(frame, (-2.0, 0.0, 0.0)), _point(frame, (length + _LANDING / 2, top, 0.0))]


def _add_spiral(ground: Ground, frame: Any, rise: float, tread: float, steps: int) -> list[Point]:
    """Add stairs that turn around a point, with a platform; return the way up their middle."""
    inner, middle = 0.4, 0.4 + _WIDTH / 2
    angle, deep = tread / middle, tread * (0.4 + _WIDTH) / middle
    for k in range(steps + 5):  # the last ones are a landing
        own = frame @ _turned(0.0, 0.0, 0.0, k * angle)
        top = (min(k, steps - 1) + 1) * rise
        _add_block(ground, own, (inner, 0.0, 0.0), (inner + _WIDTH, top, deep))
    way = [(middle, 0.0, -1.5), (middle, 0.0, 0.0)]
    for k in range(steps + 4):
        at = (k + 1) * angle
        top = (min(k, steps - 1) + 1) * rise
        way.append((middle * math.cos(at), top, middle * math.sin(at)))
    return [_point(frame, point) for point in way]


def is_walked(flight: Flight, way: list[Point]) -> bool:
    """Tell whether the hero that is walked from point to point comes to stand on the last."""
    hero = CharacterMovement(flight.ground, flight.body, position=way[0], **flight.rules)
    for start, end in pairwise(way):
        ahead = np.subtract(end, start)[[0, 2]]
        far = float(np.hypot(*ahead))
        for _ in range(int(60 * far)):  # three times as long as it takes
            hero.walk(*(3.0 / far * ahead))
            hero.update(1 / 60)
            x, _, z = hero.position64
            if (x - start[0]) * ahead[0] + (z - start[2]) * ahead[1] >= far * far:
                break
        else:
            return False
    return abs(hero.position64[1] - way[-1][1]) < 0.02


def has_way(flight: Flight, paths: Walkability, way: list[Point]) -> bool:
    """Tell whether a map has a way between the ends of a flight."""
    return paths.path(way[0], way[-1]) is not None


def map_over(flight: Flight, spacing: float) -> Walkability:
    """Return the map of the stairs."""
    x, z = (np.array(flight.way)[:, axis] for axis in (0, 2))
    area = (x.min() - 1.5, z.min() - 1.5), (x.max() + 1.5, z.max() + 1.5)
    paths = Walkability(flight.ground, flight.body, area=area, spacing=spacing, **flight.rules)
    assert paths.update() == 0
    return paths

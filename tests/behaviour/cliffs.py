"""Cliffs between maps, cellars and undersides: who walks, runs and jumps there stays outside."""

import math
from typing import NamedTuple

from terrain_physics import (
    AABB,
    BoxCollider,
    Capsule,
    CapsuleCollider,
    Ground,
    HeightMap,
    Sphere,
)
from tests.behaviour.drive import RESOLVERS, character, push
from tests.behaviour.lands import boxes
from tests.behaviour.levels import RATES, draw_body
from tests.helpers.draws import Draws

CELLS = 6
FLOOR = -7.0
SMALLER = 1e-3


class Among(NamedTuple):
    """The result of two seconds among cliffs."""

    inside: float  # the farthest that its center was in the ground, in meters
    overlap: float  # the deepest that the body was in the ground, but for a millimeter, in meters
    lifted: float  # by all updates together, in meters


def ground_of(rng):
    """Return maps with cliffs of 0.2 to 5 m and holes, over a floor, and the maps."""
    lands, floor = [], boxes(((-20.0, FLOOR - 1.0, -20.0), (20.0, FLOOR, 20.0)))
    for k in range(4):
        level = rng.uniform(0.2, 5.0) * (k % 3 > 0)
        rough = rng.uniform(-0.1, 0.1, CELLS + 1, CELLS + 1)
        holes = rng.uniform(0.0, 1.0, CELLS, CELLS) < (0.15 if rng.chance(0.5) else 0.0)
        thickness = rng.one_of((None, 0.4, 1.0, 3.0))
        origin = (CELLS * (k % 2 - 1.0), level, CELLS * (k // 2 - 1.0))
        lands.append(
            HeightMap(rough, origin=origin, holes=holes, thickness=thickness, border="open")
        )
    return Ground([*lands, floor]), lands


def _start(rng, lands, stand):
    """Return a place on a map, or on the floor beside and below them."""
    while True:
        x, z = rng.uniform(-8.0, 8.0, 2)
        tops = [(land.height_at(x, z), land.thickness) for land in lands]
        tops = [top for top in tops if not math.isnan(top[0])]
        low = FLOOR + stand + 0.01
        if not tops or (rng.chance(0.4) and tops[0][0] - tops[0][1] > low + stand + 0.3):
            return x, low, z
        if rng.chance(0.5):
            return x, tops[0][0] + 1.5 * stand + 0.5, z


def _depth_inside(lands, place):
    """Return how deep a place is in the ground of maps, by the shortest way up, down or aside."""
    x, y, z = place
    for k, land in enumerate(lands):
        top = land.height_at(x, z)
        if top > y > top - land.thickness:
            x0, z0 = CELLS * (k % 2 - 1.0), CELLS * (k // 2 - 1.0)
            aside = min(abs(x - round(x)), abs(z - round(z)))
            return min(top - y, y - top + land.thickness, aside, x - x0 + 1.0, z - z0 + 1.0)
    return -math.inf


def _shape_of(mover, collider):
    """Return a body where it is, a millimeter smaller: what it just touches does not count."""
    x, y, z = mover.position64
    if isinstance(collider, BoxCollider):
        a, b, c = (extent - SMALLER for extent in collider.half_extents64)
        return AABB((x - a, y - b, z - c), (x + a, y + b, z + c))
    if isinstance(collider, CapsuleCollider):
        half = collider.height / 2.0 - collider.radius
        return Capsule((x, y - half, z), (x, y + half, z), collider.radius - SMALLER)
    return Sphere((x, y, z), collider.radius - SMALLER)


def among(seed):
    """Walk, run or jump among cliffs for two seconds."""
    rng = Draws(seed)
    _, collider, stand, _ = draw_body(rng)
    rate, speed, jump = rng.one_of(RATES), rng.uniform(1.0, 12.0), rng.uniform(2.0, 8.0)
    ground, lands = ground_of(rng)
    place = _start(rng, lands, stand)
    mover = character(ground, collider, place, resolver=rng.one_of(RESOLVERS), seed=seed)
    inside, overlap, lifted, jumps = -math.inf, 0.0, 0.0, rng.chance(0.5)
    for frame in range(2 * rate):
        if frame % max(rate // 2, 1) == 0:
            angle = rng.uniform(0.0, 2.0 * math.pi)
        push(mover, angle, speed)
        if jumps and mover.grounded and rng.chance(4.0 / rate):
            mover.velocity.y = jump
        lifted += mover.update(1 / rate).lifted
        inside = max(inside, _depth_inside(lands, mover.position64))
        depths = ground.contacts(_shape_of(mover, collider), keep="deepest").depth
        overlap = max(overlap, float(depths.max(initial=0.0)))
    return Among(inside, overlap, lifted)

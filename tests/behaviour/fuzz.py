"""Random scenes: any ground, any body, any speed, any frame time."""

import math
import time
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from terrain_physics import (
    AABB,
    BoxCollider,
    Capsule,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Sphere,
    SphereCollider,
    TriangleMesh,
)
from tests.behaviour import lands
from tests.behaviour.drive import RESOLVERS, SLOPE_LIMIT
from tests.behaviour.levels import RATES, draw_body
from tests.helpers import penetration
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, length_of, sin
from tests.oracles.motion import pose, turn

UPDATES = 12
LONGEST = 20.0  # seconds for one update; a loop without end takes longer


@cache
def compile_kernels() -> None:
    """Update once, so that no update that is timed compiles."""
    CharacterMovement(HeightMap(np.zeros((2, 2))), SphereCollider(0.5)).update(1 / 60)


class KnownGround(NamedTuple):
    """A ground, and what is known of it."""

    kind: str
    ground: HeightMap | TriangleMesh
    size: int  # cells along x and z
    cell: float
    top: float
    heights: np.ndarray  # float32, in cells


def random_land(rng, kind, cell):
    rows = columns = rng.whole(3, 24)
    roughness = rng.scale(-2.0, 0.8)
    heights = rng.uniform(0.0, roughness, rows, columns).astype(np.float32)
    top = float(heights.max())
    if kind in {"map", "holes"}:
        told = heights.copy()
        if kind == "holes":
            told[rng.uniform(0.0, 1.0, *told.shape) < 0.15] = np.nan
        ground = HeightMap(told, cell_size=cell, height_scale=cell)
        return KnownGround(kind, ground, rows - 1, cell, top, heights)
    z, x = np.mgrid[:rows, :columns]
    vertices = np.stack([x, heights.astype(np.float64), z], -1).reshape(-1, 3) * cell
    corner = np.arange(rows * columns).reshape(rows, columns)
    a, b = corner[:-1, :-1].ravel(), corner[:-1, 1:].ravel()
    c, d = corner[1:, 1:].ravel(), corner[1:, :-1].ravel()
    faces = [*np.stack([a, b, c], 1), *np.stack([a, c, d], 1)]
    if kind == "bowl":  # walls around, so high that nothing gets over them
        far, high, low = (rows - 1) * cell, 1e4 + 100 * cell, -roughness * cell - cell
        ring = [(0, 0), (far, 0), (far, far), (0, far)]
        start = len(vertices)
        rim = [(p, y, q) for y in (low, high) for p, q in ring]
        vertices = np.concatenate([vertices, rim])
        for k in range(4):
            n = (k + 1) % 4
            faces += [
                [start + k, start + n, start + 4 + n],
                [start + k, start + 4 + n, start + 4 + k],
            ]
    else:  # loose triangles, thin and thick, some without area
        count = rng.whole(1, 60)
        loose = rng.uniform(0.0, rows - 1.0, count, 1, 3) * (1, 0.3, 1)
        loose = (loose + rng.scale(-1.0, 0.7) * rng.normal(count, 3, 3)) * cell
        if rng.chance(0.3):
            loose[0, 2] = loose[0, 1]
        start = len(vertices)
        vertices = np.concatenate([vertices, loose.reshape(-1, 3)])
        keep = rng.uniform(0.0, 1.0, len(faces)) < rng.uniform(0.0, 1.0)
        faces = [face for face, kept in zip(faces, keep, strict=True) if kept]
        faces += list(start + np.arange(3 * count).reshape(-1, 3))
    return KnownGround(kind, TriangleMesh(vertices, np.array(faces)), rows - 1, cell, top, heights)


def random_collider(rng, size):
    kind = rng.one_of(["sphere", "capsule", "box"])
    if kind == "sphere":
        return SphereCollider(size)
    if kind == "capsule":
        return CapsuleCollider(size, size * (2.0 + rng.scale(-2.0, 1.0)))
    return BoxCollider([size * rng.scale(-0.7, 0.7) for _ in range(3)])


def reach_of(collider):
    """Return the radius of a ball around the body."""
    if isinstance(collider, BoxCollider):
        return length_of(collider.half_extents64)
    return collider.radius if isinstance(collider, SphereCollider) else 0.5 * collider.height


def depth_in(land, mover, collider):
    """Return how deep a body is in a map without holes, in meters."""
    center = np.array(mover.position64) / land.cell
    turn = np.array(mover.state().linear).reshape(3, 3)
    if isinstance(collider, BoxCollider):
        extents = np.array(collider.half_extents64) / land.cell
        return land.cell * penetration.box_depth(land.heights, center, extents, turn)
    radius, centers = collider.radius / land.cell, center[None]
    if isinstance(collider, CapsuleCollider):
        axis = turn[:, 1] * (0.5 * collider.height - collider.radius) / land.cell
        centers = center + np.linspace(-1, 1, 9)[:, None] * axis
    return land.cell * penetration.ball_depth(land.heights, centers, radius)


def surface_below(land, place):
    heights = land.heights
    return land.cell * float(
        penetration.surface(heights, place[0] / land.cell, place[2] / land.cell)
    )


def random_scene(seed):
    """Run one scene; fail at the first thing that is wrong; return its kind."""
    rng = Draws(seed)
    kind = rng.one_of(["map", "holes", "bowl", "loose"])
    size = rng.scale(-1.3, 1.7)
    land = random_land(rng, kind, size * rng.scale(-0.5, 1.3))
    collider = random_collider(rng, size)
    reach, wide = reach_of(collider), land.size * land.cell
    if kind == "bowl" and 2.5 * reach > wide:
        collider = SphereCollider(0.2 * wide)
        reach = 0.2 * wide
    low = np.array([reach, land.top * land.cell + reach, reach])
    start = rng.uniform(low, np.maximum(wide - reach, low) * (1, 0, 1) + (0, 2 * low[1], 0), 3)
    mover = CharacterMovement(
        land.ground, collider, position=start, seed=seed,
        rotation=rng.turn() if rng.chance(0.6) else None,
        slope_limit=rng.uniform(0.0, 1.5), ground_rule=rng.one_of(["contact", "sum"]),
        resolver=rng.one_of(["shuffled", "simultaneous"]),
        slope_speed=rng.one_of(["horizontal", "surface"]),
        step_offset=rng.one_of([0.0, 0.3 * size]),
        snap_distance=rng.one_of([0.0, 0.3 * size]),
        ground_friction=rng.one_of([0.0, 20.0]),
        max_delta=1.0,
    )  # fmt: skip
    mover.velocity = rng.normal(3) * rng.scale(-1, 2.7)
    delta_time = rng.scale(-4.0, -0.3)
    compile_kernels()
    for _ in range(UPDATES):
        if rng.chance(0.3):
            mover.velocity = rng.normal(3) * rng.scale(-1, 2.7)
        begun = time.process_time()
        result = mover.update(delta_time)
        assert time.process_time() - begun < LONGEST
        place = np.array(mover.position64)
        assert np.isfinite(place).all()
        assert np.isfinite(np.array(mover.velocity)).all()
        assert result.lifted >= 0.0
        assert math.isfinite(result.penetration)
        if kind == "map":
            assert result.converged or result.limited_by == "work"
            assert depth_in(land, mover, collider) <= 1e-3 * max(1.0, size)
            assert place[1] > surface_below(land, place)
        elif kind == "bowl":
            assert 0.0 < place[0] < wide
            assert 0.0 < place[2] < wide
            assert place[1] > land.cell * penetration_of_bowl(land, place)
    return kind


def penetration_of_bowl(land, place):
    """Return the height of the floor, in cells; a mesh of maps is split from b to d."""
    flipped = land.heights[:, ::-1]
    far = land.heights.shape[1] - 1
    return float(penetration.surface(flipped, far - place[0] / land.cell, place[2] / land.cell))


WIDE = 3.0  # of a small level, from its middle, in meters
DEEP = 0.1  # in the ground, in meters
BESIDE = ((0.0, 0.0), (2e-3, 0.0), (-2e-3, 0.0), (0.0, 2e-3), (0.0, -2e-3))


class Swing(NamedTuple):
    """The motion of a part there and back, with a turn about +Y."""

    middle: np.ndarray
    way: np.ndarray
    phase: float
    pace: float  # radians in a second, of the swing
    spin: float

    def at(self, t):
        place = self.middle + self.way * sin(self.pace * t + self.phase)
        return pose(place, turn((0, 1, 0), self.spin * t))


def _place(rng, low, high):
    return np.array([rng.uniform(-WIDE, WIDE), rng.uniform(low, high), rng.uniform(-WIDE, WIDE)])


class SmallLevel:
    """A map with blocks on and over it, parts that move, and one body, or three of a crowd."""

    def __init__(self, rng):
        self.rng, self.shape = rng, draw_body(rng)
        heights = rng.uniform(0.0, rng.one_of((0.0, 0.0, 1.0)), 9, 9)
        self.land = HeightMap(heights, cell_size=WIDE / 4.0, origin=(-WIDE, 0.0, -WIDE))
        self.ground = Ground([self.land])
        self.blocks = [self.ground.add(self._block()) for _ in range(rng.whole(2, 10))]
        self.swings = {}
        for _ in range(rng.below(4)):
            self._add_part()
        rules = {
            "slope_limit": SLOPE_LIMIT,
            "resolver": rng.one_of(RESOLVERS),
            "step_offset": rng.one_of((0.0, 0.3)),
            "snap_distance": rng.one_of((0.0, 0.3)),
        }
        collider = self.shape[1]
        self.group: Any = None
        self.movers: list[Any]
        if rng.chance(0.3):
            self.group = CharacterGroup(self.ground, collider, collide=True, **rules)
            for key in range(3):
                self.group.add(key, _place(rng, 1.0, 4.0))
            self.movers = [self.group[key] for key in range(3)]
        else:
            place = _place(rng, 1.0, 4.0)
            self.movers = [CharacterMovement(self.ground, collider, position=place, **rules)]
        self.ways = [(0.0, 0.0)] * len(self.movers)
        self.saved = None

    def _block(self, there=None):
        rng = self.rng
        if there is None:
            low = _place(rng, -0.3, 3.0)
            return lands.boxes((low, low + rng.uniform((0.2, 0.1, 0.2), (4.0, 1.5, 4.0), 3)))
        center, half = np.add(there, rng.uniform(-0.9, 0.9, 3)), rng.uniform(0.1, 0.8, 3)
        return lands.boxes((center - half, center + half))

    def _add_part(self):
        rng = self.rng
        key = self.ground.add(TriangleMesh.box(rng.uniform(0.2, 4.0, 3)))
        way = rng.uniform(-1.0, 1.0, 3) * rng.one_of(((0.0, 2.0, 0.0), (2.0, 0.0, 0.0), (1, 1, 1)))
        middle, phase, pace = _place(rng, -1.0, 2.5), rng.uniform(0.0, 6.0), rng.uniform(0.5, 6.0)
        self.swings[key] = Swing(middle, way, phase, pace, rng.one_of((0.0, 0.0, 1.0)))
        self.ground.move(key, self.swings[key].at(0.0))
        if rng.chance(0.2):
            self.ground.set_one_way(key, (0, 1, 0))

    def jump(self, mover):
        mover.velocity.y = self.rng.uniform(2.0, 8.0)

    def walk(self, mover):
        angle, speed = self.rng.uniform(0.0, 6.28), self.rng.one_of((0.0, 2.0, 5.0))
        self.ways[self.movers.index(mover)] = speed * cos(angle), speed * sin(angle)

    def block(self, mover):
        self.blocks.append(self.ground.add(self._block(mover.position64)))

    def unblock(self, _mover):
        if self.blocks:
            self.ground.remove(self.blocks.pop(self.rng.below(len(self.blocks))))

    def dig(self, mover):
        self.land.carve(mover.position64, 2.0, self.rng.uniform(0.1, 1.0))

    def heap(self, mover):
        self.land.raise_(mover.position64, 2.0, self.rng.uniform(0.1, 1.0))

    def teleport(self, mover):
        mover.teleport(_place(self.rng, 0.0, 3.0))

    def nudge(self, mover):
        mover.position = np.add(mover.position64, self.rng.uniform(-0.2, 0.2, 3))

    def restore(self, mover):
        if self.saved and self.saved[0] is mover:
            mover.restore(self.saved[1])
        self.saved = mover, mover.state()

    def take_part(self, _mover):
        if self.swings:
            key = self.rng.one_of(list(self.swings))
            del self.swings[key]
            self.ground.remove(key)

    def put_part(self, _mover):
        if self.swings:
            key = self.rng.one_of(list(self.swings))
            self.swings[key] = self.swings[key]._replace(middle=_place(self.rng, -1.0, 2.5))
            self.ground.move(key, self.swings[key].at(0.0))

    def advance(self, frame, rate):
        """Move the parts, do something every third time, and update."""
        for key, swing in self.swings.items():
            self.ground.move(key, swing.at(frame / rate), 1.0 / rate)
        if self.rng.chance(0.35):
            self.rng.one_of(EVENTS)(self, self.rng.one_of(self.movers))
        for mover, (x, z) in zip(self.movers, self.ways, strict=True):
            if (x, z) != (0.0, 0.0):
                mover.velocity.x, mover.velocity.z = x, z
        (self.movers[0] if self.group is None else self.group).update(1.0 / rate)


EVENTS = (
    SmallLevel.jump, SmallLevel.jump, SmallLevel.walk, SmallLevel.walk, SmallLevel.block,
    SmallLevel.block, SmallLevel.unblock, SmallLevel.unblock, SmallLevel.dig, SmallLevel.heap,
    SmallLevel.teleport, SmallLevel.nudge, SmallLevel.restore, SmallLevel.take_part,
    SmallLevel.put_part,
)  # fmt: skip


def _shape_at(shape, center):
    """Return the shape of a body at a place."""
    name, collider, stand, _ = shape
    if name == "sphere":
        return Sphere(center, collider.radius)
    if name == "box":
        half = np.array(collider.half_extents64)
        return AABB(center - half, center + half)
    up = np.array([0.0, stand - collider.radius, 0.0])
    return Capsule(center - up, center + up, collider.radius)


def _is_held(level, mover):
    """Tell whether a body touches ground that may hold it, or is deep in the ground."""
    if mover.move_result().penetration > DEEP:
        return True
    for x, z in BESIDE:
        place = np.add(mover.position64, (x, -5e-4, z))
        found = level.ground.contacts(_shape_at(level.shape, place))
        if (found.normal[:, 1] > 1e-3).any():
            return True
    return False


def hangs(seed):
    """Return in how many frames a body is grounded on nothing, where all may change.

    Parts that squeeze it hold it from afar.
    """
    rng = Draws(seed)
    rate, level, hung = rng.one_of(RATES), SmallLevel(rng), 0
    for frame in range(rng.whole(60, 180)):
        level.advance(frame, rate)
        for mover in level.movers:
            kind = mover.ground_report().state
            is_free = mover.grounded and not mover.move_result().squeezed
            hung += is_free and kind != "character" and not _is_held(level, mover)
    return hung

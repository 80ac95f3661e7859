"""Hard cases: thin plates, boxes on rough meshes, bodies between a map and a mesh, thin walls."""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics import BoxCollider, Ground, HeightMap, TriangleMesh
from tests.behaviour import lands
from tests.behaviour.drive import COLLIDERS, FRAME, character, push
from tests.behaviour.measure import depth_in_map, depth_in_triangles
from tests.helpers import penetration
from tests.helpers.draws import Draws
from tests.helpers.portable import length_of, tan

PLATES = {
    "lying plate": BoxCollider((0.5, 0.01, 0.5)),
    "upright plate": BoxCollider((0.01, 0.5, 0.5)),
    "board": BoxCollider((0.01, 0.9, 0.3)),
    "rod": BoxCollider((0.01, 0.01, 0.9)),
}
BOXES = {"box": COLLIDERS["box"], "wide box": BoxCollider((1.4, 0.6, 1.1))}
ALL = COLLIDERS | PLATES


class Hard(NamedTuple):
    """The result of walks."""

    deepest: float  # of what counts as converged, in meters
    stuck: int  # frames that did not converge
    below: int  # frames with the center under the surface
    jump: float  # the farthest in one frame, in meters
    frames: int


def worst(cases):
    """Return the worst figures of several cases, frames summed up."""
    deepest, stuck, below, jump, frames = zip(*cases, strict=True)
    return Hard(max(deepest), sum(stuck), sum(below), max(jump), sum(frames))


def rough_map(rough, seed=0):
    return HeightMap(Draws(seed).uniform(0.0, rough, 41, 41))


def corners_of(mesh):
    return np.asarray(mesh.vertices, dtype=float)[np.asarray(mesh.faces)]


def _walk_about(mover, collider, frames, heading, *, heights=None, corners=None, jump_every=0):
    """Fall, then walk in turns; measured against a map and the triangles of a mesh."""
    deepest, stuck, below, farthest = 0.0, 0, 0, 0.0
    before = np.array(mover.position64)
    for frame in range(frames):
        if frame > frames // 6:
            push(mover, heading)
            heading += 1.7 * (frame % 60 == 0)
        if jump_every and frame % jump_every == jump_every - 1:
            mover.velocity.y = 5.0
        result = mover.update(FRAME)
        place = np.array(mover.position64)
        farthest = max(farthest, float(np.linalg.norm(place - before)))
        before = place
        depth = -math.inf
        if heights is not None:
            depth = depth_in_map(mover, collider, heights)
            below += bool(penetration.surface(heights, place[0], place[2]) > place[1])
        if corners is not None:
            depth = max(depth, depth_in_triangles(mover, collider, corners))
        if result.converged:
            deepest = max(deepest, depth)
        else:
            stuck += 1
    return Hard(deepest, stuck, below, farthest, frames)


def on_ground(collider, ground, resolver, *, turned=False, count=3, frames=240):
    """Drop bodies from 2 m and walk about at 4 m/s."""
    rng = Draws(1)
    heights = corners = None
    if isinstance(ground, TriangleMesh):
        corners = corners_of(ground)
    else:
        heights = ground.heights * np.float64(ground.height_scale)
    found = []
    for seed in range(count):
        x, z = rng.uniform(15, 25, 2)
        turn = rng.turn() if turned else None
        mover = character(
            ground, collider, (x, 3.5, z), resolver=resolver, rotation=turn, seed=seed
        )
        heading = rng.uniform(0, 2 * math.pi)
        found.append(
            _walk_about(mover, collider, frames, heading, heights=heights, corners=corners)
        )
    return worst(found)


def nooks():
    """Return by name: a map, a mesh over it, and where between them to start."""
    along = np.abs(np.mgrid[:41, :41][1] - 20.0)
    bridge = lands.boxes(((12.0, 5.0, 16.0), (28.0, 5.5, 24.0)))
    sheet = TriangleMesh([[8, 5, 8], [32, 5, 8], [32, 5, 32], [8, 5, 32]], [[0, 1, 2], [0, 2, 3]])
    roof = lands.boxes(((10.0, 2.3, 10.0), (30.0, 3.0, 30.0)))
    return {
        "bridge over a valley": (HeightMap(along), bridge, (20.0, 2.0, 20.0)),
        "bridge over a steep valley": (
            HeightMap(along * tan(math.radians(60))), bridge, (20.0, 2.5, 20.0)
        ),
        "sheet over a valley": (HeightMap(along), sheet, (20.0, 2.0, 20.0)),
        "low ceiling over rough ground": (rough_map(0.4), roof, (20.0, 1.35, 20.0)),
    }  # fmt: skip


def wedged(nook, collider, resolver, *, count=4, frames=300):
    """Walk and jump into where a map and a mesh meet, as a slope and the underside of a bridge."""
    land, mesh, start = nook
    ground = Ground([land, mesh])
    heights, corners = land.heights * np.float64(land.height_scale), corners_of(mesh)
    rng = Draws(2)
    found = []
    for seed in range(count):
        place = start + rng.uniform(-0.3, 0.3, 3) * (1, 0, 1)
        mover = character(
            ground, collider, place, resolver=resolver, seed=seed, slope_limit=math.radians(50)
        )
        heading = 2 * math.pi * seed / count + 0.1
        found.append(
            _walk_about(
                mover, collider, frames, heading, heights=heights, corners=corners, jump_every=50
            )
        )
    return worst(found)


def sheet_wall(seed, size=20):
    """Return a wall without thickness in the plane x = 10, of random triangles about 2 m wide."""
    rng = Draws(seed)
    y, z = np.mgrid[: size + 1, : size + 1] + rng.uniform(-0.3, 0.3, 2, size + 1, size + 1)
    vertices = np.stack([np.full(y.shape, 10.0), 2 * y - size, 2 * z - size], -1).reshape(-1, 3)
    corner = np.arange((size + 1) ** 2).reshape(size + 1, size + 1)
    a, b = corner[:-1, :-1].ravel(), corner[:-1, 1:].ravel()
    c, d = corner[1:, 1:].ravel(), corner[1:, :-1].ravel()
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    flipped = rng.uniform(0.0, 1.0, len(faces)) < 0.5
    faces[flipped] = faces[flipped][:, ::-1]
    return TriangleMesh(vertices, faces)


def thrown_at_sheet(collider, resolver, *, count=20, seed=0):
    """Throw at a wall without thickness, 1000 m/s at 30 Hz; return (passed through, depth)."""
    wall = sheet_wall(seed)
    corners, rng = corners_of(wall), Draws(seed)
    passed, deepest = 0, -math.inf
    for k in range(count):
        start = (rng.uniform(-5, 8), *rng.uniform(-3, 3, 2))
        mover = character(wall, collider, start, resolver=resolver, seed=k)
        way = np.array([1.0, *rng.uniform(-0.25, 0.25, 2)])
        mover.velocity = 1000.0 / length_of(way) * way
        for _ in range(5):
            mover.update(1 / 30)
            x, y, z = mover.position64
            if max(abs(y), abs(z)) > 17.0:
                break  # it slid beyond the rim
            passed += x > 10.0
            deepest = max(deepest, depth_in_triangles(mover, collider, corners))
    return passed, deepest


def flown_under_a_bridge(resolver, *, count=60):
    """Drive boxes up beside a steep bank to a bridge; return how many are left in either."""
    land, mesh, _ = nooks()["bridge over a steep valley"]
    ground, rng, stuck = Ground([land, mesh]), Draws(0), 0
    for seed in range(count):
        place = (rng.uniform(18.53, 18.6), rng.uniform(4.0, 4.09), 23.4)
        mover = character(
            ground, ALL["box"], place, resolver=resolver, seed=seed, slope_limit=math.radians(50)
        )
        mover.update(FRAME)
        mover.velocity = (rng.uniform(-6.0, -2.0), rng.uniform(2.0, 5.0), 0.0)
        stuck += not mover.update(FRAME).converged
    return stuck

"""Characters of a group that collide: a point that all chase, a ring, two streams."""

import itertools
from typing import NamedTuple

import numpy as np

from terrain_physics import CapsuleCollider, CharacterGroup, Ground, HeightMap, TriangleMesh
from tests.behaviour.drive import FRAME
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, sin

RADIUS, SPEED = 0.4, 4.0
BODY = CapsuleCollider(RADIUS, 1.8, offset=(0, 0.9, 0))
FLOOR = HeightMap(np.zeros((101, 101)), origin=(-50, 0, -50))


class Throng(NamedTuple):
    """The result of a scene."""

    overlap: float  # deepest of two bodies in any frame, in meters
    moved: float  # farthest that one moved in a frame after the crowd had time to come to rest
    awake: int  # those not asleep a second after the last was driven
    there: int  # those at their goals


def _scattered(count, low, high, seed=1):
    """Return places (count, 2) in a rectangle, none in another's."""
    rng, places = Draws(seed), np.empty((0, 2))
    while len(places) < count:
        place = rng.uniform(low, high, 2)
        if (np.linalg.norm(places - place, axis=1) > 2.1 * RADIUS).all():
            places = np.vstack([places, place])
    return places


def _group(places, ground=FLOOR):
    group = CharacterGroup(ground, BODY, collide=True)
    group.add_many(range(len(places)), np.insert(places, 1, 0.0, axis=1))
    return group


def _overlap(group):
    places = group.positions[:, [0, 2]]
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    return float((2.0 * RADIUS - apart)[np.triu_indices(len(places), 1)].max())


def _walk_to(group, targets):
    way = targets - group.positions[:, [0, 2]]
    far = np.linalg.norm(way, axis=1)
    share = np.minimum(SPEED, far / FRAME) / np.maximum(far, 1e-9)
    group.walk(way[:, 0] * share, way[:, 1] * share)


def _unseen(places):
    """Nobody watches."""


def _played(group, targets, seconds, rest=np.inf, near=1.0, watch=_unseen):
    """Let all walk to their targets, a function of the places, then stand for a second."""
    overlap = moved = 0.0
    for frame in range(round(seconds / FRAME)):
        before = group.positions
        _walk_to(group, targets(before[:, [0, 2]]))
        group.update(FRAME)
        watch(group.positions)
        overlap = max(overlap, _overlap(group))
        if frame * FRAME >= rest:
            moved = max(moved, float(np.linalg.norm(group.positions - before, axis=1).max()))
    left = targets(group.positions[:, [0, 2]]) - group.positions[:, [0, 2]]
    there = int((np.linalg.norm(left, axis=1) <= near).sum())
    group.walk(0, 0)
    for _ in range(60):
        group.update(FRAME)
    before = dict(group.hashes())
    group.update(FRAME)
    awake = sum(value != before[key] for key, value in group.hashes())
    return Throng(overlap, moved, awake, there)


def chase(count=200, seconds=14.0, watch=_unseen):
    """All chase one point; they have 10 s to come to rest."""
    group = _group(_scattered(count, (-18, -18), (18, 18)))
    return _played(group, np.zeros_like, seconds, rest=10.0, near=RADIUS, watch=watch)


def ring(count=24, seconds=30.0, watch=_unseen):
    """All stand on a ring and want to the other side."""
    angles = 2.0 * np.pi * np.arange(count) / count
    places = 6.0 * np.array([(cos(angle), sin(angle)) for angle in angles])
    return _played(_group(places), lambda _: -places, seconds, watch=watch)


def streams(count=60, seconds=30.0, watch=_unseen):
    """Two streams head on, each on its way to where the other began."""
    starts = _scattered(count, (-12, -4), (-3, 4))
    places = np.vstack([starts, starts * (-1, 1)])
    goals = places * (-1, 1)
    return _played(_group(places), lambda _: goals, seconds, watch=watch)


# The faces of a box whose corners are numbered by x, y and z as bits, fronts outside.
BOX_FACES = [
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
]  # fmt: skip


def put_wall(ground, place, top=3.0):
    """Add a box (low x, low z, high x, high z) to a ground; return the key."""
    low_x, low_z, high_x, high_z = place
    corners = itertools.product((low_x, high_x), (-1.0, top), (low_z, high_z))
    return ground.add(TriangleMesh(list(corners), BOX_FACES))


def walls(*places):
    """Return the floor with walls 3 m high."""
    ground = Ground([FLOOR])
    for place in places:
        put_wall(ground, place)
    return ground


def doorway(count=300, seconds=60.0, width=1.2, frame=FRAME, seed=1, watch=_unseen):
    """All want through a door; returns (deepest overlap, how many got through in each 5 s)."""
    ground = walls((-40, 0, -width / 2, 0.3), (width / 2, 0, 40, 0.3))
    group = _group(_scattered(count, (-9, -20), (9, -1), seed), ground)
    overlap, through, side = 0.0, [0], np.linspace(-0.05, 0.05, count)
    for step in range(round(seconds / frame)):
        x, z = group.positions[:, [0, 2]].T
        ahead = np.stack(
            [
                np.where(z < -0.3, -x, np.where(z < 1.0, 0.0, side * z)),
                np.where(z < -0.3, 0.2 - z, 1.0),
            ],
            axis=1,
        )
        ahead *= SPEED / np.linalg.norm(ahead, axis=1)[:, None] * (z < 30.0)[:, None]
        group.walk(*ahead.T)
        group.update(frame)
        watch(group.positions)
        overlap = max(overlap, _overlap(group))
        if (step + 1) % round(5.0 / frame) == 0:
            through.append(int((group.positions[:, 2] > 0.3).sum()))
    return overlap, np.diff(through)


def bend(width):
    """Return the walls of a corridor along z, then along x."""
    half = width / 2
    return [
        (-half - 1, -20, -half, 8 + width),
        (half, -20, half + 1, 8),
        (half + 1, 7, 20, 8),
        (-half - 1, 8 + width, 20, 9 + width),
    ]


def corridor(count=60, seconds=30.0, width=3.0, watch=_unseen):
    """All want through a corridor with a bend; returns (deepest overlap, how many got through)."""
    half, ground = width / 2, walls(*bend(width))
    group = _group(_scattered(count, (0.4 - half, -19.5), (half - 0.4, 3.0)), ground)
    overlap = 0.0
    for _ in range(round(seconds / FRAME)):
        x, z = group.positions[:, [0, 2]].T
        turned = z > 8.0 + 0.3 * width
        group.walk(
            np.where(turned, SPEED, 0.0) * (x < 30.0), np.where(turned, 0.0, SPEED) * (x < 30.0)
        )
        group.update(FRAME)
        watch(group.positions)
        overlap = max(overlap, _overlap(group))
    return overlap, int((group.positions[:, 0] > 20.0).sum())

"""Moves of one mesh, and of all by one call, against those that are found first."""

import numpy as np
import pytest

from terrain_physics import Ground, HeightMap, TriangleMesh
from terrain_physics._kernels.ground.movers import COUNT_OF_MOVES
from terrain_physics._kernels.ground.moves import find_parts, move_all, move_one, move_parts
from terrain_physics._kernels.math.rotations import put_frames
from terrain_physics._kernels.surface.changes import CHANGE_SIZE
from terrain_physics._kernels.surface.shapes import FARTHEST

pytestmark = pytest.mark.kernels

FRAME, TOLERANCE = 1 / 60, 1e-3


def parts():
    """Return the arrays of three meshes, of which two are movers, and their number."""
    box = TriangleMesh.box((2, 1, 2))
    ground = Ground([HeightMap(np.zeros((3, 3))), box])
    ground.add(box, ((5, 2, 5), np.eye(3), 0.5))
    ground.add(box)
    for key in (1, 2):
        ground.move(key, (4.0 * key, 2, 7), FRAME)
    meshes = ground._held.meshes
    return ground, [*meshes._prepare_edit().arrays, *meshes.movers.prepare()], 2


def by_one(key, matrix, turns):
    """Move by `move_one`; return how many changes there are, they, and the ground."""
    ground, arrays, count = parts()
    changes, pose = np.zeros((4, CHANGE_SIZE)), np.empty((1, 12))
    given = matrix.reshape(-1).copy()
    known = (*arrays, count, key, given, turns, TOLERANCE, FRAME, 9.0, changes, 1, pose)
    end = move_one(*known)
    return end, changes[1:], ground


def by_many(key, pose):
    """Move by `move_parts`; return the same."""
    ground, arrays, count = parts()
    numbers, rows, places = np.array([key]), np.zeros(1, np.int64), np.zeros(1, np.int64)
    reaches = ground._held.meshes.movers.shown.reaches
    assert find_parts(arrays[0], reaches, count, numbers, rows, places) == (1, True, key != 3)
    changes = np.zeros((3, CHANGE_SIZE))
    known = (*arrays, rows, places, pose, np.array([FRAME]), 9.0, changes)
    end = move_parts(*known)
    return 1 + end, changes, ground


def same(one, many):
    assert one[0] == many[0]
    assert one[1].tobytes() == many[1].tobytes()
    for key in (1, 2, 3):
        assert one[2].transform(key).tobytes() == many[2].transform(key).tobytes()
    motions = [ground._held.motion().movers for _, _, ground in (one, many)]
    assert motions[0].rows.tobytes() == motions[1].rows.tobytes()
    assert motions[0].reaches[:, :2].tobytes() == motions[1].reaches[:, :2].tobytes()


def turned(angle, place):
    matrix = np.eye(4)
    matrix[0, 0] = matrix[2, 2] = np.cos(angle)
    matrix[0, 2] = np.sin(angle)
    matrix[2, 0] = -matrix[0, 2]
    matrix[:3, 3] = place
    return matrix


@pytest.mark.parametrize("place", [(4.0, 2.5, 7.0), (-90.0, 0.0, 3.0)], ids=str)
def test_one_that_turns_is_one_of_many(place):
    matrix, pose = turned(0.7, place), np.empty(12)
    assert put_frames(matrix.reshape(-1).copy(), TOLERANCE, FARTHEST, pose) == 1
    same(by_one(1, matrix, turns=True), by_many(1, pose[np.newaxis].copy()))


@pytest.mark.parametrize("key", [1, 2])
def test_a_place_alone_leaves_the_rotation(key):
    matrix = np.full((4, 4), np.nan)
    matrix[:3, 3] = 4.0, 2.5, 7.0
    pose = np.array([[*np.eye(3).reshape(-1), 4.0, 2.5, 7.0]])
    same(by_one(key, matrix, turns=False), by_many(key, pose))


def test_what_needs_another_way_is_left_as_it_is():
    known = parts()[0]
    skewed = turned(0.7, (4.0, 2.5, 7.0))
    skewed[0, 1] = 0.1
    fine = turned(0.7, (4.0, 2.5, 7.0))
    for key, matrix in ((0, fine), (3, fine), (4, fine), (2, fine), (1, skewed)):
        end, changes, ground = by_one(key, matrix, turns=True)
        assert end == -1
        assert not changes.any()
        motions = [each._held.motion().movers for each in (known, ground)]
        assert motions[0].rows.tobytes() == motions[1].rows.tobytes()


def all_at_once(keys, given, turns, moves=0.0):
    """Move by `move_all`; return how many changes there are, they, and the ground."""
    ground, arrays, count = parts()
    many, changes = len(keys), np.zeros((2 * len(keys) + 1, CHANGE_SIZE))
    arrays[4][0, COUNT_OF_MOVES] += moves
    room = np.empty((2, many), np.int64), given.reshape(-1).copy(), turns, TOLERANCE
    times, poses = np.full(many, FRAME), np.empty((many, 12))
    known = [*arrays, count, np.array(keys), *room, times, 9.0, changes, poses]
    return move_all(*known), changes, ground


@pytest.mark.parametrize("turns", [True, False])
def test_all_at_once_are_found_and_moved(turns):
    places = [(4.0, 2.5, 7.0), (-90.0, 0.0, 3.0)]
    matrices = np.array([turned(0.7 if turns else 0.0, place) for place in places])
    keys = [1] if turns else [1, 2]  # the other one has a scale
    given = matrices[: len(keys)] if turns else np.array(places)
    end, changes, ground = all_at_once(keys, given, turns)
    one = [by_one(key, matrices[k], turns) for k, key in enumerate(keys)]
    assert end == sum(each[0] - 1 for each in one)
    wanted = np.concatenate([changed[: count - 1] for count, changed, _ in one])
    assert changes[:end].tobytes() == wanted.tobytes()
    for key, (*_, other) in zip(keys, one, strict=True):
        assert ground.transform(key).tobytes() == other.transform(key).tobytes()
    if turns:
        same((1 + end, changes, ground), by_many(1, rigid(matrices[0])))


def rigid(matrix):
    """Return the pose (1, 12) of a matrix."""
    pose = np.empty(12)
    assert put_frames(matrix.reshape(-1).copy(), TOLERANCE, FARTHEST, pose) == 1
    return pose[np.newaxis].copy()


def test_all_that_need_another_way_are_left_as_they_are():
    known, places = parts()[0], np.array([(4.0, 2.5, 7.0), (8.0, 2.5, 7.0)])
    matrices = np.array([turned(0.7, place) for place in places])
    skewed, off = matrices[:1].copy(), np.array([(4.0, np.nan, 7.0)])
    skewed[0, 0, 1] = 0.1
    for keys, given, turns, moves in (
        ([1, 9], places, False, 0.0),  # no mesh
        ([1, 3], places, False, 0.0),  # no mover
        ([2, 1], places, False, 0.0),  # another order
        ([1, 1], places, False, 0.0),  # one of them twice
        ([1, 2], matrices, True, 0.0),  # a scale
        ([1], skewed, True, 0.0),
        ([1], off, False, 0.0),
        ([1, 2], places, False, 2.0**53 - 3),  # too many moves: there were two
    ):
        end, changes, ground = all_at_once(keys, given, turns, moves)
        assert end == -1
        assert not changes.any()
        motions = [each._held.motion().movers for each in (known, ground)]
        assert motions[0].rows[1:].tobytes() == motions[1].rows[1:].tobytes()
    assert all_at_once([1, 2], places, False, 2.0**53 - 4)[0] > 0

"""The move of one mesh against that of many, of which there is one."""

import numpy as np
import pytest

from terrain_physics import Ground, HeightMap, TriangleMesh
from terrain_physics._kernels.ground.moves import find_parts, move_one, move_parts
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

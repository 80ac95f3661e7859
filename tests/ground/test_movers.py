"""Parts that are moved in some time, conveyors and one-way parts: bad input, saves, answers."""

import copy
import io
import json
import math
import pickle
import zipfile
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    TriangleMesh,
)
from terrain_physics._kernels.ground.movers import LATEST, LOWER, UPPER
from terrain_physics._kernels.surface.ground_arrays import MOST_MOVES
from terrain_physics.ground.movers import MovingPart
from tests.ground.test_moving import drawn_pose
from tests.helpers.examples import rest_is_full
from tests.helpers.grounds import assert_as_made_there, questions, refitted_or_copied
from tests.oracles.motion import pose, turn

FRAME = 1 / 60
NAN = math.nan


def lift_ground(height=3.0):
    """Return a map, and a lift of 4 m x 4 m over it, moved there in a frame."""
    ground = Ground([HeightMap(np.zeros((21, 21))), TriangleMesh.box((4, 0.5, 4))])
    ground.move(1, pose((10, height - 0.1, 10)))
    ground.move(1, pose((10, height, 10)), FRAME)
    return ground


def rider_of(ground):
    rider = CharacterMovement(ground, CapsuleCollider(0.4, 1.8), position=(10.5, 4.16, 9.7))
    for _ in range(20):
        rider.update(FRAME)
    return rider


def content_of(ground, folder):
    ground.save(folder / "saved.ground")
    return (folder / "saved.ground").read_bytes()


def assert_nothing_changed(change, error, message, folder):
    """Refuse a change of a ground below a body, and compare with one that was not asked."""
    asked, other = lift_ground(), lift_ground()
    asked.set_surface_velocity(1, (1, 0, 0)), other.set_surface_velocity(1, (1, 0, 0))
    riders = rider_of(asked), rider_of(other)
    version = asked.version
    with pytest.raises(error, match=message):
        change(asked)
    assert asked.version == version
    assert content_of(asked, folder) == content_of(other, folder)
    for _ in range(5):
        hashes = [rider.update(FRAME) and rider.state_hash() for rider in riders]
        assert hashes[0] == hashes[1]


@pytest.mark.parametrize(
    ("seconds", "error"),
    [
        (0, ValueError),
        (0.0, ValueError),
        (-1 / 60, ValueError),
        (NAN, ValueError),
        (math.inf, ValueError),
        ("1", TypeError),
        ([0.1], TypeError),
        (1j, TypeError),
    ],
)
def test_bad_times_of_a_move_change_nothing(seconds, error, tmp_path):
    there = pose((10, 5, 10))
    change = lambda ground: ground.move(1, there, seconds)  # noqa: E731
    assert_nothing_changed(change, error, "delta_time must be", tmp_path)


@pytest.mark.parametrize(
    ("key", "velocity", "error", "message"),
    [
        (1, (1, 2), ValueError, "velocity must be three numbers"),
        (1, 3, (TypeError, ValueError), "velocity must be three numbers"),
        (1, None, (TypeError, ValueError), "velocity must be three numbers"),
        (1, "abc", (TypeError, ValueError), "velocity"),
        (1, (NAN, 0, 0), ValueError, r"velocity.x must be finite"),
        (1, (0, 0, -math.inf), ValueError, r"velocity.z must be finite"),
        (1, (0, 1e200, 0), ValueError, "velocity"),
        (0, (1, 0, 0), TypeError, "key must be that of a TriangleMesh, got 0 of a HeightMap"),
        (7, (1, 0, 0), KeyError, "key must be that of a part, got 7"),
        (-1, (1, 0, 0), KeyError, "key must be that of a part, got -1"),
        ("1", (1, 0, 0), KeyError, "name must be that of a part, got '1'"),
        (True, (1, 0, 0), KeyError, "key must be that of a part, got True"),
    ],
)
def test_bad_velocities_of_a_surface_change_nothing(key, velocity, error, message, tmp_path):
    change = lambda ground: ground.set_surface_velocity(key, velocity)  # noqa: E731
    assert_nothing_changed(change, error, message, tmp_path)


@pytest.mark.parametrize(
    ("key", "direction", "error", "message"),
    [
        (1, (0, 0, 0), ValueError, "direction must not be zero"),
        (1, (0, -0.0, 0), ValueError, "direction must not be zero"),
        (1, (0, NAN, 0), ValueError, r"direction.y must be finite"),
        (1, (math.inf, 0, 0), ValueError, r"direction.x must be finite"),
        (1, (0, 1), ValueError, "direction must be three numbers"),
        (1, True, (TypeError, ValueError), "direction must be three numbers"),
        (1, "up", (TypeError, ValueError), "direction"),
        (0, (0, 1, 0), TypeError, "key must be that of a TriangleMesh, got 0 of a HeightMap"),
        (0, None, TypeError, "key must be that of a TriangleMesh, got 0 of a HeightMap"),
        (7, (0, 1, 0), KeyError, "key must be that of a part, got 7"),
        (1.5, (0, 1, 0), (TypeError, ValueError), "key"),
    ],
)
def test_bad_directions_change_nothing(key, direction, error, message, tmp_path):
    change = lambda ground: ground.set_one_way(key, direction)  # noqa: E731
    assert_nothing_changed(change, error, message, tmp_path)


@pytest.mark.parametrize("length", [1e-200, 1e-9, 1.0, 1e9, 1e200])
def test_a_direction_may_have_any_length(length):
    ground = Ground([HeightMap(np.zeros((21, 21))), TriangleMesh.box((4, 0.2, 4))])
    ground.move(1, pose((10, 3, 10)))
    ground.set_one_way(1, (0, length, 0))
    above, below = (
        CharacterMovement(ground, CapsuleCollider(0.4, 1.8), position=(10, y, 10))
        for y in (4.1, 0.9)
    )
    below.velocity.y = 9.0
    for _ in range(150):
        above.update(FRAME), below.update(FRAME)
    assert above.position64[1] == below.position64[1] == pytest.approx(4.0, abs=1e-5)


@pytest.mark.parametrize("seed", rest_is_full(range(4)))
def test_answers_are_those_of_parts_made_there(seed):
    rng = np.random.default_rng(seed)
    asked = questions((-4, -3, -4), (44, 6, 28), 60, seed)
    land = HeightMap(rng.normal(0, 0.3, (25, 41)))
    meshes = [TriangleMesh.box((4, 2, 3)), TriangleMesh.stairs(2, 0.2, 0.3, 6)]
    ground = Ground([land, *meshes])
    for _ in range(5):
        key = int(rng.integers(1, 3))
        kind = int(rng.integers(5))
        if kind < 3:
            ground.move(key, drawn_pose(rng), float(rng.uniform(0.001, 1.0)))
        elif kind == 3:
            ground.set_surface_velocity(key, rng.normal(size=3))
        else:
            ground.set_one_way(key, None if rng.random() < 0.3 else rng.normal(size=3))
        ground = refitted_or_copied(ground, key, rng)
        assert_as_made_there(ground, asked)


@pytest.mark.parametrize("change", ["set_one_way", "set_surface_velocity"])
def test_a_mover_changed_after_a_refit_has_the_box_of_its_mesh(change):
    """Whether or not somebody has asked in between."""
    content = []
    for is_asked in (False, True):
        mesh = TriangleMesh.box((4, 0.5, 4))
        ground = Ground([mesh])
        ground.move(0, (1, 0, 0), FRAME)
        mesh.refit(3 * mesh.vertices)
        if is_asked:
            ground.height_at(0, 0)
        getattr(ground, change)(0, (0, 1, 0))
        ground.move(0, (2, 0, 0), FRAME)
        content.append(ground._held.meshes.movers.saved())
    assert content[0] == content[1]
    assert content[0]["parts"]["0"]["moves"][0][2] == [-5, -0.75, -6]


def busy_ground():
    """Return a ground with parts of each kind, moved more often than they remember."""
    parts = [TriangleMesh.box((4, 0.5, 4)) for _ in range(3)]
    ground = Ground([HeightMap(np.zeros((21, 21))), *parts])
    for k in range(MOST_MOVES + 3):
        ground.move(1, pose((10, 3 + 0.05 * k, 10), turn((0, 1, 0), 0.05 * k)), FRAME)
    ground.move(2, pose((3, 2, 3)), 0.5)
    ground.move(2, pose((3, 1, 3)))
    ground.set_surface_velocity(2, (0.5, 0, 0))
    ground.set_one_way(3, (0, 1, 0))
    return ground


def test_a_mover_knows_the_box_around_all_places_that_it_remembers():
    ground, draws, most = lift_ground(), np.random.default_rng(3), 0
    for k in range(3 * MOST_MOVES):
        ground.move(1, drawn_pose(draws), None if k % 45 == 44 else FRAME)
        if k % 50 == 49:
            ground.set_surface_velocity(1, (k, 0, 0))
        row = ground._held.meshes.movers.shown.rows[1]
        mover = MovingPart.of_row(row)
        lower, upper = zip(mover.box, *(move.box for move in mover.moves), strict=True)
        assert row[LOWER : LOWER + 3].tolist() == np.min(lower, axis=0).tolist()
        assert row[UPPER : UPPER + 3].tolist() == np.max(upper, axis=0).tolist()
        most = max(most, len(mover.moves))
    assert most == MOST_MOVES


def test_movers_are_saved(tmp_path):
    ground = busy_ground()
    content = content_of(ground, tmp_path)
    again = Ground.load(tmp_path / "saved.ground")
    assert content_of(again, tmp_path) == content
    copies = pickle.loads(pickle.dumps(ground)), copy.deepcopy(ground), copy.copy(ground)
    for other in (again, *copies):
        mine, own = other._held.meshes.movers, ground._held.meshes.movers
        assert mine.saved() == own.saved()
        assert np.array_equal(mine.shown.rows[:, :LATEST], own.shown.rows[:, :LATEST])
        assert np.array_equal(mine.shown.reaches[:, :3], own.shown.reaches[:, :3])


@pytest.fixture(scope="module")
def busy_content(tmp_path_factory):
    return content_of(busy_ground(), tmp_path_factory.mktemp("busy"))


def saved_with(content, folder, change):
    """Write a ground whose saved movers were changed; return the file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["ground.json"])
    header["movers"] = change(header["movers"]) or header["movers"]
    members["ground.json"] = json.dumps(header).encode()
    path = folder / "bad.ground"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return path


def part_with(**entries):
    return lambda movers: movers["parts"]["1"].update(entries)


def move_with(number, place, value):
    def change(movers):
        movers["parts"]["1"]["moves"][number][place] = value

    return change


def before_with(row, column, value):
    def change(movers):
        movers["parts"]["1"]["moves"][0][1][row][column] = value

    return change


def at_part(name):
    def change(movers):
        movers["parts"][name] = movers["parts"].pop("1")

    return change


DAMAGED: dict[str, Any] = {
    "a list": lambda movers: [movers],
    "no count": lambda movers: {"parts": movers["parts"]},
    "no parts": lambda movers: {"count": movers["count"]},
    "a count below zero": lambda movers: movers.update(count=-1),
    "a count of text": lambda movers: movers.update(count="12"),
    "a broken count": lambda movers: movers.update(count=12.5),
    "a count too low": lambda movers: movers.update(count=3),
    "a count without end": lambda movers: movers.update(count=2**60),
    "parts as a list": lambda movers: movers.update(parts=[1]),
    "an unknown part": at_part("9"),
    "a map": at_part("0"),
    "no number": at_part("lift"),
    "mobile or not": part_with(is_mobile=2),
    "mobile as text": part_with(is_mobile="yes"),
    "time below zero": part_with(seconds=-0.1),
    "no time": part_with(seconds=NAN),
    "endless time": part_with(seconds=math.inf),
    "time as text": part_with(seconds="1"),
    "put later": part_with(put=10_000),
    "put before": part_with(put=-1),
    "a velocity of two": part_with(surface_velocity=[1, 2]),
    "no velocity": part_with(surface_velocity=[NAN, 0, 0]),
    "a velocity of text": part_with(surface_velocity="fast"),
    "a long one-way direction": part_with(one_way=[0, 2, 0]),
    "no direction": part_with(one_way=[0, NAN, 0]),
    "a direction of four": part_with(one_way=[0, 1, 0, 0]),
    "no moves": part_with(moves=[]),
    "too many moves": lambda movers: movers["parts"]["1"]["moves"].append(
        [1, *movers["parts"]["1"]["moves"][-1][1:]]
    ),
    "moves as a number": part_with(moves=3),
    "moves that ascend": lambda movers: movers["parts"]["1"]["moves"].reverse(),
    "a move twice": lambda movers: movers["parts"]["1"]["moves"].__setitem__(
        1, movers["parts"]["1"]["moves"][0]
    ),
    "a stamp below one": move_with(-1, 0, 0),
    "a stamp beyond": move_with(0, 0, 10_000),
    "a stamp of text": move_with(0, 0, "4"),
    "a box of two": move_with(0, 2, [0, 0]),
    "a box of nothing": move_with(0, 3, [0, NAN, 0]),
    "a move without its box": lambda movers: movers["parts"]["1"]["moves"][0].pop(),
    "sheared before": before_with(0, 1, 0.5),
    "mirrored before": lambda movers: movers["parts"]["1"]["moves"][0].__setitem__(
        1, np.diag([1.0, -1.0, 1.0, 1.0])[:3].tolist()
    ),
    "nowhere before": before_with(1, 3, NAN),
    "far off before": before_with(1, 3, 1e300),
    "before of three rows and columns": move_with(0, 1, np.eye(3).tolist()),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_movers_are_refused_by_name(name, busy_content, tmp_path):
    path = saved_with(busy_content, tmp_path, DAMAGED[name])
    with pytest.raises(ValueError, match=r"bad\.ground: file must be a saved ground, undamaged"):
        Ground.load(path)


def test_undamaged_movers_are_loaded(busy_content, tmp_path):
    path = saved_with(busy_content, tmp_path, dict)
    assert Ground.load(path).version == busy_ground().version

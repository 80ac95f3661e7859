"""Many moves in one call: the same as one by one, for all that can be asked; and bad input."""

import math
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics._kernels.ground.movers import LATEST
from terrain_physics.surface.surface import queries_of
from tests.helpers.examples import rest_is_full
from tests.oracles.motion import pose, turn

FRAME = 1 / 60
NAN = math.nan


def made(extra: int = 0) -> Ground:
    """Return a map with a lift, a door, a belt, a deck and a crate, and other boxes far off."""
    parts = [
        TriangleMesh.box((4, 0.5, 4)),
        TriangleMesh.box((0.4, 2.4, 3)),
        TriangleMesh.box((6, 0.3, 2)),
        TriangleMesh.box((4, 0.2, 4)),
        TriangleMesh.box((1, 1, 1)),
    ]
    far = [TriangleMesh.box((1, 1, 1)) for _ in range(extra)]
    land = HeightMap(np.random.default_rng(3).normal(0, 0.05, (25, 25)))
    ground = Ground([land, *parts, *far], names=[None, "lift", "door", *[None] * (3 + extra)])
    ground.set_surface_velocity(3, (1, 0, 0))
    ground.set_one_way(4, (0, 1, 0))
    return ground


def places_at(time: float, extra: int = 0) -> np.ndarray[Any, Any]:
    """Return where the parts are at a time (n, 4, 4)."""
    near = [
        pose((8, 1.2 + math.sin(time), 8), turn((0, 1, 0), time)),
        pose((15 + math.sin(2 * time), 1.3, 8), turn((0, 1, 0), 0.3 * time)),
        pose((8, 0.4, 16), turn((0, 1, 0), 0.2)),
        pose((16, 1.5 + 0.3 * math.sin(time), 16)),
        pose((12 + 2 * math.cos(time), 0.6, 12 + 2 * math.sin(time))),
    ]
    far = [pose((300 + 2 * k, 5 + math.sin(time), -200 - k)) for k in range(extra)]
    return np.array([*near, *far], np.float64)


def crowd_on(ground: Ground) -> tuple[list[CharacterMovement], CharacterGroup]:
    shapes = SphereCollider(0.5), CapsuleCollider(0.4, 1.8), BoxCollider((0.4, 0.8, 0.4))
    spots = (8, 3.5, 8), (15, 1.5, 8.5), (8, 2, 16), (16, 4, 16), (12, 3, 12)
    heroes = [
        CharacterMovement(ground, shapes[k % 3], position=spot, seed=k)
        for k, spot in enumerate(spots)
    ]
    group = CharacterGroup(ground, seed=5, collide=True)
    for k, (x, y, z) in enumerate(spots):
        group.add(k, (x + 0.7, y, z - 0.6), collider=shapes[(k + 1) % 3])
    return heroes, group


def lived(ground: Ground, frame: int, heroes: Any, group: CharacterGroup) -> list[str]:
    for k, hero in enumerate(heroes):
        if frame % 20 == 3 * k:
            hero.velocity.x, hero.velocity.z = 2 * math.cos(frame), 2 * math.sin(frame)
        hero.update(FRAME)
    group.update(FRAME)
    return [*(hero.state_hash() for hero in heroes), group.state_hash()]


def content_of(ground: Ground) -> Any:
    shown, used = ground._held.meshes.movers.shown, len(ground._held.meshes.movers.numbers)
    return (
        ground._held.saved_motion(),
        ground.version,
        shown.rows[:, :LATEST].tobytes(),
        shown.reaches[:, :used].tobytes(),
        [ground.transform(key).tobytes() for key in ground.parts],
    )


def _matrices(places: Any) -> Any:
    return places


def _flat_list(places: Any) -> Any:
    return [glm.dmat4(*matrix.T.ravel().tolist()) for matrix in places]


def _turned(places: Any) -> Any:
    return places[:, :3, 3], places[:, :3, :3]


def _quaternions(places: Any) -> Any:
    turns = [glm.quat_cast(glm.dmat3(*matrix[:3, :3].T.ravel().tolist())) for matrix in places]
    return places[:, :3, 3], np.array([[q.w, q.x, q.y, q.z] for q in turns])


def _quaternion_objects(places: Any) -> Any:
    turns = [glm.quat_cast(glm.dmat3(*matrix[:3, :3].T.ravel().tolist())) for matrix in places]
    return places[:, :3, 3].tolist(), turns


def _positions(places: Any) -> Any:
    return places[:, :3, 3]


def _vectors(places: Any) -> Any:
    return [glm.dvec3(*place) for place in places[:, :3, 3]]


FORMS = _matrices, _flat_list, _turned, _quaternions, _quaternion_objects, _positions, _vectors


def _one_of(form: Any, places: Any, k: int) -> Any:
    """Return the k-th transform of a form for `Ground.move`."""
    given = form(places)
    if not isinstance(given, tuple):
        return given[k]
    rotation = given[1][k]
    return given[0][k], glm.dquat(*rotation) if np.shape(rotation) == (4,) else rotation


@pytest.mark.parametrize("form", rest_is_full(FORMS))
def test_many_moves_equal_the_same_moves_one_by_one(form):
    rng = np.random.default_rng(FORMS.index(form))
    one, many = made(), made()
    scenes = crowd_on(one), crowd_on(many)
    for frame in range(60):
        places = places_at(frame * FRAME)
        keys = rng.permutation(5)[: rng.integers(1, 6)] + 1
        times: Any = rng.choice([FRAME, 0.5 * FRAME, 2 * FRAME], len(keys))
        if frame % 10 == 9:
            times = None
        for row, key in enumerate(keys.tolist()):
            seconds = None if times is None else float(times[row])
            one.move(key, _one_of(form, places, key - 1), seconds)
        many.move_many(keys if frame % 2 else keys.tolist(), form(places[keys - 1]), times)
        assert content_of(one) == content_of(many)
        assert lived(one, frame, *scenes[0]) == lived(many, frame, *scenes[1])


@pytest.mark.parametrize("count", rest_is_full([200, 30]))
def test_far_movers_change_no_bit(count):
    near, both = made(), made(count)
    scenes = crowd_on(near), crowd_on(both)
    for frame in range(90):
        time = frame * FRAME
        near.move_many(range(1, 6), places_at(time), FRAME)
        both.move_many(range(1, 6 + count), places_at(time, count), FRAME)
        assert lived(near, frame, *scenes[0]) == lived(both, frame, *scenes[1])


def test_keys_may_be_names_and_times_one_or_many():
    ground = made()
    ground.move_many(["door", 1], [(1, 2, 3), (4, 5, 6)], [0.1, 0.2])
    assert ground.transform("door")[:3, 3].tolist() == [1, 2, 3]
    assert ground.transform(1)[:3, 3].tolist() == [4, 5, 6]
    ground.move_many([], np.empty((0, 4, 4)), FRAME)
    ground.move_many([], [])
    assert ground.version == made().version + 2


def test_a_flat_array_is_a_matrix_row_by_row():
    flat, square = made(), made()
    there = pose((3, 4, 5), turn((1, 2, 3), 0.7))
    flat.move(1, np.ravel(there))
    square.move(1, there)
    assert content_of(flat) == content_of(square)


def with_row(k: int, value: Any) -> Any:
    places = places_at(0.0)[:3]
    places[k] = value
    return places


SKEWED = np.eye(4)
SKEWED[0, 1] = 0.5

BAD: dict[str, Any] = {
    "sheared": ([1, 2, 3], with_row(1, SKEWED), FRAME, ValueError, r"transforms\[1\].*orthonormal"),
    "nan": ([1, 2, 3], with_row(2, np.full((4, 4), NAN)), FRAME, ValueError, r"transforms\[2\]"),
    "scaled": ([1, 2, 3], with_row(1, np.diag([2, 2, 2, 1])), FRAME, ValueError, r"\[1\].* scale"),
    "mirrors": ([1, 2, 3], with_row(0, np.diag([-1, 1, 1, 1])), FRAME, ValueError, r"0\].*mirror"),
    "far": ([1, 2, 3], with_row(1, pose((1e200, 0, 0))), FRAME, ValueError, r"\[1\] must be below"),
    "not affine": ([1, 2, 3], with_row(2, np.ones((4, 4))), FRAME, ValueError, r"transforms\[2\]"),
    "too few": ([1, 2, 3], places_at(0.0)[:2], FRAME, ValueError, "as many as keys, 3, got 2"),
    "too many": ([1, 2], [(0, 0, 0)] * 3, FRAME, ValueError, "as many as keys, 2, got 3"),
    "no shape": ([1, 2], np.zeros((2, 5)), FRAME, ValueError, r"got shape \(2, 5\)"),
    "ragged": ([1, 2], [(0, 0, 0), (1, 1)], FRAME, (ValueError, TypeError), "transforms"),
    "text": ([1, 2], "ab", FRAME, (ValueError, TypeError), "transforms"),
    "far place": ([1, 2], [(0, 0, 0), (1e200, 0, 0)], FRAME, ValueError, r"must be below.*\[1\]"),
    "no place": ([1, 2], [(0, 0, 0), (NAN, 0, 0)], FRAME, ValueError, r"transforms"),
    "long turn": (
        [1, 2], ([(0, 0, 0)] * 2, [(1, 0, 0, 0), (2, 0, 0, 0)]), FRAME, ValueError,
        r"transforms\[1\]\[1\] must have unit length",
    ),
    "skewed turn": (
        [1], ([(0, 0, 0)], [SKEWED[:3, :3]]), FRAME, ValueError, r"transforms\[1\]\[0\] must be or",
    ),
    "twice": ([1, 2, 1], places_at(0.0)[:3], FRAME, ValueError, r"got 1 at \[2\].*at \[0\]"),
    "twice by name": ([1, "lift"], places_at(0.0)[:2], FRAME, ValueError, r"got 'lift' at \[1\]"),
    "a map": ([1, 0], places_at(0.0)[:2], FRAME, TypeError, r"keys\[1\]: key must be that of a"),
    "unknown": ([1, 77], places_at(0.0)[:2], FRAME, KeyError, r"keys\[1\]: key must be"),
    "no name": ([1, "lid"], places_at(0.0)[:2], FRAME, KeyError, r"keys\[1\]: name must be"),
    "a key": (1, places_at(0.0)[:1], FRAME, TypeError, "keys must be a sequence"),
    "a name": ("lift", places_at(0.0)[:1], FRAME, TypeError, "keys must be a sequence"),
    "broken keys": ([1.5], places_at(0.0)[:1], FRAME, (TypeError, ValueError), r"keys\[0\]: key"),
    "no time": ([1, 2], places_at(0.0)[:2], 0.0, ValueError, "delta_time must be"),
    "bad time": ([1, 2], places_at(0.0)[:2], [FRAME, NAN], ValueError, r"delta_time\[1\] must be"),
    "few times": ([1, 2], places_at(0.0)[:2], [FRAME], ValueError, "delta_time must be one time"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_moves_none(name):
    keys, transforms, seconds, error, message = BAD[name]
    ground = made()
    ground.move_many(range(1, 6), places_at(1.0), FRAME)
    before = content_of(ground)
    with pytest.raises(error, match=message):
        ground.move_many(keys, transforms, seconds)
    assert content_of(ground) == before


def test_a_long_query_and_a_kept_state_keep_what_they_read():
    ground = made()
    ground.move_many(range(1, 6), places_at(0.0), FRAME)
    state = ground.state()
    with queries_of(ground).reading() as arrays:
        rows, reaches = arrays.movers.rows.copy(), arrays.movers.reaches.copy()
        meshes = arrays.meshes.copy()
        ground.move_many(range(1, 6), places_at(1.0), FRAME)
        ground.set_one_way(1, (0, 1, 0))
        assert np.array_equal(arrays.movers.rows, rows, equal_nan=True)
        assert np.array_equal(arrays.meshes, meshes)
        assert np.array_equal(arrays.movers.reaches[:, :5], reaches[:, :5])
        assert ground._held.ground_arrays.movers.rows[1, 3] != rows[1, 3]
    after = content_of(ground)
    ground.restore(state)
    again = made()
    again.move_many(range(1, 6), places_at(0.0), FRAME)
    assert content_of(ground)[0] == content_of(again)[0]
    ground.move_many(range(1, 6), places_at(1.0), FRAME)
    ground.set_one_way(1, (0, 1, 0))
    assert content_of(ground)[0] == after[0]
    assert content_of(ground)[2:] == after[2:]


@pytest.mark.parametrize("at_once", [True, False])
def test_moves_wake_no_sleeper_far_away(at_once):
    count = 300
    ground = made(count)
    ground.move_many(range(1, 6 + count), places_at(0.0, count), FRAME)
    hero = CharacterMovement(ground, SphereCollider(0.5), position=(3, 1, 3))
    for _ in range(120):
        hero.update(FRAME)
    seen = ground.version
    for frame in range(4):
        places = places_at(0.1 * frame, count)[5:]
        if at_once:
            ground.move_many(range(6, 6 + count), places, FRAME)
        else:
            for k in range(count):
                ground.move(6 + k, places[k], FRAME)
        assert ground.version == seen + count * (frame + 1)
        log = ground._held.changes
        unseen = log.rows[log.rows[:, 0] > seen]
        assert log.forgotten <= seen
        assert len(unseen)
        assert (unseen[:, 1] > 200).all()  # none is near the hero


class Watcher:
    """Keeps what it is told of."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def tell(self, number: int, what: str, *details: Any) -> None:
        self.told.append((number, what, *details))


def test_watchers_are_told_of_each_move():
    ground, watcher = made(), Watcher()
    ground._held.watchers.add(watcher, 5)
    ground.move_many([2, 1], [(0, 7, 0), (0, 8, 0)], [0.1, 0.2])
    ground.move_many([2], [(0, 9, 0)])
    told = [(number, what, keys) for number, what, keys, _ in watcher.told]
    assert told == [(5, "moved", [2, 1]), (5, "moved", [2])]
    unturned = np.eye(3).ravel().tolist()
    places = [values[:, 9:].tolist() for *_, values in watcher.told]
    assert places == [[[0, 7, 0, 0.1], [0, 8, 0, 0.2]], [[0, 9, 0, 0]]]
    assert all(row[:9] == unturned for *_, values in watcher.told for row in values.tolist())

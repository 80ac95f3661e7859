"""Moves of meshes in C: the same bits, results and errors as the methods."""

import gc
import math
import threading
import tracemalloc
from _thread import allocate_lock
from functools import partial

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import Ground, TriangleMesh
from terrain_physics._kernels import _jit
from terrain_physics._support.checks import ROTATION_TOLERANCE
from tests.helpers.calls import calls_of
from tests.native.test_quick import FRAME, HOSTILE, by_python, outcome, rough

pytestmark = pytest.mark.skipif(_jit.native is None, reason="entries are in machine code of wheels")

LIFT, DOOR, SMALL, STILL = 1, 2, 3, 4


def moving():
    """Return ground with meshes that have moved, one of them scaled, and one that has not."""
    box = TriangleMesh.box((2, 1, 2))
    ground = Ground([rough(), box])
    ground.add(TriangleMesh.box((1, 3, 1)), (9, 1, 9), name="door")
    ground.add(box, ((5, 2, 5), np.eye(3), 0.5))
    ground.add(box)
    for key in (LIFT, DOOR, SMALL):
        ground.move(key, (4.0 * key, 2, 7), FRAME)
    return ground


def told(ground):
    """Return all that moves of a ground have made."""
    held, motion = ground._held, ground._held.motion()
    changes = held.changes
    poses = motion.numbers.tobytes(), motion.poses.tobytes(), motion.put
    used = motion.movers.reaches[:, : len(motion.movers.numbers)]
    movers = motion.movers.rows.tobytes(), used.tobytes(), motion.movers.numbers
    hits = [
        repr(ground.raycast((4.0 * key + 0.3, 40.0, 7.2), (0.0, -1.0, 0.0)))
        for key in (LIFT, DOOR, SMALL)
    ]
    return poses, movers, held.version, changes.rows.tobytes(), changes.rows.flags.writeable, hits


def same(quick, plain, *given, by="move", **options):
    """Move by both roads, and compare all that comes of it."""
    found = outcome(getattr(quick, by), *given, **options)
    assert found == outcome(by_python(plain, by), *given, **options), (given, options)
    assert told(quick) == told(plain), (given, options)
    return found


def turned(angle, place=(4.0, 2.0, 7.0)):
    return glm.translate(glm.vec3(place)) * glm.rotate(angle, glm.normalize(glm.vec3(1, 2, 3)))


def test_moves_have_the_same_bits():
    quick, plain, draws = moving(), moving(), np.random.default_rng(4)
    for number in range(200):
        x, y, z = draws.uniform(-9, 9, 3).tolist()
        matrix = turned(x, (x, y, z))
        ways = [
            (x, y, z), (int(x), int(y), -0.0), glm.vec3(x, y, z), glm.dvec3(x, y, z), [x, y, z],
            matrix, glm.dmat4(matrix), np.array(matrix), np.array(matrix, np.float32),
            np.array(matrix, order="F"), np.array([x, y, z]), ((x, y, z), glm.quat(matrix)),
        ]  # fmt: skip
        way = ways[number % len(ways)]
        for key in (LIFT, DOOR, SMALL, "door"):
            last = (None, FRAME, 0.25, 1, 1e-6, 3600)[number % 6]
            same(quick, plain, key, way, *(() if last is None else (last,)))
            same(quick, plain, key, way, delta_time=last)
            for only in ([way], (way,), np.array([way]) if number % 12 < 11 else [way]):
                same(quick, plain, [key], only, FRAME, by="move_many")
    same(quick, plain, STILL, (1, 2, 3))
    same(quick, plain, STILL, (1, 2, 3.5), FRAME)
    same(quick, plain, STILL, (1, 2, 4.0), FRAME)


@pytest.mark.parametrize(
    "value", [*HOSTILE, 1e38, 1e37, -1e-7, 3601, 0, 5, 2**70, np.int64(1), "door", "gate"], ids=repr
)
def test_hostile_moves_have_the_same_effect(value):
    quick, plain = moving(), moving()
    place = (4.0, 2.0, 7.0)
    stretched = glm.mat4(turned(0.3))
    if isinstance(value, float):
        stretched[1][2] = value
    for given, options in [
        ((value, place), {}),
        ((LIFT, value), {}),
        ((LIFT, (1.0, value, 2.0)), {}),
        ((LIFT, stretched), {}),
        ((LIFT, [[value] * 4] * 4), {}),
        ((LIFT, place, value), {}),
        ((LIFT, place), {"delta_time": value}),
        ((LIFT, place, FRAME), {"delta_time": value}),
        ((LIFT, place), {"dt": value}),
        ((LIFT, place, FRAME, value), {}),
        ((LIFT,), {}),
        ((), {"key": LIFT, "transform": value}),
    ]:
        same(quick, plain, *given, **options)
        same(quick, plain, LIFT, place, FRAME)


@pytest.mark.parametrize("value", [*HOSTILE, 1e38, 2**70, np.int64(1), "door", "gate"], ids=repr)
def test_hostile_moves_of_many_have_the_same_effect(value):
    quick, plain = moving(), moving()
    places = np.array([(4.0, 2.0, 7.0)])
    for given, options in [
        ((value, places), {}),
        (([value], places), {}),
        (([LIFT], value), {}),
        (([LIFT], [value]), {}),
        (((LIFT,), [(1.0, value, 2.0)]), {}),
        (([LIFT], [[[value] * 4] * 4]), {}),
        (([LIFT], places, value), {}),
        (([LIFT], places), {"delta_time": value}),
        (([LIFT], places), {"delta_time": [value]}),
        (([LIFT], places, FRAME, value), {}),
        ((np.array([LIFT]), places, FRAME), {}),
        (([LIFT, DOOR], places, FRAME), {}),
        (([LIFT, value], np.repeat(places, 2, axis=0), FRAME), {}),
        (([LIFT, DOOR], np.repeat(places, 2, axis=0), value), {}),
        (([LIFT, DOOR], [places[0], value], FRAME), {}),
        (([LIFT], places[0], FRAME), {}),
        (([], places[:0], FRAME), {}),
        (([], []), {}),
        (([LIFT],), {}),
    ]:
        same(quick, plain, *given, by="move_many", **options)


MANY = {
    "a list": [LIFT, DOOR],
    "a tuple": (LIFT, DOOR),
    "an array": np.array([LIFT, DOOR]),
    "a column": np.array([[LIFT, 9], [DOOR, 9]])[:, 0],
    "of 32 bits": np.array([LIFT, DOOR], np.int32),
    "one of them scaled": [LIFT, DOOR, SMALL],
    "one of them still": [LIFT, DOOR, STILL],
    "in another order": [DOOR, LIFT],
    "named": [LIFT, "door"],
    "twice": [LIFT, LIFT],
    "a map": [0, LIFT],
    "gone": [LIFT, 99],
    "too large": [LIFT, 2**70],
    "true": [LIFT, True],
}
"""Keys of many meshes, all that may be usual first."""


@pytest.mark.parametrize("keys", MANY.values(), ids=MANY)
def test_moves_of_many_have_the_same_effect(keys):
    quick, plain, draws = moving(), moving(), np.random.default_rng(6)
    many = len(keys)
    for frame in range(4):
        places = draws.uniform(-9, 9, (many, 3))
        matrices = np.array([turned(0.1 * frame + k, places[k]) for k in range(many)], np.float64)
        skewed, off = matrices.copy(), places.copy()
        skewed[-1, 0, 1] += 0.1
        off[-1, 1] = (math.nan, math.inf, -1e38, 1e30)[frame]
        ways = [
            places, matrices, places.astype(np.float32), matrices.astype(np.float32),
            np.asfortranarray(places), places.tolist(), [*matrices], matrices[:, :3], skewed, off,
            places[:-1], matrices[:0], places.astype(">f8"), np.ma.array(places, mask=places > 8),
            (places, np.tile((1.0, 0.0, 0.0, 0.0), (many, 1))), places.astype(object),
        ]  # fmt: skip
        for way in ways:
            for last in (None, FRAME, [FRAME] * many):
                same(quick, plain, keys, way, last, by="move_many")


def crowded(count):
    """Return ground with many movers side by side, and their keys."""
    ground, box = Ground([rough()]), TriangleMesh.box((1, 1, 1))
    keys = [ground.add(box, (2.0 * k, 0, 0)) for k in range(count)]
    by_python(ground, "move_many")(keys, places_of(count, 0), FRAME)
    return ground, keys


def places_of(count, frame):
    """Return where they are in a frame: now and then far from where they were."""
    rows = np.arange(count)
    return np.column_stack([2.0 * rows, 0.01 * frame + 90.0 * (frame % 5 == 4) * rows, 0.0 * rows])


@pytest.mark.parametrize("count", [3, 120, 700, 1300])
def test_many_changes_are_merged_as_by_the_method(count):
    (quick, keys), (plain, _) = crowded(count), crowded(count)
    for frame in range(40 if count < 700 else 9):
        places = places_of(count, frame)
        quick.move_many(keys, places, FRAME)
        by_python(plain, "move_many")(keys, places, FRAME)
        for ground in (quick, plain):
            ground.move(keys[frame % count], (0.0, 50.0, 0.5), FRAME)
    assert told(quick) == told(plain)


def test_matrices_at_the_limit_have_the_same_effect():
    quick, plain = moving(), moving()
    for off in (0.99, 1.01, -1.0):
        for cell in range(16):
            matrix = np.array(turned(0.7), np.float64)
            matrix.reshape(-1)[cell] += off * ROTATION_TOLERANCE / 2
            same(quick, plain, LIFT, matrix, FRAME)
            same(quick, plain, SMALL, matrix, FRAME)
    mirrored = np.diag([1.0, -1.0, 1.0, 1.0])
    assert same(quick, plain, LIFT, mirrored)[0] is ValueError


def test_another_ground_is_refused_as_by_the_method():
    ground = moving()
    for self in (None, 3, rough(), TriangleMesh.box((1, 1, 1))):
        found = outcome(Ground.move, self, LIFT, (1, 2, 3))
        assert found == outcome(by_python(ground, "move").__func__, self, LIFT, (1, 2, 3))


class Watching:
    """Is told of moves, and may do something meanwhile."""

    def __init__(self):
        self.told = []

    def tell(self, number, what, *details):
        self.told.append((number, what, repr(details)))


def edit(ground):
    ground.parts[0][3:5, 3:5] = 4.0


def refit(ground):
    mesh = ground.parts[LIFT]
    mesh.refit(mesh.vertices * 1.5)


UNUSUAL = {
    "edited": edit,
    "refitted": refit,
    "removed": lambda ground: ground.remove("door"),
    "on other layers": lambda ground: ground.set_layers(LIFT, 2),
    "put back": lambda ground: ground.restore(ground.state()),
    "one-way": lambda ground: ground.set_one_way(LIFT, (0, 1, 0)),
    "a conveyor": lambda ground: ground.set_surface_velocity(STILL, (1, 0, 0)),
    "read": lambda ground: ground._held.begin_update(held_mark()),
}


def held_mark():
    """Return the mark of a long call that has not ended."""
    mark = allocate_lock()
    mark.acquire()
    return mark


@pytest.mark.parametrize("unusual", UNUSUAL)
def test_what_is_unusual_has_the_same_effect(unusual):
    quick, plain = moving(), moving()
    kept = [UNUSUAL[unusual](ground) for ground in (quick, plain)]
    for frame in range(8):
        for key in (LIFT, DOOR, STILL):
            same(quick, plain, key, (4.0 * key, 2.0 + 0.01 * frame, 7.0), FRAME)
    del kept


def test_watchers_are_told():
    quick, plain = moving(), moving()
    watches = Watching(), Watching()
    for watch, ground in zip(watches, (quick, plain), strict=True):
        ground._held.watchers.add(watch, 7)
    for frame in range(3):
        same(quick, plain, LIFT, (4.0, 2.0 + frame, 7.0), FRAME)
    assert len(watches[0].told) == 3
    assert watches[0].told == watches[1].told


def test_arrays_of_a_long_call_stay_as_they_are():
    ground = moving()
    arrays = ground._held.begin_update(held_mark())
    before = [array.tobytes() for array in arrays.movers]
    for frame in range(3):
        ground.move(LIFT, (4.0, 5.0 + frame, 7.0), FRAME)
    assert [array.tobytes() for array in arrays.movers] == before


def test_inside_a_change_the_method_refuses():
    ground = moving()

    def change():
        with pytest.raises(RuntimeError, match="signal handler"):
            ground.move(LIFT, (4.0, 9.0, 7.0), FRAME)

    ground._held.change(change)
    assert ground.transform(LIFT)[1, 3] == 2.0


def test_the_log_of_changes_is_merged_as_by_the_method():
    quick, plain = moving(), moving()
    for frame in range(2500):
        place = (4.0, 2.0 + 0.001 * frame, 7.0 + 9.0 * (frame % 2))
        quick.move(LIFT, place, FRAME)
        by_python(plain, "move")(LIFT, place, FRAME)
    assert told(quick) == told(plain)


def test_rows_that_a_reader_has_stay_as_they_are():
    ground = moving()
    rows = ground._held.changes.rows
    before = rows.tobytes()
    for frame in range(50):
        ground.move(LIFT, (4.0, 2.0 + frame, 7.0), FRAME)
    assert rows.tobytes() == before


def test_a_lock_that_is_held_is_waited_for():
    ground, begun, done = moving(), threading.Event(), threading.Event()

    def move():
        begun.set()
        ground.move(LIFT, (4.0, 5.0, 7.0), FRAME)
        done.set()

    lock = ground._held.meshes.lock
    with lock:
        thread = threading.Thread(target=move)
        thread.start()
        begun.wait()
        assert not done.wait(0.02)
    thread.join()
    assert ground.transform(LIFT)[1, 3] == 5.0
    assert lock.acquire(blocking=False)  # it was given back
    lock.release()


def test_threads_move_and_ask_at_once():
    ground, stop = moving(), threading.Event()
    heights = set()

    def ask():
        while not stop.is_set():
            heights.add(ground.height_at(4.0, 7.0))

    ground.move(LIFT, (4.0, 20.0, 7.0), FRAME)
    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for frame in range(3000):
        ground.move(LIFT, (4.0, 20.0 + frame % 2, 7.0), FRAME)
    stop.set()
    for thread in threads:
        thread.join()
    assert heights <= {20.5, 21.5}


def test_memory_stays_level():
    ground, matrix, array = moving(), turned(0.1), np.array(turned(0.2), np.float64)

    def play(times):
        for frame in range(times):
            ground.move(LIFT, (4.0, 2.0 + frame % 9, 7.0), FRAME)
            ground.move(LIFT, matrix, FRAME)
            ground.move(LIFT, array, delta_time=FRAME)
            ground.move(LIFT, glm.vec3(4, 2, 7))
            outcome(ground.move, LIFT, (math.nan, 0.0, 0.0))
            ground.move_many([LIFT], array[np.newaxis], FRAME)
            ground.move_many([LIFT, DOOR], np.array([array, matrix], np.float64), FRAME)

    play(500)
    gc.collect()
    tracemalloc.start()
    try:
        play(600)
        before = tracemalloc.get_traced_memory()[0]
        play(33_000)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 20_000


def test_a_move_calls_nothing_else():
    ground, matrix = moving(), turned(0.4)
    nothing = calls_of(lambda: None)
    for way in ((4.0, 3.0, 7.0), matrix):
        # Now and then the log of changes needs more room, for which there is the method.
        calls = [calls_of(partial(ground.move, LIFT, way, FRAME)) for _ in range(9)]
        assert sum(count <= nothing for count in calls) >= 7
    assert calls_of(partial(ground.move_many, [LIFT], np.array([(4.0, 3.0, 7.0)]))) <= nothing


def test_a_move_of_many_calls_nothing_else():
    ground, keys = crowded(200)
    nothing = calls_of(lambda: None)
    matrices = np.array([turned(0.1, (2.0 * k, 1.0, 0.0)) for k in range(200)], np.float64)
    for way in (places_of(200, 1), matrices):
        for _ in range(12):  # the log of changes is merged meanwhile
            assert calls_of(partial(ground.move_many, keys, way, FRAME)) <= nothing

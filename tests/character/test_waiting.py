"""Characters on ground of which a part is not there yet: who waits, and what ground is brought."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterMovement,
    FixedStep,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
    World,
)
from terrain_physics._kernels.character import needs as kernels
from terrain_physics._kernels.character.reports.hits import HITS_SIZE, NEED, NEED_MARK
from terrain_physics.character import needs
from tests.helpers.lattices import ground_of, lattice, one_map
from tests.helpers.patchy import patchy, supplied

FRAME = 1 / 60
BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
ALL = (0.0, 0.0, 100.0, 100.0)


def _flat():
    return Ground([HeightMap(np.zeros((101, 101)))])


def _hills(size=193):
    x, z = np.meshgrid(np.arange(size), np.arange(size))
    bumps = np.random.default_rng(5).normal(0.0, 0.15, (size, size))
    return (8 * np.sin(x / 23) + 6 * np.cos(z / 17) + bumps).astype(np.float32)


def _standing(ground, x=50.0, z=50.0, **options):
    mover = CharacterMovement(ground, BODY, position=(x, 0, z), **options)
    for _ in range(3):
        mover.update(FRAME)
    return mover


def _walk_until(mover, is_over, most=600):
    for _ in range(most):
        mover.walk(3, 0)
        result = mover.update(FRAME)
        if is_over(result):
            return result
    raise AssertionError("it is never over")


def test_who_comes_to_ground_that_is_not_there_waits_and_then_goes_on():
    ground = _flat()
    streaming, mover = patchy(ground, (60, 0, 70, 100)), _standing(ground)
    result = _walk_until(mover, lambda result: result.waiting)
    assert 58 < mover.position.x < 60
    assert (result.grounded, result.seconds, result.turn, result.blocked) == (True, 0.0, 0.0, False)
    before, place = mover.state_hash(), mover.position64
    for frame in range(30):
        assert mover.update(FRAME).waiting
        assert (mover.state_hash(), mover.position64) == (before, place)
        assert mover.velocity == glm.vec3(3, 0, 0)
        assert streaming.waits == frame + 2
    streaming.missing.clear()
    assert not mover.update(FRAME).waiting
    assert mover.position.x == pytest.approx(place[0] + 3 * FRAME)
    assert streaming.waits == 31


def test_who_waits_goes_on_as_if_no_time_had_passed():
    paths = []
    for frames in (0, 25):
        ground = _flat()
        streaming = patchy(ground, (52, 0, 53, 100))
        mover = CharacterMovement(ground, BODY, position=(45, 4, 50), seed=3)
        mover.velocity = (9, 2, 0)
        for _ in range(120):
            if mover.update(FRAME).waiting:
                for _ in range(frames):
                    assert mover.update(FRAME).waiting
                streaming.missing.clear()
                mover.update(FRAME)
        paths.append((mover.state_hash(), streaming.waits))
    assert paths[0][0] == paths[1][0]
    assert [waits for _, waits in paths] == [1, 26]


def test_a_fall_into_ground_that_is_not_there_waits_in_the_air():
    ground = _flat()
    patchy(ground, ALL)
    mover = CharacterMovement(ground, BODY, position=(50, 30, 50))
    for _ in range(240):
        result = mover.update(FRAME)
        assert (result.waiting, result.grounded) == (True, False)
    assert mover.position == glm.vec3(50, 30, 50)
    assert mover.velocity == glm.vec3(0)


def test_events_are_told_once():
    ground = _flat()
    streaming = patchy(ground)
    mover = CharacterMovement(ground, BODY, position=(50, 0.02, 50))
    mover.velocity.y = -3
    assert mover.update(FRAME).just_landed
    assert len(mover.hits()) == 1
    mover.walk(1, 0)
    streaming.missing.append(ALL)
    result = mover.update(FRAME)
    assert (result.waiting, result.just_landed, len(mover.hits())) == (True, False, 0)
    assert mover.move_result() == result
    assert "waiting=True" in repr(result)
    assert pickle.loads(pickle.dumps(result)) == result
    streaming.missing.clear()
    assert mover.update(FRAME) == mover.move_result()
    assert not mover.move_result().waiting


def test_ground_that_is_all_there_asks_for_nothing():
    mover = _standing(_flat())
    assert not mover.update(FRAME).waiting
    assert not mover._row().hits[NEED_MARK]


def test_asleep_it_needs_no_ground_and_awake_it_does():
    ground = _flat()
    streaming, mover = patchy(ground), _standing(ground)
    asked = len(streaming.asked)
    streaming.missing.append(ALL)
    for _ in range(5):
        assert not mover.update(FRAME).waiting
    assert len(streaming.asked) == asked
    before = mover.state_hash()
    ground.carve(mover.position, 3, 1)  # wakes it
    for _ in range(5):
        assert mover.update(FRAME).waiting
    assert mover.state_hash() == before
    streaming.missing.clear()
    assert not mover.update(FRAME).waiting
    assert not mover.grounded


def test_what_the_game_writes_to_one_who_waits_holds():
    ground = _flat()
    streaming, mover = patchy(ground, (40, 40, 60, 60)), CharacterMovement(ground, BODY)
    mover.position = (50, 5, 50)
    assert mover.update(FRAME).waiting
    assert mover.position == glm.vec3(50, 5, 50)
    mover.velocity = (1, 0, 2)
    assert mover.update(FRAME).waiting
    assert mover.velocity == glm.vec3(1, 0, 2)
    mover.position = (20, 5, 20)
    assert not mover.update(FRAME).waiting
    assert mover.position.x == pytest.approx(20 + FRAME)
    assert streaming.waits == 2


def test_an_owner_stays_where_its_character_waits():
    @dataclass
    class Actor:
        position: glm.vec3

    ground, actor = _flat(), Actor(glm.vec3(50, 0, 50))
    streaming = patchy(ground)
    mover = CharacterMovement(ground, BODY, owner=actor)
    mover.walk(3, 0)
    mover.update(FRAME)
    streaming.missing.append(ALL)
    place = glm.vec3(actor.position)
    actor.position = actor.position + glm.vec3(0, 1, 0)
    for _ in range(3):
        assert mover.update(FRAME).waiting
        assert actor.position == place + glm.vec3(0, 1, 0) == mover.position


def test_a_clock_and_a_world_go_on_without_those_who_wait():
    ground, clock = _flat(), FixedStep(FRAME)
    streaming, world = patchy(ground, (45, 45, 55, 55)), World(ground)
    world.add("here", CharacterMovement(ground, BODY, position=(50, 3, 50)))
    world.add("there", CharacterMovement(ground, BODY, position=(20, 3, 20)))
    for _ in clock.steps(0.1):
        results = world.update(clock.seconds)
        assert {key: result.waiting for key, result in results.items()} == {
            "here": True, "there": False,
        }  # fmt: skip
    assert streaming.waits == 6


def test_with_load_it_goes_as_on_one_map_wherever_tiles_are_taken_away():
    terrain, source = lattice(_hills(), 64)
    ground, whole = ground_of(terrain), one_map(source)
    supply = supplied(ground, terrain, loads=True)
    movers = [
        CharacterMovement(
            land, BODY, position=(60, whole.height_at(60, 60) + 3, 60), step_offset=0.4
        )
        for land in (ground, whole)
    ]
    for frame in range(240):
        draw = np.random.default_rng(frame)
        vx, vz = draw.normal(0, 12, 2)
        for mover in movers:
            mover.walk(vx, vz)
            if frame % 40 == 39:
                mover.jump(6)
        terrain.take([number for number in terrain.loaded if draw.random() < 0.5])
        results = [mover.update(FRAME) for mover in movers]
        assert results[0] == results[1]
        assert movers[0].state_hash() == movers[1].state_hash()
    assert supply.waits == 0


def _pinched(monkeypatch):
    """Make the boxes of all needs too small by far; return the list of the boxes asked for."""
    put = kernels.put_needs

    class Pinched:
        @staticmethod
        def call(*arguments):
            count, farthest = put(*arguments)
            boxes = arguments[2].reshape(-1, HITS_SIZE)[:, NEED:NEED_MARK]
            boxes[:, :2] = boxes[:, 2:] = (boxes[:, :2] + boxes[:, 2:]) / 2
            arguments[6][:count] = boxes[arguments[5][:count]]
            return count, farthest

    monkeypatch.setattr(needs, "_PUT", Pinched)


def test_who_looks_beyond_its_box_is_put_back_and_goes_once_more(monkeypatch):
    _pinched(monkeypatch)
    terrain, source = lattice(_hills(), 64)
    ground, whole = ground_of(terrain), one_map(source)
    supply = supplied(ground, terrain, loads=True)
    movers = [
        CharacterMovement(land, SphereCollider(0.5), position=(63, 12, 64), seed=4)
        for land in (ground, whole)
    ]
    for frame in range(60):
        for mover in movers:
            mover.walk(4 if frame % 20 < 10 else -4, 0)
            mover.update(FRAME)
        assert movers[0].state_hash() == movers[1].state_hash()
        terrain.take(list(terrain.loaded))
    assert supply.asked == 120  # each time a point first, then what it has looked at
    supply.loads, mover = False, movers[0]
    mover.walk(4, 0)
    assert mover.update(FRAME).waiting
    before = mover.state_hash()
    assert mover.update(FRAME).waiting
    assert mover.state_hash() == before


def test_an_error_while_ground_is_brought_changes_nothing(monkeypatch):
    ground = _flat()
    streaming, mover = patchy(ground), _standing(ground)
    mover.walk(2, 1)
    mover.update(FRAME)
    before, state = mover.state_hash(), mover.state()
    monkeypatch.setattr(streaming, "bring", _fail)
    with pytest.raises(OSError, match="tile"):
        mover.update(FRAME)
    assert mover.state_hash() == before
    monkeypatch.undo()
    assert not mover.update(FRAME).waiting
    after = mover.state_hash()
    mover.restore(state)
    mover.update(FRAME)
    assert mover.state_hash() == after


def _fail(boxes):
    raise OSError("no such tile")


def test_it_stands_up_only_where_its_ground_is_there():
    ground = _flat()
    streaming, mover = patchy(ground), _standing(ground)
    small = CapsuleCollider(0.4, 1.2, offset=(0, 0.6, 0))
    assert mover.resize(small)
    streaming.missing.append(ALL)
    assert not mover.resize(BODY)
    assert mover.collider == small
    streaming.loads = True
    assert mover.resize(BODY)
    assert streaming.missing == []


@pytest.mark.parametrize("collider", [BODY, SphereCollider(0.7), BoxCollider((0.3, 0.9, 0.6))])
@pytest.mark.parametrize("rate", [20, 60, 360])
def test_the_box_bounds_what_an_update_looks_at(collider, rate):
    """If it did not, the ground would be asked for twice."""
    terrain, _ = lattice(_hills(), 64)
    ground = ground_of(terrain)
    supply = supplied(ground, terrain, loads=True)
    mover = CharacterMovement(ground, collider, position=(96, 20, 96), step_offset=0.5)
    draw = np.random.default_rng(rate)
    for frame in range(150):
        if frame % 15 == 0:
            mover.velocity = draw.normal(0, 1, 3) * draw.choice([2, 8, 40])
        if frame % 50 == 0:
            mover.position = (96, draw.uniform(10, 20), 96)
        asked = supply.asked
        mover.update(1 / rate)
        assert supply.asked <= asked + 1


def _deck():
    corners = [(x, y, z) for y in (-0.5, 0.0) for z in (-4, 4) for x in (-4, 4)]
    faces = [
        (4, 6, 7), (4, 7, 5), (0, 1, 3), (0, 3, 2), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6),
        (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
    ]  # fmt: skip
    return TriangleMesh(corners, faces)


def _train(speed):
    """Return a ground with a train at a height of 2 m, a rider on it, and what moves both."""
    ground = _flat()
    streaming, train = patchy(ground), ground.add(_deck(), transform=(10, 2, 50))
    mover = CharacterMovement(ground, BODY, position=(10, 2.0, 50))
    place = [10.0]

    def drive():
        place[0] += speed * FRAME
        ground.move(train, (place[0], 2, 50), FRAME)
        return mover.update(FRAME)

    for _ in range(10):
        drive()
    return streaming, mover, place, drive


def test_the_box_of_a_rider_holds_its_way():
    streaming, mover, place, drive = _train(60.0)
    behind, asked = place[0] - mover.position.x, len(streaming.asked)
    for _ in range(40):
        before = mover.position.x
        assert drive().grounded
        (x0, _, x1, _) = streaming.asked[-1][0]
        assert x0 < before < mover.position.x < x1
    assert len(streaming.asked) == asked + 40
    assert mover.position.x == pytest.approx(place[0] - behind, abs=1e-3)


@pytest.mark.parametrize("frames", [5, 60])  # a part remembers 32 moves
def test_a_rider_who_has_waited_comes_to_its_train_again(frames):
    streaming, mover, place, drive = _train(20.0)
    start, behind = mover.position64, place[0] - mover.position.x
    streaming.missing.append((start[0] + 2, 40, start[0] + 3, 60))
    for _ in range(frames):
        assert drive().waiting
        assert mover.position64 == start
    streaming.missing.clear()
    assert drive().grounded
    assert mover.position.x == pytest.approx(place[0] - behind, abs=1e-3)
    assert mover.position.y == pytest.approx(2.0, abs=1e-3)


def test_who_waits_falls_where_its_train_is_gone():
    streaming, mover, _, drive = _train(20.0)
    start = mover.position64
    streaming.missing.append((start[0], 40, start[0] + 3, 60))
    assert drive().waiting
    mover.ground.remove(next(iter(mover.ground.parts.keys() - {0})))
    streaming.missing.clear()
    for _ in range(90):
        result = mover.update(FRAME)
    assert result.grounded
    assert mover.position.y == pytest.approx(0.0, abs=1e-3)
    assert mover.position.x - start[0] < 25  # it keeps the speed of the train as it falls


def test_who_does_not_see_the_land_needs_none():
    ground = Ground([HeightMap(np.zeros((101, 101)))])
    streaming = patchy(ground, ALL)
    bridge = ground.add(_deck(), transform=(50, 2, 50), layers=2)
    ghost = CharacterMovement(ground, BODY, position=(50, 2.5, 50), mask=2)
    for _ in range(60):
        assert not ghost.update(FRAME).waiting
    assert ghost.ground_report().part == bridge
    assert streaming.asked == []
    ghost.mask = 3
    assert ghost.update(FRAME).waiting


@pytest.mark.parametrize("speed", [1e5, 1e9, 1e300])
def test_however_fast_it_is_it_does_not_ask_for_the_world(speed):
    streaming, movers = [], []
    for loads in (True, False):
        ground = _flat()
        streaming.append(patchy(ground, loads=loads))
        movers.append(CharacterMovement(ground, BODY, position=(50, 5, 50), seed=2))
        movers[-1].velocity = (speed, 0, 0)
    streaming[1].missing.append((1e4, -1e4, 2e4, -1e3))
    for _ in range(3):
        for mover in movers:
            assert not mover.update(FRAME).waiting
    assert movers[0].state_hash() == movers[1].state_hash()
    for boxes in streaming[0].asked:
        assert (boxes[:, 3] - boxes[:, 1] < 600).all()

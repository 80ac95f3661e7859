"""Sleep of a single character: the last result is kept until anything is written."""

import copy
import pickle

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)

FRAME = 1 / 60


class Updated(CharacterMovement):
    """A character whose every update is made."""

    def update(self, seconds):
        self._idle = None
        return super().update(seconds)


def make(kind):
    lift = TriangleMesh.box((4, 1, 4))
    tiles = [HeightMap(np.zeros((17, 17)), origin=(x, 0, 0), materials=1) for x in (0, 16)]
    mover = kind(
        Ground([*tiles, lift]), CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), position=(8, 0, 8)
    )
    for _ in range(5):
        mover.update(FRAME)
    return mover


def asleep(kind=CharacterMovement):
    mover = make(kind)
    assert (mover.update(FRAME) is mover.update(FRAME)) == (kind is CharacterMovement)
    return mover


def push_in_place(mover):
    velocity = mover.velocity
    velocity += glm.vec3(1, 0, 0)


def come_to_rest_again(mover):
    mover.velocity = (0, 0, 0)  # as it was


def restore_moving(mover):
    other = make(CharacterMovement)
    other.velocity = (2, 0, 0)
    other.update(FRAME)
    mover.restore(other.state())


def pickled(mover):
    return pickle.loads(pickle.dumps(mover))


CHANGES = {
    "nothing": lambda mover: mover.grounded,
    "the same velocity": come_to_rest_again,
    "a velocity": lambda mover: setattr(mover, "velocity", (2, 0, 1)),
    "a part of the velocity": lambda mover: setattr(mover.velocity, "x", 2.0),
    "a velocity in place": push_in_place,
    "a place": lambda mover: setattr(mover, "position", (8, 0.2, 8)),
    "a part of the place": lambda mover: setattr(mover.position, "y", 0.2),
    "a teleport": lambda mover: mover.teleport((9, 3, 9)),
    "a reset": lambda mover: mover.reset((9, 3, 9)),
    "another body": lambda mover: mover.resize(CapsuleCollider(0.3, 1.2, offset=(0, 0.6, 0))),
    "no gravity": lambda mover: setattr(mover, "gravity_scale", 0.0),
    "upward gravity": lambda mover: setattr(mover, "gravity_scale", -1.0),
    "a slope limit": lambda mover: setattr(mover, "slope_limit", 0.1),
    "a mask": lambda mover: setattr(mover, "mask", 2),
    "material rules": lambda mover: setattr(mover, "material_rules", {1: {"friction": 0.1}}),
    "its own state": lambda mover: mover.restore(mover.state()),
    "a moving state": restore_moving,
    "a pit": lambda mover: mover.ground.carve((8, 8), 3, 1),
    "a far pit": lambda mover: mover.ground.carve((28, 8), 3, 1),
    "a lift that comes": lambda mover: mover.ground.move(2, ((8, 0.2, 8), glm.quat()), FRAME),
    "a lift that moves far away": lambda mover: mover.ground.move(2, (28, 9, 8), FRAME),
    "a part that goes": lambda mover: mover.ground.remove(0),
    "another ground": lambda mover: setattr(
        mover, "ground", HeightMap(np.full((17, 17), -1.0), border="open")
    ),
    "the same ground": lambda mover: setattr(mover, "ground", mover.ground),
    "a turn": lambda mover: setattr(mover, "rotation", glm.angleAxis(0.3, glm.vec3(1, 0, 0))),
    "no time": lambda mover: mover.update(0.0),
    "more time": lambda mover: mover.update(0.05),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_written_is_seen_in_the_next_update(name):
    movers = asleep(), asleep(Updated)
    for mover in movers:
        CHANGES[name](mover)
    for _ in range(20):
        one, other = (mover.update(FRAME) for mover in movers)
        assert one == other
        assert movers[0].state_hash() == movers[1].state_hash()
        assert movers[0].state() == movers[1].state()
        assert movers[0].position == movers[1].position
        assert movers[0].max_delta == movers[1].max_delta


@pytest.mark.parametrize("name", ["a far pit", "a lift that moves far away"])
def test_the_last_result_is_kept_if_the_ground_changes_far_away(name):
    mover = asleep()
    result = mover.update(FRAME)
    for _ in range(3):
        CHANGES[name](mover)
        assert mover.update(FRAME) is result
        assert mover.update(FRAME) is result
    CHANGES["a pit"](mover)
    assert mover.update(FRAME) is not result


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_changes(seed):
    rng = np.random.default_rng(seed)
    names = [name for name in CHANGES if name not in {"a part that goes", "another ground"}]
    movers = make(CharacterMovement), make(Updated)
    for _ in range(60):
        name = names[rng.integers(len(names))]
        for mover in movers:
            CHANGES[name](mover)
        for _ in range(int(rng.integers(1, 6))):
            assert movers[0].update(FRAME) == movers[1].update(FRAME)
        assert movers[0].state() == movers[1].state()


@pytest.mark.parametrize("copied", [pickled, copy.copy, copy.deepcopy])
def test_copies_come_to_rest_by_themselves(copied):
    mover = asleep()
    other = copied(mover)
    assert other.update(FRAME) is not mover.update(FRAME)
    assert other.update(FRAME) == mover.update(FRAME)
    other.velocity = (1, 0, 0)
    assert other.update(FRAME) != mover.update(FRAME)


def test_an_owner_is_asked_in_every_update():
    class Owner:
        position = glm.vec3(8, 0, 8)

    owner = Owner()
    mover = CharacterMovement(
        HeightMap(np.zeros((17, 17))), SphereCollider(0.4, offset=(0, 0.4, 0)), owner=owner
    )
    for _ in range(9):
        mover.update(FRAME)
    owner.position = glm.vec3(8, 2, 8)
    assert not mover.update(FRAME).grounded

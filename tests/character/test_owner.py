"""Owners of every kind: their place is read, moved and obeyed."""

import copy
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import BoxCollider, CharacterMovement, HeightMap, SphereCollider

FRAME = 1 / 60
FLOOR = HeightMap(np.zeros((40, 40)))


class Vector3:
    """A vector of some other library."""

    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def as_tuple(self):
        return (self.x, self.y, self.z)


class Point(NamedTuple):
    x: float
    y: float
    z: float


class Node:
    """A node whose position can be changed, but not replaced."""

    def __init__(self):
        self._position = glm.vec3(10, 3, 10)

    @property
    def position(self):
        return self._position


def fall(owner, collider=None, frames=90, **rules):
    mover = CharacterMovement(FLOOR, collider or SphereCollider(0.5), owner=owner, **rules)
    for _ in range(frames):
        mover.update(FRAME)
    return mover


@pytest.mark.parametrize(
    "place",
    [
        glm.vec3(10, 3, 10),
        glm.dvec3(10, 3, 10),
        (10.0, 3.0, 10.0),
        [10.0, 3.0, 10.0],
        np.array([10.0, 3.0, 10.0]),
        np.array([10.0, 3.0, 10.0], dtype=np.float32),
        np.array([10, 3, 10]),
        Vector3(10, 3, 10),
        Point(10, 3, 10),
    ],
)
def test_the_position_is_moved_in_the_type_it_has(place):
    owner = SimpleNamespace(position=place)
    fall(owner)
    assert type(owner.position) is type(place)
    moved = owner.position.as_tuple() if isinstance(place, Vector3) else tuple(owner.position)
    assert moved == (10, 0.5, 10)


def test_a_position_that_cannot_be_replaced_is_written_in_place():
    node = Node()
    held = node.position
    fall(node)
    assert held == glm.vec3(10, 0.5, 10)


def test_what_the_caller_gave_is_not_changed():
    place = glm.vec3(10, 3, 10)
    owner = SimpleNamespace(position=place)
    fall(owner)
    assert place == glm.vec3(10, 3, 10)


def test_teleport_is_obeyed_by_part():
    owner = SimpleNamespace(position=glm.vec3(10, 3, 10))
    mover = fall(owner)
    assert mover.grounded
    owner.position.y = 5
    assert not mover.update(FRAME).grounded
    assert mover.position.y == pytest.approx(5, abs=0.01)
    owner.position = glm.vec3(30, 0.5, 4)
    assert mover.update(FRAME).grounded
    assert mover.position == glm.vec3(30, 0.5, 4)


def test_scale_and_rotation_shape_the_body():
    owner = SimpleNamespace(position=(10, 9, 10), scale=2.0, rotation=glm.quat(glm.vec3(0.3, 1, 0)))
    fall(owner)
    assert owner.position[1] == 1.0
    owner = SimpleNamespace(position=(10, 9, 10), scale=glm.vec3(1, 3, 2))
    fall(owner, BoxCollider((1, 1, 1), offset=(0, 0.5, 0)))
    assert owner.position[1] == pytest.approx(1.5)  # 3 m high, the center 1.5 m up


def test_a_new_rotation_ends_the_rest():
    owner = SimpleNamespace(position=(10, 3, 10), rotation=glm.quat())
    mover = fall(owner, BoxCollider((0.5, 1.0, 0.5)))
    assert owner.position[1] == 1.0
    owner.rotation = glm.angleAxis(glm.radians(90), glm.vec3(0, 0, 1))
    for _ in range(60):
        mover.update(FRAME)
    assert owner.position[1] == pytest.approx(0.5)


@pytest.mark.parametrize("kind", [glm.mat4, glm.dmat4, np.array])
def test_a_transform_wins_and_keeps_its_rotation(kind):
    turned = glm.translate(glm.vec3(10, 9, 10)) * glm.mat4_cast(glm.quat(glm.vec3(0, 1, 0)))
    given = kind(turned) * 1 if kind is not np.array else np.array(turned, dtype=np.float64)
    owner = SimpleNamespace(transform=given, position=glm.vec3(99, 99, 99))
    fall(owner, frames=180)
    assert type(owner.transform) is type(given)
    assert owner.position == glm.vec3(99, 99, 99)
    matrix = np.array(owner.transform, dtype=float)
    np.testing.assert_allclose(matrix[:3, 3], (10, 0.5, 10), atol=1e-6)
    np.testing.assert_array_equal(matrix[:3, :3], np.array(turned, dtype=float)[:3, :3])
    np.testing.assert_allclose(np.array(given, dtype=float)[:3, 3], (10, 9, 10))


def test_restore_puts_the_owner_back():
    owner = SimpleNamespace(position=(10.0, 3.0, 10.0))
    mover = fall(owner)
    saved = mover.state()
    mover.velocity.x = 4
    for _ in range(30):
        mover.update(FRAME)
    assert owner.position[0] > 10.4
    mover.restore(saved)
    assert owner.position == (10.0, 0.5, 10.0)


def test_restore_moves_an_owner_that_was_moved():
    owner = SimpleNamespace(position=(10.0, 3.0, 10.0))
    mover = fall(owner)
    saved = mover.state()
    owner.position = (20.0, 7.0, 20.0)
    mover.restore(saved)
    assert owner.position == (10.0, 0.5, 10.0)
    mover.update(FRAME)
    assert owner.position == (10.0, 0.5, 10.0)


def test_an_owner_that_keeps_to_bounds_is_obeyed():
    class Bounded:
        _position = glm.vec3(10, 0.5, 10)

        @property
        def position(self):
            return glm.vec3(self._position)

        @position.setter
        def position(self, value):
            self._position = glm.vec3(min(value.x, 10.2), value.y, value.z)

    owner = Bounded()
    mover = CharacterMovement(FLOOR, SphereCollider(0.5), owner=owner)
    for _ in range(60):
        mover.velocity.x = 4
        mover.update(FRAME)
    assert mover.position.x == pytest.approx(10.2)


def test_a_double_owner_keeps_large_worlds_exact():
    owner = SimpleNamespace(position=(1e9 + 0.125, 3.0, 10.0))
    mover = fall(owner)
    assert owner.position == (1e9 + 0.125, 0.5, 10.0)
    assert mover.position64 == owner.position


class TestBadOwners:
    @pytest.mark.parametrize(
        "owner",
        [
            SimpleNamespace(transform=np.eye(4).tolist()),
            SimpleNamespace(position=SimpleNamespace(x=1.0, y=2.0, z=3.0)),
        ],
    )
    def test_places_that_cannot_be_made_anew(self, owner):
        with pytest.raises(TypeError, match=r"owner\.(transform|position) must be"):
            CharacterMovement(FLOOR, SphereCollider(1), owner=owner)

    def test_junk_in_the_owner_changes_nothing(self):
        owner = SimpleNamespace(position=glm.vec3(10, 3, 10), rotation=glm.quat(), scale=1.0)
        mover = fall(owner, frames=3)
        before = mover.state_hash()
        for name, junk, message in (
            ("position", glm.vec3(0, float("nan"), 0), r"owner\.position\.y must be finite"),
            ("rotation", glm.mat3(3), r"owner\.rotation must be orthonormal"),
            ("scale", (1, float("inf"), 1), "owner.scale"),
            ("scale", 0.0, "scale must be nowhere zero"),
        ):
            good = getattr(owner, name)
            setattr(owner, name, junk)
            with pytest.raises(ValueError, match=message):
                mover.update(FRAME)
            assert mover.state_hash() == before
            setattr(owner, name, good)
        mover.update(FRAME)

    def test_a_shearing_owner_is_refused(self):
        owner = SimpleNamespace(
            position=(10, 3, 10), rotation=glm.quat(glm.vec3(0, 0, 0.7)), scale=glm.vec3(1, 2, 1)
        )
        fall(owner, BoxCollider((1, 1, 1)), frames=1)  # its own axes: no shear
        turned = BoxCollider((1, 1, 1), rotation=glm.quat(glm.vec3(0, 0, 0.7)))
        with pytest.raises(TypeError, match="shear"):
            fall(owner, turned, frames=1)

    def test_two_masters(self):
        owner = SimpleNamespace(position=(10, 3, 10), rotation=glm.quat())
        with pytest.raises(ValueError, match="position must be left to the owner"):
            CharacterMovement(FLOOR, SphereCollider(1), owner=owner, position=(0, 0, 0))
        with pytest.raises(ValueError, match="rotation must be left to the owner"):
            CharacterMovement(FLOOR, SphereCollider(1), owner=owner, rotation=glm.quat())
        mover = CharacterMovement(FLOOR, SphereCollider(1), owner=owner)
        with pytest.raises(ValueError, match="rotation must be left to the owner"):
            mover.rotation = glm.quat()


def test_a_copy_obeys_the_owner_as_well():
    owner = Node()
    mover = CharacterMovement(FLOOR, SphereCollider(0.5), owner=owner)
    other = copy.copy(mover)
    mover.update(FRAME)  # moves the owner, which the copy takes for the game's doing
    other.update(0.0)
    assert other.update(FRAME).seconds == FRAME
    assert other.position64[1] < mover.position64[1] < 3


class Watched:
    """An owner that counts how often it is moved."""

    def __init__(self):
        self._place, self.moves = (0.0, 2.0, 0.0), 0

    @property
    def position(self):
        return self._place

    @position.setter
    def position(self, value):
        self._place, self.moves = value, self.moves + 1


@pytest.mark.parametrize("elsewhere", [False, True])
def test_restoring_moves_the_owner_once(elsewhere):
    owner = Watched()
    mover = CharacterMovement(HeightMap(np.zeros((9, 9))), SphereCollider(0.5), owner=owner)
    state = mover.state()
    if elsewhere:
        owner.position = (3.0, 4.0, 5.0)
    else:
        mover.update(1 / 60)
    before = owner.moves
    mover.restore(state)
    assert (owner.moves - before, tuple(owner.position)) == (1, (0.0, 2.0, 0.0))

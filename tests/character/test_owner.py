"""Owners of every kind: their place is read, moved and obeyed."""

import copy
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)

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


class Sealed:
    """A sequence of a type that takes no numbers, and whose numbers cannot be set."""

    def __init__(self, parts):
        self._parts = tuple(parts)

    def __iter__(self):
        return iter(self._parts)


@dataclass
class Swapped:
    """A vector that is made from its coordinates in another order."""

    z: float
    y: float
    x: float


def put_place(owner, place):
    owner.place = place


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


@dataclass
class Component:
    """A component that is a position itself."""

    x: float
    y: float
    z: float


class Struct:
    """A vector or a matrix of raylib: its type is not called, its numbers can be set."""

    def __new__(cls, *numbers):
        if numbers:
            raise TypeError("cannot create instances")
        return super().__new__(cls)

    @classmethod
    def of(cls, **numbers):
        struct = cls()
        struct.__dict__.update(numbers)
        return struct


def test_an_owner_may_be_a_position_itself():
    for owner in (Component(10, 3, 10), Struct.of(x=10, y=3, z=10), glm.vec3(10, 3, 10)):
        fall(owner)
        assert (owner.x, owner.y, owner.z) == (10, 0.5, 10)


def test_a_vector_that_is_not_made_anew_is_written_to():
    place = Struct.of(x=10.0, y=3.0, z=10.0)
    owner = SimpleNamespace(position=place)
    fall(owner)
    assert owner.position is place
    assert (place.x, place.y, place.z) == (10, 0.5, 10)


class Entity(SimpleNamespace):
    """An entity of ursina: a transform of three vectors, angles for a rotation, left-handed."""

    @property
    def transform(self):
        return self.position, self.rotation, self.scale


class PandaNode:
    """A node of Panda3D: methods, +Z up."""

    def __init__(self, *place):
        self._place, self._scale = place, (1.0, 1.0, 1.0)

    def getPos(self):
        return Vector3(*self._place)

    def setPos(self, x, y, z):
        self._place = (x, y, z)

    def getHpr(self):
        return Vector3(10, 20, 30)

    def getScale(self):
        return Vector3(*self._scale)


def test_an_entity_of_ursina():
    entity = Entity(
        position=Vector3(10, 3, -10), rotation=Vector3(10, 20, 30), scale=Vector3(1, 2, 1)
    )
    mover = fall(entity, CapsuleCollider(0.4, 1.8), axes="y-up-left")
    assert mover.position64 == (10, pytest.approx(1.8), 10)
    assert entity.position.as_tuple() == (10, mover.position64[1], -10)
    assert entity.rotation.as_tuple() == (10, 20, 30)
    entity.position = Vector3(12, 1.8, -20)
    mover.update(FRAME)
    assert mover.position64 == (12, pytest.approx(1.8), 20)


def test_a_node_of_panda3d():
    node = PandaNode(10, -10, 3)
    mover = fall(node, SphereCollider(0.5, offset=(0, 0.25, 0)), axes="z-up")
    assert mover.position64 == (10, 0.25, 10)
    assert node._place == (10, -10, 0.25)
    node._scale = (1.0, 1.0, 2.0)  # upwards: the ball grows with the largest, its offset too
    for _ in range(60):
        mover.update(FRAME)
    assert node._place == (10, -10, 0.5)
    with pytest.raises(TypeError, match="for a box"):
        fall(node, BoxCollider((1, 1, 1)), axes="z-up")


def test_panda3d_writes_quaternions_w_first():
    turn = glm.angleAxis(0.7, glm.normalize(glm.vec3(1, 2, 3)))

    class LQuaternion:
        x, y, z, w = turn.w, turn.x, turn.y, turn.z

        def getR(self):
            return self.x

    mover = CharacterMovement(FLOOR, SphereCollider(1), rotation=LQuaternion())
    np.testing.assert_allclose(np.array(mover.rotation), np.array(glm.mat3_cast(turn)), atol=1e-6)


@pytest.mark.parametrize(
    ("axes", "turned"),
    [
        ("y-up", ((0, 1, 0), (10, 3, 10))),
        ("z-up", ((0, 0, 1), (10, -10, 3))),
        ("y-up-left", ((0, -1, 0), (10, 3, -10))),  # left-handed axes turn the other way
    ],
)
def test_a_rotation_in_other_axes_turns_the_same_box(axes, turned):
    axis, place = turned
    by = glm.angleAxis(0.5, glm.vec3(axis))
    ours = glm.angleAxis(0.5, glm.vec3(0, 1, 0))
    for owner in (
        SimpleNamespace(position=place, rotation=by),
        SimpleNamespace(transform=glm.translate(glm.vec3(place)) * glm.mat4_cast(by)),
    ):
        mover = CharacterMovement(FLOOR, BoxCollider((1, 2, 3)), owner=owner, axes=axes)
        np.testing.assert_allclose(
            np.array(mover.rotation), np.array(glm.mat3_cast(ours)), atol=1e-6
        )
        assert mover.position64 == (10, 3, 10)


@pytest.mark.parametrize("axes", ["y-up", "z-up", "y-up-left"])
@pytest.mark.parametrize("kind", ["quat", "mat3", "array", "rows", "vectors", "tuple", "struct"])
def test_the_ground_turns_its_owner_along_in_its_type_and_axes(axes, kind):
    class Quaternion(NamedTuple):
        w: float
        x: float
        y: float
        z: float

    whole = glm.quat()
    rotation: Any = {
        "quat": whole,
        "mat3": glm.mat3(),
        "array": np.eye(3),
        "rows": np.eye(3).tolist(),
        "vectors": (glm.vec3(1, 0, 0), glm.vec3(0, 1, 0), glm.vec3(0, 0, 1)),
        "tuple": Quaternion(1, 0, 0, 0),
        "struct": Struct.of(w=1.0, x=0.0, y=0.0, z=0.0),
    }[kind]
    place = {"y-up": (10, 0.7, 10), "z-up": (10, -10, 0.7), "y-up-left": (10, 0.7, -10)}[axes]
    up = {"y-up": (0, 1, 0), "z-up": (0, 0, 1), "y-up-left": (0, -1, 0)}[axes]
    owner = SimpleNamespace(position=place, rotation=rotation)
    ground = Ground([HeightMap(np.zeros((40, 40)))])
    table = ground.add(TriangleMesh.box((6, 0.4, 6)))
    ground.move(table, ((10, 0, 10), glm.quat()))
    mover = CharacterMovement(
        ground, SphereCollider(0.5), owner=owner, axes=axes, turn_with_ground=True
    )
    for frame in range(31):
        turn = glm.angleAxis(0.02 * frame, glm.vec3(0, 1, 0))
        ground.move(table, ((10, 0, 10), turn), FRAME)
        mover.update(FRAME)
    expected = np.array(glm.mat3_cast(glm.angleAxis(0.6, glm.vec3(up))))
    assert type(owner.rotation) is type(rotation)
    again = CharacterMovement(FLOOR, SphereCollider(1), rotation=owner.rotation)
    np.testing.assert_allclose(np.array(again.rotation), expected, atol=1e-5)


@pytest.mark.parametrize("rotation", [0.0, 30, glm.vec3(10, 20, 30), (10, 20, 30), "north"])
def test_a_rotation_of_another_kind_leaves_round_bodies_upright(rotation):
    owner = SimpleNamespace(position=(10, 3, 10), rotation=rotation)
    fall(owner, CapsuleCollider(0.4, 1.8))
    assert owner.position[1] == pytest.approx(0.9)
    assert owner.rotation is rotation


def test_a_transform_that_is_no_matrix_leaves_the_position():
    for transform in (None, (1, 2, 3), np.eye(3), "home", SimpleNamespace(position=1)):
        owner = SimpleNamespace(position=(10.0, 3.0, 10.0), transform=transform)
        fall(owner)
        assert owner.position == (10, 0.5, 10)
        assert owner.transform is transform


class Mat4(NamedTuple("Mat4", [(f"m{k}_", float) for k in range(16)])):  # type: ignore[misc]
    """A matrix of pyglet: 16 numbers column by column."""


@pytest.mark.parametrize("name", ["transform", "matrix"])
@pytest.mark.parametrize("kind", ["rows", "flat", "array", "named", "struct", "pyrr"])
def test_a_matrix_of_another_kind_keeps_its_type_and_its_rotation(name, kind):
    class Matrix44(np.ndarray[Any, Any]):
        m11 = 1.0  # pyrr's, for row vectors

    turned = glm.translate(glm.dvec3(10, 9, 10)) * glm.mat4_cast(glm.dquat(glm.dvec3(0, 1, 0)))
    rows = np.array(turned)
    by_columns = rows.T.ravel().tolist()
    given: Any = {
        "rows": tuple(map(tuple, rows.tolist())),
        "flat": by_columns,
        "array": np.array(by_columns, dtype=np.float32),
        "named": Mat4(*by_columns),
        "struct": Struct.of(**{f"m{k}": number for k, number in enumerate(by_columns)}),
        "pyrr": rows.T.copy().view(Matrix44),
    }[kind]
    owner = SimpleNamespace(**{name: given})
    mover = fall(owner, frames=180)
    now = getattr(owner, name)
    assert type(now) is type(given)
    numbers = [getattr(now, f"m{k}") for k in range(16)] if kind == "struct" else np.ravel(now)
    expected = rows.copy()
    expected[:3, 3] = 10, 0.5, 10
    wanted = expected if kind == "rows" else expected.T
    np.testing.assert_allclose(numbers, wanted.ravel(), atol=1e-6)
    np.testing.assert_allclose(np.array(mover.rotation), rows[:3, :3], atol=1e-6)


class TestSeenFromAbove:
    """A sprite's position has two numbers; the character has the height."""

    HILL = HeightMap(
        np.add.outer(np.zeros(40), np.minimum(np.arange(40) * 0.1, 2)), origin=(0, 0, -20)
    )

    @pytest.mark.parametrize(
        "place", [(5.0, 3.0), [5.0, 3.0], glm.vec2(5, 3), np.array([5.0, 3.0])]
    )
    def test_it_starts_on_the_ground_and_goes_along(self, place):
        owner = SimpleNamespace(position=place, scale=(2.0, 2.0))
        mover = CharacterMovement(self.HILL, SphereCollider(0.5), owner=owner)
        assert mover.position64 == pytest.approx((5.0, 1.0, 3.0))
        for _ in range(60):
            mover.walk(0.0, 2.0)
            mover.update(FRAME)
        assert type(owner.position) is type(place)
        assert list(owner.position) == pytest.approx([5.0, 5.0], abs=1e-3)
        mover.velocity.y = 5
        mover.update(FRAME)
        assert not mover.grounded  # the sprite takes no jump away
        owner.position = type(place)((6.0, 5.0)) if not isinstance(place, np.ndarray) else place
        mover.update(FRAME)
        assert mover.position64[1] > 1.05

    @pytest.mark.parametrize(
        "body",
        [
            SphereCollider(0.5),
            CapsuleCollider(0.4, 1.8, offset=(0, 0.2, 0)),
            BoxCollider((0.5, 0.75, 0.5)),
        ],
    )
    def test_it_rests_where_it_starts(self, body):
        owner = SimpleNamespace(position=(5.0, -3.0))
        mover = CharacterMovement(FLOOR, body, owner=owner, axes="z-up")
        start = mover.position64
        assert mover.update(FRAME).grounded
        assert mover.position64 == pytest.approx(start, abs=1e-9)
        assert start[::2] == (5.0, 3.0)


class TestFunctions:
    """An object that is no owner by itself is read and written by functions."""

    def test_they_are_handed_the_owner(self):
        table = {7: (10.0, -10.0, 3.0)}

        def write(key, place):
            table[key] = place

        mover = fall(7, axes="z-up", read=lambda key: table[key], write=write)
        assert table[7] == (10.0, -10.0, 0.5)
        assert mover.position64 == (10.0, 0.5, 10.0)

    def test_write_alone_shows_where_the_character_is(self):
        pixels = SimpleNamespace(rect=(0, 0), rotation=30.0)

        def show(owner, place):
            owner.rect = round(32 * place[0]), round(32 * place[2])

        turn = glm.angleAxis(0.3, glm.vec3(0, 1, 0))
        mover = CharacterMovement(
            FLOOR, BoxCollider((0.5, 0.5, 0.5)), position=(3, 0.5, 5), rotation=turn,
            owner=pixels, write=show,
        )  # fmt: skip
        assert pixels.rect == (96, 160)
        for _ in range(60):
            mover.walk(0.25, 0)
            mover.update(FRAME)
        assert mover.position64 == pytest.approx((3.25, 0.5, 5))
        assert pixels.rect == (104, 160)
        pixels.rect = (0, 0)
        mover.teleport((4, 0.5, 5))
        assert pixels.rect == (128, 160)
        assert copy.copy(mover).position64 == (4, 0.5, 5)

    def test_read_may_give_two_numbers(self):
        owner = SimpleNamespace(place=(10.0, 0.0, 10.0))
        mover = CharacterMovement(
            FLOOR, SphereCollider(0.5), owner=owner,
            read=lambda it: (it.place[0], it.place[2]), write=put_place,
        )  # fmt: skip
        mover.walk(6, 0)
        mover.update(FRAME)
        assert owner.place == pytest.approx((10.1, 0.5, 10.0))


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
            SimpleNamespace(transform=Sealed(range(4))),
            SimpleNamespace(transform=(1.0, 2.0, 3.0)),
            SimpleNamespace(rect=(0, 0, 32, 32), x=0, y=0),
            SimpleNamespace(position=Sealed((1.0, 2.0, 3.0))),
            SimpleNamespace(position=Swapped(1.0, 2.0, 3.0)),
            Point(1.0, 2.0, 3.0),
            3,
        ],
    )
    def test_places_that_cannot_be_made_anew(self, owner):
        with pytest.raises(TypeError, match=r"owner(\.position)? must (be|have|let)"):
            CharacterMovement(FLOOR, SphereCollider(1), owner=owner)

    def test_a_matrix_whose_type_takes_no_numbers(self):
        class Rows:
            def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
                return np.eye(4, dtype=dtype)

            def __iter__(self) -> Any:
                return iter(np.eye(4))

        with pytest.raises(
            TypeError, match=r"owner\.transform must be of a type made from numbers"
        ):
            CharacterMovement(FLOOR, SphereCollider(1), owner=SimpleNamespace(transform=Rows()))

    def test_a_translation_in_the_last_row(self):
        owner = SimpleNamespace(transform=np.array(glm.translate(glm.vec3(1, 2, 3))).T)
        with pytest.raises(ValueError, match=r"got last row .*: a translation belongs in the last"):
            CharacterMovement(FLOOR, SphereCollider(1), owner=owner)

    @pytest.mark.parametrize(
        "turned",
        [
            {"rotation": 0.0},
            {"rotation": glm.vec3(0)},
            {"rotation": (0.0, 0.0, 0.0)},
            {"rotation": "north"},
            {"angle": 0},
        ],
    )
    def test_boxes_need_a_rotation_that_is_one(self, turned):
        owner = SimpleNamespace(position=(10, 3, 10), **turned)
        with pytest.raises(TypeError, match=r"a quaternion or a 3 x 3 matrix for a box, got"):
            CharacterMovement(FLOOR, BoxCollider((1, 1, 1)), owner=owner)

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            (
                {"axes": "z-down"},
                ValueError,
                "axes must be one of 'y-up', 'z-up', 'y-up-left', got",
            ),
            ({"read": len}, TypeError, "read must come with write"),
            ({"write": 3}, TypeError, "write must be a function, got 3"),
            ({"read": "x", "write": len}, TypeError, "read must be a function, got 'x'"),
            ({"owner": None, "write": len}, TypeError, "write must come with an owner"),
            ({"owner": None, "read": len}, TypeError, "read must come with an owner"),
            ({"owner": None, "axes": "z-up"}, TypeError, "axes must come with an owner"),
        ],
    )
    def test_arguments_that_do_not_fit(self, arguments, error, message):
        given = {"owner": SimpleNamespace(position=(1, 2, 3))} | arguments
        with pytest.raises(error, match=message):
            CharacterMovement(FLOOR, SphereCollider(1), **given)

    def test_what_read_returns(self):
        owner = SimpleNamespace(place=(1.0, 2.0, 3.0))
        hero = CharacterMovement(
            FLOOR, SphereCollider(1), owner=owner, read=lambda it: it.place, write=put_place
        )
        before = hero.state_hash()
        owner.place = None
        with pytest.raises(TypeError, match="what read returns must be three numbers, got None"):
            hero.update(FRAME)
        assert hero.state_hash() == before

    def test_two_numbers_without_ground_below(self):
        island = TriangleMesh.box((4, 2, 4))
        with pytest.raises(
            ValueError, match=r"owner\.position must be over ground.*\(9\.0, 9\.0\)"
        ):
            CharacterMovement(island, SphereCollider(1), owner=SimpleNamespace(position=(9, 9)))

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

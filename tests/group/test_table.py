"""A group as a table: many come, go and begin anew at once, rules as arrays, keys as of a dict."""

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    GroupMember,
    HeightMap,
    Recording,
    SphereCollider,
    replay,
)
from terrain_physics.character.colliders import Collider
from terrain_physics.character.rule import RULES
from tests.helpers.characters import FLOOR, FRAME, ROUGH
from tests.helpers.examples import examples

WALKER = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
BODIES: tuple[Collider, ...] = (WALKER, SphereCollider(0.5), BoxCollider((0.3, 0.8, 0.4)))
NAMES = ("ada", "bob", 7, "1", 1)

# Values of each rule that are good, and one that is not, with the words of its error.
VALUES: dict[str, tuple[list[Any], Any, str]] = {
    "gravity": ([9.81, 0.0, 3.5], -1.0, "must be >= 0"),
    "gravity_scale": ([1.0, -2.0, 0.25], np.nan, "must be finite, got nan"),
    "slope_limit": ([0.5, 0.0, 1.25], 45.0, "must be from 0 to pi / 2 .* math.radians"),
    "ground_rule": (["contact", "sum", "sum"], "sun", "must be one of 'contact', 'sum'"),
    "ground_friction": ([20.0, 0.0, 1e9], np.inf, "must be finite and >= 0"),
    "resolver": (["simultaneous", "shuffled", "shuffled"], "", "must be one of 'shuffled'"),
    "snap_distance": ([0.0, 0.3, 1.0], -0.5, "must be finite and >= 0"),
    "step_offset": ([0.4, 0.0, 0.3], -0.5, "must be finite and >= 0"),
    "slope_speed": (["surface", "horizontal", "surface"], "up", "must be one of 'horizontal'"),
    "max_rounds": ([1, 16, 1000], 0, "must be from 1 to 1000, got 0"),
    "mask": ([0, 1, 0xFFFF_FFFF], -1, "must be from 0 to 4294967295, got -1"),
    "leave": (["velocity", "none", "up"], "down", "must be one of 'velocity'"),
    "turn_with_ground": ([True, False, True], 1, "must be True or False, got 1"),
    "mass": ([80.0, np.inf, 0.5], 0.0, "must be finite and > 0, got 0.0"),
    "layers": ([1, 0, 0xFFFF_FFFF], 2**32, "must be from 0 to 4294967295, got 4294967296"),
    "keep_off_ledges": ([True, False, True], 0, "must be True or False, got 0"),
}


def places(count, height=3.0):
    numbers = np.arange(count)
    return np.column_stack(
        [5.3 + numbers % 8 * 3.1, height + 0.1 * numbers, 6 + numbers // 8 * 3.1]
    )


def crowd(ground=ROUGH, count=3, **rules):
    group = CharacterGroup(ground, WALKER, seed=5, **rules)
    group.add_many(NAMES[:count], places(count))
    return group


def walked(group, frames=40):
    for frame in range(frames):
        group.walk(2.0, np.linspace(-1, 1, len(group)) * np.cos(frame / 9))
        group.update(FRAME)
    return group


class TestMapping:
    def test_it_is_one(self):
        group = crowd()
        assert isinstance(group, Mapping)
        assert list(group) == list(group.keys()) == ["ada", "bob", 7]
        assert "bob" in group.keys()  # noqa: SIM118 of the view
        assert len(group.values()) == len(group.items()) == 3
        assert [member.key for member in group.values()] == ["ada", "bob", 7]
        assert all(isinstance(member, GroupMember) for member in group.values())
        assert [(key, member.position64) for key, member in group.items()] == [
            (key, group[key].position64) for key in group
        ]
        assert (group.get("eve"), group.get("eve", 3)) == (None, 3)
        member = group.get("bob")
        assert member is not None
        assert member.position64 == group["bob"].position64

    def test_views_follow_the_group(self):
        group = crowd()
        keys = group.keys()
        group.remove("ada")
        group.add("eve", (5, 3, 5))
        assert list(keys) == ["bob", 7, "eve"]
        for key in group:  # the keys as they were
            group.remove(key)
        assert not group

    def test_two_groups_are_two(self):
        one, two = crowd(), crowd()
        assert one == one
        assert one != two
        assert len({one, two, one}) == 2


class TestComingAndGoing:
    @pytest.mark.parametrize("body", BODIES)
    def test_many_are_as_one_by_one(self, body):
        count = 12
        keys = [f"orc {i}" if i % 3 else i for i in range(count)]
        speeds = np.random.default_rng(1).normal(0, 3, (count, 3))
        turns = [glm.angleAxis(0.3 * i, glm.normalize(glm.vec3(1, 2, 0.1))) for i in range(count)]
        limits: Any = np.linspace(0.4, 1.2, count)
        words: list[Any] = ["shuffled", "simultaneous"] * (count // 2)
        ice = {"ice": {"friction": 0.1}}
        many, single = (CharacterGroup(ROUGH, body, seed=9, gravity=8) for _ in range(2))
        many.add_many(
            keys,
            places(count),
            velocities=speeds,
            rotations=turns,
            slope_limit=limits,
            resolver=words,
            step_offset=0.2,
            material_rules=ice,
        )
        for i, key in enumerate(keys):
            single.add(
                key,
                places(count)[i],
                velocity=speeds[i],
                rotation=turns[i],
                slope_limit=limits[i],
                resolver=words[i],
                step_offset=0.2,
                material_rules=ice,
            )
        assert many.state() == single.state()
        assert walked(many).state() == walked(single).state()
        assert pickle.loads(pickle.dumps(many)).state() == copy.copy(many).state() == many.state()

    @given(
        st.lists(st.one_of(st.integers(), st.text()), unique=True, max_size=12),
        st.integers(0, 12),
        st.booleans(),
        st.integers(0, 2**64 - 1),
    )
    @examples(60)
    def test_in_any_pieces(self, keys, cut, is_driven, seed):
        groups = [CharacterGroup(FLOOR, WALKER, seed=seed) for _ in range(3)]
        where = places(len(keys))
        speeds = -where if is_driven else None
        groups[0].add_many(iter(keys), where, velocities=speeds)
        for part in (slice(cut), slice(cut, None)):
            own = None if speeds is None else speeds[part]
            groups[1].add_many(keys[part], where[part].tolist(), velocities=own)
        for i, key in enumerate(keys):
            groups[2].add(key, where[i], velocity=None if speeds is None else speeds[i])
        assert groups[0].state() == groups[1].state() == groups[2].state()
        gone = keys[::2]
        groups[0].remove_many(iter(gone))
        for key in gone:
            groups[1].remove(key)
        assert groups[0].state() == groups[1].state()
        assert list(groups[0]) == keys[1::2]
        groups[0].add_many(gone, where[::2])
        assert list(groups[0]) == keys[1::2] + gone
        assert np.array_equal(groups[0].positions, np.vstack([where[1::2], where[::2]]))

    def test_seeds(self):
        group = CharacterGroup(FLOOR, WALKER, seed=5)
        group.add_many("ab", places(2), seeds=[2**64 - 1, np.random.default_rng(3)])
        alone = [
            CharacterMovement(FLOOR, WALKER, position=places(2)[0], seed=2**64 - 1),
            CharacterMovement(FLOOR, WALKER, position=places(2)[1], seed=np.random.default_rng(3)),
        ]
        assert [m.state_hash() for m in group.values()] == [m.state_hash() for m in alone]

    def test_arrays_of_keys_and_rotations(self):
        group = CharacterGroup(FLOOR, WALKER)
        turns = np.array([[[0, 0, 1], [0, 1, 0], [-1, 0, 0]], np.eye(3)])
        group.add_many(np.array([4, 2]), places(2).astype(np.float32), rotations=turns)
        assert list(group) == [4, 2]
        assert all(type(key) is int for key in group)
        assert group[4].rotation == glm.mat3(0, 0, -1, 0, 1, 0, 1, 0, 0)
        assert group[2].rotation == glm.mat3(1)
        group.remove_many(np.array([4]))
        assert list(group) == [2]

    def test_none(self):
        group = crowd()
        before = group.state()
        group.add_many([], [])
        group.add_many([], np.empty((0, 3)), rotations=[], seeds=[], gravity=[], leave=[])
        group.remove_many([])
        assert group.state() == before

    @pytest.mark.parametrize(
        ("change", "error", "message"),
        [
            ({"keys": ["x", "ada"]}, ValueError, "^key must be new, got 'ada' again$"),
            ({"keys": ["x", "x"]}, ValueError, "^key must be new, got 'x' again$"),
            ({"keys": ["x", True]}, TypeError, "^key must be a str or an int, got True$"),
            ({"keys": ["x", 1.0]}, TypeError, "^key must be a str or an int, got 1.0$"),
            ({"keys": 3}, TypeError, "^keys must be iterable, got 3$"),
            ({"keys": ["x"]}, ValueError, r"^positions must have shape \(1, 3\), got \(2, 3\)$"),
            (
                {"positions": [(0, 0, 0), (0, np.nan, 0)]},
                ValueError,
                r"^'orc 7': position must be finite, got \[0.0, nan, 0.0\]$",
            ),
            ({"positions": "ab"}, TypeError, "^positions must hold real numbers"),
            (
                {"velocities": [(np.inf, 0, 0), (0, 0, 0)]},
                ValueError,
                r"^'x': velocity must be finite, got \[inf, 0.0, 0.0\]$",
            ),
            ({"velocities": (1, 2, 3)}, ValueError, r"^velocities must have shape \(2, 3\)"),
            (
                {"collider": 3},
                TypeError,
                "^collider must be a SphereCollider, a BoxCollider or a CapsuleCollider, got 3$",
            ),
            ({"collider": SphereCollider(1e7)}, ValueError, "^collider and scale must cover"),
            (
                {"collider": SphereCollider(1e7), "rotations": [glm.quat(), glm.quat()]},
                ValueError,
                "^'x': collider and scale must cover",
            ),
            ({"rotations": [glm.quat()]}, ValueError, "^rotations must be 2, one for each, got 1$"),
            (
                {"rotations": [glm.quat(), glm.mat3(2)]},
                ValueError,
                "^'orc 7': rotation must be orthonormal",
            ),
            ({"seeds": [1]}, ValueError, "^seeds must be 2, one for each, got 1$"),
            ({"seeds": [1, -1]}, ValueError, "^'orc 7': seed must be from 0"),
            ({"seeds": 5}, TypeError, "^seeds must be iterable, got 5$"),
            ({"gravity": -1}, ValueError, "^gravity must be >= 0"),
            ({"gravity": [1, -1]}, ValueError, "^'orc 7': gravity must be >= 0"),
            (
                {"gravity": [1, 2, 3]},
                ValueError,
                r"^gravity must be one value or have shape \(2,\)",
            ),
            ({"gravity": [1, [2, 3]]}, ValueError, r"^gravity must be one value or have shape"),
            ({"material_rules": 3}, TypeError, "^material_rules must be a mapping"),
            ({"speed": 3}, TypeError, "^rules must be of gravity, .*, got 'speed'"),
        ],
    )
    def test_bad_input_changes_nothing(self, change, error, message):
        group = walked(crowd())
        before, twin = group.state(), copy.copy(group)
        with pytest.raises(error, match=message):
            group.add_many(**({"keys": ["x", "orc 7"], "positions": places(2)} | change))
        assert group.state() == before
        for one in (group, twin):
            one.add_many(["y", "z"], places(2) + 1)
        assert walked(group).state() == walked(twin).state()

    def test_a_bad_key_removes_nobody(self):
        group = crowd()
        before = group.state()
        for keys, error, message in (
            (["ada", "eve"], KeyError, "no character has the key 'eve'"),
            (["ada", 7, "ada"], ValueError, "keys must be different, got 'ada' twice"),
            (["ada", None], TypeError, "key must be a str or an int, got None"),
            (7, TypeError, "keys must be iterable, got 7"),
        ):
            with pytest.raises(error, match=message):
                group.remove_many(keys)
            assert group.state() == before

    def test_where_few_come_and_as_many_go_memory_stays(self):
        group = CharacterGroup(FLOOR, WALKER)
        group.add_many(range(100), places(100))
        for turn in range(100, 3000):
            group.remove(turn - 100)
            group.add(turn, (turn, 0, 0))
        assert group.positions[:, 0].tolist() == list(range(2900, 3000))
        assert len(group._data._room.state) <= 1000

    def test_a_recording_knows_who_came(self):
        def begin():
            return CharacterGroup(ROUGH, WALKER)

        group = begin()
        recording = Recording(group)
        for frame in range(12):
            if frame == 3:
                group.add_many("abc", places(3), slope_limit=[0.5, 0.6, 0.7])
            if frame == 6:
                group.set_rules(gravity_scale=[1, 2], keys="ab")
                group.reset(places(1), keys="c")
            if frame == 9:
                group.remove_many("ab")
            group.walk(1.0, 2.0)
            recording.update(FRAME)
        assert replay(recording, begin) is None


class TestReset:
    def test_as_each_alone(self):
        group = walked(crowd())
        alone = {
            key: CharacterMovement(ROUGH, WALKER, position=places(3)[i], seed=group.seed_of(key))
            for i, key in enumerate(group)
        }
        there, speeds = places(3) + np.array([1, 0, 2]), [(0, 0, 0), (1, 0, 0), (0, -3, 1)]
        group.reset(there, speeds, seeds=None)
        for place, speed, mover in zip(there, speeds, alone.values(), strict=True):
            mover.update(FRAME)
            mover.reset(place, speed)
        for _ in range(90):
            assert dict(group.hashes()) == {key: m.state_hash() for key, m in alone.items()}
            group.update(FRAME)
            for mover in alone.values():
                mover.update(FRAME)

    def test_some_with_generators(self):
        group = walked(crowd())
        group.reset(places(2), keys=[7, "ada"], seeds=[3, np.random.default_rng(1)])
        draw = int(np.random.default_rng(1).integers(0, 2**64, dtype=np.uint64))
        assert group[7].state().random_state == 3
        assert group["ada"].state().random_state == draw
        assert group.positions[[2, 0]].tolist() == places(2).tolist()
        assert not group.hits().character.tolist() or set(group.hits().character) == {1}

    def test_bad_seeds_change_nothing(self):
        group = walked(crowd())
        before = group.state()
        with pytest.raises(ValueError, match=r"^'bob': seed must be from 0"):
            group.reset(places(3), seeds=[1, -1, 2])
        with pytest.raises(ValueError, match=r"^'bob': position must be finite"):
            group.reset([(0, 0, 0), (0, 0, np.inf), (0, 0, 0)])
        assert group.state() == before


class TestWalking:
    def test_who_falls_goes_on_falling(self):
        """With all three set in each frame, they would hover."""
        group = CharacterGroup(FLOOR, WALKER)
        group.add_many("ab", [(10, 9, 10), (20, 9, 10)])
        for _ in range(30):
            group.walk([3, 0], 1)
            group.update(FRAME)
        assert group.velocities[:, 1] == pytest.approx(-9.81 / 2)
        assert group.positions[:, 1] == pytest.approx(9 - 9.81 / 8)
        assert group.positions[:, 0] == pytest.approx([11.5, 20])
        assert group.positions[:, 2] == pytest.approx(10.5)

    def test_a_jump_is_kept_and_who_stands_stands(self):
        group = CharacterGroup(FLOOR, WALKER)
        group.add_many("ab", [(10, 0, 10), (20, 0, 10)])
        group.update(FRAME)
        assert group.grounded.all()
        group["a"].velocity.y = 5
        for _ in range(10):
            group.walk(2, 0)
            group.update(FRAME)
        assert group.velocities.tolist() == [[2, pytest.approx(5 - 9.81 / 6), 0], [2, 0, 0]]
        assert group.grounded.tolist() == [False, True]

    def test_as_each_alone(self):
        """A member, a group and one alone; what the game has just written counts."""
        group = crowd(count=5)
        alone = {
            key: CharacterMovement(ROUGH, WALKER, position=place, seed=group.seed_of(key))
            for key, place in zip(group, places(5), strict=True)
        }
        for frame in range(120):
            vx, vz = np.random.default_rng(frame).normal(0, 2, (2, 5))
            group.walk(vx[:4], vz[:4], keys=NAMES[:4])
            group[1].walk(vx[4], vz[4])
            for i, mover in enumerate(alone.values()):
                if frame % 30 == i:
                    group[NAMES[i]].velocity.y = 4
                    mover.velocity.y = 4
                mover.velocity.x = 99
                mover.walk(vx[i], vz[i])
                mover.update(FRAME)
            group.update(FRAME)
            assert dict(group.hashes()) == {key: m.state_hash() for key, m in alone.items()}

    def test_it_drives(self):
        group = crowd(FLOOR, 2)
        other = crowd(FLOOR, 2)
        for _ in range(60):
            group.update(FRAME)
            other.update(FRAME)
        for _ in range(30):
            group.walk([1, 0], -0.0)
            other.set_velocities([(1, 0, 0), (0, 0, 0)])
            group.update(FRAME)
            other.update(FRAME)
            assert group.state() == other.state()

    def test_bad_input_changes_nothing(self):
        group, mover = walked(crowd()), CharacterMovement(FLOOR, WALKER, position=(5, 1, 5))
        before = group.state(), mover.state()
        for arguments, error, message in (
            (([1, np.nan, 2], 0), ValueError, "^'bob': vx must be finite, got nan$"),
            ((0, np.inf), ValueError, "^vz must be finite, got inf$"),
            (([1, 2], 0), ValueError, r"^vx must be a number or have shape \(3,\), got \(2,\)$"),
            ((0, "1"), TypeError, "^vz must hold real numbers"),
            ((0, 0, ["eve"]), KeyError, "no character has the key 'eve'"),
        ):
            with pytest.raises(error, match=message):
                group.walk(*arguments)
        with pytest.raises(ValueError, match=r"^vx must be finite, got nan$"):
            mover.walk(np.nan, 0)
        with pytest.raises(TypeError, match=r"^walk\(vx, vz\) takes two numbers"):
            group["ada"].walk(0, None)
        assert (group.state(), mover.state()) == before
        mover.velocity.y = np.nan
        with pytest.raises(ValueError, match=r"^velocity\.y must be finite, got nan$"):
            mover.walk(1, 1)


class TestRules:
    def test_all_have_values_here(self):
        assert VALUES.keys() == RULES.keys()

    @pytest.mark.parametrize("name", VALUES)
    def test_as_member_by_member(self, name):
        values = VALUES[name][0]
        group, other = walked(crowd()), walked(crowd())
        for _ in range(120):  # to rest
            group.update(FRAME)
            other.update(FRAME)
        group.set_rules(**{name: values})
        for member, value in zip(other.values(), values, strict=True):
            setattr(member, name, value)
        assert group.state() == other.state()
        found = group.rules(name)
        assert found.tolist() == [getattr(member, name) for member in group.values()] == values
        assert not found.flags.writeable
        assert walked(group, 9).state() == walked(other, 9).state()
        group.set_rules(**{name: values[1]}, keys=["bob", 7])
        for key in ("bob", 7):
            setattr(other[key], name, values[1])
        assert group.rules(name, keys=[7, "ada"]).tolist() == [values[1], values[0]]
        assert walked(group, 9).state() == walked(other, 9).state()

    @pytest.mark.parametrize("name", VALUES)
    def test_bad_values_change_nothing(self, name):
        values, bad, message = VALUES[name]
        group = walked(crowd())
        before = group.state()
        with pytest.raises((TypeError, ValueError), match=f"^'bob': {name} {message}"):
            group.set_rules(**{"gravity": 3, name: [values[0], bad, values[2]]})
        with pytest.raises((TypeError, ValueError), match=f"^{name} {message}"):
            group.set_rules(**{"gravity": 3, name: bad})
        for odd in (object(), [None] * 3, [[1], [2], [3]], {}, np.array(["1", "2", "3"]), b"x"):
            with pytest.raises((TypeError, ValueError), match=f"(^|: ){name} must be"):
                group.set_rules(**{name: odd})
        assert group.state() == before

    @pytest.mark.parametrize("name", ["gravity", "slope_limit", "max_rounds", "mask"])
    def test_any_type_of_array(self, name):
        group = crowd()
        for kind in (np.int8, np.uint64, object):
            group.set_rules(**{name: np.array([1, 1, 1], dtype=kind)})
            assert group.rules(name).tolist() == [1, 1, 1]
        masked = np.ma.masked_array([1, 1, 1], [False, True, False])
        with pytest.raises(ValueError, match=f"{name} must be unmasked"):
            group.set_rules(**{name: masked})

    def test_only_who_has_another_rule_wakes(self):
        group = crowd(FLOOR)
        for _ in range(120):
            group.update(FRAME)
        state = group.state()
        group.set_rules(gravity=[9.81, 5, 9.81], mask=0xFFFF_FFFF)
        changed = [a.values != b.values for a, b in zip(
            (m.state() for m in group.values()), _states(state), strict=True
        )]  # fmt: skip
        assert changed == [False, True, False]

    def test_material_rules_are_one_mapping(self):
        group, other = crowd(), crowd()
        ice = {"ice": {"friction": 0.5}}
        group.set_rules(material_rules=ice, gravity=[1, 2], keys=["bob", "ada"])
        other["ada"].material_rules = other["bob"].material_rules = ice
        other["bob"].gravity, other["ada"].gravity = 1, 2
        assert group.state() == other.state()
        group.set_rules(material_rules={})
        assert not group["ada"].material_rules
        before = group.state()
        with pytest.raises(ValueError, match=r"^gravity must be >= 0"):
            group.set_rules(material_rules=ice, gravity=-1)
        with pytest.raises(TypeError, match=r"^material_rules must be a mapping"):
            group.set_rules(material_rules=[ice] * 3)
        assert group.state() == before

    def test_names(self):
        group = crowd()
        with pytest.raises(TypeError, match="got 'slope_limits'; did you mean slope_limit"):
            group.set_rules(slope_limits=1)
        with pytest.raises(ValueError, match=r"^name must be one of 'gravity', .*, got 'speed'"):
            group.rules("speed")
        with pytest.raises(KeyError, match="eve"):
            group.rules("mask", keys=["eve"])
        with pytest.raises(KeyError, match="eve"):
            group.set_rules(mask=1, keys=["ada", "eve"])

    def test_copies_and_saves_have_them(self):
        group = crowd()
        group.set_rules(slope_limit=[0.1, 0.2, 0.3], leave=["up", "none", "velocity"])
        other = CharacterGroup(ROUGH, WALKER)
        other.restore(pickle.loads(pickle.dumps(group.state())))
        again = type(group.state()).from_dict(group.state().to_dict())
        third = CharacterGroup(ROUGH, WALKER)
        third.restore(again)
        for one in (other, third, copy.deepcopy(group)):
            assert one.rules("slope_limit").tolist() == [0.1, 0.2, 0.3]
            assert one.rules("leave").tolist() == ["up", "none", "velocity"]
            assert walked(copy.copy(one)).state() == walked(copy.copy(group)).state()


def _states(state):
    group = CharacterGroup(FLOOR, WALKER)
    group.restore(state)
    return [member.state() for member in group.values()]


def test_a_group_on_flat_ground_is_filled_at_once():
    group = CharacterGroup(HeightMap(np.zeros((200, 200))), SphereCollider(0.4))
    group.add_many(range(20_000), np.column_stack([np.arange(20_000) % 190, *np.ones((2, 20_000))]))
    result = group.update(FRAME)
    assert len(result.grounded) == 20_000

"""CharacterGroup refuses bad input, naming the key, and changes nothing then."""

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import HeightMap, SphereCollider
from terrain_physics.character.colliders import CapsuleCollider
from terrain_physics.character.group_data import GroupState
from terrain_physics.group.group import CharacterGroup

FLOOR = HeightMap(np.zeros((40, 40)))
WALKER = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))


class TestBadInput:
    @pytest.mark.parametrize(
        ("change", "error", "message"),
        [
            ({"key": 0}, ValueError, "key must be new, got 0 again"),
            ({"key": 1.0}, TypeError, "key must be a str or an int, got 1.0"),
            ({"key": True}, TypeError, "key must be a str or an int, got True"),
            ({"position": (1, np.nan, 0)}, ValueError, r"'x': position\.y must be finite"),
            ({"velocity": (1, 2)}, ValueError, "'x': velocity must be three numbers"),
            (
                {"collider": 3},
                TypeError,
                "'x': collider must be a SphereCollider, a BoxCollider or a CapsuleCollider",
            ),
            ({"collider": SphereCollider(1e7)}, ValueError, "'x': collider and scale must cover"),
            ({"gravity": np.inf}, ValueError, "'x': gravity must be finite"),
            ({"speed": 3}, TypeError, "'x': rules must be of gravity, .*, got 'speed'"),
            ({"seed": -1}, ValueError, "'x': seed must be from 0"),
            ({"rotation": glm.mat3(2)}, ValueError, "'x': rotation must be orthonormal"),
        ],
    )
    def test_add(self, change, error, message):
        group = CharacterGroup(FLOOR, WALKER)
        group.add(0, (1, 0, 1))
        before = group.state()
        with pytest.raises(error, match=message):
            group.add(**({"key": "x", "position": (0, 0, 0)} | change))
        assert group.state() == before

    def test_constructor(self):
        with pytest.raises(TypeError, match="ground must be a HeightMap, a TriangleMesh"):
            CharacterGroup(np.zeros((3, 3)))  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="collider must be a SphereCollider"):
            CharacterGroup(FLOOR, 1.0)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="threads must be None or an integer >= 1, got 0"):
            CharacterGroup(FLOOR, threads=0)
        with pytest.raises(TypeError, match="got 'speed'"):
            CharacterGroup(FLOOR, speed=3)  # type: ignore[call-arg]
        with pytest.raises(ValueError, match="seed must be from 0"):
            CharacterGroup(FLOOR, seed=-1)
        with pytest.raises(TypeError, match=r"'x': collider must be a SphereCollider.*got None"):
            CharacterGroup(FLOOR).add("x", (0, 0, 0))

    def test_arrays_times_and_keys(self):
        group = CharacterGroup(FLOOR, WALKER)
        for key in ("a", "b"):
            group.add(key, (1, 0, 1))
        before = group.state()
        for call in (group.set_positions, group.set_velocities):
            with pytest.raises(ValueError, match=r"'b': (position|velocity) must be finite"):
                call([(0, 0, 0), (0, np.inf, 0)])
            with pytest.raises(ValueError, match=r"must have shape \(2, 3\), got \(1, 3\)"):
                call([(0, 0, 0)])
            with pytest.raises(KeyError, match="no character has the key 'c'"):
                call([(0, 0, 0)], keys=["c"])
        for time, error in ((-0.1, ValueError), (np.nan, ValueError), ("1", TypeError)):
            with pytest.raises(error, match=r"delta_time must be .*seconds"):
                group.update(time)  # type: ignore[arg-type]
        for missing in (group.remove, group.__getitem__):
            with pytest.raises(KeyError, match="no character has the key 7"):
                missing(7)
        assert group.state() == before

    def test_restore(self):
        group = CharacterGroup(FLOOR, WALKER)
        for key in ("a", "b"):
            group.add(key, (1, 0, 1))
        state = group.state()
        half = len(state.rows) // 2
        nan = state.rows[:half] + b"\xff" * 8 + state.rows[half + 8 :]
        ball = SphereCollider(1)
        for bad, message in (
            (
                GroupState(0, ("a", "b"), state.colliders, nan),
                "state of 'b': position must be finite, got nan",
            ),
            (
                GroupState(0, ("a", "b"), (WALKER, ball), state.rows),
                "state of 'b': kind must be that of Sphere",
            ),
            (GroupState(0, ("a", "a"), state.colliders, state.rows), "no key twice"),
            (
                GroupState(0, ("a", "b"), state.colliders, state.rows[8:]),
                f"must hold {half} bytes",
            ),
            (
                GroupState(0, ("a", "b"), state.colliders, bytes(2 * half)),
                "state of 'a': max_rounds",
            ),
        ):
            with pytest.raises(ValueError, match=message):
                group.restore(bad)
        with pytest.raises(TypeError, match="state must be a GroupState, got 3"):
            group.restore(3)  # type: ignore[arg-type]
        assert group.state() == state

    def test_a_state_is_no_alias_of_the_bytes_it_was_given(self):
        group = CharacterGroup(FLOOR, WALKER)
        group.add("a", (1, 0, 1))
        state = group.state()
        given = bytearray(state.rows)
        same = GroupState(state.seed, state.keys, state.colliders, given)  # type: ignore[arg-type]
        given[:8] = b"\xff" * 8
        assert same == state
        assert hash(same.rows) == hash(state.rows)
        for junk in (8, "rows", None):
            with pytest.raises(TypeError, match="rows must be bytes, got"):
                GroupState(state.seed, state.keys, state.colliders, junk)  # type: ignore[arg-type]

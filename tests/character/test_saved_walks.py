"""Saved and loaded characters go on as if nothing had been saved, on whatever ground."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

import terrain_physics as tp
from terrain_physics._kernels.character.state import layout
from tests.helpers.characters import FLOOR, FRAME, ROUGH, at_rest, ball, run, slope
from tests.helpers.drawn_grounds import GROUNDS, MAPS, MESHES, AnyGround, box_of, edit
from tests.helpers.draws import Draws

MAKERS = (*MAPS, *MESHES, *GROUNDS)
TIMES = (1 / 60, 1 / 60, 1 / 30, 1 / 144, 0.1, 0.25)
FRAMES = 30


def drawn_collider(draws: Draws) -> Any:
    kind, size = draws.below(3), draws.uniform(0.25, 0.6)
    if kind == 0:
        return tp.SphereCollider(size)
    if kind == 1:
        return tp.CapsuleCollider(size, draws.uniform(2.0, 4.0) * size)
    return tp.BoxCollider(draws.uniform(0.15, 0.9, 3))


def drawn_mover(draws: Draws, ground: AnyGround) -> tp.CharacterMovement:
    low, high = box_of(ground)
    return tp.CharacterMovement(
        ground,
        drawn_collider(draws),
        position=draws.uniform(low, high + np.array([0.0, 1.0, 0.0]), 3),
        seed=draws.below(1000),
        resolver=draws.one_of(("shuffled", "simultaneous")),
        ground_rule=draws.one_of(("contact", "contact", "sum")),
        slope_speed=draws.one_of(("horizontal", "surface")),
        slope_limit=draws.one_of((0.5, 1.0)),
        step_offset=draws.one_of((0.0, 0.3)),
        snap_distance=draws.one_of((0.0, 0.3)),
    )


def deeds(draws: Draws, mover: tp.CharacterMovement) -> None:
    """Do what a game does to a character and its ground between two updates."""
    kind = draws.below(12)
    if kind == 0:
        mover.velocity = draws.uniform(-4.0, 4.0, 3)
    elif kind <= 2:
        mover.velocity = draws.uniform(-3.0, 3.0, 3) * (1.0, 0.0, 1.0)
    elif kind == 3:
        mover.velocity = (0, 0, 0)
    if draws.chance(0.06):
        mover.position = np.array(mover.position64) + draws.uniform(-0.3, 0.3, 3)
    if draws.chance(0.02):
        mover.position = np.array(mover.position64) + draws.uniform(-2.0, 2.0, 3)
    if draws.chance(0.15):
        edit(draws, mover.ground)
    if draws.chance(0.02) and isinstance(mover.ground, tp.Ground) and len(mover.ground.parts) > 1:
        mover.ground = tp.Ground(list(mover.ground.parts.values())[:-1])


def reloaded(draws: Draws, mover: tp.CharacterMovement) -> tp.CharacterMovement:
    """Return another character in the same state, most often on a copy of the ground."""
    ground, state = mover.ground, mover.state()
    kind = draws.below(4)
    if kind == 0:
        ground, state = pickle.loads(pickle.dumps((ground, state)))
    elif kind == 1:
        ground = copy.deepcopy(ground)
        text = json.dumps(state.to_dict(), allow_nan=False)
        state = tp.CharacterState.from_dict(json.loads(text))
    elif kind == 2:
        mover.restore(state)
        return mover
    other = tp.CharacterMovement(ground, mover.collider, seed=3)
    other.restore(state)
    return other


def walk_twice(seed: int) -> int:
    """Go one way twice, saved now and then and not saved; return how many frames began at rest."""
    draws, rests = Draws(50_000 + seed), 0
    maker = MAKERS[seed % len(MAKERS)]
    plain, saved = (drawn_mover(Draws(seed), maker(Draws(seed))) for _ in range(2))
    for frame in range(FRAMES):
        number, saves, seconds = draws.below(10**6), draws.chance(0.3), draws.one_of(TIMES)
        for mover in (plain, saved):
            deeds(Draws(number), mover)
        if saves:
            saved = reloaded(draws, saved)
        rests += at_rest(plain)
        plain.update(seconds)
        saved.update(seconds)
        assert saved.state_hash() == plain.state_hash(), (seed, frame)
        assert saved.state() == plain.state(), (seed, frame)
        assert saved.move_result() == plain.move_result(), (seed, frame)
    return rests


@pytest.mark.parametrize("count", [15, pytest.param(195, marks=pytest.mark.full)])
def test_saved_walks_equal_those_not_saved(count):
    assert sum(walk_twice(seed) for seed in range(count)) > 2.5 * count


# Around a sleeper after an edit, a jammed body, and the first contact after a load.
@pytest.mark.parametrize("seed", [1032, 4121, 8068, 9128])
def test_walks_that_differed_once(seed):
    walk_twice(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_many_saved_walks_equal_those_not_saved(block):
    for seed in range(1000 * (block + 1), 1000 * (block + 2)):
        walk_twice(seed)


def woken(mover: Any, ground: AnyGround, way: int) -> None:
    """Wake a character on the same ground in one of many ways."""
    if way == 0:
        mover.restore(copy.copy(mover.state()))  # a copy is not trusted
    elif way == 1:
        mover.ground = mover.ground
    elif way == 2:
        mover.velocity = (0, 0, 0)
    elif way == 3:
        mover.position = mover.position64
    elif way == 4:
        mover.slope_limit, mover.resolver = mover.slope_limit, mover.resolver
    elif isinstance(ground, tp.HeightMap):
        ground[-1, -1] = ground[-1, -1]
    elif isinstance(ground, tp.TriangleMesh):
        ground.refit(ground.vertices)
    else:
        woken(mover, ground.parts[0], way)


@pytest.mark.parametrize("maker", MAKERS)
def test_wake_is_neutral(maker):
    """At rest, woken, on the same ground: all that is hashed stays, and all that is reported."""
    rests = 0
    for seed in range(12):
        ground = maker(Draws(seed))
        mover = drawn_mover(Draws(seed), ground)
        run(mover, 60, 1 / 30)
        rests += at_rest(mover)
        if not at_rest(mover):
            continue
        mover.update(FRAME)
        before, report, planes = mover.state(), mover.ground_report(), mover.constraint_planes()
        for way in range(6):
            woken(mover, ground, way)
            mover.update(FRAME * (1 + way))
            assert mover.state() == before
            assert mover.ground_report() == report
            assert np.array_equal(mover.constraint_planes(), planes)
    assert rests > 0


class TestNothingHovers:
    def lowered(self):
        return tp.HeightMap(np.full((40, 40), -1.0))

    @pytest.mark.parametrize("rule", ["contact", "sum"])
    def test_on_other_ground_of_the_same_version(self, rule):
        mover = ball(ground_rule=rule)
        run(mover, 60)
        assert at_rest(mover)
        for ground in (self.lowered(), tp.Ground([self.lowered()])):
            other = tp.CharacterMovement(ground, mover.collider)
            other.restore(mover.state())
            group = tp.CharacterGroup(ground)
            group.add(0, (1, 1, 1), collider=mover.collider)
            group[0].restore(mover.state())
            assert not other.update(FRAME).grounded
            assert not group.update(FRAME).grounded[0]
            group.restore(group.state())
            run(other, 90)
            run(group, 90)
            assert other.position64[1] == pytest.approx(-0.5, abs=1e-5)
            assert group[0].state_hash() == other.state_hash()

    def test_on_copies_edited_as_often_elsewhere(self):
        first = tp.HeightMap(np.zeros((40, 40)))
        second = pickle.loads(pickle.dumps(first))
        first[35, 35] = 1
        second.carve((10.3, 10.7), 4, 2)
        mover = ball(first)
        run(mover, 60)
        other = ball(second)
        other.restore(mover.state())
        run(other, 90)
        assert mover.position64[1] == 0.5
        assert other.position64[1] < -1

    def test_a_wall_that_came_meanwhile_pushes(self):
        mover = ball()
        run(mover, 60)
        built = tp.HeightMap(np.pad(np.zeros((40, 11)), ((0, 0), (0, 29)), constant_values=1.0))
        other = ball(built)
        other.restore(mover.state())
        run(other, 60)
        assert other.position64[0] < mover.position64[0] - 0.1


class TestHashes:
    def test_equal_states_have_equal_hashes(self):
        mover, edited = ball(), tp.HeightMap(np.zeros((40, 40)))
        other = ball(edited)
        for _ in range(3):
            edited[39, 39] += 0  # its version counts up
            run(mover, 20)
            run(other, 20)
            assert other.state_hash() == mover.state_hash()
        other.restore(mover.state())
        assert other.state_hash() == mover.state_hash()
        far = tp.TriangleMesh([(0, -5, 0), (1, -5, 0), (0, -5, 1)], [(0, 1, 2)])
        mover.ground = tp.Ground([far, FLOOR])
        run(mover, 2)
        assert other.state_hash() == mover.state_hash()

    def test_what_the_next_update_goes_on_from_is_hashed(self):
        hashes = {ball().state_hash()}
        for change in (
            {"position": (10.3, 0.5, 10.8)},
            {"velocity": (0, 0, 1)},
            {"slope_limit": 0.6},
            {"rotation": np.eye(3)[:, [1, 2, 0]]},
        ):
            mover = ball()
            (name, value) = next(iter(change.items()))
            setattr(mover, name, value)
            hashes.add(mover.state_hash())
        hashes.add(ball(seed=9).state_hash())
        assert len(hashes) == 6
        unhashed = [column.name for column in layout.SAVED.columns if not column.is_hashed]
        assert {"ground_version", "ground_part", "ground_triangle", "penetration"} <= {*unhashed}

    def test_pickled_grounds_keep_their_versions(self):
        land = tp.HeightMap(np.zeros((9, 9)))
        mesh = tp.TriangleMesh([(0, 0, 0), (0, 0, 9), (9, 0, 0)], [(0, 1, 2)])
        ground = tp.Ground([land, mesh])
        land[3, 3] = 1
        land.thickness = 2.0
        mesh.refit(mesh.vertices)
        for one in (land, mesh, ground):
            for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
                assert again.version == one.version > 0
        copied = pickle.loads(pickle.dumps(land))
        assert copied.changes_since(copied.version) == []
        assert len(copied.changes_since(0)) == 1
        copied[3, 3] = 2
        assert copied.version == land.version + 1
        assert len(copied.changes_since(land.version)) == 1

    def test_a_mesh_that_was_moved_is_pickled_as_it_is(self):
        mesh = MESHES[0](Draws(3))
        mesh.refit(np.random.default_rng(1).permutation(mesh.vertices))
        again = pickle.loads(pickle.dumps(mesh))
        for one, other in zip(mesh._storage.arrays, again._storage.arrays, strict=True):
            assert np.array_equal(one, other)
            assert not other.flags.writeable


class TestDicts:
    def test_states_are_known_to_json_and_exact(self):
        group = tp.CharacterGroup(ROUGH, tp.CapsuleCollider(0.3, 1.8), seed=2**64 - 1)
        for key, body in enumerate((tp.BoxCollider((0.3, 0.9, 0.3)), tp.SphereCollider(0.4), None)):
            group.add((key, "ada", "1")[key], (9 + 3 * key, 4, 9), collider=body)
        for _ in range(70):
            group.set_velocities(np.full((3, 3), 1 / 3))
            group.update(FRAME)
        states: list[Any] = [group.state(), *(group[key].state() for key in group)]
        for state in states:
            text = json.dumps(state.to_dict(), allow_nan=False)
            again = type(state).from_dict(json.loads(text))
            assert again == state
            assert repr(again) == repr(state)
        other = tp.CharacterGroup(ROUGH)
        other.restore(tp.GroupState.from_dict(json.loads(json.dumps(group.state().to_dict()))))
        assert other.state_hash() == group.state_hash()
        assert tuple(other) == (0, "ada", "1")

    def test_names_say_what_is_what(self):
        content = ball(slope(10.0), seed=255).state().to_dict()
        assert content["collider"] == {"kind": "ball", "radius": 0.5, "offset": [0, 0, 0]}
        assert content["values"]["position"] == [10.3, 0.5, 10.7]
        assert content["rules"]["gravity"] == 9.81
        assert content["random_state"] == "00000000000000ff"

    @pytest.mark.parametrize(
        ("change", "error", "message"),
        [
            (None, TypeError, "content must be a dict"),
            ({}, ValueError, "content must be from to_dict, got none of 'format'"),
            ({"format": layout.FORMAT + 1}, ValueError, "another version of terrain_physics saved"),
            ({"values": {}}, ValueError, "values must be a dict of position, velocity"),
            ({"rules": 3}, ValueError, "rules must be a dict of kind, extents"),
            ({"random_state": "x"}, ValueError, "random_state must be 16 hexadecimal digits"),
            ({"random_state": 3}, ValueError, "random_state must be 16 hexadecimal digits"),
            ({"linear": [1, 2]}, ValueError, "linear must have shape"),
            ({"collider": {"kind": "cat"}}, ValueError, "collider must be one from to_dict"),
            ({"collider": None}, ValueError, "collider must be one from to_dict"),
        ],
    )
    def test_others_are_refused(self, change, error, message):
        content = ball().state().to_dict()
        bad = content | change if change else change
        with pytest.raises(error, match=message):
            tp.CharacterState.from_dict(bad)

    @pytest.mark.parametrize("value", ["1", [1, 2], [1, 2, "3"], None, [1, 2, None], 1])
    def test_columns_are_refused_by_name(self, value):
        content = ball().state().to_dict()
        content["values"]["velocity"] = value
        with pytest.raises(ValueError, match="values: velocity must be 3 numbers, got"):
            tp.CharacterState.from_dict(content)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"seed": 3}, "seed must be 16 hexadecimal digits, got 3"),
            ({"characters": 3}, "characters must be a list of dicts with a key"),
            ({"characters": [3]}, "characters must be a list of dicts with a key"),
            ({"characters": [{}]}, "characters must be a list of dicts with a key"),
        ],
    )
    def test_other_groups_are_refused(self, change, message):
        group = tp.CharacterGroup(FLOOR, tp.SphereCollider(0.5))
        group.add("ada", (5, 5, 5))
        with pytest.raises(ValueError, match=message):
            tp.GroupState.from_dict(group.state().to_dict() | change)

"""Stories on moving bases: saved or not, alone or in a group, on any threads, the same bits."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

import terrain_physics as tp
from tests.helpers.drawn_grounds import edit
from tests.helpers.draws import Draws
from tests.oracles.motion import pose, turn

TIMES = (1 / 60, 1 / 60, 1 / 30, 1 / 144, 0.1)
FRAMES = 50
KEYS = range(4)


def drawn_box(draws: Draws) -> tp.TriangleMesh:
    return tp.TriangleMesh.box(draws.uniform((4.0, 0.2, 4.0), (9.0, 1.0, 9.0), 3))


def drawn_place(draws: Draws) -> Any:
    place = pose(draws.uniform((7, 0, 7), (13, 3, 13), 3))
    if draws.chance(0.3):
        place[:3, :3] = turn(draws.uniform(-1.0, 1.0, 3), draws.uniform(-0.4, 0.4))
    return place


def drawn_ground(draws: Draws) -> tp.Ground:
    heights = draws.uniform(-0.3, 0.3, 21, 21)
    ground = tp.Ground([tp.HeightMap(heights), *(drawn_box(draws) for _ in range(3))])
    for key in (1, 2, 3):
        ground.move(key, drawn_place(draws))
    return ground


def drawn_rules(draws: Draws) -> dict[str, Any]:
    size = draws.uniform(0.25, 0.5)
    colliders = (
        tp.SphereCollider(size),
        tp.CapsuleCollider(size, 3.0 * size),
        tp.BoxCollider((size, 2.0 * size, size)),
    )
    return {
        "collider": draws.one_of(colliders),
        "position": draws.uniform((8, 2, 8), (12, 4, 12), 3),
        "resolver": draws.one_of(("shuffled", "simultaneous")),
        "leave": draws.one_of(("velocity", "up", "none")),
        "snap_distance": draws.one_of((0.0, 0.3)),
        "slope_limit": draws.one_of((0.5, 1.0)),
    }


def change(draws: Draws, ground: Any) -> None:
    """Do what a game does to a ground between two updates, but for moving it."""
    kind, key = draws.below(40), draws.one_of([k for k in ground.parts if k > 0])
    if kind == 0:
        ground.set_surface_velocity(key, draws.uniform(-2.0, 2.0, 3) * (1.0, 0.0, 1.0))
    elif kind == 1:
        ground.set_one_way(key, draws.one_of((None, (0, 1, 0))))
    elif kind == 2:
        ground.move(key, drawn_place(draws))
    elif kind == 3:
        ground.move(ground.add(drawn_box(draws)), drawn_place(draws))
    elif kind == 4 and len(ground.parts) > 3:
        ground.remove(key)
    elif kind == 5:
        edit(draws, ground)
    elif kind == 6:
        ground.set_layers(key, draws.one_of((0, 1, 1)))


def move(draws: Draws, ground: Any) -> None:
    """Move some parts on in some time, most of them at a speed of their own."""
    for key in ground.parts:
        own = Draws(key)  # the same way in each frame
        way, axis = own.uniform(-1.0, 1.0, 3) * (1.0, 0.3, 1.0), (0.1 * (key % 2), 1.0, 0.0)
        if key == 0 or draws.chance(0.3):
            continue
        seconds = draws.one_of(TIMES)
        if draws.chance(0.03):
            way = 20.0 * way
        there = ground.transform(key)
        there[:3, 3] += seconds * way
        there[:3, :3] = turn(axis, seconds * own.uniform(-1.0, 1.0)) @ there[:3, :3]
        ground.move(key, there, seconds)


def steer(draws: Draws, mover: Any) -> None:
    kind = draws.below(10)
    if kind < 3:
        mover.velocity = draws.uniform(-2.0, 2.0, 3) * (1.0, 0.0, 1.0)
    elif kind == 4 and draws.chance(0.5):
        mover.velocity = draws.uniform((-3, 2, -3), (3, 6, 3), 3)
    elif kind == 5 and draws.chance(0.2):
        mover.position = np.array(mover.position64) + draws.uniform(-0.3, 0.3, 3)


def members(ground: tp.Ground, seed: int, threads: int | None) -> tp.CharacterGroup:
    group = tp.CharacterGroup(ground, seed=seed, threads=threads)
    for key in KEYS:
        group.add(key, **drawn_rules(Draws(100 * seed + key)))
    return group


def reloaded(draws: Draws, group: tp.CharacterGroup, folder: Any) -> tp.CharacterGroup:
    """Return another group in the same state, most often on a copy of the ground."""
    ground, state = group.ground, group.state()
    kind = draws.below(5)
    if kind == 0:
        ground, state = pickle.loads(pickle.dumps((ground, state)))
    elif kind == 1:
        ground.save(folder / "level.ground")
        ground = tp.Ground.load(folder / "level.ground")
        state = tp.GroupState.from_dict(json.loads(json.dumps(state.to_dict(), allow_nan=False)))
    elif kind == 2:
        ground = copy.deepcopy(ground)
    elif kind == 3:
        group.restore(state)
        return group
    other = tp.CharacterGroup(ground, seed=99)
    other.restore(state)
    return other


def tell_twice(seed: int, folder: Any) -> int:
    """Tell a story twice, saved now and then and not saved; return how often somebody rode."""
    draws, rides = Draws(seed), 0
    plain, saved = (members(drawn_ground(Draws(seed)), seed, 1) for _ in range(2))
    for frame in range(FRAMES):
        number, saves, seconds = draws.below(10**6), draws.chance(0.25), draws.one_of(TIMES)
        for group in (plain, saved):
            deeds = Draws(number)
            change(deeds, group.ground)
            move(deeds, group.ground)
            for key in KEYS:
                steer(deeds, group[key])
        if saves:
            saved = reloaded(draws, saved, folder)
        results = plain.update(seconds), saved.update(seconds)
        assert plain.hashes() == saved.hashes(), (seed, frame)
        assert plain.state() == saved.state(), (seed, frame)
        assert results[0] == results[1], (seed, frame)
        for key in KEYS:
            assert plain[key].move_result() == saved[key].move_result(), (seed, frame, key)
            rides += any(plain[key].ground_report().velocity)
    return rides


def tell_by_all(seed: int) -> int:
    """Tell a story as groups on 1 to 3 threads and one by one; return how often somebody rode."""
    draws, rides = Draws(seed), 0
    groups = [members(drawn_ground(Draws(seed)), seed, threads) for threads in (1, 2, 3)]
    ground = drawn_ground(Draws(seed))
    alone = []
    for key in KEYS:
        rules = drawn_rules(Draws(100 * seed + key))
        body, own = rules.pop("collider"), groups[0].seed_of(key)
        alone.append(tp.CharacterMovement(ground, body, seed=own, **rules))
    for frame in range(FRAMES):
        number, seconds = draws.below(10**6), draws.one_of(TIMES)
        for group in groups:
            deeds = Draws(number)
            change(deeds, group.ground)
            move(deeds, group.ground)
            for key in KEYS:
                steer(deeds, group[key])
            group.update(seconds)
        deeds = Draws(number)
        change(deeds, ground)
        move(deeds, ground)
        for mover in alone:
            steer(deeds, mover)
        for mover in alone:
            mover.update(seconds)
        hashes = [group.hashes() for group in groups]
        assert hashes[0] == hashes[1] == hashes[2], (seed, frame)
        for key, mover in enumerate(alone):
            assert mover.state_hash() == groups[0][key].state_hash(), (seed, frame, key)
            assert mover.move_result() == groups[0][key].move_result(), (seed, frame, key)
            rides += any(mover.ground_report().velocity)
    return rides


@pytest.mark.parametrize("count", [4, pytest.param(30, marks=pytest.mark.full)])
def test_saved_stories_equal_those_not_saved(count, tmp_path):
    assert sum(tell_twice(seed, tmp_path) for seed in range(count)) > 6 * count


@pytest.mark.parametrize("count", [3, pytest.param(15, marks=pytest.mark.full)])
def test_alone_in_groups_and_on_threads(count):
    assert sum(tell_by_all(seed) for seed in range(count)) > 6 * count


@pytest.mark.long
@pytest.mark.parametrize("block", range(8))
def test_many_stories(block, tmp_path):
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        tell_twice(seed, tmp_path)
        tell_by_all(seed)


def test_a_ride_goes_on_from_any_state():
    """Restored in the middle, on its own ground and on another of the same parts."""
    for seed in range(6):
        draws = Draws(seed)
        ground = drawn_ground(Draws(seed))
        rules = drawn_rules(Draws(seed + 50))
        body = rules.pop("collider")
        mover = tp.CharacterMovement(ground, body, **rules)
        for _ in range(30):
            move(Draws(draws.below(10**6)), ground)
            mover.update(1 / 60)
        state, copied = mover.state(), copy.deepcopy(ground)
        numbers = [draws.below(10**6) for _ in range(20)]
        hashes = []
        for land in (ground, copied):
            other = tp.CharacterMovement(land, body, seed=5)
            other.restore(state)
            ends = []
            for number in numbers:
                move(Draws(number), land)
                ends.append((other.update(1 / 60), other.state_hash()))
            hashes.append(ends)
        assert hashes[0] == hashes[1]


LIFTED = (1.0, 0.5)  # of a lift along x and z, in m/s


def leave_lift(leave: Any, rise: float, *, jump: float, walk: float) -> Any:
    """Jump or walk off a lift; return the velocity after the first update in the air."""
    lift = tp.TriangleMesh.box((2.0, 0.5, 2.0))
    ground = tp.Ground([tp.HeightMap([[-60.0] * 2] * 2, cell_size=90.0), lift])
    velocity = np.array([LIFTED[0], rise, LIFTED[1]])
    ground.move(1, pose((40.0, 10.0, 40.0)))
    body = tp.CapsuleCollider(0.4, 1.8, offset=(0.0, 0.9, 0.0))
    mover = tp.CharacterMovement(ground, body, position=(40.0, 10.25, 40.0), leave=leave)
    mover.update(1 / 60)
    for frame in range(1, 120):
        ground.move(1, pose((40.0, 10.0, 40.0) + velocity * frame / 60), 1 / 60)
        mover.velocity.x = walk
        if frame == 12:
            assert mover.grounded
            mover.velocity.y += jump
        if not mover.update(1 / 60).grounded:
            return np.array(mover.world_velocity)
    raise AssertionError("it is still on the lift")


@pytest.mark.parametrize(
    ("leave", "rise", "kept"),
    [
        ("velocity", 2.0, (1.0, 2.0, 0.5)),
        ("velocity", -2.0, (1.0, -2.0, 0.5)),
        ("up", 2.0, (1.0, 2.0, 0.5)),
        ("up", -2.0, (1.0, 0.0, 0.5)),
        ("none", 2.0, (0.0, 0.0, 0.0)),
        ("none", -2.0, (0.0, 0.0, 0.0)),
    ],
)
def test_who_leaves_a_lift_keeps_of_its_velocity_what_the_rule_says(leave, rise, kept):
    x, y, z = kept
    fall = 9.81 / 60
    found = leave_lift(leave, rise, jump=3.0, walk=0.0)
    assert found == pytest.approx((x, y + 3.0 - fall, z), abs=1e-5)
    # Over the edge it has fallen for a part of the update.
    found = leave_lift(leave, rise, jump=0.0, walk=3.0)
    assert found == pytest.approx((x + 3.0, y - 0.5 * fall, z), abs=0.5 * fall + 1e-5)
    assert found[[0, 2]] == pytest.approx((x + 3.0, z), abs=1e-5)

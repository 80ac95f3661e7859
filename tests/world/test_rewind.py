"""A ring of frames: which it holds, back and again, and what it refuses."""

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

from terrain_physics import Rewind
from terrain_physics.world.kept_world import Rooms
from tests.world.scenes import FRAME, Scene, scene
from tests.world.test_state import seen


def played(count: int, frames: int = 16) -> tuple[Scene, Rewind, list[Any]]:
    """Return a scene after some frames, its ring, and what was seen before each frame and after."""
    one = scene()
    rewind, there = Rewind(one.world, frames), []
    for frame in range(count):
        rewind.save(frame)
        there.append(seen(one))
        one.play(frame)
    return one, rewind, [*there, seen(one)]


def test_it_holds_the_latest_frames():
    one, rewind, there = played(12, frames=5)
    assert rewind.world is one.world
    assert [*rewind.frames] == [7, 8, 9, 10, 11]
    for frame in (7, 11, 9, 8, 10):
        rewind.restore(frame)
        assert seen(one) == there[frame]
        assert [*rewind.frames] == [7, 8, 9, 10, 11]
    rewind.save(9)  # it is played anew from here
    assert [*rewind.frames] == [7, 8, 9]
    one.play(10)
    rewind.save(20)
    assert [*rewind.frames] == [7, 8, 9, 20]
    assert repr(rewind) == "<Rewind: 4 of 5 frames, 7 to 20>"
    rewind.restore(9)
    assert seen(one) == there[10]


def test_played_again_it_is_where_it_would_be():
    one, rewind, there = played(30)
    rewind.replay(16, 30, one.play)
    assert seen(one) == there[30]
    assert [*rewind.frames] == [*range(14, 30)]
    for frame in (29, 15, 22):
        rewind.restore(frame)
        assert seen(one) == there[frame]


def test_other_inputs_lead_elsewhere_and_are_what_the_ring_then_holds():
    one, rewind, there = played(20)

    def step(frame: int) -> None:
        if frame == 14:
            one.rider.jump(1)
        one.play(frame)

    rewind.replay(12, 20, step)
    assert seen(one) != there[20]
    other = seen(one)
    rewind.restore(14)
    assert seen(one) == there[14]
    rewind.restore(15)
    assert seen(one) != there[15]
    for frame in range(15, 20):
        one.play(frame)
    assert seen(one) == other


def test_frames_behind_one_that_is_played_again_are_forgotten():
    one, rewind, there = played(9)
    rewind.replay(5, 6, one.play)
    assert [*rewind.frames] == [0, 1, 2, 3, 4, 5]
    assert seen(one) == there[6]
    rewind.replay(2, 2, one.play)  # only goes back
    assert [*rewind.frames] == [0, 1, 2, 3, 4, 5]
    assert seen(one) == there[2]


def test_frames_that_are_not_there_are_refused_and_it_says_which_are():
    one, rewind, _ = played(8, frames=4)
    there = seen(one)
    for call in (rewind.restore, rewind.state, rewind.state_hash, rewind.hashes, rewind.rows):
        with pytest.raises(ValueError, match=r"frame must be one of those kept, 4 to 7, got 3"):
            call(3)
    with pytest.raises(ValueError, match=r"frame must be one of those kept, 4 to 7, got 8"):
        rewind.replay(8, 9, one.play)
    with pytest.raises(ValueError, match="got 3"):
        rewind.compare(3, "0" * 16)
    rewind.save(12)
    with pytest.raises(ValueError, match=re.escape("one of those kept, 5, 6, 7, 12, got 8")):
        rewind.restore(8)
    with pytest.raises(ValueError, match="frame must be saved first, got 1, and no frame is kept"):
        Rewind(one.world).restore(1)
    assert seen(one) == there


@pytest.mark.parametrize("bad", [1, 0, -3, 2.5, "16", True, None])
def test_a_ring_that_is_too_small_is_refused(bad: Any):
    with pytest.raises((TypeError, ValueError), match="frames must be"):
        Rewind(scene().world, bad)


def test_bad_arguments_change_nothing():
    one, rewind, _ = played(6)
    there = seen(one)
    with pytest.raises(TypeError, match="world must be"):
        Rewind(one.ground)  # type: ignore[arg-type]
    for bad in (1.5, "1", None, float("nan")):
        with pytest.raises((TypeError, ValueError), match="frame must be"):
            rewind.save(bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="now must be"):
        rewind.replay(4, 3, one.play)
    with pytest.raises(TypeError, match="step must be a function of a frame"):
        rewind.replay(4, 6, None)  # type: ignore[arg-type]
    one.walker.velocity.x = float("nan")
    with pytest.raises(ValueError, match="'walker': velocity"):
        rewind.save(3)
    one.walker.velocity.x = 0
    assert [*rewind.frames] == [*range(6)]
    assert there[0][:2] == seen(one)[0][:2]


def test_a_frame_as_a_state_stays_when_the_ring_goes_on():
    one, rewind, there = played(6, frames=3)
    state = rewind.state(4)
    assert rewind.state(4).nbytes == state.nbytes
    for frame in range(6, 30):
        rewind.save(frame)
        one.play(frame)
    one.world.restore(state)
    assert seen(one) == there[4]


def test_a_step_that_raises_leaves_the_world_in_its_frame():
    one, rewind, there = played(10)

    def step(frame: int) -> None:
        if frame == 7:
            raise KeyError(frame)
        one.play(frame)

    with pytest.raises(KeyError):
        rewind.replay(4, 10, step)
    assert seen(one) == there[7]
    assert [*rewind.frames] == [*range(8)]


def test_time_goes_on_where_frames_are_steps_of_the_clock():
    one = scene()
    clock, rewind = one.world.clock, Rewind(one.world)
    alphas, frame = [], 0
    for seconds in (0.02, 0.03, 0.04):
        for frame in clock.steps(seconds):
            rewind.save(frame)
            alphas.append(clock.alpha)
            one.play(frame)
    present = clock.alpha, repr(clock)
    rewind.replay(1, frame + 1, one.play)
    assert (clock.alpha, repr(clock)) == present
    assert len(set(alphas)) > 2
    for back in rewind.frames:
        rewind.restore(back)
        assert clock.alpha == alphas[back]


def test_time_is_played_again_where_frames_are_pictures():
    one = scene()
    clock, rewind = one.world.clock, Rewind(one.world)

    def picture(number: int) -> None:
        for step in clock.steps((0.02, 0.03, 0.04, 0.011)[number % 4]):
            one.play(step)

    for number in range(12):
        rewind.save(number)
        picture(number)
    there, present = seen(one), (clock.alpha, repr(clock))
    rewind.replay(5, 12, picture)
    assert seen(one) == there
    assert (clock.alpha, repr(clock)) == present


def test_a_ring_takes_no_more_memory_when_it_goes_on():
    one, rewind, _ = played(40, frames=4)
    before = rewind.nbytes
    for frame in range(41, 60):
        rewind.save(frame)
        one.world.update(FRAME)
    assert rewind.nbytes == before


def test_a_group_grows_while_it_is_kept():
    one, rewind, _ = played(6, frames=4)
    hashes = {}
    for frame in range(6, 26):
        one.loners.add_many([f"{frame} {n}" for n in range(frame)], [(0, 9, -9)] * frame)
        if frame % 3 == 0:
            one.loners.remove_many([key for key in one.loners if str(key).endswith("1")])
        rewind.save(frame)
        hashes[frame] = one.world.hashes()
        if frame % 5 == 0:
            for back in rewind.frames:
                if back in hashes:
                    rewind.restore(back)
                    assert one.world.hashes() == hashes[back]
        one.play(frame)


def test_frames_as_states_take_nothing_from_the_ring(monkeypatch):
    one, rewind, there = played(6, frames=4)
    states, before = {}, rewind.nbytes
    monkeypatch.setattr(Rooms, "take", None)  # the ring is full: it has all that it needs
    for frame in range(6, 26):
        rewind.save(frame)
        there.append(seen(one))
        states[frame] = rewind.state(frame)
        one.play(frame)
    assert rewind.nbytes == before
    of_ring = [part for kept in rewind._ring.kept.values() for part in kept.parts]
    for frame in (7, 25, 6, 14):
        for part in states[frame]._kept.parts:
            arrays = part.rows.saved()
            assert all(array.base is None for array in arrays)
            assert not any(np.shares_memory(arrays[0], own.rows.state) for own in of_ring)
        one.world.restore(states[frame])
        assert seen(one) == there[frame + 1]  # after `played` comes its end


def test_a_replay_of_more_frames_than_the_ring_holds_is_refused():
    one, rewind, _ = played(5, frames=3)
    there, before = seen(one), rewind.frames
    with pytest.raises(ValueError, match=r"frames 2 to 5 must be no more .* got 4 for 3"):
        rewind.replay(2, 6, one.play)
    assert (seen(one), rewind.frames) == (there, before)
    rewind.replay(2, 5, one.play)
    assert (seen(one), rewind.frames) == (there, before)


def test_it_is_neither_copied_nor_pickled():
    _, rewind, _ = played(1)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"Rewind cannot be copied .* state\(frame\)\.to_bytes"):
            copied(rewind)

"""A replay wakes whom the run woke, whatever else happened in the same frame."""

from typing import Any

import pytest

from terrain_physics import CharacterGroup, CharacterMovement, Recording, World, replay
from terrain_physics.recording.file import NOW_SEEN, SEEN
from tests.fuzz.sleepers import BODY, FRAME, KINDS, Story, close, ground_of
from tests.helpers.examples import rest_is_full

PLACE = 30.0, 30.0
"""Somebody sleeps there."""


def world_on(ground):
    """Return a world in which all sleep, on ground that has changed before."""
    ground.carve((90, 90), 3, 0.3)
    world = World(ground)
    crowd = world.add("crowd", CharacterGroup(ground, BODY))
    balls = world.add("balls", CharacterGroup(ground, BODY))
    crowd.add(1, (10, 0, 10))
    balls.add("b", (PLACE[0], 0, PLACE[1]))
    for _ in range(20):
        world.update(FRAME)
    return world


def refuse_other_replay(recording, world):
    scene: Any = recording.make_scene()
    assert replay(recording, lambda: scene) is None
    close(scene.ground)
    close(world.ground)


def marks_of(frame):
    """Return the numbers of those who have looked around before a frame."""
    return set(frame.rows[(frame.places == SEEN) & (frame.bits == NOW_SEEN)].tolist())


def dig(ground):
    ground.carve((30.3, 30.6), 3, 0.3)


def heap(ground):
    ground.raise_((30.3, 30.6), 3, 0.3)


def level(ground):
    ground.flatten((30.3, 30.6), 3, -0.5)


def join_group(world):
    world["crowd"].add(2, (12, 0, 12))


def come_alone(world):
    world.add("hero", CharacterMovement(world.ground, BODY, position=(14, 0, 14)))


def come_as_group(world):
    other = world.add("other", CharacterGroup(world.ground, BODY))
    other.add("c", (14, 0, 14))


@pytest.mark.parametrize("kind", ["ground", "tiles"])
@pytest.mark.parametrize("edit", [dig, heap, level])
@pytest.mark.parametrize("join", [join_group, come_alone, come_as_group])
def test_an_edit_below_a_sleeper_as_somebody_joins(kind, edit, join):
    world = world_on(ground_of(kind))
    recording = Recording(world)
    for frame in range(6):
        if frame == 2:
            edit(world.ground)
            join(world)
        recording.update(FRAME)
    refuse_other_replay(recording, world)


def edit_unseen(world):
    dig(world.ground)


def edit_and_go_back(world):
    state = world.state()
    dig(world.ground)
    world.restore(state)


def go_back_with_the_ground_alone(world):
    state = world.ground.state()
    dig(world.ground)
    world.update(FRAME)
    world.ground.restore(state)


HAPPENED = [edit_unseen, edit_and_go_back, go_back_with_the_ground_alone]


@pytest.mark.parametrize("kind", rest_is_full(KINDS, 2))
@pytest.mark.parametrize("happens", HAPPENED)
def test_what_sleepers_have_not_seen_as_the_recording_begins(kind, happens):
    world = world_on(ground_of(kind))
    happens(world)
    recording = Recording(world)
    for _ in range(4):
        recording.update(FRAME)
    refuse_other_replay(recording, world)


@pytest.mark.parametrize("kind", rest_is_full(KINDS, 2))
@pytest.mark.parametrize("happens", HAPPENED[1:])
def test_a_restore_between_two_frames(kind, happens):
    """Who was put back with the ground sleeps on; who was not wakes, wherever it is."""
    world = world_on(ground_of(kind))
    recording = Recording(world)
    for frame in range(6):
        if frame == 2:
            happens(world)
        recording.update(FRAME)
    assert marks_of(recording._frames[2]) == {0, 1}
    refuse_other_replay(recording, world)


def test_only_those_are_marked_of_whom_a_replay_knows_less():
    world = world_on(ground_of("ground"))
    recording = Recording(world)
    for frame in range(5):
        if frame == 2:
            dig(world.ground)  # all have seen what was before
        if frame == 3:
            world["balls"].add("c", (50, 0, 50))  # behind all others
        if frame == 4:
            world["crowd"].add(2, (50, 0, 50))  # before those of the balls
        recording.update(FRAME)
    marked = [marks_of(frame) for frame in recording._frames]
    assert marked == [{0, 1}, set(), set(), {2}, {1, 2, 3}]


@pytest.mark.parametrize("kind", rest_is_full(reversed(KINDS)))
@pytest.mark.parametrize("seed", rest_is_full([1, 0, 2, 8, 9, 10, 11, 12]))
def test_stories_with_sleepers(kind, seed):
    story = Story(kind, seed)
    story.play(25)
    story.refuse_other_replays()

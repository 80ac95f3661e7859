"""States of a world: all of it goes back and forward, bit for bit, and nothing else changes."""

import copy
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    HeightMap,
    SphereCollider,
    WorldState,
)
from tests.helpers.draws import Draws
from tests.world.scenes import BELT, BODY, FRAME, LIFT, Scene, scene


def seen(one: Scene) -> tuple[Any, ...]:
    """Return all that a game sees of a scene."""
    places = [one.rider.position64, one.walker.position64, one.crowd.positions.tolist()]
    xs, zs = np.meshgrid(np.linspace(-15, 15, 20), np.linspace(-15, 15, 20))
    heights = one.ground.height_at(xs, zs).tolist()
    moved = [one.ground.transform(key).tolist() for key in (LIFT, BELT)]
    shown = one.walker.position.to_tuple(), one.walker.velocity.to_tuple()
    return one.world.hashes(), places, heights, moved, shown, one.world.extra, list(one.world)


def test_frames_after_any_restore_are_those_of_a_twin():
    one, twin, draws = scene(), scene(), Draws(37)
    there = [seen(twin)]
    for frame in range(60):
        twin.play(frame)
        there.append(seen(twin))
    kept, frame = {0: one.world.state()}, 0
    for _ in range(14):
        for _ in range(draws.whole(1, 12)):
            if frame < 60:
                one.play(frame)
                frame += 1
                assert seen(one) == there[frame], frame
        kept[frame] = one.world.state()
        frame = draws.one_of([*kept])
        one.world.restore(kept[frame])
        assert seen(one) == there[frame], frame


def test_clock_and_extra_go_along():
    one = scene()
    one.world.extra = b"first"
    assert list(one.world.clock.steps(0.05)) == [0, 1, 2]
    alpha, before = one.world.clock.alpha, one.world.state()
    one.world.extra = b"second"
    one.world.clock.steps(0.03)
    one.world.restore(before)
    assert one.world.extra == before.extra == b"first"
    assert one.world.clock.alpha == alpha
    assert list(one.world.clock.steps(0.02)) == [3]


def test_things_come_and_go_with_the_state():
    one = scene()
    before = one.world.state()
    one.world.remove("rider")
    one.world.remove(5)
    late = one.world.add("rider", CharacterMovement(one.ground, BODY, position=(1, 3, 1)))
    after = one.world.state()
    one.world.restore(before)
    assert list(one.world.items()) == [
        ("loners", one.loners),
        ("rider", one.rider),
        (5, one.crowd),
        ("walker", one.walker),
    ]
    assert before.keys == ("loners", "rider", 5, "walker")
    one.play(0)
    one.world.restore(after)
    assert list(one.world.items()) == [
        ("loners", one.loners),
        ("walker", one.walker),
        ("rider", late),
    ]


def test_members_come_and_go_with_the_state():
    one = scene()
    before, there = one.world.state(), one.world.hashes()
    one.crowd.remove("bob")
    one.crowd.add("eve", (1, 3, -6))
    one.loners.add_many(range(10, 30), [(x / 2, 3, -11) for x in range(20)])
    one.play(0)
    after, later = one.world.state(), one.world.hashes()
    for _ in range(2):
        one.world.restore(before)
        assert list(one.crowd) == ["ada", "bob", 7]
        assert one.world.hashes() == there
        one.world.restore(after)
        assert list(one.crowd) == ["ada", 7, "eve"]
        assert one.world.hashes() == later


def test_a_character_that_has_joined_a_group_is_alone_again():
    one = scene()
    one.play(0)
    before, there = one.world.state(), seen(one)
    one.world.remove("walker")
    one.crowd.add("walker", movement=one.walker)
    one.play(1)
    after, later = one.world.state(), seen(one)
    for _ in range(2):
        one.world.restore(before)
        assert seen(one) == there
        assert "walker" not in one.crowd
        one.walker.walk(1, 1)
        one.play(1)
        one.world.restore(after)
        assert seen(one) == later
        one.walker.velocity.x = 2  # the same object steers the member
        assert one.crowd["walker"].position64 == one.walker.position64
        one.play(2)
        assert one.crowd["walker"].position64 == one.walker.position64


def test_a_character_that_has_left_its_group_is_in_it_again():
    one = scene()
    owner = SimpleNamespace(position=(-4.0, 3.0, -6.0))
    hero = CharacterMovement(one.ground, BODY, owner=owner)
    one.crowd.add("hero", movement=hero)
    one.play(0)
    before, place = one.world.state(), owner.position
    one.crowd.remove("hero")
    one.world.add("hero", hero)
    one.crowd.add("hero", (3, 3, 3))
    one.play(1)
    one.world.restore(before)
    assert owner.position == place
    with pytest.raises(RuntimeError, match="update must be left to the group"):
        hero.update(FRAME)
    one.play(1)
    assert owner.position != place
    assert hero.position64 == one.crowd["hero"].position64


def test_things_that_have_gone_to_another_ground_come_back():
    one, twin = scene(), scene()
    for frame in range(10):
        one.play(frame)
        twin.play(frame)
    before, other = one.world.state(), scene().ground
    one.world.remove("rider")
    one.rider.ground = one.crowd.ground = other
    one.rider.update(FRAME)
    one.crowd.update(FRAME)
    one.world.restore(before)
    for frame in range(10, 20):
        one.play(frame)
        twin.play(frame)
        assert seen(one) == seen(twin)


def test_what_the_game_has_written_is_part_of_a_state():
    one, twin = scene(), scene()
    for each in (one, twin):
        each.play(0)
        each.rider.velocity = (1, 2, 3)
        each.walker._owner  # noqa: B018 it has one
        each.walker.position.y += 2
    before = one.world.state()
    assert one.world.hashes() == twin.world.hashes()
    one.rider.velocity = (0, 0, 0)
    one.play(1)
    one.world.restore(before)
    assert one.rider.velocity.to_tuple() == (1, 2, 3)
    one.play(1)
    twin.play(1)
    assert seen(one) == seen(twin)


def test_a_state_is_of_its_world_alone():
    one, other = scene(), scene()
    state, there = other.world.state(), seen(one)
    with pytest.raises(ValueError, match="state must be of this world, got one of another world"):
        one.world.restore(state)
    for bad in (None, one.rider.state(), one.ground):
        with pytest.raises(TypeError, match="state must be a WorldState, got"):
            one.world.restore(bad)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="WorldState must come from state"):
        WorldState()
    for carry in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="WorldState cannot be pickled or copied"):
            carry(state)
    assert copy.copy(state) is state
    assert seen(one) == there


def test_a_state_tells_its_size_and_never_changes():
    one = scene()
    state, there = one.world.state(), seen(one)
    assert 7_000 < state.nbytes < 40_000
    assert repr(state).startswith("<WorldState: 4 characters and groups, ")
    for frame in range(30):
        one.play(frame)
    one.world.restore(state)
    assert seen(one) == there


def test_a_restore_inside_an_update_by_hand_is_refused_and_changes_nothing():
    one, errors = scene(), list[str]()

    def now() -> tuple[Any, ...]:
        return one.rider.state_hash(), one.crowd.state_hash(), one.ground.transform(LIFT).tolist()

    def meddle(_: Any, place: Any) -> None:
        if len(places) > 1:
            before = now()
            try:
                one.world.restore(state)
            except RuntimeError as error:
                errors.append(str(error))
            assert now() == before
        places.append(place)

    places: list[Any] = []
    hero = CharacterMovement(
        one.ground, BODY, position=(4, 3, 4), owner=SimpleNamespace(), write=meddle
    )
    one.world.add("hero", hero)
    state = one.world.state()
    places.clear()
    one.play(0)
    places.append(None)
    hero.update(FRAME)
    assert len(errors) == 1
    assert errors[0].startswith("restore must be called between updates")


class _Fussy:
    """An owner that may refuse to be moved."""

    def __init__(self) -> None:
        self.is_stuck, self.place = False, (0.0, 3.0, 0.0)

    @property
    def position(self) -> Any:
        return self.place

    @position.setter
    def position(self, place: Any) -> None:
        if self.is_stuck:
            raise KeyboardInterrupt
        self.place = tuple(place)


def test_an_owner_that_raises_leaves_all_else_restored():
    one, owners = scene(), {key: _Fussy() for key in ("first", "second", "member")}
    for number, (key, owner) in enumerate(owners.items()):
        owner.place = (3 * number, 3, 7)
        hero = CharacterMovement(one.ground, BODY, owner=owner)
        if key == "member":
            one.crowd.add("member", movement=hero)
        else:
            one.world.add(key, hero)
    one.world.extra = b"then"
    state, there = one.world.state(), seen(one)
    clock, places = repr(one.world.clock), {key: owner.place for key, owner in owners.items()}
    for stuck, owner in owners.items():
        for frame in range(3):
            for key in ("first", "second"):
                one.world[key].walk(3, 1)
            one.crowd.walk(1, 2)
            one.play(frame)
        one.world.extra = b"now"
        one.world.clock.steps(0.1)
        owner.is_stuck, left = True, owner.place
        with pytest.raises(KeyboardInterrupt):
            one.world.restore(state)
        assert (one.world.extra, repr(one.world.clock)) == (b"then", clock)
        assert {key: other.place for key, other in owners.items()} == places | {stuck: left}
        assert left != places[stuck]
        owner.is_stuck = False
        assert seen(one) == there
        one.world.restore(state)
        assert owner.place == places[stuck]


def test_a_body_too_wide_for_a_map_is_refused_again_after_a_restore():
    one = scene()
    one.loners.add("giant", (0, 40, 0), collider=SphereCollider(30))
    one.play(0)
    fine = HeightMap(np.zeros((9, 9)), cell_size=0.01, origin=(50, 0, 50))
    one.ground.add(fine)
    wide = one.world.state()
    one.loners.remove("giant")
    one.play(1)
    one.world.restore(wide)
    before = one.rider.state_hash(), one.crowd.state_hash()
    with pytest.raises(ValueError, match="'loners': 'giant'"):
        one.world.update(FRAME)
    assert (one.rider.state_hash(), one.crowd.state_hash()) == before


def test_a_state_inside_a_change_of_the_ground_is_refused():
    one = scene()

    def handle():
        for call in (one.ground.state, one.world.state, one.world.state_hash):
            with pytest.raises(RuntimeError, match="must not be called inside a change"):
                call()

    one.ground._held.change(handle)  # as a signal handler that interrupts a move
    one.world.state()


def test_groups_of_any_size_and_none():
    one = scene()
    empty = one.world.add("empty", CharacterGroup(one.ground, BODY))
    before = one.world.state()
    empty.add("one", (0, 5, 0))
    one.play(0)
    one.world.restore(before)
    assert len(empty) == 0
    one.play(0)

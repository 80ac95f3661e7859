"""States of this process are restored as they are; copies of them, and all others, are checked."""

import copy
import dataclasses
import gc
import json
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import terrain_physics as tp
from terrain_physics._kernels.character.state import layout as columns
from tests.character.test_riders import (
    TIMES,
    change,
    drawn_ground,
    drawn_rules,
    move,
    steer,
)
from tests.helpers.characters import FRAME, run
from tests.helpers.draws import Draws
from tests.helpers.examples import rest_is_full

BODY = tp.CapsuleCollider(0.4, 1.8)
UNTRUSTED = {
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "pickled": lambda state: pickle.loads(pickle.dumps(state)),
    "replaced": dataclasses.replace,
    "from JSON": lambda state: type(state).from_dict(json.loads(json.dumps(state.to_dict()))),
    "made of its fields": lambda state: type(state)(
        *(getattr(state, field.name) for field in dataclasses.fields(state))
    ),
}


def floor(level=0.0):
    return tp.HeightMap(np.full((30, 30), level), cell_size=1.0)


def hero_on(ground):
    """Return a character asleep, and the same as a group of one."""
    hero = tp.CharacterMovement(ground, BODY, position=(10, 1, 10))
    run(hero, 5)
    return hero


def crowd_on(ground):
    group = tp.CharacterGroup(ground, BODY)
    group.add_many(["ada", "bob"], [(10, 1, 10), (12, 1, 10)])
    run(group, 5)
    return group


def raw(thing):
    rows = thing._row() if isinstance(thing, tp.CharacterView) else thing._data.rows()
    return [part.tobytes() for part in rows.saved()]


def looks_again(thing):
    rows = thing._row() if isinstance(thing, tp.CharacterView) else thing._data.rows()
    return bool((rows.state[..., columns.UNDISTURBED] == 0.0).all())


@pytest.mark.parametrize("make", [hero_on, crowd_on])
class TestTrust:
    def test_a_state_itself_is_restored_as_it_is(self, make):
        thing = make(floor())
        before, state = raw(thing), thing.state()
        for frame in range(20):
            first = thing if make is hero_on else thing["ada"]
            first.walk(2, 0) if frame < 10 else first.jump(1)
            thing.update(FRAME)
        thing.restore(state)
        assert raw(thing) == before
        thing.update(FRAME)
        other = make(floor())
        other.update(FRAME)
        assert raw(thing) == raw(other)

    @pytest.mark.parametrize("way", UNTRUSTED)
    @pytest.mark.parametrize("is_read", [False, True])
    def test_no_copy_is_trusted(self, make, way, is_read):
        thing = make(floor())
        before, state = thing.state_hash(), thing.state()
        if is_read:
            repr(state)
        other = UNTRUSTED[way](state)
        assert other == state
        assert hash(other) == hash(state)
        assert repr(other) == repr(state)
        assert not looks_again(thing)
        thing.restore(other)
        assert looks_again(thing)
        assert thing.state_hash() == before
        thing.restore(state)
        assert not looks_again(thing)

    def test_it_is_the_same_value_as_before(self, make):
        thing = make(floor())
        state, other = thing.state(), thing.state()
        assert state == other
        assert state is not other
        assert hash(state) == hash(other)
        names = [field.name for field in dataclasses.fields(state)]
        assert repr(state) == repr(copy.copy(other))
        assert list(type(state).__match_args__) == names
        assert not hasattr(state, "values_")
        with pytest.raises(AttributeError, match=r"State' object has no attribute 'keyz'"):
            state.keyz  # noqa: B018
        with pytest.raises(dataclasses.FrozenInstanceError):
            state.format = 2
        with pytest.raises((AttributeError, TypeError)):
            state.anything = 2

    def test_others_fields_end_the_trust(self, make):
        """By methods of objects that nobody calls, but that are no private names."""
        thing = make(floor())
        known, state = thing.state(), thing.state()
        run(thing, 3)
        fields = [getattr(known, field.name) for field in dataclasses.fields(known)]
        state.__init__(*fields)
        thing.restore(state)
        assert looks_again(thing)
        state = thing.state()
        state.__setstate__(known.__getstate__())
        thing.restore(state)
        assert looks_again(thing)
        kind: Any = type(state)
        half = kind.__new__(kind)
        with pytest.raises(AttributeError):
            half.format  # noqa: B018
        with pytest.raises(AttributeError):
            thing.restore(half)

    def test_another_ground_is_looked_at(self, make):
        """Also if it is equal, and after the first one is gone."""
        thing = make(floor())
        state = thing.state()
        thing.ground = floor(-1.0)
        gc.collect()
        thing.restore(state)
        assert looks_again(thing)
        result = thing.update(FRAME)
        assert not np.any(result.grounded)

    def test_a_state_outlives_its_ground(self, make):
        state = make(floor()).state()
        gc.collect()
        other = make(floor())
        other.restore(state)
        assert looks_again(other)

    def test_a_map_of_small_cells_that_came_meanwhile(self, make):
        ground = tp.Ground([floor()])
        thing = make(ground)
        state, before = thing.state(), raw(thing)
        for small in thing.values() if make is crowd_on else [thing]:
            small.resize(tp.CapsuleCollider(0.05, 1.8))
        key = ground.add(tp.HeightMap(np.zeros((30, 30)), cell_size=0.001, origin=(40, 0, 40)))
        thing.update(FRAME)
        now = raw(thing)
        for given in (state, copy.copy(state)):
            with pytest.raises(ValueError, match="must cover at most"):
                thing.restore(given)
            assert raw(thing) == now
        ground.remove(key)
        thing.restore(state)
        thing.update(FRAME)
        twin = make(tp.Ground([floor()]))
        twin.update(FRAME)
        assert thing.state_hash() == twin.state_hash()
        assert len(before) == 4


class Calling:
    """An owner that calls a function when its place is set."""

    call: Callable[[], Any] | None = None
    _position = (10.0, 1.0, 10.0)

    @property
    def position(self):
        return self._position

    @position.setter
    def position(self, position):
        self._position = position
        if self.call is not None:
            self.call()


@pytest.mark.parametrize("is_in_group", [False, True])
def test_no_restore_inside_an_update(is_in_group):
    """Of the character or its group, whatever the state; other characters are free."""
    owner, ground = Calling(), floor()
    hero = tp.CharacterMovement(ground, BODY, owner=owner)
    group, other = crowd_on(ground), hero_on(ground)
    if is_in_group:
        group.add("hero", movement=hero)
    updated = group if is_in_group else hero
    states = [hero.state(), copy.copy(hero.state())]
    calls: list[Callable[[], None]] = [partial(hero.restore, state) for state in states]
    if is_in_group:
        groups = [group.state(), copy.copy(group.state())]
        calls += [partial(group.restore, state) for state in groups]
        calls += [lambda: group["ada"].restore(hero.state())]
    for call in calls:
        owner.call = None
        updated.restore(groups[0] if is_in_group else states[0])
        owner.call = call
        with pytest.raises(RuntimeError, match="restore must be called between updates"):
            updated.update(FRAME)
    owner.call = lambda: other.restore(other.state())
    assert updated.update(FRAME).seconds == FRAME
    owner.call = None
    updated.restore(groups[0] if is_in_group else states[0])
    assert owner.position == hero.position64 == (10.0, 1.0, 10.0)


def test_a_state_goes_to_any_character_of_its_kind():
    """Of another body and size too, alone and in a group, asleep on the same ground."""
    ground = tp.Ground([floor()])
    hero, group = hero_on(ground), crowd_on(ground)
    low = tp.CharacterMovement(ground, tp.CapsuleCollider(0.2, 0.9), position=(3, 1, 3))
    state, known = hero.state(), hero.state_hash()
    for other in (low, group["bob"]):
        other.restore(state)
        assert other.state_hash() == known
        assert other.collider == BODY
        assert raw(other) == raw(hero)
    assert group.state().colliders == (BODY, BODY)
    box = tp.CharacterMovement(ground, tp.BoxCollider((1, 1, 1)), position=(3, 1, 3))
    with pytest.raises(ValueError, match="same kind of collider"):
        box.restore(state)


class Ride:
    """A group and a character alone, on ground whose parts move, come and go."""

    def __init__(self, seed):
        self.seed, self.ground = seed, drawn_ground(Draws(seed))
        draws = Draws(seed + 50)
        self.group = tp.CharacterGroup(self.ground, seed=seed, collide=draws.chance(0.5))
        for key in range(3):
            self.group.add(key, **drawn_rules(draws))
        self.hero = tp.CharacterMovement(self.ground, **drawn_rules(draws))

    def play(self, frame):
        draws = Draws(1000 * self.seed + frame)
        change(draws, self.ground)
        move(draws, self.ground)
        for mover in (self.hero, *self.group.values()):
            steer(draws, mover)
        seconds = draws.one_of(TIMES)
        self.hero.update(seconds)
        self.group.update(seconds)

    def told(self):
        movers = self.hero, *self.group.values()
        reports = [(repr(mover.move_result()), repr(mover.ground_report())) for mover in movers]
        rides = sum(any(mover.ground_report().velocity) for mover in movers)
        states = self.group.state(), self.hero.state(), self.hero.state_hash()
        return (reports, list(self.ground.parts), *states), rides


def ride_twice(seed, frames=40):
    """Ride straight on, and with states put back in any order; return how often somebody rode."""
    twin, tape, rides = Ride(seed), [], 0
    for frame in range(frames):
        twin.play(frame)
        told, riding = twin.told()
        tape.append(told)
        rides += riding
    draws, ride, frame, returns = Draws(seed + 1), Ride(seed), 0, 0
    things = ride.ground, ride.group, ride.hero
    saved = [(0, [thing.state() for thing in things])]
    while frame < frames:
        if draws.chance(0.2):
            saved.append((frame, [thing.state() for thing in things]))
        if returns < 8 and draws.chance(0.2):
            frame, states = draws.one_of(saved)
            for k in draws.order(3):
                things[k].restore(states[k])
            returns += 1
        ride.play(frame)
        assert ride.told()[0] == tape[frame], (seed, frame)
        frame += 1
    return rides


@pytest.mark.parametrize("seed", rest_is_full([17, 16, 3, *range(30, 50)], 3))
def test_riders_restored_with_their_ground_go_on_with_equal_bits(seed):
    assert ride_twice(seed) >= 0


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_many_rides(block):
    assert sum(ride_twice(seed) for seed in range(100 * block, 100 * block + 100)) > 2000


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, "pickled", "left a group"])
def test_a_character_that_fits_is_not_measured_again(way, monkeypatch):
    """Nor after it was loaded, or left a group."""
    hero = hero_on(tp.Ground([floor()]))
    if way == "left a group":
        group = tp.CharacterGroup(hero.ground)
        group.add("hero", movement=hero)
        group.update(FRAME)
        group.remove("hero")
    else:
        hero = pickle.loads(pickle.dumps(hero)) if way == "pickled" else way(hero)
    state = hero.state()
    monkeypatch.setattr("terrain_physics.character.view.refuse_too_wide", None)
    hero.restore(state)
    hero.restore(hero.state())


def restore_twice(seed, frames=40):
    """Restore states and copies of them, also of the ground alone, and never all together.

    A copy looks at the ground anew, so it cannot rely on what a state remembers of its ground.
    """
    draws, rides = Draws(seed + 7), [Ride(seed), Ride(seed)]
    grounds: list[list[Any]] = [[], []]
    states: list[list[Any]] = [[], []]
    for frame in range(frames):
        kind, place = draws.below(6), draws.below(100)
        for ride, own_grounds, own_states in zip(rides, grounds, states, strict=True):
            is_copied = ride is rides[0]
            things: tuple[Any, ...] = ride.group, ride.hero
            if kind == 0:
                own_grounds.append(ride.ground.state())
                own_states.append([thing.state() for thing in things])
            elif kind == 1 and own_grounds:
                ride.ground.restore(own_grounds[place % len(own_grounds)])
                if is_copied:
                    for thing in things:
                        thing.restore(copy.copy(thing.state()))
            elif kind == 2 and own_states:
                for thing, state in zip(things, own_states[place % len(own_states)], strict=True):
                    thing.restore(copy.copy(state) if is_copied else state)
            ride.play(frame)
        assert rides[0].told() == rides[1].told(), (seed, frame)


@pytest.mark.parametrize("seed", rest_is_full(range(30), 2))
def test_states_go_on_as_copies_do_whatever_became_of_the_ground(seed):
    restore_twice(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_many_states_go_on_as_copies_do(block):
    for seed in range(100 * block, 100 * block + 100):
        restore_twice(seed)

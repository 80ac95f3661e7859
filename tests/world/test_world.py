"""A world is a mapping, steps its things as by hand, and refuses what would break it."""

import copy
import pickle
import signal
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    FixedStep,
    Ground,
    GroupResult,
    MoveResult,
    Rewind,
    SphereCollider,
    TriangleMesh,
    World,
)
from tests.world.scenes import BODY, FRAME, hills, scene


def test_it_is_a_mapping_in_the_order_of_adding():
    one = scene()
    world = one.world
    assert list(world) == ["loners", "rider", 5, "walker"]
    assert world["rider"] is one.rider
    assert world[np.int64(5)] is one.crowd  # type: ignore[index]
    assert len(world) == 4
    assert "walker" in world
    assert "5" not in world
    assert [] not in world  # type: ignore[comparison-overlap]
    assert world.get("nobody") is None
    world.remove("rider")
    assert list(world.values()) == [one.loners, one.crowd, one.walker]
    assert world.add("again", one.rider) is one.rider
    assert list(world) == ["loners", 5, "walker", "again"]
    with pytest.raises(KeyError, match="nothing in the world has the key 'rider'"):
        world.remove("rider")
    assert world != scene().world


def test_an_update_is_that_of_each_by_hand():
    one, twin = scene(), scene()
    for frame in range(45):
        results = one.play(frame)
        by_hand = twin.play(frame, by_hand=True)
        assert list(results) == ["rider", "walker", "loners", 5]
        assert results["rider"] == by_hand[0]
        assert results["walker"] == by_hand[1]
        assert results[5] == by_hand[2]
        assert isinstance(results["rider"], MoveResult)
        assert isinstance(results[5], GroupResult)
        assert one.world.hashes() == twin.world.hashes()
    assert one.walker.state_hash() == twin.walker.state_hash()
    assert one.world.state_hash() == twin.world.state_hash()


def test_an_update_of_no_time_does_nothing():
    one = scene()
    before = one.world.state_hash()
    assert not one.world.update(0.0)["walker"].just_landed
    assert one.world.state_hash() == before


def _elsewhere() -> CharacterMovement:
    return CharacterMovement(hills(), BODY)


@pytest.mark.parametrize(
    ("key", "make", "error", "words"),
    [
        (True, _elsewhere, TypeError, "key must be a str or an int, got True"),
        ("rider", _elsewhere, ValueError, "key must be new, got 'rider' again"),
        ("new", _elsewhere, ValueError, "thing must stand on the world's own ground, got one on"),
        ("new", lambda: 3, TypeError, "thing must be a CharacterMovement or a CharacterGroup"),
    ],
)
def test_what_cannot_be_added(
    key: Any, make: Callable[[], Any], error: type[Exception], words: str
):
    one = scene()
    with pytest.raises(error, match=words):
        one.world.add(key, make())
    assert len(one.world) == 4


def test_a_thing_is_added_once_and_not_beside_its_group():
    one = scene()
    with pytest.raises(ValueError, match="thing must be new, got that of key 5 again"):
        one.world.add("new", one.crowd)
    hero = CharacterMovement(one.ground, BODY)
    one.crowd.add("hero", movement=hero)
    with pytest.raises(ValueError, match="thing must be in no group, is in one as 'hero'"):
        one.world.add("new", hero)


def test_a_thing_is_in_one_world_at_a_time():
    one = scene()
    other, state = World(one.ground), one.world.state()
    for key in ("rider", 5):
        there = one.world.state_hash()
        with pytest.raises(ValueError, match="thing must be in no other World, is in <World: 4 ch"):
            other.add("late", one.world[key])
        assert (len(other), one.world.state_hash()) == (0, there)
    one.world.remove("rider")
    other.add("late", one.rider)
    there = one.world.state_hash()
    with pytest.raises(ValueError, match="'rider': it must be in no other World"):
        one.world.restore(state)
    assert (len(one.world), one.world.state_hash()) == (3, there)
    kept = other.state()
    del other  # a world that is gone has nothing, though a state of it is kept
    one.world.restore(state)
    assert one.world["rider"] is one.rider
    assert kept.keys == ("late",)
    copied = copy.deepcopy(one.world)
    with pytest.raises(ValueError, match="in no other World"):
        World(copied.ground).add("late", copied["rider"])


def test_who_has_gone_elsewhere_is_named_and_nobody_moves():
    one = scene()
    one.world.remove("walker")
    before = one.world.hashes()
    one.crowd.add("rider", movement=one.rider)
    with pytest.raises(ValueError, match="'rider': it must be in no group, is in one as 'rider'"):
        one.world.update(FRAME)
    one.crowd.remove("rider")
    one.loners.ground = Ground([hills()])
    with pytest.raises(ValueError, match="'loners': it must stand on the world's own ground"):
        one.world.update(FRAME)
    one.loners.ground = one.ground
    assert one.world.hashes() == before


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_bad_value_is_named_and_nobody_moves(bad: float):
    one = scene()
    one.play(0)
    before = one.rider.state_hash()
    one.walker.velocity.x = bad
    for call in (lambda: one.world.update(FRAME), one.world.state, one.world.state_hash):
        with pytest.raises(ValueError, match=r"'walker': velocity\.x must be finite"):
            call()
    one.walker.velocity.x = 1
    assert one.rider.state_hash() == before
    one.world.update(FRAME)


@pytest.mark.parametrize("bad", [-1.0, float("nan"), "1"])
def test_bad_times_are_refused(bad: Any):
    one = scene()
    before = one.world.state_hash()
    with pytest.raises((TypeError, ValueError), match="delta_time must be"):
        one.world.update(bad)
    assert one.world.state_hash() == before


def test_a_body_that_is_too_wide_for_a_new_map_is_named_before_anybody_moves():
    one = scene()
    one.loners.add("giant", (0, 40, 0), collider=SphereCollider(30))
    one.play(0)
    before = one.world.hashes()
    fine = hills().__class__(np.zeros((9, 9)), cell_size=0.01, origin=(50, 0, 50))
    key = one.ground.add(fine)
    with pytest.raises(ValueError, match="'loners': 'giant'"):
        one.world.update(FRAME)
    assert one.world.hashes() == before
    one.ground.remove(key)
    one.world.update(FRAME)


def test_clock_and_extra():
    land = hills()
    world, clock = World(land), FixedStep(1 / 120, max_steps=3)
    assert world.clock.seconds == 1 / 60
    assert World(land, clock=clock).clock is clock
    assert world.extra == b""
    world.extra = b"score"
    for bad in ("score", bytearray(b"score"), None):
        with pytest.raises(TypeError, match="extra must be bytes, such as"):
            world.extra = bad  # type: ignore[assignment]
    assert world.extra == b"score"
    with pytest.raises(TypeError, match="clock must be"):
        World(land, clock=1 / 60)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="ground must be"):
        World(TriangleMesh)  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="did you mean extra"):
        world.extras = b""  # type: ignore[attr-defined]


class _Meddling:
    """An owner that does something to the world as soon as its character moves."""

    def __init__(self) -> None:
        self.position = (4.0, 3.0, 4.0)
        self.deed: Callable[[], Any] = lambda: None
        self.errors: list[BaseException] = []

    def moved(self, place: Any) -> None:
        self.position = place
        try:
            self.deed()
        except RuntimeError as error:
            self.errors.append(error)


def _in_a_thread(deed: Callable[[], Any], owner: _Meddling) -> None:
    def run() -> None:
        try:
            deed()
        except RuntimeError as error:
            owner.errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def _by_a_signal(deed: Callable[[], Any], owner: _Meddling) -> None:
    def handle(*_: Any) -> None:
        try:
            deed()
        except RuntimeError as error:
            owner.errors.append(error)

    known = signal.signal(signal.SIGUSR1, handle)
    try:
        signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, known)


@pytest.mark.parametrize("way", [lambda deed, _: deed(), _in_a_thread, _by_a_signal])
def test_a_call_inside_an_update_is_refused(way: Callable[[Callable[[], Any], _Meddling], None]):
    one, owner = scene(), _Meddling()
    read, write = (lambda owner: owner.position), _Meddling.moved
    hero = CharacterMovement(one.ground, BODY, owner=owner, read=read, write=write)
    one.world.add("hero", hero)
    state, rewind = one.world.state(), Rewind(one.world)
    rewind.save(0)
    deeds: list[tuple[str, Callable[[], Any]]] = [
        ("update", lambda: one.world.update(FRAME)),
        ("state", one.world.state),
        ("restore", lambda: one.world.restore(state)),
        ("hashes", one.world.hashes),
        ("state_hash", one.world.state_hash),
        ("add", lambda: one.world.add("late", CharacterMovement(one.ground, BODY))),
        ("remove", lambda: one.world.remove("rider")),
        ("save", lambda: rewind.save(1)),
        ("restore", lambda: rewind.restore(0)),
        ("restore", lambda: rewind.replay(0, 1, one.play)),
    ]
    for name, deed in deeds:
        one.world.restore(state)
        one.world.update(FRAME)
        there = one.world.state_hash()
        one.world.restore(state)
        owner.deed, owner.errors = partial(way, deed, owner), []
        one.world.update(FRAME)
        owner.deed = lambda: None
        assert [str(error).split()[0] for error in owner.errors] == [name]
        assert "must wait until update of this world has returned" in str(owner.errors[0])
        assert one.world.state_hash() == there
        assert rewind.frames == (0,)


def test_a_pickled_or_copied_world_goes_on_alike():
    one = scene()
    for frame in range(20):
        one.play(frame)
    for other in (pickle.loads(pickle.dumps(one.world)), copy.deepcopy(one.world)):
        assert other.ground is not one.ground
        assert other["rider"] is not one.rider
        assert other.hashes() == one.world.hashes()
        assert other["rider"].ground is other.ground
        other.update(FRAME)
        twin = copy.deepcopy(one.world)
        twin.update(FRAME)
        assert other.state_hash() == twin.state_hash()
    with pytest.raises(TypeError, match="World must be copied with its things"):
        copy.copy(one.world)


def test_a_world_of_a_map_or_a_mesh_alone():
    for ground in (hills(), TriangleMesh.box((9, 1, 9))):
        world = World(ground)
        ball = world.add("ball", CharacterMovement(ground, SphereCollider(0.5), position=(0, 3, 0)))
        before = world.state()
        for _ in range(30):
            world.update(FRAME)
        there = ball.position64
        world.restore(before)
        assert [*ball.position64] == [0, 3, 0]
        for _ in range(30):
            world.update(FRAME)
        assert ball.position64 == there


def test_an_empty_world():
    world = World(hills())
    assert world.update(FRAME) == {}
    assert world.hashes() == []
    world.restore(world.state())
    group = world.add("group", CharacterGroup(world.ground))
    assert world.state_hash() != World(world.ground).state_hash()
    assert len(group) == 0
    world.update(FRAME)

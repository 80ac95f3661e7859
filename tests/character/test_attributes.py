"""Attributes that may be set on characters, groups and members: known ones, and no slips."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    CharacterView,
    HeightMap,
    SphereCollider,
)

FRAME = 1 / 60
FLOOR = HeightMap(np.zeros((40, 40)))
BALL = SphereCollider(0.5)


class Hero(CharacterMovement):
    """A character as a game makes it."""

    lives = 3
    positions = ()  # looks like a slip, and is declared to be none

    def __init__(self, *args, **rules):
        super().__init__(*args, **rules)
        self.health, self.old_velocity, self._velocty = 100, (0, 0, 0), None

    def hop(self):
        self.jumps = getattr(self, "jumps", 0) + 1
        self.velocity.y = 5


class Knight(Hero):
    """A character two classes down."""

    @property
    def armor(self):
        return self._armor

    @armor.setter
    def armor(self, value):
        self._armor = value


class Crowd(CharacterGroup):
    """A group as a game makes it."""


def alone(kind=CharacterMovement):
    return kind(FLOOR, BALL, position=(5, 0.5, 5))


def crowd(kind=CharacterGroup):
    group = kind(FLOOR, BALL)
    group.add("ada", (5, 0.5, 5))
    return group


def everything():
    return {
        "one": alone(),
        "own": alone(Hero),
        "own of own": alone(Knight),
        "group": crowd(),
        "own group": crowd(Crowd),
        "member": crowd()["ada"],
    }


ALONE = ("one", "own", "own of own", "member")
GROUPS = ("group", "own group")

SLIPS = {
    "velocty": "velocity",
    "veloctiy": "velocity",
    "Velocity": "velocity",
    "postion": "position",
    "gravty": "gravity",
    "gravity_scal": "gravity_scale",
    "gravityScale": "gravity_scale",
    "slopelimit": "slope_limit",
    "slope_limt": "slope_limit",
    "step_ofset": "step_offset",
    "snap_distanse": "snap_distance",
    "resolvr": "resolver",
    "colider": "collider",
    "max_round": "max_rounds",
    "groud": "ground",
    "ground_frction": "ground_friction",
    "rotaton": "rotation",
    "positon64": "position64",
}
GROUP_SLIPS = {
    "postions": "positions",
    "velocites": "velocities",
    "max_deltas": "max_delta",
    "groud": "ground",
}


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("name", ALONE)
def test_a_slip_is_refused(name, slip):
    mover = everything()[name]
    before = mover.state()
    text = f"^{type(mover).__name__} has no attribute {slip}: did you mean {SLIPS[slip]}\\?"
    for _ in range(2):  # it is no better the second time
        with pytest.raises(AttributeError, match=text):
            setattr(mover, slip, 1)
    assert not hasattr(mover, slip)
    assert mover.state() == before


@pytest.mark.parametrize("slip", GROUP_SLIPS)
@pytest.mark.parametrize("name", GROUPS)
def test_a_slip_is_refused_by_groups(name, slip):
    with pytest.raises(AttributeError, match=f"{slip}: did you mean {GROUP_SLIPS[slip]}\\?"):
        setattr(everything()[name], slip, 1)


@pytest.mark.parametrize("name", ["one", "group", "member"])
def test_the_classes_themselves_take_nothing_else(name):
    thing = everything()[name]
    for unknown in ("health", "x", "speed", "tag", "userdata"):
        with pytest.raises(AttributeError, match=f"has no attribute {unknown}: only a subclass"):
            setattr(thing, unknown, 1)
        assert not hasattr(thing, unknown)


@pytest.mark.parametrize("name", ["own", "own of own", "own group"])
def test_subclasses_may_have_their_own(name):
    thing = everything()[name]
    owns = ("health", "x", "speed", "old_position", "is_grounded", "velocity_before", "_velocty")
    for number, own in enumerate(owns):
        setattr(thing, own, number)
        setattr(thing, own, number)
    assert [getattr(thing, own) for own in owns] == list(range(len(owns)))


def test_a_subclass_in_a_game():
    for kind in (Hero, Knight):
        hero = alone(kind)
        hero.update(FRAME)
        hero.hop()
        hero.lives -= 1
        hero.positions = [hero.position64]
        assert (hero.lives, hero.jumps, hero.health) == (2, 1, 100)
        assert not hero.update(FRAME).grounded
        assert hero.position.y > 0.5
    hero.armor = 7
    assert hero.armor == 7
    with pytest.raises(AttributeError, match="positions"):
        alone().positions = ()


def test_what_one_class_takes_another_does_not():
    class One(CharacterMovement):
        pass

    class Other(CharacterMovement):
        veloctiy = 0

    alone(One).mana = 3
    alone(Other).veloctiy = 3
    with pytest.raises(AttributeError, match="did you mean velocity"):
        alone(One).veloctiy = 3
    with pytest.raises(AttributeError, match="only a subclass"):
        alone().mana = 3


def test_the_way_out_is_told_to_subclasses_only():
    with pytest.raises(
        AttributeError, match=r"\(or give Hero an attribute velocty in its class\)$"
    ):
        alone(Hero).velocty = 1
    with pytest.raises(AttributeError, match=r"did you mean velocity\?$"):
        alone().velocty = 1


def test_annotations_declare_attributes_too():
    @dataclasses.dataclass(eq=False)
    class Hero(CharacterMovement):
        positions: list[int] = dataclasses.field(default_factory=list)

        def __post_init__(self):
            super().__init__(FLOOR, BALL, position=(5, 0.5, 5))

    hero = Hero()
    hero.positions = [3]
    assert hero.update(FRAME).grounded


def test_names_like_those_of_methods_are_no_slips():
    hero = alone(Hero)
    hero.stats, hero.hit, hero.updated = {}, True, 3
    assert (hero.stats, hero.hit, hero.updated) == ({}, True, 3)


@pytest.mark.parametrize("name", everything())
def test_methods_are_not_written_over(name):
    thing = everything()[name]
    for method in ("state", "teleport", "reset", "restore", "hits"):
        with pytest.raises(AttributeError, match=f"^{method} is a method of .*: call it$"):
            setattr(thing, method, (1, 2, 3))
        assert callable(getattr(thing, method))


def test_a_class_may_override_a_method_by_an_attribute():
    class Recorded(CharacterMovement):
        hits = ()  # type: ignore[assignment]

    hero = alone(Recorded)
    hero.hits = (1, 2)
    assert hero.hits == (1, 2)


def test_what_is_given_to_a_class_later_can_be_set():
    class Late(CharacterMovement):
        pass

    hero = alone(Late)
    with pytest.raises(AttributeError):
        hero.gravty = 1
    Late.gravty = 0  # type: ignore[attr-defined]
    hero.gravty = 1
    assert hero.gravty == 1


@pytest.mark.parametrize("name", ALONE)
def test_what_can_only_be_read_stays_so(name):
    mover = everything()[name]
    for known in ("grounded", "position64", "collider", "ground_normal"):
        with pytest.raises(AttributeError):
            setattr(mover, known, 1)


@pytest.mark.parametrize("name", ALONE)
def test_what_can_be_set_can_be_set(name):
    mover = everything()[name]
    mover.position, mover.velocity = (1, 2, 3), glm.vec3(1, 0, 0)
    mover.rotation = glm.quat(1, 0, 0, 0)
    mover.resolver, mover.ground_rule, mover.slope_speed = "simultaneous", "sum", "surface"
    mover.gravity = mover.gravity_scale = mover.slope_limit = 1
    assert isinstance(mover, CharacterView)
    assert mover.position == glm.vec3(1, 2, 3)


def test_mixed_with_a_class_of_the_game():
    class Sprite:
        def __init__(self):
            self.image = "ball.png"
            self.rect = (0, 0, 4, 4)

    class Actor(CharacterMovement, Sprite):
        def __init__(self):
            CharacterMovement.__init__(self, FLOOR, BALL, position=(5, 0.5, 5))
            Sprite.__init__(self)

    actor = Actor()
    actor.rect = (1, 1, 4, 4)
    assert actor.update(FRAME).grounded
    with pytest.raises(AttributeError, match="did you mean velocity"):
        actor.velocty = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "way", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))]
)
def test_copies_keep_own_attributes(way):
    hero = way(alone(Hero))
    assert (hero.health, hero.lives) == (100, 3)
    with pytest.raises(AttributeError, match="did you mean"):
        hero.velocty = 1


def test_slips_in_rules_by_name():
    group = crowd()
    for call in (
        lambda: group.add("bob", (1, 1, 1), slope_limt=1),
        lambda: CharacterGroup(FLOOR, BALL, slope_limt=1),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError, match=r"got 'slope_limt'; did you mean slope_limit\?"):
            call()
    assert tuple(group) == ("ada",)

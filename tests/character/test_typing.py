"""Types of characters for type checkers: mypy checks this file with all others."""

from typing import Any, Literal, assert_type

import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    CharacterRules,
    CharacterView,
    FixedStep,
    Ground,
    GroupMember,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)

FLOOR = HeightMap([[0, 0], [0, 0]])
BALL = SphereCollider(0.5)


def made() -> tuple[CharacterMovement, GroupMember, CharacterGroup]:
    group = CharacterGroup(FLOOR, BALL)
    group.add("ada", (0, 1, 0))
    return CharacterMovement(FLOOR, BALL), group["ada"], group


def test_vectors_are_vectors() -> None:
    mover, member, _ = made()
    assert_type(mover.position, glm.vec3)
    assert_type(member.velocity, glm.vec3)
    assert_type(mover.position.x, float)
    assert_type(mover.position + member.velocity, glm.vec3)
    assert_type(mover.position64, tuple[float, float, float])
    views: list[CharacterView] = [mover, member]
    for view in views:
        assert_type(view.position, glm.vec3)
        view.position = (1, 2, 3)
        view.position = [1.0, 2.0, 3.0]
        view.position = glm.vec3(1, 2, 3)
        view.velocity = (0, 0, 0)
        view.velocity.x = 1  # still a vector, whatever was set
        view.rotation = glm.quat(1, 0, 0, 0)
        assert_type(view.rotation, glm.mat3)
        assert view.position == glm.vec3(1, 2, 3)


def test_words_are_words() -> None:
    mover, member, _ = made()
    assert_type(mover.resolver, Literal["shuffled", "simultaneous"])
    assert_type(member.ground_rule, Literal["contact", "sum"])
    assert_type(mover.slope_speed, Literal["horizontal", "surface"])
    mover.resolver, member.ground_rule, mover.slope_speed = "simultaneous", "sum", "surface"
    with pytest.raises(ValueError, match="resolver must be one of"):
        mover.resolver = "shufled"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="ground_rule must be one of"):
        member.ground_rule = "total"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="slope_speed must be one of"):
        CharacterMovement(FLOOR, BALL, slope_speed="flat")  # type: ignore[arg-type]


def test_numbers_are_numbers() -> None:
    mover, member, group = made()
    assert_type(mover.gravity, float)
    assert_type(member.max_rounds, int)
    assert_type(mover.max_delta, float)
    assert_type(group.max_delta, float)
    assert_type(mover.update(0.1).seconds, float)
    assert_type(group.update(0.1).seconds, float)


def test_rules_are_values() -> None:
    mover, member, group = made()
    assert_type(mover.rules, CharacterRules)
    assert_type(member.rules.resolver, Literal["shuffled", "simultaneous"])
    assert_type(mover.rules.replace(mass=3).mass, float)
    mover.rules = member.rules = CharacterRules(leave="up")
    group.add("bob", (1, 1, 1), rules=mover.rules, leave="none")
    with pytest.raises(AttributeError, match="frozen"):
        mover.rules.mass = 3  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="rules must be a CharacterRules"):
        mover.rules = {"mass": 3}  # type: ignore[assignment]
    with pytest.raises(TypeError, match="did you mean mass"):
        CharacterRules(mas=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="leave must be one of"):
        group.add("eve", (1, 1, 1), leave="down")  # type: ignore[arg-type]


def test_grounds_are_grounds() -> None:
    mover, member, group = made()
    assert_type(mover.ground, HeightMap | TriangleMesh | Ground)
    assert_type(group.ground, HeightMap | TriangleMesh | Ground)
    assert_type(member.ground, HeightMap | TriangleMesh | Ground)
    mover.ground = group.ground = FLOOR
    with pytest.raises(TypeError):
        mover.ground = 3  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        member.ground = FLOOR  # type: ignore[misc]


class Sprite:
    """An object of a game with a place of its own kind."""

    place = (1.0, 2.0, 3.0)


def put(sprite: Sprite, place: tuple[float, float, float]) -> None:
    sprite.place = place


def test_functions_are_handed_the_owner() -> None:
    sprite = Sprite()
    mover = CharacterMovement(
        FLOOR,
        BALL,
        owner=sprite,
        axes="z-up",
        read=lambda owner: assert_type(owner, Sprite).place,
        write=lambda owner, place: put(
            assert_type(owner, Sprite), assert_type(place, tuple[float, float, float])
        ),
    )
    assert_type(mover.position, glm.vec3)
    CharacterMovement(FLOOR, BALL, owner=sprite, write=put)
    with pytest.raises(ValueError, match="axes must be one of"):
        CharacterMovement(FLOOR, BALL, owner=sprite, axes="up", write=put)  # type: ignore[arg-type]
    assert_type(FLOOR.to_mesh(axes="y-up-left").vertices, NDArray[np.float32])
    with pytest.raises(ValueError, match="axes must be one of"):
        FLOOR.to_mesh(axes="up")  # type: ignore[arg-type]


def test_slips_are_errors() -> None:
    mover, member, group = made()
    with pytest.raises(AttributeError):
        mover.velocty = 3  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        member.velocty = 3  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        group.postions = 3  # type: ignore[attr-defined]


def test_steps_are_numbers() -> None:
    clock = FixedStep(0.01)
    assert_type(clock.steps(0.1), range)
    assert_type(clock.alpha, float)
    for step in clock.steps(0.1):
        assert_type(step, int)


def steer(view: CharacterView) -> Any:
    """Work with either, as its type says."""
    assert_type(view.position.y, float)
    view.velocity = (1, 0, 0)
    return view.ground


def test_a_view_is_either() -> None:
    mover, member, _ = made()
    assert steer(mover) is steer(member) is FLOOR

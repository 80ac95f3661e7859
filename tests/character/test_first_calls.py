"""The first calls of a game as people write them: a place, a pair, a place for a mesh."""

from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import CapsuleCollider, CharacterMovement, Ground, HeightMap, TriangleMesh

LAND, BODY = HeightMap(np.zeros((9, 9))), CapsuleCollider(0.4, 1.8)


def test_the_place_of_a_character_is_third() -> None:
    assert CharacterMovement(LAND, BODY, (5, 0.9, 4)).position64 == (5.0, 0.9, 4.0)
    message = r"CharacterMovement\(ground, collider, position, \*, .* give \d+ by name, such as rot"
    with pytest.raises(TypeError, match=message):
        CharacterMovement(LAND, BODY, (5, 0.9, 4), 7)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="give 7 by name, such as owner=7"):  # it has a rotation
        CharacterMovement(LAND, BODY, (5, 0.9, 4), 7, rotation=np.eye(3))  # type: ignore[misc]


PAIRS: tuple[Any, ...] = ((3, -4), [3, -4], glm.vec2(3, -4), glm.dvec2(3, -4), np.array([3, -4]))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair).__name__)
def test_it_walks_by_two_numbers_or_a_pair(pair: Any) -> None:
    hero, other = (CharacterMovement(LAND, BODY, (5, 2, 4)) for _ in range(2))
    for one in (hero, other):
        one.update(0.1)
    hero.walk(3, -4)
    other.walk(pair)
    assert hero.velocity == other.velocity
    assert hero.velocity.y < 0
    assert hero.state_hash() == other.state_hash()


@pytest.mark.parametrize("value", [3, glm.vec3(1, 0, 0), (1, 0, 0), {1, 2}, "ab", None, [[1, 2]]])
def test_what_is_no_pair_is_refused(value: Any) -> None:
    hero = CharacterMovement(LAND, BODY, (5, 2, 4))
    with pytest.raises(TypeError, match=r"walk\(vx, vz\) takes two numbers, .*or a pair of them"):
        hero.walk(value)
    with pytest.raises(TypeError, match="vx must be a finite number"):
        hero.walk((1, 0), 0)  # type: ignore[call-overload]
    assert hero.velocity == glm.vec3(0)


@pytest.mark.parametrize("value", [(1, [2, 3]), [1, "b"], (1, None), (1, (2, [3]))])
def test_of_a_pair_it_is_told_what_is_no_number(value: Any) -> None:
    with pytest.raises(TypeError, match="vz must be a finite number"):
        CharacterMovement(LAND, BODY, (5, 2, 4)).walk(value)


def test_a_place_or_a_matrix_is_second_in_add() -> None:
    crate = TriangleMesh.box((2, 2, 2))
    ground = Ground([LAND])
    ground.add(crate, (2, 3, 2))
    ground.add(crate, glm.translate(glm.mat4(1), glm.vec3(6, 1, 6)))
    assert ground.height_at([2, 6], [2, 6]).tolist() == [4.0, 2.0]
    with pytest.raises(TypeError, match=r"transform must be .* position, got 'crate'"):
        ground.add(crate, "crate")

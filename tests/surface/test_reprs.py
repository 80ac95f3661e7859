"""What a console shows of grounds, characters and their states: short, and in words."""

from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
    World,
)

LAND, BALL = HeightMap(np.zeros((9, 9))), SphereCollider(0.5)


def crowd(count: int) -> CharacterGroup:
    group = CharacterGroup(LAND, BALL)
    for key in range(count):
        group.add(key, (key, 0.5, 1))
    return group


def world(count: int) -> World:
    made = World(LAND)
    for key in range(count):
        made.add(key, CharacterMovement(LAND, BALL))
    return made


SHOWN: list[tuple[Any, str]] = [
    (Ground([LAND]), "<Ground: 1 height map, 0 meshes>"),
    (Ground([TriangleMesh.box((1, 1, 1))]), "<Ground: 0 height maps, 1 mesh>"),
    (TriangleMesh([(0, 0, 0), (0, 0, 1), (1, 0, 0)], [(0, 1, 2)]), "Mesh: 1 face, 3 vertices>"),
    (crowd(1), "<CharacterGroup: 1 character>"),
    (crowd(2).state(), "<GroupState: 2 characters>"),
    (world(1), "<World: 1 character or group on <HeightMap"),
    (world(2).state(), "<WorldState: 2 characters and groups, "),
    (
        CharacterMovement(LAND, BALL, (1, 2.5, 3)).state(),
        "<CharacterState at (1.000, 2.500, 3.000), of a SphereCollider>",
    ),
]


@pytest.mark.parametrize(("thing", "words"), SHOWN, ids=lambda value: type(value).__name__)
def test_it_is_shown_in_words(thing: Any, words: str) -> None:
    assert words in repr(thing)
    assert len(repr(thing)) < 120

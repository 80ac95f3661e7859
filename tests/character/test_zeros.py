"""All public numbers of a character that are zero are +0.0: in state, report, vectors, results."""

import math
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from tests.helpers.meshes import grid
from tests.helpers.pairwise import pairwise

FLOOR = HeightMap(np.zeros((9, 9)), origin=(-4, 0, -4))
HEIGHTS = np.random.default_rng(0).uniform(0, 0.7, (9, 9))
ROUGH = HeightMap(HEIGHTS, origin=(-4, 0, -4))
GROUNDS: dict[str, Any] = {"floor": FLOOR, "rough": ROUGH, "mesh": TriangleMesh(*grid(HEIGHTS))}
BODIES = [SphereCollider(0.5), CapsuleCollider(0.4, 1.8), BoxCollider((0.4, 0.9, 0.3))]


def numbers(value: Any) -> list[float]:
    """Return all numbers in nested tuples, vectors and arrays."""
    if isinstance(value, float | int | np.floating):
        return [float(value)]
    if isinstance(value, tuple | list | np.ndarray | glm.vec3):
        return [number for part in value for number in numbers(part)]
    return []


def fields(result: Any) -> list[Any]:
    """Return the fields of a result."""
    return [getattr(result, name) for name in type(result).__match_args__]


def assert_no_signed_zero(value: Any) -> None:
    for number in numbers(value):
        assert number != 0.0 or math.copysign(1.0, number) == 1.0, value


def assert_unsigned(mover: Any) -> None:
    state = mover.state()
    assert_no_signed_zero(state.values)
    assert_no_signed_zero((mover.position, mover.position64, mover.velocity, mover.ground_normal))
    assert_no_signed_zero(fields(mover.ground_report()))
    assert_no_signed_zero(mover.constraint_planes())


@pytest.mark.parametrize(
    ("collider", "ground", "rule", "resolver"),
    pairwise(BODIES, GROUNDS, ("contact", "sum"), ("shuffled", "simultaneous")),
)
def test_no_zero_has_a_sign(collider, ground, rule, resolver):
    mover = CharacterMovement(
        GROUNDS[ground], collider,
        position=(-0.0, 1.5, -0.0), ground_rule=rule, resolver=resolver,
    )  # fmt: skip
    assert_unsigned(mover)
    rng = np.random.default_rng(3)
    for frame in range(120):
        if frame % 5 == 0:
            mover.velocity.x, mover.velocity.z = rng.choice([-0.0, 0.0, -2.0, 2.0, -1e-50], 2)
        if frame % 37 == 0:
            mover.velocity = (-0.0, rng.choice([-0.0, 3.0]), -0.0)
            assert_unsigned(mover)
        if frame % 50 == 49:
            mover.position = (-0.0, 1.2, -0.0)
            assert_unsigned(mover)
        assert_no_signed_zero(fields(mover.update(1 / 60)))
        assert_unsigned(mover)


def test_what_float32_rounds_to_zero_has_no_sign():
    mover = CharacterMovement(FLOOR, SphereCollider(0.5), position=(-1e-60, 0.5, -1e-60))
    mover.velocity = (-1e-60, 0, -1e-60)
    assert_no_signed_zero((mover.position, mover.velocity, mover.relative_position((0, 0.5, 0))))
    mover.update(1 / 60)
    assert mover.position64[0] < 0.0
    assert_no_signed_zero((mover.position, mover.velocity))


def test_no_zero_of_a_group_has_a_sign():
    group = CharacterGroup(FLOOR, SphereCollider(0.5))
    group.add(0, (-0.0, 0.5, -0.0), velocity=(-0.0, -0.0, -0.0))
    group.add(1, (1, 0.5, 1))
    group.set_velocities([(-0.0, 0, -0.0)], keys=[1])
    group.set_positions([(-0.0, 0.5, 2)], keys=[1])
    for _ in range(3):
        assert_no_signed_zero((group.positions, group.velocities))
        result = group.update(1 / 60)
        assert_no_signed_zero([p for p in fields(result) if p is not result.ground_normals])
        assert_no_signed_zero(np.nan_to_num(result.ground_normals))
        group[1].velocity.x = -0.0
        group[1].position = (-0.0, 0.5, 2)
        assert_unsigned(group[0])
        assert_unsigned(group[1])

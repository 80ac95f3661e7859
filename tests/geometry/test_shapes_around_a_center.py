"""Boxes and capsules that are given by their center."""

from typing import Any

import pytest
from pyglm import glm

from terrain_physics import AABB, Capsule, CapsuleCollider


@pytest.mark.parametrize("center", [(1, 2, -3), glm.vec3(1, 2, -3), [1.0, 2.0, -3.0]])
def test_a_box_has_half_of_its_size_on_either_side(center: Any) -> None:
    box = AABB.around(center, (4, 0, 1))
    assert (box.lower64, box.upper64) == ((-1.0, 2.0, -3.5), (3.0, 2.0, -2.5))


def test_a_capsule_stands_as_the_body_of_a_character_does() -> None:
    capsule = Capsule.upright((1, 2, -3), radius=0.5, height=1.75)
    assert (capsule.a64, capsule.b64) == ((1.0, 1.625, -3.0), (1.0, 2.375, -3.0))
    body = CapsuleCollider(0.5, 1.75)
    assert capsule.b64[1] + capsule.radius - 2.0 == body.height / 2
    assert Capsule.upright((0, 0, 0), 1, 2) == Capsule((0, 0, 0), (0, 0, 0), 1)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: AABB.around((0, 0, 0), (1, -1, 1)), ValueError, r"size.y must be finite and >= 0"),
        (lambda: AABB.around((0, 0, 0), 2), TypeError, "size must be three numbers, got 2"),
        (lambda: AABB.around((0, 0), (1, 1, 1)), ValueError, "center must be three numbers"),
        (lambda: Capsule.upright((0, 0, 0), 1, 1.5), ValueError, "at least twice the radius"),
        (lambda: Capsule.upright((0, 0, 0), -1, 2), ValueError, "radius must be finite and >= 0"),
    ],
)
def test_other_sizes_are_refused(make: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        make()

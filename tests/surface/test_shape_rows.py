"""Many shapes as arrays: checked once, read-only, values, and asked about as one by one."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    OBB,
    Boxes,
    Capsule,
    Capsules,
    Sphere,
    Spheres,
)

TURN = np.array([(0.6, -0.8, 0.0), (0.8, 0.6, 0.0), (0.0, 0.0, 1.0)])
CENTERS = np.array([(0.4, 0.3, 0.6), (1.5, 0.9, 1.1), (1.0, 9.0, 1.0)])
HALVES = np.array([(0.3, 0.4, 0.5), (0.2, 0.1, 0.7), (1.0, 1.0, 1.0)])
BALLS = np.column_stack([CENTERS, (0.5, 0.8, 0.2)])
PILLS = np.column_stack([CENTERS, CENTERS + np.array((0.1, 0.6, -0.2)), (0.4, 0.3, 0.9)])
Many = Spheres | Capsules | Boxes

# Rows, and the same shapes as single ones.
CASES: dict[str, tuple[Many, list[Any]]] = {
    "spheres": (Spheres(BALLS), [Sphere(row[:3], row[3]) for row in BALLS]),
    "capsules": (Capsules(PILLS), [Capsule(row[:3], row[3:6], row[6]) for row in PILLS]),
    "boxes": (
        Boxes(CENTERS, HALVES, [TURN]),
        [OBB(center, half, TURN) for center, half in zip(CENTERS, HALVES, strict=True)],
    ),
    "boxes that are not turned": (
        Boxes(CENTERS, HALVES),
        [OBB(center, half) for center, half in zip(CENTERS, HALVES, strict=True)],
    ),
}
each_case = pytest.mark.parametrize("name", CASES)


def test_one_row_of_a_box_serves_for_all() -> None:
    one = Boxes(CENTERS, HALVES[:1], TURN[None])
    assert one == Boxes(CENTERS, HALVES[[0, 0, 0]], [TURN] * 3)
    assert len(one) == 3
    assert Boxes(CENTERS[:1], HALVES) == Boxes(CENTERS[[0, 0, 0]], HALVES, [np.eye(3)])


@each_case
def test_no_array_of_theirs_can_be_written(name: str) -> None:
    many, _ = CASES[name]
    parts = ("centers", "half_extents", "rotations") if isinstance(many, Boxes) else ("rows",)
    for part in parts:
        array = getattr(many, part)
        assert len(array) == len(many)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
        with pytest.raises(AttributeError, match=f"{type(many).__name__} is read-only"):
            setattr(many, part, array)


def test_what_they_were_made_of_may_change() -> None:
    balls, pills, centers = BALLS.copy(), PILLS.copy(), CENTERS.copy()
    made = Spheres(balls), Capsules(pills), Boxes(centers, HALVES, [TURN])
    for given in (balls, pills, centers):
        given[:] = np.nan
    assert made == tuple(CASES[name][0] for name in ("spheres", "capsules", "boxes"))


def test_they_say_what_they_hold() -> None:
    assert (Spheres(BALLS).rows == BALLS).all()
    assert (Capsules(PILLS).rows == PILLS).all()
    boxes = Boxes(CENTERS, HALVES, [TURN])
    assert (boxes.centers == CENTERS).all()
    assert (boxes.half_extents == HALVES).all()
    np.testing.assert_allclose(boxes.rotations, [TURN] * 3, atol=1e-15)
    assert [repr(many) for many in (Spheres([]), Capsules(PILLS), boxes)] == [
        "<Spheres: 0>",
        "<Capsules: 3>",
        "<Boxes: 3>",
    ]


@each_case
def test_they_are_values(name: str) -> None:
    many, _ = CASES[name]
    twins = [pickle.loads(pickle.dumps(many, protocol)) for protocol in range(6)]
    for twin in (*twins, copy.copy(many), copy.deepcopy(many)):
        assert twin == many
        assert type(twin) is type(many)
        part = twin.centers if isinstance(twin, Boxes) else twin.rows
        with pytest.raises(ValueError, match="WRITEABLE"):
            part.setflags(write=True)
    others = [other for key, (other, _) in CASES.items() if key != name]
    assert many not in others
    with pytest.raises(TypeError, match="unhashable"):
        hash(many)


BAD: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: Spheres([(0, 0, 0)]), ValueError, r"rows must have shape \(n, 4\), got \(1, 3\)"),
    (lambda: Spheres([(0, 0, 0, -1)]), ValueError, r"radius must be >= 0, got -1.0 in rows\[0\]"),
    (lambda: Spheres([(0, np.nan, 0, 1)]), ValueError, "rows must be finite, got nan"),
    (lambda: Spheres([(0, 1e38, 0, 1)]), ValueError, r"rows must be below 1e\+38 m"),
    (lambda: Spheres("balls"), TypeError, "rows must hold real numbers"),
    (lambda: Spheres(Sphere((0, 0, 0), 1)), TypeError, "rows must hold real numbers"),  # type: ignore[arg-type]
    (lambda: Capsules([(0, 0, 0, 1)]), ValueError, r"rows must have shape \(n, 7\)"),
    (lambda: Capsules([(0, 0, 0, 1, 1, 1, -2)]), ValueError, "radius must be >= 0, got -2.0"),
    (lambda: Boxes([(0, 0, 0)], [(1, -1, 1)]), ValueError, "half extent must be >= 0, got -1.0"),
    (lambda: Boxes([(0, 0, 0)], [(1, 1e38, 1)]), ValueError, r"boxes must be below 1e\+38 m"),
    (lambda: Boxes(np.zeros((2, 3)), np.ones((3, 3))), ValueError, "half_extents has 3"),
    (lambda: Boxes([(0, 0, 0)], [(1, 1, 1)], [2 * TURN]), ValueError, "rotations must be orthono"),
]


@pytest.mark.parametrize(("make", "error", "message"), BAD)
def test_bad_rows_are_refused_by_name(
    make: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()

"""Maps of what a function of x and z returns."""

import math
from typing import Any

import numpy as np
import pytest

from terrain_physics import HeightMap


def waves(x: Any, z: Any) -> Any:
    return 0.25 * x - 0.5 * z


def test_each_sample_is_what_the_function_returns_there() -> None:
    land = HeightMap.from_function(
        waves, (4, 6), cell_size=(0.5, 2.0), origin=(10, 1, 20), border="open", height_scale=2
    )
    assert (land.sample_count, land.size, land.border) == ((4, 6), (2.5, 6.0), "open")
    for row in range(4):
        for column in range(6):
            x, z = 10 + 0.5 * column, 20 + 2.0 * row
            assert land.height_at(x, z) == 1 + 2 * waves(x, z)


def test_it_may_return_one_height_and_write_to_its_arrays() -> None:
    def level(x: Any, z: Any) -> float:
        x += z
        return 3.0

    assert np.unique(HeightMap.from_function(level, (3, 2)).heights).tolist() == [3.0]


def test_a_class_makes_its_own_kind() -> None:
    class Hills(HeightMap):
        pass

    assert type(Hills.from_function(waves, (2, 2))) is Hills


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ((5.0, (3, 3)), TypeError, "function must take arrays x and z, got 5.0"),
        ((waves, 3), ValueError, r"shape must be \(rows, columns\), got 3"),
        ((waves, (3, 1)), ValueError, r"shape\[1\] must be from 2"),
        ((waves, (3, 2.5)), TypeError, r"shape\[1\] must be"),
        (
            (lambda x, z: math.sin(x - z), (3, 3)),
            TypeError,
            r"take arrays .* np.vectorize\(function\)",
        ),
        ((lambda x, z: 1 if x > z else 2, (3, 3)), TypeError, "np.vectorize"),
        (
            (lambda x, z: (x + z)[0], (3, 3)),
            ValueError,
            r"return heights of shape \(3, 3\), got \(3,\)",
        ),
        ((lambda x: x, (3, 3)), TypeError, "function must take arrays of x and z"),
    ],
)
def test_what_is_no_function_of_places_is_refused(given: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        HeightMap.from_function(*given)

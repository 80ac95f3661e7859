"""How many examples a property is tried on: one factor, by the profile of hypothesis."""

import math
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

_OF = 100
"""What a profile's own number of examples is a share of: hypothesis's default."""


def examples(count: int) -> settings:
    """Return settings of a test that tries this many examples in the tier `full`.

    By default it tries a fifth of them, the same in every run. ``conftest.py`` has the profiles.
    """
    return settings(max_examples=times(count), deadline=None)


def times(count: int) -> int:
    """Return how often a test repeats by itself what it repeats this often in the tier `full`."""
    return max(1, math.ceil(count * settings().max_examples / _OF))


def rest_is_full(values: Iterable[Any], first: int = 1) -> list[Any]:
    """Return parameters, such as seeds, of which only the first few are tried by default."""
    return [
        pytest.param(value, marks=() if k < first else pytest.mark.full)
        for k, value in enumerate(values)
    ]

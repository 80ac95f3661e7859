"""How many examples a property is tried on: one factor, by the profile of hypothesis."""

import math

from hypothesis import settings

_OF = 100
"""What a profile's own number of examples is a share of: hypothesis's default."""


def examples(count: int) -> settings:
    """Return settings of a test that tries this many examples in the tier `full`.

    By default it tries a third of them, the same in every run. ``conftest.py`` has the profiles.
    """
    share = settings.default.max_examples / _OF
    return settings(max_examples=max(1, math.ceil(count * share)), deadline=None)

"""Among lifts, doors, presses and spinners nobody leaps."""

import pytest

from tests.behaviour.leaps import leaps

LEAPS_YET = {44, 45, 49}  # lifted onto what is over it, by 1.3 to 2.9 m, in the air among parts


@pytest.mark.parametrize(
    ("seed", "seconds"),
    [
        (33, 1.0),  # a spinner pushed one 1.4 m aside
        (24, 2.0),  # a spinner pushed two below a press, which took them up by 2 m
        (52, 1.0),  # its base took one by 1.2 m to where it owed that it would be
        *(pytest.param(seed, 6.0, marks=pytest.mark.full) for seed in range(60)),
    ],
)
def test_nobody_leaps_among_moving_parts(seed, seconds):
    found = leaps(seed, seconds)
    assert bool(found) == (seed in LEAPS_YET), found

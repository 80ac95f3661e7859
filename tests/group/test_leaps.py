"""Among lifts, doors, presses and spinners nobody leaps."""

import pytest

from tests.group.leaps import leaps


@pytest.mark.parametrize(
    ("seed", "seconds"),
    [
        (33, 1.0),  # a spinner pushed one 1.4 m aside
        (24, 2.0),  # a spinner pushed two below a press, which took them up by 2 m
        (52, 1.0),  # its base took one by 1.2 m to where it owed that it would be
        (45, 1.5),  # one that was pressed in the air was lifted by 2.7 m onto what was over it
        *(pytest.param(seed, 6.0, marks=pytest.mark.full) for seed in range(60)),
    ],
)
def test_nobody_leaps_among_moving_parts(seed, seconds):
    assert not leaps(seed, seconds)

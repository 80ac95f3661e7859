"""Platforms that hold from above only, at all rates: nobody is stopped below or falls through."""

import pytest

from tests.behaviour import one_ways
from tests.behaviour.drive import COLLIDERS
from tests.behaviour.rides import PACES


def is_let_through(found):
    return found.stands and found.off < 1e-4 and found.stopped < 1e-5


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("slope", [0.0, 20.0, -40.0])
def test_who_jumps_up_stands_on_one_that_stands(slope, pace):
    for body in COLLIDERS:
        assert is_let_through(one_ways.jump_up(body, pace, slope=slope)), body

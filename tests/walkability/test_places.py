"""Places by themselves: which edges are there after some are cut off."""

import numpy as np

from terrain_physics.walkability.ways.lengths import plain_lengths
from tests.helpers.drawn_places import drawn_places, edges_of
from tests.helpers.draws import Draws
from tests.helpers.examples import times


def test_edges_from_and_to_columns_that_are_cut_off_are_gone_and_no_others() -> None:
    count = 0
    for seed in range(times(300)):
        draws = Draws(seed)
        places = drawn_places(draws)
        size = places.rows * places.columns
        cut = [column for column in range(size) if draws.chance(0.2)]
        before = edges_of(places, plain_lengths(places))
        places.cut_off(np.array(cut, dtype=np.int64))
        left = [
            {}
            if place % size in cut
            else {e: far for e, far in ends.items() if e % size not in cut}
            for place, ends in enumerate(before)
        ]
        assert edges_of(places, plain_lengths(places)) == left
        count += len(cut)
    assert count > 100

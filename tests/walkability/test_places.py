"""Places by themselves: which edges are there after some are cut off or not kept."""

import numpy as np

from terrain_physics._kernels.walkability.layout import DIRECTIONS
from terrain_physics.walkability.places import Places
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


def _kinds_and_levels(places: Places, place: int) -> list[tuple[int, int]]:
    """Return the kind and the level of each edge from a place; (0, 0): there is none."""
    kinds, targets = int(places.kinds[place]), int(places.targets[place])
    pairs = [(kinds >> 2 * d & 3, targets >> 2 * d & 3) for d in range(DIRECTIONS)]
    return [(kind, level if kind else 0) for kind, level in pairs]


def test_edges_are_kept_that_lead_to_the_same_level() -> None:
    rng = np.random.default_rng(1)
    first, second = (Places(0.0, 0.0, 1.0, 3, 5, 5) for _ in range(2))
    for places in (first, second):
        kinds, targets = rng.integers(0, 4, (2, len(places), DIRECTIONS)).astype(np.uint16)
        shifts = 2 * np.arange(DIRECTIONS, dtype=np.uint16)
        places.kinds = (kinds << shifts).sum(1, np.uint16)
        places.targets = (targets % 3 << shifts).sum(1, np.uint16)
    numbers = rng.permutation(len(first))[:60]
    pairs = [
        list(zip(_kinds_and_levels(first, n), _kinds_and_levels(second, n), strict=True))
        for n in range(len(first))
    ]
    untouched = np.setdiff1d(np.arange(len(first)), numbers)
    others = second.kinds[untouched], second.targets[untouched]
    second.keep_edges(numbers, *first.edges_from(numbers))
    for number in numbers.tolist():
        assert _kinds_and_levels(second, number) == [
            (max(a, b), level) if a and b and level == other else (0, 0)
            for (a, level), (b, other) in pairs[number]
        ]
    assert (second.kinds[untouched] == others[0]).all()
    assert (second.targets[untouched] == others[1]).all()

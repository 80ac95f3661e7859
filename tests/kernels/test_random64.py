"""Random numbers: the published algorithm, no favorites, the same bits compiled and plain."""

import itertools
import os
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from terrain_physics._kernels.math.random64 import next_uint64, random_below, shuffle
from tests.helpers import forks

WORD = 2**64 - 1


class Reference:
    """splitmix64 as published by Steele, Lea and Flood (2014), in whole numbers of any size."""

    def __init__(self, state: int) -> None:
        self.state = state

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """Lemire (2019): the upper half of a product of 32 bits, drawn again where it favors."""
        while True:
            product = (self.next() >> 32) * bound
            if product % 2**32 >= (2**32 - bound) % bound:
                return product >> 32

    def shuffle(self, order: list[int], count: int) -> None:
        """Fisher-Yates, from the last of ``count`` entries down."""
        for i in range(count - 1, 0, -1):
            k = self.below(i + 1)
            order[i], order[k] = order[k], order[i]


def state_of(seed: int) -> NDArray[np.uint64]:
    return np.array([seed], dtype=np.uint64)


def chi_square(counts: Any, expected: float) -> float:
    return float(sum((count - expected) ** 2 / expected for count in counts))


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("seed", "numbers"),
    [
        # As printed by the reference program in C (Vigna, splitmix64.c), and used by others' tests.
        (
            1234567,
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423,
                4593380528125082431,
                16408922859458223821,
            ],
        ),
        (0, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC]),
    ],
)
def test_numbers_are_those_published(seed, numbers):
    state = state_of(seed)
    assert [int(next_uint64(state)) for _ in numbers] == numbers


@pytest.mark.kernels
@given(st.integers(0, WORD) | st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**63, WORD]))
def test_numbers_and_states_follow_the_algorithm_from_any_state(seed):
    state, reference = state_of(seed), Reference(seed)
    for _ in range(5):
        assert int(next_uint64(state)) == reference.next()
        assert int(state[0]) == reference.state


@pytest.mark.kernels
@given(st.integers(0, WORD), st.integers(1, 10) | st.integers(1, 2**32 - 1))
def test_bounded_numbers_follow_the_algorithm_and_stay_in_range(seed, bound):
    state, reference = state_of(seed), Reference(seed)
    for _ in range(5):
        number = random_below(state, bound)
        assert 0 <= number < bound
        assert number == reference.below(bound)
        assert int(state[0]) == reference.state


@pytest.mark.kernels
@given(st.integers(0, WORD), st.integers(0, 40), st.integers(0, 5))
def test_a_shuffle_permutes_the_first_entries_and_leaves_the_rest(seed, count, more):
    state, reference = state_of(seed), Reference(seed)
    order = np.arange(count + more)[::-1].copy()
    before = order.tolist()
    shuffle(state, order, count)
    assert sorted(order[:count].tolist()) == sorted(before[:count])
    assert order[count:].tolist() == before[count:]
    reference.shuffle(before, count)
    assert order.tolist() == before
    assert int(state[0]) == reference.state


@pytest.mark.kernels
@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_shuffle_draws_no_number(count):
    state = state_of(7)
    shuffle(state, np.array([3, 4]), count)
    assert int(state[0]) == 7


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 12, 100])
def test_every_number_below_a_bound_is_as_likely(bound):
    state = state_of(2024)
    draws = 2000 * bound
    counts = Counter(random_below(state, bound) for _ in range(draws))
    assert sorted(counts) == list(range(bound))
    # Mean bound - 1, standard deviation sqrt(2 (bound - 1)): five of them above, for this seed.
    limit = bound - 1 + 5 * (2 * (bound - 1)) ** 0.5
    assert chi_square(counts.values(), draws / bound) <= limit


def test_a_bound_near_the_top_favors_no_number():
    """Without drawing again, every third number of three quarters of 2**32 would come twice."""
    state, bound, draws = state_of(5), 3 * 2**30, 3000
    counts = Counter(random_below(state, bound) % 3 for _ in range(draws))
    assert chi_square((counts[k] for k in range(3)), draws / 3) < 20.0


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_every_permutation_is_as_likely(count):
    state = state_of(11)
    permutations = list(itertools.permutations(range(count)))
    draws = 200 * len(permutations)
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(draws):
        order = np.arange(count)
        shuffle(state, order, count)
        counts[tuple(order.tolist())] += 1
    freedom = len(permutations) - 1
    limit = freedom + 5 * (2 * freedom) ** 0.5
    assert chi_square((counts[p] for p in permutations), 200.0) <= limit


PROGRAM = """
import numpy as np
from terrain_physics._kernels.math.random64 import next_uint64, random_below, shuffle
assert not hasattr(shuffle, "signatures")
state, order = np.array([2**64 - 5], dtype=np.uint64), np.arange(50)
print([int(next_uint64(state)) for _ in range(20)])
print([int(random_below(state, bound)) for bound in range(1, 2**32, 2**27 - 1)])
shuffle(state, order, 50)
print(order.tolist())
print(int(state[0]))
"""


def test_compiled_and_plain_give_the_same_numbers():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    plain = forks.printed("-W", "error", "-c", PROGRAM, env=environment)
    state, order = state_of(2**64 - 5), np.arange(50)
    numbers = [int(next_uint64(state)) for _ in range(20)]
    bounded = [int(random_below(state, bound)) for bound in range(1, 2**32, 2**27 - 1)]
    shuffle(state, order, 50)
    assert plain == f"{numbers}\n{bounded}\n{order.tolist()}\n{int(state[0])}\n"

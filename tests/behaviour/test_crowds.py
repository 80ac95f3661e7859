"""Equal bits, whatever the order, the threads, the company, saved or not: rule "contact"."""

import pytest

from tests.behaviour import crowds


# The more are more than a group hands to one thread at once.
@pytest.mark.parametrize(
    ("count", "alone"), [(8, 6), pytest.param(140, 12, marks=pytest.mark.full)]
)
def test_the_same_walks_have_the_same_bits(count, alone):
    assert set(crowds.differing(count, alone).values()) == {0}


@pytest.mark.long
def test_1000_walks_have_the_same_bits():
    assert set(crowds.differing(1000, 1000).values()) == {0}

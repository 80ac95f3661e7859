"""Equal bits, whatever the order, the threads, the company, saved or not: rule "contact"."""

import pytest

from tests.behaviour import crowds


def test_the_same_walks_have_the_same_bits():
    # More than a group hands to one thread at once.
    assert set(crowds.differing(140, 12).values()) == {0}


@pytest.mark.long
def test_1000_walks_have_the_same_bits():
    assert set(crowds.differing(1000, 1000).values()) == {0}

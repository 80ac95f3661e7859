"""Answers are the same as ever, bit for bit: see `tests.helpers.recorded_bits`."""

import pytest

from tests.helpers.recorded_bits import GROUPS, bits_of, recorded


@pytest.mark.parametrize("name", sorted(GROUPS))
def test_the_bits_are_those_recorded(name):
    assert bits_of(name) == recorded()[name]


def test_every_group_is_recorded():
    assert recorded().keys() == GROUPS.keys()

"""Solids put on a crowd throw nobody below the land or far away, and shut in who has no way."""

import pytest

from tests.group.puts import is_let_out, put_on_a_crowd


@pytest.mark.parametrize(
    "seed",
    [
        3,
        12,
        18,
        1171,
        1964,
        *(pytest.param(seed, marks=pytest.mark.full) for seed in range(20, 80)),
    ],
)
def test_solids_put_on_a_crowd_let_all_out(seed):
    found = put_on_a_crowd(seed)
    assert is_let_out(found), found


@pytest.mark.long
def test_solids_put_on_many_crowds_let_all_out():
    found = {seed: put_on_a_crowd(seed) for seed in range(100, 2100)}
    assert not {seed: put for seed, put in found.items() if not is_let_out(put)}

"""All combinations of parameters, of which the default tier tries a few, chosen by a rule."""

import itertools
from collections.abc import Container, Hashable, Iterable, Sequence
from typing import Any

import pytest

Combination = tuple[Any, ...]
_Pair = tuple[int, Hashable, int, Hashable]


def pairwise(*parameters: Iterable[Any]) -> list[Any]:
    """Return all combinations; those beyond a choice that holds every pair of values are `full`.

    For ``pytest.mark.parametrize`` with the names of at least two parameters. A fault that shows
    with two values together, whatever the others are, shows by default; one that needs three may
    show in the tier `full` only. Values are told apart by their places, so any may be given.
    """
    if len(parameters) < 2:
        raise ValueError("there are no pairs of one parameter; `rest_is_full` takes one")
    values = [list(parameter) for parameter in parameters]
    return _params(values, _chosen([len(some) for some in values]))


def each_once(*parameters: Iterable[Any]) -> list[Any]:
    """Return all combinations; those beyond a choice that holds each value once are `full`.

    For what costs much, and whose answers are among the recorded bits too.
    """
    values = [list(parameter) for parameter in parameters]
    longest = max(len(some) for some in values)
    return _params(values, {tuple(k % len(some) for some in values) for k in range(longest)})


def few_or_many(values: Iterable[Any], few: int, many: int) -> list[Any]:
    """Return each value with few cases, and as `full` with many."""
    values = list(values)
    return [(value, few) for value in values] + [
        pytest.param(value, many, marks=pytest.mark.full) for value in values
    ]


def _params(values: Sequence[Sequence[Any]], chosen: Container[Combination]) -> list[Any]:
    """Return all combinations of values; those whose places are not chosen are `full`."""
    return [
        pytest.param(
            *(some[k] for some, k in zip(values, places, strict=True)),
            marks=() if places in chosen else pytest.mark.full,
        )
        for places in itertools.product(*(range(len(some)) for some in values))
    ]


def _chosen(lengths: Sequence[int]) -> set[Combination]:
    """Return few combinations of places with every pair among them: the greedy choice."""
    left = list(itertools.product(*map(range, lengths)))
    open_pairs = {pair for places in left for pair in _pairs(places)}
    chosen = set()
    while open_pairs:
        best = max(left, key=lambda places: sum(pair in open_pairs for pair in _pairs(places)))
        chosen.add(best)
        open_pairs.difference_update(_pairs(best))
    return chosen


def _pairs(places: Combination) -> Iterable[_Pair]:
    for (i, a), (j, b) in itertools.combinations(enumerate(places), 2):
        yield i, a, j, b

"""Combinations of parameters: none is lost, and the default tier has those that it should."""

import itertools

import pytest

from tests.helpers.pairwise import each_once, pairwise

PARAMETERS = ("abcde", (1, 2, 3), (False, True), ([0], [0], [1]))
CHOICES = {"pairwise": (pairwise, 2), "each once": (each_once, 1)}


def tried(params):
    """Return those of the default tier."""
    return [param.values for param in params if not param.marks]


@pytest.mark.parametrize("choice", CHOICES)
def test_all_combinations_are_in_one_of_the_tiers(choice):
    choose, _ = CHOICES[choice]
    params = choose(*PARAMETERS)
    assert [param.values for param in params] == list(itertools.product(*PARAMETERS))
    assert {mark.name for param in params for mark in param.marks} == {"full"}


@pytest.mark.parametrize("choice", CHOICES)
def test_what_the_default_tier_holds(choice):
    """Values told apart by their places: two parameters may have equal ones."""
    choose, together = CHOICES[choice]
    numbered = [range(len(values)) for values in PARAMETERS]
    chosen = tried(choose(*numbered))
    for places in itertools.combinations(range(len(numbered)), together):
        found = {tuple(values[place] for place in places) for values in chosen}
        assert found == set(itertools.product(*(numbered[place] for place in places)))


def test_few_are_chosen():
    assert len(tried(pairwise(*PARAMETERS))) <= 18  # of 90; 15 at least
    assert len(tried(each_once(*PARAMETERS))) == 5
    assert len(tried(pairwise("ab", "cd"))) == 4


def test_the_choice_is_the_same_each_time():
    assert tried(pairwise(*PARAMETERS)) == tried(pairwise(*PARAMETERS))

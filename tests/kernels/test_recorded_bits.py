"""Answers are the same as ever, bit for bit: see `tests.helpers.recorded_bits`."""

import builtins
import re
import sys

import pytest

from tests.helpers import bounds
from tests.helpers.recorded_bits import GROUPS, bits_of, recorded

add_up = builtins.sum


def _sum_of_whole_numbers(*values, **start):
    """Add up, and refuse what is no whole number to the library and its tests.

    Since Python 3.12 a sum of floats ends in other bits: it is compensated.
    """
    total = add_up(*values, **start)
    asks = sys._getframe(1).f_globals["__name__"]
    if isinstance(total, float) and asks.startswith(("tests.", "terrain_physics.")):
        raise AssertionError(f"{asks} adds up floats by sum(): use a loop, or math.fsum")
    return total


@pytest.fixture
def sums_are_whole(monkeypatch):
    monkeypatch.setattr(builtins, "sum", _sum_of_whole_numbers)


def test_sums_of_floats_are_refused(sums_are_whole):
    assert sum([1, 2]) == 3
    with pytest.raises(AssertionError, match=r"tests\.kernels\.test_recorded_bits adds up floats"):
        sum([0.25, 0.5])


@pytest.mark.usefixtures("sums_are_whole")
@pytest.mark.parametrize("name", sorted(GROUPS))
def test_the_bits_are_those_recorded(name):
    if bits_of(name) != recorded()[name]:
        pytest.fail(bounds.verdict(name))


def test_every_group_is_recorded():
    assert recorded().keys() == GROUPS.keys()


def test_a_row_whose_bits_differ_has_its_bounds_tried(monkeypatch):
    tried = []
    monkeypatch.setitem(GROUPS, "behaviour mesh levels", lambda: iter("other"))

    def judged(tests):
        tried.append(tests)
        return "its 9 bounds hold"

    monkeypatch.setattr(bounds, "judged", judged)
    with pytest.raises(pytest.fail.Exception, match="mesh levels differ; its 9 bounds hold: if"):
        test_the_bits_are_those_recorded("behaviour mesh levels")
    assert [tests.name for tests in tried] == ["test_mesh_levels.py"]
    assert tried[0].exists()


def test_every_row_has_bounds():
    rows = {tests.stem.removeprefix("test_") for tests in bounds.TESTS.glob("test_*.py")}
    named = {name.removeprefix("behaviour ") for name in GROUPS if name.startswith("behaviour ")}
    assert rows == {row.replace(" ", "_") for row in named}


STAND_IN = """
import pytest

@pytest.mark.parametrize("size", [1, 2, pytest.param(3, marks=pytest.mark.full)])
def test_size(size):
    assert size < {bound}

@pytest.mark.long
def test_for_minutes():
    assert False
"""


@pytest.mark.parametrize(
    ("bound", "said"), [(4, "its 3 bounds hold"), (3, r"1 of 3 bounds fail, .*test_size\[3\]")]
)
def test_bounds_of_both_tiers_are_judged(bound, said, tmp_path):
    tests = tmp_path / "test_stand_in.py"
    tests.write_text(STAND_IN.format(bound=bound), encoding="utf-8")
    assert re.fullmatch(said, bounds.judged(tests))

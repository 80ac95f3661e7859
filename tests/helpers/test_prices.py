"""Prices of test functions are added up; what costs more than it may has a reason."""

import ast
import json
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import prices

ROOT = Path(__file__).parents[2]


@cache
def defined_in(file: str) -> set[str]:
    """Return the names of the functions and classes of a file."""
    body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_each_costly_function_is_there_and_has_a_reason() -> None:
    for function, known in prices.recorded()["costly"].items():
        file, _, name = function.partition("::")
        assert name.split("::")[0] in defined_in(file), function
        assert known["seconds"] > prices.ALLOWED
        assert known["why"], f"{function} costs {known['seconds']} s: why?"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds that this process and its children have spent so far."""
    spent = [0.0, 0.0]

    def times() -> Any:
        return os.times_result((spent[0], 0.0, spent[1], 0.0, 0.0))

    monkeypatch.setattr(os, "times", times)
    return spent


def test_parameters_and_children_of_a_function_are_one_sum(clock: list[float]) -> None:
    paid = prices.Prices()
    for name, of_child in (("t.py::f[a]", 0.25), ("t.py::f[b-[c]]", 0.0), ("t.py::g", 0.0)):
        with paid.paid_by(name):
            clock[0] += 1.0
            clock[1] += of_child
    with suppress(ZeroDivisionError), paid.paid_by("t.py::g"):
        clock[0] += 0.5
        raise ZeroDivisionError
    paid.add({"t.py::f": 4.0})
    assert paid.spent == {"t.py::f": 6.25, "t.py::g": 1.5}


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a record of three functions."""
    known = {"f": 2.0, "g": 1.0, "k": 4.0}
    costly = {name: {"seconds": seconds, "why": "large"} for name, seconds in known.items()}
    monkeypatch.setattr(prices, "FILE", tmp_path / "prices.json")
    prices.FILE.write_text(json.dumps({"sum": 9.0, "costly": costly}))
    return prices.FILE


TWICE = {"f": 4.0, "g": 2.5, "k": 8.0, "h": 1.5, "i": 1.0}
"""What functions cost on a machine that is half as fast as that of the record."""


def test_seconds_are_those_of_the_machine_of_the_record(record: Path) -> None:
    assert prices.slowness(TWICE) == 2.0
    assert prices.slowness({}) == 1.0
    assert prices.unrecorded(TWICE) == {"h": 0.75}
    prices.record(TWICE)
    assert prices.recorded() == {
        "sum": 8.5,
        "costly": {
            "f": {"seconds": 2.0, "why": "large"},
            "g": {"seconds": 1.25, "why": "large"},
            "h": {"seconds": 0.75, "why": ""},
            "k": {"seconds": 4.0, "why": "large"},
        },
    }


def test_the_report_lists_what_is_not_recorded_and_what_rose(record: Path) -> None:
    paid = prices.Prices()
    paid.add(TWICE)
    told = ["  0.75 s (not recorded)  h", "  1.25 s (1.0 recorded)  g"]
    assert list(paid.report(is_whole=False)) == told
    *_, last = paid.report(is_whole=True)
    assert last == (
        "  17.0 s of CPU time in tests, 8.5 s on the machine of the record; "
        "9.0 s when last recorded"
    )

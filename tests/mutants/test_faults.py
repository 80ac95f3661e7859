"""Each fault still applies, exactly once: a change of the code that moves one takes it along."""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.mutants.fault import Fault
from tests.mutants.faults import FAULTS

PACKAGE = Path(__file__).parents[2] / "terrain_physics"


def _syntax(source: str) -> str:
    return ast.dump(ast.parse(source))


@cache
def _syntax_of(file: Path) -> str:
    return _syntax(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_it_applies_exactly_once_and_is_still_a_program(fault: Fault) -> None:
    file = PACKAGE.joinpath(*fault.module.split(".")).with_suffix(".py")
    source = file.read_text(encoding="utf-8")
    assert source.count(fault.old) == 1
    assert _syntax(source.replace(fault.old, fault.new)) != _syntax_of(file)


def test_names_are_told_apart() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)

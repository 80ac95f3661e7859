"""Requirements: which numba is asked for, on which system and Python."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def numba_for(lines: list[str], system: str, machine: str, python: str) -> list[Requirement]:
    """Return what a list of requirements asks of numba there."""
    where = {
        "sys_platform": system,
        "platform_machine": machine,
        "python_version": python,
        "implementation_name": "cpython",
    }
    asked = [Requirement(line) for line in lines]
    return [
        one
        for one in asked
        if one.name == "numba" and (one.marker is None or one.marker.evaluate(where))
    ]


DEPENDENCIES: list[str] = PROJECT["dependencies"]
JIT: list[str] = PROJECT["optional-dependencies"]["jit"]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize(
    ("system", "machine"),
    [("linux", "x86_64"), ("linux", "aarch64"), ("win32", "AMD64"), ("darwin", "arm64")],
)
def test_the_latest_numba_serves_all_but_intel_macs(system: str, machine: str, python: str) -> None:
    (asked,) = numba_for(JIT, system, machine, python)
    assert str(asked.specifier) == ">=0.61"
    wheels_hold_machine_code = (system, machine) == ("linux", "x86_64")
    found = numba_for(DEPENDENCIES, system, machine, python)
    assert len(found) == (0 if wheels_hold_machine_code else 1)
    assert all("0.68.1" in one.specifier for one in found)


@pytest.mark.parametrize("lines", [DEPENDENCIES, JIT], ids=["dependencies", "jit"])
def test_intel_macs_get_a_numba_that_has_wheels_there(lines: list[str]) -> None:
    for python in ("3.11", "3.12", "3.13"):
        (asked,) = numba_for(lines, "darwin", "x86_64", python)
        assert "0.62.1" in asked.specifier
        assert "0.63.1" not in asked.specifier
    assert numba_for(lines, "darwin", "x86_64", "3.14") == []

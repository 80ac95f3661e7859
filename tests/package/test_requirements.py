"""Requirements: which numba is asked for, on which system and Python."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

platforms = pytest.importorskip("terrain_physics._build.platforms")
pins = pytest.importorskip("terrain_physics._build.systems.pins")

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


SERVED = [(one.system, one.machine) for one in platforms.WITH_WHEELS.values()]
"""Systems whose wheels hold machine code."""
OTHERS = [("linux", "riscv64"), ("win32", "ARM64"), ("freebsd14", "x86_64")]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize(("system", "machine"), [*SERVED, *OTHERS])
def test_numba_is_installed_where_no_wheel_has_machine_code(
    system: str, machine: str, python: str
) -> None:
    found = numba_for(DEPENDENCIES, system, machine, python)
    assert len(found) == (0 if (system, machine) in SERVED else 1)
    assert all("0.68.1" in one.specifier for one in found)
    if (system, machine) != ("darwin", "x86_64"):
        (asked,) = numba_for(JIT, system, machine, python)
        assert str(asked.specifier) == ">=0.61"


def test_the_condition_is_that_of_the_table_of_platforms() -> None:
    (numba,) = [one for one in map(Requirement, DEPENDENCIES) if one.name == "numba"]
    table = Requirement(f"numba>=0.61; {platforms.where_numba_is_needed()}")
    assert str(numba.marker) == str(table.marker)


def test_intel_macs_get_a_numba_that_has_wheels_there() -> None:
    for python in ("3.11", "3.12", "3.13"):
        (asked,) = numba_for(JIT, "darwin", "x86_64", python)
        assert "0.62.1" in asked.specifier
        assert "0.63.1" not in asked.specifier
    assert numba_for(JIT, "darwin", "x86_64", "3.14") == []


def test_wheels_are_made_by_one_version_of_the_compilers() -> None:
    asked = PROJECT["optional-dependencies"]["wheels"]
    assert set(asked) == {*pins.COMPILERS, pins.ZIG, "hatchling>=1.27"}

"""Programs that pages and docstrings name: each is there, and takes the name behind it."""

import re
from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

import pytest

from demo.making.demo_pictures import PICTURES
from terrain_physics import __main__ as command_line
from tests.benchmarks.__main__ import NAMES, TABLES
from tests.fuzz.campaigns import CAMPAIGNS
from tests.helpers.pages import ROOT

TOLD = re.compile(r"python3? -m ((?:tests|demo|terrain_physics)(?:\.\w+)*)(?: ([\w-]+))?")
PLACEHOLDER = re.compile(r"[A-Z]+")
COMMANDS = re.findall(r"^ {4}([a-z-]+)", command_line._parser().format_help(), re.MULTILINE)
WORDS: dict[str, Container[str]] = {
    "tests.benchmarks": NAMES,
    "tests.fuzz": CAMPAIGNS,
    "terrain_physics": COMMANDS,
    "demo.making.demo_pictures": PICTURES,
}
"""What programs take first that take names."""

WHEN_BUILT = {"terrain_physics_demo"}
"""Packages of wheels, which no checkout has."""


class Told(NamedTuple):
    """A program in some text, and the word behind it: empty if none, or an option, follows."""

    module: str
    word: str


def told_in(text: str) -> set[Told]:
    found = {Told(module, word) for module, word in TOLD.findall(text)}
    return {
        Told(module, "" if word.startswith("-") or PLACEHOLDER.fullmatch(word) else word)
        for module, word in found
        if not PLACEHOLDER.fullmatch(module.rpartition(".")[2])
    }


def program_of(module: str) -> Path | None:
    """Return the file that ``python -m`` runs; None if there is none, or it would do nothing."""
    place = ROOT.joinpath(*module.split("."))
    file = place / "__main__.py" if place.is_dir() else place.with_suffix(".py")
    is_program = file.is_file() and "__main__" in file.read_text(encoding="utf-8")
    return file if is_program else None


FOLDERS = "assets", "demo", "terrain_physics", "tests", ".ci", ".github"
FILES = sorted(
    file
    for folder in (ROOT, *map(ROOT.joinpath, FOLDERS))
    for pattern in ("*.md", "*.py", "*.toml", "*.yml", "run", "full")
    for file in (folder.glob(pattern) if folder == ROOT else folder.rglob(pattern))
    if file.is_file()
)
ALL = {told for file in FILES for told in told_in(file.read_text(encoding="utf-8"))}


def test_programs_are_told():
    assert {"tests.benchmarks", "tests.fuzz", "demo", "terrain_physics"} <= {
        told.module for told in ALL
    }
    assert Told("tests.benchmarks", "world") in ALL
    assert {"count", "info", "demo"} <= {*COMMANDS}


@pytest.mark.parametrize("module", sorted({told.module for told in ALL} - WHEN_BUILT))
def test_a_program_that_is_told_is_there(module):
    assert program_of(module) is not None


@pytest.mark.parametrize(
    "told", sorted(told for told in ALL if told.word and told.module in WORDS), ids=" ".join
)
def test_a_program_takes_the_name_that_is_told(told):
    assert told.word in WORDS[told.module]


def test_each_benchmark_is_there():
    for module in TABLES.values():
        file = ROOT / "tests" / "benchmarks" / f"{module}.py"
        assert "\ndef main(*, smoke: bool" in file.read_text(encoding="utf-8")

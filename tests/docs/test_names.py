"""Tables of names: what is called so here is there."""

import re

import pytest

import terrain_physics
from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    FixedStep,
    Ground,
    GroundReport,
    HeightMap,
    MapCells,
    MoveHit,
    MoveResult,
    TiledGround,
)
from tests.helpers.pages import DOCS

# What the page calls things of each class.
OF: dict[str, tuple[type, ...]] = {
    "hero": (CharacterMovement,),
    "group": (CharacterGroup,),
    "crowd": (CharacterGroup,),
    "ground": (Ground,),
    "land": (HeightMap, TiledGround),
    "clock": (FixedStep,),
    "result": (MoveResult,),
    "blocked_by": (MoveHit,),
    "materials": (MapCells,),
}
REPORT = re.compile(r"ground_report\(\)\.(\w+)")
PAGES = (
    "coming_from",
    "guide/character",
    "guide/groups",
    "concepts/parts",
)


def code_of(page: str) -> list[str]:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(
        r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    )


@pytest.mark.parametrize("page", PAGES)
def test_attributes_are_there(page: str) -> None:
    told = [
        (owner, name)
        for code in code_of(page)
        for owner, name in re.findall(rf"\b({'|'.join(OF)})\.(\w+)", code)
    ]
    assert told
    for owner, name in told:
        assert any(
            hasattr(one, name) or name in getattr(one, "__slots__", ()) for one in OF[owner]
        ), (owner, name)
    for code in code_of(page):
        for name in REPORT.findall(code):
            assert hasattr(GroundReport, name), name


def test_classes_and_functions_of_the_right_column_are_there() -> None:
    rows = re.findall(r"^\| .+? \| (.+) \|$", (DOCS / "coming_from.md").read_text(), re.MULTILINE)
    called = {
        name
        for row in rows
        for code in re.findall(r"`([^`]+)`", row)
        for name in re.findall(r"(?<![\w.])([A-Z]\w+)\b(?=\(|$)", code)
    }
    assert len(called) > 10
    assert {name for name in called if not hasattr(terrain_physics, name)} == set()

"""Pages are what people copy: their code runs, and prints what stands below it."""

import re
from pathlib import Path

import pytest

from tests.helpers.pages import DOCS, PAGES, blocks, run

PAGES_WITH_CODE = [
    page
    for page in PAGES
    if any(block.language == "python" for block in blocks(page.read_text(encoding="utf-8")))
]
RECIPES = [page for page in sorted((DOCS / "cookbook").glob("*.md")) if page.stem != "index"]


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=name_of)
def test_code_prints_what_the_page_says(page: Path, folder: Path) -> None:
    try:
        printed = list(run(page, folder))
    except SystemExit as missing:
        pytest.skip(f"not installed: {missing}")
    assert printed
    assert [(line, text) for line, text, _ in printed] == [
        (line, shown) for line, _, shown in printed
    ]


def test_a_block_is_told_from_what_it_prints() -> None:
    printing = "```python\nprint(1)\n```\n\n```output\n1\n```\n"
    text = printing + "\n```{code-block} python\n:caption: a.py\nx\n```\n"
    assert [tuple(block) for block in blocks(text)] == [
        ("python", None, 2, "print(1)\n"),
        ("output", None, 6, "1\n"),
        ("python", "a.py", 11, "x\n"),
    ]


def test_there_are_recipes_and_all_are_listed() -> None:
    listed = re.findall(
        r"^\| \[.+?\]\((\w+)\.md\) \| .+ \|$",
        (DOCS / "cookbook" / "index.md").read_text(),
        re.MULTILINE,
    )
    assert sorted(listed) == [recipe.stem for recipe in RECIPES]
    assert len(RECIPES) >= 30


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.stem)
def test_each_recipe_shows_what_comes_of_it(recipe: Path) -> None:
    languages = [block.language for block in blocks(recipe.read_text(encoding="utf-8"))]
    assert "output" in languages

"""Pages are what people copy: their code runs, and prints what stands below it."""

import re
from pathlib import Path

import pytest

from tests.helpers.extras import lacks
from tests.helpers.pages import DOCS, PAGES, ROOT, Recipe, blocks, recipes_of, run

PAGES_WITH_CODE = [
    page
    for page in PAGES
    if any(block.language == "python" for block in blocks(page.read_text(encoding="utf-8")))
]
PAGES_OF_RECIPES = [
    page for page in sorted((DOCS / "cookbook").glob("*.md")) if page.stem != "index"
]
RECIPES = [recipe for page in PAGES_OF_RECIPES for recipe in recipes_of(page)]

EXTRAS = {"guide/cluster": "dask", "cookbook/crates": "engines", "cookbook/geotiff": "data"}
"""By page: the extra without which it says what to install, and ends."""


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=name_of)
def test_code_prints_what_the_page_says(page: Path, folder: Path) -> None:
    try:
        printed = list(run(page, folder))
    except SystemExit as missing:
        lacks(str(missing), EXTRAS[name_of(page)])
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


GOING_ON = """# Title

```python
here = 1
## no heading
print(here)
```

### More
With the code above:

```python
print(here)
```

## By itself
```output
1
```
"""


def test_a_section_is_a_program_unless_it_says_that_it_goes_on(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(GOING_ON)
    first, second = recipes_of(page)
    assert (first.name, [block.line for block in first.code()]) == ("page: Title", [4, 13])
    assert (second.name, [block.line for block in second.blocks]) == ("page: By itself", [18])


def test_there_are_recipes_and_all_are_listed() -> None:
    index = (DOCS / "cookbook" / "index.md").read_text(encoding="utf-8")
    row = r"^\| !\[\]\(.+/recipes/(\w+)\.webp\) \| \[.+?\]\((\w+)\.md\) \| .+ \|$"
    listed = re.findall(row, index, re.MULTILINE)
    pages = [page.stem for page in PAGES_OF_RECIPES]
    assert sorted(listed) == [(page, page) for page in pages]
    pictures = {file.stem: file.stat().st_size for file in (ROOT / "assets/recipes").iterdir()}
    assert sorted(pictures) == pages
    assert max(pictures.values()) <= 20_000
    assert len(RECIPES) >= 45


ILLUSTRATED = ["guide/loop", "guide/formats", "guide/engines", "concepts/worlds"]
MOST_BYTES, LONGEST_ALT = 150_000, 125


@pytest.mark.parametrize(
    "page", [*PAGES_OF_RECIPES, *(DOCS / f"{name}.md" for name in ILLUSTRATED)], ids=name_of
)
def test_pages_show_a_picture_and_tell_what_is_seen(page: Path) -> None:
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    assert pictures
    for words, address in pictures:
        assert 20 <= len(words) <= LONGEST_ALT, address
        assert 0 < (page.parent / address).stat().st_size <= MOST_BYTES, address


def test_every_moving_picture_is_shown() -> None:
    shown = {page.stem for page in PAGES if f"loops/{page.stem}.webp" in page.read_text("utf-8")}
    assert {file.stem for file in (ROOT / "assets/loops").iterdir()} == shown


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_each_recipe_shows_what_comes_of_it(recipe: Recipe) -> None:
    assert "output" in [block.language for block in recipe.blocks]

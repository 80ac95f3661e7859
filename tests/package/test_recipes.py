"""The recipes of CONTRIBUTING name all places, and nothing that is not there.

A recipe has an example that is in the tree. Each file in which the syntax shows the example is in
the list of the recipe: a new one cannot need a place that the list does not have.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.helpers import recipes
from tests.helpers.recipes import (
    ROOT,
    Recipe,
    matching,
    sources,
    sources_with_kinds,
    tells_shapes_apart,
    users_of,
)

RECIPES = recipes.recipes()


class Trace(NamedTuple):
    """The words by which an example is known in files of Python, and the folders of these."""

    words: tuple[str, ...]
    folders: tuple[str, ...]

    def files(self) -> set[Path]:
        """Return the files in which one of the words is a name or all of a string.

        In the package, in the guide and in the gallery, prose counts too.
        """
        found = {file for word in self.words for file in users_of(word, *self.folders)}
        found |= {file for word in self.words for file in _tellers_of(word)}
        return found - {Path(__file__)}


def _tellers_of(word: str) -> Iterator[Path]:
    docs = ROOT / "demo" / "docs"
    for file in (*sources("terrain_physics"), *docs.glob("guide/*.md"), docs / "gallery.md"):
        text = file.read_text(encoding="utf-8")
        # The first look is the quicker one by far.
        if word in text and re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text):
            yield file


TRACES = {
    "A query on every ground": Trace(("closest_points",), ("terrain_physics",)),
    "A rule of the character": Trace(("keep_off_ledges", "KEEP_OFF_LEDGES"), ("terrain_physics",)),
    "An engine whose objects own characters": Trace(("pyglet", "pyglet_game"), ("demo", "tests")),
    "A file format of height maps": Trace((".hgt",), ("terrain_physics", "tests/heightmap")),
    "A command": Trace(("warm-up",), ("terrain_physics", "tests/package")),
    "An option of count": Trace(("stats",), ("terrain_physics",)),
    "A scene of the demo": Trace(("doorway",), ("demo",)),
    "An option of the demo": Trace(("save_replay", "--save-replay"), ("demo", "tests/demo")),
    "An example": Trace(("bouncing_ball",), ("demo", "tests/demo")),
}

# A scene or an example uses shapes; it is no place for a new one.
USERS_OF_SHAPES = ("demo/playground", "demo/examples", "demo/making")


def unlisted(recipe: Recipe, files: Iterable[Path]) -> list[str]:
    """Return which of some files a recipe does not name."""
    return sorted(file.relative_to(ROOT).as_posix() for file in set(files) - recipe.files())


def files_of_names(paths: Iterable[Path]) -> set[Path]:
    """Return files, with those of folders."""
    found = set()
    for path in paths:
        found |= set(path.rglob("*.py")) if path.is_dir() else {path}
    return found


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_names_what_is_there(title: str) -> None:
    assert RECIPES[title].lines, "a recipe is a list"
    for line in RECIPES[title].lines:
        missing = [path for path in line.paths if not matching(path)]
        assert not missing, f"{title}: no file is called {missing}"
        files = files_of_names(line.files())
        known = frozenset().union(*map(recipes.words_of, files))
        unknown = [name for name in line.names if not recipes.parts_of(name) <= known]
        assert not unknown, f"{title}: {line.paths} do not hold {unknown}"


@pytest.mark.parametrize("title", RECIPES)
def test_each_file_of_a_line_holds_something_that_the_line_names(title: str) -> None:
    for line in RECIPES[title].lines:
        wanted = [recipes.parts_of(name) for name in line.names]
        for file in line.files() if wanted else ():
            words = recipes.words_of(file) if file.is_file() else None
            assert words is None or any(parts <= words for parts in wanted), (
                f"{title}: {file.relative_to(ROOT)} holds none of {line.names}"
            )


@pytest.mark.parametrize("title", TRACES)
def test_a_recipe_names_each_file_that_its_example_is_in(title: str) -> None:
    assert RECIPES[title].example in TRACES[title].words
    found = TRACES[title].files()
    assert found, "the example is gone"
    missing = unlisted(RECIPES[title], found)
    assert not missing, f"the recipe '{title}' of CONTRIBUTING does not name {missing}"


def test_the_recipe_of_a_shape_names_each_table_and_each_comparison_of_kinds() -> None:
    files = [
        file
        for file in sources_with_kinds("terrain_physics", "demo")
        if not file.relative_to(ROOT).as_posix().startswith(USERS_OF_SHAPES)
    ]
    found = [file for file in files if tells_shapes_apart(file)]
    found += (ROOT / "terrain_physics/viewer").glob("page.js")
    assert len(found) > 20
    missing = unlisted(RECIPES["A shape"], found)
    assert not missing, f"the recipe 'A shape' of CONTRIBUTING does not name {missing}"


def test_the_recipe_of_a_shape_names_where_its_class_is_listed_drawn_or_asked() -> None:
    places = "terrain_physics/__init__.py*", "demo/docs/api/*.md", "tests/helpers/*", "tests/fuzz/*"
    files = [file for place in places for file in ROOT.glob(place) if file.is_file()]
    found = [file for file in files if re.search(r"\bCapsule\b", file.read_text(encoding="utf-8"))]
    assert {file.suffix for file in found} == {".py", ".pyi", ".md"}
    missing = unlisted(RECIPES["A shape"], found)
    assert not missing, f"the recipe 'A shape' of CONTRIBUTING does not name {missing}"


@pytest.mark.parametrize("rule", ["mass", "slope_speed"])
def test_the_recipe_of_a_rule_serves_for_other_rules(rule: str) -> None:
    kernels = ROOT / "terrain_physics" / "_kernels"  # these read a rule where it matters
    found = Trace((rule,), ("terrain_physics",)).files()
    found = {file for file in found if not file.is_relative_to(kernels)}
    assert len(found) > 2
    missing = unlisted(RECIPES["A rule of the character"], found)
    assert not missing, f"the recipe 'A rule' of CONTRIBUTING does not name {missing}"


@pytest.mark.parametrize(
    "code",
    [
        "if body.kind == BOX: pass",
        "KINDS = {SPHERE: 1}",
        "isinstance(shape, Capsule)",
        "Any = SphereCollider | BoxCollider",
        "WORDS = {'ball': 1, 'box': 2}",
        "words = ['sphere', 'capsule']",
        "rows[:, KIND] == kind",
        "kind == 'capsule'",
        "rules[columns.KIND] == CapsuleCollider.kind",
        "TEXT = 'if (kind == 2) {'",
        "match shape:\n    case Capsule(): pass",
        "match word:\n    case 'capsule': pass",
        "match kind:\n    case shapes.BOX: pass",
        "if type(shape) is Capsule: pass",
        "kind in ('a', 'capsule')",
        "body.kind == shapes.BOX",
        "KIND = Kind.CAPSULE",
        "WORDS = {'capsule': 1}",
    ],
)
def test_code_that_tells_shapes_apart_is_found(code: str, tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(code)
    assert tells_shapes_apart(file)


@pytest.mark.parametrize(
    "code",
    [
        "from shapes import BOX",
        "body = Capsule(a, b, 1.0)",
        "def ask(shape: Sphere) -> None: pass",
        "event.kind == 'added'",
        "saved.rules[columns.KIND] != self.collider.kind",
    ],
)
def test_other_code_tells_no_shapes_apart(code: str, tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(code)
    assert not tells_shapes_apart(file)

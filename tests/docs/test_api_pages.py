"""The reference: each public name stands there once, and nothing that it has is undocumented."""

import inspect
import re

import pytest

import terrain_physics
from terrain_physics._guesses import signpost_of
from tests.helpers.pages import DOCS

NAMES = [name for name in terrain_physics.__all__ if name != "__version__"]
ROWS = [f"rows.{name}" for name in terrain_physics.rows.__all__]
CLASSES = [name for name in NAMES if inspect.isclass(getattr(terrain_physics, name))]
_ENTRY = re.compile(r"^\.\. auto(class|function):: terrain_physics\.([\w.]+)$", re.MULTILINE)


def entries() -> list[tuple[str, str]]:
    return [
        entry
        for page in sorted((DOCS / "api").glob("*.md"))
        for entry in _ENTRY.findall(page.read_text(encoding="utf-8"))
    ]


def test_each_public_name_stands_there_once() -> None:
    assert sorted(name for _, name in entries()) == sorted(NAMES + ROWS)


def test_classes_are_shown_as_classes() -> None:
    assert sorted(name for kind, name in entries() if kind == "class") == sorted(CLASSES)


def members(kind: type) -> set[str]:
    """Return the public names that the library gives to a class."""
    return {
        name
        for base in kind.__mro__
        if base.__module__.startswith("terrain_physics")
        for name in vars(base)
        if not name.startswith("_") and signpost_of(base, name) is None
    } - set(getattr(kind, "__match_args__", ()))


@pytest.mark.parametrize("name", NAMES)
def test_has_a_docstring_of_its_own(name: str) -> None:
    value = getattr(terrain_physics, name)
    assert value.__doc__
    assert not value.__doc__.startswith(f"{name}("), "a dataclass without a docstring"


@pytest.mark.parametrize("name", CLASSES)
def test_what_it_has_is_documented(name: str) -> None:
    kind = getattr(terrain_physics, name)
    text = inspect.getdoc(kind) or ""
    listed = set(re.findall(r"^([\w, ]+) : ", text, re.MULTILINE))
    described = {word for line in listed for word in line.split(", ")}
    for member in members(kind):
        value = inspect.getattr_static(kind, member)
        assert inspect.getdoc(value) or member in described, f"{name}.{member}"

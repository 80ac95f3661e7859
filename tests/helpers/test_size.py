"""The count of lines of code, on sources whose lines are counted by hand."""

from tests.helpers.size import Size, size_of

SOURCE = '''"""Of two
lines."""

import ast
from os import (
    path,
    sep,
)

# A comment.
NUMBER = 3  # with another
"""What it is."""


class One:
    """A class."""

    field: int
    """A field."""

    def one(self) -> str:
        """Return
        something."""
        text = """not a
        docstring"""
        return text
'''


def test_lines_of_code_are_without_docstrings_comments_and_blank_lines() -> None:
    assert size_of(SOURCE) == Size(files=1, lines=12, functions=1, imports=5)


def test_an_empty_file_has_no_line() -> None:
    assert size_of("") == Size(1, 0, 0, 0)

"""Tables of columns: the layout of a row of numbers."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels.types import Floats


class Span(NamedTuple):
    """Range of numbers that a column may hold, ends included."""

    least: float
    most: float
    is_whole: bool

    def __str__(self) -> str:
        kind, form = ("whole", ".0f") if self.is_whole else ("finite", "g")
        if self.most < math.inf:
            return f"{kind} and from {self.least:{form}} to {self.most:{form}}"
        return f"{kind} and >= {self.least:g}" if self.least > -math.inf else kind


FINITE = Span(-math.inf, math.inf, is_whole=False)
NOT_NEGATIVE = Span(0.0, math.inf, is_whole=False)
COUNT = Span(0.0, math.inf, is_whole=True)
FLAG = Span(0.0, 1.0, is_whole=True)
PART_OF_UNIT = Span(-1.0 - 1e-6, 1.0 + 1e-6, is_whole=False)


class Column(NamedTuple):
    """One entry of a row: a number, or a few numbers that belong together.

    Attributes
    ----------
    name : str
        Unique among all columns.
    meaning : str
        One line.
    unit : str
        Empty for flags, counts and words.
    width : int
        Count of its numbers.
    default : float
        Each number's value in a new row.
    is_hashed : bool
        Whether characters that differ only here have different hashes.
    allowed : Span
        Range of the numbers in saved rows, unless there are words.
    words : tuple of str
        Names of the numbers 0, 1, ..., where these stand for words.
    is_rule : bool
        Whether the game sets the column by its name.
    """

    name: str
    meaning: str
    unit: str = ""
    width: int = 1
    default: float = 0.0
    is_hashed: bool = True
    allowed: Span = FINITE
    words: tuple[str, ...] = ()
    is_rule: bool = False

    @property
    def span(self) -> Span:
        """Range of the numbers in saved rows."""
        return Span(0.0, len(self.words) - 1.0, is_whole=True) if self.words else self.allowed

    @property
    def explained(self) -> str:
        """The meaning with the words of its numbers, and the unit."""
        words = ", ".join(f"{number} {word}" for number, word in enumerate(self.words))
        return self.meaning + (f": {words}" if words else "") + (self.unit and f", in {self.unit}")


class Layout:
    """Columns one after another in a row of numbers.

    Attributes
    ----------
    columns : tuple of Column
    size : int
        The length of a row.
    """

    def __init__(self, *columns: Column) -> None:
        self.columns = columns
        self._places: dict[str, int] = {}
        self._by_place: list[Column] = []
        for column in columns:
            self._places[column.name] = len(self._by_place)
            self._by_place += [column] * column.width
        self.size = len(self._by_place)

    def place(self, name: str) -> int:
        """Return where in a row a column begins."""
        return self._places[name]

    def words(self, name: str) -> tuple[str, ...]:
        """Return the words that a column's numbers 0, 1, ... stand for."""
        return self._by_place[self._places[name]].words

    def number(self, name: str, word: str) -> int:
        """Return the number that stands for a word in a column."""
        return self.words(name).index(word)

    def defaults(self) -> Floats:
        """Return the row (size,) of a new character."""
        return np.array([column.default for column in self._by_place])

    def hashed(self) -> list[int]:
        """Return the places of the numbers that are hashed."""
        return [place for place, column in enumerate(self._by_place) if column.is_hashed]

    def not_allowed(self, rows: Floats) -> tuple[int, str] | None:
        """Return (index, reason) of the first of rows (n, size) that is not allowed; or None."""
        spans = [column.span for column in self._by_place]
        least, most, is_whole = (np.array(part) for part in zip(*spans, strict=True))
        good = np.isfinite(rows) & (rows >= least) & (rows <= most)
        good &= ~is_whole | (np.floor(rows) == rows)
        for row, place in np.argwhere(~good)[:1].tolist():
            column = self._by_place[place]
            return row, f"{column.name} must be {column.span}, got {rows[row, place]}"
        return None

    def named(self, numbers: Sequence[float]) -> dict[str, Any]:
        """Return the numbers of a row by the names of their columns."""
        result: dict[str, Any] = {}
        for column in self.columns:
            start = self._places[column.name]
            own = list(numbers[start : start + column.width])
            result[column.name] = own if column.width > 1 else own[0]
        return result

    def unnamed(self, what: str, named: Any) -> list[float]:
        """Return the row of numbers by name; or raise ValueError."""
        if not isinstance(named, dict) or named.keys() != self._places.keys():
            raise ValueError(f"{what} must be a dict of {', '.join(self._places)}")
        row: list[float] = []
        for column in self.columns:
            own = named[column.name]
            numbers = own if isinstance(own, (list, tuple)) else [own]
            if len(numbers) != column.width or not all(
                isinstance(number, (float, int)) for number in numbers
            ):
                raise ValueError(f"{what}: {column.name} must be {column.width} numbers, got {own}")
            row += map(float, numbers)
        return row

    def described(self) -> str:
        """Return a table of all columns: place, name, meaning and unit."""
        lines = []
        for column in self.columns:
            first = self._places[column.name]
            last = first + column.width - 1
            places = f"{first}" if first == last else f"{first}-{last}"
            lines.append(f"{places:>6}  {column.name:17}  {column.explained}")
        return "\n".join(lines)

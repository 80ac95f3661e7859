"""Tables of columns: the layout of a row of numbers, and the format that brought each column."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    """One entry of a row: a number, or a few that belong together.

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
        Each number's value in a new row, and in a saved row that is older than the column.
    is_hashed : bool
        Whether characters that differ only here have different hashes.
    since : int
        The format that brought the column.
    allowed : Span
        Range of the numbers in saved rows.
    like : str
        The column that gives its numbers in an older saved row, in place of the default.
    """

    name: str
    meaning: str
    unit: str = ""
    width: int = 1
    default: float = 0.0
    is_hashed: bool = True
    since: int = 1
    allowed: Span = FINITE
    like: str = ""


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

    def defaults(self) -> Floats:
        """Return the row (size,) of a character that nothing has happened to."""
        return np.array([column.default for column in self._by_place])

    def hashed(self) -> list[int]:
        """Return the places of the numbers that are hashed."""
        return [place for place, column in enumerate(self._by_place) if column.is_hashed]

    def saved_in(self, form: int) -> list[int]:
        """Return the places of the numbers that rows of a format hold, in their order."""
        return [place for place, column in enumerate(self._by_place) if column.since <= form]

    def upgraded(self, rows: NDArray[Any], form: int) -> NDArray[Any]:
        """Return rows (n, size) of today made from rows (n, k) of a format, as float64 or bits."""
        result = np.tile(self.defaults().view(rows.dtype), (len(rows), 1))
        result[:, self.saved_in(form)] = rows
        for column in self.columns:
            if column.like and column.since > form:
                own, other = self._places[column.name], self._places[column.like]
                result[:, own : own + column.width] = result[:, other : other + column.width]
        return result

    def not_allowed(self, rows: Floats) -> tuple[int, str] | None:
        """Return the first of some rows (n, size) that no character has, and why; or None."""
        spans = [column.allowed for column in self._by_place]
        least, most, is_whole = (np.array(part) for part in zip(*spans, strict=True))
        good = np.isfinite(rows) & (rows >= least) & (rows <= most)
        good &= ~is_whole | (np.floor(rows) == rows)
        for row, place in np.argwhere(~good)[:1].tolist():
            column = self._by_place[place]
            return row, f"{column.name} must be {column.allowed}, got {rows[row, place]}"
        return None

    def named(self, numbers: Sequence[float], form: int) -> dict[str, Any]:
        """Return the numbers of a row of a format by the names of their columns."""
        result: dict[str, Any] = {}
        start = 0
        for column in self._columns_of(form):
            own = list(numbers[start : start + column.width])
            result[column.name] = own if column.width > 1 else own[0]
            start += column.width
        return result

    def unnamed(self, what: str, named: Any, form: int) -> list[float]:
        """Return the row of a format from its numbers by name; or raise ValueError."""
        columns = self._columns_of(form)
        if not isinstance(named, dict) or named.keys() != {column.name for column in columns}:
            names = ", ".join(column.name for column in columns)
            raise ValueError(f"{what} must be a dict of {names}")
        row: list[float] = []
        for column in columns:
            own = named[column.name]
            numbers = own if isinstance(own, (list, tuple)) else [own]
            if len(numbers) != column.width or not all(
                isinstance(number, (float, int)) for number in numbers
            ):
                raise ValueError(f"{what}: {column.name} must be {column.width} numbers, got {own}")
            row += map(float, numbers)
        return row

    def _columns_of(self, form: int) -> list[Column]:
        return [column for column in self.columns if column.since <= form]

    def described(self) -> str:
        """Return a table of all columns: place, name, unit and meaning."""
        lines = []
        for column in self.columns:
            first = self._places[column.name]
            last = first + column.width - 1
            places = f"{first}" if first == last else f"{first}-{last}"
            unit = f", in {column.unit}" if column.unit else ""
            lines.append(f"{places:>6}  {column.name:17}  {column.meaning}{unit}")
        return "\n".join(lines)

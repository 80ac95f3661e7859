"""Tables of columns: what stands where in a row of numbers, and in which format it came."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Floats


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
        How many numbers.
    default : float
        Each number's value in a new row, and in a saved row that is older than the column.
    is_hashed : bool
        Whether characters that differ only here have different hashes.
    since : int
        The format that brought the column.
    """

    name: str
    meaning: str
    unit: str = ""
    width: int = 1
    default: float = 0.0
    is_hashed: bool = True
    since: int = 1


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
        return result

    def described(self) -> str:
        """Return a table of all columns: place, name, unit and meaning."""
        lines = []
        for column in self.columns:
            first = self._places[column.name]
            last = first + column.width - 1
            places = f"{first}" if first == last else f"{first}-{last}"
            unit = f", in {column.unit}" if column.unit else ""
            lines.append(f"{places:>6}  {column.name:16}  {column.meaning}{unit}")
        return "\n".join(lines)

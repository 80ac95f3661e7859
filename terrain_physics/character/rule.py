"""Rules of a character: columns that the game sets by name, with checks of their values."""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.character.state.columns import (
    FINITE,
    FLAG,
    NOT_NEGATIVE,
    Column,
    Span,
)
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._support import checks
from terrain_physics._support.angles import cosine
from terrain_physics._support.interruptions import carried_out
from terrain_physics.character.rows import Rows, forget_contact_signature

_GREATEST = sys.float_info.max

T = TypeVar("T")


class _Holder(Protocol):
    def _rule_row(self) -> Floats: ...


class HasRow(ABC):
    """Base of a character with a row of numbers, in which a rule can be set."""

    @abstractmethod
    def _row(self) -> Rows:
        """Return the character's numbers; writing to them changes it."""


class Rule(ABC, Generic[T]):
    """The value of a column, as the game reads and sets it."""

    _dtype: type[np.generic] = np.float64  # of the values of many

    def __init__(self, column: Column) -> None:
        self.column, self.name = column, column.name
        self.place = columns.RULES.place(self.name)
        self.default = self.read(columns.RULES.defaults())
        unit = f" {column.unit}" if column.unit else ""
        self.__doc__ = (
            f"The rule `{self.name}` of `CharacterMovement`; default {self.default!r}{unit}."
        )

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...
    @overload
    def __get__(self, holder: _Holder, owner: type) -> T: ...
    def __get__(self, holder: _Holder | None, owner: type) -> Self | T:
        return self if holder is None else self.read(holder._rule_row())  # noqa: SLF001

    def __set__(self, character: HasRow, value: T) -> None:
        row = character._row()  # noqa: SLF001
        rules = row.rules.copy()
        self.write(rules, value)
        is_other = self.read(rules) != self.read(row.rules)

        def put() -> None:
            row.rules[...] = rules
            if is_other:
                self.wake(row.state)

        carried_out(put)

    def wake(self, state: Floats, rows: Any = ...) -> None:
        """Wake some of characters (..., STATE_SIZE) after the rule has changed."""
        forget_contact_signature(state, rows)

    @abstractmethod
    def read(self, rules: Floats) -> T:
        """Return the value in a row of rules."""

    def read_all(self, rules: Floats) -> NDArray[Any]:
        """Return the values in rows (n, RULES_SIZE), as a new array (n,)."""
        return rules[:, self.place].astype(self._dtype)

    def write(self, rules: Floats, value: Any) -> None:
        """Check a value and put it into a row of rules, or into all of rows (n, RULES_SIZE)."""
        rules[..., self.place] = self._number(value) + 0.0  # no -0.0: equal rules hash alike

    def write_good(self, rules: Floats, values: NDArray[Any]) -> bool:
        """Put values (n,) into rows, one into each, and return True.

        Return False if a value is bad, or if their type does not tell: then `write` decides on each
        value.
        """
        numbers = self._numbers(values)
        if numbers is None:
            return False
        rules[:, self.place] = numbers + 0.0
        return True

    @abstractmethod
    def _number(self, value: Any) -> float:
        """Return the number in the column for a value, or refuse the value."""

    @abstractmethod
    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        """Return the numbers in the column for good values (n,); None if `write_good` is False."""


class _Real(Rule[float]):
    """A real number, unchanged in the column."""

    def __init__(self, column: Column) -> None:
        super().__init__(column)
        self._check = _check_of(column.allowed)

    def read(self, rules: Floats) -> float:
        return float(rules[self.place])

    def _number(self, value: Any) -> float:
        return self._check(self.name, value)

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        least, most, _ = self.column.allowed
        return _reals(values, max(least, -_GREATEST), min(most, _GREATEST))


class _Gravity(_Real):
    """A downward acceleration, >= 0."""

    def _number(self, value: Any) -> float:
        gravity = checks.finite(self.name, value)
        if gravity < 0.0:
            raise ValueError(
                f"{self.name} must be >= 0 m/s^2, downward, got {gravity}; "
                "gravity_scale may be negative"
            )
        return gravity


class _Slope(_Real):
    """An angle, with its cosine in a second column for kernels."""

    def write(self, rules: Floats, value: Any) -> None:
        super().write(rules, value)
        rules[..., columns.SLOPE_COSINE] = cosine(self._number(value))

    def write_good(self, rules: Floats, values: NDArray[Any]) -> bool:
        if not super().write_good(rules, values):
            return False
        rules[:, columns.SLOPE_COSINE] = [cosine(x) for x in rules[:, self.place].tolist()]
        return True

    def _number(self, value: Any) -> float:
        limit = checks.finite(self.name, value)
        if not (0.0 <= limit <= math.pi / 2):
            hint = f"; for degrees use math.radians({limit:g})" if 0.0 < limit <= 90.0 else ""
            raise ValueError(f"{self.name} must be from 0 to pi / 2 radians, got {limit}{hint}")
        return limit


class _Mass(_Real):
    """A mass; the column is 0 for an infinite one, as saved numbers are finite."""

    def read(self, rules: Floats) -> float:
        return super().read(rules) or math.inf

    def read_all(self, rules: Floats) -> NDArray[Any]:
        masses = super().read_all(rules)
        masses[masses == 0.0] = math.inf
        return masses

    def _number(self, value: Any) -> float:
        is_immovable = isinstance(value, (float, np.floating)) and value == math.inf
        return 0.0 if is_immovable else checks.positive(self.name, value)

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        if values.dtype.kind not in "iuf" or not (values > 0).all():
            return None
        masses = values.astype(np.float64)
        return np.where(masses == math.inf, 0.0, masses)


class _Whole(Rule[int]):
    """A whole number, ends included."""

    _dtype = np.int64

    def read(self, rules: Floats) -> int:
        return int(rules[self.place])

    def _number(self, value: Any) -> float:
        least, most, _ = self.column.allowed
        return checks.whole(self.name, value, int(least), int(most))

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        least, most, _ = self.column.allowed
        return _reals(values, least, most) if values.dtype.kind in "iu" else None


class _Mask(_Whole):
    """Layers, a bit for each; a change of them is like a change of the ground."""

    def wake(self, state: Floats, rows: Any = ...) -> None:
        super().wake(state, rows)
        state[rows, columns.MOVED] = 1.0


class _Flag(Rule[bool]):
    """A flag, true or false."""

    _dtype = np.bool_

    def read(self, rules: Floats) -> bool:
        return bool(rules[self.place])

    def _number(self, value: Any) -> float:
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{self.name} must be True or False, got {checks.shorten(value)}")
        return float(value)

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        return values.astype(np.float64) if values.dtype.kind == "b" else None


class _Choice(Rule[str]):
    """One of the column's words."""

    def read(self, rules: Floats) -> str:
        return self.column.words[int(rules[self.place])]

    def read_all(self, rules: Floats) -> NDArray[Any]:
        return np.array(self.column.words).take(rules[:, self.place].astype(np.int64))

    def _number(self, value: Any) -> float:
        words = self.column.words
        return words.index(checks.choice(self.name, value, words))

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        words = self.column.words
        if values.dtype.kind != "U" or not np.isin(values, words).all():
            return None
        numbers = np.zeros(len(values))
        for number, word in enumerate(words):
            numbers[values == word] = number
        return numbers


def _check_of(allowed: Span) -> Callable[[str, Any], float]:
    """Return the check of real numbers of a range, by name and value."""
    if allowed == FINITE:
        return checks.finite
    if allowed == NOT_NEGATIVE:
        return checks.non_negative
    return partial(checks.between, low=allowed.least, high=allowed.most)


def _reals(values: NDArray[Any], least: float, most: float) -> Floats | None:
    """Return values (n,) as real numbers; None if one is out of range or no number."""
    if values.dtype.kind not in "biuf":
        return None
    with np.errstate(over="ignore"):  # a long double may become infinite
        numbers = values.astype(np.float64)
    return numbers if ((numbers >= least) & (numbers <= most)).all() else None


_SPECIAL: dict[str, type[Rule[Any]]] = {
    "gravity": _Gravity,
    "slope_limit": _Slope,
    "mask": _Mask,
    "mass": _Mass,
}
"""Rules of which the column does not say everything."""


def _made(column: Column) -> Rule[Any]:
    """Return the rule of a column."""
    if column.name in _SPECIAL:
        return _SPECIAL[column.name](column)
    if column.words:
        return _Choice(column)
    if column.allowed == FLAG:
        return _Flag(column)
    return _Whole(column) if column.allowed.is_whole else _Real(column)


RULES = {column.name: _made(column) for column in columns.RULES.columns if column.is_rule}


def wake_changed(
    states: Floats, places: Int64s, before: Floats, after: Floats, names: Collection[str]
) -> None:
    """Wake characters by those of some rules that have changed.

    ``before`` and ``after`` are rows of rules (n, RULES_SIZE), ``places`` (n,) the row numbers of
    their states.
    """
    for name in names:
        place = columns.RULES.place(name)
        changed = places[before[:, place] != after[:, place]]
        wake = RULES[name].wake if name in RULES else forget_contact_signature
        wake(states, changed)

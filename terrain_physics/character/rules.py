"""The rules of a character: numbers that its kernel reads, checked when they are set."""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Generic, Literal, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics.character.attribute_guard import AttributeGuard
from terrain_physics.character.material_rules import MaterialRules, put_material_rules, shown
from terrain_physics.character.rows import Rows, forget_contact_signature

GroundRule = Literal["contact", "sum"]
Resolver = Literal["shuffled", "simultaneous"]
SlopeSpeed = Literal["horizontal", "surface"]
Leave = Literal["velocity", "up", "none"]

_GREATEST = sys.float_info.max

T = TypeVar("T")
Word = TypeVar("Word", bound=str)


class Rule(ABC, Generic[T]):
    """What stands in the column of the same name, as the game reads and sets it."""

    _dtype: type[np.generic] = np.float64  # of the values of many

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.place = columns.RULES.place(name)
        self.default = self.read(columns.RULES.defaults())
        (column,) = (column for column in columns.RULES.columns if column.name == name)
        unit = f" {column.unit}" if column.unit else ""
        self.__doc__ = f"The rule `{name}` of `CharacterMovement`; default {self.default!r}{unit}."

    @overload
    def __get__(self, character: None, owner: type) -> Self: ...
    @overload
    def __get__(self, character: "CharacterRules", owner: type) -> T: ...
    def __get__(self, character: "CharacterRules | None", owner: type) -> "Self | T":
        return self if character is None else self.read(character._row().rules)  # noqa: SLF001

    def __set__(self, character: "CharacterRules", value: T) -> None:
        row = character._row()  # noqa: SLF001
        before = self.read(row.rules)
        self.write(row.rules, value)
        if self.read(row.rules) != before:
            self.wake(row.state)

    def wake(self, state: Floats, rows: Any = ...) -> None:
        """Let some of characters (..., STATE_SIZE) take notice that the rule is another."""
        forget_contact_signature(state, rows)

    @abstractmethod
    def read(self, rules: Floats) -> T:
        """Return what a row of rules holds."""

    def read_all(self, rules: Floats) -> NDArray[Any]:
        """Return what each of rows (n, RULES_SIZE) holds, as a new array (n,)."""
        return rules[:, self.place].astype(self._dtype)

    @abstractmethod
    def write(self, rules: Floats, value: Any) -> None:
        """Check a value and put it into a row of rules, or into all of rows (n, RULES_SIZE)."""

    def write_good(self, rules: Floats, values: NDArray[Any]) -> bool:
        """Put values (n,) into rows, one into each, and return True.

        False where one is bad, and where their type says little: then `write` is to decide on each.
        """
        numbers = self._numbers(values)
        if numbers is None:
            return False
        rules[:, self.place] = numbers
        return True

    @abstractmethod
    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        """Return what stands in the column for good values (n,); None as of `write_good`."""


class _Number(Rule[float]):
    """A number as it is."""

    def __init__(self, check: Callable[[str, Any], float], least: float = -_GREATEST) -> None:
        self._check, self._least = check, least

    def read(self, rules: Floats) -> float:
        return float(rules[self.place])

    def write(self, rules: Floats, value: Any) -> None:
        rules[..., self.place] = self._check(self.name, value)

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        return _reals(values, self._least, _GREATEST)


class _Slope(Rule[float]):
    """An angle, whose cosine the kernel reads."""

    def read(self, rules: Floats) -> float:
        return float(rules[self.place])

    def write(self, rules: Floats, value: Any) -> None:
        limit = checks.finite(self.name, value)
        if not (0.0 <= limit <= math.pi / 2):
            hint = f"; for degrees use math.radians({limit:g})" if 0.0 < limit <= 90.0 else ""
            raise ValueError(f"{self.name} must be from 0 to pi / 2 radians, got {limit}{hint}")
        rules[..., self.place], rules[..., columns.SLOPE_COSINE] = limit, math.cos(limit)

    def write_good(self, rules: Floats, values: NDArray[Any]) -> bool:
        if not super().write_good(rules, values):
            return False
        # The cosines of one: those of NumPy have other last bits.
        rules[:, columns.SLOPE_COSINE] = [math.cos(x) for x in rules[:, self.place].tolist()]
        return True

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        return _reals(values, 0.0, math.pi / 2)


class _Whole(Rule[int]):
    """A whole number, ends included."""

    _dtype = np.int64

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most

    def read(self, rules: Floats) -> int:
        return int(rules[self.place])

    def write(self, rules: Floats, value: Any) -> None:
        rules[..., self.place] = checks.whole(self.name, value, self._least, self._most)

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        if values.dtype.kind not in "iu":
            return None
        return _reals(values, self._least, self._most)


class _Flag(Rule[bool]):
    """Whether something is so."""

    _dtype = np.bool_

    def read(self, rules: Floats) -> bool:
        return bool(rules[self.place])

    def write(self, rules: Floats, value: Any) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{self.name} must be True or False, got {checks.shorten(value)}")
        rules[..., self.place] = value

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        return values.astype(np.float64) if values.dtype.kind == "b" else None


class _Mass(Rule[float]):
    """A mass, whose column is 0 where it is infinite: saved numbers are finite."""

    def read(self, rules: Floats) -> float:
        return float(rules[self.place]) or math.inf

    def read_all(self, rules: Floats) -> NDArray[Any]:
        masses = super().read_all(rules)
        masses[masses == 0.0] = math.inf
        return masses

    def write(self, rules: Floats, value: Any) -> None:
        is_immovable = isinstance(value, (float, np.floating)) and value == math.inf
        rules[..., self.place] = 0.0 if is_immovable else checks.positive(self.name, value)

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        if values.dtype.kind not in "iuf" or not (values > 0).all():
            return None
        masses = values.astype(np.float64)
        return np.where(masses == math.inf, 0.0, masses)


class _Mask(_Whole):
    """Layers, a bit for each; with others the ground is another."""

    def wake(self, state: Floats, rows: Any = ...) -> None:
        super().wake(state, rows)
        state[rows, columns.MOVED] = 1.0


class _Choice(Rule[Word]):
    """One of a few words, which the kernel knows by their numbers."""

    def __init__(self, *words: Word) -> None:
        self.words = words

    def read(self, rules: Floats) -> Word:
        return self.words[int(rules[self.place])]

    def read_all(self, rules: Floats) -> NDArray[Any]:
        return np.array(self.words).take(rules[:, self.place].astype(np.int64))

    def write(self, rules: Floats, value: Any) -> None:
        word = checks.choice(self.name, value, self.words)
        rules[..., self.place] = self.words.index(word)

    def _numbers(self, values: NDArray[Any]) -> Floats | None:
        if values.dtype.kind != "U" or not np.isin(values, self.words).all():
            return None
        numbers = np.zeros(len(values))
        for number, word in enumerate(self.words):
            numbers[values == word] = number
        return numbers


def _reals(values: NDArray[Any], least: float, most: float) -> Floats | None:
    """Return real numbers (n,) from least to most; None where one is not, or is no number."""
    if values.dtype.kind not in "biuf":
        return None
    with np.errstate(over="ignore"):  # a long double may become infinite
        numbers = values.astype(np.float64)
    return numbers if ((numbers >= least) & (numbers <= most)).all() else None


def _downward(name: str, value: Any) -> float:
    """Return a gravity, which has no sign."""
    gravity = checks.finite(name, value)
    if gravity < 0.0:
        raise ValueError(
            f"{name} must be >= 0 m/s^2, downward, got {gravity}; gravity_scale may be negative"
        )
    return gravity


class CharacterRules(AttributeGuard, ABC):
    """What the game sets of a character, and may change at any time; see `CharacterMovement`."""

    gravity = _Number(_downward, 0.0)
    gravity_scale = _Number(checks.finite)
    slope_limit = _Slope()
    ground_rule: _Choice[GroundRule] = _Choice("contact", "sum")
    ground_friction = _Number(checks.non_negative, 0.0)
    resolver: _Choice[Resolver] = _Choice("shuffled", "simultaneous")
    snap_distance = _Number(checks.non_negative, 0.0)
    step_offset = _Number(checks.non_negative, 0.0)
    slope_speed: _Choice[SlopeSpeed] = _Choice("horizontal", "surface")
    max_rounds = _Whole(1, columns.MOST_ROUNDS)
    mask = _Mask(0, ALL_LAYERS)
    leave: _Choice[Leave] = _Choice("velocity", "up", "none")
    turn_with_ground = _Flag()
    mass = _Mass()
    layers = _Whole(0, ALL_LAYERS)
    keep_off_ledges = _Flag()

    @property
    def material_rules(self) -> Mapping[str | int, Mapping[str, float]]:
        """The rule `material_rules` of `CharacterMovement`, read-only: set another one as a whole.

        Numbers come first, then names; each material has both ``friction`` and ``speed``.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
        >>> pond = HeightMap([[0, 0], [0, 0]], materials="ice", material_names=["grass", "ice"])
        >>> mover = CharacterMovement(pond, SphereCollider(0.5))
        >>> mover.material_rules = {"ice": dict(friction=0.1)}
        >>> {name: dict(rule) for name, rule in mover.material_rules.items()}
        {'ice': {'friction': 0.1, 'speed': 1.0}}
        """
        return shown(self._material_rules())

    @material_rules.setter
    def material_rules(self, value: Mapping[Any, Mapping[str, float]]) -> None:
        rules = put_material_rules(self._row().rules, value)
        if rules != self._material_rules():
            self._keep_material_rules(rules)
            forget_contact_signature(self._row().state)

    @abstractmethod
    def _row(self) -> Rows:
        """Return the character's numbers; writing to them changes it."""

    @abstractmethod
    def _material_rules(self) -> MaterialRules: ...

    @abstractmethod
    def _keep_material_rules(self, rules: MaterialRules) -> None:
        """Remember the rules that the numbers now have the mark of."""


_RULES = {name: rule for name, rule in vars(CharacterRules).items() if isinstance(rule, Rule)}


def rule_to_read(name: Any) -> Rule[Any]:
    """Return the rule with a name, or refuse that."""
    return _RULES[checks.choice("name", name, tuple(_RULES))]


def _rule_to_set(name: str) -> Rule[Any]:
    if name not in _RULES:
        names = [*_RULES, "material_rules"]
        meant = [f"; did you mean {close}?" for close in get_close_matches(name, names, n=1)]
        raise TypeError(f"rules must be of {', '.join(names)}, got {name!r}{''.join(meant)}")
    return _RULES[name]


def put_rules(rules: Floats, changes: dict[str, Any]) -> None:
    """Check rules given by name and put them into a row."""
    for name, value in changes.items():
        _rule_to_set(name).write(rules, value)


def put_rules_per_character(
    rules: Floats, changes: dict[str, Any], keys: Sequence[Any]
) -> list[Rule[Any]]:
    """Check the same and put them into rows (n, RULES_SIZE) of some keys; return which they are.

    Each is one value for all, or an array of values (n,). An error may come after some are put.
    """
    changed = []
    for name, value in changes.items():
        rule = _rule_to_set(name)
        values = _one_or_each(name, value, len(keys))
        if values.ndim == 0:
            rule.write(rules, value)
        elif not rule.write_good(rules, values):
            # An array of a list may hold its values as of another type.
            given = value if isinstance(value, (list, tuple)) else values.tolist()
            for row, own, key in zip(rules, given, keys, strict=True):
                checks.named_check(key, rule.write, row, own)
        changed.append(rule)
    return changed


def _one_or_each(name: str, value: Any, count: int) -> NDArray[Any]:
    """Return a new array of one value, without axes, or of one for each of ``count``."""
    checks.refuse_masked(name, value)
    try:
        values = checks.copied(name, value)
    except ValueError:  # rows of several lengths
        values = np.empty((0, 0))
    if values.shape not in {(), (count,)}:
        raise ValueError(
            f"{name} must be one value or have shape ({count},), got {checks.shorten(value)}"
        )
    return values

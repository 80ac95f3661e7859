"""The rules of a character: numbers that its kernel reads, checked when they are set."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Generic, Literal, Self, TypeVar, overload

import numpy as np

from terrain_physics import _checks
from terrain_physics._kernels.character import layout as columns
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import Floats
from terrain_physics.character.material_rules import MaterialRules, put_material_rules, shown
from terrain_physics.character.rows import Rows
from terrain_physics.character.spelling import Spelled

GroundRule = Literal["contact", "sum"]
Resolver = Literal["shuffled", "simultaneous"]
SlopeSpeed = Literal["horizontal", "surface"]
Leave = Literal["velocity", "up", "none"]

T = TypeVar("T")
Word = TypeVar("Word", bound=str)


class Rule(ABC, Generic[T]):
    """What stands in the column of the same name, as the game reads and sets it."""

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
        rules = character._row().rules  # noqa: SLF001
        before = self.read(rules)
        self.write(rules, value)
        if self.read(rules) != before:
            self.wake(character)

    def wake(self, character: "CharacterRules") -> None:
        """Let a character take notice that the rule is another."""
        character._forget_rest()  # noqa: SLF001

    @abstractmethod
    def read(self, rules: Floats) -> T:
        """Return what a row of rules holds."""

    @abstractmethod
    def write(self, rules: Floats, value: Any) -> None:
        """Check a value and put it into a row of rules."""


class _Number(Rule[float]):
    """A number as it is."""

    def __init__(self, check: Callable[[str, Any], float]) -> None:
        self._check = check

    def read(self, rules: Floats) -> float:
        return float(rules[self.place])

    def write(self, rules: Floats, value: Any) -> None:
        rules[self.place] = self._check(self.name, value)


class _Slope(Rule[float]):
    """An angle, whose cosine the kernel reads."""

    def read(self, rules: Floats) -> float:
        return float(rules[self.place])

    def write(self, rules: Floats, value: Any) -> None:
        limit = _checks.finite(self.name, value)
        if not (0.0 <= limit <= math.pi / 2):
            hint = f"; for degrees use math.radians({limit:g})" if 0.0 < limit <= 90.0 else ""
            raise ValueError(f"{self.name} must be from 0 to pi / 2 radians, got {limit}{hint}")
        rules[self.place], rules[columns.SLOPE_COSINE] = limit, math.cos(limit)


class _Whole(Rule[int]):
    """A whole number, ends included."""

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most

    def read(self, rules: Floats) -> int:
        return int(rules[self.place])

    def write(self, rules: Floats, value: Any) -> None:
        rules[self.place] = _checks.whole(self.name, value, self._least, self._most)


class _Flag(Rule[bool]):
    """Whether something is so."""

    def read(self, rules: Floats) -> bool:
        return bool(rules[self.place])

    def write(self, rules: Floats, value: Any) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{self.name} must be True or False, got {_checks.shorten(value)}")
        rules[self.place] = value


class _Mask(_Whole):
    """Layers, a bit for each; with others the ground is another."""

    def wake(self, character: "CharacterRules") -> None:
        super().wake(character)
        character._row().state[columns.MOVED] = 1.0  # noqa: SLF001


class _Choice(Rule[Word]):
    """One of a few words, which the kernel knows by their numbers."""

    def __init__(self, *words: Word) -> None:
        self.words = words

    def read(self, rules: Floats) -> Word:
        return self.words[int(rules[self.place])]

    def write(self, rules: Floats, value: Any) -> None:
        rules[self.place] = self.words.index(_checks.choice(self.name, value, self.words))


def _downward(name: str, value: Any) -> float:
    """Return a gravity, which has no sign."""
    gravity = _checks.finite(name, value)
    if gravity < 0.0:
        raise ValueError(
            f"{name} must be >= 0 m/s^2, downward, got {gravity}; gravity_scale may be negative"
        )
    return gravity


class CharacterRules(Spelled, ABC):
    """What the game sets of a character, and may change at any time; see `CharacterMovement`."""

    gravity = _Number(_downward)
    gravity_scale = _Number(_checks.finite)
    slope_limit = _Slope()
    ground_rule: _Choice[GroundRule] = _Choice("contact", "sum")
    ground_friction = _Number(_checks.non_negative)
    resolver: _Choice[Resolver] = _Choice("shuffled", "simultaneous")
    snap_distance = _Number(_checks.non_negative)
    step_offset = _Number(_checks.non_negative)
    slope_speed: _Choice[SlopeSpeed] = _Choice("horizontal", "surface")
    max_rounds = _Whole(1, columns.MOST_ROUNDS)
    mask = _Mask(0, ALL_LAYERS)
    leave: _Choice[Leave] = _Choice("velocity", "up", "none")
    turn_with_ground = _Flag()

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
            self._forget_rest()

    @abstractmethod
    def _row(self) -> Rows:
        """Return the character's numbers; writing to them changes it."""

    @abstractmethod
    def _material_rules(self) -> MaterialRules: ...

    @abstractmethod
    def _keep_material_rules(self, rules: MaterialRules) -> None:
        """Remember the rules that the numbers now have the mark of."""

    def _forget_rest(self) -> None:
        """Wake a character for good: that it finds the ground as it was says nothing any more."""
        state = self._row().state
        state[columns.UNDISTURBED] = state[columns.IMPRINT] = 0.0


_RULES = {name: rule for name, rule in vars(CharacterRules).items() if isinstance(rule, Rule)}


def put_rules(rules: Floats, changes: dict[str, Any]) -> None:
    """Check rules given by name and put them into a row."""
    for name, value in changes.items():
        if name not in _RULES:
            names = [*_RULES, "material_rules"]
            meant = [f"; did you mean {close}?" for close in get_close_matches(name, names, n=1)]
            raise TypeError(f"rules must be of {', '.join(names)}, got {name!r}{''.join(meant)}")
        _RULES[name].write(rules, value)

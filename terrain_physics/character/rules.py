"""The rules of a character: as a value, as its properties, and as columns of many."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal, NoReturn, TypedDict, TypeVar, Unpack, cast, final

import numpy as np
from numpy.typing import NDArray

from terrain_physics._guesses import argument_way, hint
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import Floats
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics.character.attribute_guard import AttributeGuard
from terrain_physics.character.material_rules import (
    NO_MATERIAL_RULES,
    MaterialRules,
    put_material_rules,
    shown,
)
from terrain_physics.character.rule import RULES, HasRow, Rule, wake_changed

# The words of columns, for type checkers.
GroundRule = Literal["contact", "sum"]
Resolver = Literal["shuffled", "simultaneous"]
SlopeSpeed = Literal["horizontal", "surface"]
Leave = Literal["velocity", "up", "none"]

_Before = TypeVar("_Before", MaterialRules, None)

_NAMES = (*RULES, "material_rules")

# Columns of a row that are rules, or follow from one.
_PLACES = [
    *(rule.place for rule in RULES.values()),
    columns.SLOPE_COSINE,
    columns.MATERIAL_RULES,
]


class RuleKeywords(TypedDict, total=False):
    """Rules by name, for type checkers."""

    gravity: float
    gravity_scale: float
    slope_limit: float
    ground_rule: GroundRule
    ground_friction: float
    max_rounds: int
    resolver: Resolver
    snap_distance: float
    step_offset: float
    slope_speed: SlopeSpeed
    mask: int
    leave: Leave
    turn_with_ground: bool
    mass: float
    layers: int
    keep_off_ledges: bool
    material_rules: Mapping[Any, Mapping[str, float]]


class Default:
    """The default of a keyword: shown as its value, but recognized as not given."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


_DEFAULTS = {name: Default(rule.default) for name, rule in RULES.items()}
_DEFAULTS["material_rules"] = Default(NO_MATERIAL_RULES)


DEFAULT: Any = SimpleNamespace(**_DEFAULTS)
"""The defaults by the names of rules, for a constructor that writes them out."""


def given_rules(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules that were given among a constructor's arguments."""
    return {
        name: value
        for name, value in arguments.items()
        if name in _DEFAULTS and type(value) is not Default
    }


class _Rules(ABC):
    """Rules to read, each in the column of the same name."""

    gravity: Rule[float]
    gravity_scale: Rule[float]
    slope_limit: Rule[float]
    ground_rule: Rule[GroundRule]
    ground_friction: Rule[float]
    max_rounds: Rule[int]
    resolver: Rule[Resolver]
    snap_distance: Rule[float]
    step_offset: Rule[float]
    slope_speed: Rule[SlopeSpeed]
    mask: Rule[int]
    leave: Rule[Leave]
    turn_with_ground: Rule[bool]
    mass: Rule[float]
    layers: Rule[int]
    keep_off_ledges: Rule[bool]

    @abstractmethod
    def _rule_row(self) -> Floats:
        """Return the row of rules."""


for _name, _rule in RULES.items():
    setattr(_Rules, _name, _rule)


@public
@final
class CharacterRules(_Rules):
    """All rules of a character as one frozen value, for example those of a kind of character.

    Pass it to a `CharacterMovement` or to a `CharacterGroup` as ``rules``, or set it as the `rules`
    of a character. Two values are equal if all their rules are.

    Parameters
    ----------
    **rules
        As for `CharacterMovement`, such as ``slope_limit`` and ``material_rules``, with the same
        defaults; not ``max_delta``, which is no rule of a character but of its updates.

    Raises
    ------
    TypeError, ValueError
        As for `CharacterMovement`.

    Examples
    --------
    >>> import math
    >>> from terrain_physics import CharacterGroup, CharacterMovement, HeightMap, SphereCollider
    >>> goat = CharacterRules(slope_limit=math.radians(60), step_offset=0.5)
    >>> kid = goat.replace(step_offset=0.2, mass=15)
    >>> kid.slope_limit == goat.slope_limit, kid.mass
    (True, 15.0)
    >>> floor = HeightMap([[0, 0], [0, 0]])
    >>> hero = CharacterMovement(floor, SphereCollider(0.5), rules=goat)
    >>> herd = CharacterGroup(floor, SphereCollider(0.3), rules=goat)
    >>> herd.add("Heidi", (0, 1, 0))
    >>> herd.add("Peter", (1, 1, 0), rules=kid, mass=20)
    >>> hero.rules == herd["Heidi"].rules, herd["Peter"].mass
    (True, 20.0)
    """

    __slots__ = ("_materials", "_numbers")

    _numbers: Floats
    _materials: MaterialRules

    __signature__ = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[name].value)
            for name in _NAMES
        ]
    )

    def __init__(self, **rules: Unpack[RuleKeywords]) -> None:
        numbers = columns.RULES.defaults()
        materials = put_rules(numbers, None, rules, ())
        self._hold(numbers, materials)

    def _hold(self, numbers: Floats, materials: MaterialRules) -> "CharacterRules":
        """Take numbers, which no other object writes to, and return the rules."""
        numbers.setflags(write=False)
        object.__setattr__(self, "_numbers", numbers)
        object.__setattr__(self, "_materials", materials)
        return self

    @property
    def material_rules(self) -> Mapping[str | int, Mapping[str, float]]:
        """The rule `material_rules` of `CharacterMovement`, read-only."""
        return shown(self._materials)

    def replace(self, **changes: Unpack[RuleKeywords]) -> "CharacterRules":
        """Return the same rules with some changes.

        Parameters
        ----------
        **changes
            Rules by name.

        Returns
        -------
        CharacterRules

        Raises
        ------
        TypeError, ValueError
            As for `CharacterMovement`.
        """
        return CharacterRules(**(self.to_dict() | changes))

    __replace__ = replace

    def to_dict(self) -> RuleKeywords:
        """Return all rules by name: ``CharacterRules(**rules.to_dict())`` is equal.

        Returns
        -------
        dict
            It holds numbers, flags, words and, as ``material_rules``, a dict of dicts. JSON keeps
            all of it, but turns the numbers of materials without names into texts. An infinite
            ``mass`` is a float.
        """
        rules: dict[str, Any] = {name: rule.read(self._numbers) for name, rule in RULES.items()}
        rules["material_rules"] = {
            material: dict(factors) for material, factors in self.material_rules.items()
        }
        return cast("RuleKeywords", rules)

    def _rule_row(self) -> Floats:
        return self._numbers

    def _values(self) -> tuple[Any, ...]:
        return *(rule.read(self._numbers) for rule in RULES.values()), self._materials

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CharacterRules):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        usual = dict(CharacterRules().to_dict())
        own = (f"{name}={own!r}" for name, own in self.to_dict().items() if own != usual[name])
        return f"CharacterRules({', '.join(own)})"

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"CharacterRules are frozen: replace({name}=...) returns others")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"CharacterRules are frozen, and keep their {name}")

    def __getstate__(self) -> RuleKeywords:
        """Return the rules by name, for pickles."""
        return self.to_dict()

    def __setstate__(self, content: RuleKeywords) -> None:
        self.__init__(**content)


class RuleProperties(AttributeGuard, _Rules, HasRow):
    """Rules of a character, to read and to set at any time."""

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
        self._put_rules(None, {"material_rules": value})

    @property
    def rules(self) -> CharacterRules:
        """All present rules as a value; setting a value sets all rules.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
        >>> mover = CharacterMovement(HeightMap([[0, 0], [0, 0]]), SphereCollider(0.5), mass=60)
        >>> mover.rules
        CharacterRules(mass=60.0)
        >>> mover.rules = mover.rules.replace(gravity_scale=0.5)
        >>> mover.gravity_scale, mover.mass
        (0.5, 60.0)
        """
        row = self._rule_row().copy()
        return CharacterRules.__new__(CharacterRules)._hold(row, self._material_rules())  # noqa: SLF001

    @rules.setter
    def rules(self, value: CharacterRules) -> None:
        self._put_rules(checked_rules(value), {})

    def _put_rules(self, rules: CharacterRules | None, changes: Mapping[str, Any]) -> None:
        """Take rules over: all those of a value, then some by name."""
        row, known = self._row(), self._material_rules()
        new = row.rules.copy()
        materials = put_rules(new, rules, changes, known)
        one, place = row.at(np.newaxis), np.zeros(1, np.int64)
        wake_changed(one.state, place, one.rules, new[np.newaxis], names_of(rules, changes))
        row.rules[:] = new
        if materials != known:
            self._keep_material_rules(materials)

    def _rule_row(self) -> Floats:
        return self._row().rules

    @abstractmethod
    def _material_rules(self) -> MaterialRules: ...

    @abstractmethod
    def _keep_material_rules(self, rules: MaterialRules) -> None:
        """Keep the rules with the mark that the numbers now have."""


def checked_rules(value: Any) -> CharacterRules:
    """Return a value of rules, or refuse any other value."""
    checks.instance("rules", value, CharacterRules)
    known: CharacterRules = value
    return known


def rule_to_read(name: Any) -> Rule[Any]:
    """Return the rule with a name, or refuse the name."""
    return RULES[checks.choice("name", name, tuple(RULES))]


def put_rules(
    rows: Floats,
    rules: CharacterRules | None,
    changes: Mapping[str, Any],
    material_rules: _Before,
    keys: Sequence[Any] | None = None,
) -> MaterialRules | _Before:
    """Put rules into rows (..., RULES_SIZE): all those of a value, then some by name.

    Returns the rules for materials of the rows then, which are ``material_rules`` if they stay.
    With ``keys``, a rule by name may have a value for each of rows (n, RULES_SIZE). An error may
    come after some rules have been put.
    """
    result: MaterialRules | _Before = material_rules
    if rules is not None:
        known = checked_rules(rules)
        rows[..., _PLACES] = known._rule_row()[_PLACES]  # noqa: SLF001
        result = known._materials  # noqa: SLF001
    for name, value in changes.items():
        if name == "material_rules":
            result = put_material_rules(rows, value)
        elif keys is None:
            _rule_to_set(name).write(rows, value)
        else:
            _put_each(_rule_to_set(name), rows, value, keys)
    return result


# Beside rules by name, where characters are added.
_ARGUMENTS = ("position", "velocity", "rotation", "collider")


def names_of(rules: CharacterRules | None, changes: Mapping[str, Any]) -> Collection[str]:
    """Return the names of the rules that `put_rules` puts."""
    return changes.keys() if rules is None else _NAMES


def refuse_unknown(names: Iterable[str], arguments: Sequence[str], kind: type) -> None:
    """Raise TypeError for the first name of no rule that the maker of a class is given.

    ``arguments`` are those that the maker has beside rules.
    """
    for name in names:
        if name not in _NAMES:
            raise _unknown(name, arguments, kind)


def _unknown(name: str, arguments: Sequence[str], kind: type | None = None) -> TypeError:
    way = argument_way(name, [*_NAMES, *arguments], kind)
    told = f"; {hint(way)}" if way else ""
    return TypeError(f"rules must be of {', '.join(_NAMES)}, got {name!r}{told}")


def _rule_to_set(name: str) -> Rule[Any]:
    if name not in RULES:
        raise _unknown(name, _ARGUMENTS)
    return RULES[name]


def _put_each(rule: Rule[Any], rows: Floats, value: Any, keys: Sequence[Any]) -> None:
    """Put one value into all rows (n, RULES_SIZE) of some keys, or each of n into its own."""
    values = _one_or_each(rule.name, value, len(keys))
    if values.ndim == 0:
        rule.write(rows, value)
    elif not rule.write_good(rows, values):
        # An array made of a list may have converted its values to another type.
        given = value if isinstance(value, (list, tuple)) else values.tolist()
        for row, own, key in zip(rows, given, keys, strict=True):
            checks.named_check(key, rule.write, row, own)


def _one_or_each(name: str, value: Any, count: int) -> NDArray[Any]:
    """Return a new array of one value, without axes, or of ``count`` values."""
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

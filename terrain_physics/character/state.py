"""Saved states of characters: everything that changes, as numbers by the names of columns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from textwrap import indent
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.character.reports.hits import HITS_SIZE
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.surface.shapes import BOX, CAPSULE, SPHERE
from terrain_physics._kernels.types import Bools, Floats
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats9
from terrain_physics._support.matrices import product
from terrain_physics.character.colliders import Collider, collider_from, described
from terrain_physics.character.material_rules import (
    MaterialRules,
    mark_of,
    saved_material_rules,
)
from terrain_physics.character.placement import (
    AnyGround,
    checked_collider,
    refuse_any_too_wide,
)
from terrain_physics.character.rows import Rows, refuse_other_format, wake

_Saved = TypeVar("_Saved")
_Trusted = TypeVar("_Trusted", bound="Trusted")

CellSizes: TypeAlias = tuple[tuple[float, float], ...] | None
"""Cell sizes of a ground that bodies were found to fit on; None: not looked at."""

# Slack of the right angles between the axes of a saved body, as transforms are rounded.
_OFF_SQUARE = 1e-3


class KeptNumbers(NamedTuple):
    """All numbers of a character at a moment, with what it knows of its ground.

    Attributes
    ----------
    saved : tuple of ndarray
        As of `Rows.saved`; nobody writes to them as long as others may put them back.
    collider : SphereCollider, CapsuleCollider or BoxCollider
        The body before it was placed.
    material_rules : tuple
    ground : weak reference
        The ground that it was on.
    fit : tuple of (float, float), or None
        Cell sizes of the ground when an update last found that the body fits there.
    """

    saved: tuple[NDArray[Any], ...]
    collider: Collider
    material_rules: MaterialRules
    ground: "ref[AnyGround]"
    fit: CellSizes


def digits(word: int) -> str:
    """Return 64 bits as 16 hexadecimal digits."""
    return f"{word:016x}"


def word_from(name: str, text: Any) -> int:
    """Return the 64 bits of a text that `digits` returned."""
    if not isinstance(text, str) or re.fullmatch("[0-9a-f]{16}", text) is None:
        raise ValueError(f"{name} must be 16 hexadecimal digits, got {checks.shorten(text)}")
    return int(text, 16)


def refuse_other_content(what: str, content: Any, *names: str) -> None:
    """Refuse all but a dict with these names, and states of another format."""
    checks.instance("content", content, dict)
    for name in ("format", *names):
        if name not in content:
            raise ValueError(f"content must be from to_dict, got none of {name!r}")
    refuse_other_format(what, content["format"])


class Trusted:
    """Base of states of which those that this process made hold raw numbers beside their fields.

    Such a state makes its fields when they are asked for. Copies, pickles and states with other
    fields hold no raw numbers: these have always been checked, or are checked when restored.
    """

    __slots__ = ("_kept",)

    _kept: Any

    def __post_init__(self) -> None:
        """Hold no raw numbers, as the fields were given."""
        object.__setattr__(self, "_kept", None)

    if not TYPE_CHECKING:  # with this method, a type checker would allow attributes of any name

        def __getattr__(self, name: str) -> Any:
            """Make a field."""
            if name not in type(self).__dataclass_fields__ or self._kept is None:
                what = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(what, name=name, obj=self)
            self._make(name)
            return getattr(self, name)

    def _make(self, name: str) -> None:
        """Set one of its fields at least, from the raw numbers."""
        raise NotImplementedError


def trusted(kind: type[_Trusted], kept: Any) -> _Trusted:
    """Return a state with raw numbers, to which nobody writes any more."""
    state = object.__new__(kind)
    object.__setattr__(state, "_kept", kept)
    return state


def fields_by_name(saved: Any) -> dict[str, Any]:
    """Return the fields of a saved dataclass, for a pickle."""
    return {field.name: getattr(saved, field.name) for field in fields(saved)}


def load_fields(saved: Any, content: Any) -> None:
    """Fill a dataclass from its pickle, unless that has another format."""
    what = type(saved).__name__
    is_known = isinstance(content, dict) and "format" in content
    if is_known:
        refuse_other_format(what, content["format"])
    if not is_known or any(field.name not in content for field in fields(saved)):
        raise ValueError(f"{what} must be an undamaged pickle of this version")
    for field in fields(saved):
        object.__setattr__(saved, field.name, content[field.name])
    object.__setattr__(saved, "_kept", None)


def pickled_by_name(kind: type[_Saved]) -> type[_Saved]:
    """Make a dataclass pickle its fields by name.

    A decorator is needed: up to Python 3.11.3 a frozen dataclass with slots overrides methods in
    its body that do it.
    """
    for name, method in (("__getstate__", fields_by_name), ("__setstate__", load_fields)):
        setattr(kind, name, method)
    return kind


@public
@pickled_by_name
@dataclass(frozen=True, slots=True)
class CharacterState(Trusted):
    """The exact state of a character, with everything that changes; pickle, send or restore it.

    Pickles of another format are refused with ValueError.

    Attributes
    ----------
    values : tuple of float
        Position, velocity, ground and the last result; see the first table below.
    rules : tuple of float
        The shape in the world, gravity, slope limit and the other parameters; see the second.
    linear : tuple of float
        Rotation times scale, row by row, that the shape was made for.
    random_state : int
        The generator that shuffles contacts, 64 bits.
    collider : SphereCollider, CapsuleCollider or BoxCollider
        The body before it was placed.
    format : int
        The number of the format, which tells the columns of `values` and `rules`: 1.
    material_rules : tuple of (str or int, float, float)
        Material, factor on friction and factor on speed, for each rule for materials.
    """

    values: tuple[float, ...]
    rules: tuple[float, ...]
    linear: Floats9
    random_state: int
    collider: Collider
    format: int = columns.FORMAT
    material_rules: MaterialRules = ()

    def __repr__(self) -> str:
        at = columns.POSITION
        place = ", ".join(f"{number:.3f}" for number in self.values[at : at + 3])
        return f"<CharacterState at ({place}), of a {type(self.collider).__name__}>"

    def _make(self, name: str) -> None:  # noqa: ARG002 all at once
        kept: KeptNumbers = self._kept
        row = Rows.of_saved(kept.saved)
        wake(row.state)  # a character that goes on from it does not know this ground
        made = state_of(row, kept.collider, kept.material_rules)
        for field in fields(made):
            object.__setattr__(self, field.name, getattr(made, field.name))

    def to_dict(self) -> dict[str, Any]:
        """Return the state as a dict for JSON, with exact numbers by name.

        Returns
        -------
        dict
            It holds dicts, lists, texts and finite numbers. The random state is 16 hexadecimal
            digits, since not all readers of JSON keep 64 bits.
        """
        return {
            "format": self.format,
            "collider": described(self.collider),
            "values": columns.STATE.named(self.values),
            "rules": columns.RULES.named(self.rules),
            "linear": list(self.linear),
            "random_state": digits(self.random_state),
            "material_rules": [list(rule) for rule in self.material_rules],
        }

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """Return the state of a dict that `to_dict` returned.

        Parameters
        ----------
        content : dict

        Returns
        -------
        CharacterState

        Raises
        ------
        TypeError, ValueError
            If it is no such dict, and if it has another format.
        """
        refuse_other_content(cls.__name__, content, *(field.name for field in fields(cls)))
        return cls(
            tuple(columns.STATE.unnamed("values", content["values"])),
            tuple(columns.RULES.unnamed("rules", content["rules"])),
            checks.floats9(checks.array("linear", content["linear"], (columns.LINEAR_SIZE,))),
            word_from("random_state", content["random_state"]),
            collider_from(content["collider"]),
            material_rules=saved_material_rules(content["material_rules"]),
        )


CharacterState.__doc__ = f"""{CharacterState.__doc__}
    Notes
    -----
    Columns of `values`, by place::

{indent(columns.STATE.described(), 8 * " ")}

    Columns of `rules`::

{indent(columns.RULES.described(), 8 * " ")}
    """


def state_of(row: Rows, collider: Collider, material_rules: MaterialRules) -> CharacterState:
    """Return the state of one character."""
    return CharacterState(
        tuple(row.state.tolist()),
        tuple(row.rules.tolist()),
        checks.floats9(row.linear),
        int(row.random[0]),
        collider,
        material_rules=material_rules,
    )


def row_of(state: Any, ground: AnyGround) -> Rows:
    """Return the numbers of a state, or refuse a bad one, or one that does not fit the ground."""
    if not isinstance(state, CharacterState):
        raise TypeError(f"state must be a CharacterState, got {checks.shorten(state)}")
    refuse_other_format("state", state.format)
    values, rules, linear = (
        checks.array(name, numbers, (size,))[np.newaxis]
        for name, numbers, size in (
            ("values", state.values, columns.STATE_SIZE),
            ("rules", state.rules, columns.RULES_SIZE),
            ("linear", state.linear, columns.LINEAR_SIZE),
        )
    )
    random_state = checks.whole("random_state", state.random_state, 0, 2**64 - 1)
    random = np.array([[random_state]], dtype=np.uint64)
    rows = Rows(values, rules, linear, random, np.zeros((1, HITS_SIZE)))
    refuse_unfit(rows, (state.collider,), (state.material_rules,), ground, ("state",))
    return rows.at(0)


def refuse_unfit(
    rows: Rows,
    colliders: Sequence[Any],
    material_rules: Sequence[Any],
    ground: AnyGround,
    names: Sequence[str],
) -> None:
    """Refuse, by name, rows (n, ...) that no characters with these bodies have on this ground.

    Rules for materials are refused if the rows do not have their marks.
    """
    found = columns.NUMBERS.not_allowed(np.concatenate(rows[:3], axis=-1))
    for row, why in () if found is None else (found,):
        raise ValueError(f"{names[row]}: {why}")
    kinds = rows.rules[:, columns.KIND]
    for row, collider in enumerate(colliders):
        if checked_collider(collider).kind != kinds[row]:
            raise ValueError(f"{names[row]}: kind must be that of {collider}, got {kinds[row]}")
    marks = rows.rules[:, columns.MATERIAL_RULES].tolist()
    for name, own, mark in zip(names, material_rules, marks, strict=True):
        if (own != () or mark != 0.0) and mark_of(_known_rules(name, own)) != mark:
            raise ValueError(f"{name}: material_rules must be those that it was saved with")
    for row in np.flatnonzero(~_are_shapes(rows.rules))[:1]:
        extents = rows.rules[row, columns.EXTENTS : columns.EXTENTS + 3].tolist()
        raise ValueError(f"{names[row]}: extents and rotation must be a body's, got {extents}")
    refuse_any_too_wide(ground, rows.rules, names)


def _known_rules(name: str, rules: Any) -> MaterialRules:
    """Return a state's rules for materials, or refuse bad ones, with the state's name."""
    try:
        known = saved_material_rules(rules)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if known != rules:
        raise ValueError(
            f"{name}: material_rules must be a tuple in order, got {checks.shorten(rules)}"
        )
    return known


def _are_shapes(rules: Floats) -> Bools:
    """Tell in which rows (n, RULES_SIZE) a body can have the extents and the rotation."""
    kinds = rules[:, columns.KIND]
    x, y, z = rules[:, columns.EXTENTS : columns.EXTENTS + 3].T
    turns = rules[:, columns.ROTATION : columns.ROTATION + 9].reshape(-1, 3, 3)
    off_square = np.abs(product(turns, turns.transpose(0, 2, 1)) - np.eye(3)).max(axis=(1, 2))
    good = (x > 0.0) & (z > 0.0) & ((y > 0.0) | (kinds == CAPSULE))
    good &= (x == z) | (kinds == BOX)
    good &= (x == y) | (kinds != SPHERE)
    return np.asarray(good & (off_square <= _OFF_SQUARE))


def first_random_state(seed: "int | np.random.Generator") -> int:
    """Return the 64 bits of a seed."""
    if not isinstance(seed, int) and isinstance(seed, np.random.Generator):
        return int(seed.integers(0, 2**64, dtype=np.uint64))
    return checks.whole("seed", seed, 0, 2**64 - 1)

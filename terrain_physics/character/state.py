"""Saved characters: everything that changes, in a format that later versions can read."""

from dataclasses import dataclass, fields
from textwrap import indent
from typing import Any

import numpy as np

from terrain_physics import _checks
from terrain_physics._checks import Floats9
from terrain_physics._kernels.character import layout as columns
from terrain_physics._kernels.types import Flags, Floats
from terrain_physics._public import public
from terrain_physics.character.colliders import Collider
from terrain_physics.character.rows import Rows
from terrain_physics.character.rules import are_rules


def refuse_format(what: str, form: Any) -> None:
    """Refuse the numbers of a later version, whose columns are not known here."""
    if _checks.whole(f"format of {what}", form, 1, 2**63) > columns.FORMAT:
        raise ValueError(
            f"{what} must be of format {columns.FORMAT} or earlier, got format {form}: "
            "a later version of terrain_physics saved it, and can load it"
        )


def refuse_other_format(what: str, form: Any) -> None:
    """Refuse the pickle of something that holds more than saved numbers, if another version's."""
    if form != columns.FORMAT:
        given = "none" if form is None else f"format {form}"
        raise ValueError(
            f"{what} must be pickled in format {columns.FORMAT}, got {given}: another version of "
            "terrain_physics pickled it; from version to version, keep what its state() returns"
        )


def fields_by_name(saved: Any) -> dict[str, Any]:
    """Return what a pickle of a saved dataclass holds."""
    return {field.name: getattr(saved, field.name) for field in fields(saved)}


def load_fields(saved: Any, content: Any) -> None:
    """Fill a dataclass from its pickle, unless a later version made that."""
    names = [field.name for field in fields(saved)]
    if isinstance(content, list):  # as pickled before formats had numbers
        content = dict(zip(names, content, strict=False)) | {"format": 1}
    refuse_format(type(saved).__name__, content["format"])
    for name in names:
        object.__setattr__(saved, name, content[name])


@public
@dataclass(frozen=True, slots=True)
class CharacterState:
    """Everything about a character that changes, exact; pickle it, send it, restore it.

    Pickles of earlier formats can be loaded and restored: a column that they lack has the value it
    has in a new character. Those of later formats are refused with ValueError.

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
        Which columns `values` and `rules` have: 1, 2 and so on.
    """

    values: tuple[float, ...]
    rules: tuple[float, ...]
    linear: Floats9
    random_state: int
    collider: Collider
    format: int = columns.FORMAT

    __getstate__ = fields_by_name
    __setstate__ = load_fields


CharacterState.__doc__ = f"""{CharacterState.__doc__}
    Notes
    -----
    Columns of `values` in format {columns.FORMAT}, by place::

{indent(columns.STATE.described(), 8 * " ")}

    Columns of `rules`::

{indent(columns.RULES.described(), 8 * " ")}
    """


def state_of(row: Rows, collider: Collider) -> CharacterState:
    """Return the state of one character."""
    return CharacterState(
        tuple(row.state.tolist()),
        tuple(row.rules.tolist()),
        _checks.floats9(row.linear),
        int(row.random[0]),
        collider,
    )


def row_of(state: Any) -> Rows:
    """Return the numbers of a state, or refuse it by name."""
    if not isinstance(state, CharacterState):
        raise TypeError(f"state must be a CharacterState, got {_checks.shorten(state)}")
    form = state.format
    refuse_format("state", form)
    values, rules = (
        layout.upgraded(_checks.array(name, numbers, (len(layout.saved_in(form)),))[None], form)[0]
        for name, numbers, layout in (
            ("values", state.values, columns.STATE),
            ("rules", state.rules, columns.RULES),
        )
    )
    if not are_rules(rules[np.newaxis])[0]:
        raise ValueError("state must come from a character: its rules are not those of one")
    if not are_states(values[np.newaxis])[0]:
        raise ValueError("state must come from a character: its values are not those of one")
    linear = _checks.array("linear", state.linear, (columns.LINEAR_SIZE,))
    random_state = _checks.whole("random_state", state.random_state, 0, 2**64 - 1)
    row = Rows.one()
    row.state[:], row.rules[:], row.linear[:], row.random[0] = values, rules, linear, random_state
    row.state[columns.HITS] = 0.0  # they are kept beside, and not saved
    return row


def are_states(states: Floats) -> Flags:
    """Tell which rows (n, STATE_SIZE) hold numbers that a kernel can work with."""
    known = np.isin(states[:, columns.GROUND_KIND], columns.GROUND_KINDS)
    return np.asarray(known & np.isfinite(states).all(axis=1))


def first_random_state(seed: int | np.random.Generator) -> int:
    """Return the 64 bits that a seed stands for."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(0, 2**64, dtype=np.uint64))
    return _checks.whole("seed", seed, 0, 2**64 - 1)

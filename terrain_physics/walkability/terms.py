"""Terms of a map: what it was made for. A character that it leads has to be like that."""

from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._kernels.walkability.alike import BODY, first_other
from terrain_physics._support import checks
from terrain_physics.character.colliders import Collider
from terrain_physics.character.placement import AnyGround
from terrain_physics.character.rule import RULES

_FIRST_OTHER = CachedDispatch(first_other)

_BY_COLUMN = {rule.place: rule for rule in RULES.values()} | {
    columns.SLOPE_COSINE: RULES["slope_limit"]
}

ONE_ROW = np.zeros(1, dtype=np.int64)
"""The numbers of the rows of one character alone."""


class Terms(NamedTuple):
    """What a map was made for."""

    ground: AnyGround
    collider: Collider
    rules: Floats  # one row (RULES_SIZE,), with the body
    speed: float  # in m/s


class Other(NamedTuple):
    """A character that is not what a map was made for."""

    number: int  # of those that were compared
    problem: str


def other_ground(terms: Terms, ground: AnyGround) -> str | None:
    """Return what is wrong with the ground of a character."""
    if ground is terms.ground:
        return None
    known = checks.shorten(terms.ground)
    return f"ground must be the map's own, {known}, got another one: {checks.shorten(ground)}"


def other_than(terms: Terms, rules: Floats, rows: Int64s) -> Other | None:
    """Return the first of some rows of rules (flat) in whose place the map was not walked."""
    number, column = _FIRST_OTHER.call(terms.rules, rules, rows)
    if number < 0:
        return None
    row = rules.reshape(-1, columns.RULES_SIZE)[rows[number]]
    return Other(number, _problem(terms, row, column))


def _problem(terms: Terms, row: Floats, column: int) -> str:
    if column in BODY:
        return f"collider must be as large as the map's, {terms.collider!r}, got {_sizes(row)}"
    rule: Any = _BY_COLUMN[column]
    known, own = rule.read(terms.rules), rule.read(row)
    return f"{rule.name} must be the map's, {known!r}, got {own!r}"


def _sizes(row: Floats) -> str:
    """Return the body of a row of rules in words."""
    extents = tuple(row[columns.EXTENTS : columns.EXTENTS + 3].tolist())
    kind = ("a sphere", "a box", "a capsule")[int(row[columns.KIND])]
    return f"{kind} with half extents {extents}, {row[columns.OFFSET + 1]:g} m above its position"

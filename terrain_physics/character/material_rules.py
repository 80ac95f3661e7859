"""Rules for materials: friction and speed of a character by the material that it stands on.

Names of materials are no numbers, so these rules are kept beside a character's row, as its collider
is. The row has a mark of them, by which kernels see that there are any, and hashes differ.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from terrain_physics._kernels.character.state.layout import (
    LEAST_SPEED_FACTOR,
    MATERIAL_RULES,
    MATERIAL_RULES_BITS,
    MOST_SPEED_FACTOR,
)
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics.surface.materials import MOST_MATERIALS, Names

MaterialRules = tuple[tuple[str | int, float, float], ...]
"""Material, factor on friction and factor on speed of each; numbers first, then names."""

_NAMES = ("friction", "speed")


def put_material_rules(rows: Floats, value: Any) -> MaterialRules:
    """Check rules that a game sets, put their mark into rows (..., RULES_SIZE); return them."""
    if not isinstance(value, Mapping):
        raise TypeError(
            "material_rules must be a mapping from materials to their friction and speed, "
            f"got {checks.shorten(value)}"
        )
    if len(value) > MOST_MATERIALS:
        raise ValueError(
            f"material_rules must be for at most {MOST_MATERIALS} materials, got {len(value)}"
        )
    rules = _in_order(_checked(material, own) for material, own in dict(value).items())
    rows[..., MATERIAL_RULES] = mark_of(rules)
    return rules


def saved_material_rules(value: Any) -> MaterialRules:
    """Return the rules of a saved state, which are rows of three, or raise ValueError."""
    try:
        given = {
            material: {"friction": friction, "speed": speed} for material, friction, speed in value
        }
        if len(given) <= MOST_MATERIALS:
            return _in_order(_checked(material, own) for material, own in given.items())
    except (TypeError, ValueError):
        pass
    raise ValueError(
        "material_rules must be rows of a material, its friction and its speed, "
        f"got {checks.shorten(value)}"
    )


def shown(rules: MaterialRules) -> Mapping[str | int, Mapping[str, float]]:
    """Return rules in the form in which a game sets them, read-only."""
    return MappingProxyType(
        {
            material: MappingProxyType(dict(zip(_NAMES, factors, strict=True)))
            for material, *factors in rules
        }
    )


NO_MATERIAL_RULES = shown(())


def mark_of(rules: MaterialRules) -> float:
    """Return a whole number that differs for different rules; 0 for none."""
    if not rules:
        return 0.0
    word = hashlib.blake2b(json.dumps(rules).encode(), digest_size=8).digest()
    return float(max(int.from_bytes(word, "little") >> (64 - MATERIAL_RULES_BITS), 1))


@lru_cache(maxsize=256)
def factors_of(rules: MaterialRules, names: Names) -> Floats:
    """Return the factors (256, 2) on friction and speed for a ground's materials 0, 1, ..."""
    known = names or ()
    factors = np.ones((MOST_MATERIALS, 2))
    for material, friction, speed in rules:
        if isinstance(material, int):  # unnamed materials come after the named ones
            factors[min(len(known) + material, MOST_MATERIALS - 1)] = friction, speed
        elif material in known:
            factors[known.index(material)] = friction, speed
    factors.setflags(write=False)
    return factors


def _in_order(rules: Iterable[tuple[str | int, float, float]]) -> MaterialRules:
    return tuple(sorted(rules, key=lambda rule: (isinstance(rule[0], str), rule[0])))


def _checked(material: Any, own: Any) -> tuple[str | int, float, float]:
    """Return the rules for one material: the material and both factors."""
    if isinstance(material, str):
        material = str.__str__(material)  # of an enum of texts, the text
    else:
        material = checks.whole("material_rules: a material", material, 0, MOST_MATERIALS - 1)
    name = f"material_rules[{checks.shorten(material)}]"
    if not isinstance(own, Mapping):
        raise TypeError(
            f"{name} must be a mapping of {' and '.join(_NAMES)}, got {checks.shorten(own)}"
        )
    for rule in own:
        if rule not in _NAMES:
            close = get_close_matches(rule, _NAMES, n=1) if isinstance(rule, str) else []
            meant = "".join(f"; did you mean {word}?" for word in close)
            raise ValueError(
                f"{name} must be of {' and '.join(_NAMES)}, got {checks.shorten(rule)}{meant}"
            )
    friction = checks.non_negative(f"{name}: friction", own.get("friction", 1.0))
    speed = checks.between(
        f"{name}: speed", own.get("speed", 1.0), LEAST_SPEED_FACTOR, MOST_SPEED_FACTOR
    )
    return material, friction + 0.0, speed

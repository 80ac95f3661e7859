"""Lengths of edges for kernels: the spacing, and what the ground costs."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from terrain_physics._kernels.types import Bytes, Floats
from terrain_physics._kernels.walkability.ways.lengths import QUANTUM, Lengths
from terrain_physics._support import checks
from terrain_physics.surface.materials import MOST_MATERIALS, Names
from terrain_physics.walkability.places import Places

MOST_COST = 1_000.0
"""The highest factor: a way around of so many meters for each meter of that ground."""

_NO_MATERIALS = np.zeros(0, dtype=np.uint8)
_NO_FACTORS = np.ones(MOST_MATERIALS)


def plain_lengths(places: Places) -> Lengths:
    """Return the lengths of edges where all ground costs the same."""
    return costly_lengths(places, _NO_MATERIALS, _NO_FACTORS)


def costly_lengths(places: Places, materials: Bytes, factors: Floats) -> Lengths:
    """Return the lengths of edges; materials are those under places (n,), factors theirs (256,)."""
    diagonal = math.sqrt(2.0) * places.spacing
    return Lengths(_whole(places.spacing), _whole(diagonal), materials, factors)


def _whole(length: float) -> float:
    """Return a length as kernels round it."""
    return max(round(length / QUANTUM), 1) * QUANTUM


def factors_of(cost: Any, names: Names) -> Floats:
    """Return the factor (256,) of each material of a ground, from a mapping of names or numbers.

    Numbers are those of materials without names, which come after the named ones.
    """
    if not isinstance(cost, Mapping):
        raise TypeError(
            "cost must be a mapping from materials to factors, such as {'mud': 3}, "
            f"got {checks.shorten(cost)}"
        )
    factors = np.ones(MOST_MATERIALS)
    for material, factor in cost.items():
        number = _number_of(material, names or ())
        name = f"cost[{checks.shorten(material)}]"
        factors[number] = checks.between(name, factor, 1.0, MOST_COST)
    return factors


def _number_of(material: Any, names: tuple[str, ...]) -> int:
    """Return the number of a material in answers of the ground."""
    if not isinstance(material, str):
        most = MOST_MATERIALS - 1 - len(names)
        return len(names) + checks.whole("cost: a material", material, 0, most)
    if not names:
        raise ValueError(
            "cost must be for numbers of materials where the ground has no material_names, "
            f"got {checks.shorten(material)}"
        )
    return names.index(checks.choice("cost: a material", material, names))

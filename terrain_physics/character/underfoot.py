"""How characters with rules for materials go on what they stand on, before each update."""

from collections.abc import Sequence

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.character import layout as columns
from terrain_physics._kernels.character import underfoot as kernels
from terrain_physics._kernels.types import Longs
from terrain_physics._threads import Workers
from terrain_physics.character.material_rules import MaterialRules, factors_of
from terrain_physics.character.rows import Rows
from terrain_physics.surface.materials import Names
from terrain_physics.surface.queries import Queries

_PUT = CachedDispatch(kernels.put_underfoot)
_ONE = np.zeros(1, dtype=np.int64)

# Nanoseconds that it takes to find what one stands on, roughly.
_COST = 1_000

_FACTORS = slice(columns.FRICTION_FACTOR, columns.SPEED_FACTOR + 1)


def put_factors(
    row: Rows, rules: MaterialRules, queries: Queries, table: Longs, names: Names
) -> None:
    """Write the factors of what one character stands on to its state.

    ``names`` are those of the materials of the ground, whose ``table`` kernels are handed.
    """
    found = np.zeros(kernels.UNDERFOOT_SIZE)
    _PUT.call(row.state, row.random, row.rules, _ONE, 0, 1, table, found)
    part, triangle, x, y, z = found.tolist()
    friction = speed = 1.0
    if part >= 0:
        _, material = queries.triangle_at(int(part), int(triangle), (x, y, z))
        friction, speed = factors_of(rules, names)[material].tolist()
    row.state[columns.FRICTION_FACTOR], row.state[columns.SPEED_FACTOR] = friction, speed


def put_all_factors(
    rows: Rows,
    material_rules: Sequence[MaterialRules],
    queries: Queries,
    table: Longs,
    names: Names,
    threads: int | None,
) -> None:
    """Write the same for characters (n, ...) with these rules: an empty one has none."""
    marks = rows.rules[:, columns.MATERIAL_RULES]
    which = np.flatnonzero(marks)
    found = np.zeros((len(which), kernels.UNDERFOOT_SIZE))
    # Kernels take rows one after another; these are views.
    states, draws = rows.state.reshape(-1), rows.random.reshape(-1)
    rules, out = rows.rules.reshape(-1), found.reshape(-1)

    def find(first: int, last: int) -> None:
        kernels.put_underfoot(states, draws, rules, which, first, last, table, out)

    Workers(threads).run(find, len(which), _COST)
    parts, triangles = found[:, : kernels.UNDER_POINT].astype(np.int64).T
    materials = queries.materials_at(parts, triangles, found[:, kernels.UNDER_POINT :])
    _, firsts, kinds = np.unique(marks[which], return_index=True, return_inverse=True)
    factors = np.stack([factors_of(material_rules[row], names) for row in which[firsts].tolist()])[
        kinds, materials
    ]
    factors[parts < 0] = 1.0
    rows.state[which, _FACTORS] = factors

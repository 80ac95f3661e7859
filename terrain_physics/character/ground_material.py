"""Ground material below characters with rules for materials, found before each update."""

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.character import ground_material as kernels
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import Bytes, Floats, Int64s
from terrain_physics._support.threads import Workers
from terrain_physics.character.group_data import GroupData
from terrain_physics.character.material_rules import MaterialRules, factors_of
from terrain_physics.character.rows import Rows
from terrain_physics.surface.materials import Names
from terrain_physics.surface.queries import Queries

_PUT = CachedDispatch(kernels.put_ground_material)
_ONE = np.zeros(1, dtype=np.int64)

# Rough cost of finding the ground material of one character, in nanoseconds.
_COST = 1_000

_FACTORS = slice(columns.FRICTION_FACTOR, columns.SPEED_FACTOR + 1)


def put_factors(
    row: Rows, rules: MaterialRules, queries: Queries, table: Int64s, names: Names
) -> None:
    """Write the factors of the ground material of one character to its rules.

    ``names`` are the names of the ground's materials, ``table`` is the ground's table for kernels.
    """
    found = np.zeros(kernels.GROUND_MATERIAL_SIZE)
    _PUT.call(row.state, row.random, row.rules, _ONE, 0, 1, table, found)
    part, triangle, x, y, z = found.tolist()
    friction = speed = 1.0
    if part >= 0:
        _, material, _ = queries.triangle_at(int(part), int(triangle), (x, y, z))
        friction, speed = factors_of(rules, names)[material].tolist()
    row.rules[columns.FRICTION_FACTOR], row.rules[columns.SPEED_FACTOR] = friction, speed


def put_all_factors(data: GroupData, queries: Queries, table: Int64s, threads: int | None) -> None:
    """Write the factors of all characters of a group that have rules for materials."""
    rows = data.rows()
    ruled = np.flatnonzero(rows.rules[:, columns.MATERIAL_RULES])
    standing, materials = _ground_materials(rows, ruled, queries, table, threads)
    rows.rules[ruled, _FACTORS] = 1.0
    if len(standing):
        rows.rules[standing, _FACTORS] = _factors(data, rows, standing, materials)


def put_factors_of_alike(
    rows: Rows, count: int, rules: MaterialRules, names: Names, queries: Queries, table: Int64s
) -> None:
    """Write the factors of the first characters, which all have the same rules for materials."""
    standing, materials = _ground_materials(rows, np.arange(count), queries, table, 1)
    rows.rules[:count, _FACTORS] = 1.0
    rows.rules[standing, _FACTORS] = factors_of(rules, names)[materials]


def _ground_materials(
    rows: Rows, which: Int64s, queries: Queries, table: Int64s, threads: int | None
) -> tuple[Int64s, Bytes]:
    """Return those of characters (n,) that are on the ground, and the materials under them."""
    found = np.zeros((len(which), kernels.GROUND_MATERIAL_SIZE))
    # Kernels take flat arrays of rows; these are views.
    states, draws = rows.state.reshape(-1), rows.random.reshape(-1)
    rules, out = rows.rules.reshape(-1), found.reshape(-1)

    def find(first: int, last: int) -> None:
        kernels.put_ground_material(states, draws, rules, which, first, last, table, out)

    Workers(threads).run(find, len(which), _COST)
    standing = np.flatnonzero(found[:, kernels.UNDER_PART] >= 0)
    found = found[standing]
    parts, triangles = found[:, : kernels.UNDER_POINT].astype(np.int64).T
    _, materials, _ = queries.triangles_at(parts, triangles, found[:, kernels.UNDER_POINT :])
    return which[standing], materials


def _factors(data: GroupData, rows: Rows, which: Int64s, materials: Bytes) -> Floats:
    """Return the factors (m, 2) of characters (m,) on materials (m,)."""
    marks = rows.rules[which, columns.MATERIAL_RULES]
    _, firsts, kinds = np.unique(marks, return_index=True, return_inverse=True)
    names = data.ground.material_names
    tables = [factors_of(own, names) for own in data.material_rules_in(which[firsts])]
    return np.stack(tables)[kinds, materials]

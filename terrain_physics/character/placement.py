"""Placement of a character's body on its ground, and the check whether another body fits."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from terrain_physics._kernels.character.contacts.constraint_planes import put_constraint_planes
from terrain_physics._kernels.character.contacts.grounding import MOST_PLANES
from terrain_physics._kernels.character.contacts.resize import SHAPE_SIZE, resize_body
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3, Floats9
from terrain_physics.character.colliders import (
    BoxCollider,
    CapsuleCollider,
    Collider,
    SphereCollider,
)
from terrain_physics.character.needs import is_there
from terrain_physics.character.rows import LAST_PLACE, POSITION, VELOCITY, Rows, wake
from terrain_physics.ground.ground import Ground
from terrain_physics.heightmap.heightmap import HeightMap
from terrain_physics.mesh.mesh import TriangleMesh
from terrain_physics.surface.surface import queries_of

UPRIGHT: Floats9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

AnyGround = HeightMap | TriangleMesh | Ground

# Most cells under a body. With more, a step would use up the work budget of an update.
MOST_CELLS = 40_000


# The state of a new character.
_NEW = columns.STATE.defaults()


def checked_ground(ground: Any) -> AnyGround:
    """Return the ground of characters, or raise TypeError."""
    if not isinstance(ground, (HeightMap, TriangleMesh, Ground)):
        raise TypeError(
            f"ground must be a HeightMap, a TriangleMesh or a Ground, got {checks.shorten(ground)}"
        )
    return ground


def checked_collider(collider: Any) -> Collider:
    """Return a body, or raise TypeError."""
    if not isinstance(collider, (SphereCollider, BoxCollider, CapsuleCollider)):
        raise TypeError(
            "collider must be a SphereCollider, a BoxCollider or a CapsuleCollider, got "
            f"{checks.shorten(collider)}"
        )
    return collider


def placed_shape(ground: AnyGround, collider: Collider, linear: Floats9) -> Floats:
    """Return the part of the rules that is a body's shape (SHAPE_SIZE,), turned and scaled."""
    shape: Floats = _shapes(collider, np.array([linear]))[0]
    refuse_too_wide(ground, shape)
    return shape


def put_shape(rows: Rows, ground: AnyGround, collider: Collider, linear: Floats9) -> None:
    """Give characters (..., ...) the same body, turned and scaled alike."""
    rows.rules[..., :SHAPE_SIZE] = placed_shape(ground, collider, linear)
    rows.linear[...] = linear


def put_shapes(
    rows: Rows, ground: AnyGround, collider: Collider, linears: Floats, keys: Sequence[Any]
) -> None:
    """Give characters (n, ...) with some keys the same body, turned by (n, 9) each."""
    rows.rules[:, :SHAPE_SIZE] = _shapes(collider, linears)
    rows.linear[:] = linears
    refuse_any_too_wide(ground, rows.rules, [repr(key) for key in keys])


def _shapes(collider: Collider, linears: Floats) -> Floats:
    """Return a body's shape as the part of rules (n, SHAPE_SIZE), turned and scaled by (n, 9)."""
    shapes = np.empty((len(linears), SHAPE_SIZE))
    shapes[:, columns.KIND] = collider.kind
    shapes[:, columns.EXTENTS :] = collider.placed(linears.reshape(-1, 3, 3))
    return shapes


def refuse_too_wide(ground: AnyGround, rules: Floats) -> None:
    """Raise ValueError if a body, given by its rules, covers too many cells of a ground."""
    extents = rules[columns.EXTENTS : columns.EXTENTS + 3]
    extent_x, extent_z = _horizontal_extents(rules)
    for cell_x, cell_z in queries_of(ground).cell_sizes:
        if not (2 * extent_x / cell_x) * (2 * extent_z / cell_z) <= MOST_CELLS:
            raise ValueError(
                f"collider and scale must cover at most {MOST_CELLS} cells, "
                f"got half extents {tuple(extents.tolist())} on cells of {cell_x} x {cell_z} m"
            )


def refuse_any_too_wide(ground: AnyGround, rules: Floats, names: Sequence[str]) -> None:
    """Raise ValueError, naming the widest, if a body of (n, RULES_SIZE) covers too many cells."""
    if len(rules) == 0:
        return
    extent_x, extent_z = _horizontal_extents(rules)
    row = int(np.argmax(extent_x * extent_z))  # it covers the most cells of any size
    try:
        refuse_too_wide(ground, rules[row])
    except ValueError as error:
        raise ValueError(f"{names[row]}: {error}") from None


def _horizontal_extents(rules: Floats) -> tuple[Any, Any]:
    """Return the half extents of bodies along the axes X and Z of the world."""
    extents = rules[..., columns.EXTENTS : columns.EXTENTS + 3]
    turned = np.abs(rules[..., columns.ROTATION : columns.ROTATION + 9])
    return (turned[..., 0:3] * extents).sum(axis=-1), (turned[..., 6:9] * extents).sum(axis=-1)


def standing(ground: AnyGround, rules: Floats, place: Floats3) -> Floats3:
    """Return a place with the height at which a body with these rules stands on level ground."""
    x, _, z = place
    height = ground.height_at(x, z, mask=int(rules[columns.MASK]))
    if math.isnan(height):
        raise ValueError(
            f"owner.position must be over ground, as two numbers have no height, got {(x, z)}"
        )
    return x, height + reach_below(rules) - float(rules[columns.OFFSET + 1]), z


def reach_below(rules: Floats) -> float:
    """Return how far a body with these rules reaches below its center, in meters."""
    extents = rules[columns.EXTENTS : columns.EXTENTS + 3]
    upward = np.abs(rules[columns.ROTATION + 3 : columns.ROTATION + 6])
    if rules[columns.KIND] == CapsuleCollider.kind:
        return float(extents[0] + upward[1] * extents[1])  # the radius, and the axis
    return float((upward * extents).sum())


def put_in_air(state: Floats, places: Any, speeds: Any) -> None:
    """Put characters (..., STATE_SIZE) somewhere else, in the air."""
    state[..., POSITION] = state[..., LAST_PLACE] = places
    state[..., VELOCITY] = speeds
    state[..., columns.ZERO_IN_THE_AIR] = 0.0
    state[..., columns.MOVES_SEEN] = -1.0
    state[..., columns.DRIVEN] = 1.0
    wake(state)


def make_new(
    rows: Rows, places: Any, speeds: Any, random_states: Any, *, are_driven: bool | None = None
) -> None:
    """Make characters (..., ...) as new, with the rules that they have.

    ``are_driven`` tells whether the game has set their velocities; by default, those that are not
    0 count as set.
    """
    state = rows.state
    state[...] = _NEW
    state[..., POSITION] = state[..., LAST_PLACE] = places
    state[..., VELOCITY] = speeds
    state[..., columns.DRIVEN] = np.any(speeds, axis=-1) if are_driven is None else are_driven
    rows.random[..., 0] = random_states


def resize(ground: AnyGround, old: Collider, collider: Any, row: Rows) -> bool:
    """Give a character another body if that fits; else change nothing. See `CharacterView`."""
    if type(collider) is not type(old):
        raise TypeError(
            f"collider must be a {type(old).__name__} as before, got {checks.shorten(collider)}"
        )
    wanted = row.rules.copy()
    wanted[:SHAPE_SIZE] = placed_shape(ground, collider, checks.floats9(row.linear))
    queries = queries_of(ground)
    if not (is_there(row, queries) and is_there(row._replace(rules=wanted), queries)):
        return False
    with queries.lock:
        table = queries.ground_arrays.table
        return bool(resize_body(row.state, row.rules, wanted, row.random, table))


def constraint_planes(ground: AnyGround, row: Rows) -> Floats:
    """Return the planes (m, 4) that a body touches. See `CharacterView`."""
    planes = np.empty((MOST_PLANES, 4))
    queries = queries_of(ground)
    is_there(row, queries)
    with queries.lock:
        table = queries.ground_arrays.table
        count = put_constraint_planes(row.state, row.rules, row.random, planes, table)
    return planes[:count] + 0.0  # zeros without a sign

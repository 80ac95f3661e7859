"""Resting heights: where a body that comes down on a place stands."""

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.depenetrate_upward import rise_onto
from terrain_physics._kernels.character.contacts.find_contacts import is_buried, list_contacts
from terrain_physics._kernels.character.contacts.scene import (
    CANDIDATE,
    PUSH,
    Memory,
    Scene,
    borrow_memory,
    empty_scene,
    gathered,
    make_memory,
    scene_around,
)
from terrain_physics._kernels.character.state.layout import (
    MASK,
    OFFSET,
    SIMULTANEOUS,
    SLOPE_COSINE,
    STEP_OFFSET,
    gravity_of,
    three_at,
    unpack_body,
)
from terrain_physics._kernels.ground.candidates import NORMAL, A, B, C, three
from terrain_physics._kernels.ground.solids import is_in_solid
from terrain_physics._kernels.ground.table import (
    GroundTable,
    ground_at,
    has_movers,
    with_step_start,
)
from terrain_physics._kernels.math.vec3 import Vec3, add, dot, subtract
from terrain_physics._kernels.surface.shapes import BOX
from terrain_physics._kernels.tolerances import (
    CONTACT_MARGIN,
    FLOAT32_ROUNDING,
    SAME_NORMAL_COSINE,
    SLOP,
    SLOPE_SLACK,
)
from terrain_physics._kernels.types import Floats, Int64s, UInt64s
from terrain_physics._kernels.walkability.layout import PlaceArrays, grid_point

# Beyond all ground, in meters: places are made over all of it, however deep and high.
_FAR = 1e30

# How a body rests.
_NOWHERE, _LIES, _BALANCES, _STANDS = range(4)


@kernel(noinline=True, no_refcount=True)
def _rest(scene: Scene, offset: Vec3, walkable: float, rounding: float, fall: float) -> int:
    """Tell how a body at an offset rests that overlaps nothing.

    It stands on walkable ground, or it lies on edges such as nosings, which it may slip from: as
    heights are kept in 32 bits, the normal of an edge is less upright by ``rounding`` at most.

    Wedged between steep faces it has come to lie on one of them first, and slid from there. A box
    that falls by ``fall``, as in an update, may slip if it meets anything steep there: it balances.
    """
    manifold = list_contacts(scene, offset)
    if max(manifold.depth, manifold.overlap) > SLOP or is_buried(scene, offset):
        return _NOWHERE
    _, upright = _uprightness(scene, manifold.contacts)
    if upright < walkable + rounding and _is_on_edges(scene, manifold.contacts):
        return _LIES
    if upright < walkable:
        return _NOWHERE
    if scene.body.kind != BOX:
        return _STANDS
    deeper = list_contacts(scene, subtract(offset, (0.0, fall, 0.0)))
    steepest, _ = _uprightness(scene, deeper.contacts)
    return _BALANCES if steepest < walkable else _STANDS


@kernel(noinline=True, no_refcount=True)
def _is_above_footing(scene: Scene, up: float, walkable: float, deepest: float) -> bool:
    """Tell whether the middle of a body at a rise is above a walkable face, as on a narrow tread.

    Its lowest point is not higher above that than ``deepest``.
    """
    low, rows = up - scene.body.half_extents[1] - deepest, scene.candidates
    for k in range(scene.size):
        if rows[k, NORMAL + 1] >= walkable and _covers_origin(rows, k):
            a, normal = three(rows, k, A), three(rows, k, NORMAL)
            if low <= dot(a, normal) / normal[1] <= up:
                return True
    return False


@kernel(inline=True, no_refcount=True)
def _covers_origin(rows: Floats, k: int) -> bool:
    """Tell whether a candidate that faces up is above or below the origin, to a margin."""
    corners = three(rows, k, A), three(rows, k, B), three(rows, k, C)
    for i in range(3):
        p, q = corners[i], corners[(i + 1) % 3]
        x, z = q[0] - p[0], q[2] - p[2]
        if z * p[0] - x * p[2] > CONTACT_MARGIN * (abs(x) + abs(z)):
            return False
    return True


@kernel(inline=True, no_refcount=True)
def _is_on_edges(scene: Scene, count: int) -> bool:
    """Tell whether none of the contacts listed is with the front of a face."""
    for i in range(count):
        push = three_at(scene.contacts[i], PUSH)
        if (
            dot(push, three(scene.candidates, int(scene.contacts[i, CANDIDATE]), NORMAL))
            > SAME_NORMAL_COSINE
        ):
            return False
    return True


@kernel(inline=True, no_refcount=True)
def _uprightness(scene: Scene, count: int) -> tuple[float, float]:
    """Return the least y of the normals of the contacts listed, at most 1; the greatest, >= 0."""
    least, most = 1.0, 0.0
    for i in range(count):
        up = float(scene.contacts[i, PUSH + 1])
        least, most = min(least, up), max(most, up)
    return least, most


@kernel(noinline=True, no_refcount=True)
def highest_rise(scene: Scene, offset: Vec3) -> float:
    """Return how far up a body at an offset comes to lie on top of all ground; -inf: none."""
    best = -np.inf
    for k in range(scene.size):
        best = max(best, rise_onto(scene.candidates, k, offset, scene.body, scene.work))
    return best


@kernel(noinline=True, no_refcount=True)
def _rise_above(scene: Scene, below: float) -> float:
    """Return the least rise onto a candidate that is more than another; infinity: there is none."""
    least = np.inf
    for k in range(scene.size):
        up = rise_onto(scene.candidates, k, (0.0, 0.0, 0.0), scene.body, scene.work)
        if below < up < least:
            least = up
    return least


@kernel(inline=True, no_refcount=True)
def _walkable(rules: Floats) -> float:
    """Return the least y of a walkable unit normal."""
    return float(rules[SLOPE_COSINE]) - SLOPE_SLACK


@kernel(noinline=True)
def _rest_in_world(
    rules: Floats, center: Vec3, rounding: float, fall: float, draws: UInt64s, ground: GroundTable,
    memory: Memory,
) -> int:  # fmt: skip
    """Tell the same of a body in the world, among what is there for it.

    One-way parts that it is not before are not there, and no body stands in a solid mesh.
    """
    scene = scene_around(rules, center, 0.0, draws, ground, memory)
    rest = _rest(scene, (0.0, 0.0, 0.0), _walkable(rules), rounding, fall)
    return _NOWHERE if rest != _NOWHERE and is_in_solid(ground, center) else rest


@kernel(noinline=True)
def _put_levels(
    places: PlaceArrays, place: int, rules: Floats, fall: float, scene: Scene, origin: Vec3,
    ground: GroundTable, memory: Memory, lying: Floats,
) -> None:  # fmt: skip
    """Write the heights at which a body stands on a place, level by level, lowest first.

    Those at which it lies and may come to stand are written to ``lying`` (levels,). The scene has
    all ground over and under the place; ``origin`` is the body's center at height 0.
    """
    size, foot, walkable = places.rows * places.columns, float(rules[OFFSET + 1]), _walkable(rules)
    deepest, is_simple = float(rules[STEP_OFFSET]), places.levels == 1 and not has_movers(ground)
    level, lies, stood = 0, 0, -np.inf
    up = highest_rise(scene, (0.0, 0.0, 0.0)) if is_simple else _rise_above(scene, -np.inf)
    while -np.inf < up < np.inf:
        center = add(origin, (0.0, up, 0.0))
        rounding = FLOAT32_ROUNDING * abs(center[1] - foot) / scene.body.least
        if is_simple:
            rest = _rest(scene, (0.0, up, 0.0), walkable, rounding, fall)
        else:
            draws = scene.random_state
            rest = _rest_in_world(rules, center, rounding, fall, draws, ground, memory)
        if rest == _STANDS:
            # Else the same level: of its rises the highest counts.
            level += 1 if up > stood + CONTACT_MARGIN else 0
            if level > places.levels:
                return
            places.heights[place + (level - 1) * size] = np.float32(center[1] - foot)
            stood = up
        elif lies < places.levels and (
            rest == _BALANCES or (rest == _LIES and _is_above_footing(scene, up, walkable, deepest))
        ):
            lying[lies] = np.float32(center[1] - foot)  # as it would be kept
            lies += 1
        up = np.inf if is_simple else _rise_above(scene, up)


@kernel
def put_heights(
    places: PlaceArrays, table: Int64s, rules: Floats, seconds: float, numbers: Int64s,
    first: int, last: int, lying: Floats,
) -> None:  # fmt: skip
    """Write the heights at which a character rests, at columns of places numbers[first:last].

    ``rules`` is its row of rules, ``seconds`` are those of an update. On one level it is the
    highest ground that counts, and it may be too steep or without room: NaN. Where a body lies on
    steep ground, or a box balances, and may come to stand if it is let go, its heights are written
    to ``lying`` (n, levels), whose others stay as they are.
    """
    table, rules, numbers, lying = borrow(table), borrow(rules), borrow(numbers), borrow(lying)
    draws = np.zeros(1, np.uint64)
    memory, own, body = make_memory(), make_memory(), unpack_body(rules)
    lent, lent_own = borrow_memory(memory), borrow_memory(own)
    ground = ground_at(table, int(rules[MASK]), lent.part_shifts)
    scene = empty_scene(body, SIMULTANEOUS, borrow(draws), lent)
    size = places.rows * places.columns
    half, center = body.half_extents, three_at(rules, OFFSET)
    fall = 0.5 * gravity_of(rules) * seconds * seconds
    wide = (half[0] + CONTACT_MARGIN, _FAR, half[2] + CONTACT_MARGIN)
    for i in range(first, last):
        place = int(numbers[i])
        for level in range(places.levels):
            places.heights[place + level * size] = np.nan
            if len(places.asides):
                places.asides[place + level * size, 0] = 0.0
                places.asides[place + level * size, 1] = 0.0
        x, z = grid_point(places, place)
        origin = add((x, 0.0, z), center)
        above = with_step_start(ground, add(origin, (0.0, _FAR, 0.0)), np.inf)  # of one-way parts
        scene = gathered(scene, above, origin, subtract(origin, wide), add(origin, wide))
        _put_levels(places, place, rules, fall, scene, origin, ground, lent_own, lying[i])
    keep(memory)
    keep(own)
    keep(draws)

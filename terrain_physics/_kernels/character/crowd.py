"""Characters among characters: how far each is pushed in an update, and where the others let it go.

All follows from where everyone was before the update and what everyone wants, so there is no order
of turns. What is summed up is ordered by its own numbers: neither the order of characters nor who
works on them changes a bit.
"""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.discs import (
    GAP,
    HIGH,
    LOW,
    NEXT_WAY,
    OWN_WAY,
    SHARE,
    SPEED,
    WAY,
    WEIGHT,
    travel,
)
from terrain_physics._kernels.character.fences import (
    COUNT,
    CROWD_SIZE,
    IS_LED,
    IS_PUSHED,
    KEPT,
    LED_WAY,
    ROOM,
    UNPUSHED_WAY,
    put_fence,
    within_fences,
    without,
)
from terrain_physics._kernels.character.layout import RULES_SIZE, STATE_SIZE
from terrain_physics._kernels.character.rest import is_left_alone
from terrain_physics._kernels.types import Floats, Longs

# Times its way that a character begins to push before it touches.
_EARLY = 1.25

# Overlap that nobody is moved for, and how fast more of it is undone.
_LEAST_OVERLAP = 5e-4  # meters
_PARTING_SPEED = 3.0  # m/s, of both together

# Pushes that count for one character: the longest.
_MOST_PUSHES = 16

# How much farther than its way walls may lead a character aside.
ASIDE = 0.02  # meters


@kernel(inline=True)
def _pressed(discs: Floats, i: int, k: int, x: float, z: float, gap: float, part: float) -> float:
    """Return how far a character is pushed along a direction by one that walks against it.

    ``part`` is the other's share of the mass of both. The two would go on together as after a
    collision without a bounce. The pusher follows into the gap that is there when its update
    begins, so it keeps as much of it as it goes in an update; from there to a little more the push
    ends.
    """
    wants = float(discs[k, WAY] * x + discs[k, WAY + 1] * z)
    if gap >= _EARLY * wants:
        return 0.0
    leaves = max(float(discs[i, OWN_WAY] * x + discs[i, OWN_WAY + 1] * z), 0.0)
    if wants <= leaves or part == 0.0:
        return 0.0
    most, near = part * (wants - leaves), leaves + part * (wants - leaves)
    if gap <= near:
        return most
    return most * (_EARLY * wants - gap) / (_EARLY * wants - near)


@kernel
def _parted(discs: Floats, i: int, k: int, gap: float, part: float, most: float) -> float:
    """Return how far a character is pushed out of one that it overlaps.

    Each goes by the mass of the other. Who is on another's head slides off it alone.
    """
    if discs[k, WEIGHT] != 0.0:
        if discs[i, LOW] >= 0.5 * (discs[k, LOW] + discs[k, HIGH]):
            part = 1.0
        elif discs[k, LOW] >= 0.5 * (discs[i, LOW] + discs[i, HIGH]):
            part = 0.0
    return part * min(-gap, most)


@kernel
def _put_push(pushes: Floats, count: int, size: float, x: float, z: float) -> int:
    """Add a push to those listed, the longest first; return how many there are."""
    place = count
    while place > 0:
        a, b, c = (
            float(pushes[place - 1, 0]),
            float(pushes[place - 1, 1]),
            float(pushes[place - 1, 2]),
        )
        if a > size or (a == size and (b > x or (b == x and c >= z))):
            break
        if place < _MOST_PUSHES:
            pushes[place, 0], pushes[place, 1], pushes[place, 2] = a, b, c
        place -= 1
    if place < _MOST_PUSHES:
        pushes[place, 0], pushes[place, 1], pushes[place, 2] = size, x, z
    return min(count + 1, _MOST_PUSHES)


@kernel
def _together(pushes: Floats, count: int) -> tuple[float, float]:
    """Return what several pushes come to.

    Those that lead the same way are no more than one: each counts by its part of all that do.
    """
    to_x, to_z = 0.0, 0.0
    for i in range(count):
        size, x, z = float(pushes[i, 0]), float(pushes[i, 1]), float(pushes[i, 2])
        along = 0.0
        for k in range(count):
            along += float(pushes[k, 0]) * max(
                x * float(pushes[k, 1]) + z * float(pushes[k, 2]), 0.0
            )
        to_x, to_z = to_x + size * x * (size / along), to_z + size * z * (size / along)
    return to_x, to_z


@kernel
def push_each_other(
    discs: Floats,
    counts: Longs,
    others: Longs,
    pairs: Floats,
    seconds: float,
    first: int,
    last: int,
) -> float:
    """Write the next ways of discs first..last, with what others push them; return the longest.

    The arrays are as of `list_pairs`, for pairs up to twice the longest way and ASIDE apart.
    """
    pushes, longest = np.empty((_MOST_PUSHES, 3)), 0.0
    for i in range(first, last):
        count = 0
        if discs[i, WEIGHT] != 0.0:
            for j in range(counts[i]):
                k, gap = others[i, j], float(pairs[i, j, GAP])
                x, z = -float(pairs[i, j, 0]), -float(pairs[i, j, 1])
                part = 1.0 - float(pairs[i, j, SHARE])
                push = _pressed(discs, i, k, x, z, gap, part)
                if gap < -_LEAST_OVERLAP:
                    most = _PARTING_SPEED * seconds
                    push = max(push, _parted(discs, i, k, gap, part, most))
                if push > 0.0:
                    count = _put_push(pushes, count, push, x, z)
        x, z = _together(pushes, count)
        discs[i, NEXT_WAY] = discs[i, OWN_WAY] + x
        discs[i, NEXT_WAY + 1] = discs[i, OWN_WAY + 1] + z
        longest = max(longest, travel(discs, i, NEXT_WAY))
    return longest


@kernel
def take_ways(discs: Floats, way: int) -> None:
    """Let the ways in some columns be those that everyone is to go."""
    for i in range(len(discs)):
        discs[i, WAY], discs[i, WAY + 1] = discs[i, way], discs[i, way + 1]


@kernel
def _part_of_gap(gap: float, own: float, other: float, part: float) -> float:
    """Return how far into a gap one of two bodies may go that want to go so far into it.

    Each has its part; what it does not want of that is the other's. What both do not want, they
    share.
    """
    if own + other <= gap:
        return own + part * (gap - own - other)
    if other <= (1.0 - part) * gap:
        return gap - other
    return min(own, part * gap)


@kernel
def put_fences(
    states: Floats,
    rules: Floats,
    discs: Floats,
    order: Longs,
    counts: Longs,
    others: Longs,
    pairs: Floats,
    seconds: float,
    crowd: Floats,
    first: int,
    last: int,
) -> None:
    """Write the rows (CROWD_SIZE,) of the characters of discs first..last to ``crowd``.

    The arrays are as of `list_pairs`, for pairs up to twice the longest way and ASIDE apart.
    """
    for i in range(first, last):
        which = order[i]
        row = crowd[which * CROWD_SIZE : (which + 1) * CROWD_SIZE]
        row[COUNT], row[IS_LED], row[IS_PUSHED] = 0.0, 0.0, 0.0
        to_x, to_z = float(discs[i, WAY]), float(discs[i, WAY + 1])
        own_x, own_z = float(discs[i, OWN_WAY]), float(discs[i, OWN_WAY + 1])
        pushed = to_x != own_x or to_z != own_z
        if not pushed and is_left_alone(
            states[which * STATE_SIZE : (which + 1) * STATE_SIZE],
            rules[which * RULES_SIZE : (which + 1) * RULES_SIZE],
        ):
            continue
        row[ROOM] = math.sqrt(to_x * to_x + to_z * to_z) + ASIDE
        for j in range(counts[i]):
            k, gap = others[i, j], max(float(pairs[i, j, GAP]), 0.0)
            x, z = float(pairs[i, j, 0]), float(pairs[i, j, 1])
            own = max(to_x * x + to_z * z, 0.0)
            other = max(-float(discs[k, WAY] * x + discs[k, WAY + 1] * z), 0.0)
            limit = _part_of_gap(gap, own, other, float(pairs[i, j, SHARE]))
            if limit < row[ROOM]:
                put_fence(row, x, z, limit)
        end_x, end_z = within_fences(row, to_x, to_z)
        if not pushed and end_x == to_x and end_z == to_z:
            continue
        row[IS_LED], row[LED_WAY], row[LED_WAY + 1] = 1.0, end_x, end_z
        row[KEPT], row[KEPT + 1] = without(
            float(discs[i, SPEED]),
            float(discs[i, SPEED + 1]),
            (end_x - to_x) / seconds,
            (end_z - to_z) / seconds,
        )
        if pushed:
            row[IS_PUSHED] = 1.0
            row[UNPUSHED_WAY], row[UNPUSHED_WAY + 1] = within_fences(row, own_x, own_z)

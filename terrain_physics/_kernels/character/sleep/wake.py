"""Waking from sleep: characters near a change of the ground."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import three_at
from terrain_physics._kernels.math.vec3 import Vec3, add
from terrain_physics._kernels.surface.changes import (
    CHANGE_LOWER,
    CHANGE_SIZE,
    CHANGE_SPAN,
    CHANGE_UPPER,
    CHANGE_VERSION,
    LEFT_AFTER,
    LEFT_UNTIL,
)
from terrain_physics._kernels.tolerances import WAKE_DISTANCE, WAKE_SHARE
from terrain_physics._kernels.types import Floats


@kernel(inline=True)
def _is_near(place: Vec3, radius: float, changes: Floats, row: int) -> bool:
    """Tell whether a place is within a radius of the box of a change."""
    for axis in range(3):
        distance = radius + WAKE_SHARE * abs(place[axis])
        if (
            place[axis] - distance > changes[row, CHANGE_UPPER + axis]
            or place[axis] + distance < changes[row, CHANGE_LOWER + axis]
        ):
            return False
    return True


@kernel(inline=True)
def _wake_radius(rules: Floats, rule: int) -> float:
    """Return the radius around a body's center within which changes wake it, for any rotation."""
    # The extents of a capsule are its radius and half its segment.
    return float(
        WAKE_DISTANCE
        + rules[rule + at.EXTENTS]
        + rules[rule + at.EXTENTS + 1]
        + rules[rule + at.EXTENTS + 2]
    )


@kernel(inline=True)
def _put_bounds(changes: Floats, seen: float, out: Floats) -> None:
    """Write the box around all changes after a version to ``out`` (1, CHANGE_SIZE)."""
    for axis in range(3):
        out[0, CHANGE_LOWER + axis], out[0, CHANGE_UPPER + axis] = np.inf, -np.inf
    row = len(changes) - 1
    while row >= 0 and changes[row, CHANGE_VERSION] > seen:
        for axis in range(3):
            lower, upper = CHANGE_LOWER + axis, CHANGE_UPPER + axis
            out[0, lower] = min(out[0, lower], changes[row, lower])
            out[0, upper] = max(out[0, upper], changes[row, upper])
        row -= 1 + int(changes[row, CHANGE_SPAN])


@kernel(inline=True)
def _any_is_near(place: Vec3, radius: float, changes: Floats, seen: float) -> bool:
    """Tell whether a place is within a radius of the box of any change after a version."""
    row = len(changes) - 1
    while row >= 0 and changes[row, CHANGE_VERSION] > seen:
        span = int(changes[row, CHANGE_SPAN])
        if not _is_near(place, radius, changes, row):
            row -= span
        elif span == 0:
            return True
        row -= 1
    return False


@kernel(inline=True)
def _is_left(left: Floats, seen: float) -> bool:
    """Tell whether a version did not lead to the present contents."""
    for row in range(len(left) - 1, -1, -1):
        if seen > left[row, LEFT_UNTIL]:
            return False
        if seen > left[row, LEFT_AFTER]:
            return True
    return False


@kernel
def wake_near(
    states: Floats,
    rules: Floats,
    changes: Floats,
    forgotten: float,
    left: Floats,
    contents: float,
    first: int,
    last: int,
) -> None:
    """Wake characters first..last that are near a change of the ground since they last looked.

    ``states`` and ``rules`` are as of `update_characters`, ``changes`` (k, CHANGE_SIZE) and
    ``forgotten`` as of `ChangeLog`. A character that last looked before a forgotten version wakes.
    ``contents`` is the version; after the ground was put back, that of then, and ``left`` (k, 2)
    are the versions that were gone back from, in order. A character that was put back with the
    ground has seen what led to it. One that was not has seen a version that was left, and wakes.
    """
    all_changes, since = np.empty((1, CHANGE_SIZE)), np.nan  # box of all changes after ``since``
    for i in range(first, last):
        state, rule = i * at.STATE_SIZE, i * at.RULES_SIZE
        seen = float(states[state + at.GROUND_VERSION])
        if seen == contents:
            continue
        states[state + at.GROUND_VERSION] = contents
        wakes = seen < forgotten or seen > contents or _is_left(left, seen)
        if not wakes:
            if seen != since:
                _put_bounds(changes, seen, all_changes)
                since = seen
            place = add(three_at(states[state:], at.POSITION), three_at(rules[rule:], at.OFFSET))
            radius = _wake_radius(rules, rule)
            if _is_near(place, radius, all_changes, 0):
                wakes = _any_is_near(place, radius, changes, seen)
        if wakes:
            states[state + at.UNDISTURBED], states[state + at.MOVED] = 0.0, 1.0

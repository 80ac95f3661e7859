"""Whether characters are like the one that a map was made for."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.layout import (
    EXTENTS,
    GROUND_RULE,
    KEEP_OFF_LEDGES,
    KIND,
    MASK,
    OFFSET,
    RULES_SIZE,
    SLOPE_COSINE,
    SNAP,
    STEP_OFFSET,
    SURFACE_SPEED,
)
from terrain_physics._kernels.types import Floats, Int64s

# The columns that decide where a character can walk: of its body, and of its rules. A body may be
# turned, as with its owner.
BODY = (KIND, EXTENTS, EXTENTS + 1, EXTENTS + 2, OFFSET + 1)
RULES = (SLOPE_COSINE, GROUND_RULE, SNAP, STEP_OFFSET, SURFACE_SPEED, MASK, KEEP_OFF_LEDGES)

_DECIDING = BODY + RULES

# Sizes that differ by no more, in m, are equal: a body that turns with its owner is rounded.
_EQUAL = 1e-6


@kernel(no_refcount=True)
def first_other(known: Floats, rules: Floats, rows: Int64s) -> tuple[int, int]:
    """Return the first character that is not as known, and the first column in which it differs.

    ``known`` is one row of rules, ``rules`` are the rows of many, ``rows`` the numbers (m,) of
    those that are compared. (-1, -1): all are as known.
    """
    for k in range(len(rows)):
        start = int(rows[k]) * RULES_SIZE
        for column in _DECIDING:
            if abs(float(rules[start + column]) - float(known[column])) > _EQUAL:
                return k, column
    return -1, -1

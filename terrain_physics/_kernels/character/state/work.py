"""Work budget of an update: its count and its bound.

Work is counted in candidates visited, a few nanoseconds each. Slower operations count as more. The
count is an array (1,) of a memory (`scene.py`), which is passed wherever work is done. Once the
bound is reached, each loop over candidates returns at once with an incomplete result. The update
then drops the step that it is in, and ends where that step began.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.surface.shapes import BOX, CAPSULE
from terrain_physics._kernels.types import Floats

# Bound of one update.
MOST_WORK = 8e6

# Bound of the last look at the ground, at the place where an update that ended early left a body.
LAST_LOOK = 0.1 * MOST_WORK

# Costs of a step, of a look at the ground, and of a triangle or a cell that the look finds.
STEP, LOOK, GATHERED = 300.0, 100.0, 15.0

# Cost of a contact against the planes known so far.
PLANE = 8.0

# Costs of a body against a triangle near it; IN_BOX is added for a box that overlaps the triangle.
_NEAR_SPHERE, _NEAR_CAPSULE, _NEAR_BOX, IN_BOX = 15.0, 40.0, 40.0, 50.0

# More than memory can hold.
_MOST_GATHERED = 1e9


@kernel(inline=True, no_refcount=True)
def begin(work: Floats, done: float) -> None:
    """Start the count at ``done``; from -inf it never reaches `MOST_WORK`."""
    work[0] = done


@kernel(inline=True, no_refcount=True)
def spend(work: Floats, cost: float) -> None:
    """Count some work."""
    work[0] += cost


@kernel(inline=True, no_refcount=True)
def done(work: Floats) -> float:
    """Return how much work has been done."""
    return float(work[0])


@kernel(inline=True, no_refcount=True)
def is_spent(work: Floats) -> bool:
    """Tell whether an update may do no more."""
    return bool(work[0] >= MOST_WORK)


@kernel(inline=True, no_refcount=True)
def goes_on(work: Floats, k: int) -> bool:
    """Tell whether a loop over candidates goes on at one; only every sixteenth is tested."""
    return k % 16 != 0 or not is_spent(work)


@kernel(inline=True)
def near_cost(kind: int) -> float:
    """Return the cost of a body of a kind against a triangle near it."""
    if kind == BOX:
        return _NEAR_BOX
    return _NEAR_CAPSULE if kind == CAPSULE else _NEAR_SPHERE


@kernel(inline=True, no_refcount=True)
def may_gather(work: Floats) -> float:
    """Return how many triangles and cells a look at the ground may visit."""
    return min((MOST_WORK - float(work[0])) / GATHERED, _MOST_GATHERED)


@kernel
def new_work() -> Floats:
    """Return a count (1,) of work without a bound."""
    work = np.empty(1, dtype=np.float64)
    work[0] = -np.inf
    return work

"""Work of an update: its count and its bound.

Work is counted in candidates looked at: a few nanoseconds each. Slower operations count as more.
The count lies behind the faces of a memory (`scene.py`), which goes wherever work is done. Once
the bound is reached, each loop over candidates returns at once, with part of an answer: an update
then leaves out the step that it is in, and ends where that began.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT
from terrain_physics._kernels.surface.shapes import BOX, CAPSULE
from terrain_physics._kernels.types import Floats

# The rows of faces with the count behind them.
SCRATCH_SIZE = FACE_COUNT + 1
_DONE = FACE_COUNT

# Bound of one update.
MOST_WORK = 8e6

# Bound of one more look, at the place where an ended update has left a body.
LAST_LOOK = 0.1 * MOST_WORK

# Costs of a step, a look at the ground, a triangle or a cell that it finds.
STEP, LOOK, GATHERED = 300.0, 100.0, 15.0

# Cost of a contact against the planes known so far.
PLANE = 8.0

# Cost of a body against a triangle that it comes near; more for a box not apart from it.
NEAR_SPHERE, NEAR_CAPSULE, NEAR_BOX, IN_BOX = 15.0, 40.0, 40.0, 50.0

# More than memory can hold.
_MOST_GATHERED = 1e9


@kernel(inline=True, no_refcount=True)
def begin(faces: Floats, done: float) -> None:
    """Start the count at ``done`` of `MOST_WORK`; from -inf it never gets there."""
    faces[_DONE, 0] = done


@kernel(inline=True, no_refcount=True)
def spend(faces: Floats, work: float) -> None:
    """Count some work."""
    faces[_DONE, 0] += work


@kernel(inline=True, no_refcount=True)
def done(faces: Floats) -> float:
    """Return how much work has been done."""
    return float(faces[_DONE, 0])


@kernel(inline=True, no_refcount=True)
def is_spent(faces: Floats) -> bool:
    """Tell whether an update may do no more."""
    return bool(faces[_DONE, 0] >= MOST_WORK)


@kernel(inline=True, no_refcount=True)
def goes_on(faces: Floats, k: int) -> bool:
    """Tell whether a loop over candidates goes on at one; it ends at a sixteenth if at all."""
    return k % 16 != 0 or not is_spent(faces)


@kernel(inline=True)
def near_cost(kind: int) -> float:
    """Return the work of a body of that kind against a triangle that it comes near."""
    if kind == BOX:
        return NEAR_BOX
    return NEAR_CAPSULE if kind == CAPSULE else NEAR_SPHERE


@kernel(inline=True, no_refcount=True)
def may_gather(faces: Floats) -> float:
    """Return how many triangles and cells a look at the ground may come upon."""
    return min((MOST_WORK - float(faces[_DONE, 0])) / GATHERED, _MOST_GATHERED)


@kernel
def new_faces() -> Floats:
    """Return room for the faces of a box against a triangle, and for a count without a bound."""
    faces = np.empty((SCRATCH_SIZE, 4), dtype=np.float64)
    faces[_DONE, 0] = -np.inf
    return faces

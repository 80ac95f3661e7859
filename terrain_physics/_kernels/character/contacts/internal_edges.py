"""Internal edges: a push out of one triangle must lead out of the ground around it.

A body may be pushed out along a direction only if no ground beside the contact reaches farther in
that direction. So each push is checked at the feature of the triangle that supports the body: its
face, an edge or a corner. All triangles that share that edge or corner must fall away along the
push. On level ground this leaves only the face normals, so that a body never trips over the edge
between two faces. On a ridge it leaves the directions between the normals of the two flanks.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.work import spend
from terrain_physics._kernels.ground.candidates import THICKNESS, A, three
from terrain_physics._kernels.ground.nearby import at_corner, candidate_at, cost_at, next_at
from terrain_physics._kernels.math.vec3 import Vec3, dot, subtract
from terrain_physics._kernels.tolerances import LEVEL_SHARE
from terrain_physics._kernels.types import Floats


@kernel(inline=True)
def _sum_of_components(v: Vec3) -> float:
    return abs(v[0]) + abs(v[1]) + abs(v[2])


@kernel(no_refcount=True)
def _corner_at(candidates: Floats, k: int, place: Vec3, slack: float) -> int:
    """Return which corner of a candidate is at a place, or -1."""
    for i in range(3):
        if _sum_of_components(subtract(three(candidates, k, A + 3 * i), place)) <= slack:
            return i
    return -1


@kernel(inline=True, no_refcount=True)
def _is_beyond(candidates: Floats, k: int, i: int, place: Vec3, push: Vec3) -> bool:
    """Tell whether corner i of a candidate lies beyond a place in the direction of the push."""
    line = subtract(three(candidates, k, A + 3 * i), place)
    return dot(line, push) > LEVEL_SHARE * _sum_of_components(line)


@kernel(no_refcount=True)
def _leads_out_of_edge(
    candidates: Floats, count: int, k: int, start: Vec3, end: Vec3, push: Vec3, slack: float
) -> tuple[bool, int]:
    """Tell whether all triangles that share an edge of a candidate fall away along the push.

    Returns (whether they do, the work).
    """
    work = 0
    listed, walk = at_corner(candidates, count, start, slack)
    while walk >= 0:
        work += cost_at(listed)
        j = candidate_at(listed, walk)
        at = _corner_at(candidates, j, start, slack)
        if at >= 0 and j != k:
            other = _corner_at(candidates, j, end, slack)
            if other >= 0 and _is_beyond(candidates, j, 3 - at - other, start, push):
                return False, work
        walk = next_at(candidates, count, listed, walk)
    return True, work


@kernel(no_refcount=True)
def _leads_out_of_corner(
    candidates: Floats, count: int, k: int, corner: Vec3, push: Vec3, slack: float
) -> tuple[bool, int]:
    """Tell whether all triangles that share a corner of a candidate fall away along the push.

    Returns (whether they do, the work).
    """
    work = 0
    listed, walk = at_corner(candidates, count, corner, slack)
    while walk >= 0:
        work += cost_at(listed)
        j = candidate_at(listed, walk)
        at = _corner_at(candidates, j, corner, slack)
        if (
            at >= 0
            and j != k
            and (
                _is_beyond(candidates, j, (at + 1) % 3, corner, push)
                or _is_beyond(candidates, j, (at + 2) % 3, corner, push)
            )
        ):
            return False, work
        walk = next_at(candidates, count, listed, walk)
    return True, work


@kernel(inline=True, no_refcount=True)
def _foremost(candidates: Floats, k: int, push: Vec3) -> tuple[int, int, int, float]:
    """Return (how many corners of a candidate lie foremost along a push, first, last, slack)."""
    a, b, c = three(candidates, k, A), three(candidates, k, A + 3), three(candidates, k, A + 6)
    along = (dot(a, push), dot(b, push), dot(c, push))
    top = max(along[0], along[1], along[2])
    edges = (
        _sum_of_components(subtract(b, a))
        + _sum_of_components(subtract(c, b))
        + _sum_of_components(subtract(a, c))
    )
    slack = LEVEL_SHARE * edges
    at_top, first, last = 0, -1, -1
    for i in range(3):
        if along[i] >= top - slack:
            at_top += 1
            first = i if first < 0 else first
            last = i
    return at_top, first, last, slack


@kernel(noinline=True, no_refcount=True)
def leads_out(candidates: Floats, count: int, k: int, push: Vec3, work: Floats) -> bool:
    """Tell whether a unit push that leaves a candidate leaves the ground around it.

    All triangles near the body are candidates, so those at the corner that it touches are among
    them. A downward push does not leave the surface of solid ground: where that ends, it has sides.
    """
    if push[1] <= 0.0 < candidates[k, THICKNESS]:
        return False
    at_top, first, last, slack = _foremost(candidates, k, push)
    if at_top == 3:
        return True
    start = three(candidates, k, A + 3 * first)
    if at_top == 2:
        end = three(candidates, k, A + 3 * last)
        falls_away, cost = _leads_out_of_edge(candidates, count, k, start, end, push, slack)
    else:
        falls_away, cost = _leads_out_of_corner(candidates, count, k, start, push, slack)
    spend(work, cost)
    return falls_away

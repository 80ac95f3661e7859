"""Contacts of boxes with listed triangles: float32 finds the faces that count, float64 computes.

The nearest of 26 faces makes the contact, see `geometry/obb_triangle.py`. If it is behind the
front, two faces make it: those that bound the shortest allowed push-out. Where float32 cannot
decide which, all are measured in float64. The contact is computed from its faces in float64 either
way, so its bits are those of the pair's own function.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import closest_on_triangle, triangle_normal
from terrain_physics._kernels.geometry.obb_triangle import box_face_distances, nearest_face
from terrain_physics._kernels.geometry.sphere_triangle import IN_DOUBT, TOUCHING
from terrain_physics._kernels.heightmap.batch_contacts.box_axes import put_clear_push_outs
from terrain_physics._kernels.heightmap.batch_contacts.box_faces import (
    NORMAL,
    SEEN_PARTS,
    SINGLE_PARTS,
    UNKNOWN,
    axis_at,
    find_faces,
    put_seen,
)
from terrain_physics._kernels.heightmap.batch_contacts.box_push_out import put_allowed_push_outs
from terrain_physics._kernels.heightmap.batch_contacts.triangle_columns import (
    ROOM,
    STEP,
    PushOuts,
    box_at,
    corners_at,
    vector_at,
)
from terrain_physics._kernels.math.rigid import turned
from terrain_physics._kernels.math.vec3 import add, choose, dot, scale
from terrain_physics._kernels.surface.contact import put_vector
from terrain_physics._kernels.tolerances import FRONT_COSINE
from terrain_physics._kernels.types import Floats, Int32s

# Touches worked on at once where few of a step need more work.
LANES = 64


@kernel(noinline=True, noalias=True)
def _put_rows(
    boxes: Floats,
    corners: Floats,
    seen: Floats,
    faces: Int32s,
    found: PushOuts,
    points: Floats,
) -> None:
    """Write n touches of boxes by their nearest faces; an UNKNOWN face is an UNKNOWN verdict."""
    prefer_wide_vectors()
    moves, directions, verdicts = found
    for k in range(verdicts.shape[0]):
        center, half, m = box_at(boxes, k)
        face = int(faces[k])
        axis = axis_at(seen, k, face >> 1)
        sa, sb, sc = corners_at(seen, k)
        forward, backward = box_face_distances(axis, sa, sb, sc, half)
        is_backward = face & 1 != 0
        direction = choose(is_backward, scale(axis, -1.0), axis)
        distance = backward if is_backward else forward
        a, b, c = corners_at(corners, k)
        has_area, normal = triangle_normal(a, b, c)
        _, point = closest_on_triangle(a, b, c, has_area, normal)
        put_vector(moves, k, turned(m, scale(direction, distance)))
        put_vector(directions, k, turned(m, direction))
        put_vector(points, k, add(point, center))
        is_allowed = dot(direction, vector_at(seen, NORMAL + k)) >= -FRONT_COSINE
        verdict = np.int32(TOUCHING) if is_allowed else np.int32(IN_DOUBT)
        verdicts[k] = np.int32(UNKNOWN) if face < 0 else verdict


@kernel(noinline=True, noalias=True)
def _put_nearest(boxes: Floats, seen: Floats, chosen: Int32s, found: PushOuts) -> None:
    """Write what is found of n chosen touches by all faces in float64."""
    prefer_wide_vectors()
    moves, directions, verdicts = found
    for k in range(chosen.shape[0]):
        at = int(np.uint32(chosen[k]))
        _, half, m = box_at(boxes, at)
        a, b, c = corners_at(seen, at)
        _, is_allowed, _, _, direction, distance = nearest_face(a, b, c, half)
        put_vector(moves, k, turned(m, scale(direction, distance)))
        put_vector(directions, k, turned(m, direction))
        verdicts[k] = np.int32(TOUCHING) if is_allowed else np.int32(IN_DOUBT)


# Fewer push-outs than this are measured faster one by one.
_FEW = 8

# Work on the touches of a verdict that is not final.
_MEASURE_ALL, _FIND_AXES, _MEASURE_AXES = range(3)


@kernel(noinline=True)
def put_box_rows(boxes: Floats, corners: Floats, found: PushOuts, points: Floats) -> None:
    """Write n touches of boxes; those to be computed one by one keep the verdict IN_DOUBT."""
    verdicts = found.verdicts
    seen, singles = np.empty(SEEN_PARTS * ROOM), np.empty(SINGLE_PARTS * ROOM, dtype=np.float32)
    faces = np.empty(STEP, dtype=np.int32)[: verdicts.shape[0]]
    put_seen(boxes, corners, verdicts.shape[0], seen, singles)
    find_faces(singles, faces)
    _put_rows(boxes, corners, seen, faces, found, points)
    chosen, own_verdicts = np.empty(LANES, dtype=np.int32), np.empty(LANES, dtype=np.int32)
    own = PushOuts(np.empty(3 * LANES), np.empty(3 * LANES), own_verdicts)
    is_tied = False
    for work in range(_MEASURE_AXES + 1):
        at, wanted = 0, UNKNOWN if work == _MEASURE_ALL else IN_DOUBT
        while at < verdicts.shape[0]:
            n, at = _next_with(verdicts, wanted, at, chosen)
            # Boxes along the axes of the map tie everywhere, also in their push-outs.
            is_tied = n > LANES // 2 if work == _MEASURE_ALL else is_tied
            if n == 0 or (work == _FIND_AXES and is_tied) or (work == _MEASURE_AXES and n < _FEW):
                break
            some = chosen[:n]
            if work == _MEASURE_ALL:
                _put_nearest(boxes, seen, some, own)
            elif work == _FIND_AXES:
                put_clear_push_outs(boxes, seen, singles, some, own)
            else:
                put_allowed_push_outs(boxes, seen, some, own)
            _put_back(some, own, found)


@kernel
def _next_with(verdicts: Int32s, wanted: int, at: int, chosen: Int32s) -> tuple[int, int]:
    """Write the next touches with a verdict; return (how many, where to resume)."""
    n = 0
    while at < verdicts.shape[0] and n < LANES:
        chosen[n] = at
        n += 1 if verdicts[at] == wanted else 0
        at += 1
    return n, at


@kernel
def _put_back(chosen: Int32s, own: PushOuts, found: PushOuts) -> None:
    """Write what is found of chosen touches to their places."""
    for k in range(chosen.shape[0]):
        place = int(chosen[k])
        found.verdicts[place] = own.verdicts[k]
        for i in range(3):
            found.moves[3 * place + i] = own.moves[3 * k + i]
            found.directions[3 * place + i] = own.directions[3 * k + i]

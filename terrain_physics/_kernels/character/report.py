"""What a body stands on or touches, for the report: kind, point, part and triangle."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.body import reach_along
from terrain_physics._kernels.character.layout import (
    AIRBORNE,
    GROUND_KIND,
    GROUND_PART,
    GROUND_POINT,
    GROUND_TRIANGLE,
    STEEP,
    WALKABLE,
    WEDGED,
    put_three_at,
)
from terrain_physics._kernels.character.resolve import CANDIDATE, PUSH, Scene, meet_plane
from terrain_physics._kernels.character.work import PLANE, spend
from terrain_physics._kernels.ground.candidates import COLUMN, HALF, MESH_PART, PART, ROW, three
from terrain_physics._kernels.heightmap.grid import COLUMNS, FRAME_SIZE, ROWS
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, dot
from terrain_physics._kernels.types import Floats


@kernel
def planes_touched(scene: Scene, count: int) -> int:
    """Write the planes of the contacts listed to the scene; return how many there are."""
    spend(scene.faces, count * PLANE)
    planes = int(np.int64(0))
    for i in range(count):
        which = int(scene.contacts[i, CANDIDATE])
        planes = meet_plane(scene, planes, three(scene.contacts, i, PUSH), which)
    return planes


@kernel(apart=True, lent=True)
def kind_of_ground(
    scene: Scene, count: int, grounded: bool, normal: Vec3, walkable: float, by_sum: bool
) -> tuple[int, Vec3]:
    """Return (kind of ground, its normal) for a body with contacts that stands on ``normal``."""
    touched = planes_touched(scene, count)
    best = 0
    for i in range(1, touched):
        if scene.planes[i, 1] > scene.planes[best, 1]:
            best = i
    if grounded:
        return (WALKABLE if scene.planes[best, 1] >= walkable else WEDGED), normal
    if scene.planes[best, 1] > 0.0 and (by_sum or scene.planes[best, 1] < walkable):
        return STEEP, three(scene.planes, best, 0)
    return AIRBORNE, normal


@kernel
def triangle_of(scene: Scene, frames: Floats, k: int) -> tuple[int, int]:
    """Return (part, number) of a candidate's triangle; the number is -1 outside a map."""
    part, row, column = (
        int(scene.candidates[k, PART]),
        int(scene.candidates[k, ROW]),
        int(scene.candidates[k, COLUMN]),
    )
    if part == MESH_PART:
        return part, row
    columns = int(frames[part * FRAME_SIZE + COLUMNS])
    rows = int(frames[part * FRAME_SIZE + ROWS])
    if 0 <= row < rows and 0 <= column < columns:
        return part, 2 * (row * columns + column) + int(scene.candidates[k, HALF])
    return part, -1


@kernel(apart=True, lent=True)
def report_ground(
    state: Floats, frames: Floats, scene: Scene, center: Vec3, count: int, normal: Vec3, kind: int
) -> None:
    """Write what the body stands on or touches: kind, point, part and triangle."""
    state[GROUND_KIND] = kind
    state[GROUND_PART] = state[GROUND_TRIANGLE] = -1.0
    put_three_at(state, GROUND_POINT, (0.0, 0.0, 0.0))
    if kind == AIRBORNE:
        return
    best = -1
    for i in range(count):
        if best < 0 or (
            dot(three(scene.contacts, i, PUSH), normal)
            > dot(three(scene.contacts, best, PUSH), normal)
        ):
            best = i
    deep = reach_along(scene.body, normal)
    put_three_at(state, GROUND_POINT, add_scaled(center, normal, -deep))
    if best < 0:
        return
    part, triangle = triangle_of(scene, frames, int(scene.contacts[best, CANDIDATE]))
    state[GROUND_PART], state[GROUND_TRIANGLE] = part, triangle

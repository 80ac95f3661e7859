"""What a step of a character needs: how far it leads, what lies around, what steep slopes leave."""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.grounding import add_plane, along_planes
from terrain_physics._kernels.character.resolve import (
    PUSH,
    Memory,
    Scene,
    as_wall,
    list_contacts,
    make_scene,
)
from terrain_physics._kernels.ground.candidates import gather_candidates, three
from terrain_physics._kernels.math.vec3 import Vec3, add, scale, subtract
from terrain_physics._kernels.surface.ground_arrays import Ground
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.types import Words

# A step moves a body by at most this part of its least half extent, so that its center never
# passes a surface unseen.
STEP_PART = 0.5
MAX_SUBSTEPS = 20_000

# Steps that share one look at the ground.
STEPS_TOGETHER = 4


@kernel(inline=True)
def extent(v: Vec3) -> float:
    """Return the greatest of three sizes."""
    return max(abs(v[0]), abs(v[1]), abs(v[2]))


@kernel(apart=True)
def look(
    ground: Ground,
    base: Vec3,
    body: Body,
    far: float,
    drop: float,
    step: float,
    resolver: int,
    random_state: Words,
    memory: Memory,
) -> Scene:
    """Return the scene around a body that may move by ``far`` any way, and down by ``drop``."""
    wide = (body.reach[0] + far, body.reach[1] + far, body.reach[2] + far)
    if step > 0.0:  # a step is looked for beyond the body
        wide = (2.0 * wide[0], wide[1] + step, 2.0 * wide[2])
    lower = subtract(base, (wide[0], wide[1] + drop, wide[2]))
    candidates, count = gather_candidates(ground, base, lower, add(base, wide), memory.candidates)
    return make_scene(candidates, count, body, resolver, random_state, memory)


@kernel
def cut(way: float, least: float) -> tuple[int, bool, float, float]:
    """Return (steps to go a way in, whether they are leaps, how far one leads, and all together).

    Leaps are too long not to pass anything unseen: each looks at the ground where it ends.
    """
    step = STEP_PART * least
    substeps = max(math.ceil(min(way / step, float(MAX_SUBSTEPS))), 1)
    # More than the way: pushes and slopes may lead aside.
    reach = 2.0 * max(min(way / substeps, step), 0.1 * least)
    far = max(0.75 * min(STEPS_TOGETHER, substeps), 1.0) * reach
    return substeps, way / substeps > step * (1.0 + 1e-9), reach, far


@kernel
def most_upright(scene: Scene, planes: int) -> float:
    """Return how upright the most upright of the planes is."""
    best = -1.0
    for i in range(planes):
        best = max(best, float(scene.planes[i, 1]))
    return best


@kernel(apart=True)
def not_into_steep(scene: Scene, offset: Vec3, velocity: Vec3, cosine: float) -> Vec3:
    """Return a velocity whose horizontal part leads into no steep slope that is touched.

    Else the slope would turn pushing into climbing.
    """
    count, _, _ = list_contacts(scene, offset)
    planes = int(np.int64(0))
    for i in range(count):
        if 0.0 <= scene.contacts[i, PUSH + 1] < cosine:
            depth, wall = as_wall(1.0, three(scene.contacts, i, PUSH))
            if depth > 0.0:
                planes = add_plane(scene.planes, planes, wall)
    flat = along_planes(scene.planes, planes, (velocity[0], 0.0, velocity[2]))
    return (flat[0], velocity[1], flat[2])


@kernel
def over_surface(way: Vec3, normal: Vec3) -> Vec3:
    """Return a horizontal way shortened so that along the surface it is as long as it was."""
    size = math.sqrt(way[0] * way[0] + way[2] * way[2])
    if size == 0.0 or not normal[1] > 0.0:
        return way
    rise = (normal[0] * way[0] + normal[2] * way[2]) / (size * normal[1])
    return scale(way, 1.0 / math.sqrt(1.0 + rise * rise))

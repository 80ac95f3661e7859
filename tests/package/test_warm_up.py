"""After `warm_up` a game compiles nothing in the middle of a frame."""

import subprocess
import sys
from pathlib import Path

import pytest

from terrain_physics._kernels._jit import HAS_NUMBA

ROOT = Path(__file__).parents[2]

GAME = """
import sys
import numpy as np
from terrain_physics import *
from terrain_physics import warm_up

def compiled():
    modules = [sys.modules[name] for name in sorted(sys.modules) if "._kernels." in name]
    kernels = [kernel for module in modules for kernel in vars(module).values()]
    return {
        f"{kernel.__module__}.{kernel.__name__}": len(kernel.signatures)
        for kernel in kernels
        if hasattr(kernel, "signatures")
    }

warm_up()
before = compiled()
land = HeightMap(np.zeros((9, 9)))
tile = HeightMap(np.zeros((9, 9)), origin=(8, 0, 0))
roof = TriangleMesh([(0, 3, 0), (0, 3, 4), (4, 3, 0)], [(0, 1, 2)])
ball, capsule = Sphere((1, 0.3, 1), 0.5), Capsule((1, 0.3, 1), (1, 2, 1), 0.5)
box, body = OBB((1, 0.3, 1), (0.5, 0.5, 0.5)), CapsuleCollider(0.4, 1.8)
for ground in (land, roof, Ground([land, roof]), Ground([land, tile])):
    for shape in (ball, capsule, box):
        ground.contacts(shape)
        ground.contacts([shape], keep="deepest")
        ground.contact_counts([shape, shape])
        ground.sweep(shape, (0, -1, 0))
        ground.sweep_many([shape, shape], [(0, -1, 0)])
    ground.raycast(Ray((1, 9, 1), (0, -1, 0)))
    ground.raycast_many([(1, 9, 1)], [(0, -1, 0)])
    ground.closest_point((1, 9, 1)), ground.closest_points([(1, 9, 1), (2, 1, 2)])
    ground.triangles_in(AABB((0, 0, 0), (1, 4, 1)))
    ground.triangles_in_many([(0, 0, 0)], [(1, 4, 1)])
    ground.height_at(1.0, 1.0), ground.height_at([1.0], [1.0]), ground.normal_at(1.0, 1.0)
    mover = CharacterMovement(ground, body, position=(2, 0.9, 2))
    for frame in range(3):
        mover.velocity.x = 3
        mover.update(1 / 60)
    mover.constraint_planes(), mover.ground_report(), mover.resize(body)
    group = CharacterGroup(ground, body)
    group.add("ada", (2, 0.9, 2))
    group.update(1 / 60)
land.carve((2, 2), 1.5, 1)
land.holes[1, 1] = True
land[0:2, 0:2] += 1.0
roof.refit(roof.vertices)
after = compiled()
print(sorted(name for name, count in after.items() if count > before.get(name, 0)))
"""


@pytest.mark.skipif(not HAS_NUMBA, reason="nothing is compiled without numba")
def test_a_game_compiles_nothing_after_it() -> None:
    game = subprocess.run(
        [sys.executable, "-c", GAME], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert game.stdout.strip() == "[]"

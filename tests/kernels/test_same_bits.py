"""Compiled, as plain Python and without numba: the same bits."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import forks
from tests.helpers.examples import rest_is_full

ROOT = Path(__file__).parents[2]

STORY = """
import numpy as np
from pyglm import glm
from terrain_physics import BoxCollider, CharacterMovement, HeightMap, SphereCollider, rows

def tell():
    rng = np.random.default_rng(4)
    heights = rng.uniform(0, 2, (30, 30))
    heights[20:22, 5] = np.nan
    lines = []
    for diagonal in ("a-c", "b-d", "alternating", "shortest"):
        land = HeightMap(heights, diagonal=diagonal, cell_size=(0.7, 1.3))
        for collider in (SphereCollider(0.6), BoxCollider((0.3, 0.7, 0.4))):
            mover = CharacterMovement(
                land, collider, seed=5, position=(6.3, 4, 8.1),
                rotation=glm.quat(glm.vec3(0.4, 1, 0)),
            )
            for frame in range(40):
                mover.velocity.x = 3.0 if frame % 20 < 10 else -2.0
                mover.update(1 / 30)
            lines.append(mover.state_hash())
        x, z = rng.uniform(-3, 40, (2, 50))
        lines.append(land.height_at(x, z).tobytes().hex())
        lines.append(land.normal_at(x, z).tobytes().hex())
    triangles = rng.uniform(-1, 1, (40, 3, 3))
    triangles[:6, 2] = triangles[:6, 1]
    spheres = rng.uniform(0, 1, (40, 4))
    rotations, _ = np.linalg.qr(rng.normal(size=(40, 3, 3)))
    rotations[:, :, 0] *= np.linalg.det(rotations)[:, None]
    for two_sided in (False, True):
        lines.append(
            rows.intersect_sphere_triangle(spheres, triangles, two_sided=two_sided).tobytes().hex()
        )
        lines.append(
            rows.intersect_obb_triangle(
                spheres[:, :3], spheres[:, 1:], np.round(rotations, 12), triangles,
                two_sided=two_sided,
            ).tobytes().hex()
        )
    return "\\n".join(lines)
"""

WITHOUT_NUMBA = (
    "import sys, warnings\nsys.modules['numba'] = None\nwarnings.simplefilter('ignore')\n"
)


@pytest.fixture(scope="module")
def compiled():
    names: dict[str, Any] = {}
    exec(compile(STORY, "story", "exec"), names)  # noqa: S102
    return names["tell"]()


@pytest.mark.parametrize("way", rest_is_full(["no numba", "NUMBA_DISABLE_JIT"]))
def test_the_same_story_bit_for_bit(way, compiled):
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}
    code = STORY + "\nprint(tell())"
    if way == "NUMBA_DISABLE_JIT":
        environment["NUMBA_DISABLE_JIT"] = "1"
        # A division by zero or a wrapping integer would be a warning of NumPy's here.
        code = "import warnings\nwarnings.simplefilter('error')\n" + code
    else:
        code = WITHOUT_NUMBA + code
    told = forks.printed("-c", code, env=environment, own=way == "no numba")
    assert told.strip() == compiled

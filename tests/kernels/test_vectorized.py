"""What no result shows: that the loops meant to run on many numbers at a time do."""

import os
import subprocess
import sys

import pytest


def test_loops_that_gather_and_store_are_vectorized() -> None:
    """Results would be the same if numba took no ``noalias``: only the speed tells, and this."""
    code = """
import re
import numpy as np
from llvmlite import binding
from terrain_physics import HeightMap
from terrain_physics._kernels import _jit
from terrain_physics._kernels.heightmap import contact_rows, filter_spheres
HeightMap(np.zeros((3, 3))).contacts([(1, 0, 1, 1)])
sums = filter_spheres.judge_spheres, contact_rows.put_sphere_rows
texts = ["".join(kernel.inner().inspect_asm().values()) for kernel in sums]
is_wide = all(re.search("vmulp[sd].*[yz]mm", text) for text in texts)
gathers = "gather" in "".join(contact_rows.put_corners.inner().inspect_asm().values())
has_gather = binding.get_host_cpu_features().get("avx2", False)
print(has_gather, _jit.CAN_NOALIAS and is_wide and gathers)
"""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    # A cached kernel has no assembly to look at.
    environment["TERRAIN_PHYSICS_CACHE_DIR"] = os.devnull
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    has_gather, gathers = told.stdout.split()
    if has_gather == "False":
        pytest.skip("needs a processor with AVX2")
    assert gathers == "True"

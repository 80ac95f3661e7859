"""Vectorized loops: those meant to run on many numbers at a time do, which no result shows."""

import re
from typing import Any

import numpy as np
import pytest

from terrain_physics import HeightMap, count_touching
from terrain_physics._kernels import _jit
from terrain_physics._kernels.counter.count import count_chunks
from terrain_physics._kernels.heightmap.batch_contacts import contact_rows, filter_spheres
from tests.helpers.extras import library

numba = library("numba", "jit")
pytestmark = pytest.mark.skipif(not _jit.HAS_NUMBA, reason="the wheel's code cannot be read")


def needs(feature: str) -> None:
    from llvmlite import binding

    if not binding.get_host_cpu_features().get(feature, False):
        pytest.skip(f"needs a processor with {feature}")


def assembly(kernel: Any, signature: Any) -> str:
    """Return the machine code of a kernel as text: compiled anew, as what is cached has none."""
    inner = kernel.inner()
    fresh = numba.jit(**inner.targetoptions)(inner.py_func)
    fresh.compile(signature)
    return "".join(fresh.inspect_asm().values())


def test_loops_that_gather_and_store_are_vectorized() -> None:
    """Results would be the same if numba took no ``noalias``: only the speed tells, and this."""
    needs("avx2")
    HeightMap(np.zeros((3, 3))).contacts([(1, 0, 1, 1)] * 100)  # a few go another way
    from terrain_physics._kernels import _cache

    signatures = {name: signature for _, name, signature in _cache.compiled_noinline()}
    for kernel in (
        filter_spheres.judge_spheres,
        contact_rows.put_sphere_rows,
        contact_rows.put_corners,  # gathers number by number where the processor is slow at it
    ):
        assert re.search("vmulp[sd].*[yz]mm", assembly(kernel, signatures[kernel.__name__]))


def test_the_counter_uses_the_widest_vectors_there_are() -> None:
    """Results would be the same without them: only the speed tells, and this test."""
    needs("avx512f")
    count_touching(np.zeros((1, 9)), np.ones((1, 4)))
    kernel: Any = count_chunks
    assert "zmm" in assembly(kernel, kernel.signatures[0])

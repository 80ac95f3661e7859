"""Fused multiply-add stays in kernels that count or judge: answers are the same everywhere."""

import os
import re
from pathlib import Path

import pytest

from terrain_physics._kernels import _jit
from tests.helpers import forks

platforms = pytest.importorskip("terrain_physics._build.platforms")

pytestmark = pytest.mark.skipif(not _jit.HAS_NUMBA, reason="nothing is compiled")

SUM_OF_PRODUCTS = """
define double @plain(double %a, double %b, double %c) {
  %product = fmul double %a, %b
  %sum = fadd double %product, %c
  ret double %sum
}
define double @marked(double %a, double %b, double %c) {
  %product = fmul contract double %a, %b
  %sum = fadd contract double %product, %c
  ret double %sum
}
"""

FUSED = re.compile(r"\t(?:vf|f)n?m(?:add|sub|la|ls)")

CASES = {
    (one.triple, level.processor) for one in platforms.WITH_WHEELS.values() for level in one.levels
}


@pytest.mark.parametrize(("triple", "processor"), sorted(CASES))
def test_each_processor_fuses_what_is_marked_and_nothing_else(triple: str, processor: str) -> None:
    from llvmlite import binding as llvm

    from terrain_physics._build.llvm import fused, optimizing

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    whole = llvm.parse_assembly(SUM_OF_PRODUCTS)
    assert list(fused.functions_that_may_fuse(whole)) == ["marked"]
    assembly = optimizing.machine_for(triple, processor).emit_assembly(whole)
    plain, marked = re.split(r"^_?marked:", assembly, maxsplit=1, flags=re.MULTILINE)
    assert not FUSED.search(plain)
    assert bool(FUSED.search(marked)) == (processor != "x86-64-v2")


def test_instructions_that_fuse_are_found_without_a_mark() -> None:
    from llvmlite import binding as llvm

    from terrain_physics._build.llvm import fused

    whole = llvm.parse_assembly("""
    declare float @llvm.fmuladd.f32(float, float, float)
    define float @called(float %a) {
      %sum = call float @llvm.fmuladd.f32(float %a, float %a, float %a)
      ret float %sum
    }
    """)
    assert list(fused.functions_that_may_fuse(whole)) == ["called"]


REFUSE = """
import os, sys
from dataclasses import replace
from pathlib import Path
from terrain_physics._build import signatures
from terrain_physics._build.llvm import fused, optimizing
from terrain_physics._build.build_cache import BuildCache
from terrain_physics._build.llvm.lowered_functions import LoweredFunctions
from terrain_physics._build.packages import LIBRARY
from terrain_physics._build.platforms import Processor
from terrain_physics._build.lowered import unpacked

signatures.read = lambda _: sys.argv[1:]
cache = BuildCache(Path(os.environ["TERRAIN_PHYSICS_CACHE_DIR"]))
optimizer = optimizing.Optimizer(Processor("x86_64-unknown-linux-gnu", "x86-64-v3"), cache)
*functions, extension = [unpacked(order.data) for order in LoweredFunctions([LIBRARY], cache)]
for function in functions:
    optimizer.add(function)
whole = optimizer.linked(extension)
print(len(list(fused.functions_that_may_fuse(whole))))
fused.refuse_elsewhere(whole, extension)
try:
    fused.refuse_elsewhere(whole, replace(extension, may_fuse=("_ZN4else",)))
except RuntimeError as reason:
    print(reason)
"""


def test_a_kernel_that_fuses_is_refused_unless_it_is_of_a_module_that_may(tmp_path: Path) -> None:
    env = os.environ | {"TERRAIN_PHYSICS_CACHE_DIR": str(tmp_path)}
    row, place = "readonly(float64[:, ::1])", "geometry.point_in_triangle.points_in_triangle"
    lines = [
        "math.rows.all_within(readonly(float64[::1]), float64)",
        f"{place}({', '.join([row] * 4)}, uint8[::1])",
    ]
    count, reason = forks.printed("-c", REFUSE, *lines, env=env).splitlines()
    assert int(count) >= 1
    assert reason.startswith("bits would depend on the processor in _ZN15terrain_physics8_kernels")
    assert "all_within" not in reason

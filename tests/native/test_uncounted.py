"""Machine code counts no references to memory that is not there, as that of borrowed arrays."""

import re

import pytest

from terrain_physics._kernels import _jit

pytestmark = pytest.mark.skipif(not _jit.HAS_NUMBA, reason="nothing is compiled")

COUNTS = """
declare void @NRT_incref(ptr)
declare void @NRT_decref(ptr)
define void @counts(ptr %memory) {
  call void @NRT_incref(ptr null)
  tail call void @NRT_incref(ptr %memory)
  tail call void @NRT_decref(ptr null) #0
  call void @NRT_decref(ptr nonnull %memory)
  ret void
}
attributes #0 = { nounwind }
"""


def test_what_is_there_is_counted_and_nothing_else() -> None:
    from llvmlite import binding as llvm

    from terrain_physics._build.llvm import optimizing

    pointer = "ptr" if llvm.llvm_version_info[0] > 15 else "i8*"
    written = re.sub(r"\bptr\b", pointer, COUNTS)
    found = optimizing.without_counts_of_nothing(llvm.parse_assembly(written))
    found.verify()
    calls = [line.strip() for line in str(found).splitlines() if "call" in line]
    assert calls == [
        f"tail call void @NRT_incref({pointer} %memory)",
        f"call void @NRT_decref({pointer} nonnull %memory)",
    ]

"""numba, if it can be used here, and those of its private parts that exist.

Imported only where numba compiles: with machine code from the wheel numba need not be there, and
would take a second to load. ``numba.config`` is read and never set: it belongs to the whole
process, and so to the host game.
"""

import warnings

from terrain_physics._kernels import _memory, _native
from terrain_physics._locks import Rank, hold_at_fork

HAS_NUMBA = CAN_CACHE = CAN_NOALIAS = CAN_SKIP_REFCOUNT = False

try:
    import llvmlite as llvmlite  # noqa: PLC0414 handed on
    import numba as numba  # noqa: PLC0414
    from llvmlite import binding as binding  # noqa: PLC0414
except Exception as reason:  # a broken numba raises more than ImportError
    if not _native.IS_PLAIN_WANTED:
        _memory.refuse_without_memory("numba", reason)
        warnings.warn(
            f"numba cannot be used ({type(reason).__name__}: {reason}); "
            "terrain_physics runs as plain Python: same results, much slower "
            "(pip install 'terrain-physics[jit]')",
            RuntimeWarning,
            stacklevel=2,
        )
else:
    HAS_NUMBA = True

# Private parts, which a later numba may move.
if HAS_NUMBA:
    with _memory.doing_without("numba", ImportError):  # without them kernels run without a cache
        from numba.core.caching import NullCache as NullCache  # noqa: PLC0414
        from numba.core.compiler import CompileResult as CompileResult  # noqa: PLC0414
        from numba.core.serialize import dumps as dumps  # noqa: PLC0414

        CAN_CACHE = True
    with _memory.doing_without("numba"):  # without them kernels are only slower
        from numba.core.cpu import CPUTargetOptions
        from numba.core.options import TargetOptions

        CAN_SKIP_REFCOUNT = hasattr(
            CPUTargetOptions, "_nrt"
        )  # numba refuses others only as it compiles
        CPUTargetOptions.noalias = TargetOptions.Mapping("noalias")
        CAN_NOALIAS = True
    with _memory.doing_without("numba"):  # without it a child forked meanwhile may hang
        from numba.core.compiler_lock import global_compiler_lock

        hold_at_fork(global_compiler_lock, Rank.COMPILER)

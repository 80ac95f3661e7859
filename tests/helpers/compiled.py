"""What the tests call is compiled before they start, by several processes and nothing twice.

That is what Python calls of the library, and what draws the demo's pictures: `signatures`.
"""

import importlib.util
import os

from terrain_physics import warm_up
from terrain_physics._kernels import _jit, _native


def compile_all(processes: int) -> None:
    """Compile all that is not on disk yet; nothing where there is machine code."""
    if _native.IS_PLAIN_WANTED or not _jit.HAS_NUMBA:
        return
    if hasattr(os, "fork") and importlib.util.find_spec("terrain_physics._build"):
        _compile_listed(processes)
    else:
        warm_up(processes=processes)


def _compile_listed(processes: int) -> None:
    from terrain_physics._build import signatures
    from terrain_physics._build.packages import PACKAGES
    from tests.helpers import together

    # The demo's last: one process begins with them, as they take longest.
    listed = [(line, package) for package in PACKAGES for line in signatures.read(package)]

    def do(task: int) -> None:
        kernel, types = signatures.load(*listed[task])
        if not hasattr(kernel, "py_func"):  # with machine code of its own
            return
        if not kernel._cache.file(types, kernel.targetctx.codegen()).exists():
            kernel.compile(types)

    together.do_all(len(listed), do, processes)

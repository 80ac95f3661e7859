"""Find kernels that the library's Python called with types that wheels do not know."""

import os
import sys

from terrain_physics._kernels import _jit, _native


def gaps() -> list[str]:
    """Return the calls of this process: those not in the list, or those that fell back."""
    if _jit.native is not None:
        return _native.fallbacks
    if not _jit.HAS_NUMBA or "TERRAIN_PHYSICS_RECORDING" in os.environ:
        return []
    from terrain_physics._build import callers, signatures

    met = {signatures.line_of(*call) for call in signatures.met(sys.modules.values())}
    unlisted = met.difference(signatures.read())
    if not unlisted:  # the usual case; to read the whole library takes a second
        return []
    used = callers.used_kernels()
    return sorted(line for line in unlisted if line.partition("(")[0] in used)

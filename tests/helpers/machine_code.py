"""Find kernels that Python called with types that wheels do not know."""

import os
import sys
from typing import Any

from terrain_physics._kernels import _jit, _native


def gaps() -> list[str]:
    """Return the calls of this process: those not in the list, or those that fell back."""
    if _jit.native is not None:
        return _native.fallbacks
    if not _jit.HAS_NUMBA or "TERRAIN_PHYSICS_RECORDING" in os.environ:
        return []
    from terrain_physics._build.packages import PACKAGES

    return sorted(line for package in PACKAGES for line in _unlisted(package))


def _unlisted(package: Any) -> list[str]:
    from terrain_physics._build import callers, signatures

    met = {signatures.line_of(*call) for call in signatures.met(sys.modules.values(), package)}
    unlisted = met.difference(signatures.read(package))
    if not unlisted:  # the usual case; to read the whole library takes a second
        return []
    used = callers.used_kernels(package)
    return [line for line in unlisted if line.partition("(")[0] in used]

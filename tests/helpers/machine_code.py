"""Which kernels Python called with types that a wheel has no machine code for."""

import sys

from terrain_physics._kernels import _jit, _native


def gaps() -> list[str]:
    """Return the calls of this process: those not in the list, or those that fell back."""
    if _jit.native is not None:
        return _native.fallbacks
    if not _jit.HAS_NUMBA:
        return []
    from terrain_physics._build import signatures

    listed = set(signatures.read())
    met = (signatures.line_of(*call) for call in signatures.met(sys.modules.values()))
    return sorted(set(met) - listed)

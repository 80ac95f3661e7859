"""Find kernels that Python called with types that wheels do not know."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from terrain_physics._kernels import _jit, _native
from terrain_physics._kernels._jit import CachedDispatch


def gaps() -> list[str]:
    """Return the calls of this process: those not in the list, or those that fell back."""
    if _jit.native is not None:
        return _native.fallbacks
    if not _jit.HAS_NUMBA or "TERRAIN_PHYSICS_RECORDING" in os.environ:
        return []
    from terrain_physics._build.packages import PACKAGES

    return sorted(line for package in PACKAGES for line in _unlisted(package))


@contextmanager
def looked_at_each_call() -> Iterator[None]:
    """Find the types of all calls: each `CachedDispatch` else finds those of its first alone.

    It then calls by these types whatever it is given; machine code of a wheel looks each time.
    """
    modules = list(sys.modules.values())
    held = [one for each in modules for one in vars(each).values() if type(one) is CachedDispatch]
    before = [one.call for one in held]
    with patch.object(CachedDispatch, "_first", lambda one, *values: one._kernel(*values)):
        for one in held:
            one.call = one._first
        try:
            yield
        finally:
            for one, call in zip(held, before, strict=True):
                one.call = call


def _unlisted(package: Any) -> list[str]:
    from terrain_physics._build import callers, signatures

    met = {signatures.line_of(*call) for call in signatures.met(sys.modules.values(), package)}
    unlisted = met.difference(signatures.read(package))
    if not unlisted:  # the usual case; to read the whole library takes a second
        return []
    used = callers.used_kernels(package)
    return [line for line in unlisted if line.partition("(")[0] in used]

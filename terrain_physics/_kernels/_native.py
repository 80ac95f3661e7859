"""Machine code that came with the wheel: found and checked, with a fallback for its gaps.

``terrain_physics/_build`` makes one extension module for each level of x86-64 processors, one for
ARM. The best that the processor can run (a module refuses if not) is loaded, if it was made from
these very sources. With it, numba is neither needed nor imported. ``poe native`` makes one for a
checkout, which is passed over once a kernel has been edited.

``TERRAIN_PHYSICS_NATIVE=0`` leaves it out; ``TERRAIN_PHYSICS_NATIVE_LEVEL=v2`` chooses a level.
"""

import importlib
import os
import warnings
from collections.abc import Callable
from typing import Any

from terrain_physics._kernels import _memory, _notices, _sources
from terrain_physics._kernels._sources import NativePackage

LEVELS = ("v4", "v3", "v2", "arm64")
"""Best first. A wheel holds those of its platform (``_build/platforms.py``)."""

IS_PLAIN_WANTED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}
"""Whether kernels are to run as plain Python, for a debugger."""

CHECKED = os.environ.get("TERRAIN_PHYSICS_CHECK", "0") not in {"", "0"}
"""Whether each index is checked: a build to find mistakes with, several times slower."""


def load(package: NativePackage = _sources.LIBRARY) -> Any:
    """Return a package's module for this processor, None if there is none to be used."""
    if os.environ.get("TERRAIN_PHYSICS_NATIVE") == "0" or IS_PLAIN_WANTED or CHECKED:
        return None
    reasons: list[Exception] = []
    for level in os.environ.get("TERRAIN_PHYSICS_NATIVE_LEVEL", "").split() or LEVELS:
        name = f"{package.name}._native_{level}"
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as reason:
            if reason.name != name:
                reasons.append(reason)
        except Exception as reason:  # damaged, or for a better processor
            _memory.refuse_without_memory("machine code", reason)
            reasons.append(reason)
        else:
            return module if _is_of_these_sources(module, package) else None
    if reasons:
        warnings.warn(
            f"machine code that came with terrain_physics cannot be used ({reasons[-1]}); "
            "install it again, or set TERRAIN_PHYSICS_NATIVE=0",
            RuntimeWarning,
            stacklevel=2,
        )
    return None


def _is_of_these_sources(module: Any, package: NativePackage) -> bool:
    if _sources.digest(package) in {"", module.DIGEST}:
        return True
    if os.path.isdir(os.path.join(os.path.dirname(_sources.FOLDER), "_build")):  # noqa: PTH112, PTH118, PTH120
        if not stale:  # once for all packages: in a checkout sources are edited
            stale.append("machine code of other sources is passed over; `poe native` makes it anew")
            _notices.tell(stale[-1])
        return False
    warnings.warn(
        "machine code that came with terrain_physics is of other sources than lie beside it and is "
        "not used; install terrain_physics again",
        RuntimeWarning,
        stacklevel=2,
    )
    return False


stale: list[str] = []
"""Why a checkout ignores the machine code that was made for it, if it does."""

fallbacks: list[str] = []
"""Kernels that ran without machine code in this process, and the types that they were given."""


class Fallback:
    """The function that a compiled kernel calls for types it has no machine code for.

    numba compiles the kernel if it is there; else the kernel runs as plain Python.
    """

    def __init__(self, function: Callable[..., Any], package: NativePackage) -> None:
        self._function = function
        self._package = package
        self._is_new = True

    def __call__(self, *values: Any) -> Any:
        """Run the kernel as plain Python; say so the first time."""
        if self._is_new:
            self._is_new = False
            self._replace(values)
        return self._function(*values)

    def _replace(self, values: tuple[Any, ...]) -> None:
        """Find the function that runs from now on, and say so."""
        from terrain_physics._kernels import _by_numba  # seldom needed

        function = self._function
        call = f"{function.__module__}.{function.__name__}({', '.join(map(_type_of, values))})"
        fallbacks.append(call)
        compiled = _by_numba.compiled(function, self._package)
        how = "as plain Python: same results, much slower" if compiled is None else "by numba"
        self._function = compiled or function
        warnings.warn(f"no machine code for {call}; it runs {how}", RuntimeWarning, stacklevel=3)


def _type_of(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_type_of, value))})"
    if not hasattr(value, "dtype") or not value.ndim:
        return type(value).__name__
    order = "" if value.flags.c_contiguous else ", not contiguous"
    access = "" if value.flags.writeable else ", read-only"
    return f"{value.dtype}[{value.ndim}-D{order}{access}]"
